/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/wait/wait_sums.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/fd_names.h"
#include "analyze/late_label.h"
#include "analyze/thread_names.h"
#include "analyze/wait/party_pool.h"
#include "base/id_map.h"
#include "base/saturating.h"

const char *const wait_fault_names[WAIT_FAULT_COUNT] = {
	[WAIT_FAULT_UNKNOWN] = "unknown",	  [WAIT_FAULT_FILE] = "file",
	[WAIT_FAULT_ANONYMOUS] = "anonymous",	  [WAIT_FAULT_SWAP] = "swap",
	[WAIT_FAULT_USERFAULTFD] = "userfaultfd", [WAIT_FAULT_MMAP_LOCK] = "mmap_lock",
	[WAIT_FAULT_MIGRATION] = "migration",
};

const char *const wait_object_kind_names[WAIT_OBJECT_KIND_COUNT] = {
	[WAIT_OBJECT_NONE] = "none",	   [WAIT_OBJECT_FUTEX] = "futex",  [WAIT_OBJECT_FD] = "fd",
	[WAIT_OBJECT_SLEEP] = "sleep",	   [WAIT_OBJECT_CALL] = "syscall", [WAIT_OBJECT_MEMORY] = "memory",
	[WAIT_OBJECT_UNKNOWN] = "unknown", [WAIT_OBJECT_REST] = "rest",
};

/* A side of a cell: the number of a party, or of a span whose label is not known yet. */
#define IS_SPAN 0x80000000u

enum { WAITER = 0, WAKER = 1 };

struct cell {
	struct wait_cell sum;		 /* waiter and waker are sides */
	struct cell *next[2], **link[2]; /* of those of the span that is waiter, and waker */
};

struct wait_sums {
	struct wait_finder *finder;
	struct late_labels labels;
	struct cell **held; /* [2 * span + side]: cells that wait for this span's label */
	size_t held_size;
	struct party_pool parties;
	struct fd_names names;
	struct thread_names *threads; /* NULL: nobody wants them */
	struct syscall_table syscalls;
	struct wait_sums_options options;
	struct wait_object *objects;
	uint32_t object_cnt, object_size;
	struct id_map object_numbers; /* by (process, reason, kind) and value: number + 1 */
	struct id_map cells;	      /* by sides and object */
	struct wait_totals totals;
	bool is_full;
	struct cell **sorted;
	size_t sorted_cnt;
};

static size_t used_bytes(const struct wait_sums *sums)
{
	return sums->cells.cnt * (sizeof(struct cell) + 4 * sizeof(struct id_map_slot)) +
	       sums->held_size * sizeof(*sums->held) +
	       sums->object_cnt * (2 * sizeof(struct wait_object) + 4 * sizeof(struct id_map_slot)) +
	       string_pool_bytes(sums->parties.strings) + late_labels_bytes(&sums->labels);
}

/* A quarter of the budget is the finder's, an eighth is for the names of descriptors. */
static bool has_room(struct wait_sums *sums)
{
	if (used_bytes(sums) < sums->options.max_bytes / 8 * 5)
		return true;
	sums->is_full = true;
	return false;
}

/* ---- cells ---- */

static uint64_t sides(const struct wait_cell *cell)
{
	return (uint64_t)cell->waiter << 32 | cell->waker;
}

static uint32_t *side_of(struct cell *cell, int side)
{
	return side == WAITER ? &cell->sum.waiter : &cell->sum.waker;
}

static void link_cell(struct wait_sums *sums, struct cell *cell, int side)
{
	uint32_t number = *side_of(cell, side);
	struct cell **list;

	if (!(number & IS_SPAN))
		return;
	list = &sums->held[2 * (number & ~IS_SPAN) + (uint32_t)side];
	cell->next[side] = *list;
	cell->link[side] = list;
	if (*list)
		(*list)->link[side] = &cell->next[side];
	*list = cell;
}

static void unlink_cell(struct cell *cell, int side)
{
	if (!(*side_of(cell, side) & IS_SPAN))
		return;
	*cell->link[side] = cell->next[side];
	if (cell->next[side])
		cell->next[side]->link[side] = cell->link[side];
}

static void add_to(struct wait_cell *cell, uint64_t cnt, uint64_t ns, uint64_t max_ns)
{
	increase(&cell->cnt, cnt);
	increase(&cell->ns, ns);
	if (max_ns > cell->max_ns)
		cell->max_ns = max_ns;
}

/* Room for the lists of the spans that a cell names. */
static int hold(struct wait_sums *sums, uint32_t side)
{
	size_t needed = 2 * ((size_t)(side & ~IS_SPAN) + 1), size = sums->held_size ? sums->held_size : 256;
	struct cell **grown;

	if (!(side & IS_SPAN) || needed <= sums->held_size)
		return 0;
	while (size < needed)
		size *= 2;
	grown = reallocarray(NULL, size, sizeof(struct cell *));
	if (!grown)
		return -ENOMEM;
	for (size_t i = 0; i < size; i++) {
		grown[i] = i < sums->held_size ? sums->held[i] : NULL;
		if (grown[i])
			grown[i]->link[i % 2] = &grown[i];
	}
	free(sums->held);
	sums->held = grown;
	sums->held_size = size;
	return 0;
}

static int new_cell(struct wait_sums *sums, const struct wait_cell *key, struct cell **cell)
{
	int err = hold(sums, key->waiter);

	err = err ? err : hold(sums, key->waker);
	*cell = err ? NULL : calloc(1, sizeof(**cell));
	if (!*cell)
		return -ENOMEM;
	(*cell)->sum = (struct wait_cell){ .object = key->object,
					   .waiter = key->waiter,
					   .waker = key->waker };
	err = id_map_put(&sums->cells, sides(key), key->object, *cell);
	if (err) {
		free(*cell);
		return err;
	}
	link_cell(sums, *cell, WAITER);
	link_cell(sums, *cell, WAKER);
	return 0;
}

static int add_sum(struct wait_sums *sums, struct wait_cell key, uint64_t ns)
{
	struct cell *cell = id_map_get(&sums->cells, sides(&key), key.object);
	int err = 0;

	if (!cell && !has_room(sums)) {
		/* Few enough to be made whatever the budget says. */
		key.waker = party_pool_fixed(PARTY_REST);
		if (party_pool_get(&sums->parties, key.waiter & IS_SPAN ? 0 : key.waiter).kind ==
		    PARTY_THREAD)
			key.waiter = party_pool_fixed(PARTY_NO_SPAN);
		if (key.waiter != party_pool_fixed(PARTY_NO_SPAN) &&
		    key.waiter != party_pool_fixed(PARTY_UNSEEN))
			key.waiter = key.waker;
		if (sums->options.is_by_object)
			key.object = 0;
		cell = id_map_get(&sums->cells, sides(&key), key.object);
	}
	if (!cell)
		err = new_cell(sums, &key, &cell);
	if (!err)
		add_to(&cell->sum, 1, ns, ns);
	return err;
}

/* The label has come: the cell goes on under it, or becomes part of the one that is there. */
static int rename_side(struct wait_sums *sums, struct cell *cell, int side, uint32_t party)
{
	struct cell *same;

	id_map_remove(&sums->cells, sides(&cell->sum), cell->sum.object);
	unlink_cell(cell, side);
	*side_of(cell, side) = party;
	same = id_map_get(&sums->cells, sides(&cell->sum), cell->sum.object);
	if (!same)
		/* where the one removed was: needs no memory */
		return id_map_put(&sums->cells, sides(&cell->sum), cell->sum.object, cell);
	add_to(&same->sum, cell->sum.cnt, cell->sum.ns, cell->sum.max_ns);
	unlink_cell(cell, !side);
	free(cell);
	return 0;
}

static int name_span(void *context, uint32_t span, uint32_t party)
{
	struct wait_sums *sums = context;
	int err = 0;

	for (int side = WAITER; side <= WAKER; side++) {
		size_t idx = 2 * (size_t)span + (size_t)side;

		while (!err && idx < sums->held_size && sums->held[idx])
			err = rename_side(sums, sums->held[idx], side, party);
	}
	return err;
}

/* ---- objects ---- */

static enum wait_object_kind kind_of_call(const struct syscall_row *call, const struct wait *wait)
{
	/* Of a machine whose calls are not known, the reason tells as much. */
	static const uint8_t by_reason[TXTRACE_BLOCK_REASON_COUNT] = {
		[TXTRACE_BLOCK_LOCK] = WAIT_OBJECT_FUTEX, [TXTRACE_BLOCK_SLEEP] = WAIT_OBJECT_SLEEP,
		[TXTRACE_BLOCK_DISK] = WAIT_OBJECT_FD,	  [TXTRACE_BLOCK_NETWORK] = WAIT_OBJECT_FD,
		[TXTRACE_BLOCK_PIPE] = WAIT_OBJECT_FD,	  [TXTRACE_BLOCK_POLL] = WAIT_OBJECT_FD,
	};
	static const uint8_t by_argument[] = {
		[SYSCALL_ARGUMENT_FD] = WAIT_OBJECT_FD,
		[SYSCALL_ARGUMENT_ADDRESS] = WAIT_OBJECT_FUTEX,
		[SYSCALL_ARGUMENT_DURATION] = WAIT_OBJECT_SLEEP,
		[SYSCALL_ARGUMENT_MOMENT] = WAIT_OBJECT_SLEEP,
		[SYSCALL_ARGUMENT_POLLED] = WAIT_OBJECT_FD,
		[SYSCALL_ARGUMENT_SETS] = WAIT_OBJECT_FD,
		[SYSCALL_ARGUMENT_RING] = WAIT_OBJECT_FD,
	};
	/* A poll whose time was up is a sleep without an object. */
	bool may_be_zero = wait->reason != TXTRACE_BLOCK_SLEEP &&
			   (!call || call->argument == SYSCALL_ARGUMENT_FD ||
			    call->argument == SYSCALL_ARGUMENT_RING);
	uint8_t kind = call ? by_argument[call->argument] : wait->object ? by_reason[wait->reason] : 0;

	return kind && ((kind == WAIT_OBJECT_FD && may_be_zero) || wait->object) ? (enum wait_object_kind)kind
										 : WAIT_OBJECT_CALL;
}

struct wait_object wait_object_of(const struct syscall_table *syscalls, const struct wait *wait)
{
	struct wait_object object = { .pid = wait->pid, .reason = wait->reason };
	const struct syscall_row *call;

	if (wait->reason == WAIT_REASON_UNKNOWN || wait->syscall_nr < -1) {
		object.kind = WAIT_OBJECT_UNKNOWN;
	} else if (wait->reason == TXTRACE_BLOCK_STOPPED) {
		object.kind = WAIT_OBJECT_NONE;
	} else if (wait->syscall_nr < 0) {
		object.kind = WAIT_OBJECT_MEMORY;
		object.value = wait->object < WAIT_FAULT_COUNT ? wait->object : WAIT_FAULT_UNKNOWN;
	} else {
		call = syscall_table_get(syscalls, wait->syscall_nr);
		object.kind = kind_of_call(call, wait);
		object.value = object.kind == WAIT_OBJECT_CALL ? (uint64_t)wait->syscall_nr : wait->object;
		object.call = object.kind == WAIT_OBJECT_CALL && call ? call->name : NULL;
	}
	if (object.kind == WAIT_OBJECT_FD) {
		object.value = (uint32_t)wait->object;
		object.more_cnt = wait->object >> 32 ? (uint32_t)(wait->object >> 32) - 1 : 0;
	}
	return object;
}

/* Two digits: sleeps that asked for nearly the same are one object. */
static uint64_t round_duration(uint64_t ns)
{
	uint64_t unit = 1;

	while (ns / unit >= 100)
		unit *= 10;
	return ns / unit * unit;
}

/* *name: its number, of the names of descriptors. */
static struct wait_object summed_object(const struct wait_sums *sums, const struct wait *wait, uint32_t *name)
{
	struct wait_object object;

	*name = 0;
	if (!sums->options.is_by_object)
		return (struct wait_object){ .reason = wait->reason };
	object = wait_object_of(&sums->syscalls, wait);
	if (object.kind == WAIT_OBJECT_SLEEP)
		object.value = round_duration(object.value);
	if (object.kind == WAIT_OBJECT_FD) {
		*name = fd_names_find(&sums->names, object.pid, object.value);
		object.name = fd_names_get(&sums->names, *name);
	}
	return object;
}

/* 0 is the number of all others. */
static int number_of_object(struct wait_sums *sums, const struct wait_object *object, uint32_t name,
			    uint32_t *number)
{
	/* there is a name only where the value is a descriptor */
	uint64_t value = object->value | (uint64_t)name << 32;
	uint64_t more = object->more_cnt < UINT16_MAX ? object->more_cnt : UINT16_MAX;
	uint64_t high = (uint64_t)object->pid << 32 | more << 16 | (uint64_t)object->reason << 8 |
			object->kind;
	void *known = id_map_get(&sums->object_numbers, high, value);
	struct wait_object *grown;

	*number = (uint32_t)(uintptr_t)known;
	if (known || (sums->options.is_by_object && !has_room(sums)))
		return 0;
	if (sums->object_cnt == sums->object_size) {
		sums->object_size *= 2;
		grown = reallocarray(sums->objects, sums->object_size, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		sums->objects = grown;
	}
	*number = sums->object_cnt++;
	sums->objects[*number] = *object;
	return id_map_put(&sums->object_numbers, high, value, (void *)(uintptr_t)*number);
}

/* ---- who ---- */

static int keep_wake(void *context, struct wait_wake *kept)
{
	struct wait_sums *sums = context;
	const struct txtrace_wake *wake = &kept->wake;
	struct txtrace_string comm = { kept->comm, wake->waker_comm.length };
	int err = 0;

	kept->waiter = party_pool_fixed(PARTY_NO_SPAN);
	kept->waker = party_pool_fixed(PARTY_UNKNOWN);
	if (wake->span) {
		err = late_labels_hold(&sums->labels, wake->flags & TXTRACE_WAKE_SPAN_KEYED, wake->pid,
				       wake->span, has_room(sums), &kept->waiter);
		kept->waiter = kept->waiter == LATE_LABEL_NONE ? party_pool_fixed(PARTY_REST)
							       : kept->waiter | IS_SPAN;
	}
	if (err || wake->flags & TXTRACE_WAKE_WAKER_UNKNOWN)
		return err;
	if (wake->flags & TXTRACE_WAKE_INTERRUPT) {
		kept->waker = party_pool_fixed(party_of_interrupt(wake->flags));
	} else if (wake->waker_span) {
		err = late_labels_hold(&sums->labels, wake->flags & TXTRACE_WAKE_WAKER_SPAN_KEYED,
				       wake->waker_pid, wake->waker_span, has_room(sums), &kept->waker);
		kept->waker = kept->waker == LATE_LABEL_NONE ? party_pool_fixed(PARTY_REST)
							     : kept->waker | IS_SPAN;
	} else if (wake->waker_tid || comm.length > 0) {
		err = party_pool_add(&sums->parties, PARTY_THREAD, comm, has_room(sums), &kept->waker);
	}
	return err;
}

static void drop_wake(void *context, struct wait_wake *kept)
{
	struct wait_sums *sums = context;

	if (kept->waiter & IS_SPAN)
		late_labels_release_hold(&sums->labels, kept->waiter & ~IS_SPAN);
	if (kept->waker & IS_SPAN)
		late_labels_release_hold(&sums->labels, kept->waker & ~IS_SPAN);
}

/* Its label may have come since the wakeup. */
static uint32_t current_side(const struct wait_sums *sums, uint32_t side)
{
	uint32_t party = side & IS_SPAN ? late_labels_party(&sums->labels, side & ~IS_SPAN) : side;

	return party == LATE_LABEL_NONE ? side : party;
}

static bool is_wanted(const struct wait_sums *sums, const struct wait *wait)
{
	const struct txtrace_wake *wake = wait->wake ? &wait->wake->wake : NULL;

	return !sums->options.has_span ||
	       (wake && wake->span &&
		sums->options.has_span(sums->options.context, wake->flags & TXTRACE_WAKE_SPAN_KEYED,
				       wake->pid, wake->span));
}

static int add_wait(struct wait_sums *sums, const struct wait *wait)
{
	uint32_t name;
	struct wait_object object = summed_object(sums, wait, &name);
	struct wait_cell key = { .waiter = party_pool_fixed(PARTY_UNSEEN),
				 .waker = party_pool_fixed(PARTY_UNSEEN) };
	struct wait_totals *totals = &sums->totals;
	int err = 0;

	if (wait->wake) {
		key.waiter = current_side(sums, wait->wake->waiter);
		key.waker = current_side(sums, wait->wake->waker);
	}
	increase(&totals->cnt, 1);
	increase(&totals->ns, wait->blocked_ns);
	if (!wait->wake) {
		increase(&totals->unseen_cnt, 1);
		increase(&totals->unseen_ns, wait->blocked_ns);
	} else if (wait->wake->wake.span) {
		increase(&totals->in_span_cnt, 1);
		increase(&totals->in_span_ns, wait->blocked_ns);
	} else {
		increase(&totals->no_span_cnt, 1);
		increase(&totals->no_span_ns, wait->blocked_ns);
		if (!sums->options.is_by_object)
			return 0;
		if (sums->threads && has_room(sums)) /* or it is a thread in no span as any other */
			err = party_pool_add(&sums->parties, PARTY_THREAD,
					     thread_names_get(sums->threads, wait->pid, wait->tid), true,
					     &key.waiter);
	}
	err = err ? err : number_of_object(sums, &object, name, &key.object);
	return err ? err : add_sum(sums, key, wait->blocked_ns);
}

/* ---- all of it ---- */

static struct wait_finder *new_finder(struct wait_sums *sums)
{
	struct wait_keeper keeper = { keep_wake, drop_wake, sums };

	return wait_finder_new(sums->options.max_bytes / 4, &keeper);
}

static int init(struct wait_sums *sums)
{
	int err;

	id_map_init(&sums->object_numbers);
	id_map_init(&sums->cells);
	late_labels_init(&sums->labels, name_span, sums);
	syscall_table_init(&sums->syscalls, sums->options.kernel);
	err = party_pool_init(&sums->parties);
	err = err ? err : fd_names_init(&sums->names, sums->options.max_bytes / 8);
	sums->finder = new_finder(sums);
	sums->object_size = 16;
	sums->objects = calloc(sums->object_size, sizeof(*sums->objects));
	sums->threads = sums->options.names_threads ? thread_names_new() : NULL;
	if (err || !sums->finder || !sums->objects || !sums->threads == sums->options.names_threads)
		return -ENOMEM;
	sums->objects[0] = (struct wait_object){ .kind = WAIT_OBJECT_REST, .reason = WAIT_REASON_COUNT };
	sums->object_cnt = 1;
	return 0;
}

struct wait_sums *wait_sums_new(const struct wait_sums_options *options)
{
	struct wait_sums *sums = calloc(1, sizeof(*sums));

	if (!sums)
		return NULL;
	sums->options = *options;
	if (init(sums)) {
		wait_sums_free(sums);
		return NULL;
	}
	return sums;
}

void wait_sums_free(struct wait_sums *sums)
{
	struct cell *cell;

	if (!sums)
		return;
	wait_finder_free(sums->finder);
	for (size_t i = 0; (cell = id_map_next(&sums->cells, &i));)
		free(cell);
	id_map_release(&sums->cells);
	id_map_release(&sums->object_numbers);
	late_labels_release(&sums->labels);
	party_pool_release(&sums->parties);
	fd_names_release(&sums->names);
	thread_names_free(sums->threads);
	free(sums->held);
	free(sums->objects);
	free(sums->sorted);
	free(sums);
}

/* A label that finds no room is one of all others. */
static int add_label(struct wait_sums *sums, struct txtrace_string label, uint32_t *party)
{
	return party_pool_add(&sums->parties, PARTY_SPAN, label, has_room(sums), party);
}

static int add_span(struct wait_sums *sums, const struct txtrace_span *span)
{
	uint32_t party;
	int err;

	if (!late_labels_is_held(&sums->labels, span->flags & TXTRACE_SPAN_KEYED, span->pid, span->id))
		return 0;
	err = add_label(sums, span->label, &party);
	return err ? err
		   : late_labels_end(&sums->labels, span->flags & TXTRACE_SPAN_KEYED, span->pid, span->id,
				     party);
}

/* It says the label of a span whose end may never come. */
static int add_open_span(struct wait_sums *sums, const struct txtrace_open_span *span)
{
	uint32_t party;
	int err;

	if (span->label.length == 0)
		return 0;
	err = add_label(sums, span->label, &party);
	return err ? err
		   : late_labels_name(&sums->labels, span->key.length > 0, span->pid, span->id,
				      has_room(sums), party);
}

int wait_sums_add(struct wait_sums *sums, const struct txtrace_record *record)
{
	struct wait wait;
	int result;

	if (record->kind == TXTRACE_RECORD_SPAN)
		return add_span(sums, &record->span);
	if (record->kind == TXTRACE_RECORD_OPEN_SPAN)
		return add_open_span(sums, &record->open_span);
	if (record->kind == TXTRACE_RECORD_THREAD && sums->threads)
		thread_names_add(sums->threads, &record->thread);
	if (record->kind == TXTRACE_RECORD_OBJECT)
		return sums->options.is_by_object ? fd_names_add(&sums->names, &record->object) : 0;
	result = wait_finder_add(sums->finder, record, &wait);
	return result > 0 && is_wanted(sums, &wait) ? add_wait(sums, &wait) : result < 0 ? result : 0;
}

/* Whoever waited first was told of when it was looked at, which may be behind the waits. */
static void name_futexes(struct wait_sums *sums)
{
	for (uint32_t i = 0; i < sums->object_cnt; i++) {
		struct wait_object *object = &sums->objects[i];

		if (object->kind == WAIT_OBJECT_FUTEX && object->name.length == 0)
			object->name = fd_names_get(&sums->names,
						    fd_names_find(&sums->names, object->pid, object->value));
	}
}

int wait_sums_begin_capture(struct wait_sums *sums)
{
	struct wait_finder *finder = new_finder(sums);

	if (!finder)
		return -ENOMEM;
	sums->is_full |= wait_finder_is_full(sums->finder);
	wait_finder_free(sums->finder);
	sums->finder = finder;
	name_futexes(sums);
	id_map_release(&sums->names.numbers);
	return late_labels_end_all(&sums->labels, party_pool_fixed(PARTY_SPAN));
}

static int compare_cells(const void *a, const void *b)
{
	const struct wait_cell *x = &(*(struct cell *const *)a)->sum, *y = &(*(struct cell *const *)b)->sum;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	if (x->object != y->object)
		return x->object < y->object ? -1 : 1;
	if (x->waiter != y->waiter)
		return x->waiter < y->waiter ? -1 : 1;
	return x->waker < y->waker ? -1 : x->waker > y->waker;
}

int wait_sums_finish(struct wait_sums *sums)
{
	struct cell *cell;
	int err = late_labels_end_all(&sums->labels, party_pool_fixed(PARTY_SPAN));

	if (err)
		return err;
	name_futexes(sums);
	sums->sorted = calloc(sums->cells.cnt + 1, sizeof(*sums->sorted));
	if (!sums->sorted)
		return -ENOMEM;
	for (size_t i = 0; (cell = id_map_next(&sums->cells, &i));)
		sums->sorted[sums->sorted_cnt++] = cell;
	qsort(sums->sorted, sums->sorted_cnt, sizeof(*sums->sorted), compare_cells);
	return 0;
}

size_t wait_sums_count(const struct wait_sums *sums)
{
	return sums->sorted_cnt;
}

const struct wait_cell *wait_sums_get(const struct wait_sums *sums, size_t idx)
{
	return &sums->sorted[idx]->sum;
}

size_t wait_sums_party_count(const struct wait_sums *sums)
{
	return string_pool_count(sums->parties.strings);
}

size_t wait_sums_object_count(const struct wait_sums *sums)
{
	return sums->object_cnt;
}

struct party wait_sums_party(const struct wait_sums *sums, uint32_t number)
{
	return party_pool_get(&sums->parties, number);
}

const struct wait_object *wait_sums_object(const struct wait_sums *sums, uint32_t number)
{
	return &sums->objects[number];
}

const struct wait_totals *wait_sums_totals(const struct wait_sums *sums)
{
	return &sums->totals;
}

bool wait_sums_is_full(const struct wait_sums *sums)
{
	return sums->is_full || wait_finder_is_full(sums->finder);
}
