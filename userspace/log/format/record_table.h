/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of records: each kind, its fields, what they mean and how the log
 * stores them. Whatever treats all kinds alike goes by it: `txtrace dump`, JSON
 * Lines, SQL, the census, merge and anonymize, the encoder and the decoder of
 * the plain kinds, the generators of the tests, and the lists of fields in
 * docs/export.md and docs/export.schema.json, which tests/lint/records.sh
 * compares with it. docs/development.md says how a kind is added.
 *
 * A field has one name everywhere. Its unit stands at the end of that name: _ns,
 * _ps, _bytes, _cnt; what has none has no unit.
 */
#ifndef RECORD_TABLE_H
#define RECORD_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "txtrace/log.h"

/* A file holds those of these kinds for which record_table.c has fields of the log. */
#define LOG_KIND_COUNT TXTRACE_RECORD_KIND_COUNT

/* No kind of this version has more. */
#define LOG_KNOWN_FIELD_MAX 34

/* Sets of fields are bits of 64, of which a shape's key has room for 56. */
#define FIELD_BIT(field) (UINT64_C(1) << (field))

/* How the writer treats a field unless it learns better. */
enum field_habit {
	HABIT_CATEGORY = 0, /* few values: part of the shape */
	HABIT_SPARSE = 1,   /* mostly 0: in a column, if not 0 */
	HABIT_VALUE = 2,    /* in a column */
};

/* What a field is, and so how it lies in memory. */
enum record_type {
	RECORD_TIME = 1, /* uint64_t: ns of CLOCK_MONOTONIC */
	RECORD_DURATION, /* uint64_t: ns */
	RECORD_COUNT,    /* uint64_t: of whatever the name says */
	RECORD_SPAN_ID,  /* uint64_t: names a span, with its process */
	RECORD_ADDRESS,  /* uint64_t, for people in hex */
	RECORD_I64,      /* int64_t */
	RECORD_PID,      /* uint32_t, and so are the next three */
	RECORD_TID,
	RECORD_CPU,      /* TXTRACE_CPU_UNKNOWN: not known which */
	RECORD_U32,
	RECORD_I32,      /* int32_t */
	RECORD_ENUM,     /* uint8_t: one of `names` */
	RECORD_SET,      /* uint8_t: a bit for each of `names` */
	RECORD_FLAG,     /* a bit, `mask`, of uint32_t; fields that share the number follow the same offset */
	RECORD_BOOL,     /* bool */
	RECORD_STRING,   /* struct txtrace_string: any bytes */
	RECORD_KEY,      /* struct txtrace_string: bytes that need not be text */
	RECORD_TEXT,     /* const char *: text of our own, or NULL */
	RECORD_CHARS,    /* char[size]: ends with a NUL unless it is full */
	RECORD_VALUE,    /* of an attribute: its type says what it is */
	/* Not stored, but computed. */
	RECORD_WALL,     /* the span's end less its begin */
	RECORD_BLOCKED,  /* the sum of what the ledger at `offset` has under blocked */
};

/* Rules of a field. */
enum record_rule {
	RECORD_OMIT_0 = 1,   /* 0 is usual: JSON and dump leave it out then */
	RECORD_NULL_0 = 2,   /* 0: not known, or there is none */
	RECORD_NOBODY_0 = 4, /* 0 is known, and nobody: an idle CPU */
};

/* How a field of a plain kind is stored in the log, in the log's field `log`. */
enum record_coding {
	CODED_NOT = 0,      /* it is not, or by hand: record_pack.c, record_unpack.c */
	CODED_PLAIN = 1,    /* as it is */
	CODED_SINCE = 2,    /* a time, backwards from the record's own */
	CODED_LESS_PID = 3, /* less the record's pid */
	CODED_BIT = 4,      /* `mask` of that field, if it is true */
	CODED_NAME = 5,     /* a string: one of few */
	CODED_TEXT = 6,     /* a string: one of many */
	CODED_SPAN = 7,     /* what the thread is in: slot and id; `mask` is the slot's role */
};

struct record_names {
	const char *const *names;
	unsigned int cnt;
};

/* NULL: the number has no name. */
static inline const char *record_name(const struct record_names *of, unsigned int number)
{
	return number < of->cnt ? of->names[number] : NULL;
}

/* A number without a name is unknown, in the word that these names have for it, or NULL. */
const char *record_name_or_unknown(const struct record_names *of, unsigned int number);

extern const struct record_names record_block_reasons; /* enum txtrace_block_reason */
extern const struct record_names record_left_as;       /* enum txtrace_left_as */
extern const struct record_names record_value_types;   /* enum txtrace_attribute_type */
extern const struct record_names record_anomalies;     /* enum txtrace_anomaly */
extern const struct record_names record_left_out;      /* enum txtrace_left_out */

struct record_field {
	const char *name;
	/* JSON holds it as `entry` of an object of this name, as its neighbours may be; or NULL */
	const char *group;
	const char *entry;
	const struct record_names *names;
	uint32_t mask;
	uint16_t offset; /* in struct txtrace_record */
	uint16_t size;   /* CHARS */
	uint8_t type;    /* enum record_type */
	uint8_t rules;   /* enum record_rule */
	/* The field is there only if the byte at this offset is `is`, or `or_is`. 0: it always is. */
	uint8_t is;
	uint8_t or_is; /* 0: nothing else will do */
	uint16_t when;
	uint8_t coding; /* enum record_coding; a kind in which all are CODED_NOT is coded by hand */
	uint8_t log;
};

#define RECORD_STRINGS_MAX 5

/* How much of struct txtrace_record means something where this member holds. */
#define RECORD_BYTES(member) \
	(offsetof(struct txtrace_record, member) + sizeof(((struct txtrace_record *)0)->member))

/*
 * A kind. What is looked up for every record stands here, although the fields
 * say it, too: tests/unit/log/test_record_table.c compares both. Offsets are
 * those in struct txtrace_record; 0: there is none, since no member that is asked
 * for here stands at its beginning.
 */
struct record_kind {
	const char *name;
	const char *plural; /* its table in SQL; NULL: it has none */
	const char *help;   /* what is in that table */
	const struct record_field *fields;
	uint16_t field_cnt;
	uint16_t bytes; /* how much of struct txtrace_record means something */
	uint16_t time;  /* when it was finished: its place in the order of the log */
	uint16_t begin; /* 0: it tells of a moment */
	uint16_t pid;   /* of the thread that it is about */
	uint16_t tid;
	uint16_t strings[RECORD_STRINGS_MAX];
	/* else the first string is a name, one of few (a label, a command); the others are of many */
	bool is_nameless;
	uint8_t log_field_cnt; /* 0: a log does not hold this kind */
	uint8_t habits[LOG_KNOWN_FIELD_MAX]; /* enum field_habit, by field of the log */
};

/* By enum txtrace_record_kind; a number that has no kind has no name. */
extern const struct record_kind record_kinds[TXTRACE_RECORD_KIND_COUNT];

static inline const struct record_kind *record_kind_of(const struct txtrace_record *record)
{
	return &record_kinds[record->kind < TXTRACE_RECORD_KIND_COUNT ? record->kind : 0];
}

/* ---- one field; `base` is the record, or what the field's offset counts from ---- */

static inline const void *record_at(const struct record_field *field, const void *base)
{
	return (const char *)base + field->offset;
}

/* What a number, an enum, a bool or a flag is; 0 of strings. The sign of a number is in all 64 bits. */
uint64_t record_number(const struct record_field *field, const void *base);

/* The bytes of a string, a key, a text or chars; empty of numbers. */
struct txtrace_string record_bytes(const struct record_field *field, const void *base);

/* False: the field means nothing in this record. */
static inline bool record_has(const struct record_field *field, const void *base)
{
	uint8_t byte = *((const uint8_t *)base + field->when);

	return !field->when || byte == field->is || (field->or_is && byte == field->or_is);
}

/* False: JSON and dump leave it out. */
bool record_shows(const struct record_field *field, const void *base);

/* ---- a record ---- */

/* end - begin, or 0 if that is negative. */
static inline uint64_t span_wall_ns(const struct txtrace_span *span)
{
	return span->end_ns > span->begin_ns ? span->end_ns - span->begin_ns : 0;
}

/* When it began and when it was finished, the same for a moment; false: damage, or an unknown kind. */
static inline bool record_times(const struct txtrace_record *record, uint64_t *begin_ns, uint64_t *end_ns)
{
	const struct record_kind *kind = record_kind_of(record);

	if (!kind->time)
		return false;
	*end_ns = *(const uint64_t *)((const char *)record + kind->time);
	*begin_ns = kind->begin ? *(const uint64_t *)((const char *)record + kind->begin) : *end_ns;
	return true;
}

/* Its place in the order of the log; 0 of damage and unknown kinds. */
static inline uint64_t record_finished_ns(const struct txtrace_record *record)
{
	const struct record_kind *kind = record_kind_of(record);

	return kind->time ? *(const uint64_t *)((const char *)record + kind->time) : 0;
}

/*
 * When what it tells began; the time itself of records that tell of a moment. A
 * stay on a CPU begins with the wait before it.
 */
uint64_t record_began_ns(const struct txtrace_record *record);

/* The thread that it is about; false: it is about none. */
bool record_thread(const struct txtrace_record *record, uint32_t *pid, uint32_t *tid);

struct record_string {
	struct txtrace_string *string; /* in the record */
	bool is_tag;
	bool is_public; /* the recorder's own word: it tells nothing of who was traced */
};

/*
 * How many strings records of this kind have, the empty ones included; -1: of
 * an unknown kind (and of damage, which is none of a log's).
 */
int record_strings(struct txtrace_record *record, struct record_string strings[RECORD_STRINGS_MAX]);

/* It has a string of more than LOG_STRING_MAX_BYTES, or of more than LOG_STRINGS_MAX_BYTES together. */
bool record_is_too_long(const struct txtrace_record *record);

#endif
