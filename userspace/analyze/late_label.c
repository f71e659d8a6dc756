/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/late_label.h"

#include <errno.h>
#include <stdlib.h>

#define KEYED_SCOPE (1ULL << 32) /* above every pid */
#define NUMBER_MAX 0x7ffffff0u

struct late_span {
	uint64_t scope;
	uint64_t id;
	uint32_t number;
	uint32_t party;
	uint32_t hold_cnt;
	bool has_ended;
};

static uint64_t scope_of(bool is_keyed, uint32_t pid)
{
	return is_keyed ? KEYED_SCOPE : pid;
}

void late_labels_init(struct late_labels *labels, late_label_named named, void *context)
{
	*labels = (struct late_labels){ .named = named, .context = context };
	id_map_init(&labels->by_id);
}

void late_labels_release(struct late_labels *labels)
{
	for (uint32_t i = 0; i < labels->cnt; i++)
		free(labels->spans[i]);
	id_map_release(&labels->by_id);
	free(labels->spans);
	free(labels->free_numbers);
}

static int grow(struct late_labels *labels)
{
	uint32_t size = labels->size ? labels->size * 2 : 64;
	struct late_span **spans = reallocarray(labels->spans, size, sizeof(*spans));
	uint32_t *numbers;

	if (!spans)
		return -ENOMEM;
	labels->spans = spans;
	numbers = reallocarray(labels->free_numbers, size, sizeof(*numbers));
	if (!numbers)
		return -ENOMEM;
	labels->free_numbers = numbers;
	labels->size = size;
	return 0;
}

static int add(struct late_labels *labels, uint64_t scope, uint64_t id, struct late_span **span)
{
	int err = 0;

	if (!labels->free_cnt && labels->cnt == labels->size)
		err = grow(labels);
	*span = err ? NULL : calloc(1, sizeof(**span));
	if (!*span)
		return -ENOMEM;
	**span = (struct late_span){ .scope = scope, .id = id, .party = LATE_LABEL_NONE };
	err = id_map_put(&labels->by_id, scope, id, *span);
	if (err) {
		free(*span);
		return err;
	}
	(*span)->number = labels->free_cnt ? labels->free_numbers[--labels->free_cnt] : labels->cnt++;
	labels->spans[(*span)->number] = *span;
	return 0;
}

/* *span: NULL if there is no room. */
static int get(struct late_labels *labels, bool is_keyed, uint32_t pid, uint64_t id, bool is_growing,
	       struct late_span **span)
{
	uint64_t scope = scope_of(is_keyed, pid);

	*span = id_map_get(&labels->by_id, scope, id);
	return *span || !is_growing || labels->cnt >= NUMBER_MAX ? 0 : add(labels, scope, id, span);
}

static void free_if_done(struct late_labels *labels, struct late_span *span)
{
	if (!span->has_ended || span->hold_cnt)
		return;
	labels->spans[span->number] = NULL;
	labels->free_numbers[labels->free_cnt++] = span->number;
	free(span);
}

int late_labels_hold(struct late_labels *labels, bool is_keyed, uint32_t pid, uint64_t id, bool is_growing,
		     uint32_t *number)
{
	struct late_span *span;
	int err = get(labels, is_keyed, pid, id, is_growing, &span);

	*number = span ? span->number : LATE_LABEL_NONE;
	if (span)
		span->hold_cnt++;
	return err;
}

void late_labels_release_hold(struct late_labels *labels, uint32_t number)
{
	struct late_span *span = labels->spans[number];

	span->hold_cnt--;
	free_if_done(labels, span);
}

bool late_labels_is_held(const struct late_labels *labels, bool is_keyed, uint32_t pid, uint64_t id)
{
	return id_map_get(&labels->by_id, scope_of(is_keyed, pid), id);
}

static int name(struct late_labels *labels, struct late_span *span, uint32_t party)
{
	if (span->party != LATE_LABEL_NONE)
		return 0;
	span->party = party;
	return labels->named(labels->context, span->number, party);
}

int late_labels_name(struct late_labels *labels, bool is_keyed, uint32_t pid, uint64_t id, bool is_growing,
		     uint32_t party)
{
	struct late_span *span;
	int err = get(labels, is_keyed, pid, id, is_growing, &span);

	return err || !span ? err : name(labels, span, party);
}

int late_labels_end(struct late_labels *labels, bool is_keyed, uint32_t pid, uint64_t id, uint32_t party)
{
	struct late_span *span = id_map_remove(&labels->by_id, scope_of(is_keyed, pid), id);
	int err = 0;

	if (!span)
		return 0;
	err = name(labels, span, party);
	span->has_ended = true;
	free_if_done(labels, span);
	return err;
}

int late_labels_end_all(struct late_labels *labels, uint32_t party)
{
	int err = 0;

	id_map_release(&labels->by_id);
	for (uint32_t i = 0; i < labels->cnt && !err; i++) {
		struct late_span *span = labels->spans[i];

		if (!span)
			continue;
		err = name(labels, span, party);
		span->has_ended = true;
		free_if_done(labels, span);
	}
	return err;
}

uint32_t late_labels_party(const struct late_labels *labels, uint32_t number)
{
	return labels->spans[number]->party;
}

size_t late_labels_bytes(const struct late_labels *labels)
{
	return labels->by_id.cnt * (sizeof(struct late_span) + 4 * sizeof(struct id_map_slot)) +
	       labels->size * (sizeof(*labels->spans) + sizeof(*labels->free_numbers));
}
