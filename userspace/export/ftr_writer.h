/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes transactions as FTR, or in its text format. Both want streams and
 * generators before what uses them. Names may be any bytes: what is not valid in
 * the format is replaced, and counted.
 */
#ifndef FTR_WRITER_H
#define FTR_WRITER_H

#include <stdbool.h>
#include <stdio.h>

#include "log/format/ftr_marks.h"
#include "txtrace/log.h"

struct ftr_value {
	uint8_t class;	/* enum ftr_class */
	uint8_t type;	/* enum ftr_type */
	uint64_t value; /* bits: bool, int64_t, double, ... */
	struct txtrace_string name;
	struct txtrace_string string; /* of the types that are texts */
};

struct ftr_row {
	uint64_t id, stream, generator, begin_ps, end_ps;
	const struct ftr_value *values;
	size_t value_cnt;
};

struct ftr_arrow {
	struct txtrace_string name;
	uint64_t from, to;
	bool has_streams; /* otherwise it is not known where both are */
	uint64_t from_stream, to_stream;
};

/* What could not be written as it was. */
struct ftr_written {
	uint64_t text_cnt;	 /* texts */
	uint64_t rounded_cnt;	 /* doubles that have an attribute NAME.exact */
	uint64_t unsorted_cnt;	 /* transactions that ended before one of an earlier block */
	uint64_t streamless_cnt; /* relations without streams */
};

struct ftr_writer {
	const struct ftr_writing *as;
	FILE *out;
	bool has_doubles; /* in double precision; else in single precision */
	bool is_packed;	  /* by LZ4 */
	struct ftr_written written;
};

/* Each function: 0 or a negative errno. */
struct ftr_writing {
	int (*open)(struct ftr_writer **writer, FILE *out);
	int (*info)(struct ftr_writer *writer, int64_t exponent, uint64_t creation_s);
	int (*stream)(struct ftr_writer *writer, uint64_t id, struct txtrace_string name,
		      struct txtrace_string kind);
	int (*generator)(struct ftr_writer *writer, uint64_t id, struct txtrace_string name, uint64_t stream);
	int (*row)(struct ftr_writer *writer, const struct ftr_row *row);
	int (*arrow)(struct ftr_writer *writer, const struct ftr_arrow *arrow);
	int (*finish)(struct ftr_writer *writer);
	void (*free)(struct ftr_writer *writer); /* NULL is allowed */
};

extern const struct ftr_writing ftr_as_chunks;
extern const struct ftr_writing ftr_as_text;

#endif
