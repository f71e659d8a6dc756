/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/cost/cost_meter.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "attach/probes/cost_trial.h"
#include "record/kernel/kernel_side.h"
#include "record/cost/memory_trial.h"
#include "record/cost/own_usage.h"

#define WINDOW_NS 10000000u
#define WINDOW_MAX_NS 100000000u
#define WINDOW_EVENTS 500 /* enough to end a window after WINDOW_NS */
#define PERIOD_NS 1000000000u
#define IDLE_ROUNDS 100

#define PROGRAMS_MAX 5

enum reach {
	BY_TRACEPOINT = 0,
	BY_PROBE = 1,
	WITH_ANOTHER = 2, /* in a run that sends an event of another kind, too, and is charged there */
};

/* Events as recorded streams name them, who sends them, and how these programs are reached. */
static const struct {
	const char *event;
	uint8_t wire_kind;
	uint8_t reached; /* enum reach */
	const char *programs[PROGRAMS_MAX];
} kinds[] = {
	{ "switch", WIRE_SWITCH, BY_TRACEPOINT, { "on_sched_switch" } },
	{ "wake", WIRE_WAKE, BY_TRACEPOINT, { "on_sched_waking" } },
	{ "other", WIRE_OTHER, BY_TRACEPOINT, { NULL } }, /* by on_sched_switch, which is timed above */
	{ "move", WIRE_MOVE, BY_TRACEPOINT, { "on_migrate" } },
	{ "process", WIRE_PROCESS, BY_TRACEPOINT, { NULL } }, /* by several */
	/* and by on_sched_switch, which is timed above */
	{ "stack", WIRE_STACK, BY_TRACEPOINT, { "on_sample" } },
	/* by the programs of foreign begins and ends, as is the next */
	{ "value", WIRE_VALUE, WITH_ANOTHER, { NULL } },
	{ "abandon", WIRE_ABANDON, WITH_ANOTHER, { NULL } },
	/* by those that send what has the label */
	{ "label", WIRE_LABEL, WITH_ANOTHER, { NULL } },
	{ "thread", WIRE_THREAD, BY_TRACEPOINT, { "on_fork", "on_rename" } },
	{ "thread_exit", WIRE_THREAD_EXIT, BY_TRACEPOINT, { "on_exit_of_thread" } },
	{ "exec", WIRE_EXEC, BY_TRACEPOINT, { "on_exec" } },
	{ "begin",
	  WIRE_BEGIN,
	  BY_PROBE,
	  { "on_begin", "on_function_enter", "on_function_enter_before_5_13", "on_function_call",
	    "on_function_call_before_5_13" } },
	{ "begin_detached", WIRE_BEGIN_DETACHED, BY_PROBE, { "on_begin_detached" } },
	{ "enter", WIRE_ENTER, BY_PROBE, { "on_enter" } },
	{ "leave", WIRE_LEAVE, BY_PROBE, { "on_exit" } },
	{ "end", WIRE_END, BY_PROBE, { "on_end", "on_function_leave", "on_function_return" } },
	{ "tag", WIRE_TAG, BY_PROBE, { "on_tag" } },
	{ "attr", WIRE_ATTR, BY_PROBE, { "on_attr" } },
	{ "instant", WIRE_INSTANT, BY_PROBE, { "on_event" } },
	{ "counter", WIRE_COUNTER, BY_PROBE, { "on_counter" } },
	{ "link", WIRE_LINK, BY_PROBE, { "on_link" } },
	{ "key_begin", WIRE_KEY_BEGIN, BY_PROBE, { "on_key_begin" } },
	{ "key_enter", WIRE_KEY_ENTER, BY_PROBE, { "on_key_enter" } },
	{ "key_leave", WIRE_KEY_LEAVE, BY_PROBE, { "on_key_exit" } },
	{ "key_end", WIRE_KEY_END, BY_PROBE, { "on_key_end" } },
	{ "key_instant", WIRE_KEY_INSTANT, BY_PROBE, { "on_key_event" } },
};

#define KIND_CNT (sizeof(kinds) / sizeof(kinds[0]))

/*
 * Programs that send events of the one kind or the other, as the probe asks for: their runs are shared out.
 */
static const struct {
	const char *programs[PROGRAMS_MAX];
	uint8_t wire_kinds[2];
} shared[] = {
	{ { "on_foreign_begin", "on_foreign_begin_before_5_13" }, { WIRE_BEGIN, WIRE_KEY_BEGIN } },
	{ { "on_foreign_end" }, { WIRE_END, WIRE_KEY_END } },
};

#define SHARED_CNT (sizeof(shared) / sizeof(shared[0]))

struct tally {
	uint64_t event_cnt;
	uint64_t run_cnt;
	uint64_t run_ns;
};

struct program_fds {
	int fds[PROGRAMS_MAX]; /* negative: none */
};

struct metered {
	struct program_fds programs;
	uint64_t idle_run_ps;
	struct tally opened; /* at the begin of the window */
	struct tally window; /* since then, once it is closed */
	struct tally timed;  /* in all windows */
	struct tally timed_told;
	uint64_t event_cnt_told;
};

struct cost_meter {
	const struct kernel_side *kernel;
	const struct wire_counters *counters;
	uint32_t cpu_cnt;
	bool is_fast;
	struct cost_trial *trial; /* NULL: what it takes to get to a program is not known */
	struct metered metered[KIND_CNT];
	struct program_fds shared[SHARED_CNT];
	struct tally shared_opened[SHARED_CNT];
	bool is_timing;
	bool may_time;
	uint64_t window_ns; /* when it began */
	uint64_t next_ns;
	uint64_t timing_ns;
	uint64_t timing_told_ns;
	uint64_t told_ns;
	uint64_t event_cnt_told;
	uint64_t step_cnt_told;
	const struct mark_counts *marks; /* NULL: there are none */
	struct mark_counts marks_told;
	uint64_t slot_ps;
	uint64_t slot_run_cnt;
	uint64_t cpu_told_ns;
	struct cost_meter_bytes bytes_told;
	struct cost_sums sums;
};

/* ---- reading ---- */

static uint64_t sent_cnt(const struct cost_meter *meter, uint8_t wire_kind)
{
	uint64_t cnt = 0;

	for (uint32_t cpu = 0; cpu < meter->cpu_cnt; cpu++)
		cnt += __atomic_load_n(&meter->counters[cpu].sent[wire_kind], __ATOMIC_RELAXED);
	return cnt;
}

static uint64_t all_sent_cnt(const struct cost_meter *meter)
{
	uint64_t cnt = 0;

	for (uint8_t wire_kind = 0; wire_kind < WIRE_KIND_COUNT; wire_kind++)
		cnt += sent_cnt(meter, wire_kind);
	return cnt;
}

static void read_runs(const struct program_fds *programs, struct tally *tally)
{
	for (size_t i = 0; i < PROGRAMS_MAX; i++) {
		uint64_t run_cnt, run_ns;

		if (programs->fds[i] < 0 || cost_trial_timed(programs->fds[i], &run_cnt, &run_ns))
			continue;
		tally->run_cnt += run_cnt;
		tally->run_ns += run_ns;
	}
}

/* Of what the programs ran and sent, each is read right behind the other. */
static void read_tally(const struct cost_meter *meter, size_t kind, struct tally *tally)
{
	*tally = (struct tally){ .event_cnt = sent_cnt(meter, kinds[kind].wire_kind) };
	read_runs(&meter->metered[kind].programs, tally);
}

/* ---- windows ---- */

static bool open_window(struct cost_meter *meter, uint64_t now_ns)
{
	int err = meter->may_time ? cost_trial_time(meter->trial, true) : -EPERM;

	if (err) { /* one that is late may be in time the next time */
		meter->may_time &= err == -ETIMEDOUT || err == -EAGAIN;
		if (meter->may_time)
			cost_trial_time(meter->trial, false);
		return false;
	}
	meter->is_timing = true;
	meter->window_ns = now_ns;
	for (size_t kind = 0; kind < KIND_CNT; kind++)
		read_tally(meter, kind, &meter->metered[kind].opened);
	for (size_t i = 0; i < SHARED_CNT; i++) {
		meter->shared_opened[i] = (struct tally){ 0 };
		read_runs(&meter->shared[i], &meter->shared_opened[i]);
	}
	return true;
}

static struct tally *window_of(struct cost_meter *meter, uint8_t wire_kind)
{
	size_t kind = 0;

	while (kinds[kind].wire_kind != wire_kind)
		kind++;
	return &meter->metered[kind].window;
}

/* What the kind's own programs cannot have sent. */
static uint64_t sent_by_others(const struct tally *window)
{
	return window->event_cnt > window->run_cnt ? window->event_cnt - window->run_cnt : 0;
}

/*
 * Divides the runs between the two kinds, in the ratio of those of their events that no program of their own
 * sent.
 */
static void share_out(struct cost_meter *meter, size_t idx)
{
	struct tally *first = window_of(meter, shared[idx].wire_kinds[0]);
	struct tally *second = window_of(meter, shared[idx].wire_kinds[1]);
	uint64_t first_cnt = sent_by_others(first), second_cnt = sent_by_others(second), run_cnt, run_ns;
	struct tally now = { 0 };
	double part = first_cnt || second_cnt ? (double)second_cnt / (double)(first_cnt + second_cnt) : 0;

	read_runs(&meter->shared[idx], &now);
	run_cnt = now.run_cnt - meter->shared_opened[idx].run_cnt;
	run_ns = now.run_ns - meter->shared_opened[idx].run_ns;
	second->run_cnt += (uint64_t)((double)run_cnt * part);
	second->run_ns += (uint64_t)((double)run_ns * part);
	first->run_cnt += run_cnt - (uint64_t)((double)run_cnt * part);
	first->run_ns += run_ns - (uint64_t)((double)run_ns * part);
}

static void close_window(struct cost_meter *meter, uint64_t now_ns)
{
	if (!meter->is_timing)
		return;
	for (size_t kind = 0; kind < KIND_CNT; kind++) {
		struct metered *metered = &meter->metered[kind];
		struct tally now;

		read_tally(meter, kind, &now);
		metered->window.event_cnt = now.event_cnt - metered->opened.event_cnt;
		metered->window.run_cnt = now.run_cnt - metered->opened.run_cnt;
		metered->window.run_ns = now.run_ns - metered->opened.run_ns;
	}
	for (size_t i = 0; i < SHARED_CNT; i++)
		share_out(meter, i);
	for (size_t kind = 0; kind < KIND_CNT; kind++) {
		struct metered *metered = &meter->metered[kind];

		metered->timed.event_cnt += metered->window.event_cnt;
		metered->timed.run_cnt += metered->window.run_cnt;
		metered->timed.run_ns += metered->window.run_ns;
	}
	cost_trial_time(meter->trial, false);
	meter->is_timing = false;
	meter->timing_ns += now_ns - meter->window_ns;
}

static bool has_enough(const struct cost_meter *meter)
{
	uint64_t cnt = 0;

	for (size_t kind = 0; kind < KIND_CNT; kind++)
		cnt += sent_cnt(meter, kinds[kind].wire_kind) - meter->metered[kind].opened.event_cnt;
	return cnt >= WINDOW_EVENTS;
}

bool cost_meter_is_timing(const struct cost_meter *meter)
{
	return meter->is_timing;
}

uint64_t cost_meter_tick(struct cost_meter *meter, uint64_t now_ns)
{
	if (now_ns < meter->next_ns)
		return meter->next_ns;
	if (!meter->is_timing) {
		meter->next_ns = now_ns + (open_window(meter, now_ns) ? WINDOW_NS : PERIOD_NS);
	} else if (now_ns - meter->window_ns < WINDOW_MAX_NS && !has_enough(meter)) {
		meter->next_ns = meter->window_ns + WINDOW_MAX_NS;
	} else {
		close_window(meter, now_ns);
		if (meter->trial)
			cost_trial_ask(meter->trial);
		meter->next_ns = meter->window_ns + PERIOD_NS;
	}
	return meter->next_ns;
}

void cost_meter_stop(struct cost_meter *meter, uint64_t now_ns)
{
	close_window(meter, now_ns);
	meter->may_time = false;
	cost_trial_end(meter->trial);
}

/* ---- from the beginning ---- */

static void find_programs(const struct kernel_side *kernel, const char *const *names,
			  struct program_fds *programs)
{
	for (size_t i = 0; i < PROGRAMS_MAX; i++) {
		struct bpf_program *program = names[i] ? kernel_side_program(kernel, names[i]) : NULL;

		programs->fds[i] = program ? bpf_program__fd(program) : -1;
	}
}

struct cost_meter *cost_meter_new(const struct cost_meter_options *options)
{
	struct cost_trial_options trial = {
		.features = options->features,
		.probe = kernel_side_program(options->kernel, "on_empty_probe"),
		.tracepoint = kernel_side_program(options->kernel, "on_empty_tracepoint"),
		.wants_step = options->has_foreign,
		.settle = options->settle,
		.context = options->context,
	};
	struct cost_meter *meter = calloc(1, sizeof(*meter));

	if (!meter)
		return NULL;
	meter->kernel = options->kernel;
	meter->counters = kernel_side_counters(options->kernel);
	meter->cpu_cnt = options->cpu_cnt < WIRE_CPU_MAX ? options->cpu_cnt : WIRE_CPU_MAX;
	meter->is_fast = options->features->fast_nop != FAST_NOP_NONE;
	cost_trial_start(&meter->trial, &trial);
	return meter;
}

void cost_meter_connect(struct cost_meter *meter)
{
	for (size_t kind = 0; kind < KIND_CNT; kind++)
		find_programs(meter->kernel, kinds[kind].programs, &meter->metered[kind].programs);
	for (size_t i = 0; i < SHARED_CNT; i++)
		find_programs(meter->kernel, shared[i].programs, &meter->shared[i]);
	if (meter->trial && cost_trial_wait(meter->trial)) {
		cost_trial_free(meter->trial);
		meter->trial = NULL;
	}
	meter->may_time = meter->trial != NULL;
}

void cost_meter_see_marks(struct cost_meter *meter, const struct mark_counts *counts)
{
	meter->marks = counts;
	meter->slot_ps = memory_trial_ps(&meter->slot_run_cnt);
}

void cost_meter_look_idle(struct cost_meter *meter)
{
	if (!meter->trial)
		return;
	if (open_window(meter, 0)) {
		cost_trial_wake(meter->trial, IDLE_ROUNDS);
		close_window(meter, 0);
	}
	for (size_t kind = 0; kind < KIND_CNT; kind++) {
		struct metered *metered = &meter->metered[kind];
		const struct tally *idle = &metered->timed;

		if (!idle->event_cnt && idle->run_cnt >= IDLE_ROUNDS)
			metered->idle_run_ps = idle->run_ns * 1000 / idle->run_cnt;
		metered->timed = (struct tally){ 0 };
	}
}

void cost_meter_begin(struct cost_meter *meter, uint64_t now_ns)
{
	meter->told_ns = meter->next_ns = now_ns;
	meter->cpu_told_ns = own_usage_cpu_ns();
}

void cost_meter_free(struct cost_meter *meter)
{
	if (!meter)
		return;
	cost_trial_free(meter->trial);
	free(meter);
}

/* ---- telling ---- */

static int put(struct cost_meter *meter, const struct txtrace_record *record, cost_sink sink, void *context)
{
	cost_sums_add(&meter->sums, &record->cost);
	return sink(context, record);
}

static enum txtrace_cost_entry entry_of(const struct cost_meter *meter, size_t kind)
{
	if (kinds[kind].reached == BY_TRACEPOINT)
		return TXTRACE_COST_ENTRY_TRACEPOINT;
	if (kinds[kind].reached == WITH_ANOTHER)
		return TXTRACE_COST_ENTRY_WITHIN;
	return meter->is_fast ? TXTRACE_COST_ENTRY_CALL : TXTRACE_COST_ENTRY_TRAP;
}

/* All of the kind's events since the begin. */
static void fill_all_events(const struct cost_meter *meter, size_t kind,
			    const struct cost_trial_result *trial, struct txtrace_cost *cost)
{
	const struct cost_trial_entry none = { 0 };
	const struct cost_trial_entry *entry = kinds[kind].reached == BY_PROBE	      ? &trial->probe
					       : kinds[kind].reached == BY_TRACEPOINT ? &trial->tracepoint
										      : &none;
	const struct metered *metered = &meter->metered[kind];

	cost->event = (struct txtrace_string){ kinds[kind].event, strlen(kinds[kind].event) };
	cost->event_cnt = sent_cnt(meter, kinds[kind].wire_kind);
	cost->timed_event_cnt = metered->timed.event_cnt;
	cost->timed_run_cnt = metered->timed.run_cnt;
	cost->timed_run_ns = metered->timed.run_ns;
	cost->entry = (uint8_t)entry_of(meter, kind);
	cost->entry_ps = entry->entry_ps;
	cost->empty_run_ps = entry->empty_run_ps;
	cost->idle_run_ps = metered->idle_run_ps;
	cost->calibration_cnt = entry->run_cnt;
}

/* Those since the last time. */
static void fill_events(struct cost_meter *meter, size_t kind, const struct cost_trial_result *trial,
			struct txtrace_cost *cost)
{
	struct metered *metered = &meter->metered[kind];
	uint64_t event_cnt;

	fill_all_events(meter, kind, trial, cost);
	event_cnt = cost->event_cnt;
	cost->event_cnt -= metered->event_cnt_told;
	cost->timed_event_cnt -= metered->timed_told.event_cnt;
	cost->timed_run_cnt -= metered->timed_told.run_cnt;
	cost->timed_run_ns -= metered->timed_told.run_ns;
	metered->event_cnt_told = event_cnt;
	metered->timed_told = metered->timed;
}

/* In shared memory, of a kind, since the others were counted. */
static void fill_marks(const struct cost_meter *meter, size_t kind, const struct mark_counts *before,
		       struct txtrace_cost *cost)
{
	uint8_t wire_kind = kinds[kind].wire_kind;
	uint64_t slot_cnt = meter->marks->slots[wire_kind] - before->slots[wire_kind];

	cost->event = (struct txtrace_string){ kinds[kind].event, strlen(kinds[kind].event) };
	cost->event_cnt = meter->marks->marks[wire_kind] - before->marks[wire_kind];
	cost->entry = TXTRACE_COST_ENTRY_MEMORY;
	cost->entry_ps = cost->event_cnt ? slot_cnt * meter->slot_ps / cost->event_cnt : 0;
	cost->calibration_cnt = meter->slot_run_cnt;
}

static int tell_marks(struct cost_meter *meter, const struct txtrace_record *blank, uint64_t *cnt,
		      cost_sink sink, void *context)
{
	int err = 0;

	for (size_t kind = 0; meter->marks && !err && kind < KIND_CNT; kind++) {
		struct txtrace_record record = *blank;

		*cnt += meter->marks->marks[kinds[kind].wire_kind];
		fill_marks(meter, kind, &meter->marks_told, &record.cost);
		if (record.cost.event_cnt)
			err = put(meter, &record, sink, context);
	}
	if (meter->marks)
		meter->marks_told = *meter->marks;
	return err;
}

/* What so many hits cost more than they are charged as begins and ends. */
static void fill_steps(uint64_t step_cnt, const struct cost_trial_result *trial, struct txtrace_cost *cost)
{
	bool is_known = trial->step.entry_ps > trial->probe.entry_ps;

	cost->event = (struct txtrace_string){ "step", strlen("step") };
	cost->event_cnt = step_cnt;
	cost->entry = TXTRACE_COST_ENTRY_STEP;
	cost->entry_ps = is_known ? trial->step.entry_ps - trial->probe.entry_ps : 0;
	cost->calibration_cnt = trial->step.run_cnt;
}

static int tell_steps(struct cost_meter *meter, const struct cost_trial_result *trial,
		      struct txtrace_record *record, cost_sink sink, void *context)
{
	uint64_t step_cnt = kernel_side_step_cnt(meter->kernel), cnt = step_cnt - meter->step_cnt_told;

	if (!cnt)
		return 0;
	meter->step_cnt_told = step_cnt;
	fill_steps(cnt, trial, &record->cost);
	return put(meter, record, sink, context);
}

static void fill_recorder(struct cost_meter *meter, const struct cost_meter_bytes *bytes, uint64_t event_cnt,
			  struct txtrace_cost *cost)
{
	uint64_t cpu_ns = own_usage_cpu_ns();

	cost->event_cnt = event_cnt - meter->event_cnt_told;
	cost->timed_run_ns = meter->timing_ns - meter->timing_told_ns;
	cost->cpu_ns = cpu_ns - meter->cpu_told_ns;
	cost->ring_bytes = bytes->ring_bytes - meter->bytes_told.ring_bytes;
	cost->log_bytes = bytes->log_bytes - meter->bytes_told.log_bytes;
	meter->timing_told_ns = meter->timing_ns;
	meter->cpu_told_ns = cpu_ns;
	meter->bytes_told = *bytes;
	meter->event_cnt_told = event_cnt;
}

int cost_meter_tell(struct cost_meter *meter, uint64_t time_ns, const struct cost_meter_bytes *bytes,
		    cost_sink sink, void *context)
{
	struct txtrace_record blank = { .kind = TXTRACE_RECORD_COST,
					.cost = { .time_ns = time_ns, .since_ns = meter->told_ns } },
			      record;
	struct cost_trial_result trial = { 0 };
	uint64_t all_cnt = all_sent_cnt(meter);
	int err = 0;

	if (meter->trial)
		cost_trial_result(meter->trial, &trial);
	if (blank.cost.since_ns > time_ns)
		blank.cost.since_ns = time_ns;
	for (size_t kind = 0; !err && kind < KIND_CNT; kind++) {
		if (sent_cnt(meter, kinds[kind].wire_kind) == meter->metered[kind].event_cnt_told)
			continue;
		record = blank;
		fill_events(meter, kind, &trial, &record.cost);
		err = put(meter, &record, sink, context);
	}
	if (!err)
		err = tell_marks(meter, &blank, &all_cnt, sink, context);
	record = blank;
	if (!err)
		err = tell_steps(meter, &trial, &record, sink, context);
	if (err)
		return err;
	record = blank;
	fill_recorder(meter, bytes, all_cnt, &record.cost);
	meter->told_ns = time_ns;
	return put(meter, &record, sink, context);
}

uint64_t cost_meter_estimate_ns(const struct cost_meter *meter)
{
	static const struct mark_counts none;
	struct cost_trial_result trial = { 0 };
	struct cost_sums sums = { 0 };
	struct txtrace_cost cost;
	uint64_t step_cnt = kernel_side_step_cnt(meter->kernel);

	if (meter->trial)
		cost_trial_result(meter->trial, &trial);
	for (size_t kind = 0; kind < KIND_CNT; kind++) {
		cost = (struct txtrace_cost){ 0 };
		fill_all_events(meter, kind, &trial, &cost);
		if (cost.event_cnt)
			cost_sums_add(&sums, &cost);
		cost = (struct txtrace_cost){ 0 };
		if (meter->marks)
			fill_marks(meter, kind, &none, &cost);
		if (cost.event_cnt)
			cost_sums_add(&sums, &cost);
	}
	cost = (struct txtrace_cost){ 0 };
	fill_steps(step_cnt, &trial, &cost);
	if (step_cnt)
		cost_sums_add(&sums, &cost);
	return cost_sums_total_ns(&sums);
}

uint64_t cost_meter_probe_ps(struct cost_meter *meter, bool is_stepped)
{
	struct cost_trial_result trial = { 0 };

	if (meter->trial)
		cost_trial_result(meter->trial, &trial);
	return is_stepped ? trial.step.entry_ps : trial.probe.entry_ps;
}

const struct cost_sums *cost_meter_sums(const struct cost_meter *meter)
{
	return &meter->sums;
}
