/* SPDX-License-Identifier: BSD-2-Clause */
#include "attribute/thread_life.h"

#include <errno.h>
#include <stdlib.h>

#include "attribute/span_budget.h"
#include "attribute/stack_events.h"

static struct process *process_of(struct attribution *attribution, uint32_t tgid)
{
	struct process *process = id_map_get(&attribution->processes, 0, tgid);

	if (process)
		return process;
	process = calloc(1, sizeof(*process));
	if (!process)
		return NULL;
	process->tgid = tgid;
	if (id_map_put(&attribution->processes, 0, tgid, process)) {
		free(process);
		return NULL;
	}
	return process;
}

struct thread *add_thread(struct attribution *attribution, uint32_t tid, uint32_t tgid, uint64_t time_ns)
{
	struct process *process = process_of(attribution, tgid);
	struct thread *thread = process ? thread_table_add(&attribution->threads, tid, tgid, time_ns) : NULL;

	if (!thread)
		return NULL;
	if (!process->thread_cnt++)
		budget_start(attribution, process);
	thread->process = process;
	return thread;
}

int retire_thread(struct attribution *attribution, const struct own_event *own)
{
	struct thread *thread = own->thread;
	struct process *process = thread->process;
	int err = leave_all(attribution, own);

	if (err)
		return err;
	thread->has_exited = true;
	thread->process = NULL;
	if (process->thread_cnt == 1)
		err = cut_off_spans(attribution, process, own->time_ns);
	if (!--process->thread_cnt)
		budget_stop(attribution, process);
	return err;
}

int forget_thread(struct attribution *attribution, struct thread *thread, uint64_t time_ns)
{
	struct own_event own = { .thread = thread, .time_ns = time_ns };
	int err = 0;

	for (struct stay *stay = thread->stays; stay; stay = stay->next_of_thread)
		mark_lossy(stay->span);
	if (!thread->has_exited)
		err = retire_thread(attribution, &own);
	thread_table_remove(&attribution->threads, thread);
	return err;
}

/* No event introduced it, so a record does before the others of it, without a name. */
static int add_unannounced(struct attribution *attribution, struct thread **thread, uint32_t tid,
			   uint32_t tgid, uint64_t time_ns)
{
	const struct txtrace_record record = {
		.kind = TXTRACE_RECORD_THREAD,
		.thread = { .time_ns = time_ns, .tid = tid, .pid = tgid },
	};

	*thread = add_thread(attribution, tid, tgid, time_ns);
	if (!*thread)
		return -ENOMEM;
	(*thread)->is_told = true;
	return put_record(attribution, &record);
}

/* The tid is used again, and the exit of its last bearer was lost. */
static int replace_thread(struct attribution *attribution, struct thread **thread, uint32_t tgid,
			  uint64_t time_ns)
{
	uint32_t tid = (*thread)->tid;
	int err = forget_thread(attribution, *thread, time_ns);

	return err ? err : add_unannounced(attribution, thread, tid, tgid, time_ns);
}

int thread_of_event(struct attribution *attribution, uint32_t tid, uint32_t tgid, uint64_t time_ns,
		    struct thread **thread)
{
	*thread = thread_table_get(&attribution->threads, tid);
	if (!*thread)
		return add_unannounced(attribution, thread, tid, tgid, time_ns);
	return (*thread)->tgid == tgid ? 0 : replace_thread(attribution, thread, tgid, time_ns);
}

static int thread_of_own_event(struct attribution *attribution, const struct event *event,
			       struct thread **thread)
{
	int err = thread_of_event(attribution, event->tid, event->tgid, event->time_ns, thread);
	bool is_other;

	if (err)
		return err;
	is_other = (*thread)->has_exited || (event->clocks && (*thread)->is_synced &&
					     (*thread)->clocks.born_ns != event->clocks->born_ns);
	return is_other ? replace_thread(attribution, thread, event->tgid, event->time_ns) : 0;
}

int read_own_event(struct attribution *attribution, const struct event *event, struct own_event *own)
{
	int err = thread_of_own_event(attribution, event, &own->thread);

	if (!err && event->flags & WIRE_NOT_ARRIVED)
		err = put_hidden_stack(attribution, own->thread, event->time_ns);
	if (!err)
		read_clocks(attribution, event, own);
	return err;
}

void read_clocks(struct attribution *attribution, const struct event *event, struct own_event *own)
{
	uint64_t last_loss_ns = attribution->sched_loss_until_ns;
	bool is_lossless = !last_loss_ns || own->thread->reading_ns > last_loss_ns, is_mismatch;

	own->time_ns = event->time_ns;
	own->reading = thread_read_own(&attribution->threads, own->thread, event, &is_mismatch);
	own->is_reading_lost = !own->reading && !(event->flags & WIRE_NO_CLOCKS);
	if (is_mismatch && is_lossless)
		count_anomaly(attribution, TXTRACE_ANOMALY_CLOCK_MISMATCH);
}
