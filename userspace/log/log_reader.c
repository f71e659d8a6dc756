/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The reader walks from block to block. Where no sound block stands where one should, it looks for the next one whose header has a right checksum and
 * belongs to this capture; what lies between is damage.
 */
#include "txtrace/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "log/batch_decoder.h"
#include "log/codec.h"
#include "log/log_header.h"

/* How much of the file is looked at once while the next block is searched. Each look overlaps the next by a header. */
#define SEARCH_BYTES (256u << 10)

/*
 * Behind a wrong payload the search begins at the end of its header, so that a batch that lost bytes does not cost the next one. A file made of
 * nothing but headers that claim long payloads would be read over and over: once so much has been read in vain, the claimed length is skipped.
 */
#define VAIN_BYTES_MAX (256u << 20)

struct buffer {
	uint8_t *bytes;
	size_t capacity;
};

struct txtrace_log {
	int fd;
	struct txtrace_log_info info;
	struct batch_decoder *decoder;
	struct codec *codec;
	struct buffer stored;
	struct buffer raw;
	uint8_t *search;
	uint64_t offset;         /* where the next block should stand */
	uint64_t batch_offset;   /* of the batch that is being decoded */
	struct log_block block;  /* its header */
	uint64_t next_sequence;
	uint64_t vain_bytes;     /* read of payloads that turned out wrong */
	bool has_capture_id;
	bool is_in_batch;
	bool is_after_damage;    /* a gap in the sequence has been told already */
	bool is_complete;        /* the footer has been seen */
	struct txtrace_damage pending; /* damage to tell before anything else, if it has a reason */
};

/* ---- bytes ---- */

/* Reads up to length bytes; fewer only at the end of the file. Returns how many, or a negative errno. */
static int64_t read_at(int fd, uint8_t *bytes, size_t length, uint64_t offset)
{
	size_t done = 0;

	while (done < length) {
		ssize_t got = pread(fd, bytes + done, length - done, (off_t)(offset + done));

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

static uint64_t file_bytes(const struct txtrace_log *log)
{
	struct stat status;

	return fstat(log->fd, &status) || status.st_size < 0 ? 0 : (uint64_t)status.st_size;
}

static int make_room(struct buffer *buffer, size_t length)
{
	uint8_t *bytes;

	if (length <= buffer->capacity)
		return 0;
	bytes = realloc(buffer->bytes, length);
	if (!bytes)
		return -ENOMEM;
	buffer->bytes = bytes;
	buffer->capacity = length;
	return 0;
}

/* ---- searching ---- */

static bool is_ours(const struct txtrace_log *log, const struct log_block *block)
{
	return !log->has_capture_id || !memcmp(block->capture_id, log->info.capture_id, sizeof(block->capture_id));
}

/* Finds the first sound block or footer in bytes; its place, or length if there is none. */
static size_t find_landmark(const struct txtrace_log *log, const uint8_t *bytes, size_t length)
{
	uint64_t index_offset;
	struct log_block block;
	uint32_t index_bytes;

	for (size_t at = 0; at + LOG_FOOTER_BYTES <= length; at++) {
		if (bytes[at] == (uint8_t)LOG_SYNC[0] && log_block_decode(bytes + at, length - at, &block) && is_ours(log, &block))
			return at;
		if (bytes[at] == (uint8_t)LOG_END_MAGIC[0] && log_footer_decode(bytes + at, length - at, &index_offset, &index_bytes))
			return at;
	}
	return length;
}

/* Moves log->offset from `from` on to the next sound block or footer, or to the end of the file. */
static int search_from(struct txtrace_log *log, uint64_t from)
{
	for (;;) {
		int64_t got = read_at(log->fd, log->search, SEARCH_BYTES, from);
		size_t at;

		if (got < 0)
			return (int)got;
		at = find_landmark(log, log->search, (size_t)got);
		if (at < (size_t)got || got < SEARCH_BYTES) {
			log->offset = from + at;
			return 0;
		}
		from += SEARCH_BYTES - LOG_BLOCK_HEADER_MAX_BYTES;
	}
}

/* What begins at `begin` is damaged; reading goes on at the first landmark at or behind `from`. */
static int skip_damage(struct txtrace_log *log, uint64_t begin, uint64_t from, uint64_t record_cnt, const char *reason)
{
	int err = search_from(log, from);

	if (err)
		return err;
	log->pending = (struct txtrace_damage){ begin, log->offset - begin, record_cnt, reason };
	log->is_after_damage = true;
	return 0;
}

/* ---- opening ---- */

static int read_header(struct txtrace_log *log)
{
	int64_t got = read_at(log->fd, log->search, LOG_HEADER_MAX_BYTES, 0);
	uint32_t header_bytes = 0;

	if (got < 0)
		return (int)got;
	if (!got)
		return -ENODATA;
	switch (log_header_decode(log->search, (size_t)got, &log->info, &header_bytes)) {
	case LOG_HEADER_GOOD:
		log->has_capture_id = true;
		log->offset = header_bytes;
		log->next_sequence = log->info.first_sequence;
		return 0;
	case LOG_HEADER_DAMAGED:
		return skip_damage(log, 0, 1, 0, "the file's header is damaged");
	case LOG_HEADER_NEWER:
		return -EPROTONOSUPPORT;
	case LOG_HEADER_FOREIGN:
		break;
	}
	return -EBADMSG;
}

static int open_file(struct txtrace_log *log, const char *path)
{
	struct stat status;

	log->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (log->fd < 0 || fstat(log->fd, &status))
		return -errno;
	if (S_ISDIR(status.st_mode))
		return -EISDIR;
	return S_ISREG(status.st_mode) ? 0 : -ESPIPE;
}

int txtrace_log_open(struct txtrace_log **result, const char *path)
{
	struct txtrace_log *log = calloc(1, sizeof(*log));
	int err;

	if (!log)
		return -ENOMEM;
	err = open_file(log, path);
	log->decoder = batch_decoder_new();
	log->codec = codec_new();
	log->search = malloc(SEARCH_BYTES);
	if (!err && (!log->decoder || !log->codec || !log->search))
		err = -ENOMEM;
	if (!err)
		err = read_header(log);
	if (err) {
		txtrace_log_close(log);
		return err;
	}
	*result = log;
	return 0;
}

void txtrace_log_close(struct txtrace_log *log)
{
	if (!log)
		return;
	if (log->fd >= 0)
		close(log->fd);
	batch_decoder_free(log->decoder);
	codec_free(log->codec);
	free(log->stored.bytes);
	free(log->raw.bytes);
	free(log->search);
	free(log);
}

/* ---- blocks ---- */

/* Reads, checks and unpacks the payload of log->block. 0 and *reason NULL, or why it can't be used; or a negative errno. */
static int load_payload(struct txtrace_log *log, const char **reason)
{
	const struct log_block *block = &log->block;
	int64_t got;
	int err;

	*reason = NULL;
	err = make_room(&log->stored, block->stored_bytes);
	err = err ? err : make_room(&log->raw, block->raw_bytes + (size_t)BATCH_DECODER_SLACK_BYTES);
	if (err)
		return err;
	got = read_at(log->fd, log->stored.bytes, block->stored_bytes, log->batch_offset + block->header_bytes);
	if (got < 0)
		return (int)got;
	if (got < block->stored_bytes) {
		*reason = "the file ends in the middle of a batch";
		return 0;
	}
	if (crc32c(log->stored.bytes, block->stored_bytes) != block->payload_crc) {
		*reason = "the checksum of a batch is wrong";
		return 0;
	}
	if (block->type != LOG_BLOCK_BATCH)
		return 0;
	if (block->major > LOG_VERSION_MAJOR) {
		*reason = "a batch is of a newer version";
		return 0;
	}
	err = codec_decompress(log->codec, block->codec, log->stored.bytes, block->stored_bytes, log->raw.bytes, block->raw_bytes);
	if (!err) {
		memset(log->raw.bytes + block->raw_bytes, 0, BATCH_DECODER_SLACK_BYTES);
		err = batch_decoder_open(log->decoder, log->raw.bytes, block->raw_bytes, block->record_cnt);
	}
	if (err == -EPROTONOSUPPORT)
		*reason = "a batch is compressed in a way that this version does not know";
	else if (err == -EBADMSG)
		*reason = "a batch has a right checksum and makes no sense";
	return err == -ENOMEM ? err : 0;
}

/* A block whose header is sound stands at log->offset. */
static int enter_block(struct txtrace_log *log)
{
	uint64_t end = log->offset + log->block.header_bytes + log->block.stored_bytes;
	uint64_t missing = log->block.sequence - log->next_sequence;
	const char *reason;
	int err;

	log->batch_offset = log->offset;
	if (!log->has_capture_id) {
		memcpy(log->info.capture_id, log->block.capture_id, sizeof(log->info.capture_id));
		log->has_capture_id = true;
	}
	err = load_payload(log, &reason);
	if (err)
		return err;
	log->next_sequence = log->block.sequence + 1;
	if (reason) {
		log->vain_bytes += log->block.stored_bytes;
		if (log->vain_bytes < VAIN_BYTES_MAX)
			end = log->offset + log->block.header_bytes;
		else if (end > file_bytes(log))
			end = file_bytes(log);
		return skip_damage(log, log->offset, end, log->block.record_cnt, reason);
	}
	if (missing && !log->is_after_damage)
		log->pending = (struct txtrace_damage){ log->offset, 0, 0, "batches are missing before this place" };
	log->is_after_damage = false;
	log->is_in_batch = log->block.type == LOG_BLOCK_BATCH;
	log->offset = end;
	return 0;
}

/* Goes on to the next block. 1: there is something to tell or to decode; 0: the end of the file; or a negative errno. */
static int advance(struct txtrace_log *log)
{
	uint8_t header[LOG_BLOCK_HEADER_MAX_BYTES];
	int64_t got = read_at(log->fd, header, sizeof(header), log->offset);
	uint64_t index_offset;
	uint32_t index_bytes;
	const char *reason;
	int err;

	if (got <= 0)
		return (int)got;
	if (log_block_decode(header, (size_t)got, &log->block) && is_ours(log, &log->block)) {
		err = enter_block(log);
		return err ? err : 1;
	}
	if (log_footer_decode(header, (size_t)got, &index_offset, &index_bytes)) {
		log->is_complete = true;
		log->offset += LOG_FOOTER_BYTES;
		return 1;
	}
	reason = log->is_complete ? "bytes follow the end of the log" :
		 got < LOG_BLOCK_HEADER_BYTES && !memcmp(header, LOG_SYNC, got < LOG_MAGIC_BYTES ? (size_t)got : LOG_MAGIC_BYTES) ?
				    "the file ends in the middle of a batch's header" :
				    "no batch begins where one should";
	err = skip_damage(log, log->offset, log->offset + 1, 0, reason);
	return err ? err : 1;
}

static void fill_damage(struct txtrace_record *record, const struct txtrace_damage *damage)
{
	record->kind = TXTRACE_RECORD_DAMAGE;
	record->damage = *damage;
}

int txtrace_log_next(struct txtrace_log *log, struct txtrace_record *record)
{
	for (;;) {
		int result;

		if (log->pending.reason) {
			fill_damage(record, &log->pending);
			log->pending.reason = NULL;
			return 1;
		}
		if (!log->is_in_batch) {
			result = advance(log);
			if (result <= 0)
				return result;
			continue;
		}
		result = batch_decoder_next(log->decoder, record);
		if (result > 0)
			return result;
		log->is_in_batch = false;
		if (result < 0)
			log->pending = (struct txtrace_damage){
				.offset_bytes = log->batch_offset,
				.length_bytes = log->offset - log->batch_offset,
				.record_cnt = log->block.record_cnt - batch_decoder_position(log->decoder),
				.reason = "the rest of a batch makes no sense",
			};
	}
}

/* ---- what else there is to know ---- */

const struct txtrace_log_info *txtrace_log_info(const struct txtrace_log *log)
{
	return &log->info;
}

bool txtrace_log_is_complete(const struct txtrace_log *log)
{
	return log->is_complete;
}

uint64_t txtrace_log_realtime_ns(const struct txtrace_log *log, uint64_t time_ns)
{
	if (log->block.header_bytes)
		return time_ns - log->block.anchor_monotonic_ns + log->block.anchor_realtime_ns;
	return time_ns - log->info.start_monotonic_ns + log->info.start_realtime_ns;
}

void txtrace_log_progress(const struct txtrace_log *log, uint64_t *read_bytes, uint64_t *total_bytes)
{
	*total_bytes = file_bytes(log);
	*read_bytes = log->offset < *total_bytes ? log->offset : *total_bytes;
}

struct log_error {
	int err;
	const char *sentence;
};

static const struct log_error log_errors[] = {
	{ ENODATA, "the file is empty" },
	{ EBADMSG, "this is not a txtrace log" },
	{ EPROTONOSUPPORT, "this log was written by a newer version of txtrace; read it with that one" },
	{ ESPIPE, "this is not a regular file; a log can't be read from a pipe or a device" },
	{ EISDIR, "this is a directory" },
	{ ENOENT, "there is no such file" },
	{ EACCES, "you may not read this file" },
	{ EPERM, "you may not read this file" },
	{ EIO, "the disk could not be read" },
	{ ENOMEM, "there is not enough memory" },
	{ EMFILE, "too many files are open" },
	{ ENFILE, "too many files are open" },
	{ ELOOP, "too many symbolic links lead to this file" },
	{ ENOTDIR, "a part of this path is not a directory" },
	{ ENAMETOOLONG, "this path is too long" },
};

const char *txtrace_log_strerror(const struct txtrace_log *log, int err)
{
	(void)log;
	for (size_t i = 0; i < sizeof(log_errors) / sizeof(log_errors[0]); i++)
		if (log_errors[i].err == -err)
			return log_errors[i].sentence;
	return err ? "the file can't be read" : "no error";
}
