/* SPDX-License-Identifier: BSD-2-Clause */
#include "log/format/codec.h"

#include <errno.h>
#include <lz4.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "log/format/log_format.h"

#define ZSTD_LEVEL 3

/* A block of its own costs a part some 60 bytes of statistics: shorter parts share one. */
#define CUT_MIN_BYTES 512u

struct codec {
	ZSTD_CCtx *zstd_compressor;
	ZSTD_DCtx *zstd_decompressor;
};

struct codec *codec_new(void)
{
	return calloc(1, sizeof(struct codec));
}

void codec_free(struct codec *codec)
{
	if (!codec)
		return;
	ZSTD_freeCCtx(codec->zstd_compressor);
	ZSTD_freeDCtx(codec->zstd_decompressor);
	free(codec);
}

size_t codec_bound(size_t raw_bytes)
{
	size_t zstd = ZSTD_compressBound(raw_bytes) + (raw_bytes / CUT_MIN_BYTES + 1) * 4;
	size_t lz4 = (size_t)LZ4_compressBound((int)raw_bytes);

	return zstd > lz4 ? zstd : lz4;
}

static int64_t compress_zstd(struct codec *codec, const uint8_t *raw, const uint32_t *cuts, uint32_t cut_cnt,
			     uint8_t *stored, size_t stored_capacity)
{
	ZSTD_outBuffer out = { stored, stored_capacity, 0 };
	uint32_t raw_bytes = cuts[cut_cnt - 1];
	ZSTD_inBuffer in = { raw, 0, 0 };
	size_t result;

	if (!codec->zstd_compressor)
		codec->zstd_compressor = ZSTD_createCCtx();
	if (!codec->zstd_compressor)
		return -ENOMEM;
	ZSTD_CCtx_reset(codec->zstd_compressor, ZSTD_reset_session_only);
	ZSTD_CCtx_setParameter(codec->zstd_compressor, ZSTD_c_compressionLevel, ZSTD_LEVEL);
	ZSTD_CCtx_setPledgedSrcSize(codec->zstd_compressor, raw_bytes);
	for (uint32_t i = 0; i < cut_cnt; i++) {
		if (cuts[i] < raw_bytes && cuts[i] - in.size < CUT_MIN_BYTES)
			continue;
		in.size = cuts[i];
		do {
			result = ZSTD_compressStream2(codec->zstd_compressor, &out, &in,
						      in.size == raw_bytes ? ZSTD_e_end : ZSTD_e_flush);
			if (ZSTD_isError(result) || (result && out.pos == out.size))
				return -EIO;
		} while (result);
	}
	return (int64_t)out.pos;
}

int64_t codec_compress(struct codec *codec, enum log_codec how, const uint8_t *raw, const uint32_t *cuts,
		       uint32_t cut_cnt, uint8_t *stored, size_t stored_capacity)
{
	uint32_t raw_bytes = cuts[cut_cnt - 1];
	int length;

	switch (how) {
	case LOG_CODEC_NONE:
		if (raw_bytes > stored_capacity)
			return -EIO;
		memcpy(stored, raw, raw_bytes);
		return raw_bytes;
	case LOG_CODEC_ZSTD:
		return compress_zstd(codec, raw, cuts, cut_cnt, stored, stored_capacity);
	case LOG_CODEC_LZ4:
		length = LZ4_compress_default((const char *)raw, (char *)stored, (int)raw_bytes,
					      (int)stored_capacity);
		return length > 0 ? length : -EIO;
	}
	return -EINVAL;
}

int codec_decompress(struct codec *codec, uint8_t how, const uint8_t *stored, size_t stored_bytes,
		     uint8_t *raw, size_t raw_bytes)
{
	switch (how) {
	case LOG_CODEC_NONE:
		if (stored_bytes != raw_bytes)
			return -EBADMSG;
		if (raw_bytes > 0) /* stored may be NULL otherwise */
			memcpy(raw, stored, raw_bytes);
		return 0;
	case LOG_CODEC_ZSTD:
		if (!codec->zstd_decompressor)
			codec->zstd_decompressor = ZSTD_createDCtx();
		if (!codec->zstd_decompressor)
			return -ENOMEM;
		return ZSTD_decompressDCtx(codec->zstd_decompressor, raw, raw_bytes, stored, stored_bytes) ==
				       raw_bytes
			       ? 0
			       : -EBADMSG;
	case LOG_CODEC_LZ4:
		return LZ4_decompress_safe((const char *)stored, (char *)raw, (int)stored_bytes,
					   (int)raw_bytes) == (int)raw_bytes
			       ? 0
			       : -EBADMSG;
	default:
		return -EPROTONOSUPPORT;
	}
}
