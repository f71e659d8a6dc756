/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * attribution_speed [ROUNDS [LOAD]]: how many events a second one core decodes and attributes. The records
 * lie in memory as the rings would hand them over; what comes out is thrown away. Loads: a mix like that of a
 * server; each side of it alone; 50,000 threads that get into 1,000,000 spans at once and out again (growth:
 * all memory is taken for the first time); the same while a million are open (crowd: each thread ends its
 * oldest span, sleeps, begins another; scattered: the same, threads and spans in an order that no cache
 * foresees); and 50,000 threads in one span (shared: each leaves it, sleeps, enters it again). By CPU time;
 * median of the rounds (9), with the quartiles. Then what memory an open span and a thread take, and that a
 * capture that is ten times as long takes no more.
 */
#include <inttypes.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "attribute/attribution.h"
#include "event/event_decode.h"

#define WORKERS 64
#define CROWD 50000        /* threads, each in CROWD_SPANS spans at once: a million open spans */
#define CROWD_SPANS 20
#define SCATTER 17389      /* has no divisor in common with CROWD */
#define CPUS 8
#define FIRST_TID 1000
#define RUN_EVENTS 1024
#define TGID 999

/* ---- a stream ---- */

struct worker {
	struct wire_clocks clocks;
	uint64_t since_ns;
	bool has_moved;
	uint32_t cpu;
};

struct stream {
	unsigned char *bytes;
	size_t size, room, warm_size; /* what lies before warm_size is not measured */
	size_t event_cnt;
	uint64_t now_ns, next_id;
	uint32_t worker_cnt;
	struct worker *workers;
};

static void *append(struct stream *stream, uint8_t kind, uint32_t worker, size_t size)
{
	struct wire_header *header;

	if (stream->size + size > stream->room) {
		stream->room = stream->room ? stream->room * 2 : 1 << 20;
		stream->bytes = realloc(stream->bytes, stream->room);
		if (!stream->bytes)
			abort();
	}
	header = (void *)(stream->bytes + stream->size);
	memset(header, 0, size);
	stream->now_ns += 100;
	*header = (struct wire_header){
		.time_ns = stream->now_ns,
		.tid = FIRST_TID + worker,
		.tgid = TGID,
		.kind = kind,
		.cpu = stream->workers[worker].cpu,
		.size = size,
	};
	stream->size += size;
	stream->event_cnt++;
	return header;
}

static void add_thread(struct stream *stream, uint32_t worker)
{
	struct wire_thread *event;

	stream->workers[worker].cpu = worker % CPUS;
	event = append(stream, WIRE_THREAD, worker, sizeof(*event));
	event->born_ns = stream->now_ns;
	event->state = WIRE_THREAD_ON_CPU;
	stream->workers[worker].clocks.born_ns = stream->workers[worker].since_ns = stream->now_ns;
	stream->workers[worker].has_moved = true;
}

static void add_span_event(struct stream *stream, uint8_t kind, uint32_t worker, uint64_t id, uint64_t parent)
{
	struct worker *self = &stream->workers[worker];
	size_t clocks_size = self->has_moved ? sizeof(struct wire_clocks) : 0;
	struct wire_span *event = append(stream, kind, worker, sizeof(*event) + clocks_size);

	event->id = id;
	event->parent = parent;
	event->label = kind == WIRE_BEGIN ? 1 : 0;
	if (!clocks_size)
		return;
	event->header.flags = WIRE_HAS_CLOCKS;
	self->clocks.on_cpu_ns += stream->now_ns - self->since_ns;
	self->since_ns = stream->now_ns;
	memcpy(event + 1, &self->clocks, sizeof(self->clocks));
	self->has_moved = false;
}

/* Off the CPU, woken, on again: three events, as for one sleep between two idle times. */
static void add_sleep(struct stream *stream, uint32_t worker)
{
	struct worker *self = &stream->workers[worker];
	struct wire_switch *event = append(stream, WIRE_SWITCH, worker, sizeof(*event));
	struct wire_wake *wake;

	event->left_as = WIRE_LEFT_BLOCKED;
	event->reason = BLOCK_LOCK;
	self->clocks.on_cpu_ns += stream->now_ns - self->since_ns;
	wake = append(stream, WIRE_WAKE, (worker + 1) % stream->worker_cnt, sizeof(*wake));
	wake->wakee_tid = FIRST_TID + worker;
	wake->wakee_tgid = TGID;
	memcpy(wake->waker_comm, "worker", 7);
	self->clocks.blocked_ns[BLOCK_LOCK] += 100;
	event = append(stream, WIRE_SWITCH, worker, sizeof(*event));
	event->header.tid = event->header.tgid = 0;
	event->next_tid = FIRST_TID + worker;
	event->next_tgid = TGID;
	event->next_is_traced = 1;
	self->clocks.runnable_ns += 100;
	self->since_ns = stream->now_ns;
	self->has_moved = true;
}

/* A transaction: a span with a child, each with so many sleeps. */
static void add_transaction(struct stream *stream, uint32_t worker, int sleep_cnt)
{
	uint64_t id = ++stream->next_id, child = ++stream->next_id;

	add_span_event(stream, WIRE_BEGIN, worker, id, 0);
	for (int i = 0; i < sleep_cnt; i++)
		add_sleep(stream, worker);
	add_span_event(stream, WIRE_BEGIN, worker, child, id);
	for (int i = 0; i < sleep_cnt; i++)
		add_sleep(stream, worker);
	add_span_event(stream, WIRE_END, worker, child, 0);
	add_span_event(stream, WIRE_END, worker, id, 0);
}

/* Every thread begins all of its spans. */
static void add_crowd(struct stream *stream)
{
	for (uint64_t i = 0; i < CROWD_SPANS; i++)
		for (uint32_t worker = 0; worker < stream->worker_cnt; worker++)
			add_span_event(stream, WIRE_BEGIN, worker, ++stream->next_id, 0);
}

/* Every thread ends its oldest span. */
static void add_end(struct stream *stream, uint32_t worker, uint64_t turn)
{
	add_span_event(stream, WIRE_END, worker, turn * stream->worker_cnt + worker + 1, 0);
}

static void add_growth(struct stream *stream)
{
	add_crowd(stream);
	for (uint32_t worker = 0; worker < stream->worker_cnt; worker++)
		add_sleep(stream, worker);
	for (uint64_t turn = 0; turn < CROWD_SPANS; turn++)
		for (uint32_t worker = 0; worker < stream->worker_cnt; worker++)
			add_end(stream, worker, turn);
}

/*
 * The measured part begins when a million are open. Threads come in the order of their numbers, or far from
 * each other: by another stride.
 */
static void add_churn(struct stream *stream, size_t event_cnt, uint32_t stride)
{
	add_crowd(stream);
	stream->warm_size = stream->size;
	stream->event_cnt = 0;
	for (uint64_t turn = 0; stream->event_cnt < event_cnt; turn++)
		for (uint32_t i = 0; i < stream->worker_cnt; i++) {
			uint32_t worker = (uint32_t)((uint64_t)i * stride % stream->worker_cnt);

			add_end(stream, worker, turn);
			add_sleep(stream, worker);
			add_span_event(stream, WIRE_BEGIN, worker, ++stream->next_id, 0);
		}
}

/*
 * All threads are in one span; the one that is in it for the longest leaves it, and comes again. The measured
 * part begins when all are in.
 */
static void add_shared(struct stream *stream, size_t event_cnt)
{
	add_span_event(stream, WIRE_BEGIN_DETACHED, 0, 1, 0);
	for (uint32_t worker = 0; worker < stream->worker_cnt; worker++)
		add_span_event(stream, WIRE_ENTER, worker, 1, 0);
	stream->warm_size = stream->size;
	stream->event_cnt = 0;
	for (uint32_t worker = 0; stream->event_cnt < event_cnt; worker = (worker + 1) % stream->worker_cnt) {
		add_span_event(stream, WIRE_LEAVE, worker, 1, 0);
		add_sleep(stream, worker);
		add_span_event(stream, WIRE_ENTER, worker, 1, 0);
	}
}

enum load { MIX, SWITCHES, SPANS, GROWTH, CROWD_CHURN, SCATTERED, SHARED, LOAD_COUNT };

static const char *const load_names[] = {
	"mix", "switches", "spans", "growth", "crowd", "scattered", "shared"
};

/* mix: 2 switches and a wakeup for each begin or end with clocks moved. */
static void make_stream(struct stream *stream, enum load load, size_t event_cnt)
{
	*stream = (struct stream){ .now_ns = 1000000, .worker_cnt = load >= GROWTH ? CROWD : WORKERS };
	stream->workers = calloc(stream->worker_cnt, sizeof(*stream->workers));
	if (!stream->workers)
		abort();
	for (uint32_t worker = 0; worker < stream->worker_cnt; worker++)
		add_thread(stream, worker);
	if (load == GROWTH)
		add_growth(stream);
	else if (load == CROWD_CHURN)
		add_churn(stream, event_cnt, 1);
	else if (load == SCATTERED)
		add_churn(stream, event_cnt, SCATTER);
	else if (load == SHARED)
		add_shared(stream, event_cnt);
	for (uint32_t worker = 0; stream->event_cnt < event_cnt;
	     worker = (worker + 17) % stream->worker_cnt) {
		if (load == SWITCHES)
			add_sleep(stream, worker);
		else
			add_transaction(stream, worker, load == MIX ? 2 : 0);
	}
}

/* ---- its attribution ---- */

static int read_label(void *context, uint32_t tgid, uint64_t address, struct event_text *label)
{
	(void)context, (void)tgid, (void)address;
	*label = (struct event_text){ .bytes = "commit", .length = 6 };
	return 0;
}

static int count_record(void *context, const struct txtrace_record *record)
{
	(void)record;
	++*(uint64_t *)context;
	return 0;
}

static size_t size_at(const struct stream *stream, size_t place)
{
	return ((const struct wire_header *)(stream->bytes + place))->size;
}

/* So many records behind that one, or the end. */
static size_t place_behind(const struct stream *stream, size_t place, unsigned int cnt, size_t to)
{
	while (cnt-- && place < to)
		place += size_at(stream, place);
	return place;
}

/* As the recorder does with what waits in the merge. ahead: where it is. */
static void look_ahead(struct attribution *attribution, const struct stream *stream, size_t from, size_t to,
		       size_t *ahead)
{
	struct event_subject subject;

	if (*ahead <= from)
		*ahead = place_behind(stream, from, ATTRIBUTION_AHEAD, to);
	if (*ahead >= to)
		return;
	subject = event_subject(stream->bytes + *ahead, size_at(stream, *ahead));
	attribution_expect(attribution, &subject);
	*ahead += size_at(stream, *ahead);
}

static int feed(struct attribution *attribution, const struct stream *stream, size_t from, size_t to)
{
	static const struct label_source labels = { .read = read_label };
	size_t ahead = 0;
	bool wants_expectations = false;
	int err = 0;

	for (size_t i = 0; !err && from < to; i++) {
		const struct wire_header *header = (const void *)(stream->bytes + from);
		struct event event;

		if (i % RUN_EVENTS == 0)
			wants_expectations = attribution_wants_expectations(attribution);
		if (wants_expectations)
			look_ahead(attribution, stream, from, to, &ahead);
		err = event_decode(header, header->size, &labels, &event);
		if (!err)
			err = attribution_feed(attribution, &event);
		from += header->size;
	}
	return err;
}

/* Seconds, or a negative number: it went wrong. */
static double attribute(const struct stream *stream)
{
	uint64_t record_cnt = 0;
	struct attribution *attribution = attribution_new(count_record, &record_cnt);
	struct attribution_stats stats;
	struct timespec begin, end;
	int err = attribution ? feed(attribution, stream, 0, stream->warm_size) : -1;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
	if (!err)
		err = feed(attribution, stream, stream->warm_size, stream->size);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
	if (!err)
		attribution_stats(attribution, &stats);
	attribution_free(attribution);
	if (err || stats.anomaly_cnt[TXTRACE_ANOMALY_CLOCK_MISMATCH] ||
	    stats.anomaly_cnt[TXTRACE_ANOMALY_IMBALANCE])
		return -1;
	return (end.tv_sec - begin.tv_sec) + (end.tv_nsec - begin.tv_nsec) / 1e9;
}

/* ---- what it holds ---- */

static size_t held_bytes(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

/* What the attribution holds after the first `size` bytes of the stream, in bytes; 0: it went wrong. */
static size_t held_after(const struct stream *stream, size_t size)
{
	size_t before = held_bytes(), held = 0;
	uint64_t record_cnt = 0;
	struct attribution *attribution = attribution_new(count_record, &record_cnt);

	if (attribution && !feed(attribution, stream, 0, size))
		held = held_bytes() - before;
	attribution_free(attribution);
	return held;
}

static bool print_memory(void)
{
	struct stream crowd, shorter, longer;
	size_t threads, spans, in_short, in_long;

	make_stream(&crowd, CROWD_CHURN, 1);
	make_stream(&shorter, MIX, 100000);
	make_stream(&longer, MIX, 1000000);
	threads = held_after(&crowd, CROWD * sizeof(struct wire_thread));
	spans = held_after(&crowd, crowd.warm_size) - threads;
	in_short = held_after(&shorter, shorter.size);
	in_long = held_after(&longer, longer.size);
	if (threads && in_short && in_long) {
		printf("memory    %.0f bytes per thread of %d, %.0f per open span of %d\n",
		       (double)threads / CROWD, CROWD, (double)spans / (CROWD * CROWD_SPANS),
		       CROWD * CROWD_SPANS);
		printf("          %zu bytes after %zu events of %d threads, %zu after %zu\n", in_short,
		       shorter.event_cnt, WORKERS, in_long, longer.event_cnt);
	}
	free(crowd.bytes);
	free(crowd.workers);
	free(shorter.bytes);
	free(shorter.workers);
	free(longer.bytes);
	free(longer.workers);
	return threads && in_short && in_long;
}

static int compare(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

static void print_speed(const struct stream *stream, const char *name, double *seconds, int rounds)
{
	double events = stream->event_cnt / 1e6;

	qsort(seconds, rounds, sizeof(*seconds), compare);
	printf("%-8s  %6.1f M events/s  (%.1f to %.1f), %.1f ns per event, %.0f bytes per event\n", name,
	       events / seconds[rounds / 2], events / seconds[rounds * 3 / 4], events / seconds[rounds / 4],
	       seconds[rounds / 2] * 1e3 / events,
	       (double)(stream->size - stream->warm_size) / stream->event_cnt);
}

static bool measure(const bool is_wanted[], int rounds)
{
	struct stream streams[LOAD_COUNT] = { 0 };
	double *seconds = calloc(rounds, LOAD_COUNT * sizeof(*seconds));

	if (!seconds)
		abort();
	for (int load = 0; load < LOAD_COUNT; load++)
		if (is_wanted[load])
			make_stream(&streams[load], load, 1000000);
	for (int i = 0; i < rounds * LOAD_COUNT; i++) { /* interleaved */
		int load = i % LOAD_COUNT;
		double *to = &seconds[load * rounds + i / LOAD_COUNT];

		*to = is_wanted[load] ? attribute(&streams[load]) : 0;
		if (*to < 0) {
			fprintf(stderr, "attribution_speed: the attribution of '%s' went wrong\n",
				load_names[load]);
			return false;
		}
	}
	for (int load = 0; load < LOAD_COUNT; load++) {
		if (is_wanted[load])
			print_speed(&streams[load], load_names[load], &seconds[load * rounds], rounds);
		free(streams[load].bytes);
		free(streams[load].workers);
	}
	free(seconds);
	return true;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 9;
	bool is_wanted[LOAD_COUNT];
	int wanted_cnt = 0;

	for (int load = 0; load < LOAD_COUNT; load++)
		wanted_cnt += is_wanted[load] = argc < 3 || !strcmp(argv[2], load_names[load]);
	if (rounds < 1 || !wanted_cnt) {
		fprintf(stderr, "usage: attribution_speed [ROUNDS "
				"[mix|switches|spans|growth|crowd|scattered|shared]]\n");
		return 2;
	}
	return measure(is_wanted, rounds) && print_memory() ? 0 : 1;
}
