/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random worlds, recorded by a recorder that gives no parents: read with --nest thread, spans have those that
 * a newer recorder gives them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>

#include "analyze/thread_nest.h"
#include "attribute/attribution.h"

#include "unit/random_world_life.h"

#define RECORD_MAX 20000

struct log {
	struct txtrace_record records[RECORD_MAX];
	size_t cnt;
};

static struct log with_parents, read_again;

static int take_record(void *context, const struct txtrace_record *record)
{
	struct log *to = context;

	assert_true(to->cnt < RECORD_MAX);
	to->records[to->cnt++] = *record;
	return 0;
}

static void attribute(const struct world *world, struct log *to)
{
	struct attribution *attribution = attribution_new(take_record, to);

	assert_non_null(attribution);
	to->cnt = 0;
	for (size_t i = 0; i < world->event_cnt; i++)
		assert_int_equal(attribution_feed(attribution, &world->events[i].event), 0);
	assert_int_equal(attribution_finish(attribution, world->now_ns), 0);
	attribution_free(attribution);
}

/* As an older recorder told it, which knew no more than what the program named. */
static void forget_nesting(struct txtrace_record *record)
{
	if (record->kind != TXTRACE_RECORD_SPAN || !(record->span.flags & TXTRACE_SPAN_NESTED))
		return;
	record->span.parent = 0;
	record->span.flags &= ~(uint32_t)(TXTRACE_SPAN_NESTED | TXTRACE_SPAN_PARENT_KEYED);
}

static void nest_again(struct log *log)
{
	struct thread_nest *nest = thread_nest_new(0);

	assert_non_null(nest);
	for (size_t i = 0; i < log->cnt; i++)
		forget_nesting(&log->records[i]);
	for (size_t i = 0; i < log->cnt; i++)
		assert_int_equal(thread_nest_learn(nest, &log->records[i], false), 0);
	thread_nest_settle(nest);
	for (size_t i = 0; i < log->cnt; i++)
		thread_nest_apply(nest, &log->records[i], false);
	thread_nest_free(nest);
}

/*
 * A thread other than the first execs: it gets the tid of the process, and its stays up to there are told
 * with that one.
 */
static bool has_changed_tid(const struct world *world, uint32_t pid)
{
	for (size_t i = 0; i < world->event_cnt; i++) {
		const struct event *event = &world->events[i].event;

		if (event->kind == EVENT_EXEC && event->tgid == pid && event->end.old_tid &&
		    event->end.old_tid != event->tid)
			return true;
	}
	return false;
}

static void spans_have_the_parents_that_a_newer_recorder_gives_them(void **state)
{
	size_t nested_cnt = 0, span_cnt = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 500; seed++) {
		struct world_options options = { .seed = seed,
						 .step_cnt = 300,
						 .first_ns = 1000000,
						 .first_tid = 100,
						 .name = 'k',
						 .is_tidy = true };
		struct world world;

		world_run(&world, &options);
		attribute(&world, &with_parents);
		read_again = with_parents;
		nest_again(&read_again);
		for (size_t i = 0; i < read_again.cnt; i++) {
			const struct txtrace_span *is = &read_again.records[i].span,
						  *should_be = &with_parents.records[i].span;

			if (read_again.records[i].kind != TXTRACE_RECORD_SPAN ||
			    has_changed_tid(&world, is->pid))
				continue;
			if (is->parent != should_be->parent || is->flags != should_be->flags)
				fail_msg("seed %llu: the parent of the span of %llu is %llu, not %llu",
					 (unsigned long long)seed, (unsigned long long)is->begin_ns,
					 (unsigned long long)is->parent,
					 (unsigned long long)should_be->parent);
			span_cnt++;
			nested_cnt += !!(is->flags & TXTRACE_SPAN_NESTED);
		}
		world_release(&world);
	}
	print_message("# %zu spans, %zu of them nested again\n", span_cnt, nested_cnt);
	assert_true(nested_cnt > 1000);
}

static struct txtrace_record span_of(uint64_t id, uint64_t begin_ns, uint64_t end_ns)
{
	return (struct txtrace_record){
		.kind = TXTRACE_RECORD_SPAN,
		.span = { .id = id, .pid = 7, .tid = 8, .end_tid = 8, .begin_ns = begin_ns, .end_ns = end_ns }
	};
}

static void learn(struct thread_nest *nest, struct txtrace_record record, bool begins_capture)
{
	assert_int_equal(thread_nest_learn(nest, &record, begins_capture), 0);
}

static uint64_t parent_of(struct thread_nest *nest, struct txtrace_record record, bool begins_capture)
{
	thread_nest_apply(nest, &record, begins_capture);
	return record.span.parent;
}

/* What says where it belongs is left alone; ids of another capture are others. */
static void what_knows_where_it_belongs_stays(void **state)
{
	struct thread_nest *nest = thread_nest_new(0);
	struct txtrace_record root = span_of(2, 110, 120), detached = span_of(3, 110, 150),
			      named = span_of(4, 160, 170), lossy = span_of(9, 100, 300);

	(void)state;
	assert_non_null(nest);
	root.span.flags = TXTRACE_SPAN_ROOT;
	detached.span.ledger.detached_ns = 10;
	named.span.parent = 77;
	lossy.span.flags = TXTRACE_SPAN_LOSS | TXTRACE_SPAN_LOWER_BOUND;
	learn(nest, root, false);
	learn(nest, detached, false);
	learn(nest, named, false);
	learn(nest, span_of(5, 180, 190), false);
	learn(nest, span_of(1, 100, 200), false);
	learn(nest, span_of(5, 180, 190), true);
	learn(nest, lossy, false);
	thread_nest_settle(nest);
	assert_int_equal(parent_of(nest, root, false), 0);
	assert_int_equal(parent_of(nest, detached, false), 0);
	assert_int_equal(parent_of(nest, named, false), 77);
	assert_int_equal(parent_of(nest, span_of(5, 180, 190), false), 1);
	assert_int_equal(parent_of(nest, span_of(1, 100, 200), false), 0);
	/* what it was in may have been over */
	assert_int_equal(parent_of(nest, span_of(5, 180, 190), true), 0);
	thread_nest_free(nest);
}

static void no_more_memory_is_used_than_allowed(void **state)
{
	struct thread_nest *nest = thread_nest_new(4096);
	int err = 0;

	(void)state;
	assert_non_null(nest);
	for (uint64_t id = 1; !err && id < 1000; id++) {
		struct txtrace_record record = span_of(id, id * 10, id * 10 + 5);

		err = thread_nest_learn(nest, &record, false);
	}
	assert_int_equal(err, -ENOMEM);
	thread_nest_free(nest);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spans_have_the_parents_that_a_newer_recorder_gives_them),
		cmocka_unit_test(what_knows_where_it_belongs_stays),
		cmocka_unit_test(no_more_memory_is_used_than_allowed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
