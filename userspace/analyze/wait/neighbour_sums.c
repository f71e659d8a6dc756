/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/wait/neighbour_sums.h"
#include "base/saturating.h"

#include "base/array.h"

#define ENTRY_BYTES 48 /* in a map, about */

struct sum_row {
	uint64_t runnable_ns, cnt;
	uint32_t pid, tid, name, label;
	bool is_rest;
	struct cell *cells;
	size_t cell_cnt;
};

struct cell {
	struct cell *next; /* of its row */
	uint32_t neighbour;
	uint64_t ns, cnt;
};

/* The first row, and the first two neighbours. */
enum { ROW_REST = 0 };
enum { IDLE = 0, HYPERVISOR = 1, OTHERS = 2, FIXED_CNT = 3 };

int neighbour_sums_init(struct neighbour_sums *sums, const struct neighbours_options *options,
			struct string_pool *names)
{
	*sums = (struct neighbour_sums){ .options = options, .names = names };
	id_map_init(&sums->row_of);
	id_map_init(&sums->neighbour_of);
	id_map_init(&sums->cells);
	id_map_init(&sums->process_names);
	sums->row_size = sums->neighbour_size = 64;
	sums->rows = calloc(sums->row_size, sizeof(*sums->rows));
	sums->neighbours = calloc(sums->neighbour_size, sizeof(*sums->neighbours));
	if (!sums->rows || !sums->neighbours)
		return -ENOMEM;
	sums->rows[ROW_REST] = (struct sum_row){ .is_rest = true, .name = NO_NAME, .label = NO_NAME };
	sums->row_cnt = 1;
	sums->neighbours[IDLE] = (struct neighbour_key){ .kind = NEIGHBOUR_IDLE,
							 .name = NO_NAME,
							 .label = NO_NAME };
	sums->neighbours[HYPERVISOR] = (struct neighbour_key){ .kind = NEIGHBOUR_HYPERVISOR,
							       .name = NO_NAME,
							       .label = NO_NAME };
	sums->neighbours[OTHERS] = (struct neighbour_key){ .kind = NEIGHBOUR_OTHERS,
							   .name = NO_NAME,
							   .label = NO_NAME };
	sums->neighbour_cnt = FIXED_CNT;
	return 0;
}

void neighbour_sums_release(struct neighbour_sums *sums)
{
	struct cell *cell;

	for (size_t i = 0; (cell = id_map_next(&sums->cells, &i));)
		free(cell);
	for (size_t i = 0; sums->shown && i < sums->row_cnt; i++)
		free(sums->shown[i].cells);
	free(sums->shown);
	free(sums->rows);
	free(sums->neighbours);
	id_map_release(&sums->row_of);
	id_map_release(&sums->neighbour_of);
	id_map_release(&sums->cells);
	id_map_release(&sums->process_names);
}

static bool spend(struct neighbour_sums *sums, size_t bytes)
{
	if (sums->used_bytes + bytes > sums->options->max_bytes) {
		sums->is_full = true;
		return false;
	}
	sums->used_bytes += bytes;
	return true;
}

int neighbour_sums_name(struct neighbour_sums *sums, const struct txtrace_string *name, uint32_t *number)
{
	int err;

	*number = name->length ? string_pool_find(sums->names, name->bytes, name->length) : STRING_POOL_NONE;
	if (*number != STRING_POOL_NONE || !name->length)
		return 0;
	*number = NO_NAME;
	if (!spend(sums, name->length + ENTRY_BYTES))
		return 0;
	err = string_pool_add(sums->names, name->bytes, name->length, number);
	return err == -E2BIG ? 0 : err;
}

int neighbour_sums_note_process(struct neighbour_sums *sums, uint32_t pid, uint32_t tid, uint32_t name)
{
	bool is_known = id_map_get(&sums->process_names, 0, pid);

	if (!sums->options->wants_processes || name == NO_NAME || (is_known && pid != tid) ||
	    (!is_known && !spend(sums, ENTRY_BYTES)))
		return 0;
	return id_map_put(&sums->process_names, 0, pid, (void *)((uintptr_t)name + 1));
}

/* ---- rows ---- */

static int row_of(struct neighbour_sums *sums, uint64_t high, uint64_t low, const struct sum_row *fresh,
		  size_t *row)
{
	uintptr_t known = (uintptr_t)id_map_get(&sums->row_of, high, low);
	struct sum_row *more;

	*row = known ? known - 1 : ROW_REST;
	if (known || !spend(sums, sizeof(*fresh) + ENTRY_BYTES))
		return 0;
	more = array_grow(sums->rows, &sums->row_size, sums->row_cnt, sizeof(*more));
	if (!more)
		return -ENOMEM;
	sums->rows = more;
	sums->rows[sums->row_cnt] = *fresh;
	*row = sums->row_cnt++;
	return id_map_put(&sums->row_of, high, low, (void *)(uintptr_t)(*row + 1));
}

int neighbour_sums_label_row(struct neighbour_sums *sums, uint32_t label, size_t *row)
{
	const struct sum_row fresh = { .name = NO_NAME, .label = label };

	*row = ROW_REST;
	return label == NO_NAME ? 0 : row_of(sums, 0, label, &fresh, row);
}

int neighbour_sums_thread_row(struct neighbour_sums *sums, uint32_t pid, uint32_t tid, uint32_t name,
			      size_t *row)
{
	const struct sum_row fresh = { .pid = pid, .tid = tid, .name = name, .label = NO_NAME };
	int err = row_of(sums, pid, tid, &fresh, row);

	if (!err && *row != ROW_REST && name != NO_NAME)
		sums->rows[*row].name = name;
	return err;
}

void neighbour_sums_add_runnable(struct neighbour_sums *sums, size_t row, uint64_t ns)
{
	increase(&sums->rows[row].runnable_ns, ns);
	sums->rows[row].cnt++;
}

/* ---- cells ---- */

/* A number for who had the CPU; OTHERS, if it is new and there is no room. */
static int number_of(struct neighbour_sums *sums, const struct neighbour_key *key, uint32_t *number)
{
	uint64_t names = (uint64_t)key->name << 32 | key->label;
	uint64_t thread = (uint64_t)key->pid << 32 | key->tid;
	struct neighbour_key *more;
	uintptr_t known;

	*number = key->kind == NEIGHBOUR_IDLE	      ? IDLE
		  : key->kind == NEIGHBOUR_HYPERVISOR ? HYPERVISOR
						      : OTHERS;
	if (key->kind != NEIGHBOUR_TASK)
		return 0;
	known = (uintptr_t)id_map_get(&sums->neighbour_of, thread, names);
	if (known) {
		*number = (uint32_t)(known - 1);
		return 0;
	}
	if (sums->neighbour_cnt >= UINT32_MAX || !spend(sums, sizeof(*key) + ENTRY_BYTES))
		return 0;
	more = array_grow(sums->neighbours, &sums->neighbour_size, sums->neighbour_cnt, sizeof(*more));
	if (!more)
		return -ENOMEM;
	sums->neighbours = more;
	sums->neighbours[sums->neighbour_cnt] = *key;
	*number = (uint32_t)sums->neighbour_cnt++;
	return id_map_put(&sums->neighbour_of, thread, names, (void *)((uintptr_t)*number + 1));
}

static struct cell *new_cell(struct neighbour_sums *sums, size_t row, uint32_t neighbour)
{
	struct cell *cell = calloc(1, sizeof(*cell));

	if (!cell)
		return NULL;
	if (id_map_put(&sums->cells, row, neighbour, cell)) {
		free(cell);
		return NULL;
	}
	cell->neighbour = neighbour;
	cell->next = sums->rows[row].cells;
	sums->rows[row].cells = cell;
	sums->rows[row].cell_cnt++;
	return cell;
}

/* A cell of a row for all that have no cell of their own is always to be had. */
int neighbour_sums_charge(struct neighbour_sums *sums, size_t row, const struct neighbour_key *to,
			  uint64_t ns)
{
	struct neighbour_key key = *to;
	struct cell *cell;
	uint32_t neighbour;
	int err;

	if (sums->options->wants_processes && key.kind == NEIGHBOUR_TASK) {
		key.tid = 0;
		key.name = key.label = NO_NAME;
	}
	err = number_of(sums, &key, &neighbour);
	if (err)
		return err;
	cell = id_map_get(&sums->cells, row, neighbour);
	if (!cell && neighbour > OTHERS && !spend(sums, sizeof(*cell) + ENTRY_BYTES)) {
		neighbour = OTHERS;
		cell = id_map_get(&sums->cells, row, neighbour);
	}
	cell = cell ? cell : new_cell(sums, row, neighbour);
	if (!cell)
		return -ENOMEM;
	increase(&cell->ns, ns);
	cell->cnt++;
	return 0;
}

/* ---- what is shown ---- */

static struct txtrace_string string_of(const struct neighbour_sums *sums, uint32_t number)
{
	struct txtrace_string string = { NULL, 0 };

	if (number != NO_NAME)
		string.bytes = string_pool_get(sums->names, number, &string.length);
	return string;
}

static struct neighbour show_cell(const struct neighbour_sums *sums, const struct cell *cell)
{
	const struct neighbour_key *key = &sums->neighbours[cell->neighbour];
	uint32_t name = key->name;

	if (sums->options->wants_processes && key->kind == NEIGHBOUR_TASK)
		name = (uint32_t)((uintptr_t)id_map_get(&sums->process_names, 0, key->pid) - 1);
	return (struct neighbour){
		.kind = key->kind,
		.pid = key->pid,
		.tid = key->tid,
		.name = string_of(sums, name),
		.is_in_span = key->label != NO_NAME,
		.label = string_of(sums, key->label),
		.ns = cell->ns,
		.cnt = cell->cnt,
	};
}

static int compare_strings(const struct txtrace_string *a, const struct txtrace_string *b)
{
	size_t length = a->length < b->length ? a->length : b->length;
	int order = length ? memcmp(a->bytes, b->bytes, length) : 0;

	return order ? order : a->length < b->length ? -1 : a->length > b->length;
}

/* The longest first; then in an order that depends on what they are. */
static int compare_cells(const void *a, const void *b)
{
	const struct neighbour *left = a, *right = b;
	int order;

	if (left->ns != right->ns)
		return left->ns > right->ns ? -1 : 1;
	if (left->kind != right->kind)
		return left->kind < right->kind ? -1 : 1;
	if (left->pid != right->pid)
		return left->pid < right->pid ? -1 : 1;
	if (left->tid != right->tid)
		return left->tid < right->tid ? -1 : 1;
	order = compare_strings(&left->name, &right->name);
	return order ? order : compare_strings(&left->label, &right->label);
}

static int compare_rows(const void *a, const void *b)
{
	const struct neighbours_row *left = a, *right = b;
	int order;

	if (left->runnable_ns != right->runnable_ns)
		return left->runnable_ns > right->runnable_ns ? -1 : 1;
	order = compare_strings(&left->label, &right->label);
	if (order)
		return order;
	return left->pid != right->pid	? (left->pid < right->pid ? -1 : 1)
	       : left->tid < right->tid ? -1
					: left->tid > right->tid;
}

/* Figures that contradict each other (a log may say anything) leave nobody who is known. */
static int show_row(const struct neighbour_sums *sums, const struct sum_row *row,
		    struct neighbours_row *shown)
{
	uint64_t known_ns = 0;

	*shown = (struct neighbours_row){
		.is_rest = row->is_rest,
		.label = string_of(sums, row->label),
		.pid = row->pid,
		.tid = row->tid,
		.name = string_of(sums, row->name),
		.cnt = row->cnt,
		.runnable_ns = row->runnable_ns,
		.unknown_ns = row->runnable_ns,
	};
	if (row->cell_cnt) {
		shown->cells = calloc(row->cell_cnt, sizeof(*shown->cells));
		if (!shown->cells)
			return -ENOMEM;
	}
	for (const struct cell *cell = row->cells; cell; cell = cell->next) {
		shown->cells[shown->cell_cnt++] = show_cell(sums, cell);
		increase(&known_ns, cell->ns);
	}
	if (known_ns <= row->runnable_ns)
		shown->unknown_ns = row->runnable_ns - known_ns;
	else
		shown->cell_cnt = 0;
	if (shown->cell_cnt)
		qsort(shown->cells, shown->cell_cnt, sizeof(*shown->cells), compare_cells);
	return 0;
}

int neighbour_sums_finish(struct neighbour_sums *sums)
{
	int err = 0;

	sums->shown = calloc(sums->row_cnt, sizeof(*sums->shown));
	if (!sums->shown)
		return -ENOMEM;
	for (size_t i = 0; !err && i < sums->row_cnt; i++)
		err = show_row(sums, &sums->rows[i], &sums->shown[i]);
	if (!err)
		qsort(sums->shown, sums->row_cnt, sizeof(*sums->shown), compare_rows);
	return err;
}
