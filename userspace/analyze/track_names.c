/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/track_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/id_map.h"

#define GENERATION_MAX 524288

struct given_track {
	size_t length;
	char bytes[];
};

struct generation {
	struct id_map by_span; /* (pid, id): struct given_track */
};

/* What is older than both generations is forgotten. */
struct track_names {
	struct generation young, old;
	struct given_track *taken;
};

static void generation_release(struct generation *generation)
{
	struct given_track *track;

	for (size_t i = 0; (track = id_map_next(&generation->by_span, &i));)
		free(track);
	id_map_release(&generation->by_span);
}

struct track_names *track_names_new(void)
{
	struct track_names *tracks = calloc(1, sizeof(*tracks));

	if (!tracks)
		return NULL;
	id_map_init(&tracks->young.by_span);
	id_map_init(&tracks->old.by_span);
	return tracks;
}

void track_names_free(struct track_names *tracks)
{
	if (!tracks)
		return;
	generation_release(&tracks->young);
	generation_release(&tracks->old);
	free(tracks->taken);
	free(tracks);
}

bool track_is_given(const struct txtrace_attribute *attribute)
{
	return attribute->type == TXTRACE_ATTRIBUTE_STRING && attribute->name.length == 5 &&
	       !memcmp(attribute->name.bytes, "track", 5);
}

static void forget_taken(struct track_names *tracks)
{
	free(tracks->taken);
	tracks->taken = NULL;
}

static void age(struct track_names *tracks)
{
	generation_release(&tracks->old);
	tracks->old = tracks->young;
	id_map_init(&tracks->young.by_span);
}

int track_names_add(struct track_names *tracks, const struct txtrace_attribute *attribute)
{
	size_t length = attribute->string.length;
	struct given_track *track;

	forget_taken(tracks);
	if (!track_is_given(attribute))
		return 0;
	track = malloc(sizeof(*track) + length);
	if (!track)
		return -ENOMEM;
	track->length = length;
	if (length)
		memcpy(track->bytes, attribute->string.bytes, length);
	free(id_map_remove(&tracks->young.by_span, attribute->pid, attribute->span));
	if (tracks->young.by_span.cnt >= GENERATION_MAX)
		age(tracks);
	if (id_map_put(&tracks->young.by_span, attribute->pid, attribute->span, track)) {
		free(track);
		return -ENOMEM;
	}
	return 0;
}

bool track_names_take(struct track_names *tracks, const struct txtrace_span *span,
		      struct txtrace_string *name)
{
	struct given_track *young, *old;

	forget_taken(tracks);
	if (span->flags & TXTRACE_SPAN_KEYED)
		return false;
	young = id_map_remove(&tracks->young.by_span, span->pid, span->id);
	old = id_map_remove(&tracks->old.by_span, span->pid, span->id);
	tracks->taken = young ? young : old;
	if (young)
		free(old);
	if (!tracks->taken || !tracks->taken->length)
		return false;
	*name = (struct txtrace_string){ tracks->taken->bytes, tracks->taken->length };
	return true;
}
