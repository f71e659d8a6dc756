/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/picture_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PROCESS_MAX 65536
#define THREAD_MAX 131072
#define LANE_SET_MAX 8192
#define COUNTER_MAX 65536
#define NEST_MAX (4 << 20)

static const struct txtrace_string no_name = { 0 };

struct process {
	uint64_t row;
	bool has_name;
};

struct thread_key {
	uint32_t pid;
	uint32_t tid;
};

static void release_thread(void *value)
{
	struct drawn_thread *thread = value;

	nest_row_release(&thread->nest);
}

void picture_rows_init(struct picture_rows *rows, const struct canvas_ops *ops, void *canvas,
		       const struct txtrace_log_info *info)
{
	*rows = (struct picture_rows){
		.ops = ops, .canvas = canvas, .info = info, .nest_budget.left = NEST_MAX
	};
	key_map_init(&rows->processes, sizeof(struct process), NULL);
	key_map_init(&rows->threads, sizeof(struct drawn_thread), release_thread);
	key_map_init(&rows->lane_sets, sizeof(struct lane_set), NULL);
	key_map_init(&rows->tracks, sizeof(struct lane_set), NULL);
	key_map_init(&rows->counters, sizeof(uint64_t), NULL);
}

void picture_rows_release(struct picture_rows *rows)
{
	key_map_release(&rows->processes);
	key_map_release(&rows->threads);
	key_map_release(&rows->lane_sets);
	key_map_release(&rows->tracks);
	key_map_release(&rows->counters);
}

static int announce(struct picture_rows *rows, struct picture_row *row)
{
	if (row->id == 0)
		row->id = ++rows->cnt;
	return rows->ops->row(rows->canvas, row);
}

/* ---- processes and threads ---- */

/* A viewer takes the first name of a process for good: the command, if it is the target. */
static int find_process(struct picture_rows *rows, uint32_t pid, struct txtrace_string name, uint64_t *row)
{
	const char *command = rows->info->command;
	struct picture_row announced = { .kind = ROW_PROCESS, .pid = pid, .name = name };
	struct process *process;
	bool is_new;
	int err = 0;

	if (rows->processes.count >= PROCESS_MAX && !key_map_find(&rows->processes, &pid, sizeof(pid)))
		key_map_prune(&rows->processes, NULL, NULL);
	process = key_map_add(&rows->processes, &pid, sizeof(pid), &is_new);
	if (!process)
		return -ENOMEM;
	if (pid == rows->info->pid && command[0])
		announced.name = (struct txtrace_string){ command,
							  strnlen(command, sizeof(rows->info->command)) };
	if (is_new || (announced.name.length > 0 && !process->has_name)) {
		announced.id = process->row;
		err = announce(rows, &announced);
		process->row = announced.id;
		process->has_name = announced.name.length > 0;
	}
	*row = process->row;
	return err;
}

static bool has_exited(void *context, const void *thread)
{
	(void)context;
	return ((const struct drawn_thread *)thread)->has_exited;
}

bool picture_rows_know_thread(const struct picture_rows *rows, uint32_t pid, uint32_t tid)
{
	struct thread_key key = { pid, tid };

	return key_map_find(&rows->threads, &key, sizeof(key)) != NULL;
}

static struct drawn_thread *add_thread(struct picture_rows *rows, uint32_t pid, uint32_t tid, bool *is_new)
{
	struct thread_key key = { pid, tid };

	if (rows->threads.count >= THREAD_MAX && !picture_rows_know_thread(rows, pid, tid)) {
		key_map_prune(&rows->threads, has_exited, NULL);
		if (rows->threads.count >= THREAD_MAX)
			key_map_prune(&rows->threads, NULL, NULL);
	}
	return key_map_add(&rows->threads, &key, sizeof(key), is_new);
}

int picture_rows_thread(struct picture_rows *rows, uint32_t pid, uint32_t tid, struct txtrace_string name,
			struct drawn_thread **found)
{
	struct drawn_thread *thread;
	uint64_t process;
	bool is_new;
	int err = find_process(rows, pid, pid == tid ? name : no_name, &process);

	if (err)
		return err;
	thread = add_thread(rows, pid, tid, &is_new);
	if (!thread)
		return -ENOMEM;
	if (is_new) {
		nest_row_init(&thread->nest, &rows->nest_budget);
		thread->row = (struct picture_row){
			.parent = process, .kind = ROW_THREAD, .pid = pid, .tid = tid
		};
	}
	if (is_new || name.length > 0) {
		thread->row.name = name;
		err = announce(rows, &thread->row);
		thread->row.name = no_name;
	}
	*found = thread;
	return err;
}

int picture_rows_states(struct picture_rows *rows, uint32_t pid, uint32_t tid, struct drawn_thread **found)
{
	int err = picture_rows_thread(rows, pid, tid, no_name, found);
	struct drawn_thread *thread;

	if (err || (*found)->states.id)
		return err;
	thread = *found;
	thread->states = (struct picture_row){
		.parent = thread->row.id,
		.kind = ROW_STATES,
		.pid = pid,
		.tid = tid,
		.name = { "state", strlen("state") },
	};
	return announce(rows, &thread->states);
}

/* ---- rows by name ---- */

/* The value for pid and name; NULL: no memory. */
static void *add_by_name(struct key_map *map, size_t max, uint32_t pid, struct txtrace_string name,
			 bool *is_new)
{
	size_t length = sizeof(pid) + name.length;
	char *key = malloc(length);
	void *value;

	if (!key)
		return NULL;
	memcpy(key, &pid, sizeof(pid));
	if (name.length > 0)
		memcpy(key + sizeof(pid), name.bytes, name.length);
	if (map->count >= max && !key_map_find(map, key, length))
		key_map_prune(map, NULL, NULL);
	value = key_map_add(map, key, length, is_new);
	free(key);
	return value;
}

static int take_lane(struct picture_rows *rows, struct lane_set *set, uint64_t begin_ns, uint64_t end_ns,
		     struct picture_row *row)
{
	bool is_new;

	row->kind = ROW_LANE;
	row->id = lane_set_take(set, begin_ns, end_ns, rows->cnt + 1, &is_new);
	if (!is_new)
		return 0;
	rows->cnt++;
	return announce(rows, row);
}

static bool leaves_row(const struct picture_rows *rows, const struct txtrace_span *span)
{
	return rows->crossings && crossings_has(rows->crossings, span);
}

int picture_rows_span(struct picture_rows *rows, const struct txtrace_span *span, struct txtrace_string track,
		      uint64_t end_ns, struct picture_row *row)
{
	bool has_track = track.length > 0, is_new;
	struct drawn_thread *thread;
	struct lane_set *set;
	int err = picture_rows_thread(rows, span->pid, span->tid, no_name, &thread);

	if (err)
		return err;
	err = !has_track && span_is_of_thread(span) && !leaves_row(rows, span)
		      ? nest_row_take(&thread->nest, span->begin_ns, end_ns)
		      : 0;
	*row = thread->row;
	if (err)
		return err < 0 ? err : 0;
	set = add_by_name(has_track ? &rows->tracks : &rows->lane_sets, LANE_SET_MAX, span->pid,
			  has_track ? track : span->label, &is_new);
	if (!set)
		return -ENOMEM;
	*row = (struct picture_row){ .parent = thread->row.parent,
				     .pid = span->pid,
				     .is_track = has_track,
				     .name = has_track ? track : span->label };
	if (row->name.length == 0)
		row->name = (struct txtrace_string){ NO_LABEL, strlen(NO_LABEL) };
	return take_lane(rows, set, span->begin_ns, end_ns, row);
}

int picture_rows_counter(struct picture_rows *rows, uint32_t pid, struct txtrace_string name,
			 struct picture_row *row)
{
	uint64_t process, *id;
	bool is_new;
	int err = find_process(rows, pid, no_name, &process);

	if (err)
		return err;
	id = add_by_name(&rows->counters, COUNTER_MAX, pid, name, &is_new);
	if (!id)
		return -ENOMEM;
	*row = (struct picture_row){
		.id = *id, .parent = process, .kind = ROW_COUNTER, .pid = pid, .name = name
	};
	if (row->name.length == 0)
		row->name = (struct txtrace_string){ NO_NAME, strlen(NO_NAME) };
	if (is_new)
		err = announce(rows, row);
	*id = row->id;
	return err;
}

int picture_rows_loss(struct picture_rows *rows, uint64_t begin_ns, uint64_t end_ns, struct picture_row *row)
{
	*row = (struct picture_row){ .pid = NO_PROCESS, .name = { "lost events", strlen("lost events") } };
	return take_lane(rows, &rows->loss_lanes, begin_ns, end_ns, row);
}

int picture_rows_capture(struct picture_rows *rows)
{
	if (rows->capture.id)
		return 0;
	rows->capture = (struct picture_row){ .kind = ROW_LANE,
					      .pid = NO_PROCESS,
					      .name = { "txtrace", strlen("txtrace") } };
	return announce(rows, &rows->capture);
}
