/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/thread/queue_history.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/id_map.h"

/*
 * From time_ns on it was value; until then it had been above 0 for positive_ns in all, and value times time
 * was area.
 */
struct queue_point {
	uint64_t time_ns;
	int64_t value;
	uint64_t positive_ns;
	double area;
};

struct queue_process {
	uint64_t cnt; /* of points that ever came; those that are left are a ring */
	struct queue_point points[QUEUE_HISTORY_POINTS];
};

struct queue_history {
	const char *name;
	size_t name_length;
	uint64_t cnt;
	struct id_map processes;
};

struct queue_history *queue_history_new(const char *name)
{
	struct queue_history *history = calloc(1, sizeof(*history));

	if (!history)
		return NULL;
	history->name = name;
	history->name_length = strlen(name);
	id_map_init(&history->processes);
	return history;
}

void queue_history_free(struct queue_history *history)
{
	struct queue_process *process;

	if (!history)
		return;
	for (size_t i = 0; (process = id_map_next(&history->processes, &i));)
		free(process);
	id_map_release(&history->processes);
	free(history);
}

static const struct queue_point *point_at(const struct queue_process *process, uint64_t number)
{
	return &process->points[number % QUEUE_HISTORY_POINTS];
}

/* What it is at a time that is not before the point. */
static struct queue_point go_on(const struct queue_point *point, uint64_t time_ns)
{
	struct queue_point later = *point;
	uint64_t passed_ns = time_ns > point->time_ns ? time_ns - point->time_ns : 0;

	later.time_ns = point->time_ns + passed_ns;
	if (point->value > 0) {
		later.positive_ns += passed_ns;
		later.area += (double)point->value * (double)passed_ns;
	}
	return later;
}

int queue_history_add(struct queue_history *history, const struct txtrace_counter *counter)
{
	struct queue_process *process;
	struct queue_point point = { .time_ns = counter->time_ns };

	if (counter->name.length != history->name_length ||
	    memcmp(counter->name.bytes, history->name, history->name_length) != 0)
		return 0;
	history->cnt++;
	process = id_map_get(&history->processes, 0, counter->pid);
	if (!process && history->processes.cnt >= QUEUE_HISTORY_PROCESSES)
		return 0;
	if (!process) {
		process = calloc(1, sizeof(*process));
		if (!process || id_map_put(&history->processes, 0, counter->pid, process)) {
			free(process);
			return -ENOMEM;
		}
	}
	if (process->cnt > 0)
		point = go_on(point_at(process, process->cnt - 1), counter->time_ns);
	point.value = counter->value;
	process->points[process->cnt++ % QUEUE_HISTORY_POINTS] = point;
	return 0;
}

uint64_t queue_history_count(const struct queue_history *history)
{
	return history->cnt;
}

/*
 * The sums at a time: those of the last point that is not after it, gone on. Before the first: nothing yet.
 */
static struct queue_point sums_at(const struct queue_process *process, uint64_t time_ns)
{
	uint64_t first = process->cnt > QUEUE_HISTORY_POINTS ? process->cnt - QUEUE_HISTORY_POINTS : 0,
		 low = first, high = process->cnt;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (point_at(process, middle)->time_ns <= time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low > first ? go_on(point_at(process, low - 1), time_ns) : *point_at(process, first);
}

uint64_t queue_history_positive_ns(const struct queue_history *history, uint32_t pid, uint64_t from_ns,
				   uint64_t to_ns, double *mean_depth)
{
	const struct queue_process *process = id_map_get(&history->processes, 0, pid);
	struct queue_point from, to;
	uint64_t ns;

	*mean_depth = 0;
	if (!process || process->cnt == 0 || from_ns >= to_ns)
		return 0;
	from = sums_at(process, from_ns);
	to = sums_at(process, to_ns);
	ns = to.positive_ns > from.positive_ns ? to.positive_ns - from.positive_ns : 0;
	if (ns > 0)
		*mean_depth = (to.area - from.area) / (double)ns;
	return ns;
}
