/* SPDX-License-Identifier: BSD-2-Clause */
#include "attribute/left_out.h"
#include "attribute/sampling.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WAITING_MAX_BYTES (64u << 20)

/* Behind it the bytes of its strings. */
struct waiting_mark {
	struct waiting_mark *next;
	size_t size;
	struct txtrace_record record;
};

struct waiting_marks {
	struct waiting_mark *first;
	struct waiting_mark **end;
};

static struct txtrace_string *string_of_mark(struct txtrace_record *record, unsigned int idx)
{
	struct txtrace_string *strings[2] = { NULL, NULL };

	if (record->kind == TXTRACE_RECORD_ATTRIBUTE) {
		strings[0] = &record->attribute.name;
		strings[1] = &record->attribute.string;
	} else if (record->kind == TXTRACE_RECORD_INSTANT) {
		strings[0] = &record->instant.name;
	} else if (record->kind == TXTRACE_RECORD_LINK) {
		strings[0] = &record->link.name;
	}
	return strings[idx];
}

static struct waiting_mark *copy_mark(const struct txtrace_record *record)
{
	struct txtrace_record copy = *record;
	size_t size = sizeof(struct waiting_mark);
	struct waiting_mark *mark;
	char *at;

	for (unsigned int i = 0; i < 2; i++)
		if (string_of_mark(&copy, i))
			size += string_of_mark(&copy, i)->length;
	mark = malloc(size);
	if (!mark)
		return NULL;
	*mark = (struct waiting_mark){ .size = size, .record = copy };
	at = (char *)(mark + 1);
	for (unsigned int i = 0; i < 2; i++) {
		struct txtrace_string *string = string_of_mark(&mark->record, i);

		if (!string || !string->length)
			continue;
		memcpy(at, string->bytes, string->length);
		string->bytes = at;
		at += string->length;
	}
	return mark;
}

static int wait_with(struct attribution *attribution, struct span *span, const struct txtrace_record *record)
{
	struct waiting_marks *marks = id_map_get(&attribution->waiting, 0, span->number);
	struct waiting_mark *mark = copy_mark(record);

	if (!marks && mark) {
		marks = calloc(1, sizeof(*marks));
		if (marks && id_map_put(&attribution->waiting, 0, span->number, marks)) {
			free(marks);
			marks = NULL;
		}
		if (marks)
			marks->end = &marks->first;
	}
	if (!marks || !mark) {
		free(mark);
		return -ENOMEM;
	}
	*marks->end = mark;
	marks->end = &mark->next;
	attribution->waiting_bytes += mark->size;
	span->has_waiting_marks = true;
	return 0;
}

/* Writes what waits, or counts it. */
static int let_go(struct attribution *attribution, struct span *span, bool is_written)
{
	struct waiting_marks *marks = span->has_waiting_marks
					      ? id_map_remove(&attribution->waiting, 0, span->number)
					      : NULL;
	int err = 0;

	span->has_waiting_marks = false;
	while (marks && marks->first) {
		struct waiting_mark *mark = marks->first;

		marks->first = mark->next;
		if (is_written && !err)
			err = put_record(attribution, &mark->record);
		else if (!is_written)
			attribution->stats.left_out_cnt[TXTRACE_LEFT_OUT_MARK]++;
		attribution->waiting_bytes -= mark->size;
		free(mark);
	}
	free(marks);
	return err;
}

static bool is_young(const struct attribution *attribution, const struct span *span, uint64_t time_ns)
{
	return elapsed_ns(span->begin_ns, time_ns) < attribution->filter.min_duration_ns;
}

/* About a span that is not open: if it was not sampled, nobody can follow it. */
static bool is_of_unsampled(const struct attribution *attribution, const struct txtrace_record *record)
{
	if (!sampling_is_on(attribution))
		return false;
	switch (record->kind) {
	case TXTRACE_RECORD_ATTRIBUTE:
		return !sampling_knows(attribution, record->attribute.pid, record->attribute.span);
	case TXTRACE_RECORD_INSTANT:
		return record->instant.span &&
		       !sampling_knows(attribution, record->instant.pid, record->instant.span);
	case TXTRACE_RECORD_LINK:
		return !sampling_knows(attribution, record->link.pid, record->link.from);
	default:
		return false;
	}
}

int put_filtered_mark(struct attribution *attribution, struct span *span, const struct txtrace_record *record,
		      uint64_t time_ns)
{
	int err;

	if (span ? span->is_left_out : is_of_unsampled(attribution, record)) {
		attribution->stats.left_out_cnt[TXTRACE_LEFT_OUT_MARK]++;
		return 0;
	}
	if (span && is_young(attribution, span, time_ns) && attribution->waiting_bytes < WAITING_MAX_BYTES)
		return wait_with(attribution, span, record);
	err = span && span->has_waiting_marks ? let_go(attribution, span, true) : 0;
	return err ? err : put_record(attribution, record);
}

int settle_filtered(struct attribution *attribution, struct span *span, uint64_t time_ns, bool *is_written)
{
	bool is_short = is_young(attribution, span, time_ns) && !(span->flags & TXTRACE_SPAN_UNFINISHED);

	*is_written = !span->is_left_out && !is_short;
	if (span->is_unsampled)
		attribution->stats.left_out_cnt[TXTRACE_LEFT_OUT_SAMPLE]++;
	else if (span->is_left_out)
		attribution->stats.left_out_cnt[TXTRACE_LEFT_OUT_LABEL]++;
	else if (is_short)
		attribution->stats.left_out_cnt[TXTRACE_LEFT_OUT_SHORT]++;
	return let_go(attribution, span, *is_written);
}

void release_marks(struct attribution *attribution)
{
	struct waiting_marks *marks;

	for (size_t i = 0; (marks = id_map_next(&attribution->waiting, &i));) {
		while (marks->first) {
			struct waiting_mark *mark = marks->first;

			marks->first = mark->next;
			free(mark);
		}
		free(marks);
	}
	id_map_release(&attribution->waiting);
}
