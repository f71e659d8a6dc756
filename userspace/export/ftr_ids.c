/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/ftr_ids.h"

#include <errno.h>
#include <stdlib.h>

#define KNOWN_MAX (512u << 10)
#define WAITING_MAX (64u << 10)
#define OWN_ID (1ull << 61) /* the first one that we give beside those of an import */

struct ftr_known {
	uint64_t span;
	uint64_t id;
	uint64_t stream; /* 0: not known yet */
	uint32_t pid;
};

struct ftr_waiting {
	uint32_t name, from_pid, to_pid;
	uint64_t from, to;	 /* spans */
	uint64_t from_id, to_id; /* transactions */
};

int ftr_ids_init(struct ftr_ids *ids)
{
	*ids = (struct ftr_ids){ .next_id = 1 };
	id_map_init(&ids->known);
	ids->names = string_pool_new();
	ids->ring = calloc(KNOWN_MAX, sizeof(*ids->ring));
	ids->waiting = calloc(WAITING_MAX, sizeof(*ids->waiting));
	return ids->names && ids->ring && ids->waiting ? 0 : -ENOMEM;
}

void ftr_ids_release(struct ftr_ids *ids)
{
	id_map_release(&ids->known);
	string_pool_free(ids->names);
	free(ids->ring);
	free(ids->waiting);
}

uint64_t ftr_ids_new(struct ftr_ids *ids)
{
	if (ids->is_given && ids->next_id < OWN_ID)
		ids->next_id = OWN_ID;
	return ids->next_id++;
}

/* The one that was mentioned first is forgotten. */
static int find(struct ftr_ids *ids, uint32_t pid, uint64_t span, struct ftr_known **found)
{
	struct ftr_known *known = id_map_get(&ids->known, pid, span);

	*found = known;
	if (known)
		return 0;
	known = &ids->ring[ids->next];
	if (ids->cnt == KNOWN_MAX)
		id_map_remove(&ids->known, known->pid, known->span);
	else
		ids->cnt++;
	ids->next = (ids->next + 1) % KNOWN_MAX;
	*known = (struct ftr_known){ .span = span, .pid = pid };
	if (ids->is_given)
		known->id = span == FTR_ID_OF_ZERO ? 0 : span;
	else
		known->id = ftr_ids_new(ids);
	*found = known;
	return id_map_put(&ids->known, pid, span, known);
}

int ftr_ids_find(struct ftr_ids *ids, uint32_t pid, uint64_t span, uint64_t *id)
{
	struct ftr_known *known;
	int err = find(ids, pid, span, &known);

	*id = known->id;
	return err;
}

int ftr_ids_place(struct ftr_ids *ids, uint32_t pid, uint64_t span, uint64_t stream)
{
	struct ftr_known *known;
	int err = find(ids, pid, span, &known);

	known->stream = stream;
	return err;
}

static uint64_t stream_of(const struct ftr_ids *ids, uint32_t pid, uint64_t span)
{
	const struct ftr_known *known = id_map_get(&ids->known, pid, span);

	return known ? known->stream : 0;
}

/* Those whose streams are known; or all. */
static int write_waiting(struct ftr_ids *ids, struct ftr_writer *writer, bool is_all)
{
	size_t kept = 0;
	int err = 0;

	for (size_t i = 0; !err && i < ids->waiting_cnt; i++) {
		const struct ftr_waiting *waiting = &ids->waiting[i];
		struct ftr_arrow arrow = {
			.from = waiting->from_id,
			.to = waiting->to_id,
			.from_stream = stream_of(ids, waiting->from_pid, waiting->from),
			.to_stream = stream_of(ids, waiting->to_pid, waiting->to),
		};

		arrow.has_streams = arrow.from_stream && arrow.to_stream;
		arrow.name.bytes = string_pool_get(ids->names, waiting->name, &arrow.name.length);
		if (arrow.has_streams || is_all)
			err = writer->as->arrow(writer, &arrow);
		else
			ids->waiting[kept++] = *waiting;
	}
	ids->waiting_cnt = kept;
	return err;
}

int ftr_ids_relate(struct ftr_ids *ids, struct ftr_writer *writer, struct txtrace_string name,
		   uint32_t from_pid, uint64_t from, uint32_t to_pid, uint64_t to)
{
	struct ftr_waiting waiting = { .from_pid = from_pid, .to_pid = to_pid, .from = from, .to = to };
	int err = string_pool_add(ids->names, name.bytes, name.length, &waiting.name);

	err = err ? err : ftr_ids_find(ids, from_pid, from, &waiting.from_id);
	err = err ? err : ftr_ids_find(ids, to_pid, to, &waiting.to_id);
	if (!err && ids->waiting_cnt == WAITING_MAX) {
		err = write_waiting(ids, writer, false);
		if (!err && ids->waiting_cnt > WAITING_MAX / 2)
			err = write_waiting(ids, writer, true);
	}
	if (err)
		return err;
	ids->waiting[ids->waiting_cnt++] = waiting;
	return 0;
}

int ftr_ids_finish(struct ftr_ids *ids, struct ftr_writer *writer)
{
	return write_waiting(ids, writer, true);
}
