/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ids of transactions, by the spans that they are made of, and relations
 * between them, which wait until both streams are known. What was mentioned
 * last of 524,288 spans is remembered: 24 MiB.
 */
#ifndef FTR_IDS_H
#define FTR_IDS_H

#include "base/id_map.h"
#include "base/string_pool.h"
#include "export/ftr_writer.h"

struct ftr_known;
struct ftr_waiting;

struct ftr_ids {
	bool is_given; /* a span's id is that of its transaction, as an import has it */

	/* private */
	struct id_map known; /* (pid, span) */
	struct ftr_known *ring;
	size_t next, cnt;
	uint64_t next_id;
	struct string_pool *names; /* of relations */
	struct ftr_waiting *waiting;
	size_t waiting_cnt;
};

int ftr_ids_init(struct ftr_ids *ids);
void ftr_ids_release(struct ftr_ids *ids);

/* One of no span. */
uint64_t ftr_ids_new(struct ftr_ids *ids);

/* 0 or -ENOMEM */
int ftr_ids_find(struct ftr_ids *ids, uint32_t pid, uint64_t span, uint64_t *id);

/* It is written: on this stream. */
int ftr_ids_place(struct ftr_ids *ids, uint32_t pid, uint64_t span, uint64_t stream);

/* Between transactions that ftr_ids_find() has found, or will. */
int ftr_ids_relate(struct ftr_ids *ids, struct ftr_writer *writer, struct txtrace_string name,
		   uint32_t from_pid, uint64_t from, uint32_t to_pid, uint64_t to);

/* What still waits is written without streams. */
int ftr_ids_finish(struct ftr_ids *ids, struct ftr_writer *writer);

#endif
