/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/wait/cpu_history.h"

#include <errno.h>
#include <stdlib.h>

#include "base/id_map.h"

#define CPU_MAX 4096
#define STAY_MAX 65536
#define STAY_FIRST 64

/* A ring: stays[(first + i) % size]. */
struct cpu {
	struct cpu_stay *stays;
	size_t size, first, cnt;
};

struct cpu_history {
	struct id_map cpus;
	size_t max_bytes, used_bytes;
};

struct cpu_history *cpu_history_new(size_t max_bytes)
{
	struct cpu_history *history = calloc(1, sizeof(*history));

	if (!history)
		return NULL;
	history->max_bytes = max_bytes;
	id_map_init(&history->cpus);
	return history;
}

void cpu_history_clear(struct cpu_history *history)
{
	struct cpu *cpu;

	for (size_t i = 0; (cpu = id_map_next(&history->cpus, &i));)
		cpu->first = cpu->cnt = 0;
}

void cpu_history_free(struct cpu_history *history)
{
	struct cpu *cpu;

	if (!history)
		return;
	for (size_t i = 0; (cpu = id_map_next(&history->cpus, &i));) {
		free(cpu->stays);
		free(cpu);
	}
	id_map_release(&history->cpus);
	free(history);
}

static const struct cpu_stay *stay_at(const struct cpu *cpu, size_t idx)
{
	return &cpu->stays[(cpu->first + idx) % cpu->size];
}

/* Twice the room, if that may be; else the oldest stay goes. */
static int make_room(struct cpu_history *history, struct cpu *cpu)
{
	size_t size = cpu->size ? cpu->size * 2 : STAY_FIRST,
	       more_bytes = (size - cpu->size) * sizeof(*cpu->stays);
	struct cpu_stay *stays;

	if (cpu->cnt < cpu->size)
		return 0;
	if (cpu->size && (cpu->size == STAY_MAX || history->used_bytes + more_bytes > history->max_bytes)) {
		cpu->first = (cpu->first + 1) % cpu->size;
		cpu->cnt--;
		return 0;
	}
	stays = malloc(size * sizeof(*stays));
	if (!stays)
		return -ENOMEM;
	for (size_t i = 0; i < cpu->cnt; i++)
		stays[i] = *stay_at(cpu, i);
	free(cpu->stays);
	cpu->stays = stays;
	cpu->size = size;
	cpu->first = 0;
	history->used_bytes += more_bytes;
	return 0;
}

static int find(struct cpu_history *history, uint32_t number, struct cpu **cpu)
{
	*cpu = id_map_get(&history->cpus, 0, number);
	if (*cpu || history->cpus.cnt >= CPU_MAX)
		return 0;
	*cpu = calloc(1, sizeof(**cpu));
	if (*cpu && !id_map_put(&history->cpus, 0, number, *cpu))
		return 0;
	free(*cpu);
	*cpu = NULL;
	return -ENOMEM;
}

int cpu_history_add(struct cpu_history *history, uint32_t cpu_number, const struct cpu_stay *stay)
{
	struct cpu_stay rest = *stay;
	struct cpu *cpu;
	int err = find(history, cpu_number, &cpu);

	if (err || !cpu)
		return err;
	if (rest.begin_ns < rest.end_ns && cpu->cnt)
		cpu_stay_cut(&rest, stay_at(cpu, cpu->cnt - 1)->end_ns, rest.end_ns);
	if (rest.begin_ns >= rest.end_ns)
		return 0;
	err = make_room(history, cpu);
	if (err)
		return err;
	cpu->stays[(cpu->first + cpu->cnt++) % cpu->size] = rest;
	return 0;
}

int cpu_history_look(const struct cpu_history *history, uint32_t cpu_number, uint64_t from_ns, uint64_t to_ns,
		     cpu_history_take take, void *context)
{
	const struct cpu *cpu = id_map_get(&history->cpus, 0, cpu_number);
	int err = 0;

	for (size_t i = cpu ? cpu->cnt : 0; !err && i > 0 && stay_at(cpu, i - 1)->end_ns > from_ns; i--) {
		struct cpu_stay piece = *stay_at(cpu, i - 1);

		if (piece.begin_ns >= to_ns)
			continue;
		cpu_stay_cut(&piece, from_ns, to_ns);
		err = take(context, &piece);
	}
	return err;
}
