/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Logs of every version of the format, as its own writer wrote them, are read. tests/golden/README.md tells
 * how the files came to be; "test_log_golden make FOLDER" writes those of this version.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "unit/log_samples.h"

#define FOLDER "tests/golden"

enum content {
	EXAMPLE,
	EXTREME_VALUES,
	RANDOM_WORLD,
	EXPECTED_VALUES,
	WAKES,
	COSTS,
	NEIGHBOURS,
	PROCESSES,
	CODE_STACKS,
	FLIGHT,
	OVERLAPS,
	POLLS,
	STOLEN,
};

/* What the golden logs hold, and the text beside them. */
static const struct golden {
	const char *log;
	const char *text;
	enum content content;
	enum log_codec codec;
	uint16_t minor; /* version of the format */
} goldens[] = {
	{ "log-1.0-example-none.txtrace", "log-1.0-example.txt", EXAMPLE, LOG_CODEC_NONE, 0 },
	{ "log-1.0-extreme-none.txtrace", "log-1.0-extreme.txt", EXTREME_VALUES, LOG_CODEC_NONE, 0 },
	{ "log-1.0-world-zstd.txtrace", "log-1.0-world.txt", RANDOM_WORLD, LOG_CODEC_ZSTD, 0 },
	{ "log-1.0-world-lz4.txtrace", "log-1.0-world.txt", RANDOM_WORLD, LOG_CODEC_LZ4, 0 },
	{ "log-1.0-expected-zstd.txtrace", "log-1.0-expected.txt", EXPECTED_VALUES, LOG_CODEC_ZSTD, 0 },
	{ "log-1.1-wakes-none.txtrace", "log-1.1-wakes.txt", WAKES, LOG_CODEC_NONE, 1 },
	{ "log-1.1-cost-none.txtrace", "log-1.1-cost.txt", COSTS, LOG_CODEC_NONE, 1 },
	{ "log-1.1-neighbours-none.txtrace", "log-1.1-neighbours.txt", NEIGHBOURS, LOG_CODEC_NONE, 1 },
	{ "log-1.1-process-none.txtrace", "log-1.1-process.txt", PROCESSES, LOG_CODEC_NONE, 1 },
	{ "log-1.1-flight-none.txtrace", "log-1.1-flight.txt", FLIGHT, LOG_CODEC_NONE, 1 },
	{ "log-1.1-stacks-none.txtrace", "log-1.1-stacks.txt", CODE_STACKS, LOG_CODEC_NONE, 1 },
	{ "log-1.2-overlap-none.txtrace", "log-1.2-overlap.txt", OVERLAPS, LOG_CODEC_NONE, 2 },
	{ "log-1.2-polls-none.txtrace", "log-1.2-polls.txt", POLLS, LOG_CODEC_NONE, 2 },
	{ "log-1.3-stolen-none.txtrace", "log-1.3-stolen.txt", STOLEN, LOG_CODEC_NONE, 3 },
};

#define GOLDEN_CNT (sizeof(goldens) / sizeof(goldens[0]))

static char *read_text(const char *path)
{
	FILE *in = fopen(path, "r");
	char *text = calloc(1, SAMPLE_LINE_BYTES);

	assert_non_null(in);
	assert_in_range(fread(text, 1, SAMPLE_LINE_BYTES - 1, in), 1, SAMPLE_LINE_BYTES - 2);
	fclose(in);
	return text;
}

static void golden_logs_are_read(void **state)
{
	char path[4096];

	(void)state;
	for (size_t i = 0; i < GOLDEN_CNT; i++) {
		unsigned int damage_cnt = 0;
		char *expected, *text;

		snprintf(path, sizeof(path), FOLDER "/%s", goldens[i].text);
		expected = read_text(path);
		snprintf(path, sizeof(path), FOLDER "/%s", goldens[i].log);
		text = read_sample(path, &damage_cnt);
		assert_int_equal(damage_cnt, 0);
		assert_string_equal(text, expected);
		free(text);
		free(expected);
	}
}

static void golden_headers_are_read(void **state)
{
	char path[4096];

	(void)state;
	for (size_t i = 0; i < GOLDEN_CNT; i++) {
		const struct txtrace_log_info *info;
		struct txtrace_log *log;

		snprintf(path, sizeof(path), FOLDER "/%s", goldens[i].log);
		assert_int_equal(txtrace_log_open(&log, path), 0);
		info = txtrace_log_info(log);
		assert_int_equal(info->version_major, 1);
		assert_int_equal(info->version_minor, goldens[i].minor);
		assert_memory_equal(info->capture_id, sample_info.capture_id, 16);
		assert_string_equal(info->command, sample_info.command);
		assert_string_equal(info->options, sample_info.options);
		txtrace_log_close(log);
	}
}

/*
 * The log that docs/log-format.md takes apart: a thread works, is pushed off, and works on until the span is
 * done.
 */
static const struct txtrace_record example[] = {
	{ .kind = TXTRACE_RECORD_RUN,
	  .run = { .tid = 7,
		   .pid = 7,
		   .cpu = 1,
		   .begin_ns = 3600000001000,
		   .end_ns = 3600000001500,
		   .left_as = TXTRACE_LEFT_PREEMPTED,
		   .syscall_nr = -1 } },
	{ .kind = TXTRACE_RECORD_SPAN,
	  .span = { .id = 5,
		    .pid = 7,
		    .tid = 7,
		    .end_tid = 7,
		    .begin_ns = 3600000001400,
		    .end_ns = 3600000002100,
		    .work_ns = 700,
		    .ledger = { .on_cpu_ns = 400, .runnable_ns = 300 },
		    .label = STRING("pay"),
		    .tag = STRING("k=1") } },
};

/*
 * Spans, a stay and their times that follow from the records before, in every way that there is: by a CPU
 * that became free, by what another span told, by the first mark of a span, by its children, by when the
 * thread was ready.
 */
#define MOMENT(ns) (3600000000000 + (ns))

static const struct txtrace_record expected_values[] = {
	{ .kind = TXTRACE_RECORD_RUN,
	  .run = { .tid = 7,
		   .pid = 7,
		   .begin_ns = MOMENT(1000),
		   .end_ns = MOMENT(2000),
		   .left_as = TXTRACE_LEFT_BLOCKED,
		   .syscall_nr = 202,
		   .object = 64 } },
	{ .kind = TXTRACE_RECORD_WAKE,
	  .wake = { .time_ns = MOMENT(2500), .tid = 7, .pid = 7, .waker_tid = 8, .waker_pid = 7 } },
	{ .kind = TXTRACE_RECORD_RUN,
	  .run = { .tid = 8,
		   .pid = 7,
		   .begin_ns = MOMENT(2000),
		   .end_ns = MOMENT(3000),
		   .left_as = TXTRACE_LEFT_PREEMPTED,
		   .syscall_nr = -1 } },
	{ .kind = TXTRACE_RECORD_SPAN, /* thread 7 got the CPU when thread 8 left it */
	  .span = { .id = 11,
		    .parent = 10,
		    .pid = 7,
		    .tid = 7,
		    .end_tid = 7,
		    .begin_ns = MOMENT(1500),
		    .end_ns = MOMENT(3400),
		    .work_ns = 1900,
		    .ledger = { .on_cpu_ns = 900, .runnable_ns = 500, .blocked_ns = { 500 } },
		    .label = STRING("inner") } },
	{ .kind = TXTRACE_RECORD_SPAN, /* which the one before has told */
	  .span = { .id = 12,
		    .parent = 10,
		    .pid = 7,
		    .tid = 7,
		    .end_tid = 7,
		    .begin_ns = MOMENT(1400),
		    .end_ns = MOMENT(3500),
		    .work_ns = 2100,
		    .ledger = { .on_cpu_ns = 1100, .runnable_ns = 500, .blocked_ns = { 500 } },
		    .label = STRING("inner") } },
	{ .kind = TXTRACE_RECORD_ATTRIBUTE,
	  .attribute = { .time_ns = MOMENT(3550),
			 .span = 20,
			 .pid = 7,
			 .tid = 7,
			 .type = TXTRACE_ATTRIBUTE_UINT,
			 .value = 9,
			 .name = STRING("n") } },
	{ .kind = TXTRACE_RECORD_RUN, /* and so has its begin been told: it is on another CPU */
	  .run = { .tid = 7,
		   .pid = 7,
		   .cpu = 1,
		   .begin_ns = MOMENT(3000),
		   .end_ns = MOMENT(3600),
		   .blocked_ns = 500,
		   .runnable_ns = 500,
		   .left_as = TXTRACE_LEFT_YIELDED,
		   .syscall_nr = -1 } },
	{ .kind = TXTRACE_RECORD_SPAN, /* the sums of 11 and 12, and a bit */
	  .span = { .id = 10,
		    .pid = 7,
		    .tid = 9,
		    .end_tid = 9,
		    .flags = TXTRACE_SPAN_MOVED,
		    .begin_ns = MOMENT(1300),
		    .end_ns = MOMENT(3700),
		    .work_ns = 4105,
		    .ledger = { .on_cpu_ns = 2005,
				.runnable_ns = 1000,
				.blocked_ns = { 1000 },
				.detached_ns = 100 },
		    .label = STRING("outer") } },
	{ .kind = TXTRACE_RECORD_SPAN, /* begun 10 ns before its mark */
	  .span = { .id = 20,
		    .pid = 7,
		    .tid = 7,
		    .end_tid = 7,
		    .begin_ns = MOMENT(3540),
		    .end_ns = MOMENT(3800),
		    .work_ns = 260,
		    .ledger = { .on_cpu_ns = 260 },
		    .label = STRING("marked") } },
	{ .kind = TXTRACE_RECORD_STAY,
	  .stay = { .enter_ns = MOMENT(3100),
		    .exit_ns = MOMENT(3850),
		    .span = 40,
		    .span_pid = 7,
		    .pid = 7,
		    .tid = 7 } },
	{ .kind = TXTRACE_RECORD_STAY, /* in the same span, soon after the last */
	  .stay = { .enter_ns = MOMENT(3860),
		    .exit_ns = MOMENT(3990),
		    .span = 40,
		    .span_pid = 7,
		    .pid = 7,
		    .tid = 7 } },
	{ .kind = TXTRACE_RECORD_SPAN, /* ready at once, 200 ns before it ran: which nothing else says */
	  .span = { .id = 30,
		    .pid = 7,
		    .tid = 8,
		    .end_tid = 8,
		    .begin_ns = MOMENT(2500),
		    .end_ns = MOMENT(4000),
		    .work_ns = 1500,
		    .ledger = { .on_cpu_ns = 1300, .runnable_ns = 200 },
		    .label = STRING("pushed") } },
};

/* Flags of wakes since 1.1. */
static const struct txtrace_record wakes[] = {
	{ .kind = TXTRACE_RECORD_WAKE,
	  .wake = { .time_ns = MOMENT(1000),
		    .tid = 7,
		    .pid = 7,
		    .flags = TXTRACE_WAKE_INTERRUPT | TXTRACE_WAKE_TIMER } },
	{ .kind = TXTRACE_RECORD_WAKE,
	  .wake = { .time_ns = MOMENT(1200),
		    .tid = 8,
		    .pid = 7,
		    .cpu = 1,
		    .flags = TXTRACE_WAKE_INTERRUPT | TXTRACE_WAKE_SOFTIRQ,
		    .span = 5 } },
	{ .kind = TXTRACE_RECORD_WAKE,
	  .wake = { .time_ns = MOMENT(1300),
		    .tid = 8,
		    .pid = 7,
		    .cpu = 1,
		    .flags = TXTRACE_WAKE_INTERRUPT | TXTRACE_WAKE_TIMER | TXTRACE_WAKE_SPAN_KEYED,
		    .span = 5 } },
};

/* What tracing cost, told by two files of a capture, and that some of it was dropped. */
static const struct txtrace_record costs[] = {
	{ .kind = TXTRACE_RECORD_COST,
	  .cost = { .time_ns = MOMENT(1000000),
		    .since_ns = MOMENT(0),
		    .event = STRING("begin"),
		    .event_cnt = 1000,
		    .timed_event_cnt = 100,
		    .timed_run_cnt = 100,
		    .timed_run_ns = 21000,
		    .entry_ps = 612500,
		    .empty_run_ps = 38000,
		    .calibration_cnt = 4096,
		    .entry = TXTRACE_COST_ENTRY_TRAP } },
	{ .kind = TXTRACE_RECORD_COST,
	  .cost = { .time_ns = MOMENT(1000000),
		    .since_ns = MOMENT(0),
		    .event = STRING("switch"),
		    .event_cnt = 300,
		    .timed_event_cnt = 30,
		    .timed_run_cnt = 90,
		    .timed_run_ns = 9000,
		    .entry_ps = 24100,
		    .empty_run_ps = 38000,
		    .idle_run_ps = 61000,
		    .calibration_cnt = 8192,
		    .entry = TXTRACE_COST_ENTRY_TRACEPOINT } },
	{ .kind = TXTRACE_RECORD_COST,
	  .cost = { .time_ns = MOMENT(1000000),
		    .since_ns = MOMENT(0),
		    .event_cnt = 1300,
		    .timed_run_ns = 100000,
		    .cpu_ns = 40000,
		    .ring_bytes = 65536,
		    .log_bytes = 4321 } },
	{ .kind = TXTRACE_RECORD_COST,
	  .cost = { .time_ns = MOMENT(1500000),
		    .since_ns = MOMENT(1000000),
		    .event = STRING("begin"),
		    .event_cnt = 7,
		    .entry = TXTRACE_COST_ENTRY_CALL } },
	{ .kind = TXTRACE_RECORD_COST }, /* all that is not known */
	{ .kind = TXTRACE_RECORD_DROPPED,
	  .dropped = { .time_ns = MOMENT(1600000),
		       .first_ns = MOMENT(1550000),
		       .last_ns = MOMENT(1600000),
		       .batch_cnt = 1,
		       .record_cnt = { [TXTRACE_RECORD_SPAN] = 3, [TXTRACE_RECORD_COST] = 2 } } },
};

/*
 * Who had the CPUs that threads waited for, in each way in which that is told, and a span that interrupts
 * took a part of.
 */
static const struct txtrace_record neighbours[] = {
	{ .kind = TXTRACE_RECORD_RUN,
	  .run = { .tid = 7,
		   .pid = 7,
		   .cpu = 1,
		   .begin_ns = MOMENT(1000),
		   .end_ns = MOMENT(2000),
		   .left_as = TXTRACE_LEFT_PREEMPTED } },
	/* It follows at once. */
	{ .kind = TXTRACE_RECORD_OTHER_RUN,
	  .other_run = { .begin_ns = MOMENT(2000),
			 .end_ns = MOMENT(2600),
			 .tid = 900,
			 .pid = 900,
			 .cpu = 1,
			 .comm = STRING("noisy") } },
	{ .kind = TXTRACE_RECORD_OTHER_RUN,
	  .other_run = { .begin_ns = MOMENT(2600),
			 .end_ns = MOMENT(2650),
			 .tid = 15,
			 .pid = 15,
			 .cpu = 1,
			 .comm = STRING("kworker/1:0") } },
	/* The thread waited on CPU 0, was moved, and found CPU 1 idle for a part of the rest. */
	{ .kind = TXTRACE_RECORD_OTHER_RUN,
	  .other_run = { .begin_ns = MOMENT(2500),
			 .end_ns = MOMENT(2700),
			 .tid = 901,
			 .pid = 900,
			 .moved_tid = 8,
			 .moved_pid = 7,
			 .comm = STRING("noisy") } },
	{ .kind = TXTRACE_RECORD_RUN,
	  .run = { .tid = 8,
		   .pid = 7,
		   .cpu = 1,
		   .begin_ns = MOMENT(2900),
		   .end_ns = MOMENT(3000),
		   .runnable_ns = 400,
		   .idle_ns = 150,
		   .left_as = TXTRACE_LEFT_YIELDED } },
	/* Woken on an idle CPU: all of the time was the wakeup's. */
	{ .kind = TXTRACE_RECORD_RUN,
	  .run = { .tid = 7,
		   .pid = 7,
		   .cpu = 1,
		   .begin_ns = MOMENT(3100),
		   .end_ns = MOMENT(3900),
		   .runnable_ns = 1100,
		   .idle_ns = 1100,
		   .left_as = TXTRACE_LEFT_YIELDED } },
	{ .kind = TXTRACE_RECORD_RUN,
	  .run = { .tid = 8,
		   .pid = 7,
		   .cpu = 1,
		   .begin_ns = MOMENT(4000),
		   .end_ns = MOMENT(4100),
		   .runnable_ns = 1000,
		   .idle_ns = 1000,
		   .left_as = TXTRACE_LEFT_YIELDED } },
	/* It was idle, and somebody else came first; then nobody knows. */
	{ .kind = TXTRACE_RECORD_OTHER_RUN,
	  .other_run = { .begin_ns = MOMENT(4100), .end_ns = MOMENT(4150), .cpu = 2 } },
	{ .kind = TXTRACE_RECORD_OTHER_RUN,
	  .other_run = { .begin_ns = MOMENT(4200),
			 .end_ns = MOMENT(4200),
			 .cpu = 3,
			 .flags = TXTRACE_OTHER_RUN_NOBODY_KNOWN,
			 .moved_tid = 8,
			 .moved_pid = 7 } },
	{ .kind = TXTRACE_RECORD_SPAN,
	  .span = { .id = 5,
		    .pid = 7,
		    .tid = 7,
		    .end_tid = 7,
		    .begin_ns = MOMENT(1000),
		    .end_ns = MOMENT(5000),
		    .work_ns = 4000,
		    .ledger = { .on_cpu_ns = 2800, .runnable_ns = 1100, .interrupt_ns = 100 },
		    .label = STRING("pay") } },
	{ .kind = TXTRACE_RECORD_DROPPED,
	  .dropped = { .time_ns = MOMENT(6000),
		       .first_ns = MOMENT(5500),
		       .last_ns = MOMENT(6000),
		       .batch_cnt = 1,
		       .record_cnt = { [TXTRACE_RECORD_OTHER_RUN] = 4 } } },
};

/*
 * Where code was: in a span that another thread's record has named, in none, in a keyed span of another
 * process, in two spans at once; and what it was.
 */
static const struct txtrace_record code_stacks[] = {
	{ .kind = TXTRACE_RECORD_STACK,
	  .stack = { .time_ns = MOMENT(2000),
		     .weight_ns = 500,
		     .span = 11,
		     .stack = 1,
		     .pid = 7,
		     .tid = 7,
		     .span_pid = 7,
		     .what = TXTRACE_STACK_OFF_CPU } },
	{ .kind = TXTRACE_RECORD_STACK,
	  .stack = { .time_ns = MOMENT(2100),
		     .weight_ns = 10101010,
		     .stack = 2,
		     .pid = 7,
		     .tid = 8,
		     .span_pid = 7,
		     .what = TXTRACE_STACK_ON_CPU } },
	{ .kind = TXTRACE_RECORD_STACK,
	  .stack = { .time_ns = MOMENT(2200),
		     .weight_ns = 10101010,
		     .span = 3,
		     .stack = 2,
		     .pid = 9,
		     .tid = 9,
		     .span_pid = 7,
		     .what = TXTRACE_STACK_ON_CPU,
		     .is_keyed = true } },
	{ .kind = TXTRACE_RECORD_STACK,
	  .stack = { .time_ns = MOMENT(3000),
		     .weight_ns = 70,
		     .span = 11,
		     .stack = 1,
		     .pid = 7,
		     .tid = 7,
		     .span_pid = 7,
		     .what = TXTRACE_STACK_OFF_CPU } },
	{ .kind = TXTRACE_RECORD_STACK,
	  .stack = { .time_ns = MOMENT(3000),
		     .weight_ns = 70,
		     .span = 10,
		     .stack = 1,
		     .pid = 7,
		     .tid = 7,
		     .span_pid = 7,
		     .what = TXTRACE_STACK_OFF_CPU,
		     .is_repeat = true } },
	{ .kind = TXTRACE_RECORD_OBJECT,
	  .object = { .time_ns = MOMENT(3100),
		      .object = 0x7f0000000040,
		      .pid = 7,
		      .tid = 7,
		      .reason = TXTRACE_BLOCK_LOCK,
		      .name = STRING("take bank.c:31") } },
	{ .kind = TXTRACE_RECORD_SPAN,
	  .span = { .id = 11,
		    .pid = 7,
		    .tid = 7,
		    .end_tid = 7,
		    .begin_ns = MOMENT(1000),
		    .end_ns = MOMENT(3500),
		    .work_ns = 2500,
		    .ledger = { .on_cpu_ns = 1930, .blocked_ns = { 570 } },
		    .label = STRING("transfer") } },
	{ .kind = TXTRACE_RECORD_FRAMES,
	  .frames = { MOMENT(4000), 1, STRING("main\ntransfer\ntake_[i]\nschedule_[k]") } },
	{ .kind = TXTRACE_RECORD_FRAMES, .frames = { MOMENT(4000), 2, STRING("[cut off]\n\xff;") } },
	{ .kind = TXTRACE_RECORD_STACK,
	  .stack = { MAX64, MAX64, MAX64, MAX64, MAX32, MAX32, MAX32, 255, true, true } },
	{ .kind = TXTRACE_RECORD_FRAMES, .frames = { MAX64, MAX64, { NULL, 0 } } },
	{ .kind = TXTRACE_RECORD_DROPPED,
	  .dropped = { MAX64, 0, MAX64, MAX64, { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 } } },
};

/*
 * Waits whose end told what they were for: by a descriptor, by a time that was up, for an odd reason; and a
 * span that was blocked in a poll.
 */
static const struct txtrace_record polls[] = {
	{ .kind = TXTRACE_RECORD_RUN,
	  .run = { 7, 7, 0, MOMENT(1000), MOMENT(2000), 0, 0, TXTRACE_LEFT_BLOCKED, TXTRACE_BLOCK_POLL, 232,
		   .object = 4 } },
	{ .kind = TXTRACE_RECORD_WAKE,
	  .wake = { .time_ns = MOMENT(2500), .tid = 7, .pid = 7, .flags = TXTRACE_WAKE_INTERRUPT } },
	{ .kind = TXTRACE_RECORD_RUN,
	  .run = { 7, 7, 0, MOMENT(2600), MOMENT(3000), 500, 100, TXTRACE_LEFT_BLOCKED, TXTRACE_BLOCK_POLL, 7,
		   .object = (uint64_t)3 << 32 | 5, .has_wait_end = true,
		   .wait_reason = TXTRACE_BLOCK_NETWORK, .wait_object = 9 } },
	{ .kind = TXTRACE_RECORD_RUN,
	  .run = { 7, 7, 0, MOMENT(3500), MOMENT(4000), 400, 100, TXTRACE_LEFT_BLOCKED, TXTRACE_BLOCK_POLL,
		   232, .object = 4, .has_wait_end = true, .wait_reason = TXTRACE_BLOCK_SLEEP } },
	{ .kind = TXTRACE_RECORD_RUN,
	  .run = { 7, 7, 0, MOMENT(4500), MOMENT(5000), 400, 100, TXTRACE_LEFT_PREEMPTED,
		   .has_wait_end = true, .wait_reason = TXTRACE_BLOCK_POLL, .wait_object = 4 } },
	{ .kind = TXTRACE_RECORD_SPAN,
	  .span = { .id = 5,
		    .pid = 7,
		    .tid = 7,
		    .end_tid = 7,
		    .begin_ns = MOMENT(1500),
		    .end_ns = MOMENT(4900),
		    .work_ns = 3400,
		    .ledger = { .on_cpu_ns = 1800,
				.runnable_ns = 300,
				.blocked_ns = { [TXTRACE_BLOCK_NETWORK] = 500,
						[TXTRACE_BLOCK_SLEEP] = 400,
						[TXTRACE_BLOCK_POLL] = 400 } },
		    .label = STRING("serve") } },
	{ .kind = TXTRACE_RECORD_RUN,
	  .run = { 7, 7, 0, MOMENT(5000), MOMENT(5000), 0, 0, TXTRACE_LEFT_DEAD, .has_wait_end = true,
		   .wait_reason = 255, .wait_object = MAX64 } },
};

/*
 * What a hypervisor took: of stays on a CPU, of one that was idle, of a task's that is not traced, of spans
 * and of what roots share; and a span of which that is not known exactly.
 */
static const struct txtrace_record stolen[] = {
	{ .kind = TXTRACE_RECORD_OTHER_RUN,
	  .other_run = { .begin_ns = MOMENT(900),
			 .end_ns = MOMENT(1000),
			 .tid = 900,
			 .pid = 900,
			 .comm = STRING("noisy"),
			 .stolen_ns = 70 } },
	{ .kind = TXTRACE_RECORD_RUN,
	  .run = { 7, 7, 0, MOMENT(1000), MOMENT(2000), 0, 100, TXTRACE_LEFT_PREEMPTED, .stolen_ns = 400 } },
	{ .kind = TXTRACE_RECORD_RUN,
	  .run = { 7, 7, 0, MOMENT(2300), MOMENT(3000), 0, 300, TXTRACE_LEFT_YIELDED, .idle_ns = 200,
		   .idle_stolen_ns = 150 } },
	{ .kind = TXTRACE_RECORD_OVERLAP,
	  .overlap = { .time_ns = MOMENT(3000),
		       .span = 6,
		       .pid = 7,
		       .tid = 7,
		       .ledger = { .on_cpu_ns = 20, .stolen_ns = 30 } } },
	{ .kind = TXTRACE_RECORD_SPAN,
	  .span = { .id = 6,
		    .pid = 7,
		    .tid = 7,
		    .end_tid = 7,
		    .begin_ns = MOMENT(1000),
		    .end_ns = MOMENT(3000),
		    .work_ns = 2000,
		    .ledger = { .on_cpu_ns = 1300, .runnable_ns = 300, .stolen_ns = 400 },
		    .label = STRING("pay") } },
	{ .kind = TXTRACE_RECORD_SPAN,
	  .span = { .id = 7,
		    .pid = 7,
		    .tid = 7,
		    .end_tid = 7,
		    .begin_ns = MOMENT(1500),
		    .end_ns = MOMENT(3000),
		    .work_ns = 1500,
		    .ledger = { .on_cpu_ns = 1200, .runnable_ns = 300 },
		    .label = STRING("pay"),
		    .stolen_max_ns = 400 } },
	{ .kind = TXTRACE_RECORD_RUN,
	  .run = { 7, 7, 0, MOMENT(3000), MOMENT(3000), 0, 0, TXTRACE_LEFT_DEAD, .stolen_ns = MAX64,
		   .idle_stolen_ns = MAX64 } },
	{ .kind = TXTRACE_RECORD_SPAN,
	  .span = { .id = 8,
		    .pid = 7,
		    .tid = 7,
		    .end_ns = MOMENT(3000),
		    .ledger = { .stolen_ns = MAX64 },
		    .stolen_max_ns = 7 } },
};

/* Why a flight recorder wrote, and what had been left out until then. */
static const struct txtrace_record flight[] = {
	{ .kind = TXTRACE_RECORD_SPAN,
	  .span = { .id = 11,
		    .pid = 7,
		    .tid = 7,
		    .end_tid = 7,
		    .begin_ns = MOMENT(1000),
		    .end_ns = MOMENT(3500),
		    .work_ns = 2500,
		    .ledger = { .on_cpu_ns = 1930, .blocked_ns = { 570 } },
		    .label = STRING("commit") } },
	{ .kind = TXTRACE_RECORD_SUMMARY,
	  .summary = { MOMENT(4000), 9, 9, 0, 0, 0, { 0 }, { 100, 20, 3, 0, 480 }, 0, 0 } },
	{ .kind = TXTRACE_RECORD_TRIGGER,
	  .trigger = { MOMENT(3500), 11, 7, 7, TXTRACE_TRIGGER_SPAN, false, 2,
		       STRING("label=commit and wall>2us"), STRING("commit"), 0 } },
	{ .kind = TXTRACE_RECORD_TRIGGER,
	  .trigger = { .time_ns = MOMENT(5000), .cause = TXTRACE_TRIGGER_REQUEST } },
	{ .kind = TXTRACE_RECORD_TRIGGER,
	  .trigger = { .time_ns = MOMENT(6000), .cause = TXTRACE_TRIGGER_EXIT } },
	{ .kind = TXTRACE_RECORD_SUMMARY,
	  .summary = { .left_out_cnt = { MAX64, MAX64, MAX64, MAX64, MAX64 } } },
	{ .kind = TXTRACE_RECORD_TRIGGER,
	  .trigger = { MAX64, MAX64, MAX32, MAX32, UINT8_MAX, true, MAX64, STRING("\xff\n"), STRING("\0"),
		       0 } },
	{ .kind = TXTRACE_RECORD_DROPPED,
	  .dropped = { .batch_cnt = 1, .record_cnt = { [TXTRACE_RECORD_TRIGGER] = 5 } } },
};

/* Spans with and without parents, and what one of them shares with others. */
static const struct txtrace_record overlaps[] = {
	{ .kind = TXTRACE_RECORD_OPEN_SPAN,
	  .open_span = { .time_ns = MOMENT(900),
			 .id = 11,
			 .pid = 7,
			 .tid = 7,
			 .begin_ns = MOMENT(500),
			 .label = STRING("loop"),
			 .flags = TXTRACE_SPAN_ROOT } },
	{ .kind = TXTRACE_RECORD_SPAN,
	  .span = { .id = 12,
		    .parent = 11,
		    .pid = 7,
		    .tid = 7,
		    .end_tid = 7,
		    .flags = TXTRACE_SPAN_NESTED,
		    .begin_ns = MOMENT(1000),
		    .end_ns = MOMENT(1400),
		    .work_ns = 400,
		    .ledger = { .on_cpu_ns = 400 },
		    .label = STRING("read") } },
	{ .kind = TXTRACE_RECORD_SPAN,
	  .span = { .id = 13,
		    .parent = 1,
		    .pid = 7,
		    .tid = 7,
		    .end_tid = 7,
		    .flags = TXTRACE_SPAN_NESTED | TXTRACE_SPAN_PARENT_KEYED,
		    .begin_ns = MOMENT(1600),
		    .end_ns = MOMENT(1700),
		    .work_ns = 100,
		    .ledger = { .on_cpu_ns = 100 },
		    .label = STRING("in-order") } },
	{ .kind = TXTRACE_RECORD_SPAN,
	  .span = { .id = 1,
		    .pid = 7,
		    .tid = 7,
		    .end_tid = 7,
		    .flags = TXTRACE_SPAN_KEYED | TXTRACE_SPAN_ROOT,
		    .begin_ns = MOMENT(1500),
		    .end_ns = MOMENT(1800),
		    .work_ns = 300,
		    .ledger = { .on_cpu_ns = 250, .blocked_ns = { 50 } },
		    .label = STRING("order"),
		    .key = STRING("k") } },
	{ .kind = TXTRACE_RECORD_OVERLAP,
	  .overlap = { .time_ns = MOMENT(2500),
		       .span = 11,
		       .pid = 7,
		       .tid = 7,
		       .ledger = { .on_cpu_ns = 250, .blocked_ns = { 50 } } } },
	{ .kind = TXTRACE_RECORD_SPAN,
	  .span = { .id = 11,
		    .pid = 7,
		    .tid = 7,
		    .end_tid = 7,
		    .flags = TXTRACE_SPAN_ROOT,
		    .begin_ns = MOMENT(500),
		    .end_ns = MOMENT(2500),
		    .work_ns = 2000,
		    .ledger = { .on_cpu_ns = 1950, .blocked_ns = { 50 } },
		    .label = STRING("loop") } },
	{ .kind = TXTRACE_RECORD_SPAN,
	  .span = { .id = 14,
		    .pid = 7,
		    .tid = 7,
		    .end_tid = 7,
		    .flags = TXTRACE_SPAN_PARENT_LOST,
		    .begin_ns = MOMENT(2600),
		    .end_ns = MOMENT(2700),
		    .work_ns = 100,
		    .ledger = { .on_cpu_ns = 100 },
		    .label = STRING("read") } },
	{ .kind = TXTRACE_RECORD_OVERLAP, .overlap = { .span = 0 } },
	{ .kind = TXTRACE_RECORD_OVERLAP,
	  .overlap = { MAX64,
		       MAX64,
		       MAX32,
		       MAX32,
		       true,
		       { MAX64, 1, { 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 }, 0, 12, MAX64, 0 } } },
};

static void put(struct log_writer *writer, FILE *text, const struct txtrace_record *record)
{
	if (log_writer_add(writer, record))
		abort();
	put_record(text, record);
}

/*
 * So many shapes that their codes take two bytes, then so many records of one shape that it has a column of
 * its own.
 */
static void put_many(struct log_writer *writer, FILE *text)
{
	char name[8];
	struct txtrace_record record = {
		.kind = TXTRACE_RECORD_INSTANT,
		.instant = { .time_ns = MOMENT(5000), .pid = 7, .tid = 7, .name = { name, 4 } }
	};

	for (unsigned int i = 0; i < 300 + 450; i++) {
		snprintf(name, sizeof(name), "%04u", i < 300 ? i : 300);
		record.instant.time_ns += 20 + i * i % 1000;
		put(writer, text, &record);
	}
}

static void put_content(struct log_writer *writer, FILE *text, enum content content)
{
	struct sample_world world = new_world(11);
	struct txtrace_record record;

	for (size_t i = 0; content == EXAMPLE && i < sizeof(example) / sizeof(example[0]); i++)
		put(writer, text, &example[i]);
	for (size_t i = 0; content == FLIGHT && i < sizeof(flight) / sizeof(flight[0]); i++)
		put(writer, text, &flight[i]);
	for (size_t i = 0; content == OVERLAPS && i < sizeof(overlaps) / sizeof(overlaps[0]); i++)
		put(writer, text, &overlaps[i]);
	for (size_t i = 0; content == CODE_STACKS && i < sizeof(code_stacks) / sizeof(code_stacks[0]); i++)
		put(writer, text, &code_stacks[i]);
	for (size_t i = 0;
	     content == EXPECTED_VALUES && i < sizeof(expected_values) / sizeof(expected_values[0]); i++)
		put(writer, text, &expected_values[i]);
	for (size_t i = 0; content == WAKES && i < sizeof(wakes) / sizeof(wakes[0]); i++)
		put(writer, text, &wakes[i]);
	for (size_t i = 0; content == POLLS && i < sizeof(polls) / sizeof(polls[0]); i++)
		put(writer, text, &polls[i]);
	for (size_t i = 0; content == STOLEN && i < sizeof(stolen) / sizeof(stolen[0]); i++)
		put(writer, text, &stolen[i]);
	for (size_t i = 0; content == COSTS && i < sizeof(costs) / sizeof(costs[0]); i++)
		put(writer, text, &costs[i]);
	for (size_t i = 0; content == NEIGHBOURS && i < sizeof(neighbours) / sizeof(neighbours[0]); i++)
		put(writer, text, &neighbours[i]);
	if (content == EXPECTED_VALUES)
		put_many(writer, text);
	for (size_t i = 0; content == EXTREME_VALUES && i < EXTREME_RECORD_CNT; i++) {
		put(writer, text, &extreme_records[i]);
		if (i % 10 == 9)
			log_writer_flush(writer);
	}
	for (size_t i = 0; content == PROCESSES && i < PROCESS_RECORD_CNT; i++)
		put(writer, text, &process_records[i]);
	for (size_t i = 0; content == RANDOM_WORLD && i < 200; i++) {
		next_record(&world, &record);
		put(writer, text, &record);
		if (i % 90 == 89)
			log_writer_flush(writer);
	}
}

static int make(const char *folder)
{
	char path[4096];

	for (size_t i = 0; i < GOLDEN_CNT; i++) {
		struct log_writer_options options = { .codec = goldens[i].codec };
		struct log_writer *writer;
		FILE *text;

		if (goldens[i].minor != LOG_VERSION_MINOR)
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, goldens[i].text);
		text = fopen(path, "w");
		snprintf(path, sizeof(path), "%s/%s", folder, goldens[i].log);
		if (!text || log_writer_open(&writer, path, &sample_info, &options))
			return 1;
		put_content(writer, text, goldens[i].content);
		fclose(text);
		if (log_writer_close(writer))
			return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(golden_logs_are_read),
		cmocka_unit_test(golden_headers_are_read),
	};

	if (argc == 3 && !strcmp(argv[1], "make"))
		return make(argv[2]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
