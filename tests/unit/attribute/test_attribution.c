/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The attribution as a part of a program: the same in, the same out; who calls it is told of errors; what has
 * gone is forgotten. What it computes is in tests/replay (stories) and test_attribution_random.c (random
 * worlds).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>

#include "attribute/attribution.h"
#include "event/stream.h"
#include "unit/random_world_life.h"
#include "unit/record_lines.h"

/* Every record as a line of text. */
struct lines {
	char *text;
	size_t length;
	FILE *out;
	bool is_whole;                /* every member of every record */
	/*
	 * likewise, but only those of these threads, without ids that others change; 0: spans and runs, the
	 * main things
	 */
	uint32_t first_tid, last_tid;
	int stop_after, stop_with;
	unsigned int checkpoint_cnt, imbalance_cnt;
};

static void print_shortly(FILE *out, const struct txtrace_record *record)
{
	const struct txtrace_span *span = &record->span;
	const struct txtrace_run *run = &record->run;

	if (record->kind == TXTRACE_RECORD_SPAN)
		fprintf(out, "span %u/%u %llu..%llu %u work %llu on %llu flags %u\n", span->tid, span->pid,
			(unsigned long long)span->begin_ns, (unsigned long long)span->end_ns, span->end_tid,
			(unsigned long long)span->work_ns, (unsigned long long)span->ledger.on_cpu_ns,
			span->flags & ~(uint32_t)(TXTRACE_SPAN_ROOT | TXTRACE_SPAN_NESTED));
	else if (record->kind == TXTRACE_RECORD_RUN)
		fprintf(out, "run %u %llu..%llu\n", run->tid, (unsigned long long)run->begin_ns,
			(unsigned long long)run->end_ns);
}

static int take(void *context, const struct txtrace_record *record)
{
	struct lines *lines = context;

	if (record->kind == TXTRACE_RECORD_SPAN)
		lines->imbalance_cnt += txtrace_ledger_sum_ns(&record->span.ledger) != record->span.work_ns;
	if (record->kind == TXTRACE_RECORD_OPEN_SPAN) {
		lines->checkpoint_cnt++;
		fprintf(lines->out, "open %llu\n", (unsigned long long)record->open_span.begin_ns);
	} else if (lines->is_whole) {
		record_line(lines->out, record);
	} else if (lines->last_tid && record_is_of_threads(record, lines->first_tid, lines->last_tid)) {
		record_line_without_keyed_ids(lines->out, *record);
	} else if (!lines->last_tid) {
		print_shortly(lines->out, record);
	}
	return lines->stop_after && !--lines->stop_after ? lines->stop_with : 0;
}

static struct attribution *start(struct lines *lines)
{
	struct attribution *attribution = attribution_new(take, lines);

	assert_non_null(attribution);
	lines->out = open_memstream(&lines->text, &lines->length);
	assert_non_null(lines->out);
	return attribution;
}

static void stop(struct attribution *attribution, struct lines *lines)
{
	attribution_free(attribution);
	fclose(lines->out);
}

/* Feeds a recorded stream, the lines of which are given here. */
static int feed(struct attribution *attribution, const char *stream)
{
	static struct stream_event_storage storage;
	FILE *in = fmemopen((void *)stream, strlen(stream), "r");
	struct event event;
	int result;

	memset(&storage, 0, sizeof(storage));
	while ((result = stream_read(in, &storage, &event)) > 0) {
		result = attribution_feed(attribution, &event);
		if (result)
			break;
	}
	fclose(in);
	return result;
}

static void feed_world(struct attribution *attribution, const struct world *world, uint64_t end_ns)
{
	for (size_t i = 0; i < world->event_cnt; i++) {
		assert_int_equal(attribution_feed(attribution, &world->events[i].event), 0);
		if (i % 50 == 49)
			assert_int_equal(attribution_checkpoint(attribution, world->events[i].event.time_ns),
					 0);
	}
	assert_int_equal(attribution_finish(attribution, end_ns), 0);
}

/* Its tables lie in memory at other addresses; that must not show. */
static void the_same_stream_makes_the_same_records(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 100; seed++) {
		struct world_options options = {
			.seed = seed, .step_cnt = 300, .first_ns = 1000000, .first_tid = 100, .name = 'k'
		};
		struct lines first = { .is_whole = true }, second = { .is_whole = true };
		struct attribution *one = start(&first), *other = start(&second);
		struct world world;

		world_run(&world, &options);
		feed_world(one, &world, world.now_ns);
		feed_world(other, &world, world.now_ns);
		stop(one, &first);
		stop(other, &second);
		assert_true(first.length > 0);
		assert_string_equal(first.text, second.text);
		free(first.text);
		free(second.text);
		world_release(&world);
	}
}

/* ---- what others do makes no difference ---- */

enum order { BY_TIME, ONE_BY_ONE, IN_TURNS };

static const struct event *next_event(const struct world worlds[2], const size_t at[2], enum order order,
				      size_t turn)
{
	const struct event *heads[2] = { NULL, NULL };

	for (int i = 0; i < 2; i++)
		heads[i] = at[i] < worlds[i].event_cnt ? &worlds[i].events[at[i]].event : NULL;
	if (!heads[0] || !heads[1])
		return heads[0] ? heads[0] : heads[1];
	if (order == BY_TIME)
		return heads[1]->time_ns < heads[0]->time_ns ? heads[1] : heads[0];
	return order == IN_TURNS ? heads[turn % 2] : heads[0];
}

/* The records of the first world's threads, when the other's events are fed among its own. */
static char *records_of_first(const struct world worlds[2], enum order order)
{
	struct lines lines = { .first_tid = 100, .last_tid = 199 };
	struct attribution *attribution = start(&lines);
	uint64_t end_ns = worlds[0].now_ns > worlds[1].now_ns ? worlds[0].now_ns : worlds[1].now_ns;
	size_t at[2] = { 0, 0 };
	const struct event *event;

	for (size_t turn = 0; (event = next_event(worlds, at, order, turn)); turn++) {
		at[at[1] < worlds[1].event_cnt && event == &worlds[1].events[at[1]].event]++;
		assert_int_equal(attribution_feed(attribution, event), 0);
	}
	assert_int_equal(attribution_finish(attribution, end_ns), 0);
	stop(attribution, &lines);
	return lines.text;
}

/* Two worlds that share nothing but the machine: no process, no thread, no key. */
static void unrelated_threads_have_no_effect(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 200; seed++) {
		struct world_options options[2] = {
			{ .seed = seed, .step_cnt = 200, .first_ns = 1000000, .first_tid = 100, .name = 'k' },
			{ .seed = seed + 1000,
			  .step_cnt = 200,
			  .first_ns = 1000000,
			  .first_tid = 1000,
			  .name = 'q' },
		};
		struct world worlds[2];
		char *alone, *texts[3];

		world_run(&worlds[0], &options[0]);
		world_run(&worlds[1], &options[1]);
		for (enum order order = BY_TIME; order <= IN_TURNS; order++)
			texts[order] = records_of_first(worlds, order);
		worlds[1].event_cnt = 0;
		alone = records_of_first(worlds, BY_TIME);
		assert_true(strlen(alone) > 100);
		for (enum order order = BY_TIME; order <= IN_TURNS; order++) {
			assert_string_equal(texts[order], alone);
			free(texts[order]);
		}
		free(alone);
		world_release(&worlds[0]);
		world_release(&worlds[1]);
	}
}

/* ---- streams that no kernel sends ---- */

static void spoil(struct world *world, struct world_event *spoilt, uint64_t *random)
{
	struct event *event = &spoilt->event;
	uint64_t what;

	*random = *random * 6364136223846793005u + 1442695040888963407u;
	what = *random >> 33;
	switch (what % 8) {
	case 0:
		event->time_ns = (what >> 3) % 4 ? event->time_ns + what : event->time_ns / 2;
		break;
	case 1:
		event->tid = world->options->first_tid + 1 + what / 8 % WORLD_TIDS;
		break;
	case 2:
		event->tgid = world->options->first_tid + 1 + what / 8 % WORLD_TIDS;
		break;
	case 3:
		event->clocks = NULL;
		break;
	case 4:
		spoilt->clocks.blocked_ns[what / 8 % BLOCK_REASON_COUNT] = UINT64_MAX - what;
		spoilt->clocks.on_cpu_ns += what;
		break;
	case 5:
		spoilt->clocks.on_cpu_ns += UINT64_C(1) << 63;
		spoilt->clocks.runnable_ns += UINT64_C(1) << 63; /* the sum stays the same */
		break;
	case 6:
		*event = world->events[what / 8 % world->event_cnt].event;
		break;
	case 7:
		event->flags ^= 1u << what / 8 % 8;
		break;
	}
}

/* Whatever comes, the account of each span adds up. */
static void any_stream_is_survived(void **state)
{
	uint64_t random = 1;

	(void)state;
	for (uint64_t seed = 1; seed <= 300; seed++) {
		struct world_options options = {
			.seed = seed, .step_cnt = 200, .first_ns = 1000000, .first_tid = 100, .name = 'k'
		};
		struct lines lines = { 0 };
		struct attribution *attribution = start(&lines);
		struct attribution_stats stats;
		struct world world;

		world_run(&world, &options);
		for (size_t i = 0; i < world.event_cnt; i++)
			if (i % 5 == seed % 5)
				spoil(&world, &world.events[i], &random);
		feed_world(attribution, &world, world.now_ns);
		attribution_stats(attribution, &stats);
		assert_int_equal(stats.anomaly_cnt[TXTRACE_ANOMALY_IMBALANCE], 0);
		assert_int_equal(lines.imbalance_cnt, 0);
		stop(attribution, &lines);
		free(lines.text);
		world_release(&world);
	}
}

/* ---- how it is used ---- */

static const char two_threads[] =
	"1000 thread 11/10 0 seed born=1000 comm=\"bank\" state=on_cpu\n"
	"1001 thread 12/10 1 seed born=1001 comm=\"bank\" state=on_cpu\n"
	"2000 begin 11/10 0 - id=5 label=\"late\" born=1000 on_cpu=1000\n"
	"2500 begin_detached 12/10 1 - id=3 label=\"early\" born=1001 on_cpu=1499\n";

static void checkpoints_tell_each_open_span_once_and_in_order(void **state)
{
	struct lines lines = { 0 };
	struct attribution *attribution = start(&lines);

	(void)state;
	assert_int_equal(attribution_checkpoint(attribution, 500), 0); /* there is none */
	assert_int_equal(feed(attribution, two_threads), 0);
	assert_int_equal(attribution_checkpoint(attribution, 3000), 0);
	assert_int_equal(attribution_checkpoint(attribution, 4000), 0);
	assert_int_equal(feed(attribution, "5000 key_begin 11/10 0 - key=\"k\" name=\"n\"\n"), 0);
	assert_int_equal(attribution_checkpoint(attribution, 6000), 0);
	fflush(lines.out);
	assert_string_equal(lines.text, "open 2000\nopen 2500\nopen 5000\n");
	stop(attribution, &lines);
	free(lines.text);
}

static int take_restated(void *context, const struct txtrace_record *record)
{
	FILE *out = context;
	const struct txtrace_thread *thread = &record->thread;
	const struct txtrace_open_span *span = &record->open_span;

	if (record->kind == TXTRACE_RECORD_THREAD)
		fprintf(out, "%llu thread %u/%u %.*s%s%s\n", (unsigned long long)thread->time_ns, thread->tid,
			thread->pid, (int)thread->comm.length, thread->comm.bytes,
			thread->is_seed ? " seed" : "", thread->is_exit ? " exit" : "");
	else if (record->kind == TXTRACE_RECORD_OPEN_SPAN)
		fprintf(out, "%llu open %llu %.*s\n", (unsigned long long)span->time_ns,
			(unsigned long long)span->id, (int)span->label.length, span->label.bytes);
	return 0;
}

/*
 * For who begins to read here: whoever lives, by its last name, and what is open, checkpoint or not; nothing
 * of what has gone.
 */
static void what_lives_is_told_again(void **state)
{
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);
	struct attribution *attribution = attribution_new(take_restated, out);

	(void)state;
	assert_int_equal(attribution_restate(attribution), 0); /* nothing */
	assert_int_equal(feed(attribution,
			      "1000 thread 12/10 0 seed born=1000 comm=\"main\" state=on_cpu\n"
			      "1100 thread 11/10 1 - born=1100 comm=\"main\" state=on_cpu\n"
			      "1200 thread 13/10 2 - born=1200 comm=\"gone\" state=on_cpu\n"
			      "1300 thread 11/10 1 rename born=1100 comm=\"second name\"\n"
			      "2000 begin 12/10 0 - id=5 label=\"first\" born=1000 on_cpu=1000\n"
			      "2100 begin 11/10 1 - id=6 label=\"over\" born=1100 on_cpu=1000\n"),
			 0);
	assert_int_equal(attribution_checkpoint(attribution, 2200), 0);
	assert_int_equal(feed(attribution, "2300 end 11/10 1 - id=6\n"
					   "2400 begin 11/10 1 - id=7 label=\"second\"\n"
					   "2500 thread_exit 13/10 2 - born=1200 on_cpu=1300\n"
					   /* of a thread that nobody has told of */
					   "2600 wake 12/10 0 - wakee=99/98\n"), 0);
	fputs("again:\n", out);
	assert_int_equal(attribution_restate(attribution), 0);
	fclose(out);
	assert_string_equal(strstr(text, "again:\n"),
			    "again:\n2600 thread 11/10 second name seed\n2600 thread 12/10 main seed\n"
			    "2600 thread 99/98  seed\n2600 open 5 first\n2600 open 7 second\n");
	attribution_free(attribution);
	free(text);
}

static void an_error_of_the_sink_ends_the_feed(void **state)
{
	(void)state;
	for (int after = 1; after <= 6; after++) {
		struct lines lines = { .stop_after = after, .stop_with = -ENOSPC };
		struct attribution *attribution = start(&lines);
		int err = feed(attribution, two_threads);

		if (!err)
			err = attribution_checkpoint(attribution, 2500);
		if (!err)
			err = attribution_finish(attribution, 3000);
		assert_int_equal(err, -ENOSPC);
		stop(attribution, &lines);
		free(lines.text);
	}
}

static void what_has_gone_is_forgotten(void **state)
{
	struct lines lines = { 0 };
	struct attribution *attribution = start(&lines);
	struct attribution_stats stats;

	(void)state;
	assert_int_equal(feed(attribution, two_threads), 0);
	attribution_stats(attribution, &stats);
	assert_int_equal(stats.thread_cnt, 2);
	assert_int_equal(stats.open_span_cnt, 2);
	assert_int_equal(feed(attribution,
			      "3000 thread_exit 11/10 0 - born=1000 on_cpu=2000\n"
			      "3100 switch 11/10 0 - left=blocked reason=disk\n" /* it closes its files */
			      "3200 wake 0/0 0 interrupt wakee=11/10\n"
			      "3300 switch 0/0 0 - left=untraced next=11/10 next_is_traced\n"
			      "3400 switch 11/10 0 - left=dead\n"), 0);
	attribution_stats(attribution, &stats);
	assert_int_equal(stats.thread_cnt, 1);
	assert_int_equal(stats.open_span_cnt, 2); /* the process lives on */
	assert_int_equal(feed(attribution,
			      "4000 thread_exit 12/10 1 - born=1001 on_cpu=2999\n"
			      "4100 switch 12/10 1 - left=preempted\n"
			      "4200 switch 0/0 1 - left=untraced next=12/10 next_is_traced\n"
			      "4300 switch 12/10 1 - left=dead\n"), 0);
	attribution_stats(attribution, &stats);
	assert_int_equal(stats.thread_cnt, 0);
	assert_int_equal(stats.open_span_cnt, 0);
	assert_int_equal(stats.span_cnt, 2);
	assert_int_equal(stats.lower_bound_cnt, 2);
	assert_int_equal(stats.anomaly_cnt[TXTRACE_ANOMALY_UNFINISHED], 2);
	stop(attribution, &lines);
	free(lines.text);
}

/*
 * Nothing was said to be lost, and yet a thread has another birth, or has no reading to go on from: who was
 * in a span is not known.
 */
static void a_thread_that_vanished_marks_its_spans(void **state)
{
	struct lines lines = { 0 };
	struct attribution *attribution = start(&lines);

	(void)state;
	assert_int_equal(feed(attribution, two_threads), 0);
	assert_int_equal(feed(attribution,
			      "4000 thread 11/10 0 - born=4000 comm=\"new\" state=on_cpu\n"
			      "5000 end 12/10 1 - id=5\n"
			      /* no clocks: it goes on from the old one's reading */
			      "6000 enter 11/10 0 - id=3\n"
			      "7000 end 12/10 1 - id=3\n"), 0);
	fflush(lines.out);
	assert_string_equal(lines.text,
			    "span 11/10 2000..5000 12 work 3000 on 0 flags 5\n"
			    "span 12/10 2500..7000 12 work 4500 on 0 flags 37\n");
	assert_int_equal(TXTRACE_SPAN_LOWER_BOUND | TXTRACE_SPAN_LOSS, 5);
	assert_int_equal(5 | TXTRACE_SPAN_MOVED, 37);
	stop(attribution, &lines);
	free(lines.text);
}

/*
 * Thread 12 of process 10 execs: it is 10 by now, and its old tid is that of a thread of process 20, which is
 * in a span.
 */
static void an_exec_leaves_the_new_bearer_of_the_old_tid_alone(void **state)
{
	struct lines lines = { 0 };
	struct attribution *attribution = start(&lines);
	struct attribution_stats stats;

	(void)state;
	assert_int_equal(feed(attribution,
			      "1000 thread 10/10 0 seed born=1000 state=blocked reason=wait\n"
			      "1001 thread 12/10 1 seed born=1001 state=on_cpu\n"
			      "2000 thread 12/20 2 - born=2000 state=on_cpu\n"
			      "3000 begin 12/20 2 - id=7 born=2000 on_cpu=1000\n"
			      "4000 exec 10/10 1 - old_tid=12 born=1001 on_cpu=2999\n"
			      "5000 begin 10/10 1 - id=7\n"
			      "6000 end 10/10 1 - id=7\n"
			      "7000 end 12/20 2 - id=7\n"), 0);
	fflush(lines.out);
	assert_string_equal(lines.text, "span 10/10 5000..6000 10 work 1000 on 1000 flags 0\nspan 12/20 "
					"3000..7000 12 work 4000 on 4000 flags 0\n");
	attribution_stats(attribution, &stats);
	assert_int_equal(stats.thread_cnt, 2);
	stop(attribution, &lines);
	free(lines.text);
}

/*
 * The kernel had no memory for its clocks: it is told of at every probe that it hits, and is no thread that
 * could be followed.
 */
static void a_thread_without_clocks_is_only_a_name(void **state)
{
	struct lines lines = { 0 };
	struct attribution *attribution = start(&lines);
	struct attribution_stats stats;

	(void)state;
	assert_int_equal(feed(attribution, two_threads), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(feed(attribution, "3000 thread 13/10 0 no_clocks born=3000 state=on_cpu\n"),
				 0);
	attribution_stats(attribution, &stats);
	assert_int_equal(stats.thread_cnt, 2);
	assert_int_equal(stats.open_span_cnt, 2);
	stop(attribution, &lines);
	free(lines.text);
}

static void a_kind_that_does_not_exist_is_refused(void **state)
{
	struct lines lines = { 0 };
	struct attribution *attribution = start(&lines);

	(void)state;
	for (unsigned int kind = 0; kind <= UINT8_MAX; kind++) {
		struct event event = { .kind = kind, .time_ns = 1 };
		bool is_kind = (kind >= EVENT_SWITCH && kind <= EVENT_MOVE) ||
			       (kind >= EVENT_BEGIN && kind <= EVENT_KEY_INSTANT) || kind == EVENT_PROCESS ||
			       kind == EVENT_STACK || kind == EVENT_VALUE || kind == EVENT_ABANDON ||
			       kind == EVENT_MODE || kind == EVENT_LOSS;

		assert_int_equal(attribution_feed(attribution, &event), is_kind ? 0 : -EINVAL);
	}
	stop(attribution, &lines);
	free(lines.text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_stream_makes_the_same_records),
		cmocka_unit_test(unrelated_threads_have_no_effect),
		cmocka_unit_test(any_stream_is_survived),
		cmocka_unit_test(checkpoints_tell_each_open_span_once_and_in_order),
		cmocka_unit_test(what_lives_is_told_again),
		cmocka_unit_test(an_error_of_the_sink_ends_the_feed),
		cmocka_unit_test(what_has_gone_is_forgotten),
		cmocka_unit_test(a_thread_that_vanished_marks_its_spans),
		cmocka_unit_test(an_exec_leaves_the_new_bearer_of_the_old_tid_alone),
		cmocka_unit_test(a_thread_without_clocks_is_only_a_name),
		cmocka_unit_test(a_kind_that_does_not_exist_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
