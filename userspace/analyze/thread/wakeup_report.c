/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/thread/wakeup_report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/id_map.h"
#include "base/saturating.h"

#define COUNTER_MAX 4096
#define BUSY_RATIO 0.95
#define SLACK_RATIO 0.5

struct sleeper {
	struct wakeup_row row;
	bool is_known; /* whether it sleeps or is awake */
	bool is_asleep;
	uint64_t since_ns;
	uint64_t on_cpu_ns; /* since then */
	uint64_t runnable_ns;
};

/* The length of a process' queue. */
struct depth {
	int64_t value;
};

struct wakeup_report {
	const char *queue;
	struct id_map sleepers; /* (pid, tid) -> struct sleeper */
	struct id_map depths;	/* (0, pid) -> struct depth */
	struct wakeup_idle *idle;
	size_t idle_cnt, idle_size;
	uint64_t all_idle_cnt;
	struct wakeup_counter *counters;
	struct id_map by_name; /* (pid and tid, hash of the name) -> of counters */
	size_t counter_cnt;
};

struct wakeup_report *wakeup_report_new(const char *queue)
{
	struct wakeup_report *report = calloc(1, sizeof(*report));

	if (!report)
		return NULL;
	report->queue = queue;
	id_map_init(&report->sleepers);
	id_map_init(&report->depths);
	id_map_init(&report->by_name);
	report->counters = calloc(COUNTER_MAX, sizeof(*report->counters));
	if (report->counters)
		return report;
	wakeup_report_free(report);
	return NULL;
}

void wakeup_report_free(struct wakeup_report *report)
{
	void *value;

	if (!report)
		return;
	for (size_t i = 0; (value = id_map_next(&report->sleepers, &i));)
		free(value);
	for (size_t i = 0; (value = id_map_next(&report->depths, &i));)
		free(value);
	id_map_release(&report->sleepers);
	id_map_release(&report->depths);
	id_map_release(&report->by_name);
	free(report->idle);
	free(report->counters);
	free(report);
}

/* *found is NULL when there are too many. */
static int find_sleeper(struct wakeup_report *report, const struct txtrace_run *run, struct sleeper **found)
{
	struct sleeper *sleeper = id_map_get(&report->sleepers, run->pid, run->tid);

	*found = sleeper;
	if (sleeper || report->sleepers.cnt == WAKEUP_THREAD_MAX)
		return 0;
	sleeper = calloc(1, sizeof(*sleeper));
	if (!sleeper || id_map_put(&report->sleepers, run->pid, run->tid, sleeper)) {
		free(sleeper);
		return -ENOMEM;
	}
	sleeper->row.pid = run->pid;
	sleeper->row.tid = run->tid;
	*found = sleeper;
	return 0;
}

/* ---- wakeups ---- */

static int note_idle(struct wakeup_report *report, const struct wakeup_idle *idle)
{
	struct wakeup_idle *grown;

	if (report->all_idle_cnt++ >= WAKEUP_IDLE_MAX)
		return 0;
	grown = array_grow(report->idle, &report->idle_size, report->idle_cnt, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	report->idle = grown;
	report->idle[report->idle_cnt++] = *idle;
	return 0;
}

static int end_sleep(struct wakeup_report *report, struct sleeper *sleeper, const struct txtrace_run *run)
{
	const struct depth *depth = id_map_get(&report->depths, 0, run->pid);
	struct wakeup_idle idle = { run->pid, run->tid, sleeper->since_ns, run->begin_ns,
				    depth ? depth->value : 0 };
	uint64_t slept_ns = run->begin_ns > sleeper->since_ns ? run->begin_ns - sleeper->since_ns : 0;

	sleeper->row.long_sleep_cnt += slept_ns > WAKEUP_LONG_SLEEP_NS;
	return slept_ns > WAKEUP_IDLE_NS && idle.depth > 0 ? note_idle(report, &idle) : 0;
}

static int wake(struct wakeup_report *report, struct sleeper *sleeper, const struct txtrace_run *run)
{
	struct wakeup_row *row = &sleeper->row;
	int err = sleeper->is_asleep ? end_sleep(report, sleeper, run) : 0;

	row->wakeup_cnt++;
	increase(&row->wait_ns, run->runnable_ns);
	if (run->runnable_ns > row->longest_wait_ns)
		row->longest_wait_ns = run->runnable_ns;
	row->long_wait_cnt += run->runnable_ns > WAKEUP_LONG_WAIT_NS;
	sleeper->is_known = true;
	sleeper->is_asleep = false;
	sleeper->since_ns = run->begin_ns;
	sleeper->on_cpu_ns = sleeper->runnable_ns = 0;
	return err;
}

/* What the runs do not tell of a period is not known: then it has no ratio. */
static void end_period(struct sleeper *sleeper, uint64_t end_ns)
{
	uint64_t wall_ns = end_ns > sleeper->since_ns ? end_ns - sleeper->since_ns : 0;
	struct wakeup_row *row = &sleeper->row;
	double ratio = wall_ns > 0 ? (double)sleeper->on_cpu_ns / (double)wall_ns : 1;

	row->period_cnt++;
	if (add_saturating(sleeper->on_cpu_ns, sleeper->runnable_ns) != wall_ns)
		return;
	row->measured_cnt++;
	row->ratio_sum += ratio;
	row->busy_cnt += ratio >= BUSY_RATIO;
	row->slack_cnt += ratio < SLACK_RATIO;
}

bool run_is_wakeup(const struct txtrace_run *run, bool is_awake)
{
	bool is_end = run->left_as == TXTRACE_LEFT_BLOCKED, has_length = run->end_ns > run->begin_ns;

	if (is_awake)
		return !has_length && !is_end;
	return has_length || !is_end || run->blocked_ns > 0 || run->runnable_ns > 0;
}

static int add_run(struct wakeup_report *report, const struct txtrace_run *run)
{
	uint64_t ran_ns = run->end_ns > run->begin_ns ? run->end_ns - run->begin_ns : 0;
	bool is_end = run->left_as == TXTRACE_LEFT_BLOCKED;
	struct sleeper *sleeper;
	int err = find_sleeper(report, run, &sleeper);

	if (err || !sleeper)
		return err;
	if (run_is_wakeup(run, sleeper->is_known && !sleeper->is_asleep))
		err = wake(report, sleeper, run);
	else if (sleeper->is_known && !sleeper->is_asleep)
		increase(&sleeper->runnable_ns, run->runnable_ns);
	increase(&sleeper->on_cpu_ns, ran_ns);
	if (!is_end)
		return err;
	if (sleeper->is_known && !sleeper->is_asleep)
		end_period(sleeper, run->end_ns);
	sleeper->row.sleep_cnt++;
	sleeper->is_known = sleeper->is_asleep = true;
	sleeper->since_ns = run->end_ns;
	return err;
}

/* ---- counters ---- */

/* FNV-1a. Names that it takes for the same are the first one's counter. */
static uint64_t hash_of(const struct txtrace_string *name)
{
	uint64_t hash = 0xcbf29ce484222325;

	for (size_t i = 0; i < name->length; i++)
		hash = (hash ^ (uint8_t)name->bytes[i]) * 0x100000001b3;
	return hash;
}

/* *found is NULL when there are too many. */
static int find_counter(struct wakeup_report *report, const struct txtrace_counter *counter,
			struct wakeup_counter **found)
{
	uint64_t thread = (uint64_t)counter->pid << 32 | counter->tid, hash = hash_of(&counter->name);
	struct wakeup_counter *made;
	int err;

	*found = id_map_get(&report->by_name, thread, hash);
	if (*found || report->counter_cnt == COUNTER_MAX)
		return 0;
	made = &report->counters[report->counter_cnt];
	err = id_map_put(&report->by_name, thread, hash, made);
	if (err)
		return err;
	*made = (struct wakeup_counter){ .pid = counter->pid,
					 .tid = counter->tid,
					 .maximum = counter->value };
	made->name_length = counter->name.length < sizeof(made->name) ? counter->name.length
								      : sizeof(made->name);
	if (made->name_length > 0)
		memcpy(made->name, counter->name.bytes, made->name_length);
	report->counter_cnt++;
	*found = made;
	return 0;
}

static int count(struct wakeup_report *report, const struct txtrace_counter *counter)
{
	struct wakeup_counter *found;
	int err = find_counter(report, counter, &found);

	if (err || !found)
		return err;
	found->cnt++;
	found->sum += (double)counter->value;
	if (counter->value > found->maximum)
		found->maximum = counter->value;
	return 0;
}

static int add_counter(struct wakeup_report *report, const struct txtrace_counter *counter)
{
	struct depth *depth;
	int err = count(report, counter);

	if (err || !report->queue || counter->name.length != strlen(report->queue) ||
	    memcmp(counter->name.bytes, report->queue, counter->name.length) != 0)
		return err;
	depth = id_map_get(&report->depths, 0, counter->pid);
	if (!depth) {
		depth = calloc(1, sizeof(*depth));
		if (!depth || id_map_put(&report->depths, 0, counter->pid, depth)) {
			free(depth);
			return -ENOMEM;
		}
	}
	depth->value = counter->value;
	return 0;
}

int wakeup_report_add(struct wakeup_report *report, const struct txtrace_record *record)
{
	if (record->kind == TXTRACE_RECORD_RUN)
		return add_run(report, &record->run);
	return record->kind == TXTRACE_RECORD_COUNTER ? add_counter(report, &record->counter) : 0;
}

void wakeup_report_begin_capture(struct wakeup_report *report)
{
	struct sleeper *sleeper;

	for (size_t i = 0; (sleeper = id_map_next(&report->sleepers, &i));)
		sleeper->is_known = sleeper->is_asleep = false;
}

/* ---- reading ---- */

const struct wakeup_row *wakeup_report_find(const struct wakeup_report *report, uint32_t pid, uint32_t tid)
{
	const struct sleeper *sleeper = id_map_get(&report->sleepers, pid, tid);

	return sleeper ? &sleeper->row : NULL;
}

uint64_t wakeup_report_idle_count(const struct wakeup_report *report)
{
	return report->all_idle_cnt;
}

const struct wakeup_idle *wakeup_report_idle(const struct wakeup_report *report, size_t idx)
{
	return idx < report->idle_cnt ? &report->idle[idx] : NULL;
}

const struct wakeup_counter *wakeup_report_counter(const struct wakeup_report *report, size_t idx)
{
	return idx < report->counter_cnt ? &report->counters[idx] : NULL;
}
