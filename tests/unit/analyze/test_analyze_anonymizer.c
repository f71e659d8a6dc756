/* SPDX-License-Identifier: BSD-2-Clause */
/* Nothing that was written stays, what was the same is the same, and numbers are as they were. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/files/anonymizer.h"
#include "analyze/files/pseudonym.h"

#define STRING(literal) ((struct txtrace_string){ literal, sizeof(literal) - 1 })

static void assert_string(struct txtrace_string string, const char *expected)
{
	assert_int_equal(string.length, strlen(expected));
	assert_memory_equal(string.bytes, expected, string.length);
}

static void assert_tag(struct pseudonyms *pseudonyms, const char *tag, const char *expected)
{
	struct text text = { 0 };

	pseudonym_append_tag(pseudonyms, &text, tag, strlen(tag));
	assert_string_equal(text_string(&text), expected);
	text_release(&text);
}

/* Python: base32 of the first 60 bits of hmac.new(b"salt", b"transfer", "sha256"). */
static void pseudonyms_are_the_hmac(void **state)
{
	static const struct {
		struct txtrace_string string;
		const char *pseudonym;
	} cases[] = {
		{ STRING("transfer"), "mdgjfg5ftvhr" },
		{ STRING("\xff\0"), "fkel6hzwn3am" },
		{ STRING("transfer"), "mdgjfg5ftvhr" },
		{ STRING("lllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllll"
			 "lllllllllllllllll"),
		  "ka3hgbuqpx7x" },
		{ STRING(""), "" },
	};
	struct pseudonyms *pseudonyms = pseudonyms_new("salt", 4), *others = pseudonyms_new("pepper", 6);
	struct text text = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		text_clear(&text);
		pseudonym_append(pseudonyms, &text, cases[i].string.bytes, cases[i].string.length);
		assert_string_equal(text_string(&text), cases[i].pseudonym);
	}
	text_clear(&text);
	pseudonym_append(others, &text, "transfer", 8);
	assert_int_equal(text.length, PSEUDONYM_LENGTH);
	assert_string_not_equal(text_string(&text), "mdgjfg5ftvhr");
	text_release(&text);
	pseudonyms_free(pseudonyms);
	pseudonyms_free(others);
}

static void a_tag_keeps_its_structure(void **state)
{
	struct pseudonyms *pseudonyms = pseudonyms_new("salt", 4);

	(void)state;
	assert_tag(pseudonyms, "shard=3,kind=write", "qlq3b2bw43e3=ouowob3lz5te,g75r2xjjrbyg=ic6bosex4gca");
	assert_tag(pseudonyms, "shard", "qlq3b2bw43e3");
	assert_tag(pseudonyms, "shard=", "qlq3b2bw43e3=");
	assert_tag(pseudonyms, "=3", "=ouowob3lz5te");
	assert_tag(pseudonyms, "shard=x=y", "qlq3b2bw43e3=c7yyyz4zgquo");
	assert_tag(pseudonyms, ",,shard=3,", ",,qlq3b2bw43e3=ouowob3lz5te,");
	assert_tag(pseudonyms, "", "");
	pseudonyms_free(pseudonyms);
}

/* 300,000 bytes would become 1.9 million. */
static void a_tag_never_outgrows_the_format(void **state)
{
	struct pseudonyms *pseudonyms = pseudonyms_new("salt", 4);
	static char tag[300000];
	struct text text = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(tag); i++)
		tag[i] = "3,"[i % 2];
	pseudonym_append_tag(pseudonyms, &text, tag, sizeof(tag));
	assert_in_range(text.length, PSEUDONYM_TEXT_MAX - 64, PSEUDONYM_TEXT_MAX);
	assert_memory_equal(text.bytes, "ouowob3lz5te,ouowob3lz5te,", 26);
	text_release(&text);
	pseudonyms_free(pseudonyms);
}

static void every_string_of_a_span(void **state)
{
	struct txtrace_record span = { .kind = TXTRACE_RECORD_SPAN,
				       .span = { .id = 5,
						 .begin_ns = 7,
						 .label = STRING("transfer"),
						 .tag = STRING("shard=3"),
						 .key = STRING("box") } };
	struct txtrace_record open_span = { .kind = TXTRACE_RECORD_OPEN_SPAN,
					    .open_span = { .label = STRING("transfer"),
							   .key = STRING("box") } };
	struct anonymizer *anonymizer = anonymizer_new("salt", 4);

	(void)state;
	assert_int_equal(anonymizer_apply(anonymizer, &span), 0);
	assert_string(span.span.label, "mdgjfg5ftvhr");
	assert_string(span.span.tag, "qlq3b2bw43e3=ouowob3lz5te");
	assert_string(span.span.key, "bieprysltd4l");
	assert_int_equal(span.span.id, 5);
	assert_int_equal(span.span.begin_ns, 7);
	assert_int_equal(anonymizer_apply(anonymizer, &open_span), 0);
	assert_string(open_span.open_span.label, "mdgjfg5ftvhr");
	assert_string(open_span.open_span.key, "bieprysltd4l");
	anonymizer_free(anonymizer);
}

static void every_string_of_a_mark(void **state)
{
	struct txtrace_record attribute = {
		.kind = TXTRACE_RECORD_ATTRIBUTE,
		.attribute = { .value = 9, .name = STRING("kind"), .string = STRING("write") }
	};
	struct txtrace_record instant = { .kind = TXTRACE_RECORD_INSTANT,
					  .instant = { .name = STRING("kind") } };
	struct txtrace_record counter = { .kind = TXTRACE_RECORD_COUNTER,
					  .counter = { .value = -3, .name = STRING("kind") } };
	struct txtrace_record link = { .kind = TXTRACE_RECORD_LINK,
				       .link = { .from = 1, .name = STRING("kind") } };
	struct anonymizer *anonymizer = anonymizer_new("salt", 4);

	(void)state;
	assert_int_equal(anonymizer_apply(anonymizer, &attribute), 0);
	assert_string(attribute.attribute.name, "g75r2xjjrbyg");
	assert_string(attribute.attribute.string, "ic6bosex4gca");
	assert_int_equal(attribute.attribute.value, 9);
	assert_int_equal(anonymizer_apply(anonymizer, &instant), 0);
	assert_string(instant.instant.name, "g75r2xjjrbyg");
	assert_int_equal(anonymizer_apply(anonymizer, &counter), 0);
	assert_string(counter.counter.name, "g75r2xjjrbyg");
	assert_int_equal(counter.counter.value, -3);
	assert_int_equal(anonymizer_apply(anonymizer, &link), 0);
	assert_string(link.link.name, "g75r2xjjrbyg");
	anonymizer_free(anonymizer);
}

static void every_string_of_what_the_kernel_tells(void **state)
{
	struct txtrace_record wake = { .kind = TXTRACE_RECORD_WAKE,
				       .wake = { .waker_tid = 3, .waker_comm = STRING("box") } };
	struct txtrace_record thread = { .kind = TXTRACE_RECORD_THREAD, .thread = { .comm = STRING("box") } };
	struct txtrace_record run = { .kind = TXTRACE_RECORD_RUN, .run = { .object = 0x7ffe } };
	struct txtrace_record cost = { .kind = TXTRACE_RECORD_COST, .cost = { .event = STRING("begin") } };
	struct txtrace_record unheard_of = { .kind = TXTRACE_RECORD_DAMAGE };
	struct anonymizer *anonymizer = anonymizer_new("salt", 4);

	(void)state;
	assert_int_equal(anonymizer_apply(anonymizer, &wake), 0);
	assert_string(wake.wake.waker_comm, "bieprysltd4l");
	assert_int_equal(wake.wake.waker_tid, 3);
	assert_int_equal(anonymizer_apply(anonymizer, &thread), 0);
	assert_string(thread.thread.comm, "bieprysltd4l");
	assert_int_equal(anonymizer_apply(anonymizer, &run), 0);
	assert_int_equal(run.run.object, 0x7ffe);
	assert_int_equal(anonymizer_apply(anonymizer, &cost), 0);
	assert_string(cost.cost.event, "begin"); /* a word of the recorder */
	assert_int_equal(anonymizer_apply(anonymizer, &unheard_of), -EINVAL);
	anonymizer_free(anonymizer);
}

static void the_header(void **state)
{
	static const uint8_t none[16], expected[16] = { 0x27, 0x5e, 0xd0, 0xe1, 0x8d, 0x2f, 0x7c, 0xa1,
							0x74, 0xbc, 0xaa, 0x02, 0x4f, 0xd0, 0x4e, 0x57 };
	struct txtrace_log_info info = { .capture_id = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14,
							 15 },
					 .start_realtime_ns = 17,
					 .pid = 42,
					 .cpu_cnt = 2,
					 .host = "box",
					 .kernel = "6.1.0-acme-internal x86_64",
					 .command = "./transfer --from alice",
					 .recorder = "txtrace-bpf 0.1.0",
					 .options = "-p 42" };
	struct anonymizer *anonymizer = anonymizer_new("salt", 4);

	(void)state;
	assert_int_equal(anonymizer_apply_info(anonymizer, &info), 0);
	assert_string_equal(info.host, "bieprysltd4l");
	assert_string_equal(info.kernel, "6.1.0");
	assert_int_equal(strlen(info.command), PSEUDONYM_LENGTH);
	assert_int_equal(strlen(info.options), PSEUDONYM_LENGTH);
	for (size_t i = PSEUDONYM_LENGTH; i < sizeof(info.command); i++)
		assert_int_equal(info.command[i], 0);
	assert_string_equal(info.recorder, "txtrace-bpf 0.1.0");
	assert_memory_equal(info.capture_id, expected, 16);
	assert_memory_equal(info.boot_id, none, 16); /* unknown before, unknown now */
	assert_int_equal(info.start_realtime_ns, 17);
	assert_int_equal(info.pid, 42);
	anonymizer_free(anonymizer);
}

/* The words of the scope are the recorder's; what looks like one in a label is the user's. */
static void the_scope(void **state)
{
	struct txtrace_log_info info = { .options = "attached, --sched off, --sample 1/99999999999999999999, "
						    "--label bob, --flight" },
				hostile = { .host = "" };
	struct anonymizer *anonymizer = anonymizer_new("salt", 4);
	const char *behind = info.options + PSEUDONYM_LENGTH;
	char expected[80];

	(void)state;
	memset(hostile.options, 'x', sizeof(hostile.options) - 1);
	memcpy(hostile.options, ", --sched ledger, --label ", 26);
	assert_int_equal(anonymizer_apply_info(anonymizer, &info), 0);
	snprintf(expected, sizeof(expected), ", --sched off, --sample 1/18446744073709551615, --label %.12s",
		 info.options);
	assert_string_equal(behind, expected);
	assert_int_equal(anonymizer_apply_info(anonymizer, &hostile), 0);
	snprintf(expected, sizeof(expected), ", --sched ledger, --label %.12s", hostile.options);
	assert_string_equal(hostile.options + PSEUDONYM_LENGTH, expected);
	anonymizer_free(anonymizer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pseudonyms_are_the_hmac),
		cmocka_unit_test(a_tag_keeps_its_structure),
		cmocka_unit_test(a_tag_never_outgrows_the_format),
		cmocka_unit_test(every_string_of_a_span),
		cmocka_unit_test(every_string_of_a_mark),
		cmocka_unit_test(every_string_of_what_the_kernel_tells),
		cmocka_unit_test(the_header),
		cmocka_unit_test(the_scope),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
