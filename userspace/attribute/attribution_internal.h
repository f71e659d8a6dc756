/* SPDX-License-Identifier: BSD-2-Clause */
/* What the parts of the attribution share: its state, and how a record goes out. Nobody outside this folder includes it. */
#ifndef ATTRIBUTION_INTERNAL_H
#define ATTRIBUTION_INTERNAL_H

#include "attribute/attribution.h"
#include "attribute/span_table.h"
#include "attribute/thread_table.h"
#include "base/id_map.h"

/* A process, as long as it has threads: when the last one exits, its spans are cut off. */
struct process {
	uint32_t tgid;
	size_t thread_cnt;
};

struct attribution {
	attribution_sink sink;
	void *context;
	struct thread_table threads;
	struct span_table spans;
	struct id_map processes;     /* by tgid */
	uint64_t now_ns;              /* of the last event */
	uint64_t span_loss_until_ns;  /* until then span events were lost: what begins before may be damaged */
	uint64_t sched_loss_until_ns; /* likewise switches and wakeups: a replay that was not set right since is not to be trusted */
	struct attribution_stats stats;
};

static inline struct txtrace_string string_of(const struct event_text *text)
{
	return (struct txtrace_string){ text->bytes, text->length };
}

static inline void count_anomaly(struct attribution *attribution, enum txtrace_anomaly anomaly)
{
	attribution->stats.anomaly_cnt[anomaly]++;
}

/* Lost events may have touched it. */
static inline void mark_lossy(struct span *span)
{
	span->record.flags |= TXTRACE_SPAN_LOSS | TXTRACE_SPAN_LOWER_BOUND;
}

static inline int put_record(struct attribution *attribution, const struct txtrace_record *record)
{
	return attribution->sink(attribution->context, record);
}

/* A handler takes one kind of event. 0, -ENOMEM, or what the sink returned. */
int attribute_switch(struct attribution *attribution, const struct event *event);
int attribute_wake(struct attribution *attribution, const struct event *event);
int attribute_thread(struct attribution *attribution, const struct event *event);
int attribute_thread_exit(struct attribution *attribution, const struct event *event);
int attribute_exec(struct attribution *attribution, const struct event *event);
int attribute_begin(struct attribution *attribution, const struct event *event);
int attribute_enter(struct attribution *attribution, const struct event *event);
int attribute_leave(struct attribution *attribution, const struct event *event);
int attribute_end(struct attribution *attribution, const struct event *event);
int attribute_tag(struct attribution *attribution, const struct event *event);
int attribute_attr(struct attribution *attribution, const struct event *event);
int attribute_instant(struct attribution *attribution, const struct event *event);
int attribute_key_instant(struct attribution *attribution, const struct event *event);
int attribute_counter(struct attribution *attribution, const struct event *event);
int attribute_link(struct attribution *attribution, const struct event *event);
int attribute_stack(struct attribution *attribution, const struct event *event);

/* The thread has got a CPU: tells where it was blocked, if that is known. 0, or what the sink returned. */
int put_block_stack(struct attribution *attribution, struct thread *thread, uint64_t time_ns);

/* The thread that an event tells of; made, in an unknown state, if it was not announced. 0, -ENOMEM, or what the sink returned. */
int thread_of_event(struct attribution *attribution, uint32_t tid, uint32_t tgid, uint64_t time_ns, struct thread **thread);

/* The thread that did this itself. */
int thread_of_own_event(struct attribution *attribution, const struct event *event, struct thread **thread);

/* Reads the thread's own clocks at its event; NULL if there are none. A mismatch that no loss explains is counted. */
const struct wire_clocks *read_clocks(struct attribution *attribution, struct thread *thread, const struct event *event,
				      struct wire_clocks *clocks);

/* The thread is in no span any more from here on. 0, or what the sink returned. */
int leave_all(struct attribution *attribution, struct thread *thread, uint64_t time_ns, const struct wire_clocks *clocks);

/* Writes and frees the span. end_tid 0: it was cut off. */
int finish_span(struct attribution *attribution, struct span *span, uint64_t time_ns, uint32_t end_tid);

/* Cuts off the open spans of a process (keyed ones belong to none), or all with tgid 0. */
int cut_off_spans(struct attribution *attribution, uint32_t tgid, uint64_t time_ns);

/* Writes the stay on a CPU that ends here. */
int put_run(struct attribution *attribution, const struct thread *thread, uint64_t end_ns, const struct event *left);

#endif
