/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The memory of open spans has a limit: who goes beyond it loses what it begins itself, and is told so;
 * whoever is beside it loses nothing. Limits are small here, and given in spans.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>

#include "attribute/attribution.h"
#include "attribute/span_budget.h"
#include "event/stream.h"
#include "unit/random_world_life.h"
#include "unit/record_lines.h"

/* Records of one process' spans as lines, losses as lines, and how many there were of all. */
struct result {
	struct attribution *attribution;
	char *spans, *losses;
	size_t span_length, loss_length;
	FILE *spans_out, *losses_out;
	uint64_t lost_cnt, loss_cnt, imbalance_cnt;
};

static int take_record(void *context, const struct txtrace_record *record)
{
	struct result *result = context;

	if (record->kind == TXTRACE_RECORD_SPAN) {
		result->imbalance_cnt += txtrace_ledger_sum_ns(&record->span.ledger) != record->span.work_ns;
		if (record->span.pid == 20)
			record_line(result->spans_out, record);
	} else if (record->kind == TXTRACE_RECORD_LOSS) {
		result->lost_cnt += record->loss.span_event_cnt;
		result->loss_cnt++;
		fprintf(result->losses_out, "cpu %u: %llu, %llu..%llu\n", record->loss.cpu,
			(unsigned long long)record->loss.span_event_cnt,
			(unsigned long long)record->loss.first_ns, (unsigned long long)record->loss.last_ns);
		assert_int_equal(record->loss.sched_event_cnt, 0);
	}
	return 0;
}

static void start(struct result *result, uint64_t limit_bytes)
{
	*result = (struct result){ .attribution = attribution_new(take_record, result) };
	assert_non_null(result->attribution);
	attribution_limit_spans(result->attribution, limit_bytes);
	result->spans_out = open_memstream(&result->spans, &result->span_length);
	result->losses_out = open_memstream(&result->losses, &result->loss_length);
	assert_true(result->spans_out && result->losses_out);
}

static struct attribution_stats stats_of(const struct result *result)
{
	struct attribution_stats stats;

	attribution_stats(result->attribution, &stats);
	return stats;
}

/* All is over, and all room is free again. */
static void stop(struct result *result, uint64_t end_ns)
{
	assert_int_equal(attribution_finish(result->attribution, end_ns), 0);
	assert_int_equal(stats_of(result).span_bytes, 0);
	assert_int_equal(stats_of(result).open_span_cnt, 0);
	assert_int_equal(stats_of(result).refused_cnt, result->lost_cnt);
	assert_int_equal(result->imbalance_cnt, 0);
	attribution_free(result->attribution);
	fclose(result->spans_out);
	fclose(result->losses_out);
}

static void release(struct result *result)
{
	free(result->spans);
	free(result->losses);
}

/* Feeds one line of a recorded stream, given as for printf. */
static void __attribute__((format(printf, 2, 3))) feed(struct result *result, const char *format, ...)
{
	static struct stream_event_storage storage;
	struct event event;
	char line[1024];
	va_list arguments;
	FILE *in;

	va_start(arguments, format);
	vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	memset(&storage, 0, sizeof(storage));
	in = fmemopen(line, strlen(line), "r");
	assert_int_equal(stream_read(in, &storage, &event), 1);
	fclose(in);
	assert_int_equal(attribution_feed(result->attribution, &event), 0);
}

static void feed_thread(struct result *result, int tid, int tgid)
{
	feed(result, "1000 thread %d/%d 0 seed born=1000 state=on_cpu\n", tid, tgid);
}

/* Spans first..last of thread 11 of process 10, one every 10 ns on CPU 3. */
static void begin_many(struct result *result, uint64_t time_ns, int first, int last)
{
	for (int id = first; id <= last; id++)
		feed(result, "%llu begin 11/10 3 - id=%d label=\"never ended\" born=1000 on_cpu=%llu\n",
		     (unsigned long long)time_ns + (id - first) * 10, id,
		     (unsigned long long)time_ns + (id - first) * 10 - 1000);
}

/* ---- begins ---- */

static void a_process_alone_may_take_half(void **state)
{
	struct result result;

	(void)state;
	start(&result, 20 * SPAN_PRICE);
	feed_thread(&result, 11, 10);
	begin_many(&result, 2000, 1, 15);
	assert_int_equal(stats_of(&result).open_span_cnt, 10);
	assert_int_equal(stats_of(&result).refused_cnt, 5);
	assert_int_equal(stats_of(&result).span_bytes, 10 * SPAN_PRICE);

	/* One record for all that a CPU lost since it was told last. */
	feed(&result, "3000 begin 11/10 70 - id=16 label=\"elsewhere\"\n");
	assert_int_equal(attribution_checkpoint(result.attribution, 4000), 0);
	assert_int_equal(attribution_checkpoint(result.attribution, 5000), 0);
	fflush(result.losses_out);
	assert_string_equal(result.losses, "cpu 3: 5, 2100..2140\ncpu 70: 1, 3000..3000\n");

	/* Two CPUs in the same place are told apart. */
	feed(&result, "6000 begin 11/10 3 - id=17 label=\"here\"\n");
	feed(&result, "6001 begin 11/10 67 - id=18 label=\"there\"\n");

	/* What is said of a span that was refused is what is said of one that never was. */
	feed(&result, "7000 enter 11/10 3 - id=11\n");
	feed(&result, "7001 leave 11/10 3 - id=11\n");
	feed(&result, "7002 tag 11/10 3 - id=11 text=\"t\"\n");
	feed(&result, "7003 end 11/10 3 - id=11\n");
	assert_int_equal(stats_of(&result).anomaly_cnt[TXTRACE_ANOMALY_ENTER_UNKNOWN], 1);
	assert_int_equal(stats_of(&result).anomaly_cnt[TXTRACE_ANOMALY_EXIT_UNKNOWN], 1);
	assert_int_equal(stats_of(&result).anomaly_cnt[TXTRACE_ANOMALY_MARK_UNKNOWN], 1);
	assert_int_equal(stats_of(&result).anomaly_cnt[TXTRACE_ANOMALY_END_UNKNOWN], 1);
	stop(&result, 8000);
	assert_string_equal(
		result.losses,
		"cpu 3: 5, 2100..2140\ncpu 70: 1, 3000..3000\ncpu 3: 1, 6000..6000\ncpu 67: 1, 6001..6001\n");
	release(&result);
}

static void where_spans_end_there_is_room_again(void **state)
{
	struct result result;

	(void)state;
	start(&result, 20 * SPAN_PRICE);
	feed_thread(&result, 11, 10);
	for (int round = 0; round < 50; round++) {
		uint64_t time_ns = 2000 + (uint64_t)round * 1000;

		begin_many(&result, time_ns, 1, 15);
		for (int id = 1; id <= 10; id++)
			feed(&result, "%llu end 11/10 3 - id=%d\n",
			     (unsigned long long)time_ns + 500 + (unsigned int)id, id);
		assert_int_equal(stats_of(&result).span_bytes, 0);
	}
	assert_int_equal(stats_of(&result).span_cnt, 500);
	assert_int_equal(stats_of(&result).refused_cnt, 250);
	assert_int_equal(stats_of(&result).lower_bound_cnt, 0);

	/* So there is when the process execs, and when it is gone. */
	begin_many(&result, 100000, 1, 15);
	feed(&result, "101000 exec 11/10 3 - born=1000 on_cpu=100000\n");
	assert_int_equal(stats_of(&result).span_bytes, 0);
	begin_many(&result, 102000, 1, 15);
	feed(&result, "103000 thread_exit 11/10 3 - born=1000 on_cpu=102000\n");
	assert_int_equal(stats_of(&result).span_bytes, 0);
	assert_int_equal(stats_of(&result).refused_cnt, 260);
	stop(&result, 104000);
	release(&result);
}

/* What process 20 does: two threads, nested spans, one that another thread ends, tags, keys. */
static void be_honest(struct result *result, uint64_t ns)
{
	feed(result, "%llu begin 21/20 1 - id=1 label=\"outer\" born=1000 on_cpu=%llu\n",
	     (unsigned long long)ns, (unsigned long long)ns - 1000);
	feed(result,
	     "%llu begin 21/20 1 - id=2 parent=1 label=\"a name that is too long to lie in the span "
	     "itself\"\n",
	     (unsigned long long)ns + 7);
	feed(result, "%llu enter 22/20 2 - id=1 born=1000 on_cpu=%llu\n", (unsigned long long)ns + 9,
	     (unsigned long long)ns + 9 - 1000);
	feed(result, "%llu tag 21/20 1 - id=2 text=\"tag\"\n", (unsigned long long)ns + 11);
	feed(result, "%llu key_begin 22/20 2 - key=\"honest\" name=\"n\"\n", (unsigned long long)ns + 13);
	feed(result, "%llu end 22/20 2 - id=2\n", (unsigned long long)ns + 17);
	feed(result, "%llu leave 22/20 2 - id=1\n", (unsigned long long)ns + 19);
	feed(result, "%llu key_end 21/20 1 - key=\"honest\"\n", (unsigned long long)ns + 23);
	feed(result, "%llu end 21/20 1 - id=1\n", (unsigned long long)ns + 29);
}

static void play_beside(struct result *result, bool is_hostile_there)
{
	start(result, 400 * SPAN_PRICE);
	feed_thread(result, 21, 20);
	feed_thread(result, 22, 20);
	feed_thread(result, 11, 10);
	for (int round = 0; round < 20; round++) {
		uint64_t time_ns = 10000 + (uint64_t)round * 10000;

		if (is_hostile_there)
			begin_many(result, time_ns, round * 100 + 1, round * 100 + 100);
		be_honest(result, time_ns + 2000);
		assert_int_equal(attribution_checkpoint(result->attribution, time_ns + 3000), 0);
	}
	if (is_hostile_there) {
		assert_int_equal(stats_of(result).open_span_cnt, 200);
		assert_int_equal(stats_of(result).refused_cnt, 1800);
	}
	else
		assert_int_equal(stats_of(result).span_bytes, 0);
	assert_int_equal(stats_of(result).lower_bound_cnt, 0);
	stop(result, 1000000);
}

static void whoever_is_beside_it_loses_nothing(void **state)
{
	struct result alone, beside;

	(void)state;
	play_beside(&alone, false);
	play_beside(&beside, true);
	assert_true(alone.span_length > 0);
	assert_int_equal(alone.lost_cnt, 0);
	assert_string_equal(beside.spans, alone.spans);
	release(&alone);
	release(&beside);
}

/* However many there are: each takes as much as is left, and some is always left. */
static void hostile_processes_leave_something(void **state)
{
	struct result result;

	(void)state;
	start(&result, 1000 * SPAN_PRICE);
	for (int process = 1; process <= 9; process++)
		feed_thread(&result, process * 100, process * 100);
	for (int id = 1; id <= 1000; id++)
		for (int process = 1; process <= 9; process++)
			feed(&result, "%d begin %d/%d 0 - id=%d label=\"l\"\n", 2000 + id, process * 100,
			     process * 100, id);
	assert_int_equal(stats_of(&result).open_span_cnt, 900); /* with ten parts, one is nobody's */
	feed_thread(&result, 21, 20);
	for (int id = 1; id <= 50; id++)
		feed(&result, "4000 begin 21/20 0 - id=%d label=\"l\"\n", id);
	assert_int_equal(stats_of(&result).open_span_cnt, 950);
	assert_int_equal(stats_of(&result).refused_cnt, 9 * 900);
	stop(&result, 5000);
	release(&result);
}

/* ---- keyed spans ---- */

static void begin_keys(struct result *result, int tid, int tgid, int first, int last)
{
	for (int key = first; key <= last; key++) {
		feed(result, "3000 key_begin %d/%d 0 - key=\"%d\" name=\"n\"\n", tid, tgid, key);
		/* or it were in several roots at once, which costs more */
		feed(result, "3000 key_leave %d/%d 0 - key=\"%d\"\n", tid, tgid, key);
	}
}

static void spans_with_keys_count_for_who_began_them(void **state)
{
	struct result result;

	(void)state;
	start(&result, 40 * SPAN_PRICE);
	feed_thread(&result, 11, 10);
	feed_thread(&result, 21, 20);
	begin_keys(&result, 11, 10, 1, 30);
	assert_int_equal(stats_of(&result).open_span_cnt, 20);
	begin_keys(&result, 21, 20, 101, 110);
	assert_int_equal(stats_of(&result).open_span_cnt, 30);
	assert_int_equal(stats_of(&result).refused_cnt, 10);

	/* A key that is open already cuts that span off, though there is no room for another. */
	begin_keys(&result, 21, 20, 1, 1);
	assert_int_equal(stats_of(&result).anomaly_cnt[TXTRACE_ANOMALY_BEGIN_TWICE], 1);
	assert_int_equal(stats_of(&result).open_span_cnt, 29);
	assert_int_equal(stats_of(&result).refused_cnt, 11);

	/* Somebody else ends them: there is room again for who began them. */
	for (int key = 2; key <= 20; key++)
		feed(&result, "3500 key_end 21/20 0 - key=\"%d\"\n", key);
	assert_int_equal(stats_of(&result).open_span_cnt, 10);
	begin_keys(&result, 11, 10, 31, 45);
	assert_int_equal(stats_of(&result).open_span_cnt, 25);
	assert_int_equal(stats_of(&result).refused_cnt, 11);
	stop(&result, 4000);
	release(&result);
}

/*
 * Their process has gone, and comes again under its number; they count for all who begin such spans, and for
 * nobody else.
 */
static void spans_with_keys_outlive_their_process(void **state)
{
	struct result result;

	(void)state;
	start(&result, 40 * SPAN_PRICE);
	feed_thread(&result, 21, 20);
	for (int process = 100; process < 150; process++) {
		feed_thread(&result, process, process);
		begin_keys(&result, process, process, process * 100, process * 100 + 9);
		feed(&result, "3100 thread_exit %d/%d 0 - born=1000 on_cpu=2100\n", process, process);
		feed(&result, "3101 switch %d/%d 0 - left=dead\n", process, process);
	}
	assert_int_equal(stats_of(&result).open_span_cnt, 20);
	assert_int_equal(stats_of(&result).refused_cnt, 480);
	begin_keys(&result, 21, 20, 1, 1);
	assert_int_equal(stats_of(&result).refused_cnt, 481);
	feed(&result, "3200 begin 21/20 0 - id=1 label=\"without a key\"\n");
	assert_int_equal(stats_of(&result).refused_cnt, 481);

	feed_thread(&result, 100, 100);
	for (int key = 10000; key < 10010; key++)
		feed(&result, "3300 key_end 21/20 0 - key=\"%d\"\n", key);
	for (int key = 10100; key < 10110; key++)
		feed(&result, "3300 key_end 21/20 0 - key=\"%d\"\n", key);
	feed(&result, "3400 thread_exit 100/100 0 - born=1000 on_cpu=2400\n");
	assert_int_equal(stats_of(&result).span_bytes, SPAN_PRICE);
	begin_keys(&result, 21, 20, 2, 2);
	assert_int_equal(stats_of(&result).refused_cnt, 481);
	stop(&result, 4000);
	release(&result);
}

/* ---- threads in spans, tags, long labels ---- */

static void a_thread_for_which_there_is_no_room_marks_that_span(void **state)
{
	struct result result;

	(void)state;
	start(&result, 4 * SPAN_PRICE + 20 * STAY_PRICE);
	feed_thread(&result, 21, 20);
	feed(&result, "2000 begin_detached 21/20 0 - id=1 label=\"crowded\"\n");
	feed(&result, "2000 begin 21/20 0 - id=2 label=\"not\" born=1000 on_cpu=1000\n");
	for (int tid = 100; tid < 112; tid++) {
		feed_thread(&result, tid, 20);
		feed(&result, "3000 enter %d/20 0 - id=1 born=1000 on_cpu=2000\n", tid);
	}
	assert_int_equal(stats_of(&result).refused_cnt, 1);
	feed(&result, "3500 leave 111/20 0 - id=1\n");
	assert_int_equal(stats_of(&result).anomaly_cnt[TXTRACE_ANOMALY_EXIT_UNENTERED], 1);
	for (int tid = 100; tid < 111; tid++)
		feed(&result, "4000 leave %d/20 0 - id=1\n", tid);
	assert_int_equal(stats_of(&result).span_bytes, 2 * SPAN_PRICE);
	feed(&result, "5000 end 21/20 0 - id=2\n");
	assert_int_equal(stats_of(&result).lower_bound_cnt, 0);
	feed(&result, "5000 end 21/20 0 - id=1\n");
	assert_int_equal(stats_of(&result).lower_bound_cnt, 1);
	stop(&result, 6000);
	release(&result);
}

static void tags_and_long_labels_take_room(void **state)
{
	struct result result;
	char text[256];

	(void)state;
	memset(text, 't', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	start(&result, 4 * SPAN_PRICE + 2 * 4096);
	feed_thread(&result, 21, 20);
	feed(&result, "2000 begin 21/20 0 - id=1 label=\"tagged\" born=1000 on_cpu=1000\n");
	feed(&result, "2000 begin 21/20 0 - id=2 label=\"not\" born=1000 on_cpu=1000\n");
	for (int i = 0; i < 30; i++)
		feed(&result, "3000 tag 21/20 0 - id=1 text=\"%s\"\n", text);
	assert_true(stats_of(&result).span_bytes <= 2 * SPAN_PRICE + 4096);
	assert_true(stats_of(&result).span_bytes > 2 * SPAN_PRICE + 3584);
	assert_true(stats_of(&result).refused_cnt >= 14);
	feed(&result, "5000 end 21/20 0 - id=2\n");
	assert_int_equal(stats_of(&result).lower_bound_cnt, 0);
	feed(&result, "5000 end 21/20 0 - id=1\n");
	assert_int_equal(stats_of(&result).lower_bound_cnt, 1);
	assert_int_equal(stats_of(&result).span_bytes, 0);
	feed(&result, "6000 begin 21/20 0 - id=3 label=\"%s\"\n", text);
	assert_int_equal(stats_of(&result).span_bytes, SPAN_PRICE + 255 + SPAN_HEAP_BYTES);
	stop(&result, 7000);
	release(&result);
}

/* ---- whatever comes ---- */

static void random_worlds_stay_within_the_limit(void **state)
{
	uint64_t refused_cnt = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 200; seed++) {
		struct world_options options = {
			.seed = seed, .step_cnt = 400, .first_ns = 1000000, .first_tid = 100, .name = 'k'
		};
		uint64_t limit_bytes = (seed % 40 + 2) * SPAN_PRICE;
		struct result result;
		struct world world;

		world_run(&world, &options);
		start(&result, limit_bytes);
		for (size_t i = 0; i < world.event_cnt; i++) {
			assert_int_equal(attribution_feed(result.attribution, &world.events[i].event), 0);
			assert_true(stats_of(&result).span_bytes <= limit_bytes);
		}
		refused_cnt += stats_of(&result).refused_cnt;
		assert_int_equal(stats_of(&result).anomaly_cnt[TXTRACE_ANOMALY_CLOCK_MISMATCH], 0);
		stop(&result, world.now_ns);
		release(&result);
		world_release(&world);
	}
	assert_true(refused_cnt > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_process_alone_may_take_half),
		cmocka_unit_test(where_spans_end_there_is_room_again),
		cmocka_unit_test(whoever_is_beside_it_loses_nothing),
		cmocka_unit_test(hostile_processes_leave_something),
		cmocka_unit_test(spans_with_keys_count_for_who_began_them),
		cmocka_unit_test(spans_with_keys_outlive_their_process),
		cmocka_unit_test(a_thread_for_which_there_is_no_room_marks_that_span),
		cmocka_unit_test(tags_and_long_labels_take_room),
		cmocka_unit_test(random_worlds_stay_within_the_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
