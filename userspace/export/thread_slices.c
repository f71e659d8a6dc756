/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/thread_slices.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/key_map.h"
#include "base/spill_sort.h"
#include "base/string_pool.h"
#include "base/temporary_file.h"
#include "export/timeline.h"

#define SORT_BYTES (64 << 20)
#define THREAD_MAX 131072
#define NAME_BYTES_MAX (64 << 20)
#define TAG_MAX 1024
#define GROUP_MAX 4096 /* slices that begin together and are put into order */
#define COMM_MAX 64

struct thread_entry {
	uint32_t number;
	uint32_t pid;
	uint32_t tid;
	char comm[COMM_MAX];
};

/* As it is sorted: a slice without its tag, which follows. */
struct slice_item {
	struct thread_slice slice;
	char tag[TAG_MAX];
};

struct group_item {
	uint32_t thread;
	size_t tag_at;
	struct thread_slice slice;
};

struct thread_slices {
	int folder;
	struct spill_sort *sort;
	struct string_pool *names;
	uint32_t other_name;
	struct key_map threads; /* by pid and tid */
	struct thread_entry **by_number;
	bool has_first;
	uint64_t first_ns;
	uint64_t left_out_cnt;

	/* slices of one thread with one begin, the longest first, and the first one behind them */
	struct group_item group[GROUP_MAX + 1];
	size_t group_cnt, group_at;
	bool has_ahead, is_over;
	struct group_item ahead;
	char ahead_tag[TAG_MAX];
	char *tags;
	size_t tag_size, tag_length;
};

struct thread_slices *thread_slices_new(void)
{
	static const char other[] = "(other names)";
	struct thread_slices *slices = calloc(1, sizeof(*slices));

	if (!slices)
		return NULL;
	slices->folder = open(temporary_folder(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	key_map_init(&slices->threads, sizeof(struct thread_entry), NULL);
	slices->names = string_pool_new();
	slices->sort = spill_sort_new(slices->folder, SORT_BYTES);
	slices->by_number = calloc(THREAD_MAX, sizeof(*slices->by_number));
	if (slices->folder < 0 || !slices->names || !slices->sort || !slices->by_number ||
	    string_pool_add(slices->names, other, strlen(other), &slices->other_name)) {
		thread_slices_free(slices);
		return NULL;
	}
	return slices;
}

void thread_slices_free(struct thread_slices *slices)
{
	if (!slices)
		return;
	spill_sort_free(slices->sort);
	string_pool_free(slices->names);
	key_map_release(&slices->threads);
	if (slices->folder >= 0)
		close(slices->folder);
	free(slices->by_number);
	free(slices->tags);
	free(slices);
}

/* ---- names ---- */

int thread_slices_number(struct thread_slices *slices, struct txtrace_string name, uint32_t *number)
{
	int err;

	*number = string_pool_find(slices->names, name.bytes, name.length);
	if (*number != STRING_POOL_NONE)
		return 0;
	*number = slices->other_name;
	if (string_pool_bytes(slices->names) > NAME_BYTES_MAX)
		return 0;
	err = string_pool_add(slices->names, name.bytes, name.length, number);
	return err == -E2BIG ? 0 : err;
}

const char *thread_slices_name(const struct thread_slices *slices, uint32_t number, size_t *length)
{
	return string_pool_get(slices->names, number, length);
}

uint32_t thread_slices_name_cnt(const struct thread_slices *slices)
{
	return string_pool_count(slices->names);
}

uint64_t thread_slices_first_ns(const struct thread_slices *slices)
{
	return slices->first_ns;
}

uint64_t thread_slices_left_out_cnt(const struct thread_slices *slices)
{
	return slices->left_out_cnt;
}

/* ---- in ---- */

/* *found NULL: there are too many already. */
static int find_thread(struct thread_slices *slices, uint32_t pid, uint32_t tid, struct thread_entry **found)
{
	uint32_t key[2] = { pid, tid };
	struct thread_entry *thread = key_map_find(&slices->threads, key, sizeof(key));
	bool is_new;

	*found = thread;
	if (thread || slices->threads.count >= THREAD_MAX)
		return 0;
	thread = key_map_add(&slices->threads, key, sizeof(key), &is_new);
	if (!thread)
		return -ENOMEM;
	thread->number = (uint32_t)slices->threads.count - 1;
	thread->pid = pid;
	thread->tid = tid;
	slices->by_number[thread->number] = thread;
	*found = thread;
	return 0;
}

int thread_slices_call(struct thread_slices *slices, const struct txtrace_thread *called)
{
	struct thread_entry *thread;
	size_t length = called->comm.length < COMM_MAX - 1 ? called->comm.length : COMM_MAX - 1;
	int err = find_thread(slices, called->pid, called->tid, &thread);

	if (err || !thread || length == 0)
		return err;
	memcpy(thread->comm, called->comm.bytes, length);
	thread->comm[length] = '\0';
	return 0;
}

int thread_slices_add(struct thread_slices *slices, uint32_t pid, uint32_t tid,
		      const struct thread_slice *slice)
{
	struct slice_item item = { .slice = *slice };
	size_t tag_length = slice->tag.length < TAG_MAX ? slice->tag.length : TAG_MAX;
	struct thread_entry *thread;
	int err = find_thread(slices, pid, tid, &thread);

	if (err)
		return err;
	if (!thread) {
		slices->left_out_cnt++;
		return 0;
	}
	if (!slices->has_first || slice->begin_ns < slices->first_ns)
		slices->first_ns = slice->begin_ns;
	slices->has_first = true;
	if (item.slice.end_ns < item.slice.begin_ns)
		item.slice.end_ns = item.slice.begin_ns;
	item.slice.tag = (struct txtrace_string){ NULL, tag_length };
	if (tag_length > 0)
		memcpy(item.tag, slice->tag.bytes, tag_length);
	return spill_sort_add(slices->sort, thread->number, slice->begin_ns, &item,
			      (uint32_t)(sizeof(item.slice) + tag_length));
}

int thread_slices_add_span(struct thread_slices *slices, const struct txtrace_span *span)
{
	struct thread_slice slice = {
		.begin_ns = span->begin_ns,
		.end_ns = span->end_ns,
		.id = span->id,
		.on_cpu_ns = span->ledger.on_cpu_ns,
		.runnable_ns = span->ledger.runnable_ns,
		.detached_ns = span->ledger.detached_ns,
		.unknown_ns = span->ledger.unknown_ns,
		.flags = span->flags,
		.kind = SLICE_SPAN,
		.is_of_thread = span_is_of_thread(span),
		.tag = span->tag,
	};
	int err = thread_slices_number(slices, span->label, &slice.name);

	for (unsigned int reason = 0; reason < TXTRACE_BLOCK_REASON_COUNT; reason++)
		slice.blocked_ns += span->ledger.blocked_ns[reason];
	return err ? err : thread_slices_add(slices, span->pid, span->tid, &slice);
}

int thread_slices_end(struct thread_slices *slices)
{
	return spill_sort_end(slices->sort);
}

/* ---- out ---- */

/* The next item to `ahead`; 1, 0 at the end, or a negative errno. */
static int look_ahead(struct thread_slices *slices)
{
	struct spill_item item;
	int got;

	if (slices->has_ahead || slices->is_over)
		return slices->has_ahead;
	got = spill_sort_next(slices->sort, &item);
	slices->is_over = got == 0;
	if (got <= 0)
		return got;
	memcpy(&slices->ahead.slice, item.bytes, sizeof(slices->ahead.slice));
	memcpy(slices->ahead_tag, (const char *)item.bytes + sizeof(slices->ahead.slice),
	       slices->ahead.slice.tag.length);
	slices->ahead.thread = (uint32_t)item.high;
	slices->has_ahead = true;
	return 1;
}

static int keep_ahead(struct thread_slices *slices)
{
	size_t length = slices->ahead.slice.tag.length;

	if (slices->tag_length + length > slices->tag_size) {
		size_t size = 2 * slices->tag_size + TAG_MAX;
		char *tags = realloc(slices->tags, size);

		if (!tags)
			return -ENOMEM;
		slices->tags = tags;
		slices->tag_size = size;
	}
	if (length > 0)
		memcpy(slices->tags + slices->tag_length, slices->ahead_tag, length);
	slices->ahead.tag_at = slices->tag_length;
	slices->tag_length += length;
	slices->group[slices->group_cnt++] = slices->ahead;
	slices->has_ahead = false;
	return 0;
}

static int compare_lengths(const void *a, const void *b)
{
	const struct group_item *first = a, *second = b;

	if (first->slice.end_ns != second->slice.end_ns)
		return first->slice.end_ns > second->slice.end_ns ? -1 : 1;
	/* spans that are the same stretch: the one that began first is around the other */
	return first->slice.id < second->slice.id ? -1 : first->slice.id > second->slice.id;
}

static int fill_group(struct thread_slices *slices)
{
	int got;

	slices->group_cnt = slices->group_at = slices->tag_length = 0;
	while ((got = look_ahead(slices)) > 0 && slices->group_cnt < GROUP_MAX) {
		const struct group_item *first = &slices->group[0], *ahead = &slices->ahead;

		if (slices->group_cnt > 0 &&
		    (ahead->thread != first->thread || ahead->slice.begin_ns != first->slice.begin_ns))
			break;
		got = keep_ahead(slices);
		if (got < 0)
			break;
	}
	if (got < 0)
		return got;
	qsort(slices->group, slices->group_cnt, sizeof(slices->group[0]), compare_lengths);
	return slices->group_cnt > 0;
}

int thread_slices_next(struct thread_slices *slices, struct sliced_thread *thread, struct thread_slice *slice)
{
	const struct group_item *item;
	const struct thread_entry *entry;
	int got = 1;

	if (slices->group_at == slices->group_cnt)
		got = fill_group(slices);
	if (got <= 0)
		return got;
	item = &slices->group[slices->group_at++];
	entry = slices->by_number[item->thread];
	*thread = (struct sliced_thread){ item->thread, entry->pid, entry->tid, entry->comm };
	*slice = item->slice;
	slice->tag.bytes = slice->tag.length > 0 ? slices->tags + item->tag_at : NULL;
	return 1;
}
