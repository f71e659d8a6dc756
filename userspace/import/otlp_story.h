/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The spans of OTLP as records of a log. A file has them in no order, so they
 * are sorted by their ends first; memory is bounded, see spill_sort.h.
 *
 * The trace id and the span id of a span are its attribute traceparent.sent; a
 * parent in another process is its attribute traceparent. So an export has the
 * same ids again. docs/formats.md has the names.
 */
#ifndef OTLP_STORY_H
#define OTLP_STORY_H

#include "base/id_map.h"
#include "base/key_map.h"
#include "base/spill_sort.h"
#include "base/string_pool.h"
#include "base/text.h"
#include "import/import.h"
#include "import/otlp_message.h"

struct otlp_resource {
	uint32_t pid;
};

enum otlp_item_kind { OTLP_ITEM_SPAN = 0, OTLP_ITEM_INSTANT = 1 };

/* What is sorted: before a span in protobuf, or the name of an instant. */
struct otlp_item {
	uint32_t kind;
	uint32_t resource;
	uint32_t scope;
	uint32_t tid;
	uint64_t span; /* of an instant */
};

#define OTLP_STORY_SPAN_MAX (1u << 22) /* of which it is known that they are there */
#define OTLP_NAME_MAX 60000u	       /* bytes of a name or tag */

struct otlp_story {
	struct import *import;
	int directory;
	struct spill_sort *sort;
	struct string_pool *resources; /* packed, by number */
	struct string_pool *scopes;
	struct otlp_resource *known; /* by the same numbers */
	size_t known_cnt, known_room;
	struct key_map pids;	/* that resources have */
	struct id_map spans;	/* that there are, by the resource and the id */
	struct key_map threads; /* of which a record was written */
	struct text item, value;
	uint64_t sequence;
	uint64_t first_ns;
	char host[256];

	/* what was not carried */
	uint64_t nameless_cnt; /* spans without valid ids */
	uint64_t backward_cnt; /* that end before they begin */
	uint64_t unequal_cnt;  /* ledgers whose parts are not their sum */
	uint64_t link_cnt;
	uint64_t event_attribute_cnt;
	uint64_t dropped_cnt; /* attributes, events and links that were dropped before */
	uint64_t lossy_cnt;   /* parts that say so of themselves */
	uint64_t broken_cnt;  /* parts of messages that are none */
	uint64_t cut_cnt;     /* texts longer than a log can hold */
	uint64_t crowd_cnt;   /* spans of processes beyond those that have room */
};

int otlp_story_init(struct otlp_story *story, struct import *import); /* to be released also after an error */
void otlp_story_release(struct otlp_story *story);

/* A ResourceSpans in protobuf. 0, or a negative errno: the end. */
int otlp_story_take(struct otlp_story *story, const char *bytes, size_t length);

/* All of it was taken. */
int otlp_story_finish(struct otlp_story *story);

/* ---- of otlp_tell.c: records ---- */

int otlp_tell_process(struct otlp_story *story, uint32_t number);
int otlp_tell_span(struct otlp_story *story, const struct otlp_item *item, struct txtrace_string bytes);
int otlp_tell_instant(struct otlp_story *story, const struct otlp_item *item, uint64_t time_ns,
		      struct txtrace_string name);

/* At most so many bytes of it; that some were cut off is counted. */
struct txtrace_string otlp_cut(struct otlp_story *story, struct txtrace_string string, size_t max);

#endif
