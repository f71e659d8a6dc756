/* SPDX-License-Identifier: BSD-2-Clause */
#include "merge/merge.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MOVES_EACH 8 /* of entries, for each new one: beyond that there are better ways to sort */

struct entry {
	uint64_t time_ns;
	size_t offset; /* into the lane's bytes */
	size_t size;
};

struct lane {
	uint64_t watermark_ns;
	struct entry *entries;
	size_t entry_cnt, entry_room;
	size_t head;          /* the first that was not given out */
	size_t sorted_cnt;    /* entries before this one are in order */
	unsigned char *bytes;
	size_t byte_cnt, byte_room;
};

struct merge {
	size_t lane_cnt;
	uint64_t pushed_cnt, late_cnt, given_ns;
	merge_look look; /* NULL: nobody wants to know */
	unsigned int look_distance;
	struct lane lanes[];
};

struct merge *merge_new(size_t lane_cnt)
{
	struct merge *merge = calloc(1, sizeof(*merge) + lane_cnt * sizeof(merge->lanes[0]));

	if (merge)
		merge->lane_cnt = lane_cnt;
	return merge;
}

void merge_free(struct merge *merge)
{
	if (!merge)
		return;
	for (size_t i = 0; i < merge->lane_cnt; i++) {
		free(merge->lanes[i].entries);
		free(merge->lanes[i].bytes);
	}
	free(merge);
}

static int reserve(void **memory, size_t *room, size_t wanted, size_t item_size)
{
	size_t new_room = *room ? *room : 1024;
	void *bigger;

	if (wanted <= *room)
		return 0;
	while (new_room < wanted)
		new_room *= 2;
	bigger = realloc(*memory, new_room * item_size);
	if (!bigger)
		return -ENOMEM;
	*memory = bigger;
	*room = new_room;
	return 0;
}

int merge_push(struct merge *merge, size_t lane_idx, uint64_t time_ns, const void *record, size_t size)
{
	struct lane *lane = &merge->lanes[lane_idx];
	size_t room = (size + 7) & ~(size_t)7;

	if (reserve((void **)&lane->entries, &lane->entry_room, lane->entry_cnt + 1,
		    sizeof(*lane->entries)) ||
	    reserve((void **)&lane->bytes, &lane->byte_room, lane->byte_cnt + room, 1))
		return -ENOMEM;
	memcpy(lane->bytes + lane->byte_cnt, record, size);
	lane->entries[lane->entry_cnt++] = (struct entry){ .time_ns = time_ns,
							   .offset = lane->byte_cnt,
							   .size = size };
	lane->byte_cnt += room;
	merge->pushed_cnt++;
	if (time_ns < merge->given_ns)
		merge->late_cnt++;
	return 0;
}

void merge_set_watermark(struct merge *merge, size_t lane, uint64_t time_ns)
{
	if (time_ns > merge->lanes[lane].watermark_ns)
		merge->lanes[lane].watermark_ns = time_ns;
}

/* The first entry that is not in order with those before it, or the end. */
static size_t end_of_run(const struct entry *entries, size_t begin, size_t cnt)
{
	size_t end = begin + 1;

	while (end < cnt && entries[end - 1].time_ns <= entries[end].time_ns)
		end++;
	return end;
}

/* Two runs that lie side by side, into one; of equal times those of the first come first. */
static void merge_runs(const struct entry *from, size_t middle, size_t end, struct entry *to)
{
	size_t left = 0, right = middle;

	while (left < middle && right < end)
		*to++ = from[right].time_ns < from[left].time_ns ? from[right++] : from[left++];
	while (left < middle)
		*to++ = from[left++];
	while (right < end)
		*to++ = from[right++];
}

/* A merge sort of the runs that there are. Returns whether it was one already. */
static bool merge_all_runs(struct entry *entries, struct entry *scratch, size_t cnt)
{
	size_t begin = 0, run_cnt = 0;

	for (size_t middle, end; begin < cnt; begin = end, run_cnt++) {
		middle = end_of_run(entries, begin, cnt);
		end = middle < cnt ? end_of_run(entries, middle, cnt) : middle;
		merge_runs(entries + begin, middle - begin, end - begin, scratch + begin);
	}
	memcpy(entries, scratch, cnt * sizeof(*entries));
	return run_cnt <= 1;
}

/* Insertion sort: false if it has moved more than so many entries, and did not come to an end. */
static bool insert_all(struct entry *entries, size_t begin, size_t cnt, size_t moves)
{
	for (size_t i = begin; i < cnt; i++) {
		struct entry entry = entries[i];
		size_t j = i;

		for (; j > 0 && entries[j - 1].time_ns > entry.time_ns; j--)
			entries[j] = entries[j - 1];
		entries[j] = entry;
		if (i - j > moves)
			return false;
		moves -= i - j;
	}
	return true;
}

/*
 * Stable. The kernel's rings are nearly in order, and an inversion spans few records; what threads have
 * marked in memory comes thread by thread.
 */
static void sort(struct lane *lane)
{
	struct entry *entries = lane->entries + lane->head, *scratch;
	size_t cnt = lane->entry_cnt - lane->head;
	size_t begin = lane->sorted_cnt > lane->head ? lane->sorted_cnt - lane->head : 0;

	lane->sorted_cnt = lane->entry_cnt;
	if (begin == cnt || insert_all(entries, begin, cnt, (cnt - begin) * MOVES_EACH))
		return;
	scratch = reallocarray(NULL, cnt, sizeof(*scratch));
	while (scratch && !merge_all_runs(entries, scratch, cnt))
		;
	if (!scratch)
		insert_all(entries, 0, cnt, SIZE_MAX);
	free(scratch);
}

/*
 * Forgets what was given out. Bytes are in the order of pushing, entries in that of time: only when all have
 * gone can the bytes go simply. Not before more has gone than is left: so each record is moved once at most,
 * on average.
 */
static void compact(struct lane *lane)
{
	size_t left = lane->entry_cnt - lane->head, first = lane->byte_cnt;

	if (lane->head <= left)
		return;
	memmove(lane->entries, lane->entries + lane->head, left * sizeof(*lane->entries));
	for (size_t i = 0; i < left; i++)
		if (lane->entries[i].offset < first)
			first = lane->entries[i].offset;
	memmove(lane->bytes, lane->bytes + first, lane->byte_cnt - first);
	for (size_t i = 0; i < left; i++)
		lane->entries[i].offset -= first;
	lane->byte_cnt -= first;
	lane->entry_cnt = lane->sorted_cnt = left;
	lane->head = 0;
}

static bool is_empty(const struct lane *lane)
{
	return lane->head == lane->entry_cnt;
}

static uint64_t head_time(const struct lane *lane)
{
	return lane->entries[lane->head].time_ns;
}

/*
 * The lane with the earliest head, and up to when it may go on before another one's turn comes. NULL: there
 * is nothing.
 */
static struct lane *choose(struct merge *merge, uint64_t *until_ns)
{
	struct lane *best = NULL;

	*until_ns = UINT64_MAX;
	for (size_t i = 0; i < merge->lane_cnt; i++) {
		struct lane *lane = &merge->lanes[i];

		if (is_empty(lane))
			continue;
		if (best && head_time(lane) >= head_time(best)) {
			if (head_time(lane) <= *until_ns)
				*until_ns = head_time(lane) - (head_time(lane) > head_time(best));
			continue;
		}
		if (best)
			*until_ns = head_time(best) - 1;
		best = lane;
	}
	return best;
}

void merge_look_ahead(struct merge *merge, merge_look look, unsigned int distance)
{
	merge->look = look;
	merge->look_distance = distance;
}

/* The one that is about to be taken is before the head. */
static void look_ahead(const struct merge *merge, const struct lane *lane, void *context)
{
	size_t idx = lane->head - 1 + merge->look_distance;

	if (idx < lane->entry_cnt)
		merge->look(context, lane->bytes + lane->entries[idx].offset, lane->entries[idx].size);
}

/* *left: how many may still be given out. */
static int give(struct merge *merge, struct lane *lane, uint64_t until_ns, size_t *left, merge_take take,
		void *context)
{
	while (lane->head < lane->entry_cnt && lane->entries[lane->head].time_ns <= until_ns && *left) {
		struct entry *entry = &lane->entries[lane->head++];
		int err;

		(*left)--;
		if (entry->time_ns > merge->given_ns)
			merge->given_ns = entry->time_ns;
		if (merge->look)
			look_ahead(merge, lane, context);
		err = take(context, lane->bytes + entry->offset, entry->size);
		if (err)
			return err;
	}
	return 0;
}

static uint64_t least_watermark_ns(const struct merge *merge)
{
	uint64_t least_ns = UINT64_MAX;

	for (size_t i = 0; i < merge->lane_cnt; i++)
		if (merge->lanes[i].watermark_ns < least_ns)
			least_ns = merge->lanes[i].watermark_ns;
	return least_ns;
}

int merge_run_some(struct merge *merge, size_t max, merge_take take, void *context)
{
	uint64_t watermark_ns = least_watermark_ns(merge), until_ns;
	struct lane *lane;
	int err = 0;

	for (size_t i = 0; i < merge->lane_cnt; i++)
		sort(&merge->lanes[i]);
	while (!err && max && (lane = choose(merge, &until_ns)) && head_time(lane) <= watermark_ns)
		err = give(merge, lane, until_ns < watermark_ns ? until_ns : watermark_ns, &max, take,
			   context);
	for (size_t i = 0; i < merge->lane_cnt; i++)
		compact(&merge->lanes[i]);
	return err;
}

int merge_run(struct merge *merge, merge_take take, void *context)
{
	return merge_run_some(merge, SIZE_MAX, take, context);
}

bool merge_has_more(const struct merge *merge)
{
	uint64_t watermark_ns = least_watermark_ns(merge);

	for (size_t i = 0; i < merge->lane_cnt; i++)
		if (!is_empty(&merge->lanes[i]) && head_time(&merge->lanes[i]) <= watermark_ns)
			return true;
	return false;
}

void merge_stats(const struct merge *merge, struct merge_stats *stats)
{
	*stats = (struct merge_stats){
		.pushed_cnt = merge->pushed_cnt,
		.late_cnt = merge->late_cnt,
		.given_ns = merge->given_ns,
	};
	for (size_t i = 0; i < merge->lane_cnt; i++) {
		stats->waiting_cnt += merge->lanes[i].entry_cnt - merge->lanes[i].head;
		stats->waiting_bytes += merge->lanes[i].byte_cnt;
	}
}
