/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes a Monad event ring (RING01, the test content) by the format's
 * protocol: it holds the file's lock, takes numbers and room for payloads by two
 * atomic additions, and stores a number last. Word 0 of an event follows from
 * its number, word 1 from word 0, and the payload begins with word 0 as text, so
 * that a reader can tell whether it has read one event.
 *
 *	monad_writer FILE [--events N] [--threads N] [--payload BYTES] [--pause-us N]
 *	                  [--stall-at NUMBER] [--die-in-record] [--linger]
 *
 * At the end it prints how many numbers it has given out. --stall-at: whoever
 * gets that number does not finish it. --die-in-record: it kills itself in the
 * middle of one more event. --linger: it holds the lock until it is killed.
 */
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define AREA_BYTES (2ull << 20)
#define CAPACITY (1ull << 16)
#define PAYLOAD_BYTES (1ull << 27)
#define WINDOW_BYTES (1ull << 24)
#define THREADS_MAX 64

struct descriptor {
	_Atomic uint64_t number;
	uint16_t type;
	uint16_t unused;
	uint32_t size;
	uint64_t time_ns;
	uint64_t offset;
	uint64_t words[4];
};

_Static_assert(sizeof(struct descriptor) == 64, "as in the file");

struct header {
	char magic[6];
	uint16_t content_type;
	uint8_t schema_hash[32];
	uint64_t capacity, payload_bytes, context_bytes;
	_Atomic uint64_t last;
	_Atomic uint64_t next_payload;
	uint8_t unused[48];
	_Atomic uint64_t window_start;
};

_Static_assert(offsetof(struct header, window_start) == 128, "as in the file");

static struct header *header;
static struct descriptor *descriptors;
static char *payloads; /* mapped twice, one behind the other */
static uint64_t event_cnt = 1000, thread_cnt = 1, payload_bytes = 32, pause_us, stall_at;
static bool dies, lingers;

static void must(bool holds, const char *what)
{
	if (holds)
		return;
	perror(what);
	exit(1);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* ---- the protocol ---- */

static void move_window(uint64_t end)
{
	uint64_t start = atomic_load(&header->window_start);
	uint64_t wanted = (end + WINDOW_BYTES - 1) / WINDOW_BYTES * WINDOW_BYTES -
			  (PAYLOAD_BYTES - WINDOW_BYTES);

	if (end - start > PAYLOAD_BYTES - WINDOW_BYTES && end > PAYLOAD_BYTES - WINDOW_BYTES)
		atomic_compare_exchange_strong(&header->window_start, &start, wanted);
}

static struct descriptor *reserve(uint32_t size, uint64_t *number)
{
	uint64_t time_ns = now_ns(), room = (size + 15ull) / 16 * 16, offset;
	struct descriptor *descriptor;

	*number = atomic_fetch_add(&header->last, 1) + 1;
	offset = atomic_fetch_add(&header->next_payload, room);
	descriptor = &descriptors[(*number - 1) & (CAPACITY - 1)];
	atomic_store_explicit(&descriptor->number, 0, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	move_window(offset + room);
	descriptor->size = size;
	descriptor->offset = offset;
	descriptor->time_ns = time_ns;
	return descriptor;
}

static void write_event(bool is_finished)
{
	uint64_t number, word;
	struct descriptor *descriptor = reserve((uint32_t)payload_bytes, &number);
	char *payload = payloads + descriptor->offset % PAYLOAD_BYTES, text[32];
	int length;

	word = number * 0x9e3779b97f4a7c15 | 1;
	descriptor->type = 2;
	descriptor->words[0] = word;
	descriptor->words[1] = word ^ 0x5554;
	length = snprintf(text, sizeof(text), "%" PRIu64 ":", word);
	memset(payload, 'x', payload_bytes);
	memcpy(payload, text, (size_t)length < payload_bytes ? (size_t)length : payload_bytes);
	if (is_finished && number != stall_at)
		atomic_store_explicit(&descriptor->number, number, memory_order_release);
}

static void *write_events(void *unused)
{
	const struct timespec pause = { .tv_nsec = (long)(pause_us * 1000) };

	for (uint64_t i = 0; i < event_cnt / thread_cnt; i++) {
		write_event(true);
		if (pause_us)
			nanosleep(&pause, NULL);
	}
	return unused;
}

/* ---- the file ---- */

static void map_ring(const char *path)
{
	uint64_t before = AREA_BYTES + CAPACITY * sizeof(struct descriptor);
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	char *room;

	must(fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0, path);
	must(ftruncate(fd, (off_t)(before + PAYLOAD_BYTES)) == 0, "ftruncate");
	header = mmap(NULL, before, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	must(header != MAP_FAILED, "mmap");
	descriptors = (struct descriptor *)((char *)header + AREA_BYTES);
	room = mmap(NULL, 2 * PAYLOAD_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	must(room != MAP_FAILED, "mmap");
	for (unsigned int i = 0; i < 2; i++)
		must(mmap(room + i * PAYLOAD_BYTES, PAYLOAD_BYTES, PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_FIXED, fd, (off_t)before) != MAP_FAILED,
		     "mmap");
	payloads = room;
	header->content_type = 1;
	header->capacity = CAPACITY;
	header->payload_bytes = PAYLOAD_BYTES;
	memcpy(header->magic, "RING01", sizeof(header->magic));
}

static uint64_t number_of(const char *text)
{
	char *end;
	uint64_t number = strtoull(text, &end, 10);

	must(*text && !*end, text);
	return number;
}

static void parse(int argc, char **argv)
{
	static const struct option options[] = {
		{ "events", 1, NULL, 'e' },   { "threads", 1, NULL, 't' },  { "payload", 1, NULL, 'p' },
		{ "pause-us", 1, NULL, 'u' }, { "stall-at", 1, NULL, 's' }, { "die-in-record", 0, NULL, 'd' },
		{ "linger", 0, NULL, 'l' },   { NULL, 0, NULL, 0 },
	};
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		uint64_t *number = option == 'e'   ? &event_cnt
				   : option == 't' ? &thread_cnt
				   : option == 'p' ? &payload_bytes
				   : option == 'u' ? &pause_us
						   : &stall_at;

		must(option != '?', "options");
		if (option == 'd')
			dies = true;
		else if (option == 'l')
			lingers = true;
		else
			*number = number_of(optarg);
	}
	must(optind + 1 == argc && thread_cnt > 0 && thread_cnt <= THREADS_MAX &&
		     payload_bytes <= WINDOW_BYTES,
	     "arguments");
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS_MAX];

	parse(argc, argv);
	map_ring(argv[optind]);
	for (uint64_t i = 0; i < thread_cnt; i++)
		must(pthread_create(&threads[i], NULL, write_events, NULL) == 0, "pthread_create");
	for (uint64_t i = 0; i < thread_cnt; i++)
		pthread_join(threads[i], NULL);
	if (dies) {
		write_event(false);
		raise(SIGKILL);
	}
	printf("%" PRIu64 "\n", atomic_load(&header->last));
	fflush(stdout);
	while (lingers)
		pause();
	return 0;
}
