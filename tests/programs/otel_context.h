/* SPDX-License-Identifier: BSD-2-Clause */
/* The contexts of OTEP 4947 as a tracer publishes them, for programs that know what must come out. */
#ifndef OTEL_CONTEXT_H
#define OTEL_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

struct otel_record {
	uint8_t trace[16];
	uint8_t span[8];
	uint8_t valid;
	uint8_t flags;
	uint16_t attribute_bytes;
	uint8_t attributes[36];
} __attribute__((packed, aligned(2)));

/* The address of the calling thread's variable: in the file that defines it. */
struct otel_record **otel_variable(void);

#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#define PR_SET_VMA_ANON_NAME 0
#endif

#define FENCE() __asm__ volatile("" ::: "memory")

/* The ids are numbers, written as bytes in order. */
static inline void otel_fill(struct otel_record *record, uint64_t trace, uint64_t span)
{
	for (int i = 0; i < 8; i++) {
		record->trace[i] = 0xab;
		record->trace[8 + i] = (uint8_t)(trace >> (56 - 8 * i));
		record->span[i] = (uint8_t)(span >> (56 - 8 * i));
	}
	record->flags = 1;
}

/* One record for each thread, which is not valid while it changes. */
static inline void otel_set(struct otel_record *record, uint64_t trace, uint64_t span)
{
	*(volatile uint8_t *)&record->valid = 0;
	FENCE();
	otel_fill(record, trace, span);
	FENCE();
	*(volatile uint8_t *)&record->valid = span != 0;
	FENCE();
	*(struct otel_record *volatile *)otel_variable() = record;
}

/* Two records in turn, between which the variable points nowhere. */
static inline void otel_swap(struct otel_record records[2], int *which, uint64_t trace, uint64_t span)
{
	*(struct otel_record *volatile *)otel_variable() = NULL;
	FENCE();
	if (!span)
		return;
	*which ^= 1;
	otel_fill(&records[*which], trace, span);
	records[*which].valid = 1;
	FENCE();
	*(struct otel_record *volatile *)otel_variable() = &records[*which];
}

/* After a while, as who could not read it rests: a context that is one, in which the thread sleeps. */
static inline void otel_show_at_last(struct otel_record *record)
{
	for (int i = 0; i < 2100; i++)
		usleep(100);
	otel_set(record, 7, 11);
	usleep(20000);
	otel_set(record, 0, 0);
	usleep(1000);
}

/* ---- what the process says of itself (OTEP 4719) ---- */

struct otel_header {
	char signature[8];
	uint32_t version;
	uint32_t message_bytes;
	volatile uint64_t published_ns;
	const void *message;
};

struct otel_message {
	uint8_t bytes[512];
	uint32_t length;
};

static inline void otel_put(struct otel_message *to, uint8_t field, const void *bytes, size_t length)
{
	to->bytes[to->length++] = (uint8_t)(field << 3 | 2);
	to->bytes[to->length++] = (uint8_t)length; /* below 128 */
	memcpy(to->bytes + to->length, bytes, length);
	to->length += (uint32_t)length;
}

static inline void otel_put_attribute(struct otel_message *to, uint8_t field, const char *key,
				      const char *text)
{
	struct otel_message value = { .length = 0 }, attribute = { .length = 0 };

	otel_put(&value, 1, text, strlen(text));
	otel_put(&attribute, 1, key, strlen(key));
	otel_put(&attribute, 2, value.bytes, value.length);
	otel_put(to, field, attribute.bytes, attribute.length);
}

static inline struct otel_header *otel_map_header(void)
{
	int fd = memfd_create("OTEL_CTX", MFD_CLOEXEC);
	void *memory = fd >= 0 && !ftruncate(fd, 4096)
			       ? mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
			       : MAP_FAILED;

	if (fd >= 0)
		close(fd);
	if (memory == MAP_FAILED)
		return NULL;
	madvise(memory, 4096, MADV_DONTFORK);
	return memory;
}

/*
 * The memory is made, or (header) what it says is replaced. schema NULL: nothing of threads. NULL: no memory.
 */
static inline struct otel_header *otel_announce(struct otel_header *header, const char *service,
						const char *schema)
{
	struct otel_message resource = { .length = 0 }, *message;
	struct timespec time;

	header = header ? header : otel_map_header();
	if (!header)
		return NULL;
	header->published_ns = 0;
	__sync_synchronize();
	message = (struct otel_message *)(header + 1); /* in the same memory */
	message->length = 0;
	otel_put_attribute(&resource, 1, "service.name", service);
	otel_put(message, 1, resource.bytes, resource.length);
	if (schema)
		otel_put_attribute(message, 2, "threadlocal.schema_version", schema);
	header->message = message->bytes;
	header->message_bytes = message->length;
	header->version = 2;
	memcpy(header->signature, "OTEL_CTX", 8);
	__sync_synchronize();
	clock_gettime(CLOCK_BOOTTIME, &time);
	header->published_ns = (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
	prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, header, 4096, "OTEL_CTX");
	return header;
}

#endif
