/* SPDX-License-Identifier: BSD-2-Clause */
#include "attribute/sampling.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct sampled_name {
	uint64_t id;
	uint32_t tgid;
};

/* As in bpf/span_filter.bpf.c, to which tests hold it. */
static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

static uint64_t hash_of_key(const struct event_text *key)
{
	uint64_t words[WIRE_KEY_MAX / 8] = { 0 }, hash = 0;

	if (key->length)
		memcpy(words, key->bytes, key->length < sizeof(words) ? key->length : sizeof(words));
	for (uint64_t i = 0; i < WIRE_KEY_MAX / 8; i++)
		hash = mix(hash ^ words[i]) + i;
	return mix(hash);
}

static bool is_chosen(const struct attribution *attribution, uint64_t hash)
{
	return (uint32_t)(hash >> 32) % attribution->filter.sample_rate == 0;
}

bool sampling_knows(const struct attribution *attribution, uint32_t tgid, uint64_t id)
{
	return id_map_get(&attribution->sampling.ended, tgid, id);
}

bool sampling_wants(const struct attribution *attribution, const struct event *event,
		    const struct thread *thread)
{
	uint64_t named = event->span.parent;
	const struct span *parent;

	if (event->kind == EVENT_KEY_BEGIN)
		return is_chosen(attribution, hash_of_key(&event->keyed.key));
	if (named && named != WIRE_PARENT_ROOT) {
		parent = span_table_get(&attribution->spans, event->tgid, named);
		return parent ? !parent->is_unsampled : sampling_knows(attribution, event->tgid, named);
	}
	if (!named && event->kind == EVENT_BEGIN && thread->stays)
		return !thread->stays->span->is_unsampled;
	return is_chosen(attribution, mix(mix(event->span.id) + event->tgid));
}

/* Of those that have ended the oldest makes room. */
static int remember(struct sampling *sampling, const struct sampled_name *name)
{
	struct sampled_name *kept;

	if (!sampling->names) {
		sampling->names = calloc(SAMPLING_ENDED_MAX, sizeof(*sampling->names));
		if (!sampling->names)
			return -ENOMEM;
	}
	kept = &sampling->names[sampling->ended_cnt % SAMPLING_ENDED_MAX];
	if (sampling->ended_cnt++ >= SAMPLING_ENDED_MAX &&
	    id_map_get(&sampling->ended, kept->tgid, kept->id) == kept)
		id_map_remove(&sampling->ended, kept->tgid, kept->id);
	*kept = *name;
	return id_map_put(&sampling->ended, name->tgid, name->id, kept);
}

int sampling_end(struct attribution *attribution, const struct span *span)
{
	const struct sampled_name name = { .id = span->id, .tgid = span->pid };

	if (!sampling_is_on(attribution) || span->is_unsampled || span->flags & TXTRACE_SPAN_KEYED)
		return 0;
	return remember(&attribution->sampling, &name);
}

void sampling_release(struct sampling *sampling)
{
	id_map_release(&sampling->ended);
	free(sampling->names);
}
