/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * log_queue [FOLDER]: what a record costs the thread that records: its own CPU time, without a queue, where
 * it compresses and writes itself, and with one. Then how many records a second get through, by the clock,
 * while nothing is dropped; and what the writer takes of memory.
 *
 * The records are those of a server: stays, wakeups and spans of eight threads on two CPUs. Medians of rounds
 * in which everything is measured in turn. The log is written to FOLDER (default /dev/shm).
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "log/write/log_writer.h"

#define ROUNDS 7
#define RECORDS 1000000u
#define THREADS 8u
#define QUEUE_BYTES (64u << 20)

static double seconds(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static uint64_t next_random(uint64_t *random)
{
	*random ^= *random << 13;
	*random ^= *random >> 7;
	*random ^= *random << 17;
	return *random;
}

/* Each thread in turn is woken, runs, does a span and blocks. */
static void make_records(struct txtrace_record *records)
{
	uint64_t random = 88172645463325252u, time_ns = 3600000000000, left_ns[THREADS];

	for (uint32_t i = 0; i < THREADS; i++)
		left_ns[i] = time_ns;
	for (uint32_t i = 0; i + 3 <= RECORDS; i += 3) {
		uint32_t me = (uint32_t)(next_random(&random) % THREADS);
		uint64_t woken_ns = time_ns + 300 + next_random(&random) % 2000,
			 begin_ns = woken_ns + 2000 + next_random(&random) % 8000;
		uint64_t end_ns = begin_ns + 20000 + next_random(&random) % 40000;

		records[i] = (struct txtrace_record){ .kind = TXTRACE_RECORD_WAKE,
						      .wake = { .time_ns = woken_ns,
								.tid = 100 + me,
								.pid = 100,
								.waker_tid = 100 + (me + 1) % THREADS,
								.waker_pid = 100,
								.cpu = i & 1,
								.waker_comm = { "server", 6 } } };
		records[i + 1] = (struct txtrace_record){
			.kind = TXTRACE_RECORD_SPAN,
			.span = { .id = i + 1,
				  .pid = 100,
				  .tid = 100 + me,
				  .end_tid = 100 + me,
				  .begin_ns = begin_ns + 500,
				  .end_ns = end_ns - 500,
				  .work_ns = end_ns - begin_ns - 1000,
				  .ledger = { .on_cpu_ns = end_ns - begin_ns - 1000 },
				  .label = { "request", 7 } }
		};
		records[i + 2] = (struct txtrace_record){ .kind = TXTRACE_RECORD_RUN,
							  .run = { .tid = 100 + me,
								   .pid = 100,
								   .cpu = i & 1,
								   .begin_ns = begin_ns,
								   .end_ns = end_ns,
								   .blocked_ns = woken_ns - left_ns[me],
								   .runnable_ns = begin_ns - woken_ns,
								   .left_as = TXTRACE_LEFT_BLOCKED,
								   .reason = TXTRACE_BLOCK_NETWORK,
								   .syscall_nr = 45,
								   .object = 7 } };
		time_ns = left_ns[me] = end_ns;
	}
}

struct result {
	double own_s[ROUNDS];  /* CPU time of this thread */
	double wall_s[ROUNDS]; /* until all is written */
	double memory_bytes;
};

static void check(int err, const char *what)
{
	if (err < 0) {
		fprintf(stderr, "log_queue: %s failed: %s\n", what, strerror(-err));
		exit(1);
	}
}

static void measure(const struct txtrace_record *records, const char *path,
		    const struct log_writer_options *options, unsigned int round, struct result *result)
{
	struct txtrace_log_info info = { .cpu_cnt = 2 };
	size_t before = mallinfo2().hblkhd + mallinfo2().uordblks;
	struct log_writer *writer;
	double own, wall;

	check(log_writer_open(&writer, path, &info, options), "opening");
	result->memory_bytes = (double)(mallinfo2().hblkhd + mallinfo2().uordblks - before);
	own = seconds(CLOCK_THREAD_CPUTIME_ID);
	wall = seconds(CLOCK_MONOTONIC);
	for (uint32_t i = 0; i + 3 <= RECORDS; i++)
		check(log_writer_add(writer, &records[i]), "writing");
	result->own_s[round] = seconds(CLOCK_THREAD_CPUTIME_ID) - own;
	if (log_writer_dropped(writer)->batch_cnt)
		fprintf(stderr, "log_queue: %llu records were dropped\n",
			(unsigned long long)log_writer_dropped_records(writer));
	check(log_writer_close(writer), "closing");
	result->wall_s[round] = seconds(CLOCK_MONOTONIC) - wall;
}

static int by_value(const void *a, const void *b)
{
	double difference = *(const double *)a - *(const double *)b;

	return difference < 0 ? -1 : difference > 0;
}

static double median(double *values)
{
	qsort(values, ROUNDS, sizeof(*values), by_value);
	return values[ROUNDS / 2];
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		struct log_writer_options options;
	} ways[] = {
		{ "none", { .codec = LOG_CODEC_NONE } },
		{ "none, queue", { .codec = LOG_CODEC_NONE, .queue_bytes = QUEUE_BYTES } },
		{ "LZ4", { .codec = LOG_CODEC_LZ4 } },
		{ "LZ4, queue", { .codec = LOG_CODEC_LZ4, .queue_bytes = QUEUE_BYTES } },
		{ "zstd", { .codec = LOG_CODEC_ZSTD } },
		{ "zstd, queue", { .codec = LOG_CODEC_ZSTD, .queue_bytes = QUEUE_BYTES } },
	};
	enum { WAY_CNT = sizeof(ways) / sizeof(ways[0]) };
	struct txtrace_record *records = calloc(RECORDS, sizeof(*records));
	struct result results[WAY_CNT] = { 0 };
	char path[4096];

	if (!records)
		return 1;
	make_records(records);
	snprintf(path, sizeof(path), "%s/log_queue.%d", argc > 1 ? argv[1] : "/dev/shm", (int)getpid());
	for (unsigned int round = 0; round < ROUNDS; round++)
		for (unsigned int i = 0; i < WAY_CNT; i++)
			measure(records, path, &ways[i].options, round, &results[i]);
	unlink(path);
	printf("\n%u records of a server\n  %-14s %22s %22s %10s\n", RECORDS, "", "recording thread ns",
	       "written, million/s", "MiB");
	for (unsigned int i = 0; i < WAY_CNT; i++)
		printf("  %-14s %22.1f %22.2f %10.1f\n", ways[i].name,
		       median(results[i].own_s) / RECORDS * 1e9, RECORDS / median(results[i].wall_s) * 1e-6,
		       results[i].memory_bytes / (1 << 20));
	free(records);
	return 0;
}
