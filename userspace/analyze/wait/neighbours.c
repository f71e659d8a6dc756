/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/wait/neighbours.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/thread_names.h"
#include "analyze/wait/cpu_history.h"
#include "analyze/wait/neighbour_sums.h"
#include "analyze/wait/stay_index.h"
#include "analyze/wait/time_gaps.h"

#define MOVE_MAX 32       /* of one wait */
#define MOVED_MAX 1048576 /* threads that wait and were moved */
#define STAY_MAX 256      /* of a thread, in one wait */

/* From which CPUs a thread was moved since it last ran. */
struct moves {
	size_t cnt; /* MOVE_MAX + 1: there were more */
	struct {
		uint64_t time_ns;
		uint32_t cpu;
	} list[MOVE_MAX];
};

struct neighbours {
	struct neighbours_options options;
	struct string_pool *names;
	struct stay_index *stays;
	struct time_gaps gaps;
	struct cpu_history *history;
	struct thread_names *thread_names;
	struct id_map moves; /* by pid and tid */
	struct neighbour_sums sums;
	bool is_blind; /* a move could not be kept: where threads wait is not known any more */
};

/* One wait of a thread, while it is charged. */
struct wait {
	struct neighbours *neighbours;
	const struct txtrace_run *run;
	const struct indexed_stay *stays[STAY_MAX]; /* BY_LABEL: what it was in */
	size_t stay_cnt;
	size_t row; /* BY_THREAD */
};

struct neighbours *neighbours_new(const struct neighbours_options *options)
{
	struct neighbours *neighbours = calloc(1, sizeof(*neighbours));

	if (!neighbours)
		return NULL;
	neighbours->options = *options;
	id_map_init(&neighbours->moves);
	time_gaps_init(&neighbours->gaps);
	neighbours->names = string_pool_new();
	neighbours->stays = neighbours->names ? stay_index_new(neighbours->names, options->max_bytes / 2)
					      : NULL;
	neighbours->history = cpu_history_new(options->max_bytes / 4);
	neighbours->thread_names = thread_names_new();
	if (neighbour_sums_init(&neighbours->sums, &neighbours->options, neighbours->names) ||
	    !neighbours->stays || !neighbours->history || !neighbours->thread_names) {
		neighbours_free(neighbours);
		return NULL;
	}
	return neighbours;
}

static void forget_moves(struct neighbours *neighbours)
{
	struct moves *moves;

	for (size_t i = 0; (moves = id_map_next(&neighbours->moves, &i));)
		free(moves);
	id_map_release(&neighbours->moves);
	id_map_init(&neighbours->moves);
}

void neighbours_free(struct neighbours *neighbours)
{
	if (!neighbours)
		return;
	neighbour_sums_release(&neighbours->sums);
	forget_moves(neighbours);
	id_map_release(&neighbours->moves);
	thread_names_free(neighbours->thread_names);
	cpu_history_free(neighbours->history);
	time_gaps_release(&neighbours->gaps);
	stay_index_free(neighbours->stays);
	string_pool_free(neighbours->names);
	free(neighbours);
}

void neighbours_begin_capture(struct neighbours *neighbours)
{
	struct thread_names *names = thread_names_new();

	stay_index_begin_capture(neighbours->stays);
	cpu_history_clear(neighbours->history);
	forget_moves(neighbours);
	if (!names)
		return; /* the old names stay: better than none */
	thread_names_free(neighbours->thread_names);
	neighbours->thread_names = names;
}

int neighbours_survey(struct neighbours *neighbours, const struct txtrace_record *record)
{
	int err = time_gaps_add(&neighbours->gaps, record);

	return err ? err : stay_index_add(neighbours->stays, record);
}

int neighbours_end_survey(struct neighbours *neighbours)
{
	stay_index_finish(neighbours->stays);
	cpu_history_clear(neighbours->history);
	return time_gaps_finish(&neighbours->gaps);
}

void neighbours_choose(struct neighbours *neighbours, enum neighbours_by by)
{
	neighbours->options.by = by;
}

/* ---- charging ---- */

static int charge(struct wait *wait, const struct neighbour_key *key, uint64_t from_ns, uint64_t to_ns)
{
	struct neighbour_sums *sums = &wait->neighbours->sums;
	int err = 0;

	if (wait->neighbours->options.by == NEIGHBOURS_BY_THREAD)
		return neighbour_sums_charge(sums, wait->row, key, to_ns - from_ns);
	for (size_t i = 0; !err && i < wait->stay_cnt; i++) {
		const struct indexed_stay *stay = wait->stays[i];
		uint64_t begin_ns = stay->enter_ns > from_ns ? stay->enter_ns : from_ns;
		uint64_t end_ns = stay->exit_ns < to_ns ? stay->exit_ns : to_ns;
		size_t row;

		if (!stay->is_exact || begin_ns >= end_ns)
			continue;
		err = neighbour_sums_label_row(sums, stay->label, &row);
		err = err ? err : neighbour_sums_charge(sums, row, key, end_ns - begin_ns);
	}
	return err;
}

/*
 * The stay that the thread entered last of those that it is in at this moment, and until when nothing changes
 * about that.
 */
static const struct indexed_stay *innermost(const struct indexed_stay *const *stays, size_t cnt,
					    uint64_t at_ns, uint64_t *until_ns)
{
	const struct indexed_stay *found = NULL;

	for (size_t i = 0; i < cnt; i++) {
		if (stays[i]->enter_ns <= at_ns && stays[i]->exit_ns > at_ns) {
			found = stays[i]; /* they come in the order in which they were entered */
			*until_ns = stays[i]->exit_ns < *until_ns ? stays[i]->exit_ns : *until_ns;
		} else if (stays[i]->enter_ns > at_ns && stays[i]->enter_ns < *until_ns) {
			*until_ns = stays[i]->enter_ns;
		}
	}
	return found;
}

/* A task's stay on the CPU, piece by piece for the spans that it was in. */
static int charge_task(struct wait *wait, struct neighbour_key *key, uint64_t from_ns, uint64_t to_ns)
{
	const struct indexed_stay *stays[STAY_MAX];
	size_t cnt = wait->neighbours->options.wants_processes
			     ? 0
			     : stay_index_find(wait->neighbours->stays, key->pid, key->tid, from_ns, to_ns,
					       stays, STAY_MAX);
	int err = 0;

	while (!err && from_ns < to_ns) {
		uint64_t until_ns = to_ns;
		const struct indexed_stay *in = innermost(stays, cnt, from_ns, &until_ns);

		key->label = in && cnt < STAY_MAX ? in->label : NO_NAME;
		err = charge(wait, key, from_ns, until_ns);
		from_ns = until_ns;
	}
	return err;
}

/* While time is stolen nobody has the CPU. When in the stay that was is not known: at its end, we say. */
static int take_stay(void *context, const struct cpu_stay *stay)
{
	const struct neighbour_key hypervisor = { .kind = NEIGHBOUR_HYPERVISOR,
						  .name = NO_NAME,
						  .label = NO_NAME };
	uint64_t length_ns = stay->end_ns - stay->begin_ns,
		 stolen_ns = stay->stolen_ns < length_ns ? stay->stolen_ns : length_ns;
	uint64_t end_ns = stay->end_ns - stolen_ns;
	struct wait *wait = context;
	int err = 0;
	struct neighbour_key key = { .kind = stay->tid ? NEIGHBOUR_TASK : NEIGHBOUR_IDLE,
				     .pid = stay->pid,
				     .tid = stay->tid,
				     .name = stay->name,
				     .label = NO_NAME };

	if (stay->tid == wait->run->tid && stay->pid == wait->run->pid)
		return 0; /* the log contradicts itself */
	if (stolen_ns)
		err = charge(wait, &hypervisor, end_ns, stay->end_ns);
	if (err || stay->begin_ns >= end_ns)
		return err;
	return stay->tid ? charge_task(wait, &key, stay->begin_ns, end_ns)
			 : charge(wait, &key, stay->begin_ns, end_ns);
}

/* The wait for each CPU that the thread waited for, one after the other; on the last one it ran. */
static int charge_wait(struct wait *wait, const struct moves *moves)
{
	const struct txtrace_run *run = wait->run;
	uint64_t from_ns = run->begin_ns - run->runnable_ns,
		 idle_ns = run->idle_ns < run->runnable_ns ? run->idle_ns : run->runnable_ns;
	struct cpu_stay idle = { .begin_ns = run->begin_ns - idle_ns,
				 .end_ns = run->begin_ns,
				 .stolen_ns = run->idle_stolen_ns };
	struct cpu_history *history = wait->neighbours->history;
	int err = 0;

	for (size_t i = 0; moves && !err && i < moves->cnt; i++) {
		uint64_t to_ns = moves->list[i].time_ns;

		if (to_ns <= from_ns || to_ns > run->begin_ns)
			continue;
		err = cpu_history_look(history, moves->list[i].cpu, from_ns, to_ns, take_stay, wait);
		from_ns = to_ns;
	}
	cpu_stay_cut(&idle, from_ns, run->begin_ns);
	if (!err)
		err = cpu_history_look(history, run->cpu, from_ns, idle.begin_ns, take_stay, wait);
	return err || idle.begin_ns == run->begin_ns ? err : take_stay(wait, &idle);
}

/* ---- records ---- */

static int name_of_thread(struct neighbours *neighbours, uint32_t pid, uint32_t tid, uint32_t *name)
{
	struct txtrace_string known = thread_names_get(neighbours->thread_names, pid, tid);

	return neighbour_sums_name(&neighbours->sums, &known, name);
}

/* A wait that a gap touches may not have been as it seems: nobody is known for it. */
static int add_wait(struct neighbours *neighbours, const struct txtrace_run *run, uint32_t name)
{
	const struct moves *moves = id_map_get(&neighbours->moves, run->pid, run->tid);
	struct wait wait = { .neighbours = neighbours, .run = run };
	uint64_t from_ns = run->begin_ns - run->runnable_ns;
	int err = 0;

	if (neighbours->options.by == NEIGHBOURS_BY_THREAD) {
		err = neighbour_sums_thread_row(&neighbours->sums, run->pid, run->tid, name, &wait.row);
		if (err)
			return err;
		neighbour_sums_add_runnable(&neighbours->sums, wait.row, run->runnable_ns);
	}
	if (run->cpu == TXTRACE_CPU_UNKNOWN || neighbours->is_blind ||
	    (moves && moves->cnt > MOVE_MAX) || run->runnable_ns > run->begin_ns ||
	    time_gaps_find(&neighbours->gaps, from_ns, run->begin_ns))
		return 0;
	if (neighbours->options.by == NEIGHBOURS_BY_LABEL) {
		wait.stay_cnt = stay_index_find(neighbours->stays, run->pid, run->tid, from_ns, run->begin_ns,
						wait.stays, STAY_MAX);
		if (!wait.stay_cnt)
			return 0;
	}
	return charge_wait(&wait, moves);
}

/* In a gap it may have left the CPU and come back, or to another one. */
static int add_run(struct neighbours *neighbours, const struct txtrace_run *run)
{
	struct cpu_stay stay = {
		.begin_ns = run->begin_ns,
		.end_ns = run->end_ns,
		.pid = run->pid,
		.tid = run->tid,
		.stolen_ns = run->stolen_ns,
	};
	struct cpu_stay idle = { .begin_ns = run->begin_ns - run->idle_ns,
				 .end_ns = run->begin_ns,
				 .stolen_ns = run->idle_stolen_ns };
	const struct time_gap *gap = time_gaps_find(&neighbours->gaps, run->begin_ns, run->end_ns);
	int err = name_of_thread(neighbours, run->pid, run->tid, &stay.name);

	if (!err)
		err = neighbour_sums_note_process(&neighbours->sums, run->pid, run->tid, stay.name);
	if (!err && run->runnable_ns)
		err = add_wait(neighbours, run, stay.name);
	free(id_map_remove(&neighbours->moves, run->pid, run->tid));
	if (run->cpu == TXTRACE_CPU_UNKNOWN)
		return err;
	if (gap && gap->first_ns < stay.end_ns)
		cpu_stay_cut(&stay, stay.begin_ns, gap->first_ns);
	if (!err && run->idle_ns && run->idle_ns <= run->begin_ns)
		err = cpu_history_add(neighbours->history, run->cpu, &idle);
	return err ? err : cpu_history_add(neighbours->history, run->cpu, &stay);
}

static int note_move(struct neighbours *neighbours, const struct txtrace_other_run *run)
{
	struct moves *moves = id_map_get(&neighbours->moves, run->moved_pid, run->moved_tid);
	int err;

	if (!moves && neighbours->moves.cnt >= MOVED_MAX) {
		neighbours->is_blind = true;
		return 0;
	}
	if (!moves) {
		moves = calloc(1, sizeof(*moves));
		err = moves ? id_map_put(&neighbours->moves, run->moved_pid, run->moved_tid, moves) : -ENOMEM;
		if (err) {
			free(moves);
			return err;
		}
	}
	if (moves->cnt < MOVE_MAX) {
		moves->list[moves->cnt].time_ns = run->end_ns;
		moves->list[moves->cnt].cpu = run->cpu;
	}
	moves->cnt += moves->cnt <= MOVE_MAX;
	return 0;
}

static int add_other_run(struct neighbours *neighbours, const struct txtrace_other_run *run)
{
	struct cpu_stay stay = {
		.begin_ns = run->begin_ns,
		.end_ns = run->end_ns,
		.pid = run->pid,
		.tid = run->tid,
		.stolen_ns = run->stolen_ns,
	};
	int err = run->moved_tid ? note_move(neighbours, run) : 0;

	if (err || run->flags & TXTRACE_OTHER_RUN_NOBODY_KNOWN)
		return err;
	err = neighbour_sums_name(&neighbours->sums, &run->comm, &stay.name);
	if (!err)
		err = neighbour_sums_note_process(&neighbours->sums, run->pid, run->tid, stay.name);
	return err ? err : cpu_history_add(neighbours->history, run->cpu, &stay);
}

static int add_span(struct neighbours *neighbours, const struct txtrace_span *span)
{
	size_t row;
	int err;

	if (neighbours->options.by != NEIGHBOURS_BY_LABEL || span->flags & TXTRACE_SPAN_LOWER_BOUND)
		return 0;
	err = neighbour_sums_label_row(&neighbours->sums,
				       string_pool_find(neighbours->names, span->label.bytes,
							span->label.length),
				       &row);
	if (!err)
		neighbour_sums_add_runnable(&neighbours->sums, row, span->ledger.runnable_ns);
	return err;
}

int neighbours_add(struct neighbours *neighbours, const struct txtrace_record *record)
{
	switch (record->kind) {
	case TXTRACE_RECORD_THREAD:
		thread_names_add(neighbours->thread_names, &record->thread);
		return 0;
	case TXTRACE_RECORD_RUN:
		return add_run(neighbours, &record->run);
	case TXTRACE_RECORD_OTHER_RUN:
		return add_other_run(neighbours, &record->other_run);
	case TXTRACE_RECORD_SPAN:
		return add_span(neighbours, &record->span);
	default:
		return 0;
	}
}

int neighbours_finish(struct neighbours *neighbours)
{
	return neighbour_sums_finish(&neighbours->sums);
}

size_t neighbours_row_count(const struct neighbours *neighbours)
{
	size_t cnt = neighbours->sums.row_cnt;

	while (cnt > 0 && !neighbours->sums.shown[cnt - 1].runnable_ns)
		cnt--;
	return cnt;
}

const struct neighbours_row *neighbours_row(const struct neighbours *neighbours, size_t idx)
{
	return &neighbours->sums.shown[idx];
}

bool neighbours_is_full(const struct neighbours *neighbours)
{
	return neighbours->sums.is_full || neighbours->is_blind || stay_index_is_full(neighbours->stays);
}
