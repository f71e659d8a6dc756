/* SPDX-License-Identifier: BSD-2-Clause */
#include "otlp/otlp_unpack.h"

#include <errno.h>
#include <stdint.h>
#include <zlib.h>

#define GZIP_WINDOW (15 + 16) /* of 32 KiB, with the header of gzip */
#define ROOM_BYTES 16384

static int unpack_all(z_stream *zip, size_t size_max, struct text *out)
{
	char room[ROOM_BYTES];
	int status;

	do {
		zip->next_out = (unsigned char *)room;
		zip->avail_out = sizeof(room);
		status = inflate(zip, Z_NO_FLUSH);
		text_append_bytes(out, room, sizeof(room) - zip->avail_out);
		if (out->err)
			return out->err;
		if (out->length > size_max)
			return -EFBIG;
		if (status == Z_STREAM_END &&
		    zip->avail_in > 0) /* there may be several, one behind the other */
			status = inflateReset(zip);
	} while (status == Z_OK);
	return status == Z_STREAM_END ? 0 : status == Z_MEM_ERROR ? -ENOMEM : -EBADMSG;
}

int otlp_unpack(const char *bytes, size_t length, size_t size_max, struct text *out)
{
	z_stream zip = { .next_in = (unsigned char *)(uintptr_t)bytes, .avail_in = (unsigned int)length };
	int err;

	text_clear(out);
	if (length > UINT32_MAX)
		return -EFBIG;
	if (inflateInit2(&zip, GZIP_WINDOW) != Z_OK)
		return -ENOMEM;
	err = unpack_all(&zip, size_max, out);
	inflateEnd(&zip);
	return err;
}
