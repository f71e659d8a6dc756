/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The bytes of a Perfetto trace, read by a few lines of protobuf that know the format's public field numbers
 * and nothing of our code. That the viewer itself understands them is tests/cli/export_perfetto_sql.sh's
 * business.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "unit/export_feed.h"

/* ---- protobuf ---- */

struct field {
	uint32_t number;
	uint32_t wire_type;
	uint64_t value;       /* VARINT, FIXED64 */
	const uint8_t *bytes; /* LENGTH */
	size_t length;
};

enum { VARINT = 0, FIXED64 = 1, LENGTH = 2 };

struct reader {
	const uint8_t *at;
	const uint8_t *end;
};

static uint64_t read_varint(struct reader *reader)
{
	uint64_t value = 0;

	for (unsigned int shift = 0;; shift += 7) {
		assert_true(reader->at < reader->end);
		assert_true(shift < 64);
		value |= (uint64_t)(*reader->at & 0x7f) << shift;
		if (!(*reader->at++ & 0x80))
			return value;
	}
}

static bool read_field(struct reader *reader, struct field *field)
{
	uint64_t tag;

	if (reader->at == reader->end)
		return false;
	tag = read_varint(reader);
	*field = (struct field){ .number = (uint32_t)(tag >> 3), .wire_type = tag & 7 };
	switch (field->wire_type) {
	case VARINT:
		field->value = read_varint(reader);
		break;
	case FIXED64:
		assert_true(reader->end - reader->at >= 8);
		memcpy(&field->value, reader->at, 8);
		reader->at += 8;
		break;
	case LENGTH:
		field->length = read_varint(reader);
		assert_true(field->length <= (size_t)(reader->end - reader->at));
		field->bytes = reader->at;
		reader->at += field->length;
		break;
	default:
		fail_msg("wire type %u", field->wire_type);
	}
	return true;
}

/* The n-th field of that number in the message; number 0: there is none. */
static struct field find_nth(struct field message, uint32_t number, unsigned int n)
{
	struct reader reader = { message.bytes, message.bytes + message.length };
	struct field field;

	while (read_field(&reader, &field)) {
		if (field.number == number && n-- == 0)
			return field;
	}
	return (struct field){ 0 };
}

static struct field find(struct field message, uint32_t number)
{
	return find_nth(message, number, 0);
}

static void expect_bytes(struct field field, const char *expected)
{
	assert_int_not_equal(field.number, 0);
	assert_int_equal(field.length, strlen(expected));
	assert_memory_equal(field.bytes, expected, field.length);
}

/* ---- Perfetto, as its public .proto files number it ---- */

enum { TRACE_PACKET = 1 };
enum {
	CLOCK_SNAPSHOT = 6,
	TIMESTAMP = 8,
	SEQUENCE_ID = 10,
	TRACK_EVENT = 11,
	INTERNED_DATA = 12,
	SEQUENCE_FLAGS = 13,
	SYSTEM_INFO = 45,
	TRACK_DESCRIPTOR = 60,
	TRACE_UUID = 89
};
enum {
	CATEGORY_IIDS = 3,
	DEBUG_ANNOTATIONS = 4,
	TYPE = 9,
	NAME_IID = 10,
	TRACK_UUID = 11,
	NAME = 23,
	COUNTER_VALUE = 30,
	FLOW_IDS = 47
};
enum { SLICE_BEGIN = 1, SLICE_END = 2, INSTANT = 3, COUNTER = 4 };
enum { INTERNED_CATEGORIES = 1, INTERNED_EVENT_NAMES = 2, INTERNED_ANNOTATION_NAMES = 3 };
enum { UUID = 1, TRACK_NAME = 2, PROCESS = 3, THREAD = 4, PARENT_UUID = 5, TRACK_COUNTER = 8 };
enum {
	ANNOTATION_IID = 1,
	BOOL_VALUE = 2,
	UINT_VALUE = 3,
	INT_VALUE = 4,
	DOUBLE_VALUE = 5,
	STRING_VALUE = 6,
	POINTER_VALUE = 7,
	ANNOTATION_NAME = 10,
	DICT_ENTRIES = 11
};
enum { INCREMENTAL_STATE_CLEARED = 1 };

static struct field trace_of(const struct feed *feed)
{
	return (struct field){ .bytes = (const uint8_t *)feed->bytes, .length = feed->length };
}

/* The n-th packet that has such a field. */
static struct field find_packet(const struct feed *feed, uint32_t with, unsigned int n)
{
	struct field packet;

	for (unsigned int i = 0;; i++) {
		packet = find_nth(trace_of(feed), TRACE_PACKET, i);
		assert_int_not_equal(packet.number, 0);
		if (find(packet, with).number && n-- == 0)
			return packet;
	}
}

static struct field find_event(const struct feed *feed, unsigned int n)
{
	return find(find_packet(feed, TRACK_EVENT, n), TRACK_EVENT);
}

/* The string that an interning number stood for when the n-th event was written. */
static struct field find_interned(const struct feed *feed, uint32_t kind, uint64_t iid)
{
	struct field packet, entry;

	for (unsigned int i = 0; (packet = find_nth(trace_of(feed), TRACE_PACKET, i)).number; i++) {
		struct field data = find(packet, INTERNED_DATA);

		for (unsigned int j = 0; data.number && (entry = find_nth(data, kind, j)).number; j++) {
			if (find(entry, 1).value == iid)
				return find(entry, 2);
		}
	}
	return (struct field){ 0 };
}

static struct field find_annotation(const struct feed *feed, struct field message, uint32_t number,
				    const char *name)
{
	struct field annotation;

	for (unsigned int i = 0; (annotation = find_nth(message, number, i)).number; i++) {
		struct field text = find(annotation, ANNOTATION_NAME);

		if (!text.number)
			text = find_interned(feed, INTERNED_ANNOTATION_NAMES,
					     find(annotation, ANNOTATION_IID).value);
		if (text.length == strlen(name) && !memcmp(text.bytes, name, text.length))
			return annotation;
	}
	fail_msg("there is no annotation '%s'", name);
	return annotation;
}

/* ---- tests ---- */

static void a_span_is_a_begin_and_an_end_on_its_thread_s_track(void **state)
{
	struct field process, thread, event, packet;
	struct feed feed;

	(void)state;
	feed_begin(&feed, "perfetto");
	feed_thread(&feed, .time_ns = 1, .pid = 100, .tid = 101, .comm = feed_string("worker"));
	feed_span(&feed, .id = 5, .pid = 100, .tid = 101, .end_tid = 101, .begin_ns = 1000, .end_ns = 3000,
		  .label = feed_string("transfer"));
	feed_end(&feed);

	process = find(find_packet(&feed, TRACK_DESCRIPTOR, 0), TRACK_DESCRIPTOR);
	assert_int_equal(find(find(process, PROCESS), 1).value, 100);
	expect_bytes(find(find(process, PROCESS), 6), "./bank -t 2");
	thread = find(find_packet(&feed, TRACK_DESCRIPTOR, 1), TRACK_DESCRIPTOR);
	assert_int_equal(find(find(thread, THREAD), 1).value, 100);
	assert_int_equal(find(find(thread, THREAD), 2).value, 101);
	expect_bytes(find(find(thread, THREAD), 5), "worker");
	assert_int_equal(find(thread, PARENT_UUID).value, find(process, UUID).value);

	packet = find_packet(&feed, TRACK_EVENT, 0);
	event = find(packet, TRACK_EVENT);
	assert_int_equal(find(packet, TIMESTAMP).value, 1000);
	assert_int_equal(find(event, TYPE).value, SLICE_BEGIN);
	assert_int_equal(find(event, TRACK_UUID).value, find(thread, UUID).value);
	expect_bytes(find_interned(&feed, INTERNED_EVENT_NAMES, find(event, NAME_IID).value), "transfer");
	expect_bytes(find_interned(&feed, INTERNED_CATEGORIES, find(event, CATEGORY_IIDS).value), "span");
	assert_int_equal(find(find_annotation(&feed, event, DEBUG_ANNOTATIONS, "id"), UINT_VALUE).value, 5);

	packet = find_packet(&feed, TRACK_EVENT, 1);
	assert_int_equal(find(packet, TIMESTAMP).value, 3000);
	assert_int_equal(find(find(packet, TRACK_EVENT), TYPE).value, SLICE_END);
	assert_int_equal(find(find(packet, TRACK_EVENT), TRACK_UUID).value, find(thread, UUID).value);
	feed_release(&feed);
}

static void the_beginning_tells_the_clocks_and_the_machine(void **state)
{
	struct field snapshot, system, uuid, packet;
	struct feed feed;

	(void)state;
	feed_begin(&feed, "perfetto");
	feed_end(&feed);
	packet = find_nth(trace_of(&feed), TRACE_PACKET, 0);
	assert_true(find(packet, SEQUENCE_FLAGS).value & INCREMENTAL_STATE_CLEARED);
	snapshot = find(packet, CLOCK_SNAPSHOT);
	assert_int_equal(find(snapshot, 2).value, 3); /* the trace's clock: MONOTONIC */
	assert_int_equal(find(find_nth(snapshot, 1, 0), 1).value, 3);
	assert_int_equal(find(find_nth(snapshot, 1, 0), 2).value, 500);
	assert_int_equal(find(find_nth(snapshot, 1, 1), 1).value, 1); /* REALTIME */
	assert_int_equal(find(find_nth(snapshot, 1, 1), 2).value, 1700000000000000500);
	system = find(find_packet(&feed, SYSTEM_INFO, 0), SYSTEM_INFO);
	expect_bytes(find(find(system, 1), 3), "6.18.0");
	expect_bytes(find(find(system, 1), 4), "x86_64");
	assert_int_equal(find(system, 8).value, 2);
	uuid = find(find_packet(&feed, TRACE_UUID, 0), TRACE_UUID);
	assert_true(find(uuid, 1).value == 0xc001020304050607);
	assert_true(find(uuid, 2).value == 0x08090a0b0c0d0e0f);
	feed_release(&feed);
}

static void counters_have_tracks_of_their_own(void **state)
{
	struct field track, event;
	struct feed feed;

	(void)state;
	feed_begin(&feed, "perfetto");
	feed_counter(&feed, .time_ns = 7, .value = -5, .pid = 100, .tid = 101, .name = feed_string("queue"));
	feed_end(&feed);
	track = find(find_packet(&feed, TRACK_DESCRIPTOR, 1), TRACK_DESCRIPTOR);
	expect_bytes(find(track, TRACK_NAME), "queue");
	assert_int_equal(find(track, TRACK_COUNTER).number, TRACK_COUNTER);
	event = find_event(&feed, 0);
	assert_int_equal(find(event, TYPE).value, COUNTER);
	assert_int_equal(find(event, TRACK_UUID).value, find(track, UUID).value);
	assert_int_equal((int64_t)find(event, COUNTER_VALUE).value, -5);
	feed_release(&feed);
}

static uint64_t bits(double number)
{
	uint64_t value;

	memcpy(&value, &number, sizeof(value));
	return value;
}

static void attributes_keep_their_types(void **state)
{
	static const struct {
		uint8_t type;
		uint32_t field;
		const char *name;
	} types[] = {
		{ TXTRACE_ATTRIBUTE_BOOL, BOOL_VALUE, "b" },
		{ TXTRACE_ATTRIBUTE_INT, INT_VALUE, "i" },
		{ TXTRACE_ATTRIBUTE_UINT, UINT_VALUE, "u" },
		{ TXTRACE_ATTRIBUTE_DOUBLE, DOUBLE_VALUE, "d" },
		{ TXTRACE_ATTRIBUTE_STRING, STRING_VALUE, "s" },
		{ TXTRACE_ATTRIBUTE_POINTER, POINTER_VALUE, "p" },
	};
	static const uint64_t values[] = { 1, (uint64_t)INT64_MIN, UINT64_MAX, 0, 0, 0x7fff00001000 };
	struct field event, group;
	struct feed feed;

	(void)state;
	feed_begin(&feed, "perfetto");
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		feed_attribute(&feed, .span = 5, .pid = 100, .tid = 101, .type = types[i].type,
			       .name = feed_string(types[i].name),
			       .value = types[i].type == TXTRACE_ATTRIBUTE_DOUBLE ? bits(-0.5) : values[i],
			       .string = feed_string("text"));
	feed_span(&feed, .id = 5, .pid = 100, .tid = 101, .end_tid = 101, .begin_ns = 1, .end_ns = 2,
		  .label = feed_string("x"));
	feed_end(&feed);
	event = find_event(&feed, 0);
	group = find_annotation(&feed, event, DEBUG_ANNOTATIONS, "attributes");
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		struct field value = find(find_annotation(&feed, group, DICT_ENTRIES, types[i].name),
					  types[i].field);

		assert_int_equal(value.number, types[i].field);
		if (types[i].type == TXTRACE_ATTRIBUTE_STRING)
			expect_bytes(value, "text");
		else
			assert_true(value.value ==
				    (types[i].type == TXTRACE_ATTRIBUTE_DOUBLE ? bits(-0.5) : values[i]));
	}
	feed_release(&feed);
}

static void linked_spans_share_a_flow(void **state)
{
	struct feed feed;

	(void)state;
	feed_begin(&feed, "perfetto");
	feed_link(&feed, .time_ns = 1, .from = 5, .to = 6, .pid = 100, .tid = 101,
		  .name = feed_string("caused-by"));
	feed_span(&feed, .id = 5, .pid = 100, .tid = 101, .end_tid = 101, .begin_ns = 1, .end_ns = 2,
		  .label = feed_string("x"));
	feed_span(&feed, .id = 6, .pid = 100, .tid = 102, .end_tid = 102, .begin_ns = 1, .end_ns = 2,
		  .label = feed_string("y"));
	feed_end(&feed);
	assert_int_equal(find(find_event(&feed, 0), TYPE).value, INSTANT);
	assert_int_equal(find(find_event(&feed, 1), FLOW_IDS).value, 1);
	assert_int_equal(find(find_event(&feed, 1), FLOW_IDS).wire_type, FIXED64);
	assert_int_equal(find(find_event(&feed, 3), FLOW_IDS).value, 1);
	feed_release(&feed);
}

static void names_that_come_again_are_sent_once(void **state)
{
	struct field packet;
	size_t sent_cnt = 0;
	struct feed feed;

	(void)state;
	feed_begin(&feed, "perfetto");
	for (int i = 0; i < 100; i++)
		feed_instant(&feed, .time_ns = 1, .pid = 100, .tid = 101, .name = feed_string("retry"));
	feed_end(&feed);
	for (unsigned int i = 0; (packet = find_nth(trace_of(&feed), TRACE_PACKET, i)).number; i++) {
		struct field name = find(find(find(packet, INTERNED_DATA), INTERNED_EVENT_NAMES), 2);

		sent_cnt += name.length == 5 && !memcmp(name.bytes, "retry", 5);
	}
	assert_int_equal(sent_cnt, 1);
	feed_release(&feed);
}

/* Beyond what a viewer should have to remember, numbers start anew, and none is used twice. */
static void any_number_of_names_is_sent(void **state)
{
	uint64_t last_iid = 0;
	unsigned int cleared_cnt = 0, event_cnt = 0;
	struct field packet;
	struct reader reader;
	struct feed feed;
	char name[32];

	(void)state;
	feed_begin(&feed, "perfetto");
	for (int i = 0; i < 70000; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		feed_instant(&feed, .time_ns = 1, .pid = 100, .tid = 101, .name = feed_string(name));
	}
	feed_end(&feed);
	reader = (struct reader){ (const uint8_t *)feed.bytes, (const uint8_t *)feed.bytes + feed.length };
	while (read_field(&reader, &packet)) {
		struct field event = find(packet, TRACK_EVENT),
			     entry = find(find(packet, INTERNED_DATA), INTERNED_EVENT_NAMES);

		cleared_cnt += find(packet, SEQUENCE_FLAGS).value & INCREMENTAL_STATE_CLEARED;
		if (!event.number || event_cnt == 70000)
			continue;
		snprintf(name, sizeof(name), "n%u", event_cnt++);
		expect_bytes(find(entry, 2), name);
		assert_int_equal(find(entry, 1).value, find(event, NAME_IID).value);
		assert_true(find(entry, 1).value > last_iid);
		last_iid = find(entry, 1).value;
	}
	assert_int_equal(event_cnt, 70000);
	assert_int_equal(cleared_cnt, 2);
	feed_release(&feed);
}

static void hostile_strings_become_valid_text(void **state)
{
	char *label = malloc(1 << 20);
	struct field event;
	struct feed feed;

	(void)state;
	assert_non_null(label);
	memset(label, '\x01', 1 << 20);
	feed_begin(&feed, "perfetto");
	feed_instant(&feed, .time_ns = 1, .pid = 100, .tid = 101,
		     .name = { "a\0b\xff\x7f\n\xed\xa0\x80", 9 });
	feed_span(&feed, .pid = 100, .tid = 101, .end_tid = 101, .begin_ns = 1, .end_ns = UINT64_MAX,
		  .label = { label, 1 << 20 });
	feed_attribute(&feed, .span = 77, .pid = 100, .tid = 101, .type = TXTRACE_ATTRIBUTE_STRING,
		       .is_truncated = true, .string = feed_string("cut"));
	feed_end(&feed);

	event = find_event(&feed, 0);
	expect_bytes(find_interned(&feed, INTERNED_EVENT_NAMES, find(event, NAME_IID).value),
		     /* ␀ � ␡ ␊ � � � */
		     "a\xe2\x90\x80"
		     "b\xef\xbf\xbd\xe2\x90\xa1\xe2\x90\x8a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
	event = find_event(&feed, 1); /* too long to be worth a number */
	assert_int_equal(find(event, NAME).length, 3 << 20);
	assert_memory_equal(find(event, NAME).bytes, "\xe2\x90\x81\xe2\x90\x81", 6);
	/* a viewer's times are signed */
	assert_true(find(find_packet(&feed, TRACK_EVENT, 2), TIMESTAMP).value == INT64_MAX);
	expect_bytes(find(find_annotation(&feed, find_event(&feed, 3), DEBUG_ANNOTATIONS, "(no name)"),
			  STRING_VALUE),
		     "cut\xe2\x80\xa6");
	feed_release(&feed);
	free(label);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_span_is_a_begin_and_an_end_on_its_thread_s_track),
		cmocka_unit_test(the_beginning_tells_the_clocks_and_the_machine),
		cmocka_unit_test(counters_have_tracks_of_their_own),
		cmocka_unit_test(attributes_keep_their_types),
		cmocka_unit_test(linked_spans_share_a_flow),
		cmocka_unit_test(names_that_come_again_are_sent_once),
		cmocka_unit_test(any_number_of_names_is_sent),
		cmocka_unit_test(hostile_strings_become_valid_text),
	};

	return cmocka_run_group_tests_name("export_perfetto", tests, NULL, NULL);
}
