/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * log_threads LOG...: how fast the records of a log are read, by the number of threads that decode ahead.
 * Medians over interleaved rounds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "txtrace/log.h"

#define ROUNDS 9
#define THREADS_MAX 3

static double seconds(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

struct result {
	double wall_s[ROUNDS];
	double cpu_s[ROUNDS];
};

/* Reads the log; what is done with a record is next to nothing. Returns how many there are. */
static unsigned long read_log(const char *path, unsigned int thread_cnt, double *wall_s, double *cpu_s)
{
	unsigned long cnts[TXTRACE_RECORD_KIND_COUNT] = { 0 }, cnt = 0;
	struct txtrace_record record;
	struct txtrace_log *log;
	int err = txtrace_log_open(&log, path);

	err = err ? err : txtrace_log_set_threads(log, thread_cnt);
	*wall_s = seconds(CLOCK_MONOTONIC);
	*cpu_s = seconds(CLOCK_PROCESS_CPUTIME_ID);
	while (!err && (err = txtrace_log_next(log, &record)) > 0) {
		cnts[record.kind]++;
		err = 0;
	}
	*wall_s = seconds(CLOCK_MONOTONIC) - *wall_s;
	*cpu_s = seconds(CLOCK_PROCESS_CPUTIME_ID) - *cpu_s;
	if (err) {
		fprintf(stderr, "log_threads: can't read '%s': %s\n", path, txtrace_log_strerror(log, err));
		exit(1);
	}
	txtrace_log_close(log);
	for (unsigned int i = 0; i < TXTRACE_RECORD_KIND_COUNT; i++)
		cnt += cnts[i];
	return cnt;
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
	for (int i = 1; i < argc; i++) {
		struct result results[THREADS_MAX + 1] = { 0 };
		unsigned long cnt = 0;

		for (unsigned int round = 0; round < ROUNDS; round++)
			for (unsigned int threads = 0; threads <= THREADS_MAX; threads++)
				cnt = read_log(argv[i], threads, &results[threads].wall_s[round],
					       &results[threads].cpu_s[round]);
		for (unsigned int threads = 0; threads <= THREADS_MAX; threads++)
			printf("  %u threads ahead: %6.1f M records/s, %5.1f ns of CPU each\n", threads,
			       (double)cnt / median(results[threads].wall_s) * 1e-6,
			       median(results[threads].cpu_s) / (double)cnt * 1e9);
	}
	return 0;
}
