/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Spans that the user does not want in the log: they are attributed, not written, and counted; nothing else
 * changes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attribute/attribution.h"
#include "base/glob.h"
#include "event/stream.h"

struct written {
	char text[4096];
};

static void add(struct written *written, const char *format, ...)
{
	size_t length = strlen(written->text);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(written->text + length, sizeof(written->text) - length, format, arguments);
	va_end(arguments);
}

static int take(void *context, const struct txtrace_record *record)
{
	struct written *written = context;

	if (record->kind == TXTRACE_RECORD_SPAN)
		add(written, "span %llu in %llu, %llu ns\n", (unsigned long long)record->span.id,
		    (unsigned long long)record->span.parent, (unsigned long long)record->span.work_ns);
	else if (record->kind == TXTRACE_RECORD_ATTRIBUTE)
		add(written, "attribute %.*s of %llu is %.*s\n", (int)record->attribute.name.length,
		    record->attribute.name.bytes, (unsigned long long)record->attribute.span,
		    (int)record->attribute.string.length, record->attribute.string.bytes);
	else if (record->kind == TXTRACE_RECORD_INSTANT)
		add(written, "instant %.*s of %llu\n", (int)record->instant.name.length,
		    record->instant.name.bytes, (unsigned long long)record->instant.span);
	else if (record->kind == TXTRACE_RECORD_LINK)
		add(written, "link %llu to %llu\n", (unsigned long long)record->link.from,
		    (unsigned long long)record->link.to);
	else if (record->kind == TXTRACE_RECORD_STAY)
		add(written, "stay in %llu of %u\n", (unsigned long long)record->stay.span, record->stay.tid);
	else if (record->kind == TXTRACE_RECORD_OPEN_SPAN)
		add(written, "open %llu\n", (unsigned long long)record->open_span.id);
	else if (record->kind == TXTRACE_RECORD_WAKE)
		add(written, "woken in %llu\n", (unsigned long long)record->wake.span);
	return 0;
}

static bool matches(void *context, const struct event_text *label)
{
	return glob_matches(context, label->bytes, label->length);
}

/* What is written of the stream; checkpoint_ns: open spans are told then. Its counts go into stats. */
static void run(struct written *written, const struct attribution_filter *filter, const char *stream,
		uint64_t checkpoint_ns, struct attribution_stats *stats)
{
	static struct stream_event_storage storage;
	FILE *in = fmemopen((void *)stream, strlen(stream), "r");
	struct attribution *attribution = attribution_new(take, written);
	struct event event;
	uint64_t last_ns = 0;
	int result;

	memset(written, 0, sizeof(*written));
	memset(&storage, 0, sizeof(storage));
	attribution_set_filter(attribution, filter);
	while ((result = stream_read(in, &storage, &event)) > 0) {
		if (checkpoint_ns && event.time_ns >= checkpoint_ns) {
			assert_int_equal(attribution_checkpoint(attribution, checkpoint_ns), 0);
			checkpoint_ns = 0;
		}
		assert_int_equal(attribution_feed(attribution, &event), 0);
		last_ns = event.time_ns;
	}
	if (result)
		fail_msg("%s", storage.error.text);
	assert_int_equal(attribution_finish(attribution, last_ns), 0);
	attribution_stats(attribution, stats);
	attribution_free(attribution);
	fclose(in);
}

#define THREAD "1000 thread 11/10 0 seed born=1000 comm=\"bank\" state=on_cpu\n"

/*
 * The second child takes 100 ns, the root 5000: with --min-duration 1us the child is left out, and what was
 * said of it.
 */
static const char family[] = THREAD "2000 begin 11/10 0 - id=1 label=\"root\" born=1000 on_cpu=1000\n"
				    "2010 attr 11/10 0 - id=1 name=\"early\" type=string text=\"of root\"\n"
				    "2020 begin 11/10 0 - id=2 parent=1 label=\"long child\"\n"
				    "2030 instant 11/10 0 - id=2 name=\"first\"\n"
				    "4000 instant 11/10 0 - id=2 name=\"second\"\n"
				    "4020 end 11/10 0 - id=2\n"
				    "5000 begin 11/10 0 - id=3 parent=1 label=\"short child\"\n"
				    "5010 attr 11/10 0 - id=3 name=\"a\" type=string text=\"lost\"\n"
				    "5020 link 11/10 0 - id=3 to=2 name=\"after\"\n"
				    "5030 leave 11/10 0 - id=3\n"
				    "5100 end 11/10 0 - id=3\n"
				    "7000 end 11/10 0 - id=1\n";

static void all_is_written_without_a_filter(void **state)
{
	const struct attribution_filter filter = { 0 };
	struct attribution_stats stats;
	struct written written;

	(void)state;
	run(&written, &filter, family, 0, &stats);
	assert_string_equal(written.text, "attribute early of 1 is of root\n"
					  "instant first of 2\n"
					  "instant second of 2\n"
					  "span 2 in 1, 2000 ns\n"
					  "attribute a of 3 is lost\n"
					  "link 3 to 2\n"
					  "stay in 3 of 11\n"
					  "span 3 in 1, 100 ns\n"
					  "span 1 in 0, 5000 ns\n");
	for (unsigned int i = 0; i < TXTRACE_LEFT_OUT_COUNT; i++)
		assert_int_equal(stats.left_out_cnt[i], 0);
}

/*
 * Its time is its parent's all the same: 5000 ns. What was said of others while they were young comes once
 * they are old.
 */
static void short_spans_are_left_out_with_all_that_was_said_of_them(void **state)
{
	const struct attribution_filter filter = { .min_duration_ns = 1000 };
	struct attribution_stats stats;
	struct written written;

	(void)state;
	run(&written, &filter, family, 0, &stats);
	assert_string_equal(written.text, "instant first of 2\n"
					  "instant second of 2\n"
					  "span 2 in 1, 2000 ns\n"
					  "attribute early of 1 is of root\n"
					  "span 1 in 0, 5000 ns\n");
	assert_int_equal(stats.left_out_cnt[TXTRACE_LEFT_OUT_SHORT], 1);
	assert_int_equal(stats.left_out_cnt[TXTRACE_LEFT_OUT_MARK], 3);
	assert_int_equal(stats.span_cnt, 3);
	for (unsigned int i = 0; i < TXTRACE_ANOMALY_COUNT; i++)
		assert_int_equal(stats.anomaly_cnt[i], 0);
}

/* Exactly as long as asked for is long enough. */
static void the_least_duration_is_kept(void **state)
{
	struct attribution_filter filter = { .min_duration_ns = 2000 };
	struct attribution_stats stats;
	struct written written;

	(void)state;
	run(&written, &filter, family, 0, &stats);
	assert_non_null(strstr(written.text, "span 2 in 1, 2000 ns\n"));
	filter.min_duration_ns = 2001;
	run(&written, &filter, family, 0, &stats);
	assert_null(strstr(written.text, "span 2 in"));
}

/* How long they would have lasted nobody knows. */
static void spans_that_are_cut_off_are_kept(void **state)
{
	const struct attribution_filter filter = { .min_duration_ns = 1000 };
	struct attribution_stats stats;
	struct written written;

	(void)state;
	run(&written, &filter,
	    THREAD "2000 begin 11/10 0 - id=1 label=\"root\" born=1000 on_cpu=1000\n"
		   "2100 instant 11/10 0 - id=1 name=\"here\"\n",
	    0, &stats);
	assert_string_equal(written.text, "instant here of 1\nspan 1 in 0, 100 ns\n");
}

/*
 * A checkpoint of a young span might tell of one that is then left out; the next one tells of it, if it is
 * still there.
 */
static void young_spans_have_no_checkpoints(void **state)
{
	const struct attribution_filter filter = { .min_duration_ns = 1000 };
	struct attribution_stats stats;
	struct written written;

	(void)state;
	run(&written, &filter, family, 2025, &stats);
	assert_null(strstr(written.text, "open"));
	run(&written, &filter, family, 5005, &stats);
	assert_non_null(strstr(written.text, "open 1\n"));
	assert_null(strstr(written.text, "open 3\n"));
}

/*
 * Only labels of "db*": the root and "middle" are left out, and so is what was said of them. The query hangs
 * on nobody, the fetch on the query though "step" was between them. A wakeup is told for the query, not for
 * the step within it.
 */
static void other_labels_are_left_out_and_children_find_the_next_parent(void **state)
{
	const struct attribution_filter filter = { .wants_label = matches, .context = (void *)"db*" };
	struct attribution_stats stats;
	struct written written;

	(void)state;
	run(&written, &filter,
	    THREAD "2000 begin 11/10 0 - id=1 label=\"root\" born=1000 on_cpu=1000\n"
		   "2005 instant 11/10 0 - id=1 name=\"of root\"\n"
		   "2010 begin 11/10 0 - id=2 parent=1 label=\"middle\"\n"
		   "2020 begin 11/10 0 - id=3 parent=2 label=\"db query\"\n"
		   "2030 begin 11/10 0 - id=4 parent=3 label=\"step\"\n"
		   "2035 switch 11/10 0 - left=blocked reason=lock syscall=202\n"
		   "2036 wake 0/0 1 interrupt wakee=11/10\n"
		   "2037 switch 0/0 0 - left=untraced next=11/10 next_is_traced\n"
		   "2040 begin 11/10 0 - id=5 parent=4 label=\"db fetch\" born=1000 on_cpu=1038 runnable=1 "
		   "blocked[lock]=1\n"
		   "2050 end 11/10 0 - id=5\n"
		   "2060 end 11/10 0 - id=4\n"
		   "2070 end 11/10 0 - id=3\n"
		   "2080 key_begin 11/10 0 - key=\"k\" name=\"order\" born=1000 on_cpu=1078 runnable=1 "
		   "blocked[lock]=1\n"
		   "2085 key_instant 11/10 0 - key=\"k\" name=\"of order\" born=1000 on_cpu=1083 runnable=1 "
		   "blocked[lock]=1\n"
		   "2090 key_end 11/10 0 - key=\"k\" born=1000 on_cpu=1088 runnable=1 blocked[lock]=1\n"
		   "2100 end 11/10 0 - id=2\n"
		   "2110 end 11/10 0 - id=1\n",
	    0, &stats);
	assert_string_equal(written.text, "woken in 3\nspan 5 in 3, 10 ns\nspan 3 in 0, 50 ns\n");
	assert_int_equal(stats.left_out_cnt[TXTRACE_LEFT_OUT_LABEL], 4);
	assert_int_equal(stats.left_out_cnt[TXTRACE_LEFT_OUT_MARK], 2);
	for (unsigned int i = 0; i < TXTRACE_ANOMALY_COUNT; i++)
		assert_int_equal(stats.anomaly_cnt[i], 0);
}

/*
 * One of three, as tests/e2e/check_sample.py computes it: of process 10 the ids 2, 5, 6 and 8 are chosen,
 * 1, 3, 4 and 7 are not; of the keys "d" is, "a" is not.
 */
static const char transactions[] = THREAD
	"2000 begin 11/10 0 - id=1 label=\"not\" born=1000 on_cpu=1000\n"
	"2010 begin 11/10 0 - id=8 label=\"nested in it\"\n"
	"2020 instant 11/10 0 - id=8 name=\"of a child\"\n"
	"2030 end 11/10 0 - id=8\n"
	"2040 begin 11/10 0 - id=2 parent=18446744073709551615 label=\"a root within\"\n"
	"2050 begin 11/10 0 - id=3 label=\"nested\"\n"
	"2060 end 11/10 0 - id=3\n"
	"2070 end 11/10 0 - id=2\n"
	"2080 end 11/10 0 - id=1\n"
	"3000 begin 11/10 0 - id=5 label=\"root\"\n"
	"3010 begin_detached 11/10 0 - id=4 parent=5 label=\"child\"\n"
	"3020 end 11/10 0 - id=5\n"
	"3030 begin_detached 11/10 0 - id=7 parent=5 label=\"of one that is over\"\n"
	"3035 begin_detached 11/10 0 - id=6 parent=1 label=\"of another that is over\"\n"
	"3040 instant 11/10 0 - id=5 name=\"late\"\n"
	"3050 instant 11/10 0 - id=1 name=\"late\"\n"
	"3060 end 11/10 0 - id=4\n"
	"3070 end 11/10 0 - id=7\n"
	"3075 end 11/10 0 - id=6\n"
	"4000 key_begin 11/10 0 - key=\"a\" name=\"not\" born=1000 on_cpu=3000\n"
	"4010 key_end 11/10 0 - key=\"a\" born=1000 on_cpu=3010\n"
	"4020 key_begin 11/10 0 - key=\"d\" name=\"keyed\" born=1000 on_cpu=3020\n"
	"4030 begin 11/10 0 - id=9 label=\"in the key\"\n"
	"4040 end 11/10 0 - id=9\n"
	"4050 key_end 11/10 0 - key=\"d\" born=1000 on_cpu=3050\n";

static void one_of_three_transactions_is_written_whole(void **state)
{
	const struct attribution_filter filter = { .sample_rate = 3 };
	struct attribution_stats stats;
	struct written written;

	(void)state;
	run(&written, &filter, transactions, 0, &stats);
	assert_string_equal(written.text, "span 3 in 2, 10 ns\n"
					  "span 2 in 0, 30 ns\n"
					  "span 5 in 0, 20 ns\n"
					  "instant late of 5\n"
					  "span 4 in 5, 50 ns\n"
					  "span 7 in 5, 40 ns\n"
					  "span 9 in 2, 10 ns\n"
					  "span 2 in 0, 30 ns\n");
	assert_int_equal(stats.left_out_cnt[TXTRACE_LEFT_OUT_SAMPLE], 4);
	assert_int_equal(stats.left_out_cnt[TXTRACE_LEFT_OUT_MARK], 2);
	for (unsigned int i = 0; i < TXTRACE_ANOMALY_COUNT; i++)
		assert_int_equal(stats.anomaly_cnt[i], 0);
}

/*
 * About half of 140,000 roots are written. Each has a child that begins once all have ended: of those
 * the last 65,536 are remembered.
 */
static void parents_that_ended_are_remembered_for_a_while(void **state)
{
	enum { ROOTS = 140000 };
	const struct attribution_filter filter = { .sample_rate = 2 };
	struct written written = { { 0 } };
	struct attribution *attribution = attribution_new(take, &written);
	struct attribution_stats before, after;
	uint64_t now_ns = 1000;

	(void)state;
	attribution_set_filter(attribution, &filter);
	for (uint64_t pass = 0; pass < 2; pass++) {
		attribution_stats(attribution, &before);
		for (uint64_t id = 1; id <= ROOTS; id++) {
			struct event event = { .kind = EVENT_BEGIN_DETACHED,
					       .tgid = 10,
					       .tid = 11,
					       .flags = WIRE_NO_CLOCKS,
					       .time_ns = ++now_ns,
					       .span = { .id = pass ? ROOTS + id : id,
							 .parent = pass ? id : WIRE_PARENT_ROOT } };

			assert_int_equal(attribution_feed(attribution, &event), 0);
			event.kind = EVENT_END;
			assert_int_equal(attribution_feed(attribution, &event), 0);
			written.text[0] = '\0';
		}
	}
	attribution_stats(attribution, &after);
	assert_in_range(before.left_out_cnt[TXTRACE_LEFT_OUT_SAMPLE], 1, ROOTS - 65536 - 1);
	assert_int_equal(after.left_out_cnt[TXTRACE_LEFT_OUT_SAMPLE] -
				 before.left_out_cnt[TXTRACE_LEFT_OUT_SAMPLE],
			 ROOTS - 65536);
	attribution_free(attribution);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_is_written_without_a_filter),
		cmocka_unit_test(short_spans_are_left_out_with_all_that_was_said_of_them),
		cmocka_unit_test(the_least_duration_is_kept),
		cmocka_unit_test(spans_that_are_cut_off_are_kept),
		cmocka_unit_test(young_spans_have_no_checkpoints),
		cmocka_unit_test(other_labels_are_left_out_and_children_find_the_next_parent),
		cmocka_unit_test(one_of_three_transactions_is_written_whole),
		cmocka_unit_test(parents_that_ended_are_remembered_for_a_while),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
