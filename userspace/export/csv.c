/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CSV as RFC 4180 has it: a line for each span, with a column for each part of its ledger. Text is valid
 * UTF-8 without control characters, so that a record is one line; it always is in quotes.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/log_census.h"
#include "base/text.h"
#include "export/formats.h"

#define LINE_END "\r\n"

enum lost {
	LOST_LOSS,
	LOST_OTHER,
	LOST_CNT,
};

static const char *const lost_names[LOST_CNT] = {
	[LOST_LOSS] = "records of losses and damage, left out: readers of the file can't know of them",
	[LOST_OTHER] = "records that are no spans, left out",
};

struct csv {
	FILE *out;
	struct text line;
	uint64_t lost_cnt[LOST_CNT];
};

/* ---- fields ---- */

static void put_u64(struct csv *csv, uint64_t value)
{
	if (csv->line.length > 0)
		text_append(&csv->line, ",");
	text_append_u64(&csv->line, value);
}

static void put_string(struct csv *csv, struct txtrace_string string)
{
	struct text *line = &csv->line;
	const char *at = string.bytes, *end = at + string.length;

	text_append(line, ",\"");
	while (at < end) {
		const char *quote = memchr(at, '"', (size_t)(end - at));
		size_t length = (size_t)((quote ? quote : end) - at);

		text_append_visible(line, at, length);
		text_append(line, quote ? "\"\"" : "");
		at += length + (quote != NULL);
	}
	text_append(line, "\"");
}

static int write_line(struct csv *csv)
{
	struct text *line = &csv->line;

	text_append(line, LINE_END);
	if (line->err)
		return line->err;
	fwrite(line->bytes, 1, line->length, csv->out); /* export_add() sees whether that was written */
	text_clear(line);
	return 0;
}

/* ---- lines ---- */

static const char *const flag_names[] = { "lower_bound", "unfinished", "loss",
					  "imbalance",	 "keyed",      "moved" };

static int put_head(struct csv *csv)
{
	struct text *line = &csv->line;

	text_append(line, "id,parent,pid,tid,end_tid,label,tag,key,begin_ns,end_ns,wall_ns,work_ns,"
			  "on_cpu_ns,runnable_ns");
	for (unsigned int reason = 0; reason < TXTRACE_BLOCK_REASON_COUNT; reason++)
		text_append_format(line, ",%s_ns", txtrace_block_reason_name(reason));
	text_append(line, ",detached_ns,unknown_ns,interrupt_ns,stolen_ns,stolen_max_ns");
	for (size_t i = 0; i < sizeof(flag_names) / sizeof(flag_names[0]); i++)
		text_append_format(line, ",%s", flag_names[i]);
	return write_line(csv);
}

static int csv_span(void *state, const struct txtrace_span *span)
{
	/* the bits of flag_names are 1, 2, 4, … in this order */
	_Static_assert(TXTRACE_SPAN_LOWER_BOUND == 1 && TXTRACE_SPAN_MOVED == 32, "flag_names");
	struct csv *csv = state;

	put_u64(csv, span->id);
	put_u64(csv, span->parent);
	put_u64(csv, span->pid);
	put_u64(csv, span->tid);
	put_u64(csv, span->end_tid);
	put_string(csv, span->label);
	put_string(csv, span->tag);
	put_string(csv, span->key);
	put_u64(csv, span->begin_ns);
	put_u64(csv, span->end_ns);
	put_u64(csv, span_wall_ns(span));
	put_u64(csv, span->work_ns);
	put_u64(csv, span->ledger.on_cpu_ns);
	put_u64(csv, span->ledger.runnable_ns);
	for (unsigned int reason = 0; reason < TXTRACE_BLOCK_REASON_COUNT; reason++)
		put_u64(csv, span->ledger.blocked_ns[reason]);
	put_u64(csv, span->ledger.detached_ns);
	put_u64(csv, span->ledger.unknown_ns);
	put_u64(csv, span->ledger.interrupt_ns);
	put_u64(csv, span->ledger.stolen_ns);
	put_u64(csv, span->stolen_max_ns);
	for (size_t i = 0; i < sizeof(flag_names) / sizeof(flag_names[0]); i++)
		put_u64(csv, span->flags >> i & 1);
	return write_line(csv);
}

#define LEFT_OUT(kind, lost)                                                  \
	static int csv_##kind(void *state, const struct txtrace_##kind *kind) \
	{                                                                     \
		(void)kind;                                                   \
		((struct csv *)state)->lost_cnt[lost]++;                      \
		return 0;                                                     \
	}

LEFT_OUT(loss, LOST_LOSS)
LEFT_OUT(dropped, LOST_LOSS)
LEFT_OUT(damage, LOST_LOSS)
LEFT_OUT(run, LOST_OTHER)
LEFT_OUT(wake, LOST_OTHER)
LEFT_OUT(thread, LOST_OTHER)
LEFT_OUT(attribute, LOST_OTHER)
LEFT_OUT(instant, LOST_OTHER)
LEFT_OUT(counter, LOST_OTHER)
LEFT_OUT(link, LOST_OTHER)
LEFT_OUT(open_span, LOST_OTHER)
LEFT_OUT(stay, LOST_OTHER)
LEFT_OUT(overlap, LOST_OTHER)
LEFT_OUT(object, LOST_OTHER)
LEFT_OUT(stack, LOST_OTHER)
LEFT_OUT(other_run, LOST_OTHER)
LEFT_OUT(process, LOST_OTHER)

/* ---- begin and end ---- */

static int csv_open(void **state, FILE *out, const struct txtrace_log_info *info)
{
	struct csv *csv = calloc(1, sizeof(*csv));

	(void)info;
	if (!csv)
		return -ENOMEM;
	*state = csv;
	csv->out = out;
	return put_head(csv);
}

static int csv_finish(void *state, const struct export_totals *totals)
{
	(void)state;
	(void)totals;
	return 0;
}

static void csv_tell(const void *state, export_say *say, void *context)
{
	const struct csv *csv = state;

	export_tell_counts(lost_names, csv->lost_cnt, LOST_CNT, say, context);
}

static void csv_free(void *state)
{
	struct csv *csv = state;

	text_release(&csv->line);
	free(csv);
}

const struct export_format format_csv = {
	.name = "csv",
	.help = "a line for each span, with a column for each part of its account",
	.suffix = ".csv",
	.open = csv_open,
	.span = csv_span,
	.run = csv_run,
	.wake = csv_wake,
	.thread = csv_thread,
	.attribute = csv_attribute,
	.instant = csv_instant,
	.counter = csv_counter,
	.link = csv_link,
	.open_span = csv_open_span,
	.loss = csv_loss,
	.stay = csv_stay,
	.overlap = csv_overlap,
	.object = csv_object,
	.stack = csv_stack,
	.other_run = csv_other_run,
	.process = csv_process,
	.dropped = csv_dropped,
	.damage = csv_damage,
	.finish = csv_finish,
	.tell = csv_tell,
	.free = csv_free,
};
