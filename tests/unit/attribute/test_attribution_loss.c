/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Streams that were recorded on a real kernel (tests/replay/recorded), and stories of keyed spans of several
 * processes, lose events, at random, 10,000 times. Whatever is lost: a span that is not marked as a lower
 * bound is, to the byte, what it is when nothing is lost. How many are marked though nothing of theirs was
 * lost is shown.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attribute/attribution.h"
#include "event/event_decode.h"
#include "event/stream.h"

#define EVENT_MAX 2048
#define SPAN_MAX 512
#define CPU_MAX 8
#define TID_MAX 64
#define ROUNDS 10000

/* ---- a recorded stream ---- */

struct recording {
	struct stream_event_storage *storages[EVENT_MAX]; /* what the events refer to */
	struct event events[EVENT_MAX];
	size_t event_cnt;
};

static void recording_load(struct recording *recording, const char *path)
{
	FILE *in = fopen(path, "r");
	int result = 1;

	assert_non_null(in);
	recording->event_cnt = 0;
	while (result == 1) {
		struct stream_event_storage *storage = calloc(1, sizeof(*storage));

		assert_non_null(storage);
		assert_true(recording->event_cnt < EVENT_MAX);
		recording->storages[recording->event_cnt] = storage;
		result = stream_read(in, storage, &recording->events[recording->event_cnt]);
		if (result == 1)
			recording->event_cnt++;
		else
			free(storage);
	}
	assert_int_equal(result, 0);
	assert_true(recording->event_cnt > 0);
	fclose(in);
}

static void recording_release(struct recording *recording)
{
	for (size_t i = 0; i < recording->event_cnt; i++)
		free(recording->storages[i]);
}

/* ---- what comes of it ---- */

struct result {
	struct txtrace_span spans[SPAN_MAX];
	char texts[SPAN_MAX][256]; /* label, tag, key */
	size_t cnt;
	struct attribution_stats stats;
};

static int take_record(void *context, const struct txtrace_record *record)
{
	struct result *result = context;
	const struct txtrace_span *span = &record->span;

	if (record->kind != TXTRACE_RECORD_SPAN)
		return 0;
	assert_true(result->cnt < SPAN_MAX);
	result->spans[result->cnt] = *span;
	snprintf(result->texts[result->cnt++], sizeof(result->texts[0]), "%.*s|%.*s|%.*s",
		 (int)span->label.length, span->label.bytes, (int)span->tag.length, span->tag.bytes,
		 (int)span->key.length, span->key.bytes);
	return 0;
}

static void attribute(const struct event *events, size_t event_cnt, struct result *result)
{
	struct attribution *attribution = attribution_new(take_record, result);

	assert_non_null(attribution);
	result->cnt = 0;
	for (size_t i = 0; i < event_cnt; i++)
		assert_int_equal(attribution_feed(attribution, &events[i]), 0);
	assert_int_equal(attribution_finish(attribution, events[event_cnt - 1].time_ns), 0);
	attribution_stats(attribution, &result->stats);
	attribution_free(attribution);
}

/* ---- loss ---- */

static uint64_t draw(uint64_t *random)
{
	uint64_t z = *random += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

/* Which events are lost: of some kinds, here and there, or all of them on one CPU for a while. */
struct plan {
	bool loses_span_events, loses_sched_events;
	unsigned int chance; /* one of so many; 0: all on that CPU in that range of time */
	uint32_t cpu;
	uint64_t first_ns, last_ns;
};

static struct plan draw_plan(const struct recording *recording, uint64_t *random)
{
	const struct event *first = &recording->events[draw(random) % recording->event_cnt];
	unsigned int kinds = 1 + draw(random) % 3;

	return (struct plan){
		.loses_span_events = kinds & 1,
		.loses_sched_events = kinds & 2,
		.chance = draw(random) % 2 ? 2 + draw(random) % 200 : 0,
		.cpu = first->cpu,
		.first_ns = first->time_ns,
		.last_ns = first->time_ns + draw(random) % 20000000,
	};
}

static bool is_lost(const struct plan *plan, const struct event *event, uint64_t *random)
{
	if (wire_kind_is_span(event->kind) ? !plan->loses_span_events : !plan->loses_sched_events)
		return false;
	if (plan->chance)
		return draw(random) % plan->chance == 0;
	return event->cpu == plan->cpu && event->time_ns >= plan->first_ns && event->time_ns <= plan->last_ns;
}

/* What is left of a stream, with what the reader of the rings says about the rest. */
struct lossy {
	struct event events[2 * EVENT_MAX];
	struct wire_clocks clocks[EVENT_MAX];
	size_t event_cnt, lost_cnt;
	struct event losses[CPU_MAX]; /* not told yet; of kind 0: none */
	struct {
		uint32_t tid;
		uint64_t time_ns;
		struct wire_clocks clocks;
		bool is_owed;
	} readings[TID_MAX];
};

static void lose(struct lossy *lossy, const struct event *event, bool is_early)
{
	struct event *loss = &lossy->losses[event->cpu];

	assert_true(event->cpu < CPU_MAX);
	if (!loss->kind)
		*loss = (struct event){ .kind = EVENT_LOSS,
					.cpu = event->cpu,
					.time_ns = event->time_ns - is_early };
	loss->loss.last_ns = event->time_ns;
	loss->loss.kinds |= UINT64_C(1) << event->kind;
	loss->loss.span_event_cnt += wire_kind_is_span(event->kind);
	loss->loss.sched_event_cnt += !wire_kind_is_span(event->kind);
	lossy->lost_cnt++;
}

static void tell_losses(struct lossy *lossy)
{
	for (int cpu = 0; cpu < CPU_MAX; cpu++) {
		if (lossy->losses[cpu].kind)
			lossy->events[lossy->event_cnt++] = lossy->losses[cpu];
		lossy->losses[cpu].kind = 0;
	}
}

/*
 * The kernel side sends clocks along if they have moved since the last event that got through. So when an
 * event with clocks is lost, the thread's next one has them.
 */
static void pay_clocks(struct lossy *lossy, struct event *event, bool is_event_lost, size_t number)
{
	size_t i = 0;

	if (!wire_kind_is_span(event->kind) || event->flags & WIRE_NO_CLOCKS)
		return;
	while (i < TID_MAX - 1 && lossy->readings[i].tid && lossy->readings[i].tid != event->tid)
		i++;
	lossy->readings[i].tid = event->tid;
	if (event->clocks) {
		lossy->readings[i].clocks = *event->clocks;
		lossy->readings[i].time_ns = event->time_ns;
		lossy->readings[i].is_owed = is_event_lost;
	} else if (lossy->readings[i].is_owed && !is_event_lost) {
		lossy->clocks[number] = lossy->readings[i].clocks;
		lossy->clocks[number].on_cpu_ns += event->time_ns - lossy->readings[i].time_ns;
		event->clocks = &lossy->clocks[number];
		event->flags |= WIRE_HAS_CLOCKS;
		lossy->readings[i].is_owed = false;
	}
}

/* Marks and counters have no clocks. */
static bool has_clocks(uint8_t kind)
{
	return kind == EVENT_THREAD_EXIT || kind == EVENT_EXEC ||
	       (kind >= EVENT_BEGIN && kind <= EVENT_END) || kind >= EVENT_KEY_BEGIN;
}

static int compare_times(const void *a, const void *b)
{
	const struct event *left = a, *right = b;

	return (left->time_ns > right->time_ns) - (left->time_ns < right->time_ns);
}

static void make_lossy(const struct recording *recording, uint64_t *random, struct lossy *lossy)
{
	struct plan plan = draw_plan(recording, random);

	memset(lossy, 0, sizeof(*lossy));
	for (size_t i = 0; i < recording->event_cnt; i++) {
		struct event event = recording->events[i];
		bool is_event_lost = is_lost(&plan, &event, random);

		if (has_clocks(event.kind))
			pay_clocks(lossy, &event, is_event_lost, i);
		if (is_event_lost)
			lose(lossy, &event, draw(random) % 2);
		else
			lossy->events[lossy->event_cnt++] = event;
		if (draw(random) % 50 == 0)
			tell_losses(lossy);
	}
	tell_losses(lossy);
	/* glibc's is stable; equal times are rare and of no concern */
	qsort(lossy->events, lossy->event_cnt, sizeof(lossy->events[0]), compare_times);
}

/* ---- what must hold ---- */

/* Neither what losses mark, nor how a parent was found. */
#define COMPARED (TXTRACE_SPAN_UNFINISHED | TXTRACE_SPAN_IMBALANCE | TXTRACE_SPAN_KEYED | TXTRACE_SPAN_MOVED)

struct tally {
	size_t lost_cnt, span_cnt, marked_cnt, needless_cnt;
};

/* Whether an event that was lost may have led to another parent: docs/attribution.md, "Parents". */
static bool may_be_another(const struct txtrace_span *span)
{
	return span->flags & (TXTRACE_SPAN_NESTED | TXTRACE_SPAN_PARENT_LOST | TXTRACE_SPAN_PARENT_KEYED);
}

static bool is_same(const struct txtrace_span *a, const struct txtrace_span *b)
{
	return a->end_ns == b->end_ns && a->end_tid == b->end_tid && a->work_ns == b->work_ns &&
	       !memcmp(&a->ledger, &b->ledger, sizeof(a->ledger)) &&
	       (a->parent == b->parent || may_be_another(a) || may_be_another(b)) && a->tid == b->tid &&
	       (a->flags & COMPARED) == (b->flags & COMPARED);
}

/*
 * In the result without losses. Ids of keyed spans are counted, so they shift; no two spans of a thread begin
 * at one moment.
 */
static size_t find(const struct result *truth, const struct txtrace_span *span)
{
	for (size_t i = 0; i < truth->cnt; i++)
		if (truth->spans[i].begin_ns == span->begin_ns && truth->spans[i].tid == span->tid &&
		    truth->spans[i].pid == span->pid)
			return i;
	return SIZE_MAX;
}

/* The last stream can be looked at. */
static void save(const struct event *events, size_t event_cnt)
{
	const char *path = getenv("LOSSY_STREAM");
	FILE *out = path ? fopen(path, "w") : NULL;

	for (size_t i = 0; out && i < event_cnt; i++)
		stream_write_event(out, &events[i]);
	if (out)
		fclose(out);
}

static void check_span(const struct result *truth, const struct result *result, size_t i, struct tally *tally)
{
	const struct txtrace_span *span = &result->spans[i];
	size_t at = find(truth, span);
	bool is_true = at != SIZE_MAX && is_same(span, &truth->spans[at]) &&
		       !strcmp(result->texts[i], truth->texts[at]);

	tally->span_cnt++;
	tally->marked_cnt += !!(span->flags & TXTRACE_SPAN_LOSS);
	tally->needless_cnt += span->flags & TXTRACE_SPAN_LOSS && is_true;
	if (txtrace_ledger_sum_ns(&span->ledger) != span->work_ns)
		fail_msg("the ledger of the span of %" PRIu64 " does not add up", span->begin_ns);
	if (!is_true && !(span->flags & TXTRACE_SPAN_LOWER_BOUND))
		fail_msg("the span of %" PRIu64
			 " is not what it was, and not marked: LOSSY_STREAM=FILE keeps the stream",
			 span->begin_ns);
}

static void check(const struct result *truth, const struct result *result, struct tally *tally)
{
	for (size_t i = 0; i < result->cnt; i++)
		check_span(truth, result, i, tally);
	assert_int_equal(result->stats.anomaly_cnt[TXTRACE_ANOMALY_CLOCK_MISMATCH], 0);
	assert_int_equal(result->stats.anomaly_cnt[TXTRACE_ANOMALY_IMBALANCE], 0);
}

static void an_unmarked_span_is_what_it_was(void **state)
{
	static struct recording recording;
	static struct result truth, result;
	static struct lossy lossy;
	struct tally tally = { 0 };
	uint64_t random = 1;
	glob_t paths;

	(void)state;
	assert_int_equal(glob("tests/replay/recorded/*.stream", 0, NULL, &paths), 0);
	assert_int_equal(glob("tests/replay/keys*.stream", GLOB_APPEND, NULL, &paths), 0);
	for (size_t i = 0; i < paths.gl_pathc; i++) {
		recording_load(&recording, paths.gl_pathv[i]);
		attribute(recording.events, recording.event_cnt, &truth);
		for (size_t round = i; round < ROUNDS; round += paths.gl_pathc) {
			make_lossy(&recording, &random, &lossy);
			attribute(lossy.events, lossy.event_cnt, &result);
			save(lossy.events, lossy.event_cnt);
			check(&truth, &result, &tally);
			tally.lost_cnt += lossy.lost_cnt;
		}
		recording_release(&recording);
	}
	globfree(&paths);
	print_message("# MEASURED recorded streams, %d times: %zu events lost; %zu of %zu spans marked, "
		      "%zu of them as they were all the same\n",
		      ROUNDS, tally.lost_cnt, tally.marked_cnt, tally.span_cnt, tally.needless_cnt);
	assert_true(tally.lost_cnt > ROUNDS);
	assert_true(tally.marked_cnt > tally.span_cnt / 100);
	assert_true(tally.marked_cnt < tally.span_cnt * 9 / 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_unmarked_span_is_what_it_was),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
