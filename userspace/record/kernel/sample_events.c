/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/kernel/sample_events.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct sample_events {
	size_t cnt;
	struct bpf_link *links[]; /* each owns its event */
};

int sample_events_open(struct sample_events **result, struct bpf_program *program, uint64_t period_ns,
		       struct error *error)
{
	struct perf_event_attr attributes = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attributes),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = period_ns,
		.exclude_idle = 1,
	};
	long cpu_cnt = sysconf(_SC_NPROCESSORS_CONF);
	struct sample_events *events = calloc(1,
					      sizeof(*events) + (size_t)cpu_cnt * sizeof(events->links[0]));
	int err = events ? 0 : -ENOMEM;

	for (int cpu = 0; !err && cpu < cpu_cnt; cpu++) {
		int fd = (int)syscall(SYS_perf_event_open, &attributes, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

		if (fd < 0 && errno == ENODEV)
			continue;
		if (fd < 0) {
			err = -errno;
			break;
		}
		events->links[events->cnt] = bpf_program__attach_perf_event(program, fd);
		if (events->links[events->cnt]) {
			events->cnt++;
		} else {
			err = -errno;
			close(fd);
		}
	}
	if (err) {
		error_set(error, "cannot sample what the CPUs do (--stacks on-cpu): %s", strerror(-err));
		sample_events_close(events);
		return err;
	}
	*result = events;
	return 0;
}

void sample_events_close(struct sample_events *events)
{
	if (!events)
		return;
	while (events->cnt > 0)
		bpf_link__destroy(events->links[--events->cnt]);
	free(events);
}
