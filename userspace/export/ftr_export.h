/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An export as FTR: what ftr.c keeps of it, and the attributes of a transaction,
 * which ftr_values.c makes one after the other.
 */
#ifndef FTR_EXPORT_H
#define FTR_EXPORT_H

#include <string.h>

#include "base/key_map.h"
#include "base/string_pool.h"
#include "base/text.h"
#include "export/ftr_ids.h"
#include "export/ftr_writer.h"
#include "export/span_marks.h"
#include "export/timeline.h"

#define FTR_EVENT 0 /* as a type of an attribute that is held: an instant of the span */

enum ftr_lost {
	FTR_LOST_EARLY,
	FTR_LOST_LATE,
	FTR_LOST_TEXT,
	FTR_LOST_NAME,
	FTR_LOST_ROUNDED,
	FTR_LOST_UNSORTED,
	FTR_LOST_ARROW,
	FTR_LOST_CLASS,
	FTR_LOST_TIME,
	FTR_LOST_HELD,
	FTR_LOST_TRACK,
	FTR_LOST_WAKE,
	FTR_LOST_STAY,
	FTR_LOST_OTHER,
	FTR_LOST_CNT,
};

struct ftr_thread {
	uint64_t stream;       /* 0: it has none */
	uint64_t state_stream; /* likewise */
	struct state_row states;
	char *name;
};

/* A link of an import: the next instant is the event of this transaction. */
struct ftr_event_link {
	bool is_there;
	uint64_t time_ns, from, to;
	uint32_t tid;
	struct text generator;
};

struct ftr {
	struct ftr_writer *writer;
	bool is_import, is_ftr;
	bool has_info; /* it was written */
	uint64_t start_ns, realtime_ns;
	int64_t exponent;
	uint64_t next_id; /* of streams and generators */
	uint64_t last_ps;
	struct key_map threads;	   /* (pid, tid) -> struct ftr_thread */
	struct key_map tracks;	   /* pid and name -> the stream's id */
	struct key_map generators; /* stream and name -> its id */
	struct key_map types;	   /* of attributes, by their name: struct ftr_declared */
	struct ftr_ids ids;
	struct span_marks marks;
	struct ftr_event_link event;
	struct ftr_value *values;
	size_t value_cnt, value_size;
	struct string_pool *names; /* that we made, for these values */
	struct text key;	   /* of the span, in hex */
	struct id_map told;	   /* ids of generators of an import */
	uint64_t lost_cnt[FTR_LOST_CNT];
};

struct ftr_declared {
	uint8_t class, type;
};

static inline bool ftr_is_text(struct txtrace_string string, const char *text)
{
	return string.length == strlen(text) && memcmp(string.bytes, text, string.length) == 0;
}

static inline struct txtrace_string ftr_text_of(const char *text)
{
	return (struct txtrace_string){ text, strlen(text) };
}

/* ---- values: each function is 0 or a negative errno ---- */

/* The classes and types of our own names. Before any of the others. */
int ftr_declare_own(struct ftr *ftr);

/* What we say ourselves. The texts stay the caller's until the transaction is written. */
int ftr_add_number(struct ftr *ftr, enum ftr_class class, enum ftr_type type, const char *name,
		   uint64_t number);
int ftr_add_text(struct ftr *ftr, enum ftr_class class, const char *name, struct txtrace_string text);

/* Of a span: its key, its ledger unless all of it is unknown, its flags. */
int ftr_add_key(struct ftr *ftr, struct txtrace_string key);
int ftr_add_ledger(struct ftr *ftr, const struct txtrace_span *span);
int ftr_add_flags(struct ftr *ftr, const struct txtrace_span *span);

/* What the program said of it, with the class and the type that ftr_held_as() gave as `tid`. */
int ftr_add_attributes(struct ftr *ftr, const struct span_mark *mark, struct ftr_row *row);
uint32_t ftr_held_as(struct ftr *ftr, const struct txtrace_attribute *attribute);

#endif
