/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The payload of a batch in, records out. Trusts nothing: memory is bounded by
 * the limits in log_format.h and follows what the payload really holds.
 */
#ifndef BATCH_DECODER_H
#define BATCH_DECODER_H

#include "txtrace/log.h"

struct batch_decoder;

/* A payload must be followed by this many bytes that may be read; what they are does not matter. */
#define BATCH_DECODER_SLACK_BYTES 16

struct batch_decoder *batch_decoder_new(void); /* NULL: no memory */
void batch_decoder_free(struct batch_decoder *decoder);

/*
 * 0, -ENOMEM, or -EBADMSG: not the payload of a batch. The payload must live as
 * long as its records are read.
 */
int batch_decoder_open(struct batch_decoder *decoder, const uint8_t *payload, size_t length,
		       uint32_t record_cnt);

/*
 * 1 and *record filled; 0: no more; -EBADMSG: this record makes no sense, nor
 * would those behind it. Records of unknown kinds are left out.
 */
int batch_decoder_next(struct batch_decoder *decoder, struct txtrace_record *record);

/* How many records next has gone over. */
uint32_t batch_decoder_position(const struct batch_decoder *decoder);

#endif
