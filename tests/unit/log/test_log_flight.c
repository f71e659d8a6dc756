/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A log that is kept in memory and written on demand: each file stands alone, is complete, begins with
 * definitions, and none repeats another.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log/write/log_writer.h"
#include "unit/log_samples.h"

struct flight {
	char folder[2000];
	char path[2100];
	struct log_writer *writer;
	struct log_writer_result result;
	unsigned int definition_cnt;
	uint64_t time_ns;
};

static void begin_with(struct flight *flight, const struct log_writer_flight *limits, size_t queue_bytes,
		       void (*enter_thread)(void *context))
{
	struct log_writer_options options = {
		.codec = LOG_CODEC_NONE,
		.batch_bytes = 4096,
		.queue_bytes = queue_bytes,
		.enter_thread = enter_thread,
		.keeps_older = true,
		.flight = *limits,
		.result = &flight->result,
	};
	const char *folder = getenv("TEST_TMPDIR");

	memset(flight, 0, sizeof(*flight));
	snprintf(flight->folder, sizeof(flight->folder), "%.1900s/log_flight.XXXXXX",
		 folder ? folder : "/tmp");
	assert_non_null(mkdtemp(flight->folder));
	snprintf(flight->path, sizeof(flight->path), "%s/log.txtrace", flight->folder);
	assert_int_equal(log_writer_open(&flight->writer, flight->path, &sample_info, &options), 0);
	flight->time_ns = sample_info.start_monotonic_ns;
}

static void begin(struct flight *flight, const struct log_writer_flight *limits, size_t queue_bytes)
{
	begin_with(flight, limits, queue_bytes, NULL);
}

static void clean(struct flight *flight)
{
	char command[2100];

	snprintf(command, sizeof(command), "rm -r '%s'", flight->folder);
	assert_int_equal(system(command), 0);
}

/* As the pipeline does: when a turn is due, a thread is told of again. */
static void define(struct flight *flight)
{
	const struct txtrace_record thread = {
		.kind = TXTRACE_RECORD_THREAD,
		.thread = { .time_ns = flight->time_ns,
			    .tid = 7,
			    .pid = 7,
			    .is_seed = true,
			    .comm = STRING("worker") },
	};

	if (!log_writer_is_due(flight->writer) || log_writer_turn(flight->writer) <= 0)
		return;
	assert_int_equal(log_writer_add(flight->writer, &thread), 0);
	flight->definition_cnt++;
}

/* Numbered instants, of times that follow each other. */
static void add(struct flight *flight, unsigned int first, unsigned int cnt)
{
	for (unsigned int i = first; i < first + cnt; i++) {
		char name[32];
		struct txtrace_record record = { .kind = TXTRACE_RECORD_INSTANT };

		snprintf(name, sizeof(name), "number %u", i);
		flight->time_ns += 1000;
		record.instant = (struct txtrace_instant){
			.time_ns = flight->time_ns, .pid = 7, .tid = 7, .name = { name, strlen(name) }
		};
		assert_int_equal(log_writer_add(flight->writer, &record), 0);
		define(flight);
	}
}

static void dump(struct flight *flight)
{
	const struct txtrace_record why = {
		.kind = TXTRACE_RECORD_TRIGGER,
		.trigger = { .time_ns = flight->time_ns, .cause = TXTRACE_TRIGGER_REQUEST },
	};

	assert_int_equal(log_writer_dump(flight->writer, &why), 0);
	define(flight);
}

struct seen {
	unsigned int first, last, cnt, thread_cnt, trigger_cnt, other_cnt, damage_cnt;
	bool begins_with_thread, ends_with_trigger, is_complete;
	uint8_t capture_id[16];
	uint64_t first_sequence;
};

static void look(const char *path, struct seen *seen)
{
	struct txtrace_record record = { 0 };
	struct txtrace_log *log;
	bool is_first = true;

	memset(seen, 0, sizeof(*seen));
	assert_int_equal(txtrace_log_open(&log, path), 0);
	memcpy(seen->capture_id, txtrace_log_info(log)->capture_id, 16);
	assert_int_equal(txtrace_log_info(log)->part, 0);
	while (txtrace_log_next(log, &record) > 0) {
		if (is_first)
			seen->begins_with_thread = record.kind == TXTRACE_RECORD_THREAD;
		is_first = false;
		seen->ends_with_trigger = record.kind == TXTRACE_RECORD_TRIGGER;
		if (record.kind == TXTRACE_RECORD_INSTANT) {
			unsigned int number = (unsigned int)atoi(record.instant.name.bytes +
								 strlen("number "));

			if (seen->cnt++)
				/* nothing is missing in the middle */
				assert_int_equal(number, seen->last + 1);
			else
				seen->first = number;
			seen->last = number;
		}
		seen->thread_cnt += record.kind == TXTRACE_RECORD_THREAD;
		seen->trigger_cnt += record.kind == TXTRACE_RECORD_TRIGGER;
		seen->damage_cnt += record.kind == TXTRACE_RECORD_DAMAGE;
	}
	seen->is_complete = txtrace_log_is_complete(log);
	txtrace_log_close(log);
}

static void nothing_is_written_without_a_trigger(void **state)
{
	const struct log_writer_flight limits = { .max_bytes = 1 << 20 };
	struct flight flight;

	(void)state;
	begin(&flight, &limits, 0);
	add(&flight, 1, 1000);
	assert_int_equal(log_writer_close(flight.writer), 0);
	assert_int_equal(access(flight.path, F_OK), -1);
	assert_int_equal(flight.result.file_cnt, 0);
	assert_int_equal(flight.result.written_bytes, 0);
	assert_int_equal(rmdir(flight.folder), 0); /* not even a .partial */
}

#define QUEUE_BYTES (64 << 10)

/*
 * 200,000 records of some 12 bytes do not fit: the last ones are there, without a hole, behind a definition.
 */
static void the_last_part_is_written(void **state)
{
	for (size_t queue_bytes = 0; queue_bytes <= QUEUE_BYTES; queue_bytes += QUEUE_BYTES) {
		const struct log_writer_flight limits = { .max_bytes = 256 << 10 };
		struct log_flight_stats stats;
		struct flight flight;
		struct seen seen;

		(void)state;
		begin(&flight, &limits, queue_bytes);
		log_writer_drop_no_more(flight.writer);
		add(&flight, 1, 200000);
		dump(&flight);
		assert_int_equal(log_writer_close(flight.writer), 0);
		look(flight.path, &seen);
		assert_int_equal(seen.last, 200000);
		assert_true(seen.first > 1);
		assert_true(seen.cnt > 5000); /* at least 7 parts of 8 are there */
		assert_true(seen.begins_with_thread);
		assert_true(seen.ends_with_trigger);
		assert_true(seen.is_complete);
		assert_int_equal(seen.trigger_cnt, 1);
		assert_int_equal(seen.damage_cnt, 0);
		assert_int_equal(flight.result.file_cnt, 1);
		assert_true(flight.result.names.is_complete);
		(void)stats;
		clean(&flight);
	}
}

/* From here on the thread gets what the other one, on the same CPU, leaves: as good as nothing. */
static void starve(void *context)
{
	const struct sched_param none = { 0 };

	(void)context;
	assert_int_equal(pthread_setschedparam(pthread_self(), SCHED_IDLE, &none), 0);
}

/*
 * All of it waits in the queue, which has room for many times what is kept, when the file is wanted. Where
 * nothing was stored, nothing tells how large the pieces are: each of them has to be cut by what went into
 * it.
 */
static void a_thread_that_gets_no_cpu_loses_no_more(void **state)
{
	const struct log_writer_flight limits = { .max_bytes = 256 << 10 };
	struct flight flight;
	cpu_set_t before, one;
	struct seen seen;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	begin_with(&flight, &limits, 64 << 20, starve);
	add(&flight, 1, 200000);
	dump(&flight);
	assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
	assert_int_equal(log_writer_dropped_records(flight.writer), 0);
	assert_int_equal(log_writer_close(flight.writer), 0);
	look(flight.path, &seen);
	assert_int_equal(seen.last, 200000);
	assert_true(seen.cnt > 5000);
	assert_true(seen.begins_with_thread);
	assert_true(seen.ends_with_trigger && seen.is_complete);
	clean(&flight);
}

static void files_do_not_overlap_and_are_captures_of_their_own(void **state)
{
	const struct log_writer_flight limits = { .max_bytes = 1 << 20 };
	struct log_flight_stats stats;
	char older[2200], oldest[2200];
	struct seen first, second, third;
	struct flight flight;

	(void)state;
	begin(&flight, &limits, 0);
	add(&flight, 1, 100);
	dump(&flight);
	add(&flight, 101, 100);
	dump(&flight);
	dump(&flight); /* at once: a definition and the reason, no more */
	log_writer_flight_stats(flight.writer, &stats);
	assert_int_equal(stats.dump_cnt, 3);
	assert_int_equal(stats.cut_cnt, 0);
	assert_int_equal(log_writer_close(flight.writer), 0);
	assert_int_equal(flight.result.file_cnt, 3);
	snprintf(oldest, sizeof(oldest), "%s/log.000001.txtrace", flight.folder);
	snprintf(older, sizeof(older), "%s/log.000002.txtrace", flight.folder);
	look(oldest, &first);
	look(older, &second);
	look(flight.path, &third);
	assert_int_equal(first.first, 1);
	assert_int_equal(first.last, 100);
	assert_int_equal(second.first, 101);
	assert_int_equal(second.last, 200);
	assert_true(second.begins_with_thread);
	assert_int_equal(third.cnt, 0);
	assert_true(third.begins_with_thread && third.ends_with_trigger);
	assert_true(first.is_complete && second.is_complete && third.is_complete);
	assert_memory_not_equal(first.capture_id, second.capture_id, 16);
	assert_memory_not_equal(second.capture_id, third.capture_id, 16);
	assert_memory_not_equal(first.capture_id, third.capture_id, 16);
	clean(&flight);
}

static void memory_stays_within_the_limit(void **state)
{
	const struct log_writer_flight limits = { .max_bytes = 128 << 10 };
	struct log_flight_stats stats;
	struct flight flight;

	(void)state;
	begin(&flight, &limits, 0);
	for (unsigned int i = 0; i < 100; i++) {
		add(&flight, 1 + 1000 * i, 1000);
		log_writer_flight_stats(flight.writer, &stats);
		assert_true(stats.kept_bytes <= limits.max_bytes + 8192);
	}
	assert_true(stats.kept_bytes > limits.max_bytes / 2);
	assert_true(flight.definition_cnt > 8);
	log_writer_abort(flight.writer);
	assert_int_equal(rmdir(flight.folder), 0);
}

static void a_pipe_or_a_missing_folder_is_said_at_once(void **state)
{
	const struct log_writer_options options = { .keeps_older = true, .flight = { .max_bytes = 1 << 20 } };
	struct log_writer *writer;

	(void)state;
	assert_int_equal(log_writer_open(&writer, "/dev/null", &sample_info, &options), -ESPIPE);
	assert_int_equal(log_writer_open(&writer, "/nonexistent/log", &sample_info, &options), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_written_without_a_trigger),
		cmocka_unit_test(the_last_part_is_written),
		cmocka_unit_test(a_thread_that_gets_no_cpu_loses_no_more),
		cmocka_unit_test(files_do_not_overlap_and_are_captures_of_their_own),
		cmocka_unit_test(memory_stays_within_the_limit),
		cmocka_unit_test(a_pipe_or_a_missing_folder_is_said_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
