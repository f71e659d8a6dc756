/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A recorded stream: events as text, one to a line, that a person can read,
 * write and diff. What was recorded once is attributed again in a test, under a
 * sanitizer or in a fuzzer, without root.
 *
 *	# a thread sleeps in a span
 *	1000 thread 11/10 0 seed born=1000 comm="bank" state=on_cpu
 *	2000 begin 11/10 0 - id=5 label="work" born=1000 on_cpu=1000
 *	3000 switch 11/10 0 - left=blocked reason=sleep syscall=230
 *	8000 wake 0/0 1 interrupt wakee=11/10
 *	8100 switch 0/0 1 - left=untraced next=11/10 next_is_traced
 *	9000 end 11/10 1 - id=5 born=1000 on_cpu=2900 runnable=100 blocked[sleep]=5000
 *
 * A line is: time in ns, kind, tid/tgid, CPU, flags joined by + or a single -,
 * then fields. A field is name=value, or a name alone for yes; those that are
 * 0, empty or no may be left out. Strings are quoted, with \" \\ \n \t and
 * \xNN; "…"~ was truncated, ? could not be read. Clocks, where a kind has them,
 * are the fields born, on_cpu, runnable, blocked[reason] and unknown. Empty
 * lines and lines that begin with # are skipped. docs/attribution.md lists the
 * kinds and their fields.
 */
#ifndef STREAM_H
#define STREAM_H

#include <stdio.h>

#include "base/error.h"
#include "event/event.h"

#define STREAM_TEXT_MAX WIRE_TEXT_MAX /* bytes of one string */
#define STREAM_LINE_MAX (8 * STREAM_TEXT_MAX + 16384) /* bytes of one line: room for any event */

/*
 * 0; -EINVAL: the event holds what has no name (it did not come from
 * event_decode()), or a string that is too long; -EIO and the like.
 */
int stream_write_event(FILE *out, const struct event *event);

/* What a read event refers to. All zero before the first read. */
struct stream_event_storage {
	uint64_t line_cnt; /* lines read so far */
	struct wire_clocks clocks;
	struct error error;
	char line[STREAM_LINE_MAX + 1]; /* the strings of the event, unescaped in place */
};

/*
 * The next event: 1, which refers to the storage until the next call; 0 at the
 * end; -EBADMSG: the line is no event, and storage->error says which line and
 * why (reading can go on behind it); -EIO.
 */
int stream_read(FILE *in, struct stream_event_storage *storage, struct event *event);

#endif
