/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For the tests of the log: records with extreme and with random values, logs
 * written and read. Include it behind cmocka.h.
 */
#ifndef LOG_SAMPLES_H
#define LOG_SAMPLES_H

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log/write/log_writer.h"
#include "log_sample_lines.h"
#include "txtrace/log.h"

#define SAMPLE_LINE_BYTES (1u << 20)

/* ---- records ---- */

#define STRING(literal) { .bytes = literal, .length = sizeof(literal) - 1 }
#define MAX64 UINT64_MAX
#define MAX32 UINT32_MAX

/* One of each kind, with the greatest values that it can hold, and with the least. */
static const struct txtrace_record extreme_records[] = {
	{ .kind = TXTRACE_RECORD_SPAN,
	  .span = { MAX64,
		    MAX64,
		    MAX32,
		    MAX32,
		    MAX32,
		    MAX32,
		    MAX64,
		    MAX64,
		    MAX64,
		    { MAX64,
		      MAX64,
		      { MAX64, MAX64, MAX64, MAX64, MAX64, MAX64, MAX64, MAX64, MAX64 },
		      MAX64,
		      MAX64,
		      MAX64,
		      0 },
		    STRING("\xff\0\x01 label"),
		    STRING("tag=%"),
		    STRING("\0"),
		    0 } },
	{ .kind = TXTRACE_RECORD_SPAN },
	{ .kind = TXTRACE_RECORD_SPAN,
	  .span = { .begin_ns = MAX64, .end_ns = 0, .work_ns = 1, .end_tid = 7, .parent = 1 } },
	{ .kind = TXTRACE_RECORD_SPAN,
	  .span = { .id = 1,
		    .parent = MAX64,
		    .end_ns = 5,
		    .work_ns = MAX64,
		    .ledger = { .unknown_ns = MAX64 } } },
	{ .kind = TXTRACE_RECORD_RUN,
	  .run = { MAX32, MAX32, MAX32, MAX64, MAX64, MAX64, MAX64, UINT8_MAX, UINT8_MAX, INT32_MAX, MAX64,
		   MAX64, true, UINT8_MAX, MAX64, 0, 0 } },
	{ .kind = TXTRACE_RECORD_RUN },
	{ .kind = TXTRACE_RECORD_RUN,
	  .run = { .begin_ns = 10, .end_ns = 3, .blocked_ns = 1, .syscall_nr = INT32_MIN } },
	{ .kind = TXTRACE_RECORD_RUN,
	  .run = { .tid = 1, .cpu = 1024, .begin_ns = 3, .end_ns = 4, .syscall_nr = -2 } },
	{ .kind = TXTRACE_RECORD_WAKE,
	  .wake = { MAX64, MAX32, MAX32, MAX32, MAX32, MAX32, MAX32, STRING("ksoftirqd/1"), MAX64, 1 } },
	{ .kind = TXTRACE_RECORD_WAKE },
	{ .kind = TXTRACE_RECORD_THREAD, .thread = { MAX64, MAX32, MAX32, true, true, STRING("a b\nc") } },
	{ .kind = TXTRACE_RECORD_THREAD },
	{ .kind = TXTRACE_RECORD_ATTRIBUTE,
	  .attribute = { MAX64, MAX64, MAX32, MAX32, UINT8_MAX, true, MAX64, STRING("name"),
			 STRING("string") } },
	{ .kind = TXTRACE_RECORD_ATTRIBUTE,
	  .attribute = { .type = TXTRACE_ATTRIBUTE_INT, .value = 1ULL << 63 } },
	{ .kind = TXTRACE_RECORD_ATTRIBUTE,
	  .attribute = { .type = TXTRACE_ATTRIBUTE_DOUBLE, .value = 0x3ff8000000000000 } },
	{ .kind = TXTRACE_RECORD_INSTANT, .instant = { MAX64, MAX64, MAX32, MAX32, STRING("instant") } },
	{ .kind = TXTRACE_RECORD_INSTANT },
	{ .kind = TXTRACE_RECORD_COUNTER, .counter = { MAX64, INT64_MIN, MAX32, MAX32, STRING("counter") } },
	{ .kind = TXTRACE_RECORD_COUNTER, .counter = { 0, INT64_MAX, 0, 0, STRING("counter") } },
	{ .kind = TXTRACE_RECORD_LINK, .link = { MAX64, MAX64, 1, MAX32, MAX32, STRING("link") } },
	{ .kind = TXTRACE_RECORD_LINK, .link = { 0, 0, MAX64, 0, 0, STRING("") } },
	{ .kind = TXTRACE_RECORD_LOSS, .loss = { MAX64, 0, MAX32, MAX64, MAX64, MAX32, MAX32 } },
	{ .kind = TXTRACE_RECORD_LOSS },
	{ .kind = TXTRACE_RECORD_OPEN_SPAN,
	  .open_span = { MAX64, MAX64, 3, 0, MAX32, MAX32, STRING("open"), STRING("key"), 0 } },
	{ .kind = TXTRACE_RECORD_OPEN_SPAN },
	{ .kind = TXTRACE_RECORD_SUMMARY,
	  .summary = { MAX64,
		       MAX64,
		       MAX64,
		       MAX64,
		       MAX64,
		       MAX64,
		       { MAX64, 1, 2, 3, 4, 5, 6, 7, MAX64 },
		       { 0 },
		       MAX64,
		       MAX64 } },
	{ .kind = TXTRACE_RECORD_SUMMARY },
	{ .kind = TXTRACE_RECORD_DROPPED,
	  .dropped = { MAX64,
		       0,
		       MAX64,
		       MAX64,
		       { 0, MAX64, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, MAX64 } } },
	{ .kind = TXTRACE_RECORD_DROPPED },
	{ .kind = TXTRACE_RECORD_CONTINUED, .continued = { MAX64, MAX32 } },
	{ .kind = TXTRACE_RECORD_CONTINUED },
	{ .kind = TXTRACE_RECORD_STAY, .stay = { 0, MAX64, MAX64, 0, MAX32, MAX32, true } },
	{ .kind = TXTRACE_RECORD_STAY },
	{ .kind = TXTRACE_RECORD_OBJECT,
	  .object = { MAX64, MAX64, MAX32, MAX32, 255, STRING("/a b\n\xff") } },
	{ .kind = TXTRACE_RECORD_OBJECT },
	{ .kind = TXTRACE_RECORD_STAY, .stay = { MAX64, 0, 1, MAX32, 0, 0, false } },
	{ .kind = TXTRACE_RECORD_OTHER_RUN,
	  .other_run = { MAX64, 0, MAX32, MAX32, MAX32, MAX32, MAX32, MAX32, STRING("\xff \0"), 0 } },
	{ .kind = TXTRACE_RECORD_OTHER_RUN,
	  .other_run = { 0, MAX64, 1, 0, 1024, 0, 0, 1, STRING("kworker/0:1"), 0 } },
	{ .kind = TXTRACE_RECORD_OTHER_RUN },
	{ .kind = TXTRACE_RECORD_RUN,
	  .run = { .begin_ns = 9, .end_ns = 10, .runnable_ns = 5, .idle_ns = 7 } },
	{ .kind = TXTRACE_RECORD_RUN,
	  .run = { .begin_ns = 19, .end_ns = 20, .runnable_ns = 5, .idle_ns = 5 } },
	{ .kind = TXTRACE_RECORD_SPAN,
	  .span = { .id = 3, .end_ns = 5, .work_ns = 5, .ledger = { .on_cpu_ns = 3, .interrupt_ns = 2 } } },
	{ .kind = TXTRACE_RECORD_SPAN,
	  .span = { .id = 3,
		    .end_ns = 5,
		    .work_ns = 5,
		    .ledger = { .on_cpu_ns = 3, .stolen_ns = 2 },
		    .stolen_max_ns = 4 } },
	{ .kind = TXTRACE_RECORD_COST,
	  .cost = { MAX64, 0, STRING("begin"), MAX64, MAX64, MAX64, MAX64, MAX64, MAX64, MAX64, MAX64, MAX64,
		    MAX64, MAX64, 255 } },
	{ .kind = TXTRACE_RECORD_COST, .cost = { .time_ns = 5, .since_ns = 7, .event = STRING("\xff\0 %") } },
	{ .kind = TXTRACE_RECORD_COST },
	{ .kind = TXTRACE_RECORD_DROPPED,
	  .dropped = { .batch_cnt = 1, .record_cnt = { [TXTRACE_RECORD_COST] = MAX64 } } },
};

#define EXTREME_RECORD_CNT (sizeof(extreme_records) / sizeof(extreme_records[0]))

/*
 * Of version 1.1: a container's first process, its child, its exec, its end;
 * and what a hostile log may say.
 */
static const struct txtrace_record process_records[] = {
	{ .kind = TXTRACE_RECORD_PROCESS,
	  .process = { 3600000001000, 3599000000000, 4711, 4700, 1, TXTRACE_PROCESS_NAMED, true, false,
		       STRING("init"), STRING("/sbin/init"), STRING("/sbin/init --quiet"), { 0 }, { 0 } } },
	{ .kind = TXTRACE_RECORD_PROCESS,
	  .process = { 3600000002000, 3600000001990, 4712, 4711, 2,
		       TXTRACE_PROCESS_CHILD | TXTRACE_PROCESS_CGROUP, false, false, STRING("init"),
		       STRING("/sbin/init"), STRING("/sbin/init --quiet"), { 0 }, { 0 } } },
	{ .kind = TXTRACE_RECORD_PROCESS,
	  .process = { 3600000002500, 3600000001990, 4712, 4711, 2, TXTRACE_PROCESS_CHILD, false, false,
		       STRING("a b\n"), STRING("/a b"), STRING("a\xff b"), { 0 }, { 0 } } },
	{ .kind = TXTRACE_RECORD_PROCESS,
	  .process = { 3600000009000,
		       3600000001990,
		       4712,
		       4711,
		       2,
		       0,
		       false,
		       true,
		       STRING("a b\n"),
		       { 0 },
		       { 0 },
		       { 0 },
		       { 0 } } },
	{ .kind = TXTRACE_RECORD_PROCESS,
	  .process = { MAX64, 0, MAX32, 0, MAX32, UINT8_MAX, true, true, STRING("\0"), STRING("\xff\0"),
		       STRING("%"), { 0 }, { 0 } } },
	{ .kind = TXTRACE_RECORD_PROCESS,
	  .process = { 0, MAX64, 0, MAX32, 0, 0, false, false, { 0 }, { 0 }, { 0 }, { 0 }, { 0 } } },
	{ .kind = TXTRACE_RECORD_PROCESS },
};

#define PROCESS_RECORD_CNT (sizeof(process_records) / sizeof(process_records[0]))

/*
 * A small world that repeats from its seed: threads on CPUs that block and wake
 * each other, and do spans with marks.
 */
struct sample_world {
	uint64_t random;
	uint64_t time_ns;
	uint64_t next_id;
	uint64_t last_end_ns[8]; /* of each thread */
	uint64_t woken_ns[8];
	char tag[32];
};

static inline uint64_t next_random(struct sample_world *world)
{
	world->random ^= world->random << 13;
	world->random ^= world->random >> 7;
	world->random ^= world->random << 17;
	return world->random;
}

/* Mostly small, seldom any number at all. */
static inline uint64_t random_number(struct sample_world *world)
{
	uint64_t bits = next_random(world);

	return bits % 16 ? next_random(world) >> 44 : bits % 32 ? next_random(world) : MAX64 - (bits >> 60);
}

static inline struct txtrace_string random_string(struct sample_world *world)
{
	static const struct txtrace_string strings[] = { STRING("checkout"), STRING("a"), STRING(""),
							 STRING("\0\n%"), STRING("pay") };

	return strings[next_random(world) % 5];
}

static inline void random_span(struct sample_world *world, uint32_t thread, struct txtrace_span *span)
{
	uint64_t *parts = (uint64_t *)&span->ledger;

	*span = (struct txtrace_span){
		.id = world->next_id++, .pid = 100, .tid = 100 + thread, .end_tid = 100 + thread
	};
	span->end_ns = world->time_ns;
	span->begin_ns = world->time_ns - next_random(world) % 100000;
	span->label = random_string(world);
	span->parent = next_random(world) % 2 ? span->id - next_random(world) % 3 : random_number(world);
	span->flags = next_random(world) % 8 ? 0 : (uint32_t)next_random(world);
	for (unsigned int i = 0; i < 3; i++)
		parts[next_random(world) % (sizeof(span->ledger) / sizeof(*parts))] = random_number(world);
	span->work_ns = next_random(world) % 4 ? txtrace_ledger_sum_ns(&span->ledger) : random_number(world);
	if (next_random(world) % 3 == 0) {
		span->end_tid = (uint32_t)(next_random(world) % 3 ? 100 + next_random(world) % 8 : 0);
		span->tag.length = (size_t)snprintf(world->tag, sizeof(world->tag), "shard=%llu",
						    next_random(world) % 200ULL);
		span->tag.bytes = world->tag;
	}
	if (next_random(world) % 9 == 0)
		span->key = random_string(world);
}

static inline void random_run(struct sample_world *world, uint32_t thread, struct txtrace_run *run)
{
	*run = (struct txtrace_run){ .tid = 100 + thread,
				     .pid = 100,
				     .cpu = (uint32_t)(next_random(world) % 3) * 1023 };
	run->end_ns = world->time_ns;
	run->begin_ns = world->time_ns - next_random(world) % 2000;
	run->blocked_ns = world->woken_ns[thread] - world->last_end_ns[thread];
	run->runnable_ns = next_random(world) % 3 ? run->begin_ns - world->woken_ns[thread]
						  : random_number(world);
	run->left_as = (uint8_t)(next_random(world) % 5);
	run->reason = (uint8_t)(next_random(world) % 9);
	run->syscall_nr = (int32_t)(next_random(world) % 300) - 2;
	run->object = next_random(world) % 2 ? 0 : 0x7f0000000000 + next_random(world) % 20 * 8;
	world->last_end_ns[thread] = run->end_ns;
}

static inline void random_mark(struct sample_world *world, uint32_t thread, struct txtrace_record *record)
{
	uint64_t time_ns = world->time_ns, id = world->next_id - next_random(world) % 4;
	uint32_t tid = 100 + thread;

	switch (next_random(world) % 8) {
	case 0:
		*record = (struct txtrace_record){ .kind = TXTRACE_RECORD_THREAD,
						   .thread = { time_ns, tid, 100, tid & 1, tid & 2,
							       STRING("comm") } };
		break;
	case 1:
		*record = (struct txtrace_record){ .kind = TXTRACE_RECORD_INSTANT,
						   .instant = { time_ns, id, 100, tid,
								random_string(world) } };
		break;
	case 2:
		*record = (struct txtrace_record){ .kind = TXTRACE_RECORD_COUNTER,
						   .counter = { time_ns, (int64_t)random_number(world), 100,
								tid, random_string(world) } };
		break;
	case 3:
		*record = (struct txtrace_record){ .kind = TXTRACE_RECORD_LINK,
						   .link = { time_ns, id, id + 1, 100, tid,
							     random_string(world) } };
		break;
	case 4:
		*record = (struct txtrace_record){ .kind = TXTRACE_RECORD_LOSS,
						   .loss = { time_ns - 7, time_ns, thread,
							     random_number(world), 1, 100, tid } };
		break;
	case 5:
		*record = (struct txtrace_record){ .kind = TXTRACE_RECORD_OPEN_SPAN,
						   .open_span = { time_ns, id, id - 1, random_number(world),
								  100, tid, random_string(world), STRING(""),
								  0 } };
		break;
	default:
		*record = (struct txtrace_record){
			.kind = TXTRACE_RECORD_ATTRIBUTE,
			.attribute = { time_ns, id, 100, tid, (uint8_t)(next_random(world) % 7), false,
				       random_number(world), random_string(world), random_string(world) }
		};
	}
}

static inline void next_record(struct sample_world *world, struct txtrace_record *record)
{
	uint32_t thread = (uint32_t)(next_random(world) % 8);
	uint64_t choice = next_random(world) % 8;

	world->time_ns += next_random(world) % 64 ? next_random(world) % 1500 : random_number(world) >> 20;
	memset(record, 0, sizeof(*record));
	if (choice < 3) {
		record->kind = TXTRACE_RECORD_RUN;
		random_run(world, thread, &record->run);
	} else if (choice < 5) {
		record->kind = TXTRACE_RECORD_WAKE;
		record->wake = (struct txtrace_wake){ world->time_ns,
						      100 + thread,
						      100,
						      100 + (thread + 1) % 8,
						      100,
						      thread % 2,
						      thread == 3,
						      random_string(world),
						      world->time_ns % 3,
						      world->time_ns % 2 };
		world->woken_ns[thread] = world->time_ns;
	} else if (choice < 7) {
		record->kind = TXTRACE_RECORD_SPAN;
		random_span(world, thread, &record->span);
	} else {
		random_mark(world, thread, record);
	}
}

static inline struct sample_world new_world(uint64_t seed)
{
	return (struct sample_world){ .random = seed * 0x9e3779b97f4a7c15u + 1,
				      .time_ns = 3600000000000,
				      .next_id = 1 + (seed << 40) };
}

/* ---- logs ---- */

static const struct txtrace_log_info sample_info = {
	.capture_id = { 0xca, 0xfe, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 },
	.boot_id = { 0xb0, 0x07 },
	.start_monotonic_ns = 3600000000000,
	.start_realtime_ns = 1700000000000000000,
	.pid = 100,
	.cpu_cnt = 2,
	.host = "box",
	.kernel = "6.18.0 x86_64",
	.command = "./bank -t 2",
	.recorder = "txtrace-bpf 0.1.0",
	.options = "-p 100",
};

/* A path in the test's own folder; static. */
static inline const char *sample_path(const char *name)
{
	static char path[4096];
	const char *folder = getenv("TEST_TMPDIR");

	snprintf(path, sizeof(path), "%s/%s.%d", folder ? folder : "/tmp", name, (int)getpid());
	return path;
}

static inline struct log_writer *open_sample(const char *path, enum log_codec codec, size_t batch_bytes)
{
	struct log_writer_options options = { .codec = codec, .batch_bytes = batch_bytes };
	struct log_writer *writer = NULL;

	assert_int_equal(log_writer_open(&writer, path, &sample_info, &options), 0);
	return writer;
}

/*
 * The rest of a log as text; damage as it is told to people. To be freed.
 * *damage_cnt, if not NULL, counts the latter.
 */
static inline char *read_rest(struct txtrace_log *log, unsigned int *damage_cnt)
{
	struct txtrace_record record;
	size_t length;
	char *text;
	FILE *out = open_memstream(&text, &length);
	int err;

	while ((err = txtrace_log_next(log, &record)) > 0) {
		if (record.kind == TXTRACE_RECORD_DAMAGE && damage_cnt)
			(*damage_cnt)++;
		if (record.kind == TXTRACE_RECORD_DAMAGE)
			fprintf(out, "damage offset=%llu length=%llu records=%llu %s\n",
				(unsigned long long)record.damage.offset_bytes,
				(unsigned long long)record.damage.length_bytes,
				(unsigned long long)record.damage.record_cnt, record.damage.reason);
		else
			put_record(out, &record);
	}
	assert_int_equal(err, 0);
	fclose(out);
	return text;
}

/* Every record of a log. */
static inline char *read_sample(const char *path, unsigned int *damage_cnt)
{
	struct txtrace_log *log;
	char *text;

	assert_int_equal(txtrace_log_open(&log, path), 0);
	text = read_rest(log, damage_cnt);
	txtrace_log_close(log);
	return text;
}

#endif
