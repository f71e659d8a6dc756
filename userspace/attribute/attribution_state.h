/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ground that the parts of the attribution stand on: its state, and how a
 * record goes out. Nobody outside this folder includes it. Each part knows only
 * those before it in this list:
 *
 *	clocks          differences of readings
 *	thread_table    threads, their states replayed
 *	span_table      open spans, and the stays of threads in them
 *	this            all of that together
 *	sampling        which transactions are written
 *	left_out        what is not written, or not yet
 *	span_parent     whose child a span is
 *	span_budget     what open spans may take, and who holds how much
 *	top_level       what spans without a parent are charged with twice
 *	span_close      stays and spans end, and are written
 *	thread_life     threads come and go, and read their clocks
 *	other_events    who else had the CPUs          stack_events  where the code was
 *	thread_events   what the scheduler tells       span_events   what the program tells
 *	attribution     gives each event to its handler
 */
#ifndef ATTRIBUTION_STATE_H
#define ATTRIBUTION_STATE_H

#include "attribute/attribution.h"
#include "attribute/clocks.h"
#include "attribute/span_table.h"
#include "attribute/thread_table.h"
#include "base/id_map.h"
#include "event/sched_mode.h"

/* A process, as long as it has threads, or keyed spans that it began are open. */
struct process {
	uint32_t tgid;
	uint32_t open_span_cnt; /* keyed ones belong to none */
	size_t thread_cnt;
	uint64_t open_bytes; /* that it holds of the budget */
};

#define REFUSAL_CPUS 64

/* Events of a CPU that were refused and not told yet. */
struct refusal {
	uint64_t first_ns, last_ns;
	uint64_t cnt; /* 0: none */
	uint32_t cpu;
};

struct span_budget {
	uint64_t limit_bytes;
	uint64_t used_bytes;
	uint64_t orphaned_bytes; /* of that: keyed spans of processes without threads */
};

/* What --sample remembers of spans that have ended (sampling.h). */
struct sampling {
	struct id_map ended;        /* tgid, id -> its place in names */
	struct sampled_name *names; /* the last SAMPLING_ENDED_MAX; NULL: none yet */
	uint64_t ended_cnt;
};

struct attribution {
	attribution_sink sink;
	void *context;
	struct thread_table threads;
	struct span_table spans;
	struct span_budget budget;
	struct id_map processes;      /* by tgid */
	uint64_t now_ns;              /* of the last event */
	/* the last calls of attribution_expect(); tid 0: the same as that of the call before */
	struct event_subject expected[ATTRIBUTION_AHEAD];
	uint32_t expected_cnt;
	uint32_t expected_tid;
	/* until then span events were lost: what begins before may be damaged */
	uint64_t span_loss_until_ns;
	uint64_t key_loss_until_ns;   /* likewise begins of keyed spans, which end others of the same key */
	/* likewise switches and wakeups: a replay that was not set right since is not to be trusted */
	uint64_t sched_loss_until_ns;
	uint8_t sched; /* enum sched_mode */
	struct attribution_filter filter;
	struct sampling sampling;
	struct id_map waiting; /* marks of young spans, by the span's number */
	size_t waiting_bytes;
	struct attribution_stats stats;
	struct refusal refusals[REFUSAL_CPUS]; /* by CPU, modulo that number */
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
	span->flags |= TXTRACE_SPAN_LOSS | TXTRACE_SPAN_LOWER_BOUND;
}

static inline int put_record(struct attribution *attribution, const struct txtrace_record *record)
{
	return attribution->sink(attribution->context, record);
}

#endif
