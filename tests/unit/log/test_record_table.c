/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of records agrees with itself, and with struct txtrace_record. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "log/format/record_table.h"

static const struct record_field *field_at(const struct record_kind *kind, uint16_t offset, uint8_t type)
{
	for (unsigned int i = 0; i < kind->field_cnt; i++)
		if (kind->fields[i].offset == offset && kind->fields[i].type == type)
			return &kind->fields[i];
	return NULL;
}

static bool is_string(const struct record_field *field)
{
	return field->type == RECORD_STRING || field->type == RECORD_KEY;
}

static void what_is_looked_up_is_what_the_fields_say(void **state)
{
	(void)state;
	for (unsigned int number = 0; number < TXTRACE_RECORD_KIND_COUNT; number++) {
		const struct record_kind *kind = &record_kinds[number];
		unsigned int string_cnt = 0, told_cnt = 0;

		assert_int_equal(!kind->name, !kind->field_cnt);
		assert_int_equal(kind->log_field_cnt > 0, kind->time > 0);
		if (kind->time)
			assert_non_null(field_at(kind, kind->time, RECORD_TIME));
		if (kind->begin)
			assert_non_null(field_at(kind, kind->begin, RECORD_TIME));
		if (kind->pid)
			assert_non_null(field_at(kind, kind->pid, RECORD_PID));
		if (kind->tid && kind->tid != kind->pid)
			assert_non_null(field_at(kind, kind->tid, RECORD_TID));
		for (unsigned int i = 0; i < kind->field_cnt; i++)
			string_cnt += is_string(&kind->fields[i]);
		for (; told_cnt < RECORD_STRINGS_MAX && kind->strings[told_cnt]; told_cnt++)
			assert_true(field_at(kind, kind->strings[told_cnt], RECORD_STRING) ||
				    field_at(kind, kind->strings[told_cnt], RECORD_KEY) ||
				    number == TXTRACE_RECORD_ATTRIBUTE);
		/* The value of an attribute may be a string, too. */
		assert_int_equal(told_cnt, string_cnt + (number == TXTRACE_RECORD_ATTRIBUTE));
	}
}

static void fields_have_names_of_their_own_and_lie_in_the_record(void **state)
{
	(void)state;
	for (unsigned int number = 0; number < TXTRACE_RECORD_KIND_COUNT; number++) {
		const struct record_kind *kind = &record_kinds[number];

		assert_true(kind->bytes <= sizeof(struct txtrace_record) && kind->bytes % 8 == 0);
		for (unsigned int i = 0; i < kind->field_cnt; i++) {
			const struct record_field *field = &kind->fields[i];

			assert_true(field->offset >= offsetof(struct txtrace_record, span));
			assert_true(field->offset < kind->bytes && field->when < kind->bytes);
			assert_int_equal(field->type == RECORD_ENUM || field->type == RECORD_SET,
					 field->names != NULL);
			assert_int_equal(!field->group, !field->entry);
			for (unsigned int j = 0; j < i; j++)
				assert_string_not_equal(kind->fields[j].name, field->name);
		}
	}
}

/* Each field of the log has one field of the record, or bits that share it; but the time and the thread. */
static void every_field_of_the_log_is_coded_once(void **state)
{
	(void)state;
	for (unsigned int number = 0; number < TXTRACE_RECORD_KIND_COUNT; number++) {
		const struct record_kind *kind = &record_kinds[number];
		uint32_t coded = kind->pid ? 3 : 1;
		bool is_plain = false;

		for (unsigned int i = 0; i < kind->field_cnt; i++) {
			const struct record_field *field = &kind->fields[i];
			uint32_t bits = field->coding == CODED_SPAN ? 3u << field->log : 1u << field->log;

			if (field->coding == CODED_NOT)
				continue;
			is_plain = true;
			assert_true(field->coding == CODED_BIT || !(coded & bits));
			assert_int_equal(field->coding == CODED_NAME || field->coding == CODED_TEXT,
					 is_string(field));
			coded |= bits;
		}
		if (is_plain)
			assert_int_equal(coded, (uint32_t)((1ull << kind->log_field_cnt) - 1));
	}
}

static void what_an_overlap_cannot_say_is_0(void **state)
{
	const struct record_kind *kind = &record_kinds[TXTRACE_RECORD_OVERLAP];

	(void)state;
	/* docs/log-format.md: no part of it is detached time. */
	assert_int_equal(field_at(kind, offsetof(struct txtrace_record, overlap.ledger.detached_ns),
				  RECORD_DURATION)
				 ->coding,
			 CODED_NOT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_looked_up_is_what_the_fields_say),
		cmocka_unit_test(fields_have_names_of_their_own_and_lie_in_the_record),
		cmocka_unit_test(every_field_of_the_log_is_coded_once),
		cmocka_unit_test(what_an_overlap_cannot_say_is_0),
	};

	return cmocka_run_group_tests_name("record_table", tests, NULL, NULL);
}
