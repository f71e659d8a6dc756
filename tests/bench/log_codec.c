/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * log_codec [LOG...]: what a record costs in a log: bytes, ns to encode, records/s to decode, for each codec,
 * beside fixed structs with zstd.
 *
 * On a synthetic storm (two threads that hand each other the CPU: a wakeup and a stay for every switch, with
 * the jitter of a real one), on synthetic servers (threads that block for several reasons and do spans), and
 * on the logs named. CPU time of one thread, median of rounds in which everything is measured in turn.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zstd.h>

#include "log/write/log_writer.h"
#include "txtrace/log.h"

#define ROUNDS 7
#define RECORDS 400000u
#define CHUNK_BYTES (384u << 10)
#define THREAD_MAX 1024u
#define CPU_MAX 64u

/* ---- records ---- */

struct stream {
	struct txtrace_record *records;
	size_t cnt;
	size_t capacity;
	size_t switch_cnt;
	size_t span_cnt;
};

static struct txtrace_record *append(struct stream *stream, uint32_t kind)
{
	struct txtrace_record *record;

	if (stream->cnt == stream->capacity) {
		stream->capacity = stream->capacity ? stream->capacity * 2 : RECORDS + 16;
		stream->records = realloc(stream->records, stream->capacity * sizeof(*stream->records));
		if (!stream->records)
			abort();
	}
	record = &stream->records[stream->cnt++];
	memset(record, 0, sizeof(*record));
	record->kind = kind;
	stream->switch_cnt += kind == TXTRACE_RECORD_RUN;
	stream->span_cnt += kind == TXTRACE_RECORD_SPAN;
	return record;
}

static uint64_t next_random(uint64_t *random)
{
	*random ^= *random << 13;
	*random ^= *random >> 7;
	*random ^= *random << 17;
	return *random;
}

/*
 * As noisy as a real ping-pong, which has some 8.2 bits in each interval: a sharp lower edge, a bell, a
 * second mode, seldom an interrupt.
 */
static uint64_t jitter(uint64_t *random, uint64_t least_ns)
{
	uint64_t ns = least_ns + next_random(random) % 80 + next_random(random) % 80;

	if (next_random(random) % 4 == 0)
		ns += 200 + next_random(random) % 300;
	return next_random(random) % 300 ? ns : ns + 1000 + next_random(random) % 4000;
}

static void make_storm(struct stream *stream)
{
	uint64_t random = 88172645463325252u, time_ns = 3600000000000, woken_ns[2] = { time_ns, time_ns },
		 left_ns[2] = { time_ns, time_ns };

	for (uint32_t i = 0; stream->cnt < RECORDS; i++) {
		uint32_t me = i % 2, other = 1 - me;
		uint64_t begin_ns = time_ns;
		struct txtrace_record *record = append(stream, TXTRACE_RECORD_WAKE);

		woken_ns[other] = time_ns += jitter(&random, 420);
		record->wake = (struct txtrace_wake){ .time_ns = time_ns,
						      .tid = 100 + other,
						      .pid = 100,
						      .waker_tid = 100 + me,
						      .waker_pid = 100,
						      .waker_comm = { "pingpong", 8 } };
		record = append(stream, TXTRACE_RECORD_RUN);
		time_ns += jitter(&random, 590);
		record->run = (struct txtrace_run){ .tid = 100 + me,
						    .pid = 100,
						    .begin_ns = begin_ns,
						    .end_ns = time_ns,
						    .blocked_ns = woken_ns[me] - left_ns[me],
						    .runnable_ns = begin_ns - woken_ns[me],
						    .left_as = TXTRACE_LEFT_BLOCKED,
						    .reason = TXTRACE_BLOCK_LOCK,
						    .syscall_nr = 202,
						    .object = 0x55d0c0ffee00 };
		left_ns[me] = time_ns;
	}
}

/* A server: each CPU runs a thread for a while, then one of those that were woken. */
struct server {
	uint64_t random;
	uint64_t next_id;
	uint32_t thread_cnt;
	uint32_t cpu_cnt;
	uint32_t on_cpu[CPU_MAX];
	uint64_t began_ns[CPU_MAX];
	uint64_t ends_ns[CPU_MAX];
	uint64_t left_ns[THREAD_MAX];
	uint64_t woken_ns[THREAD_MAX]; /* 0: blocked */
	uint64_t span_began_ns[THREAD_MAX];
	bool is_running[THREAD_MAX];
};

static uint64_t some_ns(struct server *server, uint64_t typical_ns)
{
	uint64_t ns = 500 + next_random(&server->random) % typical_ns;

	return next_random(&server->random) % 8 ? ns : ns * 10;
}

static void server_wake(struct server *server, struct stream *stream, uint32_t cpu, uint64_t time_ns)
{
	for (uint32_t tries = 0; tries < 16; tries++) {
		uint32_t thread = (uint32_t)(next_random(&server->random) % server->thread_cnt);

		if (server->is_running[thread] || server->woken_ns[thread])
			continue;
		server->woken_ns[thread] = time_ns;
		append(stream, TXTRACE_RECORD_WAKE)->wake = (struct txtrace_wake){
			.time_ns = time_ns,
			.tid = 100 + thread,
			.pid = 100,
			.cpu = cpu,
			.waker_tid = 100 + server->on_cpu[cpu],
			.waker_pid = 100,
			.waker_comm = { "server", 6 }
		};
		return;
	}
}

static void server_span(struct server *server, struct stream *stream, uint32_t thread, uint64_t time_ns)
{
	static const struct txtrace_string labels[] = {
		{ "checkout", 8 }, { "commit", 6 }, { "validate", 8 }, { "lookup", 6 }
	};
	struct txtrace_span *span = &append(stream, TXTRACE_RECORD_SPAN)->span;
	uint64_t wall_ns = time_ns - server->span_began_ns[thread];

	*span = (struct txtrace_span){ .id = ((uint64_t)thread << 40) + server->next_id++,
				       .pid = 100,
				       .tid = 100 + thread,
				       .end_tid = 100 + thread,
				       .begin_ns = time_ns - wall_ns,
				       .end_ns = time_ns,
				       .work_ns = wall_ns };
	span->label = labels[next_random(&server->random) % 4];
	span->parent = next_random(&server->random) % 2 ? span->id - 1 : 0;
	span->ledger.on_cpu_ns = wall_ns / (1 + next_random(&server->random) % 4);
	if (next_random(&server->random) % 2)
		span->ledger.runnable_ns = (wall_ns - span->ledger.on_cpu_ns) / 7;
	span->ledger.blocked_ns[next_random(&server->random) % 3] = wall_ns - span->ledger.on_cpu_ns -
								    span->ledger.runnable_ns;
	server->span_began_ns[thread] = time_ns + some_ns(server, 2000);
}

static void server_leave(struct server *server, struct stream *stream, uint32_t cpu, uint64_t time_ns)
{
	static const struct txtrace_run departures[] = {
		{ .left_as = TXTRACE_LEFT_BLOCKED,
		  .reason = TXTRACE_BLOCK_NETWORK,
		  .syscall_nr = 45,
		  .object = 7 },
		{ .left_as = TXTRACE_LEFT_BLOCKED,
		  .reason = TXTRACE_BLOCK_LOCK,
		  .syscall_nr = 202,
		  .object = 0x7f0000000040 },
		{ .left_as = TXTRACE_LEFT_BLOCKED,
		  .reason = TXTRACE_BLOCK_DISK,
		  .syscall_nr = 74,
		  .object = 5 },
		{ .left_as = TXTRACE_LEFT_PREEMPTED, .syscall_nr = -1 },
	};
	uint32_t thread = server->on_cpu[cpu];
	struct txtrace_run *run = &append(stream, TXTRACE_RECORD_RUN)->run;

	*run = departures[next_random(&server->random) % 4];
	run->tid = 100 + thread;
	run->pid = 100;
	run->cpu = cpu;
	run->begin_ns = server->began_ns[cpu];
	run->end_ns = time_ns;
	run->blocked_ns = server->woken_ns[thread] - server->left_ns[thread];
	run->runnable_ns = run->begin_ns - server->woken_ns[thread];
	if (run->reason == TXTRACE_BLOCK_LOCK && run->object)
		run->object += next_random(&server->random) % 8 * 64;
	server->left_ns[thread] = time_ns;
	server->woken_ns[thread] = run->left_as == TXTRACE_LEFT_PREEMPTED ? time_ns : 0;
	server->is_running[thread] = false;
}

static void server_run_next(struct server *server, uint32_t cpu, uint64_t time_ns)
{
	uint32_t thread = server->on_cpu[cpu];

	do
		thread = (thread + 1) % server->thread_cnt;
	while (server->is_running[thread]);
	server->began_ns[cpu] = time_ns;
	if (!server->woken_ns[thread]) { /* nobody was: the CPU idles until a timer wakes this one */
		server->woken_ns[thread] = time_ns + 20000;
		server->began_ns[cpu] = time_ns + 20000 + some_ns(server, 3000);
	}
	server->on_cpu[cpu] = thread;
	server->is_running[thread] = true;
	server->ends_ns[cpu] = server->began_ns[cpu] + some_ns(server, 40000);
}

static void make_server(struct stream *stream, uint32_t thread_cnt, uint32_t cpu_cnt)
{
	struct server *server = calloc(1, sizeof(*server));

	if (!server)
		abort();
	server->random = 362436069362436069u;
	server->thread_cnt = thread_cnt;
	server->cpu_cnt = cpu_cnt;
	for (uint32_t i = 0; i < thread_cnt; i++)
		server->left_ns[i] = server->woken_ns[i] = server->span_began_ns[i] = 3600000000000;
	for (uint32_t cpu = 0; cpu < cpu_cnt; cpu++)
		server_run_next(server, cpu, 3600000000000);
	while (stream->cnt < RECORDS) {
		uint32_t cpu = 0;
		uint64_t time_ns;

		for (uint32_t i = 1; i < cpu_cnt; i++)
			cpu = server->ends_ns[i] < server->ends_ns[cpu] ? i : cpu;
		time_ns = server->ends_ns[cpu];
		server_wake(server, stream, cpu, time_ns - 300 - next_random(&server->random) % 100);
		if (next_random(&server->random) % 3 == 0)
			server_span(server, stream, server->on_cpu[cpu],
				    time_ns - 100 - next_random(&server->random) % 100);
		server_leave(server, stream, cpu, time_ns);
		server_run_next(server, cpu, time_ns);
	}
	free(server);
}

static struct txtrace_string keep(struct txtrace_string string)
{
	char *bytes = string.length ? malloc(string.length) : NULL;

	if (bytes)
		memcpy(bytes, string.bytes, string.length);
	string.bytes = bytes;
	return string;
}

static void keep_strings(struct txtrace_record *record)
{
	switch (record->kind) {
	case TXTRACE_RECORD_SPAN:
		record->span.label = keep(record->span.label);
		record->span.tag = keep(record->span.tag);
		record->span.key = keep(record->span.key);
		break;
	case TXTRACE_RECORD_WAKE:
		record->wake.waker_comm = keep(record->wake.waker_comm);
		break;
	case TXTRACE_RECORD_THREAD:
		record->thread.comm = keep(record->thread.comm);
		break;
	case TXTRACE_RECORD_ATTRIBUTE:
		record->attribute.name = keep(record->attribute.name);
		record->attribute.string = keep(record->attribute.string);
		break;
	case TXTRACE_RECORD_INSTANT:
		record->instant.name = keep(record->instant.name);
		break;
	case TXTRACE_RECORD_COUNTER:
		record->counter.name = keep(record->counter.name);
		break;
	case TXTRACE_RECORD_LINK:
		record->link.name = keep(record->link.name);
		break;
	case TXTRACE_RECORD_OPEN_SPAN:
		record->open_span.label = keep(record->open_span.label);
		record->open_span.key = keep(record->open_span.key);
		break;
	case TXTRACE_RECORD_OBJECT:
		record->object.name = keep(record->object.name);
		break;
	case TXTRACE_RECORD_FRAMES:
		record->frames.names = keep(record->frames.names);
		break;
	case TXTRACE_RECORD_OTHER_RUN:
		record->other_run.comm = keep(record->other_run.comm);
		break;
	case TXTRACE_RECORD_COST:
		record->cost.event = keep(record->cost.event);
		break;
	}
}

static void read_stream(struct stream *stream, const char *path)
{
	struct txtrace_record record;
	struct txtrace_log *log;
	int err = txtrace_log_open(&log, path);

	if (err) {
		fprintf(stderr, "log_codec: '%s': %s\n", path, txtrace_log_strerror(NULL, err));
		exit(1);
	}
	while (txtrace_log_next(log, &record) > 0) {
		keep_strings(&record);
		*append(stream, record.kind) = record;
	}
	txtrace_log_close(log);
}

/* ---- measuring ---- */

static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

struct result {
	double bytes;
	double encode_s[ROUNDS];
	double decode_s[ROUNDS];
};

static void check(int err, const char *what)
{
	if (err < 0) {
		fprintf(stderr, "log_codec: %s failed: %s\n", what, strerror(-err));
		exit(1);
	}
}

static void measure_log(const struct stream *stream, const char *path, enum log_codec codec,
			unsigned int round, struct result *result)
{
	struct log_writer_options options = { .codec = codec };
	struct txtrace_log_info info = { .cpu_cnt = 2 };
	struct txtrace_record record;
	struct log_writer *writer;
	struct txtrace_log *log;
	size_t cnt = 0;
	double begin;

	check(log_writer_open(&writer, path, &info, &options), "writing");
	begin = cpu_seconds();
	for (size_t i = 0; i < stream->cnt; i++)
		check(log_writer_add(writer, &stream->records[i]), "writing");
	check(log_writer_flush(writer), "writing");
	result->encode_s[round] = cpu_seconds() - begin;
	result->bytes = (double)log_writer_bytes(writer);
	check(log_writer_close(writer), "writing");

	check(txtrace_log_open(&log, path), "reading");
	begin = cpu_seconds();
	while (txtrace_log_next(log, &record) > 0)
		cnt++;
	result->decode_s[round] = cpu_seconds() - begin;
	txtrace_log_close(log);
	if (cnt != stream->cnt)
		check(-EIO, "reading all records");
}

/* What a trace of plain structs would be: the kind's struct with its strings as numbers. */
static size_t struct_bytes(uint32_t kind)
{
	return kind == TXTRACE_RECORD_SPAN ? offsetof(struct txtrace_span, label) + 12 :
	       kind == TXTRACE_RECORD_RUN  ? sizeof(struct txtrace_run) :
					     offsetof(struct txtrace_wake, waker_comm) + 4;
}

static void measure_structs(const struct stream *stream, unsigned int round, struct result *result)
{
	size_t stored_capacity = ZSTD_compressBound(CHUNK_BYTES), used = 0, stored;
	uint8_t *chunk = malloc(CHUNK_BYTES), *back = malloc(CHUNK_BYTES), *out = malloc(stored_capacity);
	double begin;

	result->bytes = result->encode_s[round] = result->decode_s[round] = 0;
	for (size_t i = 0; i < stream->cnt; i++) {
		size_t length = struct_bytes(stream->records[i].kind);

		memcpy(chunk + used, &stream->records[i].span, length);
		used += length;
		if (used + sizeof(struct txtrace_span) <= CHUNK_BYTES && i + 1 < stream->cnt)
			continue;
		begin = cpu_seconds();
		stored = ZSTD_compress(out, stored_capacity, chunk, used, 3);
		result->encode_s[round] += cpu_seconds() - begin;
		begin = cpu_seconds();
		ZSTD_decompress(back, CHUNK_BYTES, out, stored);
		result->decode_s[round] += cpu_seconds() - begin;
		result->bytes += (double)stored;
		used = 0;
	}
	free(chunk);
	free(back);
	free(out);
}

static int by_value(const void *a, const void *b)
{
	double difference = *(const double *)a - *(const double *)b;

	return difference < 0 ? -1 : difference > 0;
}

static double median(double *values)
{
	qsort(values, ROUNDS, sizeof(*values), by_value);
	return values[ROUNDS / 2];
}

static void print_each(double bytes, size_t cnt)
{
	if (cnt)
		printf(" %9.3f", bytes / (double)cnt);
	else
		printf(" %9s", "");
}

static void print_result(const char *name, const struct stream *stream, struct result *result)
{
	double cnt = (double)stream->cnt;

	printf("  %-22s %7.3f", name, result->bytes / cnt);
	print_each(result->bytes, stream->switch_cnt);
	print_each(result->bytes, stream->span_cnt);
	printf(" %9.1f %9.1f\n", median(result->encode_s) / cnt * 1e9, cnt / median(result->decode_s) * 1e-6);
}

static void measure(const char *name, const struct stream *stream)
{
	static const char *const codecs[] = { "none", "zstd", "LZ4" };
	struct result results[4] = { 0 };
	char path[64];

	if (!stream->cnt)
		return;
	snprintf(path, sizeof(path), "/dev/shm/log_codec.%d", (int)getpid());
	for (unsigned int round = 0; round < ROUNDS; round++) {
		for (unsigned int codec = 0; codec < 3; codec++)
			measure_log(stream, path, codec, round, &results[codec]);
		measure_structs(stream, round, &results[3]);
	}
	unlink(path);
	printf("\n%s: %zu records, of them %zu stays and %zu spans\n", name, stream->cnt, stream->switch_cnt,
	       stream->span_cnt);
	printf("  %-22s %7s %9s %9s %9s %9s\n", "", "B/rec", "B/switch", "B/span", "enc ns", "dec M/s");
	for (unsigned int codec = 0; codec < 3; codec++)
		print_result(codecs[codec], stream, &results[codec]);
	print_result("fixed structs + zstd", stream, &results[3]);
}

/* The records of some kinds alone. */
static void measure_kinds(const char *name, const char *what, const struct stream *all, uint32_t kinds)
{
	struct stream stream = { 0 };
	char title[4096];

	for (size_t i = 0; i < all->cnt; i++)
		if (kinds >> all->records[i].kind & 1)
			*append(&stream, all->records[i].kind) = all->records[i];
	snprintf(title, sizeof(title), "%s, %s", name, what);
	measure(title, &stream);
	free(stream.records);
}

#define KIND(kind) (1u << TXTRACE_RECORD_##kind)

static void measure_parts(const char *name, const struct stream *all)
{
	if (all->span_cnt < RECORDS / 1000)
		return;
	measure_kinds(name, "spans alone", all, KIND(SPAN));
	measure_kinds(name, "stays on CPUs and wakeups alone", all, KIND(RUN) | KIND(WAKE));
	measure_kinds(name, "all but spans and their stays", all, ~(KIND(SPAN) | KIND(STAY)));
}

int main(int argc, char **argv)
{
	struct stream stream = { 0 };

	make_storm(&stream);
	measure("storm of switches", &stream);
	stream = (struct stream){ .records = stream.records, .capacity = stream.capacity };
	make_server(&stream, 8, 2);
	measure("server, 8 threads on 2 CPUs", &stream);
	measure_parts("server, 8 threads on 2 CPUs", &stream);
	stream = (struct stream){ .records = stream.records, .capacity = stream.capacity };
	make_server(&stream, 500, 32);
	measure("server, 500 threads on 32 CPUs", &stream);
	for (int i = 1; i < argc; i++) {
		stream = (struct stream){ .records = stream.records, .capacity = stream.capacity };
		read_stream(&stream, argv[i]);
		measure(argv[i], &stream);
		measure_parts(argv[i], &stream);
	}
	free(stream.records);
	return 0;
}
