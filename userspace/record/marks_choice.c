/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/marks_choice.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "attach/process/proc_status.h"
#include "record/foreign_spans.h"
#include "record/mark_rings.h"
#include "ring/counter_clock.h"

/* Whether such memory of a process can be opened, and the device of all such memory: tried on ours. */
static bool can_open_shared(struct process_reader *reader, dev_t *device)
{
	size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct proc_mapping mapping = { .is_deleted = true, .path = "" };
	struct stat status;
	bool result;
	int fd;

	if (memory == MAP_FAILED)
		return false;
	mapping.start = (uint64_t)(uintptr_t)memory;
	mapping.end = mapping.start + bytes;
	fd = process_reader_open(reader, &mapping, getpid());
	result = fd >= 0 && !fstat(fd, &status);
	if (result)
		*device = status.st_dev;
	if (fd >= 0)
		close(fd);
	munmap(memory, bytes);
	return result;
}

static const char *find_obstacle(const struct kernel_features *features, struct process_reader *reader,
				 dev_t *device)
{
	if (!features->has_task_storage || !features->has_cookies)
		return "it needs Linux 5.15 or later";
	if (!counter_clock_is_usable())
		return "the CPU's counter is not the clock source of the kernel";
	if (!can_open_shared(reader, device))
		return "the memory of processes cannot be opened, which takes CAP_SYS_ADMIN or "
		       "CAP_CHECKPOINT_RESTORE in the initial user namespace";
	return NULL;
}

/*
 * Who reads a process' marks holds a lock of that memory. A program that locks a memfd looks the same: then
 * probes are used, which work, too. The file holds a few lines; only its first 64 KiB are looked at.
 */
static bool is_any_locked(dev_t device)
{
	char locks[65536], wanted[32];
	int fd = open("/proc/locks", O_RDONLY | O_CLOEXEC);
	ssize_t length, part = 1;
	const char *line;

	if (fd < 0)
		return false;
	for (length = 0; part > 0 && length < (ssize_t)sizeof(locks) - 1; length += part > 0 ? part : 0)
		part = read(fd, locks + length, sizeof(locks) - 1 - (size_t)length);
	close(fd);
	locks[length] = '\0';
	snprintf(wanted, sizeof(wanted), " %02x:%02x:", major(device), minor(device));
	for (line = strstr(locks, "FLOCK "); line; line = strstr(line + 1, "FLOCK ")) {
		const char *end = strchrnul(line, '\n'), *found = strstr(line, wanted);

		if (found && found < end)
			return true;
	}
	return false;
}

/* Processes that are not named become targets later: any of them may be one whose marks are read. */
static bool finds_others(const struct target_rules *rules)
{
	return rules->comm_cnt || rules->exe_cnt || rules->cgroup_cnt || rules->is_any;
}

static bool has_other_reader(const struct record_options *options, const struct target_set *targets,
			     struct process_reader *reader, dev_t device)
{
	if (finds_others(&options->targets) && is_any_locked(device))
		return true;
	for (size_t i = 0; !options->command && i < target_set_named_cnt(targets); i++)
		if (mark_rings_are_read(reader, target_pid(target_set_named(targets, i))))
			return true;
	return false;
}

/* What works with the ring, too, but not as well as with probes. */
static const char *find_reason(const struct record_options *options, const struct target_set *targets,
			       struct process_reader *reader, dev_t device)
{
	const struct span_choices *choices = &options->choices;

	if (has_other_reader(options, targets, reader, device))
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
	dev_t device = 0;
	pid_t strict;

	*choice = (struct marks_choice){ .uses_ring = false };
	if (options->marks == MARKS_PROBE || options->wants_threads)
		return 0;
	obstacle = find_obstacle(features, reader, &device);
	if (options->marks == MARKS_AUTO) {
		choice->why_not = obstacle ? obstacle : find_reason(options, targets, reader, device);
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
