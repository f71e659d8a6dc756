/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CTF 1.8, as babeltrace2, Trace Compass and LTTng's tools read it: a directory with a stream of spans, and a
 * stream for each CPU whose events have LTTng's names. A log tells of a span when it has ended, but the times
 * of a stream must not go back: all events are sorted first, on disk if they are many.
 *
 * A run becomes two switches, which an untraced task of tid 0 fills up: what else had the CPU is not known.
 * Where one run ends and another begins at the same moment, the two are one switch.
 */
#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/thread_names.h"
#include "base/saturating.h"
#include "base/spill_sort.h"
#include "export/ctf_stream.h"
#include "export/formats.h"
#include "export/timeline.h"

#define SORT_BYTES (64u << 20)
#define TIME_MAX_NS (UINT64_C(1) << 62) /* with the wall clock on top, it still fits into 63 bits */

/* Items of the sort that are no events yet, beside enum ctf_event. */
enum code {
	CODE_SWITCH_IN = 200,
	CODE_SWITCH_OUT = 201,
	CODE_CUT = 202,
	CODE_LOSE = 203,
};

/* At one moment: a span begins before those in it, and ends at once only if it has no length. */
enum rank {
	RANK_USUAL = 0, /* as they came */
	RANK_BEGIN = 1, /* the last to end begins first */
	RANK_AFTER = 2,
};
#define RANK_SHIFT 62

/* Linux' bits of a task's state, as in LTTng's sched_switch. */
enum task_state {
	TASK_RUNNING = 0,
	TASK_INTERRUPTIBLE = 1,
	TASK_UNINTERRUPTIBLE = 2,
	TASK_STOPPED = 4,
	TASK_DEAD = 64,
	TASK_UNKNOWN = 1024, /* shown as a wait for an unknown reason */
};

enum lost {
	LOST_CLOCK,
	LOST_TIME,
	LOST_CPU,
	LOST_OTHER,
	LOST_CNT,
};

static const char *const lost_names[LOST_CNT] = {
	[LOST_CLOCK] = "captures without a wall clock that the format can express, with monotonic times",
	[LOST_TIME] = "times beyond 2^62 ns, cut",
	[LOST_CPU] = "runs and wakeups on a CPU that is unknown or above 1023, written without it",
	[LOST_OTHER] = "stacks, triggers, costs, overlaps and runs of other tasks, left out",
};

struct task {
	uint32_t tid;
	uint32_t state; /* when it leaves */
	char comm[CTF_COMM_BYTES];
};

/* A task that has left its CPU: who came next is told by what comes next. */
struct leaver {
	bool is_there;
	uint64_t time_ns;
	struct task task;
};

struct ctf {
	struct ctf_trace *trace;
	struct spill_sort *sort;
	struct thread_names *names;
	struct text item;
	uint64_t sequence;
	uint64_t last_ns; /* the latest moment so far */
	uint64_t lost_cnt[LOST_CNT];
	struct leaver leavers[CTF_CPU_MAX];
};

/* ---- items ---- */

static struct text *begin_item(struct ctf *ctf, uint32_t stream, unsigned int code)
{
	text_clear(&ctf->item);
	ctf_put_u32(&ctf->item, stream);
	ctf_put_u8(&ctf->item, (uint8_t)code);
	return &ctf->item;
}

/* An event of a thread, in the stream of spans. */
static struct text *begin_event(struct ctf *ctf, enum ctf_event event, uint32_t pid, uint32_t tid)
{
	struct text *item = begin_item(ctf, CTF_STREAM_SPANS, event);

	ctf_put_u32(item, pid);
	ctf_put_u32(item, tid);
	ctf_put_string(item, thread_names_get(ctf->names, pid, tid));
	return item;
}

static int end_item(struct ctf *ctf, uint64_t time_ns, enum rank rank)
{
	const uint64_t mask = (UINT64_C(1) << RANK_SHIFT) - 1;
	uint64_t number = ctf->sequence++;

	if (ctf->item.err)
		return ctf->item.err;
	if (time_ns > TIME_MAX_NS) {
		time_ns = TIME_MAX_NS;
		ctf->lost_cnt[LOST_TIME]++;
	}
	if (time_ns > ctf->last_ns)
		ctf->last_ns = time_ns;
	if (rank == RANK_BEGIN)
		number = ~number;
	return spill_sort_add(ctf->sort, time_ns, (uint64_t)rank << RANK_SHIFT | (number & mask),
			      ctf->item.bytes, (uint32_t)ctf->item.length);
}

/* ---- spans ---- */

static void put_ledger(struct text *item, const struct txtrace_ledger *ledger)
{
	ctf_put_u64(item, ledger->on_cpu_ns);
	ctf_put_u64(item, ledger->runnable_ns);
	for (unsigned int reason = 0; reason < TXTRACE_BLOCK_REASON_COUNT; reason++)
		ctf_put_u64(item, ledger->blocked_ns[reason]);
	ctf_put_u64(item, ledger->detached_ns);
	ctf_put_u64(item, ledger->unknown_ns);
	ctf_put_u64(item, ledger->interrupt_ns);
	ctf_put_u64(item, ledger->stolen_ns);
}

/* The metadata names each reason of enum txtrace_block_reason, in its order. */
_Static_assert(TXTRACE_BLOCK_REASON_COUNT == 11, "LEDGER_FIELDS of ctf_stream.c has all reasons");

static int ctf_span(void *state, const struct txtrace_span *span)
{
	struct ctf *ctf = state;
	struct text *item = begin_event(ctf, CTF_SPAN_BEGIN, span->pid, span->tid);
	int err;

	ctf_put_u64(item, span->id);
	ctf_put_u64(item, span->parent);
	ctf_put_string(item, span->label);
	ctf_put_string(item, span->key);
	err = end_item(ctf, span->begin_ns, RANK_BEGIN);
	if (err)
		return err;
	begin_event(ctf, CTF_SPAN_END, span->pid, span->end_tid ? span->end_tid : span->tid);
	ctf_put_u64(item, span->id);
	ctf_put_string(item, span->label);
	ctf_put_string(item, span->tag);
	ctf_put_u8(item, (span->flags & TXTRACE_SPAN_LOWER_BOUND) != 0);
	ctf_put_u8(item, (span->flags & TXTRACE_SPAN_UNFINISHED) != 0);
	ctf_put_u8(item, (span->flags & TXTRACE_SPAN_LOSS) != 0);
	ctf_put_u8(item, (span->flags & TXTRACE_SPAN_MOVED) != 0);
	ctf_put_u64(item, span->begin_ns);
	ctf_put_u64(item, span->work_ns);
	put_ledger(item, &span->ledger);
	return end_item(ctf, span->end_ns, span->begin_ns == span->end_ns ? RANK_AFTER : RANK_USUAL);
}

static int ctf_open_span(void *state, const struct txtrace_open_span *open)
{
	struct ctf *ctf = state;
	struct text *item = begin_event(ctf, CTF_OPEN_SPAN, open->pid, open->tid);

	ctf_put_u64(item, open->id);
	ctf_put_u64(item, open->parent);
	ctf_put_string(item, open->label);
	ctf_put_string(item, open->key);
	ctf_put_u64(item, open->begin_ns);
	return end_item(ctf, open->time_ns, RANK_USUAL);
}

static int ctf_stay(void *state, const struct txtrace_stay *stay)
{
	struct ctf *ctf = state;
	struct text *item = begin_event(ctf, CTF_ENTER, stay->pid, stay->tid);
	int err;

	ctf_put_u64(item, stay->span);
	ctf_put_u32(item, stay->span_pid);
	err = end_item(ctf, stay->enter_ns, RANK_USUAL);
	if (err)
		return err;
	begin_event(ctf, CTF_EXIT, stay->pid, stay->tid);
	ctf_put_u64(item, stay->span);
	ctf_put_u32(item, stay->span_pid);
	return end_item(ctf, stay->exit_ns, RANK_USUAL);
}

static int ctf_attribute(void *state, const struct txtrace_attribute *attribute)
{
	static const enum ctf_event events[] = {
		CTF_ATTRIBUTE_UINT, /* also of types of the future */
		[TXTRACE_ATTRIBUTE_BOOL] = CTF_ATTRIBUTE_BOOL,
		[TXTRACE_ATTRIBUTE_INT] = CTF_ATTRIBUTE_INT,
		[TXTRACE_ATTRIBUTE_UINT] = CTF_ATTRIBUTE_UINT,
		[TXTRACE_ATTRIBUTE_DOUBLE] = CTF_ATTRIBUTE_DOUBLE,
		[TXTRACE_ATTRIBUTE_STRING] = CTF_ATTRIBUTE_STRING,
		[TXTRACE_ATTRIBUTE_POINTER] = CTF_ATTRIBUTE_POINTER,
		[TXTRACE_ATTRIBUTE_BYTES] = CTF_ATTRIBUTE_STRING,
	};
	bool is_known = attribute->type < sizeof(events) / sizeof(events[0]);
	enum ctf_event event = events[is_known ? attribute->type : 0];
	struct ctf *ctf = state;
	struct text *item = begin_event(ctf, event, attribute->pid, attribute->tid);

	ctf_put_u64(item, attribute->span);
	ctf_put_string(item, attribute->name);
	if (event == CTF_ATTRIBUTE_BOOL) {
		ctf_put_u8(item, attribute->value != 0);
	} else if (event == CTF_ATTRIBUTE_STRING) {
		ctf_put_string(item, attribute->string);
		ctf_put_u8(item, attribute->is_truncated);
	} else {
		ctf_put_u64(item, attribute->value);
	}
	return end_item(ctf, attribute->time_ns, RANK_USUAL);
}

static int ctf_instant(void *state, const struct txtrace_instant *instant)
{
	struct ctf *ctf = state;
	struct text *item = begin_event(ctf, CTF_INSTANT, instant->pid, instant->tid);

	ctf_put_u64(item, instant->span);
	ctf_put_string(item, instant->name);
	return end_item(ctf, instant->time_ns, RANK_USUAL);
}

static int ctf_counter(void *state, const struct txtrace_counter *counter)
{
	struct ctf *ctf = state;
	struct text *item = begin_event(ctf, CTF_COUNTER, counter->pid, counter->tid);

	ctf_put_string(item, counter->name);
	ctf_put_u64(item, (uint64_t)counter->value);
	return end_item(ctf, counter->time_ns, RANK_USUAL);
}

static int ctf_link(void *state, const struct txtrace_link *link)
{
	struct ctf *ctf = state;
	struct text *item = begin_event(ctf, CTF_LINK, link->pid, link->tid);

	ctf_put_u64(item, link->from);
	ctf_put_u64(item, link->to);
	ctf_put_string(item, link->name);
	return end_item(ctf, link->time_ns, RANK_USUAL);
}

/* ---- threads ---- */

static uint32_t cpu_number(uint32_t cpu)
{
	return cpu < CTF_CPU_MAX ? cpu : UINT32_MAX; /* -1: not known */
}

static const char *reason_name(unsigned int reason)
{
	const char *name = txtrace_block_reason_name(reason);

	return name ? name : "unknown";
}

static uint32_t state_of(const struct txtrace_run *run)
{
	switch (run->left_as) {
	case TXTRACE_LEFT_PREEMPTED:
	case TXTRACE_LEFT_YIELDED:
		return TASK_RUNNING;
	case TXTRACE_LEFT_BLOCKED:
		return run->reason == TXTRACE_BLOCK_DISK      ? TASK_UNINTERRUPTIBLE
		       : run->reason == TXTRACE_BLOCK_STOPPED ? TASK_STOPPED
							      : TASK_INTERRUPTIBLE;
	case TXTRACE_LEFT_DEAD:
		return TASK_DEAD;
	default:
		return TASK_UNKNOWN;
	}
}

static int add_switch(struct ctf *ctf, const struct txtrace_run *run, enum code code, uint64_t time_ns)
{
	struct text *item = begin_item(ctf, run->cpu, code);

	ctf_put_u32(item, run->tid);
	ctf_put_u32(item, state_of(run));
	ctf_put_comm(item, thread_names_get(ctf->names, run->pid, run->tid));
	return end_item(ctf, time_ns, RANK_USUAL);
}

static int ctf_run(void *state, const struct txtrace_run *run)
{
	bool is_blocked = run->left_as == TXTRACE_LEFT_BLOCKED;
	struct ctf *ctf = state;
	struct text *item;
	int err = 0;

	if (run->cpu < CTF_CPU_MAX) {
		err = add_switch(ctf, run, CODE_SWITCH_IN, run->begin_ns);
		if (!err)
			err = add_switch(ctf, run, CODE_SWITCH_OUT, run->end_ns);
	} else {
		ctf->lost_cnt[LOST_CPU]++;
	}
	if (err)
		return err;
	item = begin_event(ctf, CTF_RUN, run->pid, run->tid);
	ctf_put_u32(item, cpu_number(run->cpu));
	ctf_put_u64(item, run->begin_ns);
	ctf_put_u64(item, run->blocked_ns);
	ctf_put_u64(item, run->runnable_ns);
	ctf_put_u64(item, run->idle_ns);
	ctf_put_u64(item, run->stolen_ns);
	ctf_put_u64(item, run->idle_stolen_ns);
	ctf_put_text(item, left_as_name(run->left_as));
	ctf_put_text(item, is_blocked ? reason_name(run->reason) : "");
	ctf_put_u32(item, (uint32_t)(is_blocked ? run->syscall_nr : -1));
	ctf_put_u64(item, is_blocked ? run->object : 0);
	ctf_put_text(item, run->has_wait_end ? reason_name(run->wait_reason) : "");
	ctf_put_u64(item, run->has_wait_end ? run->wait_object : 0);
	return end_item(ctf, run->end_ns, RANK_USUAL);
}

/* On the waker's CPU, if that is known. Neither priority nor target are. */
static int ctf_wake(void *state, const struct txtrace_wake *wake)
{
	bool has_cpu = wake->cpu < CTF_CPU_MAX;
	struct ctf *ctf = state;
	struct text *item = has_cpu ? begin_item(ctf, wake->cpu, CTF_SCHED_WAKING)
				    : begin_event(ctf, CTF_WAKE, wake->waker_pid, wake->waker_tid);

	ctf->lost_cnt[LOST_CPU] += !has_cpu;
	ctf_put_comm(item, thread_names_get(ctf->names, wake->pid, wake->tid));
	ctf_put_u32(item, wake->tid);
	ctf_put_u32(item, UINT32_MAX);
	ctf_put_u32(item, UINT32_MAX);
	ctf_put_u32(item, wake->pid);
	ctf_put_u32(item, wake->waker_pid);
	ctf_put_u32(item, wake->waker_tid);
	ctf_put_string(item, wake->waker_comm);
	ctf_put_u32(item, wake->flags);
	ctf_put_u64(item, wake->span);
	ctf_put_u64(item, wake->waker_span);
	return end_item(ctf, wake->time_ns, RANK_USUAL);
}

static int ctf_object(void *state, const struct txtrace_object *object)
{
	struct ctf *ctf = state;
	struct text *item = begin_event(ctf, CTF_OBJECT, object->pid, object->tid);

	ctf_put_text(item, reason_name(object->reason));
	ctf_put_u64(item, object->object);
	ctf_put_string(item, object->name);
	return end_item(ctf, object->time_ns, RANK_USUAL);
}

static int ctf_thread(void *state, const struct txtrace_thread *thread)
{
	struct ctf *ctf = state;
	struct text *item;

	thread_names_add(ctf->names, thread);
	item = begin_event(ctf, CTF_THREAD, thread->pid, thread->tid);
	ctf_put_string(item, thread->comm);
	ctf_put_u8(item, thread->is_seed);
	ctf_put_u8(item, thread->is_exit);
	return end_item(ctf, thread->time_ns, RANK_USUAL);
}

static int ctf_process(void *state, const struct txtrace_process *process)
{
	struct ctf *ctf = state;
	struct text *item = begin_event(ctf, CTF_PROCESS, process->pid, process->pid);

	ctf_put_u32(item, process->parent_pid);
	ctf_put_u32(item, process->inner_pid);
	ctf_put_u64(item, process->start_ns);
	ctf_put_u8(item, process->is_seed);
	ctf_put_u8(item, process->is_exit);
	ctf_put_string(item, process->comm);
	ctf_put_string(item, process->exe);
	ctf_put_string(item, process->command);
	return end_item(ctf, process->time_ns, RANK_USUAL);
}

/* ---- what is missing ---- */

/* Between these times, so many events of the stream. */
static int add_gap(struct ctf *ctf, uint32_t stream, uint64_t first_ns, uint64_t last_ns, uint64_t cnt)
{
	int err;

	if (cnt == 0)
		return 0;
	begin_item(ctf, stream, CODE_CUT);
	err = end_item(ctf, first_ns < last_ns ? first_ns : last_ns, RANK_USUAL);
	if (err)
		return err;
	ctf_put_u64(begin_item(ctf, stream, CODE_LOSE), cnt);
	return end_item(ctf, last_ns, RANK_USUAL);
}

static int ctf_loss(void *state, const struct txtrace_loss *loss)
{
	bool has_cpu = loss->cpu < CTF_CPU_MAX;
	struct ctf *ctf = state;
	struct text *item = begin_event(ctf, CTF_LOSS, loss->pid, loss->tid);
	int err;

	ctf_put_u64(item, loss->first_ns);
	ctf_put_u64(item, loss->last_ns);
	ctf_put_u32(item, cpu_number(loss->cpu));
	ctf_put_u64(item, loss->span_event_cnt);
	ctf_put_u64(item, loss->sched_event_cnt);
	err = end_item(ctf, loss->last_ns, RANK_USUAL);
	if (!err)
		err = add_gap(ctf, CTF_STREAM_SPANS, loss->first_ns, loss->last_ns,
			      add_saturating(loss->span_event_cnt, has_cpu ? 0 : loss->sched_event_cnt));
	if (!err && has_cpu)
		err = add_gap(ctf, loss->cpu, loss->first_ns, loss->last_ns, loss->sched_event_cnt);
	return err;
}

static int ctf_dropped(void *state, const struct txtrace_dropped *dropped)
{
	struct ctf *ctf = state;
	struct text *item = begin_event(ctf, CTF_DROPPED, 0, 0);
	uint64_t cnt = 0;
	int err;

	for (unsigned int kind = 0; kind < TXTRACE_RECORD_KIND_COUNT; kind++)
		increase(&cnt, dropped->record_cnt[kind]);
	ctf_put_u64(item, dropped->first_ns);
	ctf_put_u64(item, dropped->last_ns);
	ctf_put_u64(item, dropped->batch_cnt);
	ctf_put_u64(item, cnt);
	err = end_item(ctf, dropped->time_ns, RANK_USUAL);
	return err ? err : add_gap(ctf, CTF_STREAM_SPANS, dropped->first_ns, dropped->last_ns, cnt);
}

/* It has no time: it was met behind what came before. */
static int ctf_damage(void *state, const struct txtrace_damage *damage)
{
	struct ctf *ctf = state;
	struct text *item = begin_event(ctf, CTF_DAMAGE, 0, 0);
	int err;

	ctf_put_u64(item, damage->offset_bytes);
	ctf_put_u64(item, damage->length_bytes);
	ctf_put_u64(item, damage->record_cnt);
	ctf_put_text(item, damage->reason ? damage->reason : "");
	err = end_item(ctf, ctf->last_ns, RANK_USUAL);
	return err ? err : add_gap(ctf, CTF_STREAM_SPANS, ctf->last_ns, ctf->last_ns, damage->record_cnt);
}

#define LEFT_OUT(kind)                                                        \
	static int ctf_##kind(void *state, const struct txtrace_##kind *kind) \
	{                                                                     \
		(void)kind;                                                   \
		((struct ctf *)state)->lost_cnt[LOST_OTHER]++;                \
		return 0;                                                     \
	}

LEFT_OUT(stack)
LEFT_OUT(other_run)
LEFT_OUT(cost)
LEFT_OUT(trigger)
LEFT_OUT(overlap)

/* ---- writing, in the order of time ---- */

static const struct task untraced = { .comm = "(untraced)" };

static int write_switch(struct ctf *ctf, uint32_t cpu, uint64_t time_ns, const struct task *prev,
			const struct task *next)
{
	struct text *item = &ctf->item;

	text_clear(item);
	text_append_bytes(item, prev->comm, sizeof(prev->comm));
	ctf_put_u32(item, prev->tid);
	ctf_put_u32(item, prev == &untraced ? 0 : UINT32_MAX); /* the priority is not known */
	ctf_put_u64(item, prev->state);
	text_append_bytes(item, next->comm, sizeof(next->comm));
	ctf_put_u32(item, next->tid);
	ctf_put_u32(item, next == &untraced ? 0 : UINT32_MAX);
	if (item->err)
		return item->err;
	return ctf_trace_event(ctf->trace, cpu, CTF_SCHED_SWITCH, time_ns, item->bytes, item->length);
}

static int write_leaver(struct ctf *ctf, uint32_t cpu)
{
	struct leaver *leaver = &ctf->leavers[cpu];

	if (!leaver->is_there)
		return 0;
	leaver->is_there = false;
	return write_switch(ctf, cpu, leaver->time_ns, &leaver->task, &untraced);
}

/* Of an item that this file has made. */
static struct task get_task(const char *bytes)
{
	struct task task;

	memcpy(&task.tid, bytes, 4);
	memcpy(&task.state, bytes + 4, 4);
	memcpy(task.comm, bytes + 8, sizeof(task.comm));
	task.tid = le32toh(task.tid);
	task.state = le32toh(task.state);
	return task;
}

static int enter_cpu(struct ctf *ctf, uint32_t cpu, uint64_t time_ns, const struct task *next)
{
	struct leaver *leaver = &ctf->leavers[cpu];
	int err;

	if (leaver->is_there && leaver->time_ns == time_ns) {
		leaver->is_there = false;
		return write_switch(ctf, cpu, time_ns, &leaver->task, next);
	}
	err = write_leaver(ctf, cpu);
	return err ? err : write_switch(ctf, cpu, time_ns, &untraced, next);
}

static int write_item(struct ctf *ctf, const struct spill_item *item)
{
	const char *bytes = item->bytes;
	uint8_t code = (uint8_t)bytes[4];
	uint32_t stream;
	uint64_t cnt;
	struct task task;
	int err;

	memcpy(&stream, bytes, sizeof(stream));
	stream = le32toh(stream);
	bytes += 5;
	if (code == CODE_SWITCH_IN) {
		task = get_task(bytes);
		return enter_cpu(ctf, stream, item->high, &task);
	}
	err = stream < CTF_CPU_MAX ? write_leaver(ctf, stream) : 0;
	if (err)
		return err;
	switch (code) {
	case CODE_SWITCH_OUT:
		ctf->leavers[stream] = (struct leaver){ true, item->high, get_task(bytes) };
		return 0;
	case CODE_CUT:
		return ctf_trace_cut(ctf->trace, stream, item->high);
	case CODE_LOSE:
		memcpy(&cnt, bytes, sizeof(cnt));
		return ctf_trace_lose(ctf->trace, stream, item->high, le64toh(cnt));
	default:
		return ctf_trace_event(ctf->trace, stream, code, item->high, bytes, item->length - 5);
	}
}

static int ctf_finish(void *state, const struct export_totals *totals)
{
	struct ctf *ctf = state;
	struct spill_item item;
	int err, got;

	ctf_put_u8(begin_event(ctf, CTF_END, 0, 0), totals->is_complete);
	err = end_item(ctf, ctf->last_ns, RANK_AFTER);
	if (!err)
		err = spill_sort_end(ctf->sort);
	while (!err && (got = spill_sort_next(ctf->sort, &item)) != 0)
		err = got < 0 ? got : write_item(ctf, &item);
	for (uint32_t cpu = 0; cpu < CTF_CPU_MAX && !err; cpu++)
		err = write_leaver(ctf, cpu);
	return err ? err : ctf_trace_finish(ctf->trace);
}

/* ---- begin and end ---- */

static int ctf_open_in(void **state, int directory, const struct txtrace_log_info *info)
{
	struct ctf *ctf = calloc(1, sizeof(*ctf));
	bool has_wall_clock;
	int err;

	if (!ctf)
		return -ENOMEM;
	*state = ctf;
	ctf->sort = spill_sort_new(directory, SORT_BYTES);
	ctf->names = thread_names_new();
	if (!ctf->sort || !ctf->names)
		return -ENOMEM;
	err = ctf_trace_new(&ctf->trace, directory, info, &has_wall_clock);
	ctf->lost_cnt[LOST_CLOCK] = !err && !has_wall_clock;
	return err;
}

static void ctf_tell(const void *state, export_say *say, void *context)
{
	const struct ctf *ctf = state;

	export_tell_counts(lost_names, ctf->lost_cnt, LOST_CNT, say, context);
}

static void ctf_free(void *state)
{
	struct ctf *ctf = state;

	ctf_trace_free(ctf->trace);
	spill_sort_free(ctf->sort);
	thread_names_free(ctf->names);
	text_release(&ctf->item);
	free(ctf);
}

const struct export_format format_ctf = {
	.name = "ctf",
	.help = "CTF 1.8, a directory, for babeltrace2 and Trace Compass",
	.suffix = ".ctf",
	.is_binary = true,
	.open_in = ctf_open_in,
	.span = ctf_span,
	.run = ctf_run,
	.wake = ctf_wake,
	.thread = ctf_thread,
	.attribute = ctf_attribute,
	.instant = ctf_instant,
	.counter = ctf_counter,
	.link = ctf_link,
	.open_span = ctf_open_span,
	.loss = ctf_loss,
	.stay = ctf_stay,
	.overlap = ctf_overlap,
	.object = ctf_object,
	.stack = ctf_stack,
	.other_run = ctf_other_run,
	.cost = ctf_cost,
	.process = ctf_process,
	.trigger = ctf_trigger,
	.dropped = ctf_dropped,
	.damage = ctf_damage,
	.finish = ctf_finish,
	.tell = ctf_tell,
	.free = ctf_free,
};
