/* SPDX-License-Identifier: BSD-2-Clause */
#include "log/copy/block_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "log/read/batch_decoder.h"
#include "log/format/codec.h"

struct block_file {
	int fd;
	struct codec *codec;
	struct batch_decoder *decoder;
	struct log_block block;
	uint8_t *header; /* LOG_HEADER_MAX_BYTES: of the file, or of the block */
	/* LOG_PAYLOAD_MAX_BYTES: they are there once for all, and the kernel gives what is used of them */
	uint8_t *stored;
	uint8_t *raw;
};

int block_file_open(struct block_file **result, const char *path)
{
	struct block_file *file = calloc(1, sizeof(*file));
	int err = 0;

	if (!file)
		return -ENOMEM;
	file->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (file->fd < 0)
		err = -errno;
	file->codec = codec_new();
	file->decoder = batch_decoder_new();
	file->header = malloc(LOG_HEADER_MAX_BYTES);
	file->stored = malloc(LOG_PAYLOAD_MAX_BYTES);
	file->raw = malloc(LOG_PAYLOAD_MAX_BYTES + BATCH_DECODER_SLACK_BYTES);
	if (!err && (!file->codec || !file->decoder || !file->header || !file->stored || !file->raw))
		err = -ENOMEM;
	if (err)
		block_file_close(file);
	else
		*result = file;
	return err;
}

void block_file_close(struct block_file *file)
{
	if (!file)
		return;
	if (file->fd >= 0)
		close(file->fd);
	codec_free(file->codec);
	batch_decoder_free(file->decoder);
	free(file->header);
	free(file->stored);
	free(file->raw);
	free(file);
}

/* How many of length bytes could be read, fewer only at the end of the file; or a negative errno. */
static int64_t read_at(const struct block_file *file, uint8_t *bytes, size_t length, uint64_t offset)
{
	size_t done = 0;

	while (done < length) {
		ssize_t got = pread(file->fd, bytes + done, length - done, (off_t)(offset + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (!got)
			break;
		done += (size_t)got;
	}
	return (int64_t)done;
}

int64_t block_file_read_header(struct block_file *file, const uint8_t **bytes, struct txtrace_log_info *info)
{
	int64_t got = read_at(file, file->header, LOG_HEADER_MAX_BYTES, 0);
	uint32_t length = 0;

	*bytes = file->header;
	if (got < 0)
		return got;
	return log_header_decode(file->header, (size_t)got, info, &length) == LOG_HEADER_GOOD ? length : 0;
}

int block_file_load(struct block_file *file, uint64_t offset)
{
	int64_t got = read_at(file, file->header, LOG_BLOCK_HEADER_MAX_BYTES, offset);

	if (got < 0)
		return (int)got;
	if (!log_block_decode(file->header, (size_t)got, &file->block) ||
	    file->block.major > LOG_VERSION_MAJOR)
		return 0;
	got = read_at(file, file->stored, file->block.stored_bytes, offset + file->block.header_bytes);
	if (got < 0)
		return (int)got;
	return got == file->block.stored_bytes &&
	       crc32c(file->stored, (size_t)got) == file->block.payload_crc;
}

bool block_file_has_footer(struct block_file *file, uint64_t offset, uint64_t *index_offset,
			   uint32_t *index_bytes)
{
	uint8_t footer[LOG_FOOTER_BYTES];
	int64_t got = read_at(file, footer, sizeof(footer), offset);

	return got > 0 && log_footer_decode(footer, (size_t)got, index_offset, index_bytes);
}

uint64_t block_file_bytes(const struct block_file *file)
{
	struct stat status;

	return fstat(file->fd, &status) || status.st_size < 0 ? 0 : (uint64_t)status.st_size;
}

const struct log_block *block_file_block(const struct block_file *file)
{
	return &file->block;
}

const uint8_t *block_file_header(const struct block_file *file)
{
	return file->header;
}

const uint8_t *block_file_payload(const struct block_file *file)
{
	return file->stored;
}

int block_file_unpack(struct block_file *file)
{
	const struct log_block *block = &file->block;
	int err = codec_decompress(file->codec, block->codec, file->stored, block->stored_bytes, file->raw,
				   block->raw_bytes);

	if (err || block->type != LOG_BLOCK_BATCH)
		return err;
	memset(file->raw + block->raw_bytes, 0, BATCH_DECODER_SLACK_BYTES);
	return batch_decoder_open(file->decoder, file->raw, block->raw_bytes, block->record_cnt);
}

const uint8_t *block_file_raw(const struct block_file *file)
{
	return file->raw;
}

int block_file_next(struct block_file *file, struct txtrace_record *record)
{
	return batch_decoder_next(file->decoder, record);
}
