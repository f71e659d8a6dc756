/* SPDX-License-Identifier: BSD-2-Clause */
#include "fleet/shipper.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "analyze/container_names.h"
#include "base/array.h"
#include "fleet/block_memory.h"
#include "fleet/fleet_table.h"
#include "log/format/record_table.h"

#define REMOVED_MAX 1000	/* a forged file may claim to be any part: so many are told at once */
#define INSERT_BYTES (8u << 20) /* rows of a table that are sent at once */
#define CAPTURE_DIGITS 32
#define PART_ROW_BYTES 5 /* of the answer: UInt32 and UInt8 */

struct known_part {
	uint32_t part;
	bool is_removed; /* as far as the server knows; it may turn up */
};

/* A capture that files were sent of, and which parts the server knows. */
struct sent_capture {
	uint8_t id[16];
	char name[CAPTURE_DIGITS + 1];
	char host[256];
	uint64_t start_unix_ns;
	struct known_part *parts; /* sorted */
	size_t part_cnt;
	size_t part_room;
};

struct shipper {
	struct clickhouse *server;
	struct text rows[FLEET_TABLE_CNT];
	struct text inserts[FLEET_TABLE_CNT]; /* "INSERT INTO …" */
	struct sent_capture *captures;
	size_t capture_cnt;
	size_t capture_room;
	struct block_memory blocks;
	void (*see)(void *context, uint64_t read_bytes, uint64_t file_bytes); /* NULL: nobody looks */
	void *see_context;
};

#define SEE_EVERY 4096 /* records */

/* One attempt to send one file. */
struct sending {
	struct shipper *shipper;
	struct txtrace_log *log;
	struct fleet_place place;
	struct text file; /* the same as the first columns of a row */
	struct container_names *containers;
	struct block_rows *blocks;
	struct shipper_result *result;
	struct error *error;
	uint64_t first_unix_ns;
	uint64_t last_unix_ns;
	uint64_t lost_cnt;
};

/* ---- the shipper ---- */

struct shipper *shipper_new(struct clickhouse *server)
{
	struct shipper *shipper = calloc(1, sizeof(*shipper));
	int err = 0;

	if (!shipper)
		return NULL;
	shipper->server = server;
	for (size_t i = 0; i < FLEET_TABLE_CNT; i++) {
		struct text *insert = &shipper->inserts[i];

		text_append_format(insert, "INSERT INTO %s (", fleet_tables[i].name);
		fleet_table_append_names(insert, &fleet_tables[i]);
		text_append(insert, ") FORMAT RowBinary");
		err = err ? err : insert->err;
	}
	if (!err)
		return shipper;
	shipper_free(shipper);
	return NULL;
}

void shipper_free(struct shipper *shipper)
{
	if (!shipper)
		return;
	for (size_t i = 0; i < FLEET_TABLE_CNT; i++) {
		text_release(&shipper->rows[i]);
		text_release(&shipper->inserts[i]);
	}
	for (size_t i = 0; i < shipper->capture_cnt; i++)
		free(shipper->captures[i].parts);
	free(shipper->captures);
	block_memory_release(&shipper->blocks);
	free(shipper);
}

static int no_memory(struct error *error)
{
	error_set(error, "not enough memory");
	return -ENOMEM;
}

/* ---- what the server has ---- */

/* Where it is, or belongs. */
static size_t place_of(const struct sent_capture *capture, uint32_t part)
{
	size_t low = 0, high = capture->part_cnt;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (capture->parts[middle].part < part)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct known_part *find_part(const struct sent_capture *capture, uint32_t part)
{
	size_t at = place_of(capture, part);

	return at < capture->part_cnt && capture->parts[at].part == part ? &capture->parts[at] : NULL;
}

/* They come in order, mostly. */
static int add_part(struct sent_capture *capture, uint32_t part, bool is_removed)
{
	struct known_part *parts = find_part(capture, part);
	size_t at;

	if (parts) {
		parts->is_removed &= is_removed;
		return 0;
	}
	parts = array_grow(capture->parts, &capture->part_room, capture->part_cnt, sizeof(*parts));
	if (!parts)
		return -ENOMEM;
	capture->parts = parts;
	at = place_of(capture, part);
	memmove(parts + at + 1, parts + at, (capture->part_cnt - at) * sizeof(*parts));
	parts[at] = (struct known_part){ part, is_removed };
	capture->part_cnt++;
	return 0;
}

static int ask_parts(struct shipper *shipper, struct sent_capture *capture, struct error *error)
{
	struct text query = { 0 }, answer = { 0 };
	int err;

	text_append_format(&query,
			   "SELECT part, min(is_removed) FROM files WHERE capture = '%s' GROUP BY part "
			   "ORDER BY part FORMAT RowBinary",
			   capture->name);
	err = query.err ? no_memory(error)
			: clickhouse_query(shipper->server, text_string(&query), &answer, error);
	for (size_t at = 0; !err && at + PART_ROW_BYTES <= answer.length; at += PART_ROW_BYTES) {
		uint32_t part;

		memcpy(&part, answer.bytes + at, sizeof(part));
		err = add_part(capture, part, answer.bytes[at + sizeof(part)]) ? no_memory(error) : 0;
	}
	text_release(&query);
	text_release(&answer);
	return err;
}

/* Takes it, or finds it: *capture stays valid until the next one. */
static int find_capture(struct shipper *shipper, const struct txtrace_log_info *info,
			struct sent_capture **found, struct error *error)
{
	struct sent_capture *captures, *capture;
	int err;

	for (size_t i = 0; i < shipper->capture_cnt; i++) {
		*found = &shipper->captures[i];
		if (memcmp((*found)->id, info->capture_id, sizeof((*found)->id)) == 0)
			return 0;
	}
	captures = array_grow(shipper->captures, &shipper->capture_room, shipper->capture_cnt,
			      sizeof(*captures));
	if (!captures)
		return no_memory(error);
	shipper->captures = captures;
	capture = &captures[shipper->capture_cnt];
	*capture = (struct sent_capture){ .start_unix_ns = info->start_realtime_ns };
	memcpy(capture->id, info->capture_id, sizeof(capture->id));
	for (size_t i = 0; i < sizeof(capture->id); i++)
		snprintf(capture->name + 2 * i, 3, "%02x", capture->id[i]);
	snprintf(capture->host, sizeof(capture->host), "%.255s", info->host);
	err = ask_parts(shipper, capture, error);
	if (err)
		free(capture->parts);
	else
		shipper->capture_cnt++;
	*found = capture;
	return err;
}

/* ---- rows ---- */

static int send_rows(struct shipper *shipper, size_t table, struct error *error)
{
	struct text *rows = &shipper->rows[table];
	int err = 0;

	if (rows->err)
		return no_memory(error);
	if (rows->length > 0)
		err = clickhouse_insert(shipper->server, text_string(&shipper->inserts[table]), rows->bytes,
					rows->length, error);
	text_clear(rows);
	return err;
}

static int add_row(struct sending *sending, size_t table, const void *source, uint64_t time_ns,
		   struct txtrace_string container, struct txtrace_string pod)
{
	struct text *row = &sending->shipper->rows[table];
	uint64_t unix_ns = txtrace_log_realtime_ns(sending->log, time_ns);

	if (!sending->first_unix_ns || unix_ns < sending->first_unix_ns)
		sending->first_unix_ns = unix_ns;
	if (unix_ns > sending->last_unix_ns)
		sending->last_unix_ns = unix_ns;
	text_append_few(row, sending->file.bytes, sending->file.length);
	fleet_append_time(row, unix_ns);
	if (fleet_tables[table].has_container) {
		fleet_append_string(row, container.bytes, container.length);
		fleet_append_string(row, pod.bytes, pod.length);
	}
	fleet_append_fields(row, fleet_tables[table].kind, source);
	sending->result->row_cnt++;
	return row->length >= INSERT_BYTES || row->err ? send_rows(sending->shipper, table, sending->error)
						       : 0;
}

static int add_span(struct sending *sending, const struct txtrace_record *record)
{
	uint32_t pid = record->span.pid;

	sending->result->span_cnt++;
	return add_row(sending, FLEET_SPANS, record, record->span.end_ns,
		       container_names_container(sending->containers, pid),
		       container_names_pod(sending->containers, pid));
}

static int add_plain(struct sending *sending, size_t table, const struct txtrace_record *record)
{
	const struct txtrace_string none = { "", 0 };

	return add_row(sending, table, record, record_finished_ns(record), none, none);
}

static int add_block(struct sending *sending, const struct txtrace_record *record)
{
	const struct txtrace_string none = { "", 0 };
	int result = block_rows_add(sending->blocks, record, txtrace_log_info(sending->log), false);

	if (result < 0)
		return no_memory(sending->error);
	return result ? add_row(sending, FLEET_BLOCKS, &sending->blocks->block, sending->blocks->block.end_ns,
				none, none)
		      : 0;
}

static int add_record(struct sending *sending, const struct txtrace_record *record)
{
	int err = add_block(sending, record);

	if (err)
		return err;
	switch (record->kind) {
	case TXTRACE_RECORD_SPAN:
		return add_span(sending, record);
	case TXTRACE_RECORD_ATTRIBUTE:
		return add_plain(sending, FLEET_ATTRIBUTES, record);
	case TXTRACE_RECORD_PROCESS:
		if (container_names_add(sending->containers, &record->process))
			return no_memory(sending->error);
		return add_plain(sending, FLEET_PROCESSES, record);
	case TXTRACE_RECORD_LOSS:
		sending->lost_cnt += record->loss.span_event_cnt + record->loss.sched_event_cnt;
		return add_plain(sending, FLEET_LOSSES, record);
	case TXTRACE_RECORD_DAMAGE:
		sending->result->damage_cnt++;
		return 0;
	default:
		return 0;
	}
}

/* ---- the row of the file ---- */

static void add_file(struct shipper *shipper, const struct fleet_place *place, uint64_t start_unix_ns,
		     const struct sending *sending, const struct txtrace_log_info *info)
{
	uint64_t read_bytes = 0, file_bytes = 0, first_ns = start_unix_ns, last_ns = start_unix_ns;
	struct text *row = &shipper->rows[FLEET_FILES];

	if (sending) {
		txtrace_log_progress(sending->log, &read_bytes, &file_bytes);
		first_ns = sending->first_unix_ns ? sending->first_unix_ns : start_unix_ns;
		last_ns = sending->last_unix_ns > first_ns ? sending->last_unix_ns : first_ns;
	}
	fleet_append_file(row, place);
	fleet_append_time(row, first_ns);
	fleet_append_u32(row, (uint32_t)(first_ns / 1000000000));
	fleet_append_u32(row, (uint32_t)(last_ns / 1000000000));
	fleet_append_u32(row, (uint32_t)time(NULL));
	fleet_append_u64(row, sending ? sending->result->span_cnt : 0);
	fleet_append_u64(row, sending ? sending->result->row_cnt : 0);
	fleet_append_u64(row, sending ? sending->lost_cnt : 0);
	fleet_append_u64(row, sending ? sending->result->damage_cnt : 0);
	fleet_append_u64(row, file_bytes);
	text_append_few(row, &(const uint8_t){ !sending }, 1);
	fleet_append_string(row, info ? info->command : "", info ? strnlen(info->command, 256) : 0);
	fleet_append_string(row, info ? info->recorder : "", info ? strnlen(info->recorder, 64) : 0);
}

/* ---- a file ---- */

static void show(const struct sending *sending)
{
	const struct shipper *shipper = sending->shipper;
	uint64_t read_bytes, file_bytes;

	if (!shipper->see)
		return;
	txtrace_log_progress(sending->log, &read_bytes, &file_bytes);
	shipper->see(shipper->see_context, read_bytes, file_bytes);
}

static int send_all(struct sending *sending, const struct txtrace_log_info *info, bool *is_about_file)
{
	struct txtrace_record record;
	uint64_t cnt = 0;
	int err = 0, got;

	while (!err && (got = txtrace_log_next(sending->log, &record)) > 0) {
		err = add_record(sending, &record);
		if (++cnt % SEE_EVERY == 0)
			show(sending);
	}
	if (err)
		return err;
	if (got < 0) {
		error_set(sending->error, "can't read '%s': %s", txtrace_log_path(sending->log),
			  txtrace_log_strerror(sending->log, got));
		*is_about_file = got != -ENOMEM;
		return got;
	}
	for (size_t table = 0; table < FLEET_FILES && !err; table++)
		err = send_rows(sending->shipper, table, sending->error);
	if (err)
		return err;
	add_file(sending->shipper, &sending->place, info->start_realtime_ns, sending, info);
	return send_rows(sending->shipper, FLEET_FILES, sending->error);
}

static int begin_sending(struct sending *sending, const struct sent_capture *capture, uint32_t part)
{
	for (size_t i = 0; i < FLEET_TABLE_CNT; i++)
		text_clear(&sending->shipper->rows[i]);
	sending->place = (struct fleet_place){ .host = capture->host,
					       .capture = capture->name,
					       .part = part };
	if (getrandom(&sending->place.batch, sizeof(sending->place.batch), 0) !=
	    sizeof(sending->place.batch)) {
		error_set(sending->error, "no random number: %s", strerror(errno));
		return -EIO;
	}
	sending->place.batch |= 1; /* 0 is of what was removed */
	fleet_append_file(&sending->file, &sending->place);
	sending->containers = container_names_new();
	return sending->containers && !sending->file.err ? 0 : no_memory(sending->error);
}

static int send_log(struct shipper *shipper, struct txtrace_log *log, struct shipper_result *result,
		    bool *is_about_file, struct error *error)
{
	const struct txtrace_log_info *info = txtrace_log_info(log);
	struct sending sending = { .shipper = shipper, .log = log, .result = result, .error = error };
	static const uint8_t no_capture[sizeof(info->capture_id)];
	const struct known_part *known;
	struct sent_capture *capture;
	int err;

	/* such files can't be told apart, and the server would take the second one for the first */
	if (memcmp(info->capture_id, no_capture, sizeof(no_capture)) == 0) {
		error_set(error, "the header of '%s' is damaged, so its capture is not known",
			  txtrace_log_path(log));
		*is_about_file = true;
		return -EBADMSG;
	}
	err = find_capture(shipper, info, &capture, error);
	if (err)
		return err;
	known = find_part(capture, info->part);
	result->was_there = known && !known->is_removed;
	if (result->was_there)
		return 0;
	err = begin_sending(&sending, capture, info->part);
	if (!err && block_memory_take(&shipper->blocks, txtrace_log_path(log), info, &sending.blocks))
		err = no_memory(error);
	err = err ? err : send_all(&sending, info, is_about_file);
	if (err == -E2BIG) {
		error_set(error, "the times in '%s' are of more days than ClickHouse takes at once",
			  txtrace_log_path(log));
		*is_about_file = true;
	}
	text_release(&sending.file);
	if (err)
		block_memory_drop(sending.blocks);
	else
		block_memory_keep(&shipper->blocks, info, sending.blocks);
	container_names_free(sending.containers);
	return err ? err : add_part(capture, info->part, false) ? no_memory(error) : 0;
}

void shipper_watch(struct shipper *shipper,
		   void (*see)(void *context, uint64_t read_bytes, uint64_t file_bytes), void *context)
{
	shipper->see = see;
	shipper->see_context = context;
}

int shipper_send(struct shipper *shipper, const char *path, struct shipper_result *result,
		 bool *is_about_file, struct error *error)
{
	struct txtrace_log *log = NULL;
	int err = txtrace_log_open(&log, path);

	*result = (struct shipper_result){ 0 };
	*is_about_file = err && err != -ENOMEM;
	if (err)
		error_set(error, "can't read '%s': %s", path, txtrace_log_strerror(log, err));
	else
		err = send_log(shipper, log, result, is_about_file, error);
	txtrace_log_close(log);
	return err;
}

/* ---- what was removed ---- */

/* What is missing between the parts that are known, and before the first; REMOVED_MAX of a capture in all. */
static size_t list_missing(const struct sent_capture *capture, uint32_t missing[REMOVED_MAX])
{
	size_t removed_cnt = 0, cnt = 0;
	uint32_t due = 0;

	for (size_t i = 0; i < capture->part_cnt; i++)
		removed_cnt += capture->parts[i].is_removed;
	for (size_t i = 0; i < capture->part_cnt; i++) {
		for (; due < capture->parts[i].part && removed_cnt + cnt < REMOVED_MAX; due++)
			missing[cnt++] = due;
		due = capture->parts[i].part + 1;
	}
	return cnt;
}

static int note_missing(struct shipper *shipper, struct sent_capture *capture, uint64_t *removed_cnt,
			struct error *error)
{
	uint32_t missing[REMOVED_MAX];
	size_t cnt = list_missing(capture, missing);
	int err;

	text_clear(&shipper->rows[FLEET_FILES]);
	for (size_t i = 0; i < cnt; i++) {
		const struct fleet_place place = { .host = capture->host,
						   .capture = capture->name,
						   .part = missing[i] };

		add_file(shipper, &place, capture->start_unix_ns, NULL, NULL);
	}
	err = send_rows(shipper, FLEET_FILES, error);
	for (size_t i = 0; i < cnt && !err; i++)
		err = add_part(capture, missing[i], true) ? no_memory(error) : 0;
	*removed_cnt += err ? 0 : cnt;
	return err;
}

int shipper_note_removed(struct shipper *shipper, uint64_t *removed_cnt, struct error *error)
{
	int err = 0;

	*removed_cnt = 0;
	for (size_t i = 0; i < shipper->capture_cnt && !err; i++)
		err = note_missing(shipper, &shipper->captures[i], removed_cnt, error);
	return err;
}
