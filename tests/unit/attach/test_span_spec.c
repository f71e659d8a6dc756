/* SPDX-License-Identifier: BSD-2-Clause */
/* --span and --func as users write them: what is understood, and where a bad one is said to be bad. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "attach/unmodified/foreign_plan.h"
#include "attach/unmodified/span_spec.h"

static void the_span_of_the_manual_is_understood(void **state)
{
	struct span_spec spec;
	struct error error = { "" };

	(void)state;
	assert_int_equal(
		span_spec_parse(&spec,
				"txn=postgresql:transaction__start(lxid)..postgresql:transaction__commit|"
				"usdt:postgresql:transaction__abort,key=tid,tag=lxid",
				&error),
		0);
	assert_string_equal(spec.label, "txn");
	assert_int_equal(spec.begin_cnt, 1);
	assert_int_equal(spec.begins[0].kind, SPAN_POINT_USDT);
	assert_string_equal(spec.begins[0].object, "postgresql");
	assert_string_equal(spec.begins[0].name, "transaction__start");
	assert_string_equal(spec.begins[0].arguments[0], "lxid");
	assert_int_equal(spec.end_cnt, 2);
	assert_string_equal(spec.ends[1].name, "transaction__abort");
	assert_int_equal(spec.key.cnt, 0);
	assert_int_equal(spec.tags.cnt, 1);
	assert_string_equal(spec.tags.terms[0].name, "lxid");
	assert_int_equal(span_term_argument(&spec.tags.terms[0], &spec.begins[0]), 0);
	span_spec_release(&spec);
}

static void functions_may_have_commas_bars_and_dots_within_brackets(void **state)
{
	struct span_spec spec;
	struct func_spec func;
	struct error error = { "" };

	(void)state;
	assert_int_equal(
		span_spec_parse(
			&spec,
			"m=uprobe:libbank:bank::move(int, std::pair<a|b, c>).part..uretprobe:/usr/bin/x:f,"
			"tag=from:arg0+why:str(arg1),end-tag=retval",
			&error),
		0);
	assert_int_equal(spec.begins[0].kind, SPAN_POINT_ENTRY);
	assert_string_equal(spec.begins[0].object, "libbank");
	assert_string_equal(spec.begins[0].name, "bank::move(int, std::pair<a|b, c>).part");
	assert_int_equal(spec.ends[0].kind, SPAN_POINT_RETURN);
	assert_string_equal(spec.ends[0].object, "/usr/bin/x");
	assert_string_equal(spec.tags.terms[0].name, "from");
	assert_int_equal(spec.tags.terms[0].idx, 0);
	assert_string_equal(spec.tags.terms[1].name, "why");
	assert_true(spec.tags.terms[1].is_string);
	assert_int_equal(spec.tags.terms[1].idx, 1);
	assert_int_equal(spec.end_tags.terms[0].kind, SPAN_TERM_RETVAL);
	span_spec_release(&spec);

	assert_int_equal(func_spec_parse(&func, "bank:Bank::transfer(int, int),open*,operator[]", &error), 0);
	assert_string_equal(func.binary, "bank");
	assert_int_equal(func.symbol_cnt, 3);
	assert_string_equal(func.symbols[0], "Bank::transfer(int, int)");
	assert_string_equal(func.symbols[2], "operator[]");
	func_spec_release(&func);
}

static void the_binary_may_stand_before_each_function(void **state)
{
	struct func_spec func;
	struct error error = { "" };

	(void)state;
	assert_int_equal(func_spec_parse(&func, "libc:read,libc:write,libc::open,libcx:close", &error), 0);
	assert_string_equal(func.binary, "libc");
	assert_int_equal(func.symbol_cnt, 4);
	assert_string_equal(func.symbols[0], "read");
	assert_string_equal(func.symbols[1], "write");
	assert_string_equal(func.symbols[2], "libc::open"); /* a C++ name */
	assert_string_equal(func.symbols[3], "libcx:close");
	func_spec_release(&func);
	assert_int_equal(func_spec_parse(&func, "libc:read,libc:", &error), -EINVAL);
}

static void keys_and_parents_say_where_they_are_found(void **state)
{
	struct span_spec spec;
	struct error error = { "" };

	(void)state;
	assert_int_equal(span_spec_parse(&spec, "a=p:b(x,y)..p:e(y,x),key=x+y,parent=other(y)", &error), 0);
	assert_int_equal(spec.key.cnt, 2);
	assert_int_equal(span_term_argument(&spec.key.terms[0], &spec.begins[0]), 0);
	assert_int_equal(span_term_argument(&spec.end_key.terms[0], &spec.ends[0]), 1);
	assert_int_equal(spec.parent, FOREIGN_PARENT_SPAN);
	assert_string_equal(spec.parent_label, "other");
	assert_int_equal(spec.parent_key.cnt, 1);
	span_spec_release(&spec);

	assert_int_equal(span_spec_parse(&spec, "a=p:b..p:e,key=arg0/arg3,parent=thread", &error), 0);
	assert_int_equal(spec.key.terms[0].idx, 0);
	assert_int_equal(spec.end_key.terms[0].idx, 3);
	assert_int_equal(spec.parent, FOREIGN_PARENT_THREAD);
	span_spec_release(&spec);
}

static void a_string_may_have_its_length_in_an_argument(void **state)
{
	struct span_spec spec;
	struct error error = { "" };

	(void)state;
	assert_int_equal(
		span_spec_parse(&spec,
				"a=p:b(x,text,bytes)..p:e,tag=str(text,bytes)+who:str(arg3,arg4)+str(text)",
				&error),
		0);
	assert_string_equal(spec.tags.terms[0].name, "text");
	assert_true(spec.tags.terms[0].has_length);
	assert_int_equal(span_term_argument(&spec.tags.terms[0], &spec.begins[0]), 1);
	assert_int_equal(span_term_length_argument(&spec.tags.terms[0], &spec.begins[0]), 2);
	assert_string_equal(spec.tags.terms[1].name, "who");
	assert_int_equal(span_term_length_argument(&spec.tags.terms[1], &spec.begins[0]), 4);
	assert_true(spec.tags.terms[2].is_string);
	assert_false(spec.tags.terms[2].has_length);
	span_spec_release(&spec);
}

static void a_bad_span_is_refused_where_it_is_bad(void **state)
{
	static const struct {
		const char *text;
		const char *sentence;
	} cases[] = {
		{ "", "at its end: expected LABEL=BEGIN..END" },
		{ "txn", "at character 1, 'txn': expected LABEL=BEGIN..END" },
		{ "txn=", "at its end: expected PROVIDER:PROBE" },
		{ "txn=a", "at its end: expected ':'" },
		{ "txn=a:b", "at its end: expected '..'" },
		{ "txn=a:b..", "at its end: expected PROVIDER:PROBE" },
		{ "txn=a:b..a:c;", "at character 13, ';': expected ','" },
		{ "txn=a:b..a:c,colour=red", "at character 14, 'colour=red': expected key=" },
		{ "txn=a:b(x..a:c", "at character 10, '..a:c': expected ',' or ')'" },
		{ "txn=a:b..a:c,key=", "expected tid, arg0" },
		{ "txn=a:b..a:c,key=str(arg0", "expected ')'" },
		{ "txn=a:b..a:c,tag=str(arg0,", "expected the argument that has the string's length" },
		{ "txn=a:b..a:c,tag=str(arg0,arg1", "expected ')'" },
		{ "txn=a:b..a:c,tag=str(arg0,many)", "names an argument that not all of its probes have" },
		{ "txn=a:b..a:c,key=str(arg0,arg1)", "has no length" },
		{ "txn=a:b..uretprobe:x:y,end-tag=str(retval,arg1)", "no arguments any more" },
		{ "txn=a:b..a:c,key=who", "names an argument that not all of its probes have" },
		{ "txn=a:b..a:c,tag=retval", "there is a retval only at a uretprobe" },
		{ "txn=a:b..uretprobe:x:y,key=arg0", "no arguments any more" },
		{ "txn=a:b..a:b", "both a begin and an end" },
		{ "txn=a:b..a:c,key=str(arg0),tag=arg1", "neither tags nor a parent" },
		{ "txn=a:b..a:c,key=str(arg0)/arg0", "like that at the begin" },
		{ "txn=a:b..a:c,key=arg0+arg1+arg2", "a key may have 2 parts" },
		{ "txn=a:b..a:c,key=arg12", "names an argument" },
		{ "txn=a:b..a:c,key=arg0,again=inside", "for spans whose key is tid" },
		{ "txn=uprobe:libc", "at character 12, 'libc': expected BINARY:SYMBOL" },
		{ "txn=uprobe:libc:f(..a:c", "the brackets of this symbol do not match" },
		{ "txn=a:b|a:b|a:b|a:b|a:b|a:b|a:b|a:b|a:b..a:c", "8 begins" },
		{ "t\033[2Jxn=a:b..a:c", "no control characters" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct span_spec spec;
		struct error error = { "" };

		assert_int_equal(span_spec_parse(&spec, cases[i].text, &error), -EINVAL);
		if (!strstr(error.text, cases[i].sentence))
			fail_msg("'%s': \"%s\" does not say \"%s\"", cases[i].text, error.text,
				 cases[i].sentence);
		assert_null(spec.strings);
	}
}

/* Any prefix, and any text with one byte changed, is understood or refused with a sentence. */
static void whatever_is_written_there_is_an_answer(void **state)
{
	static const char text[] = "txn=a:b(x,y)|uprobe:c:d<e,f>..g:h(x)|uretprobe:i*:j,key=x/"
				   "x,tag=n:str(y)+arg2,parent=k(x+tid)";
	static const char bytes[] = ":|.,()=<>+/*x1 \\\xff";
	char changed[sizeof(text)];
	struct span_spec spec;

	(void)state;
	for (size_t i = 0; i < sizeof(text); i++) {
		for (size_t b = 0; b < sizeof(bytes); b++) {
			struct error error = { "" };

			memcpy(changed, text, sizeof(text));
			changed[i] = bytes[b];
			changed[sizeof(text) - 1] = '\0';
			if (span_spec_parse(&spec, changed, &error) == 0)
				span_spec_release(&spec);
			else
				assert_true(strlen(error.text) > 0);
		}
	}
}

static void too_long_a_text_is_refused(void **state)
{
	char *text = malloc(SPAN_SPEC_BYTES_MAX + 2);
	struct error error = { "" };
	struct span_spec spec;

	(void)state;
	memset(text, 'a', SPAN_SPEC_BYTES_MAX + 1);
	text[SPAN_SPEC_BYTES_MAX + 1] = '\0';
	assert_int_equal(span_spec_parse(&spec, text, &error), -EINVAL);
	free(text);
}

static int plan_of(const char *const *spans, size_t cnt, struct error *error)
{
	struct foreign_plan_options options = { .spans = spans, .span_cnt = cnt };
	struct foreign_plan *plan;
	int err = foreign_plan_new(&plan, &options, error);

	if (!err)
		foreign_plan_free(plan);
	return err;
}

static void spans_are_checked_against_each_other(void **state)
{
	static const char *const twice[] = { "a=p:b..p:e", "a=p:c..p:d" };
	static const char *const nobody[] = { "a=p:b..p:e,parent=b" };
	static const char *const itself[] = { "a=p:b..p:e,parent=a" };
	static const char *const other_key[] = { "a=p:b..p:e,key=arg0", "b=p:c..p:d,parent=a" };
	static const char *const good[] = { "a=p:b..p:e,key=arg0", "b=p:c..p:d,parent=a(arg1)",
		"c=p:f..p:g,key=arg2,parent=a",
					    "d=p:h..p:i,key=arg0,parent=b" };
	struct error error;

	(void)state;
	assert_int_equal(plan_of(twice, 2, &error), -EINVAL);
	assert_non_null(strstr(error.text, "two spans 'a'"));
	assert_int_equal(plan_of(nobody, 1, &error), -EINVAL);
	assert_non_null(strstr(error.text, "no other --span"));
	assert_int_equal(plan_of(itself, 1, &error), -EINVAL);
	assert_int_equal(plan_of(other_key, 2, &error), -EINVAL);
	assert_non_null(strstr(error.text, "has another key"));
	assert_int_equal(plan_of(good, 4, &error), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_span_of_the_manual_is_understood),
		cmocka_unit_test(functions_may_have_commas_bars_and_dots_within_brackets),
		cmocka_unit_test(the_binary_may_stand_before_each_function),
		cmocka_unit_test(keys_and_parents_say_where_they_are_found),
		cmocka_unit_test(a_string_may_have_its_length_in_an_argument),
		cmocka_unit_test(a_bad_span_is_refused_where_it_is_bad),
		cmocka_unit_test(whatever_is_written_there_is_an_answer),
		cmocka_unit_test(too_long_a_text_is_refused),
		cmocka_unit_test(spans_are_checked_against_each_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
