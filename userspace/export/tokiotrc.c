/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tokio's telemetry, TOKIOTRC of versions 4 to 6: one timeline for each worker. A worker is a thread that
 * ran, or polled. Its active periods become unpark and park, with the CPU time that its runs add up to; spans
 * called "poll", and those with the attribute "local queue" that an import gave them, become polls; the
 * counters "global queue" and "local queue" become depths. The format has room for nothing else: what is left
 * out is counted, and told at the end.
 *
 * A poll is written when it has ended: the records of one worker are in the order of time, those of several
 * workers are not, as in files of the telemetry itself.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/thread/wakeup_report.h"
#include "base/id_map.h"
#include "base/saturating.h"
#include "export/formats.h"

#define MAGIC "TOKIOTRC"
#define WORKER_MAX 254u /* 0 … 253 */
#define NS_PER_US 1000u
#define DEPTH_MAX 255
#define RECORD_BYTES_MAX 15

enum code {
	CODE_POLL_START = 0,
	CODE_POLL_END = 1,
	CODE_PARK = 2,
	CODE_UNPARK = 3,
	CODE_QUEUE_SAMPLE = 4,
	CODE_POLL_START_QUEUED = 5,
	CODE_POLL_END_QUEUED = 6,
};

struct worker {
	bool has_number;
	uint8_t number;
	bool is_known; /* whether it is parked */
	bool is_parked;
	uint64_t cpu_ns;   /* since it was first seen */
	uint64_t since_ns; /* of the unpark */
	uint64_t told_ns;  /* of the time since then, what runs and waits tell */
	uint64_t poll_end_ns;
	uint64_t depth;
	uint64_t poll; /* the span that has an attribute with a depth; 0: none */
	uint64_t poll_depth;
};

enum lost {
	LOST_TIME,
	LOST_LATE,
	LOST_WORKER,
	LOST_SPAN,
	LOST_NESTED,
	LOST_OPEN,
	LOST_DEPTH,
	LOST_CPU,
	LOST_WAIT,
	LOST_COUNTER,
	LOST_NAME,
	LOST_MARK,
	LOST_LOSS,
	LOST_CNT,
};

struct tokiotrc {
	FILE *out;
	uint8_t version;
	uint64_t start_ns;
	struct id_map workers; /* (pid, tid) -> struct worker */
	bool has_number[WORKER_MAX];
	uint64_t lost_cnt[LOST_CNT];
};

static const char *const lost_names[LOST_CNT] = {
	[LOST_TIME] = "times cut to whole \xc2\xb5s",
	[LOST_LATE] = "records outside the 71.6 minutes of the format, left out: export parts",
	[LOST_WORKER] = "records of threads beyond the 254 workers of the format, left out",
	[LOST_SPAN] = "spans that are no polls, left out",
	[LOST_NESTED] = "polls that overlap another poll of their worker, left out",
	[LOST_OPEN] = "polls without an end",
	[LOST_DEPTH] = "depths outside 0 to 255, cut",
	[LOST_CPU] = "active periods whose CPU time is not known in full, written without the unknown part",
	[LOST_WAIT] = "waits for a CPU, which versions before 6 can't tell, left out",
	[LOST_COUNTER] = "values of other counters, left out",
	[LOST_NAME] = "names, tags and attributes of spans and threads, left out",
	[LOST_MARK] =
		"instants, links, wakeups, stacks and other records without a place in the format, left out",
	[LOST_LOSS] = "records of losses and damage, left out: readers of the file can't know of them",
};

/* ---- writing ---- */

/* µs since the start; false: it can't be told, which was counted. */
static bool get_time(struct tokiotrc *trc, uint64_t ns, uint32_t *us)
{
	uint64_t since_us = (ns - trc->start_ns) / NS_PER_US;

	if (ns < trc->start_ns || since_us > UINT32_MAX) {
		trc->lost_cnt[LOST_LATE]++;
		return false;
	}
	trc->lost_cnt[LOST_TIME] += (ns - trc->start_ns) % NS_PER_US != 0;
	*us = (uint32_t)since_us;
	return true;
}

static uint8_t get_depth(struct tokiotrc *trc, int64_t depth)
{
	trc->lost_cnt[LOST_DEPTH] += depth < 0 || depth > DEPTH_MAX;
	return (uint8_t)(depth < 0 ? 0 : depth > DEPTH_MAX ? DEPTH_MAX : depth);
}

struct wire {
	uint8_t bytes[RECORD_BYTES_MAX];
	size_t length;
};

static void put_u8(struct wire *wire, uint8_t value)
{
	wire->bytes[wire->length++] = value;
}

static void put_u32(struct wire *wire, uint32_t value)
{
	for (unsigned int shift = 0; shift < 32; shift += 8)
		put_u8(wire, (uint8_t)(value >> shift));
}

static int write_wire(struct tokiotrc *trc, const struct wire *wire)
{
	return fwrite(wire->bytes, 1, wire->length, trc->out) == wire->length ? 0 : errno ? -errno : -EIO;
}

static int write_poll(struct tokiotrc *trc, enum code code, uint32_t us, const struct worker *worker,
		      uint8_t depth)
{
	struct wire wire = { .length = 0 };

	put_u8(&wire, (uint8_t)(depth == 0 ? code : code + CODE_POLL_START_QUEUED));
	put_u32(&wire, us);
	put_u8(&wire, worker->number);
	if (depth > 0)
		put_u8(&wire, depth);
	return write_wire(trc, &wire);
}

static int write_parking(struct tokiotrc *trc, enum code code, uint64_t ns, const struct worker *worker,
			 uint64_t wait_ns)
{
	struct wire wire = { .length = 0 };
	uint32_t us;

	if (!get_time(trc, ns, &us))
		return 0;
	put_u8(&wire, (uint8_t)code);
	put_u32(&wire, us);
	put_u8(&wire, worker->number);
	put_u8(&wire, get_depth(trc, (int64_t)worker->depth));
	if (trc->version >= 5)
		put_u32(&wire, (uint32_t)(worker->cpu_ns / NS_PER_US));
	if (trc->version >= 6 && code == CODE_UNPARK)
		put_u32(&wire,
			(uint32_t)(wait_ns / NS_PER_US < UINT32_MAX ? wait_ns / NS_PER_US : UINT32_MAX));
	return write_wire(trc, &wire);
}

/* ---- workers ---- */

/* "worker 7": 7, if no thread before had it; else the first free one. false: there is none. */
static bool choose_number(struct tokiotrc *trc, struct worker *worker, unsigned int wanted)
{
	unsigned int number = wanted < WORKER_MAX && !trc->has_number[wanted] ? wanted : 0;

	while (number < WORKER_MAX && trc->has_number[number])
		number++;
	if (number == WORKER_MAX)
		return false;
	trc->has_number[number] = worker->has_number = true;
	worker->number = (uint8_t)number;
	return true;
}

static int find_worker(struct tokiotrc *trc, uint32_t pid, uint32_t tid, struct worker **found)
{
	struct worker *worker = id_map_get(&trc->workers, pid, tid);

	*found = worker;
	if (worker)
		return 0;
	worker = calloc(1, sizeof(*worker));
	if (!worker || id_map_put(&trc->workers, pid, tid, worker)) {
		free(worker);
		return -ENOMEM;
	}
	*found = worker;
	return 0;
}

/* *found is NULL when there are too many, which was counted. */
static int find_numbered(struct tokiotrc *trc, uint32_t pid, uint32_t tid, struct worker **found)
{
	int err = find_worker(trc, pid, tid, found);

	if (err || (*found)->has_number || choose_number(trc, *found, WORKER_MAX))
		return err;
	trc->lost_cnt[LOST_WORKER]++;
	*found = NULL;
	return 0;
}

static int tokiotrc_thread(void *state, const struct txtrace_thread *thread)
{
	static const char prefix[] = "worker ";
	const size_t length = sizeof(prefix) - 1;
	struct tokiotrc *trc = state;
	struct worker *worker;
	unsigned int number = 0;
	int err;

	if (thread->comm.length <= length || thread->comm.length > length + 3 ||
	    memcmp(thread->comm.bytes, prefix, length) != 0) {
		trc->lost_cnt[LOST_NAME] += thread->comm.length > 0;
		return 0;
	}
	for (size_t i = length; i < thread->comm.length; i++) {
		if (thread->comm.bytes[i] < '0' || thread->comm.bytes[i] > '9')
			return 0;
		number = number * 10 + (unsigned int)(thread->comm.bytes[i] - '0');
	}
	err = find_worker(trc, thread->pid, thread->tid, &worker);
	if (!err && !worker->has_number && number < WORKER_MAX)
		choose_number(trc, worker, number);
	return err;
}

/* ---- active periods ---- */

static int unpark(struct tokiotrc *trc, struct worker *worker, const struct txtrace_run *run)
{
	worker->is_known = true;
	worker->is_parked = false;
	worker->since_ns = run->begin_ns;
	worker->told_ns = 0;
	trc->lost_cnt[LOST_WAIT] += trc->version < 6 && run->runnable_ns > 0;
	return write_parking(trc, CODE_UNPARK, run->begin_ns, worker, run->runnable_ns);
}

static int park(struct tokiotrc *trc, struct worker *worker, uint64_t end_ns)
{
	uint64_t wall_ns = end_ns > worker->since_ns ? end_ns - worker->since_ns : 0;

	if (worker->is_known && !worker->is_parked && trc->version >= 5)
		trc->lost_cnt[LOST_CPU] += worker->told_ns < wall_ns;
	worker->is_known = worker->is_parked = true;
	return write_parking(trc, CODE_PARK, end_ns, worker, 0);
}

static int tokiotrc_run(void *state, const struct txtrace_run *run)
{
	uint64_t ran_ns = run->end_ns > run->begin_ns ? run->end_ns - run->begin_ns : 0;
	bool is_end = run->left_as == TXTRACE_LEFT_BLOCKED;
	struct tokiotrc *trc = state;
	struct worker *worker;
	int err = find_numbered(trc, run->pid, run->tid, &worker);

	if (err || !worker)
		return err;
	if (run_is_wakeup(run, worker->is_known && !worker->is_parked))
		err = unpark(trc, worker, run);
	else if (worker->is_known && !worker->is_parked)
		increase(&worker->told_ns, run->runnable_ns);
	worker->cpu_ns += ran_ns; /* the format's clock wraps, too */
	increase(&worker->told_ns, ran_ns);
	return is_end && !err ? park(trc, worker, run->end_ns) : err;
}

/* ---- polls ---- */

static bool is_poll(const struct txtrace_span *span, const struct worker *worker)
{
	return (span->label.length == 4 && memcmp(span->label.bytes, "poll", 4) == 0) ||
	       (worker && worker->poll == span->id && span->id != 0);
}

static int tell_poll(struct tokiotrc *trc, struct worker *worker, const struct txtrace_span *span)
{
	bool has_depth = worker->poll == span->id;
	uint8_t begin_depth = get_depth(trc, (int64_t)(has_depth ? worker->poll_depth : worker->depth));
	uint32_t us;
	int err;

	if (span->begin_ns < worker->poll_end_ns || span->end_ns < span->begin_ns) {
		trc->lost_cnt[LOST_NESTED]++;
		return 0;
	}
	worker->poll_end_ns = span->end_ns;
	if (!get_time(trc, span->begin_ns, &us))
		return 0;
	err = write_poll(trc, CODE_POLL_START, us, worker, begin_depth);
	if (err || span->flags & TXTRACE_SPAN_UNFINISHED) {
		trc->lost_cnt[LOST_OPEN] += !err;
		return err;
	}
	if (!get_time(trc, span->end_ns, &us))
		return 0;
	return write_poll(trc, CODE_POLL_END, us, worker, get_depth(trc, (int64_t)worker->depth));
}

static int tokiotrc_span(void *state, const struct txtrace_span *span)
{
	struct tokiotrc *trc = state;
	struct worker *worker = id_map_get(&trc->workers, span->pid, span->tid);
	int err;

	trc->lost_cnt[LOST_NAME] += (span->tag.length > 0) + (span->key.length > 0);
	if (!is_poll(span, worker)) {
		trc->lost_cnt[LOST_SPAN]++;
		return 0;
	}
	err = find_numbered(trc, span->pid, span->tid, &worker);
	return err || !worker ? err : tell_poll(trc, worker, span);
}

static bool is_called(const struct txtrace_string *name, const char *wanted)
{
	size_t length = strlen(wanted);

	return name->length == length && memcmp(name->bytes, wanted, length) == 0;
}

static int tokiotrc_attribute(void *state, const struct txtrace_attribute *attribute)
{
	struct tokiotrc *trc = state;
	struct worker *worker;
	int err;

	if (attribute->type != TXTRACE_ATTRIBUTE_UINT || !is_called(&attribute->name, "local queue")) {
		trc->lost_cnt[LOST_NAME]++;
		return 0;
	}
	err = find_worker(trc, attribute->pid, attribute->tid, &worker);
	if (err)
		return err;
	worker->poll = attribute->span;
	worker->poll_depth = attribute->value < INT64_MAX ? attribute->value : INT64_MAX;
	return 0;
}

/* ---- queues ---- */

static int write_sample(struct tokiotrc *trc, const struct txtrace_counter *counter)
{
	struct wire wire = { .length = 0 };
	uint32_t us;

	if (!get_time(trc, counter->time_ns, &us))
		return 0;
	put_u8(&wire, CODE_QUEUE_SAMPLE);
	put_u32(&wire, us);
	put_u8(&wire, get_depth(trc, counter->value));
	return write_wire(trc, &wire);
}

static int tokiotrc_counter(void *state, const struct txtrace_counter *counter)
{
	struct tokiotrc *trc = state;
	struct worker *worker;
	int err;

	if (is_called(&counter->name, "global queue"))
		return write_sample(trc, counter);
	if (!is_called(&counter->name, "local queue")) {
		trc->lost_cnt[LOST_COUNTER]++;
		return 0;
	}
	err = find_worker(trc, counter->pid, counter->tid, &worker);
	if (!err)
		worker->depth = counter->value > 0 ? (uint64_t)counter->value : 0;
	return err;
}

/* ---- what there is no room for ---- */

static int count(void *state, enum lost lost)
{
	((struct tokiotrc *)state)->lost_cnt[lost]++;
	return 0;
}

#define LEFT_OUT(kind, lost)                                                       \
	static int tokiotrc_##kind(void *state, const struct txtrace_##kind *kind) \
	{                                                                          \
		(void)kind;                                                        \
		return count(state, lost);                                         \
	}

LEFT_OUT(wake, LOST_MARK)
LEFT_OUT(instant, LOST_MARK)
LEFT_OUT(link, LOST_MARK)
LEFT_OUT(stay, LOST_MARK)
LEFT_OUT(object, LOST_MARK)
LEFT_OUT(stack, LOST_MARK)
LEFT_OUT(other_run, LOST_MARK)
LEFT_OUT(loss, LOST_LOSS)
LEFT_OUT(dropped, LOST_LOSS)
LEFT_OUT(damage, LOST_LOSS)

/* ---- begin and end ---- */

static int open_version(void **state, FILE *out, const struct txtrace_log_info *info, uint8_t version)
{
	struct tokiotrc *trc = calloc(1, sizeof(*trc));
	const uint8_t number[4] = { version };

	if (!trc)
		return -ENOMEM;
	trc->out = out;
	trc->version = version;
	trc->start_ns = info->start_monotonic_ns;
	id_map_init(&trc->workers);
	*state = trc;
	fwrite(MAGIC, 1, strlen(MAGIC), out);
	fwrite(number, 1, sizeof(number), out);
	return 0; /* export_open() sees whether that was written */
}

static int open_4(void **state, FILE *out, const struct txtrace_log_info *info)
{
	return open_version(state, out, info, 4);
}

static int open_5(void **state, FILE *out, const struct txtrace_log_info *info)
{
	return open_version(state, out, info, 5);
}

static int open_6(void **state, FILE *out, const struct txtrace_log_info *info)
{
	return open_version(state, out, info, 6);
}

static int tokiotrc_finish(void *state, const struct export_totals *totals)
{
	(void)state;
	(void)totals;
	return 0;
}

static void tokiotrc_tell(const void *state, export_say *say, void *context)
{
	const struct tokiotrc *trc = state;

	export_tell_counts(lost_names, trc->lost_cnt, LOST_CNT, say, context);
}

static void tokiotrc_free(void *state)
{
	struct tokiotrc *trc = state;
	struct worker *worker;

	for (size_t i = 0; (worker = id_map_next(&trc->workers, &i));)
		free(worker);
	id_map_release(&trc->workers);
	free(trc);
}

#define TOKIOTRC_FORMAT(format_name, format_suffix, version)                                               \
	{                                                                                                  \
		.name = format_name, .help = "Tokio's telemetry, TOKIOTRC version " #version,              \
		.suffix = format_suffix, .is_binary = true, .open = open_##version, .span = tokiotrc_span, \
		.run = tokiotrc_run, .wake = tokiotrc_wake, .thread = tokiotrc_thread,                     \
		.attribute = tokiotrc_attribute, .instant = tokiotrc_instant, .counter = tokiotrc_counter, \
		.link = tokiotrc_link, .loss = tokiotrc_loss, .stay = tokiotrc_stay,                       \
		.object = tokiotrc_object, .stack = tokiotrc_stack, .other_run = tokiotrc_other_run,       \
		.dropped = tokiotrc_dropped, .damage = tokiotrc_damage, .finish = tokiotrc_finish,         \
		.tell = tokiotrc_tell, .free = tokiotrc_free,                                              \
	}

const struct export_format format_tokio = TOKIOTRC_FORMAT("tokio", ".tokiotrc", 5);
const struct export_format format_tokio4 = TOKIOTRC_FORMAT("tokio4", ".tokiotrc4", 4);
const struct export_format format_tokio6 = TOKIOTRC_FORMAT("tokio6", ".tokiotrc6", 6);
