/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What must not change the records, to the byte: the order in which events come to the merge within its
 * window, and what programs do that they must not do to spans (docs/attribution.md has the list). In random
 * worlds (random_world.h).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "attribute/attribution.h"
#include "merge/merge.h"
#include "unit/random_world_life.h"
#include "unit/record_lines.h"

#define STRANGER 5000 /* tid and process of a thread that is nobody's business */

/* ---- every record of an account as a line of text ---- */

struct lines {
	char *text;
	size_t length;
	FILE *out;
	bool is_without_mischief;
};

/*
 * Attributes, instants and links are kept whatever span they name; so of what is done amiss there are some
 * more.
 */
static bool is_of_mischief(const struct txtrace_record *record)
{
	return record->kind == TXTRACE_RECORD_ATTRIBUTE || record->kind == TXTRACE_RECORD_INSTANT ||
	       record->kind == TXTRACE_RECORD_LINK || record_is_of_threads(record, STRANGER, STRANGER);
}

static int take(void *context, const struct txtrace_record *record)
{
	struct lines *lines = context;

	if (!lines->is_without_mischief || !is_of_mischief(record))
		record_line(lines->out, record);
	return 0;
}

static struct attribution *start(struct lines *lines)
{
	struct attribution *attribution = attribution_new(take, lines);

	assert_non_null(attribution);
	lines->out = open_memstream(&lines->text, &lines->length);
	assert_non_null(lines->out);
	return attribution;
}

static void stop(struct attribution *attribution, struct lines *lines, uint64_t end_ns,
		 struct attribution_stats *stats)
{
	assert_int_equal(attribution_finish(attribution, end_ns), 0);
	attribution_stats(attribution, stats);
	attribution_free(attribution);
	fclose(lines->out);
}

static char *records_of(const struct world *world, bool is_without_mischief, struct attribution_stats *stats)
{
	struct lines lines = { .is_without_mischief = is_without_mischief };
	struct attribution *attribution = start(&lines);

	for (size_t i = 0; i < world->event_cnt; i++)
		assert_int_equal(attribution_feed(attribution, &world->events[i].event), 0);
	stop(attribution, &lines, world->now_ns, stats);
	assert_true(lines.length > 100);
	return lines.text;
}

static void run_world(struct world *world, uint64_t seed, bool is_tidy)
{
	static struct world_options options;

	options = (struct world_options){ .seed = seed,
					  .step_cnt = 300,
					  .first_ns = 1000000,
					  .first_tid = 100,
					  .name = 'k',
					  .is_tidy = is_tidy };
	world_run(world, &options);
}

static uint32_t draw(uint64_t *random)
{
	*random = *random * 6364136223846793005u + 1442695040888963407u;
	return *random >> 33;
}

/* ---- order ---- */

static int feed_one(void *context, const void *record, size_t size)
{
	const struct event *event;

	assert_int_equal(size, sizeof(event));
	memcpy(&event, record, sizeof(event));
	return attribution_feed(context, event);
}

/*
 * Each CPU is a lane. Up to 20 events at a time are told by the lanes in any order, within a lane in any
 * order; then all have told what there was.
 */
static char *records_in_any_order(const struct world *world, uint64_t *random,
				  struct attribution_stats *stats)
{
	struct lines lines = { 0 };
	struct attribution *attribution = start(&lines);
	struct merge *merge = merge_new(WORLD_CPUS);
	struct merge_stats merged;

	assert_non_null(merge);
	for (size_t first = 0, cnt; first < world->event_cnt; first += cnt) {
		size_t order[20];

		cnt = 1 + draw(random) % 20;
		if (cnt > world->event_cnt - first)
			cnt = world->event_cnt - first;
		for (size_t i = 0; i < cnt; i++) { /* a shuffle */
			size_t at = draw(random) % (i + 1);

			order[i] = order[at];
			order[at] = first + i;
		}
		for (size_t i = 0; i < cnt; i++) {
			const struct event *event = &world->events[order[i]].event;

			assert_int_equal(merge_push(merge, event->cpu, event->time_ns, &event, sizeof(event)),
					 0);
		}
		for (size_t lane = 0; lane < WORLD_CPUS; lane++)
			merge_set_watermark(merge, lane, world->events[first + cnt - 1].event.time_ns);
		assert_int_equal(merge_run(merge, feed_one, attribution), 0);
	}
	merge_stats(merge, &merged);
	assert_int_equal(merged.late_cnt, 0);
	assert_int_equal(merged.waiting_cnt, 0);
	merge_free(merge);
	stop(attribution, &lines, world->now_ns, stats);
	return lines.text;
}

static void the_order_within_the_window_of_the_merge_does_not_matter(void **state)
{
	uint64_t random = 1;

	(void)state;
	for (uint64_t seed = 1; seed <= 500; seed++) {
		struct attribution_stats stats[2];
		struct world world;
		char *texts[2];

		run_world(&world, seed, false);
		texts[0] = records_of(&world, false, &stats[0]);
		texts[1] = records_in_any_order(&world, &random, &stats[1]);
		assert_string_equal(texts[1], texts[0]);
		assert_memory_equal(&stats[1], &stats[0], sizeof(stats[0]));
		free(texts[0]);
		free(texts[1]);
		world_release(&world);
	}
}

/* ---- mischief ---- */

struct mischief {
	struct attribution *attribution;
	struct attribution_stats *counted; /* what must be counted more than without it */
	uint64_t random;
	uint64_t cnt;
};

/* One more event of the same thread at the same moment, with the same clocks. */
static void do_also(struct mischief *mischief, const struct event *before, uint8_t kind,
		    enum txtrace_anomaly anomaly)
{
	struct event event = *before;

	event.kind = kind;
	if (kind >= EVENT_TAG && kind <= EVENT_LINK) {
		uint64_t id = before->span.id;

		event.clocks = NULL;
		event.flags = 0;
		memset(&event.mark, 0, sizeof(event.mark));
		event.mark.id = id;
		event.mark.type = ATTR_INT;
		event.mark.name = event.mark.text = world_label;
	}
	assert_int_equal(attribution_feed(mischief->attribution, &event), 0);
	mischief->counted->anomaly_cnt[anomaly]++;
	mischief->cnt++;
}

static void do_to_what_is_over(struct mischief *mischief, const struct event *event, unsigned int what)
{
	static const struct {
		uint8_t kind, key_kind;
		enum txtrace_anomaly anomaly;
	} acts[] = {
		{ EVENT_END, EVENT_KEY_END, TXTRACE_ANOMALY_END_UNKNOWN },
		{ EVENT_ENTER, EVENT_KEY_ENTER, TXTRACE_ANOMALY_ENTER_UNKNOWN },
		{ EVENT_LEAVE, EVENT_KEY_LEAVE, TXTRACE_ANOMALY_EXIT_UNKNOWN },
		{ EVENT_INSTANT, EVENT_KEY_INSTANT, TXTRACE_ANOMALY_MARK_UNKNOWN },
		{ EVENT_TAG, EVENT_KEY_END, TXTRACE_ANOMALY_MARK_UNKNOWN },
		{ EVENT_ATTR, EVENT_KEY_END, TXTRACE_ANOMALY_MARK_UNKNOWN },
		{ EVENT_LINK, EVENT_KEY_END, TXTRACE_ANOMALY_MARK_UNKNOWN },
	};
	bool is_keyed = event->kind >= EVENT_KEY_BEGIN;

	what %= is_keyed ? 4 : sizeof(acts) / sizeof(acts[0]);
	do_also(mischief, event, is_keyed ? acts[what].key_kind : acts[what].kind, acts[what].anomaly);
}

/* What is done to the spans of others is done to spans that are not there: ids are those of a process. */
static void do_as_stranger(struct mischief *mischief, const struct event *before, unsigned int what)
{
	struct event event = *before;

	event.tid = event.tgid = STRANGER;
	event.clocks = NULL;
	event.flags = WIRE_HAS_CLOCKS | WIRE_NO_CLOCKS;
	do_to_what_is_over(mischief, &event, what);
}

/* After an event of the world, something that changes nothing. */
static void make_mischief(struct mischief *mischief, const struct event *event)
{
	unsigned int what = draw(&mischief->random);
	struct event other = *event;

	switch (event->kind) {
	case EVENT_BEGIN: /* once more */
		do_also(mischief, event, event->kind, TXTRACE_ANOMALY_BEGIN_TWICE);
		break;
	case EVENT_BEGIN_DETACHED: /* whoever began it is not in it */
		do_also(mischief, event, EVENT_LEAVE, TXTRACE_ANOMALY_EXIT_UNENTERED);
		break;
	case EVENT_END:
	case EVENT_KEY_END:
		do_to_what_is_over(mischief, event, what);
		break;
	case EVENT_ENTER:
	case EVENT_LEAVE: /* what never was */
		other.span.id = UINT64_MAX - 1;
		do_to_what_is_over(mischief, &other, what);
		break;
	default:
		return;
	}
	if (event->kind < EVENT_KEY_BEGIN)
		do_as_stranger(mischief, event, what / 16);
}

static char *records_with_mischief(const struct world *world, struct mischief *mischief,
				   struct attribution_stats *stats)
{
	struct lines lines = { .is_without_mischief = true };

	mischief->attribution = start(&lines);
	for (size_t i = 0; i < world->event_cnt; i++) {
		assert_int_equal(attribution_feed(mischief->attribution, &world->events[i].event), 0);
		make_mischief(mischief, &world->events[i].event);
	}
	stop(mischief->attribution, &lines, world->now_ns, stats);
	return lines.text;
}

static void what_must_not_be_done_disturbs_no_span(void **state)
{
	struct mischief mischief = { .random = 1 };

	(void)state;
	for (uint64_t seed = 1; seed <= 1000; seed++) {
		struct attribution_stats stats, counted;
		char *truth, *text;
		struct world world;

		run_world(&world, seed, true);
		truth = records_of(&world, true, &counted);
		mischief.counted = &counted;
		text = records_with_mischief(&world, &mischief, &stats);
		assert_string_equal(text, truth);
		assert_memory_equal(stats.anomaly_cnt, counted.anomaly_cnt, sizeof(stats.anomaly_cnt));
		free(truth);
		free(text);
		world_release(&world);
	}
	assert_true(mischief.cnt > 100000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_order_within_the_window_of_the_merge_does_not_matter),
		cmocka_unit_test(what_must_not_be_done_disturbs_no_span),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
