/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The chunks of an FTR file, unpacked, in the order of the file. The contents of
 * one are in memory as a whole: at most 64 MiB.
 *
 *	struct ftr_chunks chunks = { .source = source };
 *	struct ftr_chunk chunk;
 *
 *	if (!ftr_chunks_begin(&chunks))
 *		refuse();
 *	while ((result = ftr_chunk_next(&chunks, &chunk, &error)) != 0)
 *		use(&chunk);                                      if it is 1
 *	ftr_chunks_release(&chunks);
 */
#ifndef FTR_CHUNK_H
#define FTR_CHUNK_H

#include <stdbool.h>

#include "base/error.h"
#include "import/cbor_reader.h"
#include "import/import_source.h"
#include "log/format/ftr_marks.h"

#define FTR_CHUNK_BYTES_MAX (64u << 20)

struct ftr_chunks {
	struct import_source *source;

	/* private */
	size_t at;     /* how much of the chunk was read, from the place of the source on */
	uint8_t *room; /* of what is unpacked */
	size_t room_bytes;
};

struct ftr_chunk {
	uint64_t offset;
	uint64_t tag;			   /* enum ftr_tag, or one that is not known */
	uint64_t stream, begin_ps, end_ps; /* of transactions; the times are those of the writer */
	struct cbor_reader contents;	   /* until the next chunk */
};

/* Goes on behind the head of the file; false: that is another one. */
bool ftr_chunks_begin(struct ftr_chunks *chunks);

/*
 * 1; 0: the end; -EILSEQ: the chunk can't be read, which the error explains, and
 * the next one may be; -EBADMSG: nor can what is behind it; -ENOMEM.
 */
int ftr_chunk_next(struct ftr_chunks *chunks, struct ftr_chunk *chunk, struct error *error);

void ftr_chunks_release(struct ftr_chunks *chunks);

/* "transactions", ...: what a chunk has; "unknown contents". */
const char *ftr_chunk_name(uint64_t tag);

#endif
