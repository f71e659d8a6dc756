/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/thread/concurrency.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/thread/thread_states.h"
#include "base/id_map.h"
#include "base/string_pool.h"

struct series {
	struct concurrency_series shown;
	/*
	 * of a label: by how much the level changes at the begin of each bucket, on top of the parts in means
	 */
	double *steps;
	uint64_t last_ns;    /* of a counter: from here on it is value */
	double value;
	bool has_value;
};

struct concurrency {
	uint64_t from_ns;
	uint64_t to_ns;
	size_t bucket_cnt;
	struct string_pool *names;
	struct id_map by_name; /* (pid of a counter + 1, or 0; number of the name) -> struct series */
	struct series **series;
	size_t series_cnt;
	struct series *rest;
	struct thread_states *threads;
	struct series *states[THREAD_STATE_COUNT]; /* NULL: nobody wants threads */
};

struct concurrency *concurrency_new(uint64_t from_ns, uint64_t to_ns, size_t bucket_cnt)
{
	struct concurrency *concurrency = calloc(1, sizeof(*concurrency));

	if (!concurrency)
		return NULL;
	concurrency->from_ns = from_ns;
	concurrency->to_ns = to_ns;
	concurrency->bucket_cnt = to_ns - from_ns < bucket_cnt ? (size_t)(to_ns - from_ns) : bucket_cnt;
	id_map_init(&concurrency->by_name);
	concurrency->names = string_pool_new();
	concurrency->series = calloc(CONCURRENCY_SERIES_MAX + 1 + THREAD_STATE_COUNT,
				     sizeof(*concurrency->series));
	if (concurrency->names && concurrency->series)
		return concurrency;
	concurrency_free(concurrency);
	return NULL;
}

static void free_series(struct series *series)
{
	if (!series)
		return;
	free(series->shown.means);
	free(series->steps);
	free(series);
}

void concurrency_free(struct concurrency *concurrency)
{
	if (!concurrency)
		return;
	for (size_t i = 0; i < concurrency->series_cnt; i++)
		free_series(concurrency->series[i]);
	free(concurrency->series);
	thread_states_free(concurrency->threads);
	id_map_release(&concurrency->by_name);
	string_pool_free(concurrency->names);
	free(concurrency);
}

size_t concurrency_bucket_count(const struct concurrency *concurrency)
{
	return concurrency->bucket_cnt;
}

uint64_t concurrency_begin_ns(const struct concurrency *concurrency, size_t idx)
{
	unsigned __int128 width = concurrency->to_ns - concurrency->from_ns;

	return concurrency->from_ns + (uint64_t)(width * idx / concurrency->bucket_cnt);
}

static size_t bucket_of(const struct concurrency *concurrency, uint64_t ns)
{
	unsigned __int128 offset = ns - concurrency->from_ns;
	size_t idx = (size_t)(offset * concurrency->bucket_cnt / (concurrency->to_ns - concurrency->from_ns));

	/* Where the begin of a bucket was rounded down, a time may already be in the next one. */
	if (idx + 1 < concurrency->bucket_cnt && concurrency_begin_ns(concurrency, idx + 1) <= ns)
		idx++;
	return idx < concurrency->bucket_cnt ? idx : concurrency->bucket_cnt - 1;
}

static struct series *make_series(struct concurrency *concurrency)
{
	struct series *series = calloc(1, sizeof(*series));

	if (!series)
		return NULL;
	series->shown.means = calloc(concurrency->bucket_cnt, sizeof(*series->shown.means));
	series->steps = calloc(concurrency->bucket_cnt + 1, sizeof(*series->steps));
	if (!series->shown.means || !series->steps) {
		free_series(series);
		return NULL;
	}
	series->shown.kind = CONCURRENCY_LABEL;
	concurrency->series[concurrency->series_cnt++] = series;
	return series;
}

/* *found stays NULL for counters beyond the bound. */
static int find_series(struct concurrency *concurrency, const struct txtrace_string *name, uint64_t space,
		       struct series **found)
{
	uint32_t number = string_pool_find(concurrency->names, name->bytes, name->length);
	bool is_full = concurrency->series_cnt >= CONCURRENCY_SERIES_MAX;

	*found = number != STRING_POOL_NONE ? id_map_get(&concurrency->by_name, space, number) : NULL;
	if (*found || (is_full && space))
		return 0;
	if (is_full) {
		if (!concurrency->rest && !(concurrency->rest = make_series(concurrency)))
			return -ENOMEM;
		concurrency->rest->shown.is_rest = true;
		*found = concurrency->rest;
		return 0;
	}
	if (string_pool_add(concurrency->names, name->bytes, name->length, &number) ||
	    !(*found = make_series(concurrency)))
		return -ENOMEM;
	(*found)->shown.name.bytes = string_pool_get(concurrency->names, number,
						     &(*found)->shown.name.length);
	return id_map_put(&concurrency->by_name, space, number, *found);
}

/*
 * Adds a level between two times in the range: parts of the buckets at both ends, and a step up and down for
 * those between them.
 */
static void add_level(const struct concurrency *concurrency, struct series *series, uint64_t begin_ns,
		      uint64_t end_ns, double level)
{
	size_t first, last;

	begin_ns = begin_ns < concurrency->from_ns ? concurrency->from_ns : begin_ns;
	end_ns = end_ns > concurrency->to_ns ? concurrency->to_ns : end_ns;
	if (begin_ns >= end_ns)
		return;
	first = bucket_of(concurrency, begin_ns);
	last = bucket_of(concurrency, end_ns - 1);
	if (first == last) {
		series->shown.means[first] += level * (double)(end_ns - begin_ns);
		return;
	}
	series->shown.means[first] += level *
				      (double)(concurrency_begin_ns(concurrency, first + 1) - begin_ns);
	series->shown.means[last] += level * (double)(end_ns - concurrency_begin_ns(concurrency, last));
	series->steps[first + 1] += level;
	series->steps[last] -= level;
}

static int add_span(struct concurrency *concurrency, const struct txtrace_span *span)
{
	struct series *series;
	int err;

	if (span->end_ns < concurrency->from_ns || span->begin_ns >= concurrency->to_ns)
		return 0;
	err = find_series(concurrency, &span->label, 0, &series);
	if (err)
		return err;
	series->shown.cnt++;
	add_level(concurrency, series, span->begin_ns, span->end_ns, 1);
	return 0;
}

static int add_counter(struct concurrency *concurrency, const struct txtrace_counter *counter)
{
	struct series *series;
	int err = find_series(concurrency, &counter->name, (uint64_t)counter->pid + 1, &series);

	if (err || !series)
		return err;
	series->shown.kind = CONCURRENCY_COUNTER;
	series->shown.pid = counter->pid;
	series->shown.cnt++;
	if (series->has_value)
		add_level(concurrency, series, series->last_ns, counter->time_ns, series->value);
	series->has_value = true;
	series->last_ns = counter->time_ns;
	series->value = (double)counter->value;
	return 0;
}

int concurrency_add(struct concurrency *concurrency, const struct txtrace_record *record)
{
	if (record->kind == TXTRACE_RECORD_SPAN)
		return add_span(concurrency, &record->span);
	return record->kind == TXTRACE_RECORD_COUNTER ? add_counter(concurrency, &record->counter) : 0;
}

/* ---- threads ---- */

static void take_state(void *context, enum thread_state state, uint64_t begin_ns, uint64_t end_ns)
{
	struct concurrency *concurrency = context;

	concurrency->states[state]->shown.cnt++;
	add_level(concurrency, concurrency->states[state], begin_ns, end_ns, 1);
}

static int begin_threads(struct concurrency *concurrency)
{
	static const char *const names[] = {
		[THREAD_RUNNING] = "running", [THREAD_RUNNABLE] = "runnable", [THREAD_BLOCKED] = "blocked"
	};

	for (int state = 0; state < THREAD_STATE_COUNT; state++) {
		struct series *series = make_series(concurrency);

		if (!series)
			return -ENOMEM;
		series->shown.kind = CONCURRENCY_THREADS;
		series->shown.state = (enum thread_state)state;
		series->shown.name = (struct txtrace_string){ names[state], strlen(names[state]) };
		concurrency->states[state] = series;
	}
	concurrency->threads = thread_states_new(take_state, concurrency);
	return concurrency->threads ? 0 : -ENOMEM;
}

int concurrency_add_threads(struct concurrency *concurrency, const struct txtrace_record *record)
{
	int err = concurrency->threads ? 0 : begin_threads(concurrency);

	return err ? err : thread_states_add(concurrency->threads, record);
}

void concurrency_begin_capture(struct concurrency *concurrency)
{
	if (concurrency->threads)
		thread_states_finish(concurrency->threads);
}

static void finish_series(const struct concurrency *concurrency, struct series *series)
{
	double level = 0;

	if (series->has_value)
		add_level(concurrency, series, series->last_ns, concurrency->to_ns, series->value);
	for (size_t i = 0; i < concurrency->bucket_cnt; i++) {
		double width = (double)(concurrency_begin_ns(concurrency, i + 1) -
					concurrency_begin_ns(concurrency, i));

		level += series->steps[i];
		series->shown.means[i] = series->shown.means[i] / width + level;
		series->shown.sum += series->shown.means[i];
		if (series->shown.means[i] > series->shown.peak)
			series->shown.peak = series->shown.means[i];
	}
}

static int compare_series(const void *a, const void *b)
{
	const struct concurrency_series *x = &(*(struct series *const *)a)->shown,
					*y = &(*(struct series *const *)b)->shown;
	size_t shorter = x->name.length < y->name.length ? x->name.length : y->name.length;
	int order;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->is_rest != y->is_rest)
		return x->is_rest - y->is_rest;
	if (x->kind == CONCURRENCY_THREADS)
		return (x->state > y->state) - (x->state < y->state);
	if (x->sum != y->sum)
		return (x->sum < y->sum) - (x->sum > y->sum);
	order = shorter ? memcmp(x->name.bytes, y->name.bytes, shorter) : 0;
	if (order)
		return order;
	order = (x->name.length > y->name.length) - (x->name.length < y->name.length);
	return order ? order : (x->pid > y->pid) - (x->pid < y->pid);
}

void concurrency_finish(struct concurrency *concurrency)
{
	concurrency_begin_capture(concurrency);
	for (size_t i = 0; i < concurrency->series_cnt; i++)
		finish_series(concurrency, concurrency->series[i]);
	qsort(concurrency->series, concurrency->series_cnt, sizeof(*concurrency->series), compare_series);
}

size_t concurrency_series_count(const struct concurrency *concurrency)
{
	return concurrency->series_cnt;
}

const struct concurrency_series *concurrency_series(const struct concurrency *concurrency, size_t idx)
{
	return &concurrency->series[idx]->shown;
}
