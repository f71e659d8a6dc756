/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stories and their pictures: records in, and what a canvas is told to draw. The canvas here writes a line
 * for each row and shape.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>

#include "export/picture.h"
#include "unit/export_feed.h"

/* ---- a canvas of text ---- */

struct text_canvas {
	FILE *out;
	bool has_args; /* to be written too */
};

static void put(FILE *out, struct txtrace_string string)
{
	if (string.length > 0)
		fwrite(string.bytes, 1, string.length, out);
}

static int text_row(void *context, const struct picture_row *row)
{
	static const char *const kinds[] = { "", "process", "thread", "states", "lane", "counter" };
	struct text_canvas *canvas = context;

	fprintf(canvas->out, "row %" PRIu64 " under %" PRIu64 ": %s", row->id, row->parent, kinds[row->kind]);
	if (row->pid != NO_PROCESS)
		fprintf(canvas->out, " %" PRIu32, row->pid);
	if (row->kind == ROW_THREAD || row->kind == ROW_STATES)
		fprintf(canvas->out, "/%" PRIu32, row->tid);
	fputc(' ', canvas->out);
	put(canvas->out, row->name);
	fputc('\n', canvas->out);
	return 0;
}

static void put_arg(FILE *out, const struct picture_arg *arg)
{
	fputc(' ', out);
	put(out, arg->name);
	if (arg->type == ARG_STRING) {
		fputc('=', out);
		put(out, arg->string);
		fputs(arg->is_truncated ? "..." : "", out);
	} else if (arg->type == ARG_GROUP) {
		fprintf(out, "(%" PRIu64 ")", arg->value);
	} else {
		fprintf(out, "=%" PRId64, (int64_t)arg->value);
	}
}

static int text_draw(void *context, const struct shape *shape)
{
	struct text_canvas *canvas = context;

	fprintf(canvas->out, "%" PRIu64 ": %s ", shape->row->id, shape->category);
	put(canvas->out, shape->name);
	if (shape->kind == SHAPE_SLICE)
		fprintf(canvas->out, " %" PRIu64 "-%" PRIu64, shape->begin_ns, shape->end_ns);
	else
		fprintf(canvas->out, " @%" PRIu64, shape->begin_ns);
	if (shape->kind == SHAPE_COUNT)
		fprintf(canvas->out, " %" PRId64, shape->value);
	for (size_t i = 0; i < shape->flow_cnt; i++)
		fprintf(canvas->out, " flow%" PRIu64, shape->flows[i]);
	for (size_t i = 0; i < shape->arg_cnt && canvas->has_args; i++)
		put_arg(canvas->out, &shape->args[i]);
	fputc('\n', canvas->out);
	return 0;
}

static int text_finish(void *context)
{
	(void)context;
	return 0;
}

static void text_free(void *context)
{
	free(context);
}

static const struct canvas_ops text_ops = {
	.row = text_row, .draw = text_draw, .finish = text_finish, .free = text_free
};

static int open_canvas(void **state, FILE *out, const struct txtrace_log_info *info, bool has_args)
{
	struct text_canvas *canvas = malloc(sizeof(*canvas));

	*canvas = (struct text_canvas){ .out = out, .has_args = has_args };
	*state = picture_new(&text_ops, canvas, info);
	return 0;
}

static int open_plain(void **state, FILE *out, const struct txtrace_log_info *info)
{
	return open_canvas(state, out, info, false);
}

static int open_with_args(void **state, FILE *out, const struct txtrace_log_info *info)
{
	return open_canvas(state, out, info, true);
}

#define TEXT_FORMAT(opener)										\
	{												\
		.name = "text", .open = opener, .span = picture_span, .run = picture_run, \
		.wake = picture_wake, \
		.thread = picture_thread, .attribute = picture_attribute, .instant = picture_instant, \
		.counter = picture_counter, \
		.link = picture_link, .open_span = picture_open_span, .loss = picture_loss, \
		.damage = picture_damage, \
		.finish = picture_finish, .free = picture_free,						\
	}

static const struct export_format plain = TEXT_FORMAT(open_plain);
static const struct export_format with_args = TEXT_FORMAT(open_with_args);

static void expect_picture(const struct export_format *format, void (*tell)(struct feed *feed),
			   const char *expected)
{
	struct feed feed = { .folder = { .fd = -1 } };

	feed.out = open_memstream(&feed.bytes, &feed.length);
	assert_int_equal(export_open(&feed.export, format, feed.out, &feed_info), 0);
	tell(&feed);
	feed_end(&feed);
	assert_string_equal(feed.bytes, expected);
	feed_release(&feed);
}

/* ---- stories ---- */

static void nested_work(struct feed *feed)
{
	feed_thread(feed, .time_ns = 1, .pid = 100, .tid = 101, .comm = feed_string("worker"));
	feed_span(feed, .id = 2, .pid = 100, .tid = 101, .end_tid = 101, .begin_ns = 20, .end_ns = 30,
		  .label = feed_string("fsync"));
	feed_span(feed, .id = 1, .pid = 100, .tid = 101, .end_tid = 101, .begin_ns = 10, .end_ns = 40,
		  .label = feed_string("transfer"));
	feed_span(feed, .id = 3, .pid = 100, .tid = 101, .end_tid = 101, .begin_ns = 35, .end_ns = 50,
		  .label = feed_string("crosses"));
}

static void spans_that_nest_are_on_the_row_of_their_thread(void **state)
{
	(void)state;
	expect_picture(&plain, nested_work,
		       "row 1 under 0: process 100 ./bank -t 2\n"
		       "row 2 under 1: thread 100/101 worker\n"
		       "2: span fsync 20-30\n"
		       "2: span transfer 10-40\n"
		       "row 3 under 1: lane 100 crosses\n"
		       "3: span crosses 35-50\n"
		       "row 4 under 0: lane txtrace\n"
		       "4: summary end of the log @50\n");
}

static void handed_over(struct feed *feed)
{
	static const uint64_t times[][2] = { { 10, 20 }, { 15, 25 }, { 22, 30 } };

	for (uint64_t i = 0; i < 3; i++)
		feed_span(feed, .id = 1 + i, .pid = 7, .tid = 8, .end_tid = 9, .flags = TXTRACE_SPAN_MOVED,
			  .begin_ns = times[i][0], .end_ns = times[i][1], .label = feed_string("job"));
	feed_span(feed, .id = 9, .pid = 7, .tid = 8, .end_tid = 8, .begin_ns = 10, .end_ns = 31,
		  .ledger.detached_ns = 5);
}

static void spans_that_wander_or_wait_have_lanes_by_label(void **state)
{
	(void)state;
	expect_picture(&plain, handed_over,
		       "row 1 under 0: process 7 \n"
		       "row 2 under 1: thread 7/8 \n"
		       "row 3 under 1: lane 7 job\n"
		       "3: span job 10-20\n"
		       "row 4 under 1: lane 7 job\n"
		       "4: span job 15-25\n"
		       "3: span job 22-30\n"
		       "row 5 under 1: lane 7 (no label)\n"
		       "5: span (no label) 10-31\n"
		       "row 6 under 0: lane txtrace\n"
		       "6: summary end of the log @31\n");
}

/*
 * Two on a track that they were given, one of another thread; what crosses needs another lane; then the track
 * is taken back.
 */
static void named_tracks(struct feed *feed)
{
	static const uint64_t times[][3] = { { 8, 10, 20 }, { 9, 22, 30 }, { 8, 25, 35 } };

	for (uint64_t i = 0; i < 3; i++) {
		feed_attribute(feed, .time_ns = times[i][1], .pid = 7, .span = i + 1,
			       .type = TXTRACE_ATTRIBUTE_STRING, .name = feed_string("track"),
			       .string = feed_string("connection 4"));
		feed_span(feed, .id = i + 1, .pid = 7, .tid = times[i][0], .end_tid = times[i][0],
			  .begin_ns = times[i][1], .end_ns = times[i][2], .label = feed_string("request"));
	}
	feed_span(feed, .id = 4, .pid = 7, .tid = 8, .end_tid = 8, .begin_ns = 40, .end_ns = 41,
		  .label = feed_string("request"));
}

static void a_span_that_was_given_a_track_is_on_a_lane_of_that_name(void **state)
{
	(void)state;
	expect_picture(&plain, named_tracks,
		       "row 1 under 0: process 7 \n"
		       "row 2 under 1: thread 7/8 \n"
		       "row 3 under 1: lane 7 connection 4\n"
		       "3: span request 10-20\n"
		       "row 4 under 1: thread 7/9 \n"
		       "3: span request 22-30\n"
		       "row 5 under 1: lane 7 connection 4\n"
		       "5: span request 25-35\n"
		       "2: span request 40-41\n"
		       "row 6 under 0: lane txtrace\n"
		       "6: summary end of the log @41\n");
}

static void a_wait(struct feed *feed)
{
	feed_thread(feed, .time_ns = 1, .pid = 7, .tid = 7, .comm = feed_string("main"));
	feed_run(feed, .pid = 7, .tid = 8, .cpu = 1, .begin_ns = 10, .end_ns = 20,
		 .left_as = TXTRACE_LEFT_BLOCKED, .reason = TXTRACE_BLOCK_LOCK, .syscall_nr = 202,
		 .object = 4096);
	feed_wake(feed, .time_ns = 30, .pid = 7, .tid = 8, .waker_pid = 7, .waker_tid = 7, .cpu = 2,
		  .waker_comm = feed_string("main"));
	feed_run(feed, .pid = 7, .tid = 8, .cpu = 3, .begin_ns = 35, .end_ns = 50, .blocked_ns = 10,
		 .runnable_ns = 5, .left_as = TXTRACE_LEFT_DEAD);
	feed_wake(feed, .time_ns = 60, .pid = 7, .tid = 7, .waker_pid = 1, .waker_tid = 2,
		  .waker_comm = feed_string("cron"));
	feed_wake(feed, .time_ns = 61, .pid = 7, .tid = 7, .flags = TXTRACE_WAKE_INTERRUPT);
}

static void a_thread_has_a_row_of_states_and_arrows_from_its_wakers(void **state)
{
	(void)state;
	expect_picture(&with_args, a_wait,
		       "row 1 under 0: process 7 main\n"
		       "row 2 under 1: thread 7/7 main\n"
		       "row 3 under 1: thread 7/8 \n"
		       "row 4 under 3: states 7/8 state\n"
		       "4: state running 10-20 cpu=1 left_as=blocked\n"
		       "row 5 under 2: states 7/7 state\n"
		       "5: wake wakes @30 flow1 tid=8 pid=7\n"
		       "4: wake woken @30 flow1 waker_tid=7 waker_pid=7 waker_comm=main waker_cpu=2\n"
		       "4: state blocked: lock 20-30 syscall_nr=202 object=4096\n"
		       "4: state runnable 30-35\n"
		       "4: state running 35-50 cpu=3 left_as=dead\n"
		       /* not a thread of ours: no row, no arrow */
		       "5: wake woken @60 waker_tid=2 waker_pid=1 waker_comm=cron waker_cpu=0\n"
		       "5: wake woken @61 waker_tid=0 waker_pid=0 waker_comm= waker_cpu=0 interrupt=1\n"
		       "row 6 under 0: lane txtrace\n"
		       "6: summary end of the log @61 complete=0 lower_bound_cnt=0 lost_span_event_cnt=0 "
		       "lost_sched_event_cnt=0 "
		       "dropped_record_cnt=0 damaged_bytes=0 damaged_record_cnt=0 "
		       "records(23) span=0 run=2 wake=3 thread=1 attribute=0 instant=0 counter=0 link=0 "
		       "loss=0 open_span=0 summary=0 dropped=0 continued=0 stay=0 object=0 stack=0 frames=0 "
		       "other_run=0 cost=0 process=0 "
		       "trigger=0 overlap=0 damage=0\n");
}

static void marked(struct feed *feed)
{
	feed_attribute(feed, .time_ns = 12, .span = 1, .pid = 7, .tid = 8, .type = TXTRACE_ATTRIBUTE_INT,
		       .value = (uint64_t)-3, .name = feed_string("delta"));
	feed_attribute(feed, .time_ns = 13, .span = 1, .pid = 7, .tid = 8, .type = TXTRACE_ATTRIBUTE_STRING,
		       .is_truncated = true, .name = feed_string("url"), .string = feed_string("/a"));
	feed_attribute(feed, .time_ns = 14, .span = 77, .pid = 7, .tid = 8, .type = TXTRACE_ATTRIBUTE_BOOL,
		       .value = 1, .name = feed_string("orphan"));
	feed_link(feed, .time_ns = 15, .from = 1, .to = 2, .pid = 7, .tid = 8,
		  .name = feed_string("caused-by"));
	feed_instant(feed, .time_ns = 16, .span = 1, .pid = 7, .tid = 8, .name = feed_string("retry"));
	feed_counter(feed, .time_ns = 17, .value = 5, .pid = 7, .tid = 8, .name = feed_string("queue"));
	feed_counter(feed, .time_ns = 18, .value = -5, .pid = 7, .tid = 9, .name = feed_string("queue"));
	feed_span(feed, .id = 1, .parent = 4, .pid = 7, .tid = 8, .end_tid = 8, .begin_ns = 10, .end_ns = 20,
		  .work_ns = 10,
		  .ledger = { .on_cpu_ns = 1, .runnable_ns = 2, .blocked_ns = { [TXTRACE_BLOCK_DISK] = 7 } },
		  .label = feed_string("a"), .tag = feed_string("k=v"), .key = feed_string("K"),
		  .flags = TXTRACE_SPAN_KEYED | TXTRACE_SPAN_LOWER_BOUND | TXTRACE_SPAN_LOSS);
	feed_span(feed, .id = 2, .pid = 7, .tid = 9, .begin_ns = 10, .end_ns = 21, .label = feed_string("b"));
}

static void a_span_tells_everything_that_is_known_of_it(void **state)
{
	(void)state;
	expect_picture(&with_args, marked,
		       "row 1 under 0: process 7 \n"
		       "row 2 under 1: thread 7/8 \n"
		       "2: link caused-by @15 from=1 to=2\n"
		       "2: instant retry @16 span=1\n"
		       "row 3 under 1: counter 7 queue\n"
		       "3: counter queue @17 5\n"
		       "3: counter queue @18 -5\n"
		       "2: span a 10-20 flow1 id=1 parent=4 tag=k=v key=K begin_tid=8 work_ns=10 on_cpu_ns=1 "
		       "runnable_ns=2 blocked_ns=7 "
		       "blocked(1) disk=7 detached_ns=0 unknown_ns=0 lower_bound=1 loss=1 keyed=1 "
		       "attributes(2) delta=-3 url=/a...\n"
		       "row 4 under 1: thread 7/9 \n"
		       "4: span b 10-21 flow1 id=2 begin_tid=9 end_tid=0 work_ns=0 on_cpu_ns=0 runnable_ns=0 "
		       "blocked_ns=0 detached_ns=0 "
		       "unknown_ns=0 lower_bound=0\n"
		       /* the span that it belongs to did not come */
		       "2: attribute attribute @14 span=77 orphan=1\n"
		       "row 5 under 0: lane txtrace\n"
		       "5: summary end of the log @21 complete=0 lower_bound_cnt=1 lost_span_event_cnt=0 "
		       "lost_sched_event_cnt=0 "
		       "dropped_record_cnt=0 damaged_bytes=0 damaged_record_cnt=0 "
		       "records(23) span=2 run=0 wake=0 thread=0 attribute=3 instant=1 counter=2 link=1 "
		       "loss=0 open_span=0 summary=0 dropped=0 continued=0 stay=0 object=0 stack=0 frames=0 "
		       "other_run=0 cost=0 process=0 "
		       "trigger=0 overlap=0 damage=0\n");
}

static void a_crash(struct feed *feed)
{
	feed_open_span(feed, .time_ns = 50, .id = 1, .begin_ns = 10, .pid = 7, .tid = 8,
		       .label = feed_string("ends"));
	feed_open_span(feed, .time_ns = 50, .id = 2, .begin_ns = 20, .pid = 7, .tid = 9,
		       .label = feed_string("hangs"), .key = feed_string("K"));
	feed_open_span(feed, .time_ns = 60, .id = 2, .begin_ns = 20, .pid = 7, .tid = 9,
		       .label = feed_string("hangs"));
	feed_span(feed, .id = 1, .pid = 7, .tid = 8, .end_tid = 8, .begin_ns = 10, .end_ns = 70,
		  .label = feed_string("ends"));
	feed_loss(feed, .first_ns = 71, .last_ns = 75, .cpu = 1, .span_event_cnt = 3);
	feed_loss(feed, .first_ns = 72, .last_ns = 73, .cpu = 0, .sched_event_cnt = 4, .pid = 7, .tid = 8);
	feed_damage(feed, .offset_bytes = 8, .length_bytes = 9, .record_cnt = 10, .reason = "cut off");
}

static void losses_damage_and_what_never_ended_are_shown(void **state)
{
	(void)state;
	expect_picture(&with_args, a_crash,
		       "row 1 under 0: process 7 \n"
		       "row 2 under 1: thread 7/8 \n"
		       "2: span ends 10-70 id=1 begin_tid=8 work_ns=0 on_cpu_ns=0 runnable_ns=0 blocked_ns=0 "
		       "detached_ns=0 unknown_ns=0 "
		       "lower_bound=0\n"
		       "row 3 under 0: lane lost events\n"
		       "3: loss lost events 71-75 cpu=1 span_event_cnt=3 sched_event_cnt=0\n"
		       "row 4 under 0: lane lost events\n"
		       "4: loss lost events 72-73 cpu=0 span_event_cnt=0 sched_event_cnt=4 pid=7 tid=8\n"
		       "row 5 under 0: lane txtrace\n"
		       "5: loss damage @75 reason=cut off offset_bytes=8 length_bytes=9 record_cnt=10\n"
		       "row 6 under 1: thread 7/9 \n"
		       "6: span hangs 20-75 id=2 key=K begin_tid=9 end_tid=0 work_ns=55 on_cpu_ns=0 "
		       "runnable_ns=0 blocked_ns=0 detached_ns=0 "
		       "unknown_ns=55 lower_bound=1 unfinished=1 keyed=1\n"
		       "5: summary end of the log @75 complete=0 lower_bound_cnt=0 lost_span_event_cnt=3 "
		       "lost_sched_event_cnt=4 "
		       "dropped_record_cnt=0 damaged_bytes=9 damaged_record_cnt=10 "
		       "records(23) span=1 run=0 wake=0 thread=0 attribute=0 instant=0 counter=0 link=0 "
		       "loss=2 open_span=3 summary=0 dropped=0 continued=0 stay=0 object=0 stack=0 frames=0 "
		       "other_run=0 cost=0 process=0 "
		       "trigger=0 overlap=0 damage=1\n");
}

static void backwards(struct feed *feed)
{
	feed_span(feed, .pid = 7, .tid = 8, .end_tid = 8, .begin_ns = 50, .end_ns = 40,
		  .label = feed_string("a"));
	feed_loss(feed, .first_ns = 60, .last_ns = 10);
	feed_run(feed, .pid = 7, .tid = 8, .begin_ns = 30, .end_ns = 20);
}

static void an_end_before_its_begin_has_no_length(void **state)
{
	(void)state;
	expect_picture(&plain, backwards,
		       "row 1 under 0: process 7 \n"
		       "row 2 under 1: thread 7/8 \n"
		       "2: span a 50-50\n"
		       "row 3 under 0: lane lost events\n"
		       "3: loss lost events 60-60\n"
		       "row 4 under 2: states 7/8 state\n"
		       "row 5 under 0: lane txtrace\n"
		       "5: summary end of the log @60\n");
}

/* ---- limits ---- */

/*
 * Lines that hold it. (A search of the whole text would be checked whole, for each hit, by the address
 * sanitizer.)
 */
static size_t count(const struct feed *feed, const char *containing)
{
	const char *at = feed->bytes, *end = feed->bytes + feed->length, *newline;
	size_t cnt = 0;

	for (; (newline = memchr(at, '\n', (size_t)(end - at))); at = newline + 1)
		cnt += memmem(at, (size_t)(newline - at), containing, strlen(containing)) != NULL;
	return cnt;
}

static void more_threads_than_are_remembered_are_drawn_all_the_same(void **state)
{
	struct feed feed = { .folder = { .fd = -1 } };

	(void)state;
	feed.out = open_memstream(&feed.bytes, &feed.length);
	assert_int_equal(export_open(&feed.export, &plain, feed.out, &feed_info), 0);
	for (uint32_t i = 0; i < 300000; i++) {
		feed_span(&feed, .id = i, .pid = 7, .tid = i, .end_tid = i, .begin_ns = i, .end_ns = i + 1,
			  .label = feed_string("a"));
		if (i % 2)
			feed_thread(&feed, .time_ns = i + 1, .pid = 7, .tid = i, .is_exit = true);
	}
	feed_end(&feed);
	assert_int_equal(count(&feed, ": thread 7/"), 300000);
	assert_int_equal(count(&feed, ": span a "), 300000);
	feed_release(&feed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spans_that_nest_are_on_the_row_of_their_thread),
		cmocka_unit_test(spans_that_wander_or_wait_have_lanes_by_label),
		cmocka_unit_test(a_span_that_was_given_a_track_is_on_a_lane_of_that_name),
		cmocka_unit_test(a_thread_has_a_row_of_states_and_arrows_from_its_wakers),
		cmocka_unit_test(a_span_tells_everything_that_is_known_of_it),
		cmocka_unit_test(losses_damage_and_what_never_ended_are_shown),
		cmocka_unit_test(an_end_before_its_begin_has_no_length),
		cmocka_unit_test(more_threads_than_are_remembered_are_drawn_all_the_same),
	};

	return cmocka_run_group_tests_name("export_picture", tests, NULL, NULL);
}
