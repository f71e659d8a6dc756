/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The inside of struct batch_decoder, for the three files that it is made of:
 * batch_dictionary.c finds the sections of a payload and reads what its records
 * refer to, batch_shapes.c reads the shapes, batch_decoder.c makes the records.
 * Each part may be read only behind those named before it.
 */
#ifndef BATCH_PARTS_H
#define BATCH_PARTS_H

#include "log/read/batch_decoder.h"
#include "log/format/number.h"
#include "log/read/record_unpack.h"

/* So many records' shapes are read ahead. */
#define BATCH_AHEAD 256u

/* A column of numbers that is being read; an absent one is empty. */
struct column {
	const uint8_t *code;
	const uint8_t *code_end;
	const uint8_t *bits;
	uint64_t bit;
	uint64_t bit_cnt;
	const struct number_table *table;
};

/* A field that comes from a column. */
struct step {
	struct column *column;
	uint64_t base;  /* is added to the column's number */
	uint64_t field;
};

/*
 * How the records of a shape are made. Most logs are stays on CPUs and wakeups
 * of which only the time differs, so these have ways of their own; a stay's is
 * by enum run_begin_from.
 */
enum shape_way {
	WAY_RUN_CPU = 0,
	WAY_RUN_END = 1,
	WAY_RUN_READY = 2,
	WAY_WAKE = 3,
	WAY_RUN_TIMES = 4, /* a stay of which other times are not told by its shape either */
	WAY_GENERAL = 5,
	WAY_UNKNOWN = 6,   /* a kind of a later version: its time counts */
};

struct record_shape {
	uint32_t way;  /* enum shape_way */
	uint32_t kind;
	struct column *time;
	struct model_thread *thread; /* of a run or wake with a way of its own */
	uint64_t *cpu_end_ns;
	uint64_t idle_mask; /* of a run: what of its runnable time the CPU was idle: all bits or none */
	union {
		struct txtrace_run run; /* all but the times */
		struct txtrace_wake wake;
	};
	const struct step *steps; /* by ascending field; the time may be the first of them */
	uint32_t step_cnt;
	uint32_t field_cnt;
	/* constants; of the others, their bases, or those of the last record */
	uint64_t values[LOG_KNOWN_FIELD_MAX];
};

struct range {
	const uint8_t *at;
	const uint8_t *end;
};

/* A table that grows to what the largest batch needed. */
struct table {
	void *entries;
	size_t bytes;
};

enum table_id {
	TABLE_THREADS,
	TABLE_NAMES,
	TABLE_TEXTS,
	TABLE_OBJECTS,
	TABLE_SLOTS,
	TABLE_SHAPES,
	TABLE_STEPS,
	TABLE_OWN,
	TABLE_WAITS,
	TABLE_PARENTS,
	TABLE_MENTIONS,
	TABLE_COUNT,
};

struct batch_decoder {
	struct record_unpacker unpacker;
	struct record_shape **order_at; /* in order_ahead */
	struct record_shape **order_end;
	struct record_shape *shapes;
	uint32_t shape_cnt;
	uint32_t record_cnt;
	uint32_t ahead_cnt; /* records whose shapes have been read */
	bool is_order_bad;  /* and no more can be */
	struct range order;
	struct range order_more;
	struct column *own_columns;
	uint32_t own_cnt;
	struct table tables[TABLE_COUNT];
	struct range sections[LOG_SECTION_ORDER_MORE + 1]; /* the dictionary's, by enum log_section */
	struct column common_columns[LOG_KIND_COUNT][LOG_KNOWN_FIELD_MAX];
	/* FIELD_TIME of the kinds that this version does not know */
	struct column unknown_times[LOG_KIND_MAX - LOG_KIND_COUNT];
	struct column absent;
	struct number_table *number_tables[NUMBER_LOW_MAX + 1]; /* made when a column first needs them */
	struct record_shape *order_ahead[BATCH_AHEAD];
};

/* Room for so many entries, or NULL; what was in the table may be gone. */
void *batch_table_room(struct batch_decoder *decoder, enum table_id id, size_t cnt, size_t entry_bytes);

/*
 * How many entries a section says it has: at most max, and as many as its bytes
 * can hold. An absent section has none. -EBADMSG.
 */
int batch_count_read(struct range *range, uint32_t max, uint32_t *cnt);

/* All: 0, -ENOMEM, -EBADMSG. */
int batch_directory_read(struct batch_decoder *decoder, const uint8_t *payload, const uint8_t *end);
int batch_dictionary_read(struct batch_decoder *decoder);
int batch_shapes_read(struct batch_decoder *decoder);

#endif
