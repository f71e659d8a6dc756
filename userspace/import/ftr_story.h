/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What an FTR file says, as records of a log. All of a file is added first: its
 * blocks are sorted by stream, and names and relations may come behind what
 * they are for. Then the story is told, in the order of the ends of the
 * transactions.
 *
 * Memory: 64 MiB for transactions (what is more goes to an unnamed file), 48
 * MiB for relations, 128 MiB for texts.
 */
#ifndef FTR_STORY_H
#define FTR_STORY_H

#include <stdbool.h>

#include "base/id_map.h"
#include "base/spill_sort.h"
#include "base/string_pool.h"
#include "import/import.h"
#include "log/format/ftr_marks.h"

#define FTR_STREAM_MAX 65536u
#define FTR_GENERATOR_MAX 1000000u
#define FTR_RELATION_MAX 1000000u /* that are put at their transactions */
#define FTR_TEXT_BYTES_MAX (128u << 20)
#define FTR_ATTRIBUTE_MAX 65536u /* of a transaction */
#define FTR_NO_TEXT UINT32_MAX

struct ftr_attribute {
	uint64_t name;	/* id of a text */
	uint64_t value; /* bits: int64_t, double, id of a text, ... */
	uint8_t type;
	uint8_t class;
};

struct ftr_transaction {
	uint64_t id, stream, generator, begin_ps, end_ps;
	size_t attribute_cnt;
	const struct ftr_attribute *attributes;
};

struct ftr_relation {
	uint64_t name, from, to;
	bool is_told;
};

struct ftr_stream {
	uint64_t id, name, kind; /* of texts: their ids */
	bool is_declared;	 /* else a block has it and the directory does not */
	uint32_t tid;
	/* once all is known */
	struct txtrace_string text;
	bool is_thread; /* of that kind */
	bool is_losses;
};

struct ftr_generator {
	uint64_t id, name, stream;
	/* once all is known */
	struct txtrace_string text;
	bool has_twin; /* another one of the same name is in the stream */
	bool is_of_events;
};

struct ftr_story {
	struct import *import;
	struct string_pool *strings;
	struct id_map texts;	/* (0, id) -> number of a string, + 1 */
	uint32_t *text_numbers; /* the same of small ids; FTR_NO_TEXT: none */
	size_t text_number_cnt;
	struct id_map stream_of, generator_of; /* (0, id) */
	struct ftr_stream **streams;	       /* as they came */
	size_t stream_cnt;
	struct ftr_generator **generators;
	size_t generator_cnt;
	struct ftr_relation *relations;
	size_t relation_cnt, relation_size;
	uint32_t *by_from, *by_to; /* numbers of relations, sorted */
	size_t from_at, to_at;	   /* where the search was last */
	int directory;
	struct spill_sort *sort;
	uint64_t item_cnt;
	uint8_t *item;
	size_t item_bytes;
	uint8_t *declared; /* of names of attributes: class and type, + 1 */
	bool has_info;
	int64_t exponent;
	bool has_creation;
	uint64_t creation_s;
	uint64_t last_ns;

	/* what is said in the end */
	uint64_t zero_length_cnt, backward_cnt, no_stream_cnt, no_generator_cnt, event_ps_cnt;
	uint64_t text_lost_cnt, unknown_text_cnt, cut_cnt, time_cnt, late_relation_cnt, generator_lost_cnt;
};

int ftr_story_init(struct ftr_story *story, struct import *import);
void ftr_story_release(struct ftr_story *story);

/* Each: 0 or a negative errno. */
int ftr_story_add_text(struct ftr_story *story, uint64_t id, const uint8_t *bytes, size_t length);
/* -E2BIG: there are too many. name, kind: ids of texts. */
int ftr_story_add_stream(struct ftr_story *story, uint64_t id, uint64_t name, uint64_t kind);
int ftr_story_add_generator(struct ftr_story *story, uint64_t id, uint64_t name, uint64_t stream);
/* -E2BIG: the stream is not known, and one more would be too many. */
int ftr_story_add_transaction(struct ftr_story *story, const struct ftr_transaction *transaction);
int ftr_story_add_relation(struct ftr_story *story, uint64_t name, uint64_t from, uint64_t to);
/* Between these times, in ps, so many transactions are lost, at least. */
int ftr_story_add_loss(struct ftr_story *story, uint64_t begin_ps, uint64_t end_ps, uint64_t cnt);

/* The text of this id; empty, and counted, if there is none. It lives as long as the story. */
struct txtrace_string ftr_story_text(struct ftr_story *story, uint64_t id);

/* What was added, in the order of the ends: 1, 0: no more, or a negative errno. ftr_tell.c calls it. */
enum ftr_item_kind {
	FTR_ITEM_TRANSACTION = 0,
	FTR_ITEM_LOSS = 1,     /* id: how many */
	FTR_ITEM_RELATION = 2, /* id, stream, generator: from, to, name */
};
int ftr_story_next(struct ftr_story *story, struct ftr_transaction *item, enum ftr_item_kind *kind);

/* All of the log, from its header on. */
int ftr_story_tell(struct ftr_story *story);

#endif
