/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages of traces, halved: every span is in one of the halves, with what is around it. And other bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/protobuf.h"
#include "base/seeded_random.h"
#include "otlp/otlp_split.h"
#include "otlp/otlp_traces.h"
#include "base/protobuf_reader.h"

#define PROCESSES 3u
#define SCOPES 2u
#define SPANS 5u
#define ALL (PROCESSES * SCOPES * SPANS)

/* Spans are numbered; around them are a name of the process, one of the scope, and an unknown field. */
static void make_message(struct text *message)
{
	char name[32];
	uint64_t number = 0;

	for (unsigned int process = 0; process < PROCESSES; process++) {
		size_t resource_spans = protobuf_begin(message, 1);

		protobuf_bytes(message, 1, name, (size_t)snprintf(name, sizeof(name), "process %u", process));
		for (unsigned int scope = 0; scope < SCOPES; scope++) {
			size_t scope_spans = protobuf_begin(message, 2);

			protobuf_bytes(message, 1, "scope", 5);
			for (unsigned int span = 0; span < SPANS; span++) {
				size_t at = protobuf_begin(message, 2);

				protobuf_u64(message, 1, number++);
				protobuf_fixed64(message, 7, UINT64_MAX);
				protobuf_end(message, at);
			}
			protobuf_fixed32(message, 99, 7);
			protobuf_end(message, scope_spans);
		}
		protobuf_end(message, resource_spans);
	}
	assert_int_equal(message->err, 0);
}

/* Every span with its process, as lines; and that all else is there. */
static void list_scope(const struct protobuf_field *scope, const char *process, struct text *list)
{
	struct protobuf_reader reader = { scope->bytes, scope->bytes + scope->length };
	struct protobuf_field field, number;
	unsigned int name_cnt = 0, other_cnt = 0;

	while (protobuf_next(&reader, &field)) {
		struct protobuf_reader span = { field.bytes, field.bytes + field.length };

		name_cnt += field.number == 1;
		other_cnt += field.number == 99;
		if (field.number != 2)
			continue;
		assert_true(protobuf_next(&span, &number));
		text_append_format(list, "%s: %llu\n", process, (unsigned long long)number.value);
	}
	assert_ptr_equal(reader.at, reader.end);
	assert_int_equal(name_cnt, 1);
	assert_int_equal(other_cnt, 1);
}

static void list_spans(const struct text *message, struct text *list)
{
	struct protobuf_reader reader = { text_string(message), text_string(message) + message->length };
	struct protobuf_field process, field;

	while (protobuf_next(&reader, &process)) {
		struct protobuf_reader inner = { process.bytes, process.bytes + process.length };
		char name[32] = "";

		while (protobuf_next(&inner, &field)) {
			if (field.number == 1)
				snprintf(name, sizeof(name), "%.*s", (int)field.length, field.bytes);
			else
				list_scope(&field, name, list);
		}
		assert_ptr_equal(inner.at, inner.end);
	}
	assert_ptr_equal(reader.at, reader.end);
}

static unsigned int lines_of(const char *list)
{
	unsigned int cnt = 0;

	for (; *list; list++)
		cnt += *list == '\n';
	return cnt;
}

static void every_span_is_in_one_half(void **state)
{
	struct text message = { 0 }, first = { 0 }, second = { 0 }, all = { 0 }, halves = { 0 };

	(void)state;
	make_message(&message);
	list_spans(&message, &all);
	assert_int_equal(lines_of(text_string(&all)), ALL);
	for (uint32_t cnt = 0; cnt <= ALL + 1; cnt++) {
		assert_int_equal(otlp_split(message.bytes, message.length, cnt, &first, &second), 0);
		text_clear(&halves);
		list_spans(&first, &halves);
		assert_int_equal(lines_of(text_string(&halves)), cnt < ALL ? cnt : ALL);
		list_spans(&second, &halves);
		assert_string_equal(text_string(&halves), text_string(&all));
	}
	text_release(&message);
	text_release(&first);
	text_release(&second);
	text_release(&all);
	text_release(&halves);
}

/* ---- JSON ---- */

/* The same message in JSON, with the spans from begin to before end, and what is around them. */
static void make_json(struct text *message, unsigned int begin, unsigned int end)
{
	unsigned int number = 0, process_cnt = 0;

	text_append(message, "{ \"a\":[\"]\\\",{\",1e5,[]],\"resourceSpans\" : [");
	for (unsigned int process = 0; process < PROCESSES; process++) {
		unsigned int scope_cnt = 0;

		for (unsigned int scope = 0; scope < SCOPES; scope++) {
			unsigned int span_cnt = 0;

			for (unsigned int span = 0; span < SPANS; span++, number++) {
				if (number < begin || number >= end)
					continue;
				if (!span_cnt && !scope_cnt)
					text_append_format(message,
							   "%s{\"name\":\"process %u\",\"scopeSpans\":[",
							   process_cnt ? "," : "", process);
				if (!span_cnt)
					text_append_format(message, "%s{\"spans\":[", scope_cnt ? "," : "");
				text_append_format(message, "%s{\"number\":%u,\"spans\":[{},{}]}",
						   span_cnt ? "," : "", number);
				process_cnt += !span_cnt && !scope_cnt;
				scope_cnt += !span_cnt;
				span_cnt++;
			}
			if (span_cnt)
				text_append(message, "] ,\"z\":{}}");
		}
		if (scope_cnt)
			text_append(message, "]}");
	}
	text_append(message, "]\n, \"b\" : null}\n");
}

/* Each half is as if it had been written so. */
static void json_is_halved(void **state)
{
	struct text message = { 0 }, first = { 0 }, second = { 0 }, wanted = { 0 };

	(void)state;
	make_json(&message, 0, ALL);
	for (uint32_t cnt = 0; cnt <= ALL + 1; cnt++) {
		assert_int_equal(otlp_split(message.bytes, message.length, cnt, &first, &second), 0);
		text_clear(&wanted);
		make_json(&wanted, 0, cnt);
		wanted.length--; /* no newline behind it */
		assert_int_equal(first.length, wanted.length);
		assert_memory_equal(first.bytes, wanted.bytes, wanted.length);
		text_clear(&wanted);
		make_json(&wanted, cnt, ALL);
		assert_memory_equal(second.bytes, wanted.bytes, wanted.length - 1);
	}
	text_release(&message);
	text_release(&first);
	text_release(&second);
	text_release(&wanted);
}

/* Several documents, as a file has them: the spans are counted through all of them. */
static void documents_are_halved(void **state)
{
	static const char documents[] =
		"{\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":[{\"n\":1},{\"n\":2}]}]}]}\n"
		"{\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":[{\"n\":3}]}]}]}\n";
	struct text first = { 0 }, second = { 0 };

	(void)state;
	assert_int_equal(otlp_split(documents, sizeof(documents) - 1, 1, &first, &second), 0);
	assert_string_equal(text_string(&first),
			    "{\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":[{\"n\":1}]}]}]}"
			    "{\"resourceSpans\":[]}");
	assert_string_equal(text_string(&second),
			    "{\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":[{\"n\":2}]}]}]}"
			    "{\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":[{\"n\":3}]}]}]}");
	text_release(&first);
	text_release(&second);
}

/* "\n{": a first part of 123 bytes in protobuf, or JSON. */
static void a_length_may_look_like_a_brace(void **state)
{
	static const char json[] = "\n{\"resourceSpans\":[]}";
	struct text message = { 0 }, first = { 0 }, second = { 0 };
	size_t resource_spans, scope_spans;
	char padding[111] = "";

	(void)state;
	resource_spans = protobuf_begin(&message, 1);
	protobuf_bytes(&message, 3, padding, sizeof(padding));
	scope_spans = protobuf_begin(&message, 2);
	protobuf_bytes(&message, 2, "\x50\x01", 2);
	protobuf_bytes(&message, 2, "\x50\x02", 2);
	protobuf_end(&message, scope_spans);
	protobuf_end(&message, resource_spans);
	assert_memory_equal(message.bytes, "\n{", 2);
	assert_false(otlp_traces_is_json(message.bytes, message.length));
	assert_true(otlp_traces_is_json(json, sizeof(json) - 1));
	assert_int_equal(otlp_split(message.bytes, message.length, 1, &first, &second), 0);
	assert_int_equal(first.length, message.length - 4);
	assert_int_equal(second.length, message.length - 4);
	text_release(&message);
	text_release(&first);
	text_release(&second);
}

/* In memory of exactly that length, so that a read behind it is one behind the end. */
static int split_exactly(const char *bytes, size_t length)
{
	struct text first = { 0 }, second = { 0 };
	char *copy = malloc(length ? length : 1);
	int err;

	assert_non_null(copy);
	memcpy(copy, bytes, length);
	err = otlp_split(copy, length, ALL / 2, &first, &second);
	assert_true(err == 0 || err == -EBADMSG);
	free(copy);
	text_release(&first);
	text_release(&second);
	return err;
}

static void change_bytes(struct text *message, struct seeded_random *random)
{
	for (unsigned int round = 0; round < 20000; round++) {
		uint32_t at = seeded_random_below(random, (uint32_t)message->length);
		char before = message->bytes[at];

		message->bytes[at] = (char)seeded_random_next(random);
		split_exactly(message->bytes, message->length);
		message->bytes[at] = before;
	}
}

static void what_is_cut_off_or_changed_harms_nothing(void **state)
{
	struct text message = { 0 };
	struct seeded_random random;
	unsigned int whole_cnt = 0;

	(void)state;
	make_message(&message);
	for (size_t length = 0; length < message.length; length++)
		whole_cnt += split_exactly(message.bytes, length) == 0;
	assert_int_equal(whole_cnt, PROCESSES); /* cut between processes, and nothing at all */
	seeded_random_init(&random, 7);
	change_bytes(&message, &random);
	text_clear(&message);
	make_json(&message, 0, ALL);
	for (size_t length = 1; length < message.length - 1; length++)
		assert_int_equal(split_exactly(message.bytes, length), -EBADMSG);
	change_bytes(&message, &random);
	text_release(&message);
}

static void numbers_end(void **state)
{
	static const char endless[] = "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff";
	static const char group[] = "\x0b"; /* which nobody uses any more */
	static const char long_field[] = "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01";
	struct protobuf_reader reader = { endless, endless + sizeof(endless) - 1 };
	struct protobuf_field field;

	(void)state;
	assert_false(protobuf_next(&reader, &field));
	assert_ptr_equal(reader.at, endless);
	reader = (struct protobuf_reader){ long_field, long_field + sizeof(long_field) - 1 };
	assert_false(protobuf_next(&reader, &field));
	reader = (struct protobuf_reader){ group, group + sizeof(group) - 1 };
	assert_false(protobuf_next(&reader, &field));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_span_is_in_one_half),
		cmocka_unit_test(json_is_halved),
		cmocka_unit_test(documents_are_halved),
		cmocka_unit_test(a_length_may_look_like_a_brace),
		cmocka_unit_test(what_is_cut_off_or_changed_harms_nothing),
		cmocka_unit_test(numbers_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
