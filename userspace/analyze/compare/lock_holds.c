/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/compare/lock_holds.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/late_label.h"
#include "analyze/wait/party_pool.h"
#include "base/id_map.h"
#include "base/saturating.h"

#define STAYS_LEAST 4
#define IS_SPAN 0x80000000u /* of a side: a late label, not a party */
#define SWEPT_MIN 256

/* One wait that has ended. */
struct ended_hold {
	struct ended_hold *next;
	uint64_t from_ns, to_ns;
	uint64_t on_cpu_ns;
	uint32_t waiter, holder; /* a late label, or a party */
};

struct stay {
	uint64_t begin_ns, end_ns;
};

struct hold_thread {
	uint64_t waits_since_ns; /* it left the CPU to wait for a lock; 0: it did not, or was woken since */
	struct stay *stays;      /* on a CPU: the last ones, a ring */
	uint32_t stay_size, next_stay;
	uint32_t stay_cnt;
	uint64_t forgotten_ns;   /* of stays until then nothing is known */
	struct ended_hold *ended; /* waits that it ended in this stay */
};

struct hold_sum {
	uint32_t waiter, holder;
	uint64_t cnt, on_cpu_ns;
};

struct lock_holds {
	struct id_map threads; /* by process and thread */
	struct id_map sums;    /* by waiter and holder */
	struct late_labels labels;
	struct party_pool parties;
	struct ended_hold *unnamed; /* told, but not all labels are known */
	size_t unnamed_cnt, sweep_at;
	size_t stay_bytes, max_bytes;
	uint64_t left_out_cnt;
};

static int name_nothing(void *context, uint32_t span, uint32_t party)
{
	(void)context, (void)span, (void)party;
	return 0;
}

struct lock_holds *lock_holds_new(size_t max_bytes)
{
	struct lock_holds *holds = calloc(1, sizeof(*holds));

	if (!holds)
		return NULL;
	id_map_init(&holds->threads);
	id_map_init(&holds->sums);
	late_labels_init(&holds->labels, name_nothing, NULL);
	holds->sweep_at = SWEPT_MIN;
	holds->max_bytes = max_bytes;
	if (party_pool_init(&holds->parties)) {
		free(holds);
		return NULL;
	}
	return holds;
}

static void free_list(struct ended_hold *ended)
{
	while (ended) {
		struct ended_hold *next = ended->next;

		free(ended);
		ended = next;
	}
}

static void free_thread(struct hold_thread *thread)
{
	free_list(thread->ended);
	free(thread->stays);
	free(thread);
}

void lock_holds_free(struct lock_holds *holds)
{
	struct hold_thread *thread;
	struct hold_sum *sum;

	if (!holds)
		return;
	for (size_t i = 0; (thread = id_map_next(&holds->threads, &i));)
		free_thread(thread);
	for (size_t i = 0; (sum = id_map_next(&holds->sums, &i));)
		free(sum);
	free_list(holds->unnamed);
	id_map_release(&holds->threads);
	id_map_release(&holds->sums);
	late_labels_release(&holds->labels);
	party_pool_release(&holds->parties);
	free(holds);
}

static bool has_room(const struct lock_holds *holds)
{
	return holds->threads.cnt * (sizeof(struct hold_thread) + 4 * sizeof(struct id_map_slot)) +
		       holds->stay_bytes +
		       holds->sums.cnt * (sizeof(struct hold_sum) + 4 * sizeof(struct id_map_slot)) +
		       holds->unnamed_cnt * sizeof(struct ended_hold) + late_labels_bytes(&holds->labels) +
		       string_pool_bytes(holds->parties.strings) <
	       holds->max_bytes;
}

/* ---- waits that ended ---- */

static void release_side(struct lock_holds *holds, uint32_t side)
{
	if (side & IS_SPAN)
		late_labels_release_hold(&holds->labels, side & ~IS_SPAN);
}

static void free_ended(struct lock_holds *holds, struct ended_hold *ended)
{
	release_side(holds, ended->waiter);
	release_side(holds, ended->holder);
	free(ended);
}

static uint32_t party_of(const struct lock_holds *holds, uint32_t side)
{
	return side & IS_SPAN ? late_labels_party(&holds->labels, side & ~IS_SPAN) : side;
}

static int sum_up(struct lock_holds *holds, const struct ended_hold *ended)
{
	uint32_t waiter = party_of(holds, ended->waiter), holder = party_of(holds, ended->holder);
	struct hold_sum *sum = id_map_get(&holds->sums, waiter, holder);
	int err = 0;

	if (!sum) {
		sum = malloc(sizeof(*sum));
		if (!sum)
			return -ENOMEM;
		*sum = (struct hold_sum){ .waiter = waiter, .holder = holder };
		err = id_map_put(&holds->sums, waiter, holder, sum);
		if (err) {
			free(sum);
			return err;
		}
	}
	increase(&sum->cnt, 1);
	increase(&sum->on_cpu_ns, ended->on_cpu_ns);
	return 0;
}

/* Those whose labels have come go to the sums. */
static int sweep(struct lock_holds *holds)
{
	struct ended_hold **link = &holds->unnamed;
	int err = 0;

	while (*link && !err) {
		struct ended_hold *ended = *link;

		if (party_of(holds, ended->waiter) == LATE_LABEL_NONE ||
		    party_of(holds, ended->holder) == LATE_LABEL_NONE) {
			link = &ended->next;
			continue;
		}
		err = sum_up(holds, ended);
		*link = ended->next;
		free_ended(holds, ended);
		holds->unnamed_cnt--;
	}
	holds->sweep_at = 2 * holds->unnamed_cnt > SWEPT_MIN ? 2 * holds->unnamed_cnt : SWEPT_MIN;
	return err;
}

/* ---- threads ---- */

/* *thread: NULL if there is no room. */
static int thread_of(struct lock_holds *holds, uint32_t pid, uint32_t tid, struct hold_thread **thread)
{
	int err;

	*thread = id_map_get(&holds->threads, pid, tid);
	if (*thread || !has_room(holds))
		return 0;
	*thread = calloc(1, sizeof(**thread));
	if (!*thread)
		return -ENOMEM;
	err = id_map_put(&holds->threads, pid, tid, *thread);
	if (err) {
		free(*thread);
		*thread = NULL;
	}
	return err;
}

/* The ring is full up to its last place, so that the oldest is its first. */
static int grow(struct lock_holds *holds, struct hold_thread *thread)
{
	uint32_t size = thread->stay_size ? 2 * thread->stay_size : STAYS_LEAST;
	struct stay *grown;

	if (size > LOCK_HOLDS_STAYS || !has_room(holds))
		return 0;
	grown = reallocarray(thread->stays, size, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	holds->stay_bytes += (size - thread->stay_size) * sizeof(*grown);
	thread->stays = grown;
	thread->stay_size = size;
	return 0;
}

static int add_stay(struct lock_holds *holds, struct hold_thread *thread, const struct txtrace_run *run)
{
	int err = thread->next_stay == thread->stay_size ? grow(holds, thread) : 0;

	if (err)
		return err;
	if (thread->stay_size == 0) {
		thread->forgotten_ns = run->end_ns;
		return 0;
	}
	if (thread->next_stay == thread->stay_size)
		thread->next_stay = 0;
	if (thread->stay_cnt == thread->stay_size)
		thread->forgotten_ns = thread->stays[thread->next_stay].end_ns;
	else
		thread->stay_cnt++;
	thread->stays[thread->next_stay++] = (struct stay){ run->begin_ns, run->end_ns };
	return 0;
}

static uint64_t overlap(uint64_t begin_ns, uint64_t end_ns, const struct ended_hold *of)
{
	uint64_t from_ns = begin_ns > of->from_ns ? begin_ns : of->from_ns,
		 to_ns = end_ns < of->to_ns ? end_ns : of->to_ns;

	return to_ns > from_ns ? to_ns - from_ns : 0;
}

/* What the thread did in the waits that it ended in this stay. */
static int tell(struct lock_holds *holds, struct hold_thread *thread, const struct txtrace_run *run)
{
	int err = 0;

	while (thread->ended && !err) {
		struct ended_hold *ended = thread->ended;

		thread->ended = ended->next;
		if (ended->to_ns < run->begin_ns || ended->to_ns > run->end_ns ||
		    ended->from_ns < thread->forgotten_ns) {
			holds->left_out_cnt += ended->from_ns < thread->forgotten_ns;
			free_ended(holds, ended);
			continue;
		}
		ended->on_cpu_ns = overlap(run->begin_ns, run->end_ns, ended);
		for (uint32_t i = 0; i < thread->stay_cnt; i++)
			increase(&ended->on_cpu_ns,
				 overlap(thread->stays[i].begin_ns, thread->stays[i].end_ns, ended));
		if (ended->on_cpu_ns > ended->to_ns - ended->from_ns)
			ended->on_cpu_ns = ended->to_ns - ended->from_ns;
		ended->next = holds->unnamed;
		holds->unnamed = ended;
		if (++holds->unnamed_cnt >= holds->sweep_at)
			err = sweep(holds);
	}
	return err;
}

static int add_run(struct lock_holds *holds, const struct txtrace_run *run)
{
	bool waits = run->left_as == TXTRACE_LEFT_BLOCKED && run->reason == TXTRACE_BLOCK_LOCK;
	struct hold_thread *thread;
	int err = thread_of(holds, run->pid, run->tid, &thread);

	if (err || !thread) {
		holds->left_out_cnt += waits;
		return err;
	}
	err = tell(holds, thread, run);
	if (!err && run->left_as == TXTRACE_LEFT_DEAD) {
		id_map_remove(&holds->threads, run->pid, run->tid);
		holds->stay_bytes -= thread->stay_size * sizeof(*thread->stays);
		free_thread(thread);
		return 0;
	}
	thread->waits_since_ns = waits ? run->end_ns : 0;
	return err ? err : add_stay(holds, thread, run);
}

/* ---- wakeups ---- */

static int hold_side(struct lock_holds *holds, bool is_keyed, uint32_t pid, uint64_t span, uint32_t *side)
{
	int err = late_labels_hold(&holds->labels, is_keyed, pid, span, has_room(holds), side);

	*side = *side == LATE_LABEL_NONE ? party_pool_fixed(PARTY_REST) : *side | IS_SPAN;
	return err;
}

static int hold_sides(struct lock_holds *holds, const struct txtrace_wake *wake, struct ended_hold *ended)
{
	int err;

	err = hold_side(holds, wake->flags & TXTRACE_WAKE_SPAN_KEYED, wake->pid, wake->span, &ended->waiter);
	if (err)
		return err;
	if (wake->waker_span)
		err = hold_side(holds, wake->flags & TXTRACE_WAKE_WAKER_SPAN_KEYED, wake->waker_pid,
				wake->waker_span, &ended->holder);
	else
		err = party_pool_add(&holds->parties, PARTY_THREAD, wake->waker_comm, has_room(holds),
				     &ended->holder);
	if (err)
		release_side(holds, ended->waiter);
	return err;
}

/* The first wakeup of a thread that waits for a lock, by a thread. */
static int add_wake(struct lock_holds *holds, const struct txtrace_wake *wake)
{
	struct hold_thread *waiter = id_map_get(&holds->threads, wake->pid, wake->tid), *holder;
	uint64_t since_ns = waiter ? waiter->waits_since_ns : 0;
	struct ended_hold *ended;
	int err;

	if (since_ns == 0 || wake->time_ns < since_ns)
		return 0;
	waiter->waits_since_ns = 0;
	if (!wake->span || !wake->waker_tid ||
	    wake->flags & (TXTRACE_WAKE_INTERRUPT | TXTRACE_WAKE_WAKER_UNKNOWN))
		return 0;
	err = thread_of(holds, wake->waker_pid, wake->waker_tid, &holder);
	if (err)
		return err;
	if (!holder || !has_room(holds)) {
		holds->left_out_cnt++;
		return 0;
	}
	ended = malloc(sizeof(*ended));
	if (!ended)
		return -ENOMEM;
	*ended = (struct ended_hold){ .next = holder->ended, .from_ns = since_ns, .to_ns = wake->time_ns };
	err = hold_sides(holds, wake, ended);
	if (err) {
		free(ended);
		return err;
	}
	holder->ended = ended;
	return 0;
}

/* ---- spans, and all of it ---- */

static int add_span(struct lock_holds *holds, const struct txtrace_span *span)
{
	uint32_t party;
	int err;

	if (!late_labels_is_held(&holds->labels, span->flags & TXTRACE_SPAN_KEYED, span->pid, span->id))
		return 0;
	err = party_pool_add(&holds->parties, PARTY_SPAN, span->label, has_room(holds), &party);
	return err ? err
		   : late_labels_end(&holds->labels, span->flags & TXTRACE_SPAN_KEYED, span->pid, span->id,
				     party);
}

int lock_holds_add(struct lock_holds *holds, const struct txtrace_record *record)
{
	if (record->kind == TXTRACE_RECORD_RUN)
		return add_run(holds, &record->run);
	if (record->kind == TXTRACE_RECORD_WAKE)
		return add_wake(holds, &record->wake);
	return record->kind == TXTRACE_RECORD_SPAN ? add_span(holds, &record->span) : 0;
}

int lock_holds_begin_capture(struct lock_holds *holds)
{
	struct hold_thread *thread;
	int err;

	for (size_t i = 0; (thread = id_map_next(&holds->threads, &i));) {
		while (thread->ended) {
			struct ended_hold *ended = thread->ended;

			thread->ended = ended->next;
			free_ended(holds, ended);
		}
		free_thread(thread);
	}
	id_map_release(&holds->threads);
	holds->stay_bytes = 0;
	err = late_labels_end_all(&holds->labels, party_pool_fixed(PARTY_SPAN));
	return err ? err : sweep(holds);
}

int lock_holds_finish(struct lock_holds *holds)
{
	return lock_holds_begin_capture(holds);
}

bool lock_holds_next(const struct lock_holds *holds, size_t *position, struct lock_hold *hold)
{
	const struct hold_sum *sum = id_map_next(&holds->sums, position);

	if (!sum)
		return false;
	*hold = (struct lock_hold){ party_pool_get(&holds->parties, sum->waiter),
				    party_pool_get(&holds->parties, sum->holder), sum->cnt, sum->on_cpu_ns };
	return true;
}

uint64_t lock_holds_left_out(const struct lock_holds *holds)
{
	return holds->left_out_cnt;
}
