/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random worlds with a known truth (random_world.h): what the attribution makes of their events must be that
 * truth, also when events are lost.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>

#include "attribute/attribution.h"
#include "event/stream.h"
#include "unit/random_world_life.h"

#define FIRST_NS 1000000
#define SPAN_MAX 4096

#define KIND(kind) (1u << (kind))
#define SCHED_KINDS (KIND(EVENT_SWITCH) | KIND(EVENT_WAKE))
#define THREAD_KINDS (KIND(EVENT_THREAD) | KIND(EVENT_THREAD_EXIT) | KIND(EVENT_EXEC))

struct result {
	struct txtrace_span spans[SPAN_MAX];
	struct txtrace_ledger overlaps[SPAN_MAX]; /* told in front of each */
	size_t span_cnt;
	struct txtrace_run runs[SPAN_MAX];
	size_t run_cnt;
	struct attribution_stats stats;
	struct txtrace_overlap overlap; /* the last that was told; span 0: its span was, too */
};

static struct result result;

static int take_record(void *context, const struct txtrace_record *record)
{
	struct result *to = context;

	if (record->kind == TXTRACE_RECORD_OVERLAP)
		to->overlap = record->overlap;
	if (record->kind == TXTRACE_RECORD_SPAN) {
		assert_true(to->span_cnt < SPAN_MAX);
		to->overlaps[to->span_cnt] = (struct txtrace_ledger){ 0 };
		if (to->overlap.span) { /* of this one, and of no other */
			assert_int_equal(to->overlap.span, record->span.id);
			assert_int_equal(to->overlap.pid, record->span.pid);
			assert_int_equal(to->overlap.time_ns, record->span.end_ns);
			to->overlaps[to->span_cnt] = to->overlap.ledger;
			to->overlap.span = 0;
		}
		to->spans[to->span_cnt++] = record->span;
	} else if (record->kind == TXTRACE_RECORD_RUN) {
		assert_true(to->run_cnt < SPAN_MAX);
		to->runs[to->run_cnt++] = record->run;
	}
	return 0;
}

/* What follows, or nothing that there is. */
static void expect(struct attribution *attribution, const struct world_event *events, size_t at, size_t cnt)
{
	size_t idx = at + ATTRIBUTION_AHEAD;
	struct event_subject subject = { 0 };

	if (idx < cnt) {
		const struct event *event = &events[idx].event;

		subject = (struct event_subject){ event->tgid, event->tid, event->span.id };
	}
	attribution_expect(attribution, &subject);
}

/* Checkpoints and expectations now and then: they must change nothing. */
static void attribute(const struct world_event *events, size_t event_cnt, uint64_t end_ns, struct result *to)
{
	struct attribution *attribution = attribution_new(take_record, to);

	assert_non_null(attribution);
	to->span_cnt = to->run_cnt = 0;
	to->overlap.span = 0;
	for (size_t i = 0; i < event_cnt; i++) {
		if (i & 1)
			expect(attribution, events, i, event_cnt);
		assert_int_equal(attribution_feed(attribution, &events[i].event), 0);
		if (i % 100 == 99)
			assert_int_equal(attribution_checkpoint(attribution, events[i].event.time_ns), 0);
	}
	assert_int_equal(attribution_finish(attribution, end_ns), 0);
	attribution_stats(attribution, &to->stats);
	attribution_free(attribution);
}

/* ---- a world that is not as it should be can be looked at ---- */

static void save(const struct world *world)
{
	const char *path = getenv("RANDOM_WORLD_STREAM");
	FILE *out = path ? fopen(path, "w") : NULL;

	for (size_t i = 0; out && i < world->event_cnt; i++)
		stream_write_event(out, &world->events[i].event);
	if (out)
		fclose(out);
}

#define WRONG(world, format, ...)									\
	do {												\
		save(world);										\
		print_error("seed %" PRIu64 ": " format "\n", (world)->options->seed, ##__VA_ARGS__);	\
		world_release(world);									\
		fail();											\
	} while (0)

/* ---- what must hold ---- */

/* The span that began then, or NULL. */
static const struct world_span *world_span_at(const struct world *world, uint64_t begin_ns)
{
	for (size_t i = 0; i < world->span_cnt; i++)
		if (world->spans[i].begin_ns == begin_ns)
			return &world->spans[i];
	return NULL;
}

static uint64_t ledger_part(const struct txtrace_ledger *ledger, int part)
{
	switch (part) {
	case PART_ON_CPU:
		return ledger->on_cpu_ns;
	case PART_RUNNABLE:
		return ledger->runnable_ns;
	case PART_DETACHED:
		return ledger->detached_ns;
	case PART_UNKNOWN:
		return ledger->unknown_ns;
	}
	return ledger->blocked_ns[part - PART_BLOCKED];
}

static void span_is_true(struct world *world, const struct txtrace_span *span, const struct world_span *truth)
{
	if (span->end_ns != truth->end_ns || span->end_tid != truth->end_tid ||
	    span->work_ns != truth->work_ns)
		WRONG(world,
		      "the span of %" PRIu64 " ended at %" PRIu64 " by %u with %" PRIu64
		      " ns of work, not %" PRIu64 " by %u with %" PRIu64,
		      truth->begin_ns, span->end_ns, span->end_tid, span->work_ns, truth->end_ns,
		      truth->end_tid, truth->work_ns);
	for (int part = 0; part < PART_COUNT; part++)
		if (ledger_part(&span->ledger, part) != truth->parts_ns[part])
			WRONG(world, "the span of %" PRIu64 ": part %d is %" PRIu64 " ns, not %" PRIu64,
			      truth->begin_ns, part, ledger_part(&span->ledger, part), truth->parts_ns[part]);
	if (!!(span->flags & TXTRACE_SPAN_MOVED) != truth->is_moved)
		WRONG(world, "the span of %" PRIu64 ": moved or not", truth->begin_ns);
}

/* Of the truth's, the one whose record says so; NULL: none. */
static const struct world_span *parent_in_truth(const struct world *world, const struct txtrace_span *span)
{
	bool is_keyed = span->flags & TXTRACE_SPAN_PARENT_KEYED;

	for (size_t i = 0; i < result.span_cnt; i++) {
		const struct txtrace_span *parent = &result.spans[i];

		if (parent->id == span->parent && !!(parent->flags & TXTRACE_SPAN_KEYED) == is_keyed &&
		    (is_keyed || parent->pid == span->pid) && parent->begin_ns <= span->begin_ns &&
		    parent->end_ns >= span->begin_ns)
			return world_span_at(world, parent->begin_ns);
	}
	return NULL;
}

static bool was_inside(const struct world_span *truth, uint64_t begin_ns)
{
	for (size_t i = 0; i < truth->inside_cnt; i++)
		if (truth->inside_begin_ns[i] == begin_ns)
			return true;
	return false;
}

/*
 * A parent that was named is that one. Of a span that names none it is the one that the thread entered last;
 * where events were lost, at least one that the thread was in, or none.
 */
static bool is_parent_true(const struct world *world, const struct txtrace_span *span,
			   const struct world_span *truth)
{
	bool is_nested = span->flags & TXTRACE_SPAN_NESTED;
	const struct world_span *parent = is_nested ? parent_in_truth(world, span) : NULL;

	if (!truth->names_none)
		return !is_nested && span->parent == truth->parent &&
		       !(span->flags & TXTRACE_SPAN_PARENT_LOST) &&
		       !!(span->flags & TXTRACE_SPAN_ROOT) == !truth->parent;
	if (!world->lost_cnt &&
	    !(is_nested ? parent && parent->begin_ns == truth->parent_begin_ns : !truth->parent_begin_ns))
		return false;
	return is_nested ? parent && was_inside(truth, parent->begin_ns)
			 : !span->parent && !(span->flags & TXTRACE_SPAN_ROOT) ==
						    !!(span->flags & TXTRACE_SPAN_PARENT_LOST);
}

/*
 * At the top level no ns of a thread counts twice: what the threads did in roots that they entered later is
 * told, of roots and of their children, no more and no less.
 */
static void overlap_is_true(struct world *world, size_t i, const struct world_span *truth)
{
	const struct txtrace_span *span = &result.spans[i];
	uint64_t overlap_ns = txtrace_ledger_sum_ns(&result.overlaps[i]);
	/* clocks could not be read: then nothing is the span's alone */
	bool is_all = overlap_ns == span->work_ns - span->ledger.detached_ns;

	if (overlap_ns != truth->overlap_ns &&
	    !(is_all && truth->overlap_ns && overlap_ns > truth->overlap_ns))
		WRONG(world, "the span of %" PRIu64 " shares %" PRIu64 " ns with other roots, not %" PRIu64,
		      truth->begin_ns, overlap_ns, truth->overlap_ns);
	for (int part = 0; part < PART_COUNT; part++)
		if (ledger_part(&result.overlaps[i], part) > ledger_part(&span->ledger, part))
			WRONG(world, "the span of %" PRIu64 " shares more than it has of part %d",
			      truth->begin_ns, part);
}

/* What holds of every span, whatever was lost: it is one that there was, and its ledger balances. */
static const struct world_span *span_is_sane(struct world *world, const struct txtrace_span *span)
{
	const struct world_span *truth = world_span_at(world, span->begin_ns);

	if (!truth || truth->tgid != span->pid || truth->tid != span->tid ||
	    (truth->key < 0 && truth->id != span->id) ||
	    (truth->key >= 0) != !!(span->flags & TXTRACE_SPAN_KEYED) || !is_parent_true(world, span, truth))
		WRONG(world, "there was no such span at %" PRIu64, span->begin_ns);
	if (txtrace_ledger_sum_ns(&span->ledger) != span->work_ns || span->flags & TXTRACE_SPAN_IMBALANCE)
		WRONG(world, "the ledger of the span of %" PRIu64 " does not add up", span->begin_ns);
	return truth;
}

static void there_are_no_bugs_counted(struct world *world)
{
	if (result.stats.anomaly_cnt[TXTRACE_ANOMALY_CLOCK_MISMATCH] ||
	    result.stats.anomaly_cnt[TXTRACE_ANOMALY_IMBALANCE])
		WRONG(world, "%" PRIu64 " clock mismatches, %" PRIu64 " imbalances",
		      result.stats.anomaly_cnt[TXTRACE_ANOMALY_CLOCK_MISMATCH],
		      result.stats.anomaly_cnt[TXTRACE_ANOMALY_IMBALANCE]);
}

/*
 * Each stay on a CPU whose beginning and end were told is a record, and there is no other, but those that go
 * on when the capture ends.
 */
static void runs_are_true(struct world *world)
{
	size_t truth_idx = 0, extra_idx = 0, extra_cnt = 0;

	for (size_t i = 0; i < result.run_cnt; i++) {
		const struct txtrace_run *run = &result.runs[i];
		const struct world_run *truth = &world->runs[truth_idx];

		if (truth_idx < world->run_cnt && run->tid == truth->tid &&
		    run->begin_ns == truth->begin_ns && run->end_ns == truth->end_ns &&
		    run->cpu == truth->cpu && run->left_as == truth->left_as)
			truth_idx++;
		else if (run->left_as != TXTRACE_LEFT_UNKNOWN || run->end_ns != world->now_ns)
			extra_cnt++, extra_idx = i;
	}
	if (truth_idx != world->run_cnt)
		WRONG(world, "the stay on a CPU from %" PRIu64 " to %" PRIu64 " is missing",
		      world->runs[truth_idx].begin_ns, world->runs[truth_idx].end_ns);
	if (extra_cnt > world->doubtful_run_cnt)
		WRONG(world, "%zu stays on a CPU too many, one of them of %u from %" PRIu64 " to %" PRIu64,
		      extra_cnt, result.runs[extra_idx].tid, result.runs[extra_idx].begin_ns,
		      result.runs[extra_idx].end_ns);
}

static void nothing_lost_means_all_exact(void **state)
{
	size_t span_cnt = 0, event_cnt = 0, outside_cnt = 0, overlap_cnt = 0, nested_cnt = 0;
	size_t child_overlap_cnt = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 2000; seed++) {
		struct world_options options = {
			.seed = seed, .step_cnt = 300, .first_ns = FIRST_NS, .first_tid = 100, .name = 'k'
		};
		struct world world;

		world_run(&world, &options);
		attribute(world.events, world.event_cnt, world.now_ns, &result);
		if (result.span_cnt != world.span_cnt)
			WRONG(&world, "%zu spans, not %zu", result.span_cnt, world.span_cnt);
		for (size_t i = 0; i < result.span_cnt; i++) {
			const struct world_span *truth = span_is_sane(&world, &result.spans[i]);
			uint32_t flags = result.spans[i].flags &
					 ~(TXTRACE_SPAN_KEYED | TXTRACE_SPAN_MOVED | TXTRACE_SPAN_ROOT |
					   TXTRACE_SPAN_NESTED | TXTRACE_SPAN_PARENT_KEYED);

			overlap_is_true(&world, i, truth);
			overlap_cnt += truth->overlap_ns > 0;
			child_overlap_cnt += truth->overlap_ns > 0 && !world_is_root(truth);
			nested_cnt += truth->parent_begin_ns > 0;
			span_is_true(&world, &result.spans[i], truth);
			if (flags !=
			    (truth->is_unfinished ? TXTRACE_SPAN_UNFINISHED | TXTRACE_SPAN_LOWER_BOUND : 0u))
				WRONG(&world, "the span of %" PRIu64 " has flags %u", truth->begin_ns, flags);
			outside_cnt += truth->was_left_from_outside && !truth->is_unfinished;
		}
		runs_are_true(&world);
		there_are_no_bugs_counted(&world);
		for (int i = 0; i < TXTRACE_ANOMALY_COUNT; i++)
			if (result.stats.anomaly_cnt[i] != world.anomaly_cnt[i])
				WRONG(&world, "anomaly %d: %" PRIu64 " times, not %" PRIu64, i,
				      result.stats.anomaly_cnt[i], world.anomaly_cnt[i]);
		span_cnt += world.span_cnt;
		event_cnt += world.event_cnt;
		world_release(&world);
	}
	print_message("# %zu events, %zu spans, %zu of them ended while somebody was in them\n", event_cnt,
		      span_cnt, outside_cnt);
	assert_true(span_cnt > 10000);
	print_message("# %zu of them in the one that their thread was in, %zu of them overlapped, %zu of\n"
		      "# these children\n",
		      nested_cnt, overlap_cnt, child_overlap_cnt);
	assert_true(outside_cnt > 1000);
	assert_true(nested_cnt > 1000);
	assert_true(overlap_cnt > 1000);
	assert_true(child_overlap_cnt > 1000);
}

/* ---- loss ---- */

/*
 * Kinds of events that change the account of a span that is open; of a keyed one also that another one begins
 * with its key.
 */
#define TOUCHING_KINDS (KIND(EVENT_ENTER) | KIND(EVENT_LEAVE) | KIND(EVENT_END) | KIND(EVENT_KEY_ENTER) | \
	KIND(EVENT_KEY_LEAVE) | KIND(EVENT_KEY_END) | \
			KIND(EVENT_TAG) | KIND(EVENT_THREAD_EXIT) | KIND(EVENT_EXEC))

/* Could what was lost have touched this span? */
static bool is_near_loss(const struct world *world, const struct txtrace_span *span)
{
	uint64_t kinds = TOUCHING_KINDS | (span->flags & TXTRACE_SPAN_KEYED ? KIND(EVENT_KEY_BEGIN) : 0);

	for (size_t i = 0; i < world->event_cnt; i++) {
		const struct event *event = &world->events[i].event;

		if (event->kind == EVENT_LOSS && event->loss.kinds & kinds &&
		    event->time_ns <= span->end_ns && event->loss.last_ns >= span->begin_ns)
			return true;
	}
	return false;
}

struct tally {
	size_t lost_cnt, span_cnt, marked_cnt;
};

/* A span that is not marked is true in every figure; one that no loss can have touched is not marked. */
static void check_lossy_span(struct world *world, const struct txtrace_span *span, struct tally *tally)
{
	const struct world_span *truth = span_is_sane(world, span);
	bool is_marked = span->flags & TXTRACE_SPAN_LOWER_BOUND;

	tally->span_cnt++;
	tally->marked_cnt += is_marked;
	if (!is_marked)
		span_is_true(world, span, truth);
	else if (span->flags & TXTRACE_SPAN_UNFINISHED)
		return;
	else if (!(span->flags & TXTRACE_SPAN_LOSS))
		WRONG(world, "the span of %" PRIu64 " is a lower bound for no reason", span->begin_ns);
	else if (!truth->was_left_from_outside && !is_near_loss(world, span) &&
		 !ledger_part(&span->ledger, PART_UNKNOWN))
		WRONG(world, "the span of %" PRIu64 " is marked, and nothing that touched it was lost",
		      span->begin_ns);
}

static void lose(uint32_t lost_kinds, unsigned int seed_cnt, struct tally *tally)
{
	*tally = (struct tally){ 0 };
	for (uint64_t seed = 1; seed <= seed_cnt; seed++) {
		struct world_options options = {
			.seed = seed, .step_cnt = 300, .first_ns = FIRST_NS, .first_tid = 100, .name = 'k',
			.lost_kinds = lost_kinds, .loss_chance = 2 + seed % 40,
			.is_tidy = true,
		};
		struct world world;
		size_t begun_cnt = 0;

		world_run(&world, &options);
		attribute(world.events, world.event_cnt, world.now_ns, &result);
		for (size_t i = 0; i < result.span_cnt; i++)
			check_lossy_span(&world, &result.spans[i], tally);
		for (size_t i = 0; i < world.span_cnt; i++)
			begun_cnt += !world.spans[i].is_begin_lost;
		if (result.span_cnt > begun_cnt ||
		    (result.span_cnt < begun_cnt && !(lost_kinds & ~SCHED_KINDS)))
			WRONG(&world, "%zu spans, not %zu", result.span_cnt, begun_cnt);
		there_are_no_bugs_counted(&world);
		tally->lost_cnt += world.lost_cnt;
		world_release(&world);
	}
	print_message("# %zu events lost, %zu of %zu spans are marked\n", tally->lost_cnt, tally->marked_cnt,
		      tally->span_cnt);
	assert_true(tally->lost_cnt > 10000);
	assert_true(tally->marked_cnt > tally->span_cnt / 100);
	assert_true(tally->marked_cnt < tally->span_cnt * 99 / 100);
}

/*
 * A span that no other thread ended stays exact and unmarked, whatever switches and wakeups are lost: its
 * account is made of readings.
 */
static void lost_switches_leave_own_spans_exact(void **state)
{
	struct tally tally;

	(void)state;
	lose(SCHED_KINDS, 2000, &tally);
}

static void lost_span_events_leave_no_span_wrong_and_unmarked(void **state)
{
	struct tally tally;

	(void)state;
	lose(~(SCHED_KINDS | THREAD_KINDS), 1000, &tally);
}

static void lost_threads_leave_no_span_wrong_and_unmarked(void **state)
{
	struct tally tally;

	(void)state;
	lose(THREAD_KINDS, 4000, &tally);
}

static void anything_lost_leaves_no_span_wrong_and_unmarked(void **state)
{
	struct tally tally;

	(void)state;
	lose(UINT32_MAX, 2000, &tally);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_lost_means_all_exact),
		cmocka_unit_test(lost_switches_leave_own_spans_exact),
		cmocka_unit_test(lost_span_events_leave_no_span_wrong_and_unmarked),
		cmocka_unit_test(lost_threads_leave_no_span_wrong_and_unmarked),
		cmocka_unit_test(anything_lost_leaves_no_span_wrong_and_unmarked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
