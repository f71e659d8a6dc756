/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/crossings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/span_set.h"
#include "base/key_map.h"
#include "export/timeline.h"

#define SPAN_CNT 64           /* of a thread */
#define FORGOTTEN_AT_ONCE 16
#define THREAD_MAX 16384
#define LEAVING_BYTES (16 << 20)

struct seen_span {
	uint64_t begin_ns;
	uint64_t end_ns;
	uint64_t id;
};

/* What may still be on a thread's row, in the order of the ends. */
struct seen_thread {
	struct seen_span spans[SPAN_CNT];
	size_t cnt;
};

struct crossings {
	struct key_map threads; /* by pid and tid */
	struct span_set *leaving;
};

struct crossings *crossings_new(void)
{
	struct crossings *crossings = calloc(1, sizeof(*crossings));

	if (!crossings)
		return NULL;
	key_map_init(&crossings->threads, sizeof(struct seen_thread), NULL);
	crossings->leaving = span_set_new(LEAVING_BYTES);
	if (!crossings->leaving) {
		crossings_free(crossings);
		return NULL;
	}
	return crossings;
}

void crossings_free(struct crossings *crossings)
{
	if (!crossings)
		return;
	key_map_release(&crossings->threads);
	span_set_free(crossings->leaving);
	free(crossings);
}

static void forget_oldest(struct seen_thread *thread)
{
	thread->cnt -= FORGOTTEN_AT_ONCE;
	memmove(thread->spans, thread->spans + FORGOTTEN_AT_ONCE, thread->cnt * sizeof(thread->spans[0]));
}

/* The other began first and ended within the span. */
static bool is_crossed(const struct seen_span *other, const struct txtrace_span *span)
{
	return other->begin_ns < span->begin_ns && other->end_ns > span->begin_ns &&
	       other->end_ns < span->end_ns;
}

int crossings_see(struct crossings *crossings, const struct txtrace_span *span)
{
	uint64_t length_ns = span->end_ns - span->begin_ns, key = (uint64_t)span->pid << 32 | span->tid;
	struct seen_thread *thread;
	size_t kept = 0;
	bool is_new;

	if (!span_is_of_thread(span) || span->end_ns < span->begin_ns)
		return 0;
	if (crossings->threads.count >= THREAD_MAX && !key_map_find(&crossings->threads, &key, sizeof(key)))
		key_map_prune(&crossings->threads, NULL, NULL);
	thread = key_map_add(&crossings->threads, &key, sizeof(key), &is_new);
	if (!thread)
		return -ENOMEM;
	for (size_t i = 0; i < thread->cnt; i++) {
		const struct seen_span *other = &thread->spans[i];

		if (is_crossed(other, span) && other->end_ns - other->begin_ns >= length_ns) {
			span_set_add(crossings->leaving, span->pid, span->id);
			return 0;
		}
	}
	for (size_t i = 0; i < thread->cnt; i++) {
		if (is_crossed(&thread->spans[i], span))
			span_set_add(crossings->leaving, span->pid, thread->spans[i].id);
		else
			thread->spans[kept++] = thread->spans[i];
	}
	thread->cnt = kept;
	if (thread->cnt == SPAN_CNT)
		forget_oldest(thread);
	thread->spans[thread->cnt++] = (struct seen_span){ span->begin_ns, span->end_ns, span->id };
	return 0;
}

bool crossings_has(const struct crossings *crossings, const struct txtrace_span *span)
{
	return span_set_get(crossings->leaving, span->pid, span->id) != NULL;
}
