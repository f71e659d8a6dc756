/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/otel/thread_place.h"

#include <elf.h>
#include <errno.h>

#include "attach/process/process_reader.h"

/* What aarch64's C libraries keep at the thread pointer, before the program's own block. */
#define AARCH64_HEAD_BYTES 16

/* glibc's list is never shorter: DTV_SURPLUS. */
#define GLIBC_LIST_MIN 14

/* Distances from the thread pointer are smaller, addresses larger. */
#define DISTANCE_MAX (INT64_C(1) << 32)

static bool is_address(uint64_t argument)
{
	return (int64_t)argument > DISTANCE_MAX;
}

static int at_distance(struct otel_place *place, uint64_t distance)
{
	place->offset = (int64_t)distance;
	return place->offset > DISTANCE_MAX || place->offset < -DISTANCE_MAX ? -ENOTSUP : 0;
}

/* The program's block lies before the thread pointer, or behind what the C library has there. */
static uint64_t distance_in_program(const struct elf_tls *tls)
{
	uint64_t mask = tls->align - 1;

	if (tls->machine == EM_X86_64)
		return tls->value - tls->bytes - ((-tls->address - tls->bytes) & mask);
	return tls->value + AARCH64_HEAD_BYTES + ((tls->address - AARCH64_HEAD_BYTES) & mask);
}

/* Where each thread has the list of its modules' blocks, and how that is built: of the libraries' ABI. */
static int in_module(struct otel_place *place, const struct elf_tls *tls, const uint64_t target[2],
		     bool is_musl)
{
	uint64_t entry_bytes = is_musl ? 8 : 16;

	if (!target[0] || target[0] > UINT32_MAX)
		return -EAGAIN; /* no module has number 0 */
	if (target[1] > UINT32_MAX)
		return -ENOTSUP;
	place->module = target[0];
	place->offset = (int64_t)target[1];
	place->entry_bytes = (uint8_t)entry_bytes;
	place->has_count = !is_musl && target[0] > GLIBC_LIST_MIN;
	if (tls->machine == EM_X86_64)
		place->list = 8;
	else
		place->list = is_musl ? -8 : 0;
	return 0;
}

int thread_place_of_words(struct otel_place *place, const struct elf_tls *tls, const uint64_t words[2],
			  const uint64_t target[2], uint64_t bias, bool is_musl)
{
	*place = (struct otel_place){ .is_nodejs = tls->is_nodejs };
	switch (tls->way) {
	case ELF_TLS_EXECUTABLE:
		return at_distance(place, distance_in_program(tls));
	case ELF_TLS_DISTANCE:
		return words[0] ? at_distance(place, words[0]) : -EAGAIN;
	case ELF_TLS_MODULE:
		return in_module(place, tls, words, is_musl);
	case ELF_TLS_DESCRIPTOR:
		if (!words[0])
			return -EAGAIN;
		if (!is_address(words[1]))
			return at_distance(place, words[1]);
		/* it leads to the file's own relocations: the loader has yet to look it up */
		if (words[1] >= bias && words[1] - bias < tls->end)
			return -EAGAIN;
		return in_module(place, tls, target, is_musl);
	default:
		return -ENOTSUP;
	}
}

int thread_place_find(struct otel_place *place, const struct elf_tls *tls,
		      const struct thread_place_source *source)
{
	uint64_t bias = source->code->start - tls->code_address + (tls->code_offset - source->code->offset);
	uint64_t words[2] = { 0, 0 }, target[2] = { 0, 0 };
	size_t size = tls->way == ELF_TLS_DISTANCE ? sizeof(words[0]) : sizeof(words);
	int err = 0;

	if (tls->way != ELF_TLS_EXECUTABLE && tls->way != ELF_TLS_UNKNOWN)
		err = process_reader_bytes(source->reader, words, size, source->pid, bias + tls->word);
	if (!err && tls->way == ELF_TLS_DESCRIPTOR && is_address(words[1]))
		err = process_reader_bytes(source->reader, target, sizeof(target), source->pid, words[1]);
	return err ? err : thread_place_of_words(place, tls, words, target, bias, source->is_musl);
}
