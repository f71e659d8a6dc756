/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records in, the payload of a batch out. Memory is taken once, at the new. A
 * batch is full when one of its tables is: how full depends on what is in it,
 * not on a number of bytes.
 */
#ifndef BATCH_ENCODER_H
#define BATCH_ENCODER_H

#include "txtrace/log.h"

struct batch_encoder;

struct batch_encoder *batch_encoder_new(void); /* NULL: no memory */
void batch_encoder_free(struct batch_encoder *encoder);

/*
 * 0; -ENOSPC: the batch is full: finish it and add again. -E2BIG: a string is
 * too long, -EINVAL: no such kind; the encoder stays as it was.
 */
int batch_encoder_add(struct batch_encoder *encoder, const struct txtrace_record *record);

/* About how many bytes the payload would have now. */
size_t batch_encoder_bytes(const struct batch_encoder *encoder);

struct batch {
	const uint8_t *payload; /* the encoder's, until it is reset or added to */
	const uint32_t *cuts;   /* where its sections end, ascending; the last is its length */
	uint32_t cut_cnt;
	uint32_t record_cnt;
	uint64_t first_ns; /* least and greatest time of a record */
	uint64_t last_ns;
};

/* Tells how many spans of each label the batch holds. */
typedef void (*label_visitor)(void *context, const char *label, size_t length, uint64_t span_cnt);
void batch_encoder_visit_labels(const struct batch_encoder *encoder, label_visitor visit, void *context);

/* How many records of each kind it holds: record_cnts is indexed by enum txtrace_record_kind. */
void batch_encoder_count(const struct batch_encoder *encoder,
			 uint64_t record_cnts[TXTRACE_RECORD_KIND_COUNT]);

/* Greatest time of a record that it holds; 0 if there is none. */
uint64_t batch_encoder_last_ns(const struct batch_encoder *encoder);

/* The batch, which holds at least one record. After it, only reset may follow. */
void batch_encoder_finish(struct batch_encoder *encoder, struct batch *batch);
void batch_encoder_reset(struct batch_encoder *encoder);

/* The greatest length of a payload: codec_bound() of it is what its compression may take. */
size_t batch_encoder_payload_max(void);

#endif
