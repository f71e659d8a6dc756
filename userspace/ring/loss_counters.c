/* SPDX-License-Identifier: BSD-2-Clause */
#include "ring/loss_counters.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/clock.h"

static uint64_t loss_misses_of_program(int prog_fd)
{
	struct bpf_prog_info info = { 0 };
	__u32 length = sizeof(info);

	return bpf_obj_get_info_by_fd(prog_fd, &info, &length) ? 0 : info.recursion_misses;
}

int loss_counters_open(struct loss_counters *counters, const struct wire_counters *shared, size_t cpu_cnt,
		       volatile uint64_t *generation)
{
	*counters = (struct loss_counters){ .shared = shared,
					    .generation = generation,
					    .cpu_cnt = cpu_cnt,
					    .misses = loss_misses_of_program };
	counters->seen = calloc(counters->cpu_cnt, sizeof(*counters->seen));
	counters->look_ns = clock_now_ns();
	*generation = 1;
	return counters->seen ? 0 : -ENOMEM;
}

void loss_counters_close(struct loss_counters *counters)
{
	free(counters->seen);
	*counters = (struct loss_counters){ 0 };
}

void loss_counters_watch(struct loss_counters *counters, int prog_fd, uint32_t kind)
{
	if (counters->program_cnt < LOSS_PROGRAM_MAX)
		counters->programs[counters->program_cnt++] = (struct loss_program){ .prog_fd = prog_fd,
										     .kind = kind };
}

/* What has been lost since the look before. */
static void add_up(const struct wire_counters *cpu, uint64_t *seen, struct wire_loss *loss)
{
	for (int kind = 0; kind < WIRE_KIND_COUNT; kind++) {
		uint64_t lost = __atomic_load_n(&cpu->lost[kind], __ATOMIC_ACQUIRE), cnt = lost - seen[kind];

		seen[kind] = lost;
		loss->kinds |= cnt ? UINT64_C(1) << kind : 0;
		*(wire_kind_is_span(kind) ? &loss->span_event_cnt : &loss->sched_event_cnt) += cnt;
	}
}

/*
 * The time of the first loss since the look before. The CPU notes the first of each generation, so that is
 * it, if it is of the generation that ended with this look, and not one that the look before has counted
 * already. Otherwise it was written over a moment ago.
 */
static uint64_t first_lost_ns(const struct wire_counters *cpu, uint64_t generation, uint64_t look_before_ns)
{
	uint64_t first_ns = __atomic_load_n(&cpu->first_lost_ns, __ATOMIC_ACQUIRE);
	bool is_it = __atomic_load_n(&cpu->generation, __ATOMIC_ACQUIRE) == generation;

	return is_it && first_ns > look_before_ns ? first_ns : look_before_ns;
}

/* One that cannot be read any more says 0: that is not less than before. */
static int read_program(struct loss_counters *counters, struct loss_program *program, uint64_t look_before_ns,
			loss_take take, void *context)
{
	uint64_t cnt = counters->misses(program->prog_fd);
	struct wire_loss loss = { .header = { .kind = EVENT_LOSS,
					      .cpu = LOSS_CPU_UNKNOWN,
					      .size = sizeof(loss),
					      .time_ns = look_before_ns } };

	if (cnt <= program->seen_cnt)
		return 0;
	cnt -= program->seen_cnt;
	program->seen_cnt += cnt;
	loss.kinds = UINT64_C(1) << program->kind;
	loss.last_ns = clock_now_ns();
	*(wire_kind_is_span(program->kind) ? &loss.span_event_cnt : &loss.sched_event_cnt) = cnt;
	return take(context, &loss);
}

int loss_counters_read(struct loss_counters *counters, loss_take take, void *context)
{
	uint64_t generation = *counters->generation, look_before_ns = counters->look_ns;
	int err = 0;

	counters->look_ns = clock_now_ns();
	__atomic_store_n(counters->generation, generation + 1, __ATOMIC_SEQ_CST);
	for (size_t i = 0; !err && i < counters->cpu_cnt; i++) {
		const struct wire_counters *cpu = &counters->shared[i];
		struct wire_loss loss = { .header = { .kind = EVENT_LOSS, .cpu = i, .size = sizeof(loss) } };

		add_up(cpu, counters->seen[i], &loss);
		if (!loss.kinds)
			continue;
		loss.header.time_ns = first_lost_ns(cpu, generation, look_before_ns);
		loss.last_ns = __atomic_load_n(&cpu->last_lost_ns, __ATOMIC_ACQUIRE);
		err = take(context, &loss);
	}
	for (size_t i = 0; !err && i < counters->program_cnt; i++)
		err = read_program(counters, &counters->programs[i], look_before_ns, take, context);
	return err;
}

uint64_t loss_counters_of_kind(const struct loss_counters *counters, unsigned int kind)
{
	uint64_t cnt = 0;

	for (size_t i = 0; i < counters->cpu_cnt; i++)
		cnt += counters->shared[i].lost[kind];
	for (size_t i = 0; i < counters->program_cnt; i++)
		cnt += counters->programs[i].kind == kind ? counters->programs[i].seen_cnt : 0;
	return cnt;
}

void loss_counters_totals(const struct loss_counters *counters, struct loss_totals *totals)
{
	*totals = (struct loss_totals){ 0 };
	for (size_t i = 0; i < counters->cpu_cnt; i++) {
		totals->lost_clocks_cnt += counters->shared[i].lost_clocks;
		for (int kind = 0; kind < WIRE_KIND_COUNT; kind++) {
			totals->sent_cnt += counters->shared[i].sent[kind];
			totals->lost_cnt += counters->shared[i].lost[kind];
		}
	}
	for (size_t i = 0; i < counters->program_cnt; i++) {
		totals->sent_cnt += counters->programs[i].seen_cnt;
		totals->lost_cnt += counters->programs[i].seen_cnt;
		totals->missed_cnt += counters->programs[i].seen_cnt;
	}
}
