/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Load that comes and goes, for what is measured beside it: each of a few processes computes, walks through
 * memory or writes to the disk for a while, then rests for a while, both at random, some longer than others.
 * Runs until SIGTERM, or as long as --seconds says. Exit status: 0; 1: it could not.
 */
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

#include "program_options.h"

#define MEMORY_BYTES (16u << 20)
#define BLOCK_BYTES 65536
#define LONGEST 8.0 /* means */

static void must(bool is_fine, const char *complaint)
{
	if (is_fine)
		return;
	fprintf(stderr, "gusts: %s: %m\n", complaint);
	exit(1);
}

static uint64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000ull + (uint64_t)time.tv_nsec;
}

static uint64_t random_next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state * 0x2545f4914f6cdd1dull;
}

/* Exponential: most are short, a few are long. */
static double random_seconds(uint64_t *state, double mean)
{
	double seconds = -log((double)((random_next(state) >> 11) + 1) / (double)(1ull << 53)) * mean;

	return seconds < LONGEST * mean ? seconds : LONGEST * mean;
}

static void compute(void)
{
	volatile uint64_t sum = 1;

	for (unsigned i = 0; i < 100000; i++)
		sum = sum * 0x9e3779b97f4a7c15ull + i;
}

static void walk(unsigned char *memory)
{
	for (size_t i = 0; i < MEMORY_BYTES; i += 64)
		memory[i]++;
}

static void write_block(int fd, const unsigned char *memory)
{
	must(pwrite(fd, memory, BLOCK_BYTES, 0) == BLOCK_BYTES, "cannot write");
	fsync(fd);
}

static void blow(uint64_t seed, double mean, const char *directory)
{
	uint64_t state = (seed + 1) * 0x9e3779b97f4a7c15ull;
	unsigned char *memory = calloc(1, MEMORY_BYTES);
	char path[4096];
	int fd;

	end_with_parent(SIGKILL);
	snprintf(path, sizeof(path), "%s/gusts-XXXXXX", directory);
	fd = mkostemp(path, O_CLOEXEC);
	must(memory && fd >= 0, "cannot have memory and a file");
	unlink(path);
	for (;;) {
		uint64_t end_ns = now_ns() + (uint64_t)(random_seconds(&state, mean) * 1e9);
		unsigned kind = (unsigned)(random_next(&state) % 4);
		struct timespec rest;
		double rest_seconds;

		while (now_ns() < end_ns) {
			if (kind < 2)
				compute();
			else if (kind == 2)
				walk(memory);
			else
				write_block(fd, memory);
		}
		rest_seconds = random_seconds(&state, mean);
		rest = (struct timespec){ (time_t)rest_seconds,
					  (long)((rest_seconds - floor(rest_seconds)) * 1e9) };
		nanosleep(&rest, NULL);
	}
}

int main(int argc, char **argv)
{
	uint64_t seed = 1, process_cnt = 2;
	double mean = 2, seconds = 0;
	const char *directory = "/var/tmp";
	sigset_t signals;
	const struct option_spec table[] = {
		{ .name = "processes", .help = "how many", .count = &process_cnt, .min = 1, .max = 64 },
		{ .name = "mean",
		  .help = "seconds that a gust, or a rest, takes in the mean",
		  .real = &mean,
		  .min = 0.001,
		  .max = 1e6 },
		{ .name = "seed", .help = "of the random times", .count = &seed, .max = 1e12 },
		{ .name = "seconds",
		  .help = "end after this time; 0: at SIGTERM",
		  .real = &seconds,
		  .max = 1e6 },
		{ .name = "directory", .help = "of the files that are written", .text = &directory },
	};

	options_parse(table, sizeof(table) / sizeof(table[0]), "gusts: load that comes and goes", argc, argv);
	end_with_parent(SIGTERM);
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	for (uint64_t i = 0; i < process_cnt; i++) {
		pid_t child = fork();

		must(child >= 0, "cannot fork");
		if (child == 0)
			blow(seed * 64 + i, mean, directory);
	}
	sigprocmask(SIG_BLOCK, &signals, NULL);
	struct timespec limit = { (time_t)seconds, (long)((seconds - floor(seconds)) * 1e9) };
	sigtimedwait(&signals, NULL, seconds > 0 ? &limit : NULL);
	return 0; /* the processes end with their parent */
}
