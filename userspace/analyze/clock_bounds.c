/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/clock_bounds.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/trace_context.h"
#include "base/hash_index.h"
#include "base/id_map.h"
#include "base/pool.h"

#define NO_BOUND INT64_MAX
#define DISTANCE_MAX (INT64_C(1) << 54) /* half a year */
#define LOG_SHIFT 33			/* above the pid */

/* A request, by what its traceparent names: the trace, and the span that sent it. */
struct request_name {
	uint8_t trace_id[TRACE_ID_BYTES];
	uint8_t span_id[TRACE_SPAN_ID_BYTES];
};

/* A span that sent requests, or that one led to. */
struct end_of_request {
	struct request_name name;
	uint64_t time_ns; /* sent: when; got: the begin of the span */
	uint64_t end_ns;  /* of the span; 0: it is not known yet */
	uint64_t machine;
};

struct clock_bounds {
	size_t machine_cnt;
	int64_t *most; /* [a * machine_cnt + b]: b's clock may go forward against a's by so much */
	uint64_t *request_cnts;
	struct pool sent, got;
	struct hash_index sent_by_name;
	struct id_map open_sent, open_got; /* by log, pid and span: until the span's record comes */

	/* The log that is read. */
	uint64_t log; /* its number, shifted */
	uint64_t machine;
	uint64_t shift_ns;
};

struct clock_bounds *clock_bounds_new(size_t machine_cnt)
{
	struct clock_bounds *bounds = calloc(1, sizeof(*bounds));

	if (!bounds)
		return NULL;
	bounds->machine_cnt = machine_cnt;
	pool_init(&bounds->sent, sizeof(struct end_of_request));
	pool_init(&bounds->got, sizeof(struct end_of_request));
	hash_index_init(&bounds->sent_by_name);
	id_map_init(&bounds->open_sent);
	id_map_init(&bounds->open_got);
	bounds->most = calloc(machine_cnt * machine_cnt, sizeof(*bounds->most));
	bounds->request_cnts = calloc(machine_cnt, sizeof(*bounds->request_cnts));
	if (!bounds->most || !bounds->request_cnts) {
		clock_bounds_free(bounds);
		return NULL;
	}
	for (size_t i = 0; i < machine_cnt * machine_cnt; i++)
		bounds->most[i] = NO_BOUND;
	return bounds;
}

void clock_bounds_free(struct clock_bounds *bounds)
{
	if (!bounds)
		return;
	pool_release(&bounds->sent);
	pool_release(&bounds->got);
	hash_index_release(&bounds->sent_by_name);
	id_map_release(&bounds->open_sent);
	id_map_release(&bounds->open_got);
	free(bounds->most);
	free(bounds->request_cnts);
	free(bounds);
}

void clock_bounds_begin_log(struct clock_bounds *bounds, size_t machine, uint64_t shift_ns)
{
	bounds->log += UINT64_C(1) << LOG_SHIFT;
	bounds->machine = machine;
	bounds->shift_ns = shift_ns;
}

/* ---- what a log says ---- */

static uint32_t hash_of(const struct request_name *name)
{
	uint64_t high, low, span;

	memcpy(&high, name->trace_id, sizeof(high));
	memcpy(&low, name->trace_id + sizeof(high), sizeof(low));
	memcpy(&span, name->span_id, sizeof(span));
	return hash_of_pair(high ^ span, low, span);
}

static struct end_of_request *find_sent(const struct clock_bounds *bounds, const struct request_name *name)
{
	HASH_INDEX_EACH(&bounds->sent_by_name, hash_of(name), slot, number)
	{
		struct end_of_request *sent = pool_item(&bounds->sent, number);

		if (!memcmp(&sent->name, name, sizeof(*name)))
			return sent;
	}
	return NULL;
}

/* The first header of a span counts: what came later may have been sent later. */
static int add_header(struct clock_bounds *bounds, const struct txtrace_attribute *attribute, bool is_sent)
{
	struct pool *pool = is_sent ? &bounds->sent : &bounds->got;
	struct id_map *open = is_sent ? &bounds->open_sent : &bounds->open_got;
	uint64_t owner = bounds->log | attribute->pid;
	struct end_of_request *end;
	struct trace_parent header;
	struct request_name name;
	uint32_t number;
	int err;

	if (!trace_parent_parse(&header, attribute->string) || pool->cnt >= CLOCK_REQUEST_MAX ||
	    id_map_get(open, owner, attribute->span))
		return 0;
	memcpy(name.trace_id, header.trace_id, sizeof(name.trace_id));
	memcpy(name.span_id, header.span_id, sizeof(name.span_id));
	if (is_sent && find_sent(bounds, &name))
		return 0;
	end = pool_take(pool, &number);
	if (!end)
		return -ENOMEM;
	*end = (struct end_of_request){ .name = name,
					.time_ns = attribute->time_ns + bounds->shift_ns,
					.machine = bounds->machine };
	err = id_map_put(open, owner, attribute->span, end);
	if (!err && is_sent)
		err = hash_index_put(&bounds->sent_by_name, hash_of(&name), number);
	return err;
}

int clock_bounds_add(struct clock_bounds *bounds, const struct txtrace_record *record)
{
	const struct txtrace_attribute *attribute = &record->attribute;
	const struct txtrace_span *span = &record->span;
	struct end_of_request *end;

	if (record->kind == TXTRACE_RECORD_ATTRIBUTE) {
		if (trace_header_is(attribute, TRACE_SENT_NAME))
			return add_header(bounds, attribute, true);
		return trace_header_is(attribute, TRACEPARENT_NAME) ? add_header(bounds, attribute, false)
								    : 0;
	}
	if (record->kind != TXTRACE_RECORD_SPAN || span->flags & TXTRACE_SPAN_KEYED)
		return 0;
	end = id_map_remove(&bounds->open_sent, bounds->log | span->pid, span->id);
	if (end)
		end->end_ns = span->end_ns + bounds->shift_ns;
	end = id_map_remove(&bounds->open_got, bounds->log | span->pid, span->id);
	if (end) {
		end->time_ns = span->begin_ns + bounds->shift_ns;
		end->end_ns = span->end_ns + bounds->shift_ns;
	}
	return 0;
}

/* ---- bounds ---- */

/* b's clock may go forward against a's by no more than that. */
static void bound(struct clock_bounds *bounds, uint64_t a, uint64_t b, uint64_t later_ns, uint64_t earlier_ns)
{
	int64_t *most = &bounds->most[a * bounds->machine_cnt + b],
		distance = (int64_t)(later_ns - earlier_ns);

	/* of a forged log, whose sums would not fit */
	if (distance > DISTANCE_MAX || distance < -DISTANCE_MAX)
		return;
	if (distance < *most)
		*most = distance;
}

static void compare(struct clock_bounds *bounds, const struct end_of_request *got)
{
	const struct end_of_request *sent = find_sent(bounds, &got->name);

	if (!sent || sent->machine == got->machine || !got->end_ns)
		return;
	bounds->request_cnts[sent->machine]++;
	bounds->request_cnts[got->machine]++;
	bound(bounds, got->machine, sent->machine, got->time_ns, sent->time_ns);
	if (sent->end_ns && got->end_ns - got->time_ns <= sent->end_ns - sent->time_ns)
		bound(bounds, sent->machine, got->machine, sent->end_ns, got->end_ns);
}

/* Also by way of other machines (Floyd and Warshall). */
static int join_bounds(struct clock_bounds *bounds)
{
	size_t cnt = bounds->machine_cnt;

	for (size_t i = 0; i < cnt; i++)
		bounds->most[i * cnt + i] = 0;
	for (size_t by = 0; by < cnt; by++)
		for (size_t from = 0; from < cnt; from++)
			for (size_t to = 0; to < cnt; to++) {
				int64_t first = bounds->most[from * cnt + by],
					second = bounds->most[by * cnt + to], sum;

				if (first == NO_BOUND || second == NO_BOUND ||
				    __builtin_add_overflow(first, second, &sum))
					continue;
				if (sum < bounds->most[from * cnt + to])
					bounds->most[from * cnt + to] = sum;
			}
	for (size_t i = 0; i < cnt; i++) {
		if (bounds->most[i * cnt + i] < 0)
			return -EDOM;
	}
	return 0;
}

int clock_bounds_finish(struct clock_bounds *bounds)
{
	for (uint32_t i = 0; i < bounds->got.cnt; i++)
		compare(bounds, pool_item(&bounds->got, i));
	return join_bounds(bounds);
}

void clock_bounds_get(const struct clock_bounds *bounds, size_t machine, struct clock_bound *result)
{
	int64_t most = bounds->most[machine], back = bounds->most[machine * bounds->machine_cnt];

	*result = (struct clock_bound){ .request_cnt = bounds->request_cnts[machine],
					.has_most = most != NO_BOUND,
					.has_least = back != NO_BOUND };
	if (result->has_most)
		result->most_ns = most;
	if (result->has_least)
		result->least_ns = -back;
}

int64_t clock_bound_correction(const struct clock_bound *bound)
{
	bool is_early = bound->has_least && bound->least_ns > 0,
	     is_late = bound->has_most && bound->most_ns < 0;

	if (!is_early && !is_late)
		return 0;
	if (bound->has_least && bound->has_most)
		return bound->least_ns + (bound->most_ns - bound->least_ns) / 2;
	return is_early ? bound->least_ns : bound->most_ns;
}
