/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Recorded streams: every event comes back as it was written, and what is no event is refused with its line.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "event/stream.h"

static struct stream_event_storage storage;

static const struct wire_clocks some_clocks = {
	.born_ns = 1000,
	.on_cpu_ns = 2900,
	.runnable_ns = 100,
	.blocked_ns = { [BLOCK_LOCK] = 1, [BLOCK_SLEEP] = 5000, [BLOCK_OTHER] = UINT64_MAX },
	.unknown_ns = 7,
	.interrupt_ns = 30,
};

#define TEXT(string)                                          \
	{                                                     \
		.bytes = string, .length = sizeof(string) - 1 \
	}

/* An event, and the line that it is written as. */
static const struct {
	struct event event;
	const char *line;
} round_trips[] = {
	{ { .time_ns = 3000,
	    .tid = 11,
	    .tgid = 10,
	    .kind = EVENT_SWITCH,
	    .sched = { .left_as = WIRE_LEFT_BLOCKED,
		       .reason = BLOCK_SLEEP,
		       .syscall_nr = 230,
		       .next_tid = 12,
		       .next_tgid = 10,
		       .next_is_traced = true } },
	  "3000 switch 11/10 0 - left=blocked reason=sleep syscall=230 next=12/10 next_is_traced" },
	{ { .time_ns = 3000,
	    .tid = 11,
	    .tgid = 10,
	    .cpu = 65535,
	    .kind = EVENT_SWITCH,
	    .sched = { .left_as = WIRE_LEFT_BLOCKED, .syscall_nr = 202, .object = 0x7f00deadbeef } },
	  "3000 switch 11/10 65535 - left=blocked reason=lock syscall=202 object=0x7f00deadbeef" },
	{ { .time_ns = 1,
	    .tid = 11,
	    .tgid = 10,
	    .kind = EVENT_SWITCH,
	    .sched = { .left_as = WIRE_LEFT_PREEMPTED, .syscall_nr = -1 } },
	  "1 switch 11/10 0 - left=preempted" },
	{ { .time_ns = 1,
	    .kind = EVENT_SWITCH,
	    .sched = { .syscall_nr = -2, .next_tid = 12, .next_tgid = 10, .next_is_traced = true } },
	  "1 switch 0/0 0 - left=untraced syscall=-2 next=12/10 next_is_traced" },
	{ { .time_ns = 9000,
	    .tid = 900,
	    .tgid = 900,
	    .cpu = 1,
	    .kind = EVENT_SWITCH,
	    .sched = { .syscall_nr = -1,
		       .next_tid = 12,
		       .next_tgid = 10,
		       .next_is_traced = true,
		       .other_ns = 250,
		       .other_comm = TEXT("noisy") } },
	  "9000 switch 900/900 1 - left=untraced next=12/10 next_is_traced had_cpu=250 comm=\"noisy\"" },
	{ { .time_ns = 9000,
	    .tid = 900,
	    .tgid = 900,
	    .cpu = 1,
	    .kind = EVENT_OTHER,
	    .other = { .since_ns = 8000, .comm = TEXT("noisy") } },
	  "9000 other 900/900 1 - since=8000 comm=\"noisy\"" },
	{ { .time_ns = 9000, .kind = EVENT_OTHER, .other = { .since_ns = 8000 } },
	  "9000 other 0/0 0 - since=8000" },
	{ { .time_ns = 9000,
	    .tid = 12,
	    .tgid = 10,
	    .cpu = 1,
	    .kind = EVENT_MOVE,
	    .move = { .since_ns = 8000,
		      .from_cpu = 3,
		      .other_tid = 901,
		      .other_tgid = 900,
		      .other_comm = TEXT("noisy") } },
	  "9000 move 12/10 1 - since=8000 from=3 other=901/900 comm=\"noisy\"" },
	{ { .time_ns = 9000,
	    .tid = 12,
	    .tgid = 10,
	    .cpu = 1,
	    .kind = EVENT_MOVE,
	    .move = { .since_ns = 9000, .is_unknown = true } },
	  "9000 move 12/10 1 - since=9000 from=0 other=0/0 unknown" },
	{ { .time_ns = 8000,
	    .cpu = 1,
	    .kind = EVENT_WAKE,
	    .flags = WIRE_IN_INTERRUPT | WIRE_WAKER_UNKNOWN,
	    .wake = { .wakee_tid = 11, .wakee_tgid = 10, .waker_comm = TEXT("ksoftirqd/1") } },
	  "8000 wake 0/0 1 interrupt+waker_unknown wakee=11/10 waker_comm=\"ksoftirqd/1\"" },
	{ { .time_ns = 8001,
	    .kind = EVENT_WAKE,
	    .flags = WIRE_IN_INTERRUPT | WIRE_BY_TIMER,
	    .wake = { .wakee_tid = 11, .wakee_tgid = 10 } },
	  "8001 wake 0/0 0 interrupt+timer wakee=11/10" },
	{ { .time_ns = 8002,
	    .kind = EVENT_WAKE,
	    .flags = WIRE_IN_INTERRUPT | WIRE_IN_SOFTIRQ,
	    .wake = { .wakee_tid = 11, .wakee_tgid = 10 } },
	  "8002 wake 0/0 0 interrupt+softirq wakee=11/10" },
	{ { .time_ns = 1000,
	    .tid = 11,
	    .tgid = 10,
	    .kind = EVENT_THREAD,
	    .flags = WIRE_IS_SEED,
	    .thread = { .born_ns = 1000,
			.comm = TEXT("bank"),
			.state = WIRE_THREAD_BLOCKED,
			.parent_tgid = 1 } },
	  "1000 thread 11/10 0 seed born=1000 comm=\"bank\" state=blocked reason=lock parent=1" },
	{ { .time_ns = 1000,
	    .tid = 11,
	    .tgid = 10,
	    .kind = EVENT_THREAD,
	    .flags = WIRE_IS_RENAME,
	    .thread = { .born_ns = 5, .comm = TEXT("x y") } },
	  "1000 thread 11/10 0 rename born=5 comm=\"x y\"" },
	{ { .time_ns = 9000,
	    .tid = 11,
	    .tgid = 10,
	    .kind = EVENT_THREAD_EXIT,
	    .flags = WIRE_HAS_CLOCKS,
	    .clocks = &some_clocks },
	  "9000 thread_exit 11/10 0 - born=1000 on_cpu=2900 runnable=100 unknown=7 interrupt=30 "
	  "blocked[lock]=1 blocked[sleep]=5000 blocked[other]=18446744073709551615" },
	{ { .time_ns = 9000,
	    .tid = 11,
	    .tgid = 10,
	    .kind = EVENT_ENTER,
	    .flags = WIRE_HAS_CLOCKS | WIRE_NOT_ARRIVED,
	    .clocks = &some_clocks,
	    .span = { .id = 5 } },
	  "9000 enter 11/10 0 not_arrived id=5 born=1000 on_cpu=2900 runnable=100 unknown=7 interrupt=30 "
	  "blocked[lock]=1 blocked[sleep]=5000 blocked[other]=18446744073709551615" },
	{ { .time_ns = 9000,
	    .tid = 10,
	    .tgid = 10,
	    .kind = EVENT_EXEC,
	    .flags = WIRE_HAS_CLOCKS | WIRE_NO_CLOCKS,
	    .end = { .old_tid = 11 } },
	  "9000 exec 10/10 0 clocks+no_clocks old_tid=11" },
	{ { .time_ns = 2000,
	    .tid = 11,
	    .tgid = 10,
	    .kind = EVENT_BEGIN,
	    .span = { .id = UINT64_MAX, .parent = 4, .label = TEXT("work") } },
	  "2000 begin 11/10 0 - id=18446744073709551615 parent=4 label=\"work\"" },
	{ { .time_ns = 2000,
	    .tid = 11,
	    .tgid = 10,
	    .kind = EVENT_BEGIN_DETACHED,
	    .span = { .id = 5, .label = { .is_unreadable = true } } },
	  "2000 begin_detached 11/10 0 - id=5 label=?" },
	{ { .time_ns = 2000, .tid = 11, .tgid = 10, .kind = EVENT_ENTER, .span = { .id = 0 } },
	  "2000 enter 11/10 0 - id=0" },
	{ { .time_ns = 2000, .tid = 11, .tgid = 10, .kind = EVENT_LEAVE, .span = { .id = 5 } },
	  "2000 leave 11/10 0 - id=5" },
	{ { .time_ns = UINT64_MAX,
	    .tid = UINT32_MAX,
	    .tgid = UINT32_MAX,
	    .kind = EVENT_END,
	    .span = { .id = 5 } },
	  "18446744073709551615 end 4294967295/4294967295 0 - id=5" },
	{ { .time_ns = 2000,
	    .tid = 11,
	    .tgid = 10,
	    .kind = EVENT_TAG,
	    .flags = WIRE_IS_TRUNCATED,
	    .mark = { .id = 5,
		      .text = { .bytes = "a=\"1\",\\\n\t\x01\x7f\xff",
				.length = 12,
				.is_truncated = true } } },
	  "2000 tag 11/10 0 truncated id=5 text=\"a=\\\"1\\\",\\\\\\n\\t\\x01\\x7f\\xff\"~" },
	{ { .time_ns = 2000,
	    .tid = 11,
	    .tgid = 10,
	    .kind = EVENT_ATTR,
	    .mark = { .id = 5, .name = TEXT("bytes"), .type = ATTR_UINT, .value = 255 } },
	  "2000 attr 11/10 0 - id=5 name=\"bytes\" type=uint value=0xff" },
	{ { .time_ns = 2000,
	    .tid = 11,
	    .tgid = 10,
	    .kind = EVENT_ATTR,
	    .mark = { .id = 5, .name = TEXT("n"), .type = UINT32_MAX, .text = TEXT("s") } },
	  "2000 attr 11/10 0 - id=5 name=\"n\" type=4294967295 text=\"s\"" },
	{ { .time_ns = 2000,
	    .tid = 11,
	    .tgid = 10,
	    .kind = EVENT_INSTANT,
	    .mark = { .id = 5, .name = TEXT("") } },
	  "2000 instant 11/10 0 - id=5 name=\"\"" },
	{ { .time_ns = 2000,
	    .tid = 11,
	    .tgid = 10,
	    .kind = EVENT_COUNTER,
	    .mark = { .value = (uint64_t)INT64_MIN, .name = TEXT("queue") } },
	  "2000 counter 11/10 0 - name=\"queue\" value=-9223372036854775808" },
	{ { .time_ns = 2000,
	    .tid = 11,
	    .tgid = 10,
	    .kind = EVENT_LINK,
	    .mark = { .id = 5, .value = 6, .name = TEXT("caused-by") } },
	  "2000 link 11/10 0 - id=5 to=6 name=\"caused-by\"" },
	{ { .time_ns = 2000,
	    .tid = 11,
	    .tgid = 10,
	    .kind = EVENT_KEY_BEGIN,
	    .flags = WIRE_HAS_CLOCKS,
	    .clocks = &some_clocks,
	    .keyed = { .key = { .bytes = "\x00\x01k", .length = 3 }, .name = TEXT("order") } },
	  "2000 key_begin 11/10 0 - key=\"\\x00\\x01k\" name=\"order\" born=1000 on_cpu=2900 runnable=100 "
	  "unknown=7 interrupt=30 "
	  "blocked[lock]=1 blocked[sleep]=5000 blocked[other]=18446744073709551615" },
	{ { .time_ns = 2000,
	    .kind = EVENT_KEY_ENTER,
	    .flags = WIRE_IS_UNREADABLE,
	    .keyed = { .key = { .is_unreadable = true } } },
	  "2000 key_enter 0/0 0 unreadable key=?" },
	{ { .time_ns = 2000, .kind = EVENT_KEY_LEAVE, .keyed = { .key = TEXT("k") } },
	  "2000 key_leave 0/0 0 - key=\"k\"" },
	{ { .time_ns = 2000, .kind = EVENT_KEY_END, .keyed = { .key = TEXT("k") } },
	  "2000 key_end 0/0 0 - key=\"k\"" },
	{ { .time_ns = 2000,
	    .kind = EVENT_KEY_INSTANT,
	    .keyed = { .key = TEXT("k"), .name = TEXT("enqueued") } },
	  "2000 key_instant 0/0 0 - key=\"k\" name=\"enqueued\"" },
	{ { .time_ns = 2000,
	    .tid = 10,
	    .tgid = 10,
	    .kind = EVENT_PROCESS,
	    .process = { .start_ns = 7,
			 .parent_tgid = 9,
			 .inner_pid = 1,
			 .reasons = 2,
			 .change = WIRE_PROCESS_FORKED,
			 .comm = TEXT("sh") } },
	  "2000 process 10/10 0 - change=forked reasons=2 start=7 parent=9 inner_pid=1 comm=\"sh\"" },
	{ { .time_ns = 2000,
	    .tid = 11,
	    .tgid = 10,
	    .kind = EVENT_VALUE,
	    .mark = { .id = 5, .name = TEXT("lxid"), .type = ATTR_UINT, .value = 255 } },
	  "2000 value 11/10 0 - id=5 name=\"lxid\" type=uint value=0xff" },
	{ { .time_ns = 2000, .tid = 11, .tgid = 10, .kind = EVENT_ABANDON, .span = { .id = 5 } },
	  "2000 abandon 11/10 0 - id=5" },
	{ { .time_ns = 2000,
	    .cpu = 3,
	    .kind = EVENT_LOSS,
	    .loss = { .last_ns = 2500, .span_event_cnt = 1, .sched_event_cnt = 20, .kinds = 0x400002 } },
	  "2000 loss 0/0 3 - last=2500 span_events=1 sched_events=20 kinds=0x400002" },
};

#define ROUND_TRIP_CNT (sizeof(round_trips) / sizeof(round_trips[0]))

static void assert_text_equal(const struct event_text *a, const struct event_text *b)
{
	assert_int_equal(a->length, b->length);
	if (a->length)
		assert_memory_equal(a->bytes, b->bytes, a->length);
	assert_int_equal(a->is_truncated, b->is_truncated);
	assert_int_equal(a->is_unreadable, b->is_unreadable);
}

/* What one has in a string, the other has, too; from then on neither has it. */
static void take_equal(struct event_text *a, struct event_text *b)
{
	assert_text_equal(a, b);
	*a = *b = (struct event_text){ 0 };
}

static void take_equal_texts(struct event *a, struct event *b)
{
	switch (a->kind) {
	case EVENT_WAKE:
		take_equal(&a->wake.waker_comm, &b->wake.waker_comm);
		break;
	case EVENT_THREAD:
		take_equal(&a->thread.comm, &b->thread.comm);
		break;
	case EVENT_PROCESS:
		take_equal(&a->process.comm, &b->process.comm);
		take_equal(&a->process.path, &b->process.path);
		break;
	case EVENT_SWITCH:
		take_equal(&a->sched.other_comm, &b->sched.other_comm);
		break;
	case EVENT_OTHER:
		take_equal(&a->other.comm, &b->other.comm);
		break;
	case EVENT_MOVE:
		take_equal(&a->move.other_comm, &b->move.other_comm);
		break;
	case EVENT_LOSS:
		break;
	case EVENT_TAG:
	case EVENT_ATTR:
	case EVENT_VALUE:
	case EVENT_INSTANT:
	case EVENT_COUNTER:
	case EVENT_LINK:
		take_equal(&a->mark.name, &b->mark.name);
		take_equal(&a->mark.text, &b->mark.text);
		break;
	default:
		if (a->kind >= EVENT_KEY_BEGIN) {
			take_equal(&a->keyed.key, &b->keyed.key);
			take_equal(&a->keyed.name, &b->keyed.name);
		} else {
			take_equal(&a->span.label, &b->span.label);
		}
	}
}

/*
 * What an event says, without the addresses of its strings. Kinds use different members: all of them are
 * compared.
 */
static void assert_event_equal(const struct event *a, const struct event *b)
{
	struct event x = *a, y = *b;

	take_equal_texts(&x, &y);
	assert_int_equal(!a->clocks, !b->clocks);
	if (a->clocks)
		assert_memory_equal(a->clocks, b->clocks, sizeof(*a->clocks));
	x.clocks = y.clocks = NULL;
	assert_int_equal(x.time_ns, y.time_ns);
	assert_int_equal(x.tid, y.tid);
	assert_int_equal(x.tgid, y.tgid);
	assert_int_equal(x.cpu, y.cpu);
	assert_int_equal(x.kind, y.kind);
	assert_int_equal(x.flags, y.flags);
	assert_memory_equal(&x.sched, &y.sched, sizeof(x) - offsetof(struct event, sched));
}

static char *written(const struct event *event, size_t *length)
{
	char *bytes = NULL;
	FILE *out = open_memstream(&bytes, length);

	assert_non_null(out);
	assert_int_equal(stream_write_event(out, event), 0);
	fclose(out);
	return bytes;
}

/* Reads one event out of these bytes. The strings of the event are in `storage`. */
static int read_bytes(const char *bytes, size_t length, struct event *event)
{
	FILE *in = fmemopen((void *)bytes, length, "r");
	int result;

	assert_non_null(in);
	memset(&storage, 0, sizeof(storage));
	result = stream_read(in, &storage, event);
	fclose(in);
	return result;
}

static void every_kind_comes_back_as_it_was_written(void **state)
{
	bool was_seen[EVENT_LOSS + 1] = { false };

	(void)state;
	for (size_t i = 0; i < ROUND_TRIP_CNT; i++) {
		struct event event;
		size_t length;
		char *line = written(&round_trips[i].event, &length);

		assert_int_equal(line[length - 1], '\n');
		line[length - 1] = 0;
		assert_string_equal(line, round_trips[i].line);
		assert_int_equal(read_bytes(line, length - 1, &event), 1);
		assert_event_equal(&event, &round_trips[i].event);
		was_seen[event.kind] = true;
		free(line);
	}
	for (int kind = EVENT_SWITCH; kind <= EVENT_EXEC; kind++)
		assert_true(was_seen[kind]);
	for (int kind = EVENT_BEGIN; kind <= EVENT_KEY_INSTANT; kind++)
		assert_true(was_seen[kind]);
	assert_true(was_seen[EVENT_LOSS]);
}

static void any_byte_and_the_longest_string_come_back(void **state)
{
	char bytes[STREAM_TEXT_MAX];
	struct event event = {
		.kind = EVENT_ATTR,
		.mark = { .type = ATTR_STRING,
			  .name = { bytes, sizeof(bytes), true, false },
			  .text = { bytes, sizeof(bytes), false, false } },
	};
	struct event back;
	size_t length;
	char *line;

	(void)state;
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = i;
	line = written(&event, &length);
	assert_true(length < STREAM_LINE_MAX);
	assert_int_equal(read_bytes(line, length, &back), 1);
	assert_event_equal(&back, &event);
	free(line);
}

static void what_has_no_line_is_not_written(void **state)
{
	static char bytes[STREAM_TEXT_MAX + 1];
	const struct event cases[] = {
		{ .kind = 0 },
		{ .kind = 31 },
		{ .kind = 200 },
		{ .kind = EVENT_SWITCH, .sched = { .left_as = 5 } },
		{ .kind = EVENT_SWITCH, .sched = { .reason = BLOCK_REASON_COUNT } },
		{ .kind = EVENT_SWITCH, .clocks = &some_clocks },
		{ .kind = EVENT_TAG, .mark = { .text = { bytes, sizeof(bytes), false, false } } },
	};
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(stream_write_event(out, &cases[i]), -EINVAL);
	fclose(out);
	free(text);
}

static void a_full_disk_is_said(void **state)
{
	FILE *out = fopen("/dev/full", "w");
	int err = 0;

	(void)state;
	assert_non_null(out);
	for (int i = 0; !err && i < 1000; i++)
		err = stream_write_event(out, &round_trips[0].event);
	assert_int_equal(err, -EIO);
	fclose(out);
}

static void comments_and_empty_lines_are_skipped(void **state)
{
	static const char bytes[] = "# one\n\n5 end 1/1 0 - id=1\n#\n\n7 end 1/1 0 - id=2";
	FILE *in = fmemopen((void *)bytes, sizeof(bytes) - 1, "r");
	struct event event;

	(void)state;
	memset(&storage, 0, sizeof(storage));
	assert_int_equal(stream_read(in, &storage, &event), 1);
	assert_int_equal(event.time_ns, 5);
	assert_int_equal(stream_read(in, &storage, &event), 1);
	assert_int_equal(event.time_ns, 7); /* the last line needs no newline */
	assert_int_equal(stream_read(in, &storage, &event), 0);
	assert_int_equal(stream_read(in, &storage, &event), 0);
	assert_int_equal(storage.line_cnt, 6);
	fclose(in);
}

static const struct {
	const char *line, *sentence;
} no_events[] = {
	{ "x", "'x' is no number up to 18446744073709551615" },
	{ "-1 end 1/1 0 - id=1", "'-1' is no number up to 18446744073709551615" },
	{ "+1 end 1/1 0 - id=1", "'+1' is no number up to 18446744073709551615" },
	{ " 1 end 1/1 0 - id=1", "'' is no number up to 18446744073709551615" },
	{ "18446744073709551616 end 1/1 0 - id=1",
	  "'18446744073709551616' is no number up to 18446744073709551615" },
	{ "1", "it ends early: time, kind, tid/tgid, cpu and flags come first" },
	{ "1 end", "it ends early: time, kind, tid/tgid, cpu and flags come first" },
	{ "1 end 1/1 0", "it ends early: time, kind, tid/tgid, cpu and flags come first" },
	{ "1 stop 1/1 0 - id=1", "there is no event 'stop'" },
	{ "1  end 1/1 0 - id=1", "there is no event ''" },
	{ "1 end 1 0 - id=1", "a thread is written tid/tgid" },
	{ "1 end 1/4294967296 0 - id=1", "'4294967296' is no number up to 4294967295" },
	{ "1 end 1/1 65536 - id=1", "'65536' is no number up to 65535" },
	{ "1 end 1/1 0 blue id=1", "there is no flag 'blue'" },
	{ "1 end 1/1 0 not_arrived+ id=1", "there is no flag ''" },
	{ "1 end 1/1 0 -x id=1", "a field ends at 'x id=1', where a blank belongs" },
	{ "1 end 1/1 0 - ", "end has no field ''" },
	{ "1 end 1/1 0 - id", "id lacks =value" },
	{ "1 end 1/1 0 - id=", "'' is no number up to 18446744073709551615" },
	{ "1 end 1/1 0 - id=1x", "'1x' is no number up to 18446744073709551615" },
	{ "1 end 1/1 0 - id=1 id=1", "id is given twice" },
	{ "1 end 1/1 0 - id=1 colour=1", "end has no field 'colour'" },
	{ "1 end 1/1 0 - id=1 on_cpu=5", "clocks lack born=" },
	{ "1 end 1/1 0 - id=1 born=1 blocked[sleep]=1 blocked[sleep]=1", "blocked[sleep] is given twice" },
	{ "1 end 1/1 0 - id=1 born=1 blocked[fun]=1", "end has no field 'blocked[fun]'" },
	{ "1 end 1/1 0 - id=1 born=1 blocked[]=1", "end has no field 'blocked[]'" },
	{ "1 tag 1/1 0 - id=1 born=1", "tag has no field 'born'" },
	{ "1 tag 1/1 0 - id=1 text=abc", "a string begins with \", or is ?" },
	{ "1 tag 1/1 0 - id=1 text=\"abc", "a string does not end" },
	{ "1 tag 1/1 0 - id=1 text=\"abc\\", "an escape is" },
	{ "1 tag 1/1 0 - id=1 text=\"\\x4\"", "an escape is" },
	{ "1 tag 1/1 0 - id=1 text=\"\\x", "an escape is" },
	{ "1 tag 1/1 0 - id=1 text=\"\\q\"", "an escape is" },
	{ "1 tag 1/1 0 - id=1 text=\"a\"b", "a field ends at 'b', where a blank belongs" },
	{ "1 switch 1/1 0 - left=gone", "'gone' is nothing that left can be" },
	{ "1 switch 1/1 0 - left=2", "'2' is nothing that left can be" },
	{ "1 switch 1/1 0 - next_is_traced=1", "next_is_traced has no value" },
	{ "1 switch 1/1 0 - syscall=2147483648", "'2147483648' is no number up to 2147483647" },
	{ "1 switch 1/1 0 - object=255", "object is written 0x" },
	{ "1 switch 1/1 0 - object=0x", "'' is no number up to 18446744073709551615" },
	{ "1 switch 1/1 0 - object=0x0x1", "'0x1' is no number up to 18446744073709551615" },
	{ "1 counter 1/1 0 - name=\"n\" value=--1", "'-1' is no number up to 9223372036854775808" },
	{ "1 counter 1/1 0 - name=\"n\" value=9223372036854775808",
	  "'9223372036854775808' is no number up to 9223372036854775807" },
};

static void what_is_no_event_is_refused_with_its_line(void **state)
{
	struct event event;

	(void)state;
	for (size_t i = 0; i < sizeof(no_events) / sizeof(no_events[0]); i++) {
		char bytes[256];
		int length = snprintf(bytes, sizeof(bytes), "\n%s\n", no_events[i].line);

		assert_int_equal(read_bytes(bytes, length, &event), -EBADMSG);
		assert_memory_equal(storage.error.text, "line 2: ", 8);
		if (strncmp(storage.error.text + 8, no_events[i].sentence, strlen(no_events[i].sentence)))
			fail_msg("'%s': '%s' instead of '%s'", no_events[i].line, storage.error.text,
				 no_events[i].sentence);
	}
}

static void lines_without_end_and_nul_bytes_are_refused_and_passed_by(void **state)
{
	static char bytes[3 * STREAM_LINE_MAX];
	static const char good[] = "\n5 end 1/1 0 - id=1\n5 end 1/1\0 0 - id=1\n6 end 1/1 0 - id=1\n";
	FILE *in = fmemopen(bytes, sizeof(bytes), "r");
	struct event event;

	(void)state;
	memset(bytes, '#', sizeof(bytes));
	memcpy(bytes + 2 * STREAM_LINE_MAX, good, sizeof(good) - 1);
	memset(&storage, 0, sizeof(storage));
	assert_int_equal(stream_read(in, &storage, &event), -EBADMSG);
	assert_string_equal(storage.error.text, "line 1: it is longer than 8404992 bytes");
	assert_int_equal(stream_read(in, &storage, &event), 1);
	assert_int_equal(event.time_ns, 5);
	assert_int_equal(stream_read(in, &storage, &event), -EBADMSG);
	assert_string_equal(storage.error.text, "line 3: it holds a NUL byte");
	assert_int_equal(stream_read(in, &storage, &event), 1);
	assert_int_equal(event.time_ns, 6);
	fclose(in);
}

/*
 * Whatever is done to a line, it is refused, or it is an event: written, read and written again, it stays the
 * same line.
 */
static void a_spoiled_line_is_refused_or_means_something(void **state)
{
	uint64_t random = 1;
	unsigned int refused = 0, read = 0;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		const char *line = round_trips[round % ROUND_TRIP_CNT].line;
		char bytes[512], *once, *again;
		size_t length = strlen(line), once_length, again_length;
		struct event event;

		memcpy(bytes, line, length);
		random = random * 6364136223846793005u + 1442695040888963407u;
		bytes[(random >> 33) % length] = random >> 40 & 1 ? line[(random >> 41) % length]
								  : (char)(random >> 56);
		if (read_bytes(bytes, length, &event) != 1) {
			refused++;
			continue;
		}
		read++;
		once = written(&event, &once_length);
		assert_int_equal(read_bytes(once, once_length, &event), 1);
		again = written(&event, &again_length);
		assert_string_equal(once, again);
		free(once);
		free(again);
	}
	assert_true(refused > 1000);
	assert_true(read > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_comes_back_as_it_was_written),
		cmocka_unit_test(any_byte_and_the_longest_string_come_back),
		cmocka_unit_test(what_has_no_line_is_not_written),
		cmocka_unit_test(a_full_disk_is_said),
		cmocka_unit_test(comments_and_empty_lines_are_skipped),
		cmocka_unit_test(what_is_no_event_is_refused_with_its_line),
		cmocka_unit_test(lines_without_end_and_nul_bytes_are_refused_and_passed_by),
		cmocka_unit_test(a_spoiled_line_is_refused_or_means_something),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
