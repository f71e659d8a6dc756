/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/marks_choice.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "attach/process/proc_status.h"
#include "record/foreign_spans.h"
#include "record/mark_rings.h"
#include "ring/counter_clock.h"

/* Whether such memory of a process can be opened: tried on ours. */
static bool can_open_shared(struct process_reader *reader)
{
	size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct proc_mapping mapping = { .is_deleted = true, .path = "" };
	int fd;

	if (memory == MAP_FAILED)
		return false;
	mapping.start = (uint64_t)(uintptr_t)memory;
	mapping.end = mapping.start + bytes;
	fd = process_reader_open(reader, &mapping, getpid());
	if (fd >= 0)
		close(fd);
	munmap(memory, bytes);
	return fd >= 0;
}

static const char *find_obstacle(const struct kernel_features *features, struct process_reader *reader)
{
	if (!features->has_task_storage || !features->has_cookies)
		return "it needs Linux 5.15 or later";
	if (!counter_clock_is_usable())
		return "the CPU's counter is not the clock source of the kernel";
	if (!can_open_shared(reader))
		return "the memory of processes cannot be opened, which takes CAP_SYS_ADMIN or "
		       "CAP_CHECKPOINT_RESTORE in the initial user namespace";
	return NULL;
}

static bool has_other_reader(const struct record_options *options, const struct target_set *targets,
			     struct process_reader *reader)
{
	for (size_t i = 0; !options->command && i < target_set_named_cnt(targets); i++)
		if (mark_rings_are_read(reader, target_pid(target_set_named(targets, i))))
			return true;
	return false;
}

/* What works with the ring, too, but not as well as with probes. */
static const char *find_reason(const struct record_options *options, const struct target_set *targets,
			       struct process_reader *reader)
{
	const struct span_choices *choices = &options->choices;

	if (has_other_reader(options, targets, reader))
		return "another recorder reads what is marked in memory";
	if (foreign_spans_are_wanted(options) && (choices->sample_rate > 1 || choices->label_cnt))
		return "--sample or --label with spans of other probes";
	return NULL;
}

/* A mark in memory would kill it. */
static pid_t find_strict(const struct record_options *options, const struct target_set *targets)
{
	for (size_t i = 0; !options->command && i < target_set_named_cnt(targets); i++)
		if (proc_status_is_strict(target_pid(target_set_named(targets, i))))
			return target_pid(target_set_named(targets, i));
	return 0;
}

int marks_choose(struct marks_choice *choice, const struct record_options *options,
		 const struct kernel_features *features, const struct target_set *targets,
		 struct process_reader *reader, struct error *error)
{
	const char *obstacle;
	pid_t strict;

	*choice = (struct marks_choice){ .uses_ring = false };
	if (options->marks == MARKS_PROBE || options->wants_threads)
		return 0;
	obstacle = find_obstacle(features, reader);
	if (options->marks == MARKS_AUTO) {
		choice->why_not = obstacle ? obstacle : find_reason(options, targets, reader);
		choice->uses_ring = !choice->why_not;
		return 0;
	}
	if (obstacle) {
		error_set(error, "--marks ring is not possible: %s; use --marks probe", obstacle);
		return -ENOTSUP;
	}
	strict = find_strict(options, targets);
	if (strict) {
		error_set(error,
			  "process %d is in seccomp's strict mode, where a mark in shared memory would kill "
			  "it; use --marks auto",
			  strict);
		return -EPERM;
	}
	choice->uses_ring = true;
	return 0;
}
