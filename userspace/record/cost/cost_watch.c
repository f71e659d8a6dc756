/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/cost/cost_watch.h"

#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "base/error.h"
#include "base/id_map.h"
#include "base/units.h"

#define PERIOD_NS 200000000u
#define LEAST_CPU_NS 50000000u /* less says nothing: what events cost is known roughly */
#define TENTH 10
#define PROCESS_MAX 4096

/* A traced process. */
struct followed {
	uint32_t pid;
	uint64_t start_ns;
	uint64_t cpu_ns;  /* its clock, … */
	uint64_t read_ns; /* … when it was read */
};

struct cost_watch {
	struct cost_watch_options options;
	struct id_map by_pid;
	struct followed *followed[PROCESS_MAX];
	size_t followed_cnt;
	bool is_over_limit; /* there are too many to read them all */
	bool has_told_steps;
	bool has_told_share;
	uint64_t begin_ns;
	uint64_t now_ns;
	uint64_t next_ns;
	uint64_t met_cnt;  /* processes that were ever followed, those of the beginning included */
	uint64_t cpu_ns;   /* used since the begin */
	struct cost_share window; /* where the one that is looked at began */
};

struct cost_watch *cost_watch_new(const struct cost_watch_options *options)
{
	struct cost_watch *watch = calloc(1, sizeof(*watch));

	if (!watch)
		return NULL;
	watch->options = *options;
	id_map_init(&watch->by_pid);
	return watch;
}

void cost_watch_free(struct cost_watch *watch)
{
	if (!watch)
		return;
	for (size_t i = 0; i < watch->followed_cnt; i++)
		free(watch->followed[i]);
	id_map_release(&watch->by_pid);
	free(watch);
}

/* ---- single-stepped functions ---- */

void cost_watch_steps(struct cost_watch *watch)
{
	const struct cost_watch_options *options = &watch->options;
	const char *example = NULL;
	size_t cnt = watch->has_told_steps || !options->plan ? 0
							     : foreign_plan_stepped(options->plan, &example);
	uint64_t step_ns = cnt ? cost_meter_probe_ps(options->meter, true) / 1000 : 0;
	uint64_t entry_ns = cnt ? cost_meter_probe_ps(options->meter, false) / 1000 : 0;
	const struct message_field fields[] = {
		{ "functions", NULL, cnt },
		{ "example", example, 0 },
		{ "step_ns", NULL, step_ns },
		{ "entry_ns", NULL, entry_ns },
	};
	char count[UNITS_SIZE], step[UNITS_SIZE], entry[UNITS_SIZE];
	struct error name, price = { "" };

	if (!cnt)
		return;
	watch->has_told_steps = true;
	error_set(&name, "%s", example);
	if (step_ns && entry_ns)
		error_set(&price, ": each hit takes %s instead of %s",
			  units_format_duration(step, step_ns), units_format_duration(entry, entry_ns));
	messages_tell(options->messages, MESSAGE_WARNING, "single_step", fields,
		      sizeof(fields) / sizeof(fields[0]),
		      "the kernel single-steps the probes of %s function%s, for example '%s'%s",
		      units_format_count(count, cnt), cnt == 1 ? "" : "s", name.text, price.text);
}

/* ---- CPU time ---- */

/* The clock of a process as clock_getcpuclockid(3) names it. false: it has gone. */
static bool read_clock(uint32_t pid, uint64_t *cpu_ns)
{
	clockid_t clock = (clockid_t)(~pid << 3 | 2);
	struct timespec time;

	if (clock_gettime(clock, &time))
		return false;
	*cpu_ns = (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
	return true;
}

/* What it used before the begin does not count. */
static void follow(void *context, const struct traced_process *process)
{
	struct cost_watch *watch = context;
	struct followed *followed = id_map_get(&watch->by_pid, 0, process->pid);

	if (followed && followed->start_ns == process->start_ns)
		return;
	if (followed) { /* another process has its pid now: its clock is read from zero */
		watch->cpu_ns += watch->now_ns - followed->read_ns;
	} else {
		followed = watch->followed_cnt < PROCESS_MAX ? calloc(1, sizeof(*followed)) : NULL;
		if (!followed || id_map_put(&watch->by_pid, 0, process->pid, followed)) {
			free(followed);
			watch->is_over_limit = true;
			return;
		}
		watch->followed[watch->followed_cnt++] = followed;
	}
	*followed = (struct followed){ .pid = process->pid,
				       .start_ns = process->start_ns,
				       .read_ns = watch->now_ns };
	if (process->start_ns < watch->begin_ns)
		read_clock(followed->pid, &followed->cpu_ns);
	watch->met_cnt++;
}

static void read_clocks(struct cost_watch *watch)
{
	size_t kept_cnt = 0;

	for (size_t i = 0; i < watch->followed_cnt; i++) {
		struct followed *followed = watch->followed[i];
		uint64_t cpu_ns;

		if (!read_clock(followed->pid, &cpu_ns) || cpu_ns < followed->cpu_ns) {
			watch->cpu_ns += watch->now_ns - followed->read_ns;
			free(id_map_remove(&watch->by_pid, 0, followed->pid));
			continue;
		}
		watch->cpu_ns += cpu_ns - followed->cpu_ns;
		followed->cpu_ns = cpu_ns;
		followed->read_ns = watch->now_ns;
		watch->followed[kept_cnt++] = followed;
	}
	watch->followed_cnt = kept_cnt;
}

static void look(struct cost_watch *watch, uint64_t now_ns)
{
	struct target_set_stats stats;
	uint64_t since_ns = now_ns - watch->now_ns;

	watch->now_ns = now_ns;
	target_set_each(watch->options.targets, follow, watch);
	read_clocks(watch);
	target_set_stats(watch->options.targets, &stats);
	if (stats.joined_cnt > watch->met_cnt) { /* they came and went between two looks */
		watch->cpu_ns += (stats.joined_cnt - watch->met_cnt) * since_ns;
		watch->met_cnt = stats.joined_cnt;
	}
}

void cost_watch_begin(struct cost_watch *watch, uint64_t now_ns)
{
	watch->begin_ns = watch->now_ns = now_ns;
	look(watch, now_ns);
	watch->cpu_ns = 0;
	watch->next_ns = now_ns + PERIOD_NS;
}

/* ---- the share ---- */

static void warn(struct cost_watch *watch, uint64_t tracing_ns, uint64_t cpu_ns)
{
	const struct message_field fields[] = {
		{ "tracing_ns", NULL, tracing_ns },
		{ "target_cpu_ns", NULL, cpu_ns },
	};
	char share[UNITS_SIZE];

	messages_tell(watch->options.messages, MESSAGE_WARNING, "tracing_share", fields,
		      sizeof(fields) / sizeof(fields[0]),
		      "tracing takes about %s of the program's CPU time, and the log counts that as on-CPU; "
		      "to reduce it, "
		      "trace fewer probes, or functions that are called less often",
		      units_format_share(share, tracing_ns, cpu_ns));
	watch->has_told_share = true;
}

void cost_watch_tick(struct cost_watch *watch, uint64_t now_ns)
{
	uint64_t tracing_ns, cpu_ns;

	if (now_ns < watch->next_ns)
		return;
	watch->next_ns = now_ns + PERIOD_NS;
	look(watch, now_ns);
	if (watch->has_told_share || watch->is_over_limit)
		return;
	cpu_ns = watch->cpu_ns - watch->window.cpu_ns;
	if (cpu_ns < LEAST_CPU_NS)
		return;
	tracing_ns = cost_meter_estimate_ns(watch->options.meter) - watch->window.tracing_ns;
	if (tracing_ns < UINT64_MAX / TENTH && tracing_ns * TENTH > cpu_ns)
		warn(watch, tracing_ns < cpu_ns ? tracing_ns : cpu_ns, cpu_ns);
	watch->window.tracing_ns += tracing_ns;
	watch->window.cpu_ns = watch->cpu_ns;
}

void cost_watch_end(struct cost_watch *watch, uint64_t now_ns, struct cost_share *share)
{
	look(watch, now_ns);
	share->tracing_ns = cost_meter_estimate_ns(watch->options.meter);
	share->cpu_ns = watch->is_over_limit ? 0 : watch->cpu_ns;
	if (share->tracing_ns > share->cpu_ns)
		share->tracing_ns = share->cpu_ns;
}
