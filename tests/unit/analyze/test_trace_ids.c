/* SPDX-License-Identifier: BSD-2-Clause */
/* Which trace spans belong to, and their ids in it: what headers said that came in, and that were sent on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "analyze/trace_ids.h"

#define PID 7
#define TRACE_A "0af7651916cd43dd8448eb211c80319c"
#define TRACE_B "4bf92f3577b34da6a3ce929d0e0e4736"
#define HEADER(trace, span) "00-" trace "-" span "-01"
#define SPAN_1 "b7ad6b7169203331"
#define SPAN_2 "00f067aa0ba902b7"

static const uint8_t capture[16] = { 1, 2, 3 };

static struct trace_ids *new_ids(void)
{
	struct trace_ids *ids = trace_ids_new();

	assert_non_null(ids);
	assert_int_equal(trace_ids_begin_capture(ids, capture), 0);
	return ids;
}

static void note(struct trace_ids *ids, uint64_t span, const char *name, const char *text)
{
	const struct txtrace_record record = {
		.kind = TXTRACE_RECORD_ATTRIBUTE,
		.attribute = { .span = span,
			       .pid = PID,
			       .type = TXTRACE_ATTRIBUTE_STRING,
			       .name = { name, strlen(name) },
			       .string = { text, strlen(text) } },
	};

	assert_int_equal(trace_ids_see(ids, &record), 0);
}

static struct txtrace_span make_span(uint64_t id, uint64_t parent)
{
	return (struct txtrace_span){ .id = id, .parent = parent, .pid = PID };
}

static void end(struct trace_ids *ids, uint64_t id, uint64_t parent)
{
	const struct txtrace_record record = { .kind = TXTRACE_RECORD_SPAN, .span = make_span(id, parent) };

	assert_int_equal(trace_ids_see(ids, &record), 0);
}

static struct trace_place place_of(struct trace_ids *ids, uint64_t id, uint64_t parent)
{
	struct txtrace_span span = make_span(id, parent);
	struct trace_place place;

	trace_ids_place(ids, &span, &place);
	return place;
}

static void is_trace(const struct trace_place *place, const char *trace)
{
	char text[TRACE_ID_DIGITS + 1];

	trace_id_format(text, place->own.trace_id);
	assert_string_equal(text, trace);
}

static void is_id(const uint8_t id[TRACE_SPAN_ID_BYTES], const char *digits)
{
	struct trace_parent parent;
	char header[64] = "00-" TRACE_A "-";

	strcat(strcat(header, digits), "-01");
	assert_true(trace_parent_parse(&parent, (struct txtrace_string){ header, strlen(header) }));
	assert_memory_equal(id, parent.span_id, TRACE_SPAN_ID_BYTES);
}

static void children_inherit_what_came_in(void **state)
{
	struct trace_ids *ids = new_ids();
	struct trace_place top, child;

	(void)state;
	note(ids, 1, TRACEPARENT_NAME, HEADER(TRACE_A, SPAN_1));
	note(ids, 1, TRACESTATE_NAME, "vendor=value");
	end(ids, 3, 2);
	end(ids, 2, 1);
	end(ids, 1, 0);
	top = place_of(ids, 1, 0);
	is_trace(&top, TRACE_A);
	assert_true(top.has_parent && top.is_remote);
	is_id(top.parent_id, SPAN_1);
	child = place_of(ids, 3, 2);
	is_trace(&child, TRACE_A);
	assert_false(child.is_remote);
	assert_int_equal(child.state.length, strlen("vendor=value"));
	trace_ids_free(ids);
}

/* The header that goes on has the span's own id, under which the log then has it. */
static void what_was_sent_on_is_the_spans_own_id(void **state)
{
	struct trace_ids *ids = new_ids();
	struct trace_place place;

	(void)state;
	note(ids, 1, TRACEPARENT_NAME, HEADER(TRACE_A, SPAN_1));
	note(ids, 2, TRACE_SENT_NAME, HEADER(TRACE_A, SPAN_2));
	end(ids, 3, 2);
	end(ids, 2, 1);
	end(ids, 1, 0);
	place = place_of(ids, 2, 1);
	is_trace(&place, TRACE_A);
	is_id(place.own.span_id, SPAN_2);
	place = place_of(ids, 3, 2);
	is_id(place.parent_id, SPAN_2);
	trace_ids_free(ids);
}

/* A trace that begins here is that of the whole tree, also of spans above the one that sent it on. */
static void a_trace_that_was_begun_holds_for_the_whole_tree(void **state)
{
	struct trace_ids *ids = new_ids();
	struct trace_place place;

	(void)state;
	note(ids, 3, TRACE_SENT_NAME, HEADER(TRACE_B, SPAN_2));
	end(ids, 3, 2);
	end(ids, 4, 2);
	end(ids, 2, 1);
	end(ids, 1, 0);
	for (uint64_t id = 1; id <= 4; id++) {
		place = place_of(ids, id, id == 1 ? 0 : id == 2 ? 1 : 2);
		is_trace(&place, TRACE_B);
		assert_int_equal(place.has_parent, id != 1);
	}
	place = place_of(ids, 3, 2);
	is_id(place.own.span_id, SPAN_2);
	trace_ids_free(ids);
}

/* What came in decides, whatever was sent on; and of two headers that were sent on, the first one does. */
static void what_came_in_decides(void **state)
{
	struct trace_ids *ids = new_ids();
	struct trace_place place;

	(void)state;
	note(ids, 2, TRACE_SENT_NAME, HEADER(TRACE_B, SPAN_2));
	note(ids, 2, TRACE_SENT_NAME, HEADER(TRACE_B, SPAN_1));
	note(ids, 1, TRACEPARENT_NAME, HEADER(TRACE_A, SPAN_1));
	end(ids, 2, 1);
	end(ids, 1, 0);
	place = place_of(ids, 2, 1);
	is_trace(&place, TRACE_A);
	is_id(place.own.span_id, SPAN_2);
	trace_ids_free(ids);
}

static void headers_that_are_none_are_not_there(void **state)
{
	struct trace_ids *ids = new_ids(), *bare = new_ids();
	struct trace_place place, expected;

	(void)state;
	note(ids, 1, TRACEPARENT_NAME, "00-" TRACE_A "-0000000000000000-01");
	note(ids, 1, TRACE_SENT_NAME, "rubbish");
	note(ids, 1, TRACESTATE_NAME, "=");
	end(ids, 1, 0);
	end(bare, 1, 0);
	place = place_of(ids, 1, 0);
	expected = place_of(bare, 1, 0);
	assert_memory_equal(&place.own, &expected.own, sizeof(place.own));
	assert_false(place.has_parent);
	assert_int_equal(place.state.length, 0);
	trace_ids_free(ids);
	trace_ids_free(bare);
}

static void ids_are_read_and_written(void **state)
{
	uint8_t id[TRACE_ID_BYTES];
	char text[TRACE_ID_DIGITS + 1];

	(void)state;
	assert_true(trace_id_parse(id, "0AF7651916CD43DD8448EB211C80319C"));
	trace_id_format(text, id);
	assert_string_equal(text, TRACE_A);
	assert_false(trace_id_parse(id, "00000000000000000000000000000000"));
	assert_false(trace_id_parse(id, "0af7651916cd43dd8448eb211c80319"));
	assert_false(trace_id_parse(id, "0af7651916cd43dd8448eb211c80319g"));
	assert_false(trace_id_parse(id, "4711"));
	assert_false(trace_id_parse(id, ""));
}

static void open_span(struct trace_ids *ids, uint64_t id, uint64_t parent)
{
	const struct txtrace_record record = { .kind = TXTRACE_RECORD_OPEN_SPAN,
					       .open_span = { .id = id, .parent = parent, .pid = PID } };

	assert_int_equal(trace_ids_see(ids, &record), 0);
}

/* 1 is above 2, 2 above 3; of 1 and 2 there are checkpoints alone when 3 is placed. */
static void checkpoints_tell_of_spans_that_are_open(void **state)
{
	struct trace_ids *ids = new_ids();
	struct trace_place root, child;

	(void)state;
	note(ids, 1, "traceparent", HEADER(TRACE_A, SPAN_1));
	open_span(ids, 1, 0);
	open_span(ids, 2, 1);
	open_span(ids, 1, 0);
	open_span(ids, 2, 1);
	end(ids, 3, 2);
	child = place_of(ids, 3, 2);
	is_trace(&child, TRACE_A);
	assert_false(child.is_remote);
	end(ids, 2, 1);
	end(ids, 1, 0);
	root = place_of(ids, 1, 0);
	is_trace(&root, TRACE_A);
	is_id(root.parent_id, SPAN_1);
	trace_ids_free(ids);
}

/* A header that comes after the checkpoint holds for what ends after it. */
static void a_header_may_come_after_a_checkpoint(void **state)
{
	struct trace_ids *ids = new_ids();
	struct trace_place child, root;

	(void)state;
	open_span(ids, 1, 0);
	open_span(ids, 2, 1);
	note(ids, 2, "traceparent", HEADER(TRACE_B, SPAN_2));
	end(ids, 3, 2);
	end(ids, 2, 1);
	child = place_of(ids, 3, 2);
	is_trace(&child, TRACE_B);
	root = place_of(ids, 2, 1);
	is_trace(&root, TRACE_B);
	is_id(root.parent_id, SPAN_2);
	trace_ids_free(ids);
}

/*
 * Both passes advance together over 3 million spans: one trace of a root that never ends and its children,
 * and small trees with a header each. Memory stays below that of a million.
 */
static void what_was_placed_is_forgotten(void **state)
{
	enum { TREES = 1000000, LIVE = 1 };
	struct trace_ids *ids = new_ids();
	struct trace_place place;
	char header[80];

	(void)state;
	note(ids, LIVE, "traceparent", HEADER(TRACE_B, SPAN_2));
	note(ids, LIVE, "tracestate", "congo=t61rcWkgMzE");
	for (uint64_t i = 1; i <= TREES; i++) {
		uint64_t root = i * 3, child = root + 1, inside = root + 2;

		if (i % 50000 == 1)
			open_span(ids, LIVE, 0);
		snprintf(header, sizeof(header), "00-%032llx-%s-01", (unsigned long long)i, SPAN_1);
		note(ids, root, "traceparent", header);
		end(ids, child, root);
		end(ids, inside, LIVE);
		end(ids, root, 0);
		place = place_of(ids, child, root);
		header[35] = '\0';
		is_trace(&place, header + 3);
		place = place_of(ids, inside, LIVE);
		is_trace(&place, TRACE_B);
		assert_int_equal(place.state.length, 17);
		place = place_of(ids, root, 0);
		is_trace(&place, header + 3);
		assert_true(place.is_remote);
	}
	assert_int_equal(trace_ids_missed_cnt(ids), 0);
	assert_true(trace_ids_bytes(ids) < 128u << 20);
	end(ids, LIVE, 0);
	place = place_of(ids, LIVE, 0);
	is_id(place.parent_id, SPAN_2);
	trace_ids_free(ids);
}

/* Attributes name a keyed span by its process and its id, as all others. */
static void what_was_said_of_keyed_spans_is_forgotten(void **state)
{
	enum { SPANS = 1500000 };
	struct trace_ids *ids = new_ids();
	struct trace_place place;
	char header[80];

	(void)state;
	for (uint64_t id = 1; id <= SPANS; id++) {
		struct txtrace_record record = { .kind = TXTRACE_RECORD_SPAN, .span = make_span(id, 0) };

		record.span.flags = TXTRACE_SPAN_KEYED;
		record.span.key = (struct txtrace_string){ "key", 3 };
		snprintf(header, sizeof(header), "00-%032llx-%s-01", (unsigned long long)id, SPAN_1);
		note(ids, id, "traceparent", header);
		assert_int_equal(trace_ids_see(ids, &record), 0);
		trace_ids_place(ids, &record.span, &place);
		header[35] = '\0';
		is_trace(&place, header + 3);
	}
	assert_true(trace_ids_bytes(ids) < 160u << 20);
	trace_ids_free(ids);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(children_inherit_what_came_in),
		cmocka_unit_test(what_was_sent_on_is_the_spans_own_id),
		cmocka_unit_test(a_trace_that_was_begun_holds_for_the_whole_tree),
		cmocka_unit_test(what_came_in_decides),
		cmocka_unit_test(headers_that_are_none_are_not_there),
		cmocka_unit_test(ids_are_read_and_written),
		cmocka_unit_test(checkpoints_tell_of_spans_that_are_open),
		cmocka_unit_test(a_header_may_come_after_a_checkpoint),
		cmocka_unit_test(what_was_placed_is_forgotten),
		cmocka_unit_test(what_was_said_of_keyed_spans_is_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
