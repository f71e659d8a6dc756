/* SPDX-License-Identifier: BSD-2-Clause */
#include "import/sui_batch.h"

#include <errno.h>
#include <inttypes.h>

#define LENGTH_BYTES 4
#define PEEK_BYTES (512u << 10)
#define NS_PER_S 1000000000u
#define NS_PER_US 1000u
#define TIME_MAX_NS ((uint64_t)INT64_MAX)

static uint64_t get_number(const uint8_t *bytes, unsigned int length)
{
	uint64_t value = 0;

	for (unsigned int i = 0; i < length; i++)
		value |= (uint64_t)bytes[i] << (8 * i);
	return value;
}

/* ---- batches of a file ---- */

/* The whole of it is not there, or not to be kept in memory. */
static int skip_batch(struct import_source *source, struct sui_batch *batch, uint32_t wanted,
		      struct error *error)
{
	uint64_t found;

	import_source_skip(source, LENGTH_BYTES);
	found = import_source_skip(source, wanted);
	batch->pending = 0;
	if (found < wanted)
		error_set(error, "a batch of %" PRIu32 " bytes is cut off after %" PRIu64, wanted, found);
	else
		error_set(error, "a batch of %" PRIu32 " bytes is larger than the %u MiB that are read",
			  wanted, SUI_BATCH_BYTES_MAX >> 20);
	return -EBADMSG;
}

/* The next bytes are less than the batch: what there is of it can be looked at. */
static int cut_off(struct sui_batch *batch, uint32_t wanted, size_t length, struct error *error)
{
	batch->length = length - LENGTH_BYTES;
	batch->pending = length;
	error_set(error, "a batch of %" PRIu32 " bytes is cut off after %zu", wanted, batch->length);
	return -EBADMSG;
}

/*
 * Up to cnt bytes. It asks for more and more: what a file claims to have costs no memory before it is there.
 */
static const uint8_t *peek(struct import_source *source, size_t cnt, size_t *length)
{
	size_t wanted = PEEK_BYTES < cnt ? PEEK_BYTES : cnt;
	const uint8_t *bytes = import_source_peek(source, wanted, length);

	while (bytes && *length == wanted && wanted < cnt) {
		wanted = wanted < cnt / 2 ? wanted * 2 : cnt;
		bytes = import_source_peek(source, wanted, length);
	}
	return bytes;
}

int sui_batch_next(struct import_source *source, struct sui_batch *batch, struct error *error)
{
	const uint8_t *bytes;
	uint32_t wanted;
	size_t length;

	import_source_skip(source, batch->pending);
	*batch = (struct sui_batch){ .offset = import_source_offset(source) };
	bytes = import_source_peek(source, LENGTH_BYTES, &length);
	if (!bytes)
		return -ENOMEM;
	if (length == 0)
		return 0;
	batch->pending = length;
	if (length < LENGTH_BYTES) {
		error_set(error, "the length of a batch is cut off: %zu of its 4 bytes are there", length);
		return -EBADMSG;
	}
	wanted = (uint32_t)get_number(bytes, LENGTH_BYTES);
	if (wanted == 0) {
		error_set(error, "a batch of 0 bytes, which has not even a count");
		return -EBADMSG;
	}
	if (wanted > SUI_BATCH_BYTES_MAX)
		return skip_batch(source, batch, wanted, error);
	bytes = peek(source, LENGTH_BYTES + (size_t)wanted, &length);
	if (!bytes)
		return -ENOMEM;
	batch->bytes = bytes + LENGTH_BYTES;
	if (length < LENGTH_BYTES + (size_t)wanted)
		return cut_off(batch, wanted, length, error);
	batch->length = wanted;
	batch->pending = length;
	return 1;
}

/* ---- records of a batch ---- */

void sui_records_init(struct sui_records *records, const struct sui_batch *batch)
{
	*records = (struct sui_records){ .bytes = batch->bytes, .length = batch->length };
}

/* The next `length` bytes; NULL: there are less. */
static const uint8_t *take(struct sui_records *records, size_t length, struct error *error)
{
	size_t begin = records->at;

	if (records->length - begin < length) {
		error_set(error, "it ends inside what begins at byte %zu of it", begin);
		return NULL;
	}
	records->at += length;
	return records->bytes + begin;
}

static int take_uleb128(struct sui_records *records, uint32_t *value, struct error *error)
{
	size_t begin = records->at;
	const uint8_t *byte;
	uint64_t sum = 0;

	for (unsigned int shift = 0; shift <= 28; shift += 7) {
		byte = take(records, 1, error);
		if (!byte)
			return -EBADMSG;
		sum |= (uint64_t)(*byte & 0x7f) << shift;
		if (*byte & 0x80)
			continue;
		if (*byte == 0 && shift > 0) {
			error_set(error, "the ULEB128 at byte %zu of it is not minimal", begin);
			return -EBADMSG;
		}
		*value = (uint32_t)sum;
		if (sum <= UINT32_MAX)
			return 0;
		break;
	}
	error_set(error, "the ULEB128 at byte %zu of it is above 32 bits", begin);
	return -EBADMSG;
}

static int take_time(struct sui_records *records, struct sui_record *record, struct error *error)
{
	const uint8_t *bytes = take(records, 12, error);

	if (!bytes)
		return -EBADMSG;
	record->seconds = get_number(bytes, 8);
	record->nanos = (uint32_t)get_number(bytes + 8, 4);
	return 0;
}

static int take_event(struct sui_records *records, uint32_t type_cnt, struct sui_record *record,
		      struct error *error)
{
	record->digest = take(records, SUI_DIGEST_BYTES, error);
	if (!record->digest || take_uleb128(records, &record->type, error))
		return -EBADMSG;
	if (record->type < type_cnt)
		return 0;
	error_set(error,
		  "event type %" PRIu32 " in front of byte %zu of it, where there are %" PRIu32 " types",
		  record->type, records->at, type_cnt);
	return -EBADMSG;
}

static int take_record(struct sui_records *records, uint32_t type_cnt, struct sui_record *record,
		       struct error *error)
{
	size_t begin = records->at;
	const uint8_t *bytes;
	uint32_t kind = 0;

	if (take_uleb128(records, &kind, error))
		return -EBADMSG;
	*record = (struct sui_record){ .kind = kind };
	switch (kind) {
	case SUI_ABSOLUTE:
	case SUI_LARGE_DELTA:
		return take_time(records, record, error);
	case SUI_DELTA:
		bytes = take(records, 2, error);
		record->delta_us = bytes ? (uint32_t)get_number(bytes, 2) : 0;
		return bytes ? 0 : -EBADMSG;
	case SUI_EVENT:
		return take_event(records, type_cnt, record, error);
	default:
		error_set(error, "a record of the unknown variant %" PRIu32 " at byte %zu of it", kind,
			  begin);
		return -EBADMSG;
	}
}

int sui_records_next(struct sui_records *records, uint32_t type_cnt, struct sui_record *record,
		     struct error *error)
{
	if (!records->has_count && take_uleb128(records, &records->left, error))
		return -EBADMSG;
	records->has_count = true;
	if (records->left > 0) {
		records->left--;
		return take_record(records, type_cnt, record, error) ? -EBADMSG : 1;
	}
	if (records->at == records->length)
		return 0;
	error_set(error, "behind its last record bytes are left over: %zu", records->length - records->at);
	return -EBADMSG;
}

/* ---- time ---- */

static bool length_of(const struct sui_record *record, uint64_t *ns)
{
	*ns = (uint64_t)record->delta_us * NS_PER_US;
	if (record->kind == SUI_DELTA)
		return true;
	if (__builtin_mul_overflow(record->seconds, NS_PER_S, ns))
		return false;
	return !__builtin_add_overflow(*ns, record->nanos, ns);
}

bool sui_clock_move(struct sui_clock *clock, const struct sui_record *record)
{
	uint64_t ns;

	if (record->kind == SUI_EVENT || (!clock->is_known && record->kind != SUI_ABSOLUTE))
		return true;
	if (!length_of(record, &ns))
		return false;
	if (record->kind != SUI_ABSOLUTE && __builtin_add_overflow(ns, clock->ns, &ns))
		return false;
	if (ns > TIME_MAX_NS)
		return false;
	*clock = (struct sui_clock){ .is_known = true, .ns = ns };
	return true;
}

/* ---- a whole batch ---- */

/* An absolute time, then a delta and an event in turn; a large delta only where a small one is too short. */
static bool is_regular(const struct sui_record *record, uint32_t number)
{
	if (number > 0 && number % 2 == 0)
		return record->kind == SUI_EVENT;
	if (record->kind == SUI_ABSOLUTE || record->kind == SUI_LARGE_DELTA) {
		if ((number == 0) != (record->kind == SUI_ABSOLUTE) || record->nanos >= NS_PER_S)
			return false;
		return number == 0 || record->seconds > 0 || record->nanos / NS_PER_US > SUI_DELTA_US_MAX;
	}
	return number > 0 && record->kind == SUI_DELTA;
}

static void add_to_facts(struct sui_batch_facts *facts, const struct sui_record *record,
			 const struct sui_clock *clock, uint32_t number)
{
	bool is_event = record->kind == SUI_EVENT;

	facts->timeless_cnt += !clock->is_known;
	facts->is_regular &= is_regular(record, number);
	facts->event_cnt += is_event;
	if (is_event && record->type > facts->type_max)
		facts->type_max = record->type;
	if (!clock->is_known)
		return;
	if ((is_event || record->kind == SUI_ABSOLUTE) && clock->ns < facts->begin_ns &&
	    (is_event || facts->begin_ns == UINT64_MAX))
		facts->begin_ns = clock->ns;
	if (is_event && clock->ns > facts->end_ns)
		facts->end_ns = clock->ns;
}

int sui_batch_check(const struct sui_batch *batch, struct sui_clock clock, uint32_t type_cnt,
		    struct sui_batch_facts *facts, struct error *error)
{
	struct sui_records records;
	struct sui_record record;
	uint32_t number = 0;
	int result;

	*facts = (struct sui_batch_facts){ .is_regular = true, .begin_ns = UINT64_MAX };
	sui_records_init(&records, batch);
	while ((result = sui_records_next(&records, type_cnt, &record, error)) == 1) {
		if (!sui_clock_move(&clock, &record)) {
			error_set(error, "a time beyond the year 2262 in front of byte %zu of it",
				  records.at);
			return -EBADMSG;
		}
		add_to_facts(facts, &record, &clock, number++);
	}
	facts->is_regular &= number % 2 == 1; /* no time comes without an event */
	if (facts->end_ns < facts->begin_ns)
		facts->end_ns = facts->begin_ns;
	return result;
}
