/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The compressions of a batch. What a codec makes is one standard frame (zstd)
 * or block (LZ4): any tool of that codec can open it.
 */
#ifndef CODEC_H
#define CODEC_H

#include "log/format/log_format.h"

struct codec;

struct codec *codec_new(void); /* NULL: no memory. What a direction needs is taken at its first use. */
void codec_free(struct codec *codec);

/* The most that compressing raw_bytes can make, whatever the codec. */
size_t codec_bound(size_t raw_bytes);

/*
 * Compresses raw into stored, which has room for codec_bound(raw_bytes). cuts
 * (cut_cnt of them, ascending, the last is raw_bytes) are where what the bytes
 * mean changes: zstd then fits its statistics to each part. Returns the length,
 * or a negative errno.
 */
int64_t codec_compress(struct codec *codec, enum log_codec how, const uint8_t *raw, const uint32_t *cuts,
		       uint32_t cut_cnt, uint8_t *stored, size_t stored_capacity);

/* 0: raw holds exactly raw_bytes; -EBADMSG: it does not fit; -EPROTONOSUPPORT: no such codec; -ENOMEM. */
int codec_decompress(struct codec *codec, uint8_t how, const uint8_t *stored, size_t stored_bytes,
		     uint8_t *raw, size_t raw_bytes);

#endif
