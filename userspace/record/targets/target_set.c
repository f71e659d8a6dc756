/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/targets/target_set.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "attach/process/process_reader.h"
#include "base/id_map.h"

struct entry {
	struct traced_process process;
	/* of the exec that exe and command are of; 0: of the image that it had at first */
	uint64_t described_ns;
	uint32_t join_cnt; /* how often it was heard to join, less how often it was seen to leave */
	bool is_seed;
	bool is_placed; /* its container is known, or that it is in none */
};

struct named {
	struct target *target;
	bool has_ended;
};

struct target_set {
	struct process_reader *reader;
	target_sink sink;
	void *context;
	struct id_map by_identity; /* pid, start -> entry */
	struct id_map by_pid;	   /* 0, pid -> the entry that has it now */
	/* 0, pid -> the entry that had it last: its end may be heard before what its children do */
	struct id_map parents;
	struct named *named;
	size_t named_cnt;
	int epoll_fd;
	struct target_set_stats stats;
};

struct target_set *target_set_new(target_sink sink, void *context)
{
	struct target_set *set = calloc(1, sizeof(*set));

	if (!set)
		return NULL;
	set->sink = sink;
	set->context = context;
	id_map_init(&set->by_identity);
	id_map_init(&set->by_pid);
	id_map_init(&set->parents);
	set->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (set->epoll_fd >= 0)
		return set;
	target_set_free(set);
	return NULL;
}

void target_set_set_reader(struct target_set *set, struct process_reader *reader)
{
	set->reader = reader;
}

static void entry_free(struct entry *entry)
{
	if (!entry)
		return;
	free(entry->process.exe);
	free(entry->process.command);
	free(entry);
}

void target_set_free(struct target_set *set)
{
	struct entry *entry;

	if (!set)
		return;
	for (size_t i = 0; (entry = id_map_next(&set->by_identity, &i));)
		entry_free(entry);
	id_map_release(&set->by_identity);
	id_map_release(&set->by_pid);
	id_map_release(&set->parents);
	for (size_t i = 0; i < set->named_cnt; i++)
		target_close(set->named[i].target);
	free(set->named);
	if (set->epoll_fd >= 0)
		close(set->epoll_fd);
	free(set);
}

/* ---- those that were named ---- */

int target_set_add(struct target_set *set, struct target *target)
{
	struct named *grown = reallocarray(set->named, set->named_cnt + 1, sizeof(*grown));
	struct epoll_event interest = { .events = EPOLLIN };

	if (!grown)
		return -ENOMEM;
	set->named = grown;
	if (epoll_ctl(set->epoll_fd, EPOLL_CTL_ADD, target_poll_fd(target), &interest))
		return -errno;
	set->named[set->named_cnt++] = (struct named){ .target = target };
	return 0;
}

size_t target_set_named_cnt(const struct target_set *set)
{
	return set->named_cnt;
}

struct target *target_set_named(const struct target_set *set, size_t idx)
{
	return set->named[idx].target;
}

int target_set_poll_fd(const struct target_set *set)
{
	return set->epoll_fd;
}

/* A pidfd stays readable once its process has ended, so it is taken out. */
size_t target_set_reap(struct target_set *set, target_ended ended, void *context)
{
	size_t running_cnt = 0;

	for (size_t i = 0; i < set->named_cnt; i++) {
		struct named *named = &set->named[i];

		if (named->has_ended)
			continue;
		if (target_is_running(named->target)) {
			running_cnt++;
			continue;
		}
		named->has_ended = true;
		epoll_ctl(set->epoll_fd, EPOLL_CTL_DEL, target_poll_fd(named->target), NULL);
		ended(context, target_pid(named->target));
	}
	return running_cnt;
}

/* ---- describing ---- */

static char *read_exe(uint32_t pid)
{
	char path[64], exe[PATH_MAX];
	ssize_t length;

	snprintf(path, sizeof(path), "/proc/%u/exe", pid);
	length = readlink(path, exe, sizeof(exe));
	return length > 0 ? strndup(exe, (size_t)length) : NULL;
}

static char *read_command(const struct target_set *set, uint32_t pid)
{
	char command[PROCESS_READER_COMMAND_MAX];

	return process_reader_command(set->reader, command, (pid_t)pid) > 0 ? strdup(command) : NULL;
}

static void replace(char **string, char *by)
{
	free(*string);
	*string = by;
}

/* A child is where its parent is, for all that is known. */
static void place_by_parent(struct entry *entry, const struct entry *parent)
{
	if (entry->is_placed || !parent || !parent->is_placed)
		return;
	entry->process.container = parent->process.container;
	entry->is_placed = true;
}

/* One that has gone already is where it was, or where its parent is. */
static void place(struct entry *entry, const struct entry *parent)
{
	struct container_identity found;

	if (container_identity_read(&found, (pid_t)entry->process.pid)) {
		place_by_parent(entry, parent);
		return;
	}
	entry->process.container = found;
	entry->is_placed = true;
}

/* What it is called now; what it was asked to execute, if it has gone already. */
static void describe(const struct target_set *set, struct entry *entry, const struct wire_process *wire)
{
	const struct entry *parent = id_map_get(&set->parents, 0, wire->parent_tgid);
	struct traced_process *process = &entry->process;
	char *exe = read_exe(process->pid);

	if (!exe && wire->path_length)
		exe = strndup(wire->path, wire->path_length);
	replace(&process->exe, exe);
	replace(&process->command, read_command(set, process->pid));
	place(entry, parent);
	entry->described_ns = wire->change == WIRE_PROCESS_EXEC ? wire->header.time_ns : 0;
}

/* A child runs what its parent runs, until it execs. */
static void inherit(struct entry *entry, const struct entry *parent)
{
	replace(&entry->process.exe, parent->process.exe ? strdup(parent->process.exe) : NULL);
	replace(&entry->process.command, parent->process.command ? strdup(parent->process.command) : NULL);
	place_by_parent(entry, parent);
}

/* ---- hearing ---- */

static struct entry *entry_get(struct target_set *set, uint32_t pid, uint64_t start_ns)
{
	struct entry *entry = id_map_get(&set->by_identity, pid, start_ns);

	if (entry)
		return entry;
	entry = calloc(1, sizeof(*entry));
	if (!entry)
		return NULL;
	entry->process.pid = pid;
	entry->process.start_ns = start_ns;
	if (id_map_put(&set->by_identity, pid, start_ns, entry)) {
		free(entry);
		return NULL;
	}
	return entry;
}

static void remember(struct traced_process *process, const struct wire_process *wire)
{
	process->inner_pid = wire->inner_pid;
	process->parent_pid = wire->parent_tgid;
	process->reasons = wire->reasons;
	process->code_start = wire->code_start;
	snprintf(process->comm, sizeof(process->comm), "%.16s", wire->comm);
}

static int hear_join(struct target_set *set, const struct wire_process *wire)
{
	const struct entry *parent = id_map_get(&set->parents, 0, wire->parent_tgid);
	struct entry *entry = entry_get(set, wire->header.tgid, wire->start_ns);

	if (!entry)
		return -ENOMEM;
	entry->join_cnt++;
	entry->is_seed = wire->header.flags & WIRE_IS_SEED;
	entry->process.since_ns = wire->header.time_ns;
	set->stats.joined_cnt++;
	/* else its exec was heard before, from another ring */
	if (!entry->described_ns || entry->described_ns < wire->header.time_ns) {
		remember(&entry->process, wire);
		if (parent && wire->change == WIRE_PROCESS_FORKED &&
		    parent->process.code_start == wire->code_start)
			inherit(entry, parent);
		else
			describe(set, entry, wire);
	}
	if (id_map_put(&set->parents, 0, entry->process.pid, entry))
		return -ENOMEM;
	return id_map_put(&set->by_pid, 0, entry->process.pid, entry);
}

static int hear_exec(struct target_set *set, const struct wire_process *wire)
{
	struct entry *entry = entry_get(set, wire->header.tgid, wire->start_ns);

	if (!entry)
		return -ENOMEM;
	remember(&entry->process, wire);
	describe(set, entry, wire);
	return 0;
}

static int hear_end(struct target_set *set, const struct wire_process *wire)
{
	struct entry *entry = id_map_get(&set->by_identity, wire->header.tgid, wire->start_ns);

	set->stats.ended_cnt++;
	if (entry && id_map_get(&set->by_pid, 0, wire->header.tgid) == entry)
		id_map_remove(&set->by_pid, 0, wire->header.tgid);
	return 0;
}

int target_set_hear(struct target_set *set, const struct wire_process *wire, size_t size)
{
	if (size < sizeof(*wire) || wire->path_length > sizeof(wire->path))
		return 0;
	switch (wire->change) {
	case WIRE_PROCESS_JOINED:
	case WIRE_PROCESS_FORKED:
		return hear_join(set, wire);
	case WIRE_PROCESS_EXEC:
		return hear_exec(set, wire);
	case WIRE_PROCESS_LEFT:
	case WIRE_PROCESS_EXITED:
		return hear_end(set, wire);
	}
	return 0;
}

/* ---- seeing ---- */

static struct txtrace_string string_of(const char *bytes)
{
	return (struct txtrace_string){ bytes, bytes ? strlen(bytes) : 0 };
}

static int tell(struct target_set *set, const struct entry *entry, struct txtrace_process *told)
{
	struct txtrace_record record = { .kind = TXTRACE_RECORD_PROCESS };
	const struct traced_process *process = &entry->process;

	told->pid = process->pid;
	told->start_ns = process->start_ns;
	record.process = *told;
	return set->sink(set->context, &record);
}

static void forget(struct target_set *set, struct entry *entry)
{
	struct traced_process *process = &entry->process;

	if (entry->join_cnt && --entry->join_cnt)
		return;
	if (id_map_get(&set->by_pid, 0, process->pid) == entry)
		id_map_remove(&set->by_pid, 0, process->pid);
	if (id_map_get(&set->parents, 0, process->pid) == entry)
		id_map_remove(&set->parents, 0, process->pid);
	id_map_remove(&set->by_identity, process->pid, process->start_ns);
	entry_free(entry);
}

/*
 * exe and command are those of the last exec that was heard: of another one that followed at once, only what
 * it was called with is known.
 */
static void fill_names(const struct target_set *set, const struct entry *entry, const struct event *event,
		       struct txtrace_process *told)
{
	const struct entry *parent = id_map_get(&set->parents, 0, event->process.parent_tgid);
	bool is_described = event->process.change == WIRE_PROCESS_EXEC ? entry->described_ns == event->time_ns
								       : entry->described_ns < event->time_ns;

	told->exe = is_described ? string_of(entry->process.exe)
				 : (struct txtrace_string){ event->process.path.bytes,
							    event->process.path.length };
	if (is_described)
		told->command = string_of(entry->process.command);
	if (is_described || event->process.change != WIRE_PROCESS_FORKED || !parent ||
	    parent->process.code_start != event->process.code_start)
		return;
	told->exe = string_of(parent->process.exe); /* it was forked, and ran what its parent runs */
	told->command = string_of(parent->process.command);
}

static void fill_container(const struct entry *entry, struct txtrace_process *told)
{
	told->container = string_of(entry->process.container.container);
	told->pod = string_of(entry->process.container.pod);
}

int target_set_see(struct target_set *set, const struct event *event)
{
	struct entry *entry = entry_get(set, event->tgid, event->process.start_ns);
	bool is_end = event->process.change == WIRE_PROCESS_EXITED ||
		      event->process.change == WIRE_PROCESS_LEFT;
	struct txtrace_process told = {
		.time_ns = event->time_ns,
		.parent_pid = event->process.parent_tgid,
		.inner_pid = event->process.inner_pid,
		.reasons = (uint8_t)event->process.reasons,
		.is_seed = event->flags & WIRE_IS_SEED,
		.is_exit = is_end,
		.comm = { event->process.comm.bytes, event->process.comm.length },
	};
	int err;

	if (!entry)
		return -ENOMEM;
	if (!is_end) {
		fill_names(set, entry, event, &told);
		/* what its parent's ring told of that has been heard by now */
		place_by_parent(entry, id_map_get(&set->parents, 0, event->process.parent_tgid));
		fill_container(entry, &told);
	}
	err = tell(set, entry, &told);
	if (is_end)
		forget(set, entry);
	return err;
}

int target_set_tell(struct target_set *set, uint64_t time_ns)
{
	struct entry *entry;
	int err = 0;

	for (size_t i = 0; !err && (entry = id_map_next(&set->by_pid, &i));) {
		const struct traced_process *process = &entry->process;
		struct txtrace_process told = {
			.time_ns = time_ns,
			.parent_pid = process->parent_pid,
			.inner_pid = process->inner_pid,
			.reasons = (uint8_t)process->reasons,
			.is_seed = true,
			.comm = string_of(process->comm),
			.exe = string_of(process->exe),
			.command = string_of(process->command),
		};

		fill_container(entry, &told);
		if (process->since_ns <= time_ns)
			err = tell(set, entry, &told);
	}
	return err;
}

/* ---- asking ---- */

const struct traced_process *target_set_get(const struct target_set *set, uint32_t pid)
{
	const struct entry *entry = id_map_get(&set->by_pid, 0, pid);

	return entry ? &entry->process : NULL;
}

const struct container_identity *target_set_place(const struct target_set *set, uint32_t pid)
{
	const struct entry *entry = id_map_get(&set->parents, 0, pid);

	return entry && entry->is_placed ? &entry->process.container : NULL;
}

size_t target_set_cnt(const struct target_set *set)
{
	return set->by_pid.cnt;
}

void target_set_each(const struct target_set *set, target_visit visit, void *context)
{
	const struct entry *entry;

	for (size_t i = 0; (entry = id_map_next(&set->by_pid, &i));)
		visit(context, &entry->process);
}

void target_set_stats(const struct target_set *set, struct target_set_stats *stats)
{
	*stats = set->stats;
}
