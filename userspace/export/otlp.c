/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * OTLP, the protocol of OpenTelemetry: traces, in protobuf and in JSON. A span
 * keeps its ledger as attributes; what came before its end (events, links,
 * blocks) is kept packed until then. docs/formats.md has the names.
 *
 * Spans are written in messages of at most 512, each with one element for each
 * process. The last message is held until the end, so that the sums of what was
 * lost are whole there.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/thread_names.h"
#include "base/saturating.h"
#include "export/formats.h"
#include "export/otlp_attributes.h"
#include "export/otlp_blocks.h"
#include "export/otlp_encode.h"
#include "export/otlp_processes.h"
#include "export/span_marks.h"
#include "analyze/trace_ids.h"

#define BATCH_SPANS 512
#define BATCH_BYTES (1u << 20)
#define MARK_BYTES_MAX (64u << 20)
#define PROCESS_MAX 65536 /* whose names are known at a time */
#define ELEMENT_MAX 128	  /* events of a span, and links: what OpenTelemetry's own exporters send */

enum { LIST_EVENTS = 0, LIST_LINKS = 1 };

enum lost {
	LOST_ATTRIBUTE,
	LOST_ELEMENT,
	LOST_COUNTER,
	LOST_INSTANT,
	LOST_TIMELINE,
	LOST_STACK,
	LOST_MARK,
	LOST_TOP,
	LOST_CNT,
};

static const char *const lost_names[LOST_CNT] = {
	[LOST_ATTRIBUTE] = "attributes beyond 128 of a span, or under a name of txtrace's own, left out",
	[LOST_ELEMENT] = "events and links beyond 128 of a span, left out",
	[LOST_COUNTER] = "values of counters, left out",
	[LOST_INSTANT] = "events outside of spans, left out",
	[LOST_TIMELINE] = "runs of threads, left out: the sums are in the spans",
	[LOST_STACK] = "stacks of code, left out",
	[LOST_MARK] =
		"spans that have not ended, or whose record is missing or late: left out, or their marks are",
	[LOST_TOP] = "spans beyond the first 4 million of which the trace is that of the parent",
};

struct otlp {
	FILE *out; /* NULL: there is a sink */
	const struct export_sink *sink;
	const struct txtrace_log_info *info;
	struct otlp_encoder encoder;
	struct trace_ids *ids;
	struct thread_names *threads;
	struct span_marks marks;
	struct otlp_processes processes;
	struct otlp_blocks blocks;
	struct otlp_list list; /* of the element that is being written */
	struct text piece;     /* the same */
	struct text message;
	struct text elements[2];
	uint32_t batch_cnt;
	size_t batch_bytes;
	char blocked_names[TXTRACE_BLOCK_REASON_COUNT][40];
	uint64_t lost_cnt[LOST_CNT];
	uint64_t lost_span_event_cnt, lost_sched_event_cnt, dropped_record_cnt, damaged_bytes;
};

static struct txtrace_string literal(const char *text)
{
	return (struct txtrace_string){ text, strlen(text) };
}

/* By the header's pair of clocks; before 1970, which only a forged log says, is 1970. */
static uint64_t unix_time(const struct otlp *otlp, uint64_t time_ns)
{
	uint64_t start = otlp->info->start_monotonic_ns, wall = otlp->info->start_realtime_ns;

	if (time_ns >= start)
		return add_saturating(wall, time_ns - start);
	return wall > start - time_ns ? wall - (start - time_ns) : 0;
}

/* ---- beginning and end ---- */

static int drop_mark(void *context, const struct span_mark *mark)
{
	((struct otlp *)context)->lost_cnt[LOST_MARK]++;
	(void)mark;
	return 0;
}

static void otlp_free(void *state)
{
	struct otlp *otlp = state;

	if (!otlp)
		return;
	otlp_encoder_release(&otlp->encoder);
	trace_ids_free(otlp->ids);
	thread_names_free(otlp->threads);
	span_marks_release(&otlp->marks);
	otlp_processes_release(&otlp->processes);
	otlp_blocks_release(&otlp->blocks);
	otlp_list_release(&otlp->list);
	text_release(&otlp->piece);
	text_release(&otlp->message);
	text_release(&otlp->elements[LIST_EVENTS]);
	text_release(&otlp->elements[LIST_LINKS]);
	free(otlp);
}

static int open_as(void **state, const struct txtrace_log_info *info, bool is_json)
{
	struct otlp *otlp = calloc(1, sizeof(*otlp));
	int err;

	*state = otlp;
	if (!otlp)
		return -ENOMEM;
	otlp->info = info;
	otlp->encoder.is_json = is_json;
	for (unsigned int reason = 0; reason < TXTRACE_BLOCK_REASON_COUNT; reason++)
		snprintf(otlp->blocked_names[reason], sizeof(otlp->blocked_names[reason]),
			 "txtrace.blocked.%s_ns", txtrace_block_reason_name(reason));
	span_marks_init(&otlp->marks, MARK_BYTES_MAX, drop_mark, otlp);
	otlp_processes_init(&otlp->processes);
	otlp->ids = trace_ids_new();
	otlp->threads = thread_names_new();
	err = otlp_blocks_init(&otlp->blocks);
	if (err || !otlp->ids || !otlp->threads)
		return -ENOMEM;
	return trace_ids_begin_capture(otlp->ids, info->capture_id);
}

static int open_file(void **state, FILE *out, const struct txtrace_log_info *info, bool is_json)
{
	int err = open_as(state, info, is_json);

	if (!err)
		((struct otlp *)*state)->out = out;
	return err;
}

static int open_sink(void **state, const struct export_sink *sink, const struct txtrace_log_info *info,
		     bool is_json)
{
	int err = open_as(state, info, is_json);

	if (!err)
		((struct otlp *)*state)->sink = sink;
	return err;
}

static int otlp_open(void **state, FILE *out, const struct txtrace_log_info *info)
{
	return open_file(state, out, info, false);
}

static int otlp_json_open(void **state, FILE *out, const struct txtrace_log_info *info)
{
	return open_file(state, out, info, true);
}

static int otlp_open_sink(void **state, const struct export_sink *sink, const struct txtrace_log_info *info)
{
	return open_sink(state, sink, info, false);
}

static int otlp_json_open_sink(void **state, const struct export_sink *sink,
			       const struct txtrace_log_info *info)
{
	return open_sink(state, sink, info, true);
}

static int otlp_capture(void *state, const uint8_t capture_id[16])
{
	return trace_ids_begin_capture(((struct otlp *)state)->ids, capture_id);
}

static int otlp_survey(void *state, const struct txtrace_record *record)
{
	return trace_ids_see(((struct otlp *)state)->ids, record);
}

/* ---- messages ---- */

static void list_resource(struct otlp *otlp, const struct otlp_process *process, bool is_incomplete)
{
	const struct txtrace_log_info *info = otlp->info;
	struct otlp_list *list = &otlp->list;

	otlp_list_clear(list);
	otlp_process_list(process, list);
	otlp_list_add_string(list, "host.name",
			     (struct txtrace_string){ info->host, strnlen(info->host, sizeof(info->host)) });
	otlp_list_add_hex(list, "txtrace.capture_id", info->capture_id, sizeof(info->capture_id));
	otlp_list_add_count(list, "txtrace.lost.span_events", otlp->lost_span_event_cnt);
	otlp_list_add_count(list, "txtrace.lost.sched_events", otlp->lost_sched_event_cnt);
	otlp_list_add_count(list, "txtrace.lost.records", otlp->dropped_record_cnt);
	otlp_list_add_count(list, "txtrace.lost.damaged_bytes", otlp->damaged_bytes);
	otlp_list_add_flag(list, "txtrace.incomplete", is_incomplete);
}

static const char *version_of(const struct txtrace_log_info *info)
{
	const char *blank = memchr(info->recorder, '\0', sizeof(info->recorder))
				    ? strrchr(info->recorder, ' ')
				    : NULL;

	return blank ? blank + 1 : "";
}

static int give_message(const struct otlp *otlp, const struct text *message, uint32_t span_cnt)
{
	if (otlp->sink)
		return otlp->sink->take(otlp->sink->context, message->bytes, message->length, span_cnt);
	if (fwrite(message->bytes, 1, message->length, otlp->out) != message->length)
		return errno ? -errno : -EIO;
	return 0;
}

static int write_message(struct otlp *otlp, bool is_incomplete)
{
	struct text *piece = &otlp->piece, *message = &otlp->message;
	uint32_t span_cnt = otlp->batch_cnt;

	if (span_cnt == 0)
		return 0;
	text_clear(piece);
	for (const struct otlp_process *process = otlp->processes.first; process; process = process->next) {
		if (process->spans.length == 0)
			continue;
		list_resource(otlp, process, is_incomplete);
		otlp_put_process(&otlp->encoder, piece, otlp_list_get(&otlp->list), version_of(otlp->info),
				 &process->spans);
	}
	otlp_processes_clear_spans(&otlp->processes);
	otlp->batch_cnt = 0;
	otlp->batch_bytes = 0;
	text_clear(message);
	text_append(message, otlp_message_begin(&otlp->encoder));
	text_append_bytes(message, text_string(piece), piece->length);
	text_append(message, otlp_message_end(&otlp->encoder));
	if (piece->err || message->err || otlp->list.err)
		return -ENOMEM;
	return give_message(otlp, message, span_cnt);
}

static int otlp_flush(void *state)
{
	return write_message(state, false);
}

/* ---- spans ---- */

/* Zeros are left out, but for those without which the others could be taken for all. */
static void list_ledger(struct otlp *otlp, const struct txtrace_span *span)
{
	const struct txtrace_ledger *ledger = &span->ledger;
	struct otlp_list *list = &otlp->list;

	otlp_list_add_int(list, "txtrace.work_ns", span->work_ns);
	otlp_list_add_int(list, "txtrace.on_cpu_ns", ledger->on_cpu_ns);
	otlp_list_add_count(list, "txtrace.runnable_ns", ledger->runnable_ns);
	otlp_list_add_int(list, "txtrace.blocked_ns", txtrace_ledger_blocked_ns(ledger));
	for (unsigned int reason = 0; reason < TXTRACE_BLOCK_REASON_COUNT; reason++)
		otlp_list_add_count(list, otlp->blocked_names[reason], ledger->blocked_ns[reason]);
	otlp_list_add_count(list, "txtrace.stolen_ns", ledger->stolen_ns);
	otlp_list_add_count(list, "txtrace.stolen_max_ns", span->stolen_max_ns);
	otlp_list_add_count(list, "txtrace.detached_ns", ledger->detached_ns);
	otlp_list_add_count(list, "txtrace.interrupt_ns", ledger->interrupt_ns);
	otlp_list_add_int(list, "txtrace.unknown_ns", ledger->unknown_ns);
}

static void list_span(struct otlp *otlp, const struct txtrace_span *span, const struct span_mark *mark)
{
	struct otlp_list *list = &otlp->list;

	otlp_list_clear(list);
	list_ledger(otlp, span);
	otlp_list_add_flag(list, "txtrace.lower_bound", span->flags & TXTRACE_SPAN_LOWER_BOUND);
	otlp_list_add_flag(list, "txtrace.loss",
			   span->flags & (TXTRACE_SPAN_LOSS | TXTRACE_SPAN_PARENT_LOST));
	otlp_list_add_flag(list, "txtrace.unfinished", span->flags & TXTRACE_SPAN_UNFINISHED);
	otlp_list_add_int(list, "txtrace.thread.tid", span->tid);
	if (span->end_tid != span->tid && span->end_tid)
		otlp_list_add_int(list, "txtrace.thread.end_tid", span->end_tid);
	otlp_list_add_string(list, "thread.name", thread_names_get(otlp->threads, span->pid, span->tid));
	otlp_list_add_string(list, "txtrace.tag", span->tag);
	otlp_list_add_hex(list, "txtrace.key", span->key.bytes, span->key.length);
	otlp_list_end_own(list);
	for (const struct marked_attribute *at = mark ? mark->attributes : NULL; at; at = at->next)
		otlp_list_add(list, &at->attribute);
	otlp->lost_cnt[LOST_ATTRIBUTE] += list->dropped_cnt;
}

/* What is kept of the span, as one list. */
static struct otlp_elements join(struct otlp *otlp, const struct span_mark *mark, unsigned int which)
{
	struct text *text = &otlp->elements[which];

	text_clear(text);
	for (const struct marked_piece *piece = mark ? mark->pieces : NULL; piece; piece = piece->next) {
		if (piece->list != which)
			continue;
		if (otlp->encoder.is_json && text->length > 0)
			text_append(text, ",");
		text_append_bytes(text, piece->bytes, piece->length);
	}
	otlp->lost_cnt[LOST_ELEMENT] += mark ? mark->left_out_cnt[which] : 0;
	return (struct otlp_elements){ text_string(text), text->length,
				       mark ? mark->left_out_cnt[which] : 0 };
}

static int otlp_span(void *state, const struct txtrace_span *span)
{
	struct otlp *otlp = state;
	const struct span_mark *mark = span_marks_find(&otlp->marks, span->pid, span->id);
	struct otlp_process *process;
	struct otlp_span written = {
		.name = span->label.length > 0 ? span->label : literal("(unknown)"),
		.begin_ns = unix_time(otlp, span->begin_ns),
		.end_ns = unix_time(otlp, span->end_ns > span->begin_ns ? span->end_ns : span->begin_ns),
	};
	size_t before;
	int err = 0;

	if (otlp->batch_cnt >= BATCH_SPANS || otlp->batch_bytes >= BATCH_BYTES)
		err = write_message(otlp, false);
	process = otlp_processes_get(&otlp->processes, span->pid);
	if (!process)
		return -ENOMEM;
	trace_ids_place(otlp->ids, span, &written.place);
	list_span(otlp, span, mark);
	written.attributes = otlp_list_get(&otlp->list);
	written.events = join(otlp, mark, LIST_EVENTS);
	written.links = join(otlp, mark, LIST_LINKS);
	before = process->spans.length;
	otlp_put_span(&otlp->encoder, &process->spans, &written);
	otlp->batch_cnt++;
	otlp->batch_bytes += process->spans.length - before;
	span_marks_forget(&otlp->marks, span->pid, span->id);
	if (otlp->list.err || otlp->elements[LIST_EVENTS].err || otlp->elements[LIST_LINKS].err ||
	    process->spans.err)
		err = -ENOMEM;
	return err;
}

/* ---- what comes before a span's end ---- */

/* What is in `piece`, for a list of the span. */
static int keep_piece(struct otlp *otlp, uint32_t pid, uint64_t span, unsigned int which)
{
	if (otlp->piece.err || otlp->list.err)
		return -ENOMEM;
	return span_marks_add_piece(&otlp->marks, pid, span, which, ELEMENT_MAX, text_string(&otlp->piece),
				    otlp->piece.length);
}

static int keep_event(struct otlp *otlp, uint32_t pid, uint64_t span, uint64_t time_ns,
		      struct txtrace_string name)
{
	text_clear(&otlp->piece);
	otlp_put_event(&otlp->encoder, &otlp->piece, unix_time(otlp, time_ns), name,
		       otlp_list_get(&otlp->list));
	return keep_piece(otlp, pid, span, LIST_EVENTS);
}

static int keep_link(struct otlp *otlp, uint32_t pid, uint64_t span, const struct trace_span_id *to,
		     struct txtrace_string name)
{
	otlp_list_clear(&otlp->list);
	otlp_list_add_string(&otlp->list, "txtrace.link", name);
	text_clear(&otlp->piece);
	otlp_put_link(&otlp->encoder, &otlp->piece, to, otlp_list_get(&otlp->list));
	return keep_piece(otlp, pid, span, LIST_LINKS);
}

static int otlp_attribute(void *state, const struct txtrace_attribute *attribute)
{
	return span_marks_add_attribute(&((struct otlp *)state)->marks, attribute);
}

static int otlp_open_span(void *state, const struct txtrace_open_span *open_span)
{
	return span_marks_add_open(&((struct otlp *)state)->marks, open_span);
}

static int otlp_instant(void *state, const struct txtrace_instant *instant)
{
	struct otlp *otlp = state;

	if (!instant->span) {
		otlp->lost_cnt[LOST_INSTANT]++;
		return 0;
	}
	otlp_list_clear(&otlp->list);
	return keep_event(otlp, instant->pid, instant->span, instant->time_ns,
			  instant->name.length > 0 ? instant->name : literal("(unknown)"));
}

static int otlp_link(void *state, const struct txtrace_link *link)
{
	struct otlp *otlp = state;
	struct trace_span_id to;

	trace_ids_find(otlp->ids, link->pid, link->to, false, &to);
	return keep_link(otlp, link->pid, link->from, &to, link->name);
}

/* A long wait is an event of the span; that the end of another span's work ended it is a link. */
static int otlp_wake(void *state, const struct txtrace_wake *wake)
{
	struct otlp *otlp = state;
	struct otlp_block block;
	struct trace_span_id waker;
	int err = otlp_blocks_wake(&otlp->blocks, wake, &block);

	if (err <= 0 || !wake->span)
		return err < 0 ? err : 0;
	otlp_list_clear(&otlp->list);
	otlp_list_add_int(&otlp->list, "txtrace.duration_ns", block.duration_ns);
	otlp_list_add_string(&otlp->list, "txtrace.reason", literal(block.reason));
	otlp_list_add_string(&otlp->list, "txtrace.object", literal(block.object));
	otlp_list_add_string(&otlp->list, "txtrace.waker", literal(block.waker));
	err = keep_event(otlp, wake->pid, wake->span, block.begin_ns, literal("txtrace.block"));
	if (err || !wake->waker_span)
		return err;
	trace_ids_find(otlp->ids, wake->waker_pid, wake->waker_span,
		       wake->flags & TXTRACE_WAKE_WAKER_SPAN_KEYED, &waker);
	return keep_link(otlp, wake->pid, wake->span, &waker, literal("waker"));
}

static int otlp_run(void *state, const struct txtrace_run *run)
{
	struct otlp *otlp = state;

	otlp->lost_cnt[LOST_TIMELINE]++;
	return otlp_blocks_run(&otlp->blocks, run);
}

static int otlp_object(void *state, const struct txtrace_object *object)
{
	return otlp_blocks_object(&((struct otlp *)state)->blocks, object);
}

static int otlp_thread(void *state, const struct txtrace_thread *thread)
{
	thread_names_add(((struct otlp *)state)->threads, thread);
	return 0;
}

/* Those that have ended go when their spans are written. */
static int otlp_process(void *state, const struct txtrace_process *process)
{
	struct otlp *otlp = state;
	int err = 0;

	if (otlp->processes.by_pid.count >= PROCESS_MAX) {
		err = write_message(otlp, false);
		otlp_processes_clear_spans(&otlp->processes);
	}
	if (!err && otlp->processes.by_pid.count < PROCESS_MAX)
		err = otlp_processes_add(&otlp->processes, process);
	return err;
}

/* ---- what is not there ---- */

static int otlp_counter(void *state, const struct txtrace_counter *counter)
{
	(void)counter;
	((struct otlp *)state)->lost_cnt[LOST_COUNTER]++;
	return 0;
}

static int otlp_stack(void *state, const struct txtrace_stack *stack)
{
	(void)stack;
	((struct otlp *)state)->lost_cnt[LOST_STACK]++;
	return 0;
}

static int otlp_loss(void *state, const struct txtrace_loss *loss)
{
	struct otlp *otlp = state;

	increase(&otlp->lost_span_event_cnt, loss->span_event_cnt);
	increase(&otlp->lost_sched_event_cnt, loss->sched_event_cnt);
	return 0;
}

static int otlp_dropped(void *state, const struct txtrace_dropped *dropped)
{
	struct otlp *otlp = state;

	for (unsigned int kind = 0; kind < TXTRACE_RECORD_KIND_COUNT; kind++)
		increase(&otlp->dropped_record_cnt, dropped->record_cnt[kind]);
	return 0;
}

static int otlp_damage(void *state, const struct txtrace_damage *damage)
{
	increase(&((struct otlp *)state)->damaged_bytes, damage->length_bytes);
	return 0;
}

static int otlp_finish(void *state, const struct export_totals *totals)
{
	struct otlp *otlp = state;
	int err = span_marks_drop_all(&otlp->marks);

	otlp->lost_cnt[LOST_TOP] = trace_ids_missed_cnt(otlp->ids);
	return err ? err : write_message(otlp, !totals->is_complete);
}

static void otlp_tell(const void *state, export_say *say, void *context)
{
	export_tell_counts(lost_names, ((const struct otlp *)state)->lost_cnt, LOST_CNT, say, context);
}

#define CALLBACKS                                                                                         \
	.capture = otlp_capture, .survey = otlp_survey, .surveys_all = true, .span = otlp_span,           \
	.run = otlp_run, .wake = otlp_wake, .thread = otlp_thread, .attribute = otlp_attribute,           \
	.open_span = otlp_open_span, .instant = otlp_instant, .counter = otlp_counter, .link = otlp_link, \
	.loss = otlp_loss, .object = otlp_object, .stack = otlp_stack, .process = otlp_process,           \
	.dropped = otlp_dropped, .damage = otlp_damage, .flush = otlp_flush, .finish = otlp_finish,       \
	.tell = otlp_tell, .free = otlp_free

const struct export_format format_otlp = {
	.name = "otlp",
	.help = "OpenTelemetry's traces (protobuf, TracesData): spans with their ledgers as attributes",
	.suffix = ".otlp",
	.is_binary = true,
	.open = otlp_open,
	.open_sink = otlp_open_sink,
	CALLBACKS,
};

const struct export_format format_otlp_json = {
	.name = "otlp-json",
	.help = "the same as JSON, one TracesData a line, as the collector's file exporter writes it",
	.suffix = ".otlp.jsonl",
	.open = otlp_json_open,
	.open_sink = otlp_json_open_sink,
	CALLBACKS,
};
