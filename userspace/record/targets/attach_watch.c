/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/targets/attach_watch.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach/process/map_watch.h"
#include "base/clock.h"
#include "record/options/capture_start.h"

#define SCAN_NS 400000000u     /* without news of mappings: a tick more, and it is within a second */
#define SETTLE_NS 3000000u     /* a loader has made the other mappings of a library by then */
#define SWEEP_NS 10000000000u
/* a machine that compiles maps files hundreds of times a second: those are no reason to wake up each time */
#define REST_NS 20000000u
#define PUT_OFF_NS 100000000u /* the kernel is asked so often whether it is free again to attach files */
#define DUE_MAX 4096           /* processes that wait to be looked at; with more, all are */

struct due {
	pid_t pid;
	uint64_t next_ns;
	uint64_t since_ns; /* when it was first heard of */
	uint64_t again_ns; /* the last time that it mapped something, and a moment */
	struct attach_program program; /* noted_ns 0: not known */
	bool has_execed;
};

struct attach_watch {
	struct attach_watch_options options;
	struct map_watch *maps; /* NULL: cannot be had */
	struct due *due;
	size_t due_cnt;
	bool is_all_due;
	bool has_news;  /* somebody has mapped something since it was asked last */
	bool has_stale; /* a process has gone since the last sweep */
	bool has_concern; /* of what was read last, something may concern a target */
	bool has_others;  /* something was of others */
	uint64_t rest_until_ns; /* what is mapped until then is read then */
	uint64_t next_scan_ns;
	uint64_t next_sweep_ns;
	struct attach_watch_stats stats;
};

int attach_watch_open(struct attach_watch **out, const struct attach_watch_options *options)
{
	struct attach_watch *watch = calloc(1, sizeof(*watch));

	*out = watch;
	if (!watch)
		return -ENOMEM;
	watch->options = *options;
	watch->due = calloc(DUE_MAX, sizeof(*watch->due));
	watch->next_scan_ns = clock_now_ns() + SCAN_NS;
	if (!watch->due) {
		free(watch);
		*out = NULL;
		return -ENOMEM;
	}
	map_watch_open(&watch->maps, options->is_quick);
	return 0;
}

int attach_watch_fd(const struct attach_watch *watch, uint64_t now_ns)
{
	return watch->maps && now_ns >= watch->rest_until_ns ? map_watch_fd(watch->maps) : -1;
}

uint64_t attach_watch_due_ns(const struct attach_watch *watch, uint64_t now_ns)
{
	uint64_t due_ns = watch->maps ? UINT64_MAX : watch->next_scan_ns;

	if (now_ns < watch->rest_until_ns)
		due_ns = watch->rest_until_ns;
	if (attach_has_put_off(watch->options.attach) && due_ns > now_ns + PUT_OFF_NS)
		due_ns = now_ns + PUT_OFF_NS;
	for (size_t i = 0; i < watch->due_cnt; i++)
		if (watch->due[i].next_ns < due_ns)
			due_ns = watch->due[i].next_ns;
	return watch->is_all_due ? 0 : due_ns;
}

static struct due *due_get(struct attach_watch *watch, pid_t pid, uint64_t now_ns)
{
	for (size_t i = 0; i < watch->due_cnt; i++)
		if (watch->due[i].pid == pid)
			return &watch->due[i];
	if (watch->due_cnt == DUE_MAX) {
		watch->is_all_due = true;
		return NULL;
	}
	watch->due[watch->due_cnt] = (struct due){ .pid = pid, .next_ns = now_ns, .since_ns = now_ns };
	return &watch->due[watch->due_cnt++];
}

void attach_watch_soon(struct attach_watch *watch, pid_t pid)
{
	uint64_t now_ns = clock_now_ns();
	struct due *due = due_get(watch, pid, now_ns);

	if (!due)
		return;
	due->next_ns = now_ns;
	due->again_ns = now_ns + SETTLE_NS;
}

void attach_watch_hear(struct attach_watch *watch, const struct wire_process *wire)
{
	struct due *due;

	if (wire->change == WIRE_PROCESS_LEFT || wire->change == WIRE_PROCESS_EXITED) {
		attach_forget(watch->options.attach, (pid_t)wire->header.tgid, UINT64_MAX);
		watch->has_stale = true;
		return;
	}
	if (wire->change == WIRE_PROCESS_FORKED) /* it has what its parent has, until it execs */
		return;
	attach_watch_soon(watch, (pid_t)wire->header.tgid);
	due = due_get(watch, (pid_t)wire->header.tgid, 0);
	if (!due || wire->header.time_ns < due->program.noted_ns)
		return;
	due->has_execed = wire->path_length;
	due->program = (struct attach_program){
		.inode = wire->exe_inode,
		.dev_major = (uint32_t)(wire->exe_device >> 20),
		.dev_minor = (uint32_t)(wire->exe_device & 0xfffff),
		.code_start = wire->code_start,
		.noted_ns = wire->header.time_ns,
	};
}

void attach_watch_end(struct attach_watch *watch, pid_t pid, uint64_t end_ns)
{
	for (size_t i = 0; i < watch->due_cnt; i++)
		if (watch->due[i].pid == pid && watch->due[i].program.noted_ns < end_ns)
			watch->due[i].program.noted_ns = 0;
}

static void count_late(struct attach_watch *watch, const struct due *due)
{
	uint64_t since_ns = due->has_execed ? due->program.noted_ns : due->since_ns;
	uint64_t late_ns = clock_now_ns() - since_ns;

	watch->stats.late_cnt++;
	if (late_ns > watch->stats.late_max_ns)
		watch->stats.late_max_ns = late_ns;
}

/* What cannot be attached is counted, and said at the end. */
static void look_at(struct attach_watch *watch, const struct due *due)
{
	struct error ignored;
	int cnt = attach_scan(watch->options.attach, due->pid, &ignored);

	if (watch->options.looked && target_set_get(watch->options.targets, (uint32_t)due->pid))
		watch->options.looked(watch->options.context, (uint32_t)due->pid);
	if (cnt > 0)
		count_late(watch, due);
	if (cnt == -ESRCH && due->program.noted_ns)
		watch->stats.missed_cnt += attach_note_program(watch->options.attach, due->pid,
							       &due->program) == -ENOENT;
}

static void look_at_due(struct attach_watch *watch, uint64_t now_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < watch->due_cnt; i++) {
		struct due *due = &watch->due[i];

		if (due->next_ns <= now_ns) {
			bool was_last = due->again_ns <= now_ns;

			look_at(watch, due);
			if (was_last)
				continue;
			due->next_ns = due->again_ns;
		}
		watch->due[kept++] = *due;
	}
	watch->due_cnt = kept;
}

static void scan_target(void *context, const struct traced_process *process)
{
	struct attach_watch *watch = context;
	struct error ignored;

	attach_scan(watch->options.attach, (pid_t)process->pid, &ignored);
	if (watch->options.looked)
		watch->options.looked(watch->options.context, process->pid);
}

void attach_watch_scan_all(struct attach_watch *watch)
{
	DIR *processes;
	struct dirent *entry;

	target_set_each(watch->options.targets, scan_target, watch);
	processes = watch->options.is_any ? opendir("/proc") : NULL;
	while (processes && (entry = readdir(processes))) {
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
		struct error ignored;

		if (pid > 0 && pid != getpid())
			attach_scan(watch->options.attach, pid, &ignored);
	}
	if (processes)
		closedir(processes);
}

static int take_news(void *context, const struct map_news *news)
{
	struct attach_watch *watch = context;
	uint64_t now_ns = clock_now_ns();
	struct due *due;

	if (!news->pid) {
		watch->is_all_due = watch->has_concern = true;
		return 0;
	}
	if (news->pid == getpid())
		return 0;
	watch->has_news = true;
	if (!target_set_get(watch->options.targets, (uint32_t)news->pid) &&
	    (!watch->options.is_any ||
	     attach_knows(watch->options.attach, news->dev_major, news->dev_minor, news->inode))) {
		watch->has_others = true;
		return 0;
	}
	watch->has_concern = true;
	due = due_get(watch, news->pid, now_ns);
	if (due)
		due->again_ns = now_ns + SETTLE_NS;
	return 0;
}

static void sweep(struct attach_watch *watch, uint64_t now_ns)
{
	if (now_ns < watch->next_sweep_ns)
		return;
	watch->next_sweep_ns = now_ns + SWEEP_NS;
	if (watch->has_stale || watch->options.is_any)
		attach_sweep(watch->options.attach);
	watch->has_stale = false;
}

static void read_maps(struct attach_watch *watch, uint64_t now_ns)
{
	watch->has_concern = watch->has_others = false;
	map_watch_read(watch->maps, take_news, watch);
	if (watch->options.may_rest && watch->has_others && !watch->has_concern)
		watch->rest_until_ns = now_ns + REST_NS;
}

void attach_watch_run(struct attach_watch *watch, uint64_t now_ns)
{
	if (watch->maps)
		read_maps(watch, now_ns);
	watch->is_all_due |= attach_take_put_off(watch->options.attach);
	if (watch->is_all_due || (!watch->maps && now_ns >= watch->next_scan_ns)) {
		watch->is_all_due = false;
		watch->next_scan_ns = now_ns + SCAN_NS;
		watch->has_news = true;
		attach_watch_scan_all(watch);
	}
	look_at_due(watch, clock_now_ns());
	sweep(watch, now_ns);
}

bool attach_watch_take_news(struct attach_watch *watch)
{
	bool has_news = watch->has_news;

	watch->has_news = false;
	return has_news;
}

void attach_watch_stats(const struct attach_watch *watch, struct attach_watch_stats *stats)
{
	*stats = watch->stats;
}

void attach_watch_close(struct attach_watch *watch)
{
	if (!watch)
		return;
	map_watch_close(watch->maps);
	free(watch->due);
	free(watch);
}
