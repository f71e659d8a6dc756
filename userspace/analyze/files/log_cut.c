/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/files/log_cut.h"

#include <stdlib.h>

#include "log/format/record_table.h"
#include "analyze/span_set.h"
#include "base/glob.h"

/* What is noted of a span that the records of others may name, or that has records out of the range. */
enum cut_note {
	CUT_KEPT = 1,
	CUT_OPEN = 2, /* a checkpoint was seen, its end not yet */
};

struct log_cut {
	struct log_cut_options options;
	struct span_set *spans;
};

struct log_cut *log_cut_new(const struct log_cut_options *options)
{
	struct log_cut *cut = calloc(1, sizeof(*cut));

	if (!cut)
		return NULL;
	cut->options = *options;
	cut->spans = span_set_new(options->max_bytes);
	if (cut->spans)
		return cut;
	free(cut);
	return NULL;
}

void log_cut_free(struct log_cut *cut)
{
	if (!cut)
		return;
	span_set_free(cut->spans);
	free(cut);
}

bool log_cut_needs_look(const struct log_cut *cut)
{
	return cut->options.label || cut->options.from_ns > 0 || cut->options.to_ns != LOG_CUT_NO_END;
}

bool log_cut_is_blurred(const struct log_cut *cut)
{
	return span_set_is_full(cut->spans);
}

static bool begins_in_time(const struct log_cut *cut, uint64_t begin_ns)
{
	return cut->options.to_ns == LOG_CUT_NO_END || begin_ns < cut->options.to_ns;
}

/* What ended just where the range begins is not in it; what also began there is. */
static bool is_in_range(const struct log_cut *cut, const struct txtrace_record *record)
{
	uint64_t begin_ns = record_began_ns(record), end_ns = record_finished_ns(record);

	return begins_in_time(cut, begin_ns) &&
	       (end_ns > cut->options.from_ns || begin_ns >= cut->options.from_ns);
}

static bool has_label(const struct log_cut *cut, const struct txtrace_string *label)
{
	return !cut->options.label || glob_matches(cut->options.label, label->bytes, label->length);
}

static bool has_pid(const struct log_cut *cut, const struct txtrace_record *record)
{
	uint32_t pid, tid;

	if (!cut->options.has_pid || !record_thread(record, &pid, &tid) || pid == cut->options.pid)
		return true;
	return record->kind == TXTRACE_RECORD_WAKE && record->wake.waker_pid == cut->options.pid;
}

static bool has_note(const struct log_cut *cut, uint32_t pid, uint64_t id, unsigned int notes)
{
	const struct span_note *note = span_set_get(cut->spans, pid, id);

	return note && note->flags & notes;
}

static bool keeps_span(const struct log_cut *cut, const struct txtrace_record *record)
{
	return is_in_range(cut, record) && has_label(cut, &record->span.label) && has_pid(cut, record);
}

/* ---- the look ---- */

static void add_note(struct log_cut *cut, uint32_t pid, uint64_t id, unsigned int notes)
{
	struct span_note *note = span_set_add(cut->spans, pid, id);

	if (note)
		note->flags |= notes;
}

/*
 * Spans that lie within the range need no note, unless it is the label that makes out what belongs to them.
 */
static void look_at_span(struct log_cut *cut, const struct txtrace_record *record)
{
	const struct txtrace_span *span = &record->span;
	struct span_note *note = span_set_get(cut->spans, span->pid, span->id);

	if (note)
		note->flags &= ~CUT_OPEN;
	if (keeps_span(cut, record) && (cut->options.label || span->begin_ns < cut->options.from_ns ||
					!begins_in_time(cut, span->end_ns)))
		add_note(cut, span->pid, span->id, CUT_KEPT);
}

void log_cut_look(struct log_cut *cut, const struct txtrace_record *record)
{
	const struct txtrace_open_span *open = &record->open_span;

	if (record->kind == TXTRACE_RECORD_SPAN)
		look_at_span(cut, record);
	else if (record->kind == TXTRACE_RECORD_OPEN_SPAN && begins_in_time(cut, open->begin_ns) &&
		 has_label(cut, &open->label) && has_pid(cut, record))
		add_note(cut, open->pid, open->id, CUT_OPEN);
}

/* ---- the choice ---- */

static bool keeps_open_span(const struct log_cut *cut, const struct txtrace_record *record)
{
	const struct txtrace_open_span *open = &record->open_span;

	if (!has_label(cut, &open->label))
		return false;
	return is_in_range(cut, record) || has_note(cut, open->pid, open->id, CUT_KEPT | CUT_OPEN);
}

static bool keeps_mark(const struct log_cut *cut, const struct txtrace_record *record, bool is_of_span)
{
	return is_of_span || ((!cut->options.label || log_cut_is_blurred(cut)) && is_in_range(cut, record));
}

static bool keeps(const struct log_cut *cut, const struct txtrace_record *record)
{
	const unsigned int any = CUT_KEPT | CUT_OPEN;

	switch (record->kind) {
	case TXTRACE_RECORD_SPAN:
		return keeps_span(cut, record);
	case TXTRACE_RECORD_OPEN_SPAN:
		return keeps_open_span(cut, record);
	case TXTRACE_RECORD_ATTRIBUTE:
		return keeps_mark(cut, record,
				  has_note(cut, record->attribute.pid, record->attribute.span, any));
	case TXTRACE_RECORD_INSTANT:
		return keeps_mark(cut, record, has_note(cut, record->instant.pid, record->instant.span, any));
	case TXTRACE_RECORD_LINK:
		return keeps_mark(cut, record, has_note(cut, record->link.pid, record->link.from, any) ||
						       has_note(cut, record->link.pid, record->link.to, any));
	case TXTRACE_RECORD_STAY:
		return keeps_mark(cut, record, has_note(cut, record->stay.span_pid, record->stay.span, any));
	case TXTRACE_RECORD_OVERLAP:
		return keeps_mark(cut, record,
				  has_note(cut, record->overlap.pid, record->overlap.span, CUT_KEPT));
	case TXTRACE_RECORD_THREAD:
		return begins_in_time(cut, record->thread.time_ns);
	case TXTRACE_RECORD_OBJECT:
		return begins_in_time(cut, record->object.time_ns);
	case TXTRACE_RECORD_PROCESS:
		return begins_in_time(cut, record->process.time_ns);
	case TXTRACE_RECORD_SUMMARY:
	case TXTRACE_RECORD_COST: /* what an event cost holds for a part as for the whole */
		return true;
	default:
		return is_in_range(cut, record);
	}
}

bool log_cut_keeps(const struct log_cut *cut, const struct txtrace_record *record)
{
	return has_pid(cut, record) && keeps(cut, record);
}
