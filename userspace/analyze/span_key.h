/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What spans can be summed up by: label, thread, process, container, pod, track,
 * trace, the first bytes of their key, the value of a tag. A key gives each span
 * the name of its row; equal names are one row, the empty one is for spans that
 * have none.
 *
 *	struct span_key key;
 *
 *	err = span_key_parse(&key, "tag:shard", &complaint);
 *	span_key_name(&key, &span, &names, &buffer, &name);
 */
#ifndef SPAN_KEY_H
#define SPAN_KEY_H

#include <stdbool.h>

#include "analyze/container_names.h"
#include "analyze/thread_names.h"
#include "analyze/trace_ids.h"
#include "analyze/track_names.h"
#include "base/text.h"
#include "txtrace/log.h"

enum span_key_kind {
	SPAN_KEY_LABEL = 0,
	SPAN_KEY_THREAD = 1,  /* that began it: "name tid" */
	SPAN_KEY_PROCESS = 2, /* "name pid" */
	SPAN_KEY_TRACK = 3,   /* the one that it was given; else its thread */
	SPAN_KEY_KEY = 4,     /* key, or key:N: its first N bytes */
	/* tag:NAME: what stands behind NAME= in the tag; the last one, if it is there twice */
	SPAN_KEY_TAG = 5,
	SPAN_KEY_TRACE = 6,	/* its id, in hexadecimal digits */
	SPAN_KEY_CONTAINER = 7, /* of the process that began it: its id */
	SPAN_KEY_POD = 8,	/* likewise: its uid */
};

struct span_key {
	enum span_key_kind kind;
	size_t prefix_bytes; /* KEY; 0: all of it */
	const char *tag;     /* TAG; points into the text that was parsed */
	/* For people. */
	const char *singular; /* "thread" */
	const char *plural;
	const char *nameless; /* "(no key)": spans without a name; TAG: NULL, say which tag */
	size_t shown_bytes;   /* so many of a name tell it from others; 0: all of it */
	bool is_bytes;	      /* names may be any bytes: keys */
};

/* 0, or -EINVAL and *complaint: what it must be; static. */
int span_key_parse(struct span_key *key, const char *text, const char **complaint);

/* What spans are named by besides what they say themselves: from the records before. */
struct span_names {
	const struct thread_names *threads;
	struct track_names *tracks;		  /* NULL: not asked for */
	struct trace_ids *traces;		  /* TRACE: which has seen all of the log */
	const struct container_names *containers; /* CONTAINER, POD */
};

/* *name points into the span, the buffer, or what names the tracks. */
void span_key_name(const struct span_key *key, const struct txtrace_span *span,
		   const struct span_names *names, struct text *buffer, struct txtrace_string *name);

#endif
