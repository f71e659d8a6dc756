/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the log says about a span before the span itself comes, at its end:
 * attributes, links, and the checkpoint of an open span. Kept with copies of
 * all strings until somebody takes it, within a budget of bytes: beyond it the
 * oldest go, and so do those that nobody took before the log ended, to a
 * callback, so that none disappears.
 */
#ifndef SPAN_MARKS_H
#define SPAN_MARKS_H

#include "base/key_map.h"
#include "txtrace/log.h"

struct marked_attribute {
	struct marked_attribute *next; /* in the order in which they came */
	struct txtrace_attribute attribute;
};

struct marked_link {
	struct marked_link *next;
	uint64_t number; /* the caller's, for the link; both its ends have it */
};

/* What a format has written already, for one of its lists. */
struct marked_piece {
	struct marked_piece *next; /* in the order in which they came, of all lists */
	unsigned int list;
	size_t length;
	char bytes[];
};

#define SPAN_MARK_LISTS 2

struct span_mark {
	uint32_t pid;
	uint64_t span;
	struct marked_attribute *attributes, **attributes_end;
	struct marked_link *links, **links_end;
	struct marked_piece *pieces, **pieces_end;
	uint32_t piece_cnt[SPAN_MARK_LISTS];
	uint32_t left_out_cnt[SPAN_MARK_LISTS]; /* pieces beyond those that the list may have */
	struct txtrace_open_span *open; /* NULL: there was no checkpoint */

	/* private */
	struct span_mark *older, *newer;
	size_t bytes;
};

struct span_marks {
	struct key_map by_span;
	struct span_mark *oldest, *newest;
	size_t bytes;
	size_t bytes_max;
	int (*drop)(void *context, const struct span_mark *mark);
	void *context;
};

/*
 * drop is told of each mark that goes untaken; its result, if not 0, is the
 * result of the call that made it go.
 */
void span_marks_init(struct span_marks *marks, size_t bytes_max,
		     int (*drop)(void *context, const struct span_mark *mark), void *context);
void span_marks_release(struct span_marks *marks); /* drops nothing */

/* 0, -ENOMEM, or what drop returned. */
int span_marks_add_attribute(struct span_marks *marks, const struct txtrace_attribute *attribute);
int span_marks_add_link(struct span_marks *marks, uint32_t pid, uint64_t span, uint64_t number);
int span_marks_add_open(struct span_marks *marks, const struct txtrace_open_span *open);

/* At most cnt_max pieces of a list are kept of a span; those beyond are counted. */
int span_marks_add_piece(struct span_marks *marks, uint32_t pid, uint64_t span, unsigned int list,
			 uint32_t cnt_max, const char *bytes, size_t length);

/* What is known of the span; NULL: nothing. It stays where it is until span_marks_forget(). */
const struct span_mark *span_marks_find(const struct span_marks *marks, uint32_t pid, uint64_t span);
void span_marks_forget(struct span_marks *marks, uint32_t pid, uint64_t span);

/* Drops all, oldest first. */
int span_marks_drop_all(struct span_marks *marks);

#endif
