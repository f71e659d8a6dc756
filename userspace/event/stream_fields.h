/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table behind recorded streams: what each kind of event is called and
 * which fields it has. Reader and writer both go by it.
 */
#ifndef STREAM_FIELDS_H
#define STREAM_FIELDS_H

#include "event/event.h"

enum stream_type {
	STREAM_U32,
	STREAM_U64,
	STREAM_HEX,    /* u64, written in hexadecimal */
	STREAM_PARENT, /* u64; WIRE_PARENT_ROOT is "root" */
	STREAM_INT,    /* i64 */
	STREAM_INT32,
	STREAM_NAME,   /* u8: an index into names */
	STREAM_NAME32, /* u32: likewise, or any other number */
	STREAM_TEXT,
	STREAM_YES,    /* bool: its name alone says yes */
	STREAM_THREAD, /* two u32 in a row: tid/tgid */
};

struct stream_names {
	const char *const *names; /* NULL where a number has no name */
	size_t cnt;
};

struct stream_field {
	const char *name; /* NULL ends a kind's fields */
	enum stream_type type;
	size_t offset; /* in struct event */
	const struct stream_names *names;
	int64_t absent;    /* the value that is not written, and that a field has which is not there */
	bool is_shown;     /* written even then */
	/* offset of a u8, or 0: written even then if the u8 says that a thread is blocked */
	size_t blocked_at;
};

struct stream_kind {
	const char *name; /* NULL: no such kind */
	const struct stream_field *fields;
	bool has_clocks;
};

extern const struct stream_names stream_reasons;
extern const struct stream_names stream_flags; /* enum wire_flag, by bit number */

/* NULL if there is none of this number. */
const struct stream_kind *stream_kind_of(unsigned int kind);

/* The index of a name, or -1. The name is the first `length` bytes. */
int stream_name_find(const struct stream_names *names, const char *name, size_t length);

/* The number of a kind by its name, or -1. */
int stream_kind_find(const char *name, size_t length);

/* The fields of struct wire_clocks that are plain numbers; offset is in there. Ends with NULL. */
extern const struct stream_field stream_clock_fields[];

#endif
