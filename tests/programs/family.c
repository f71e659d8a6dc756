/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A family of processes: generations of children, each of which makes so many spans ("child"), forks the next
 * generation and waits for it. With --exec 1 each child becomes a new program first. What all of them
 * together did is counted in memory that they share, or told by their number: a program that is whole knows
 * it. One line at the end: {"type":"family","processes":N,"spans":N}; with --list FILE the pid of each, one a
 * line.
 */
#include <fcntl.h>
#include <sys/wait.h>

#include "truth.h"

struct family {
	struct truth_options options;
	uint64_t child_cnt; /* of the first */
	uint64_t depth;     /* generations; a child of one generation has one child of the next */
	uint64_t span_cnt;
	uint64_t does_exec;
	uint64_t generation; /* ours, in what was exec'd; 0: the first */
	uint64_t pause_us;   /* that a child lives longer */
	const char *list;
};

static void note_pid(const struct family *family)
{
	char line[32];
	int fd = family->list ? open(family->list, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644) : -1;
	int length = snprintf(line, sizeof(line), "%d\n", getpid());

	must(!family->list || write(fd, line, (size_t)length) == length, "cannot write the list");
	if (fd >= 0)
		close(fd);
}

static void exec_child(const struct family *family, uint64_t generation)
{
	char numbers[4][24];

	snprintf(numbers[0], sizeof(numbers[0]), "%llu", (unsigned long long)family->depth);
	snprintf(numbers[1], sizeof(numbers[1]), "%llu", (unsigned long long)family->span_cnt);
	snprintf(numbers[2], sizeof(numbers[2]), "%llu", (unsigned long long)generation);
	snprintf(numbers[3], sizeof(numbers[3]), "%llu", (unsigned long long)family->pause_us);
	if (family->list)
		execl("/proc/self/exe", "family", "--exec", "1", "--depth", numbers[0], "--spans", numbers[1],
		      "--generation", numbers[2], "--pause-us", numbers[3], "--list", family->list, NULL);
	execl("/proc/self/exe", "family", "--exec", "1", "--depth", numbers[0], "--spans", numbers[1],
	      "--generation", numbers[2], "--pause-us", numbers[3], NULL);
	must(false, "cannot exec");
}

static void have_child(const struct family *family, uint64_t generation);

static void be_child(const struct family *family, uint64_t generation)
{
	note_pid(family);
	for (uint64_t i = 0; i < family->span_cnt; i++) {
		txtrace_span_t span = TXTRACE_BEGIN("child");

		TXTRACE_END(span);
	}
	if (generation < family->depth)
		have_child(family, generation + 1);
	if (family->pause_us)
		usleep((useconds_t)family->pause_us);
}

static void have_child(const struct family *family, uint64_t generation)
{
	pid_t child = fork();
	int status;

	must(child >= 0, "cannot fork");
	if (!child) {
		end_with_parent(SIGKILL);
		if (family->does_exec)
			exec_child(family, generation);
		be_child(family, generation);
		_exit(0);
	}
	must(waitpid(child, &status, 0) == child && !status, "a child failed");
}

int main(int argc, char **argv)
{
	struct family family = {
		.options = TRUTH_OPTIONS_DEFAULT, .child_cnt = 10, .depth = 1, .span_cnt = 3
	};
	const struct option_spec table[] = {
		TRUTH_WAIT_SPEC(&family.options),
		{ .name = "children",
		  .help = "of the first process",
		  .count = &family.child_cnt,
		  .max = 1000000 },
		{ .name = "depth", .help = "generations", .count = &family.depth, .min = 1, .max = 100 },
		{ .name = "spans", .help = "of each child", .count = &family.span_cnt, .max = 1000000 },
		{ .name = "exec",
		  .help = "1: each child becomes a new program",
		  .count = &family.does_exec,
		  .max = 1 },
		{ .name = "pause-us",
		  .help = "that a child lives after its spans",
		  .count = &family.pause_us,
		  .max = 10000000 },
		{ .name = "list", .help = "file for the children's pids", .text = &family.list },
		{ .name = "generation",
		  .help = "for what was exec'd",
		  .count = &family.generation,
		  .max = 100 },
	};

	options_parse(table, sizeof(table) / sizeof(table[0]),
		      "family: generations of processes, each with its spans", argc, argv);
	if (family.generation) {
		be_child(&family, family.generation);
		return 0;
	}
	truth_start(&family.options);
	for (uint64_t i = 0; i < family.child_cnt; i++)
		have_child(&family, 1);
	printf("{\"type\":\"family\",\"processes\":%llu,\"spans\":%llu}\n",
	       (unsigned long long)(family.child_cnt * family.depth),
	       (unsigned long long)(family.child_cnt * family.depth * family.span_cnt));
	return 0;
}
