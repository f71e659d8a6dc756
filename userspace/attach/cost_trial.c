/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/cost_trial.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "attach/trial_site.h"
#include "attach/uprobe_multi.h"

#define BATCH_RUNS 256
#define BATCHES 16
#define WARM_UP_RUNS 32
#define PATIENCE_MS 2000

#define RECENT_BATCHES 64 /* so many of the probe's count */

enum request { /* a byte */
	REQUEST_WAKE = 0,
	REQUEST_BATCH = 1,
};

/* What the child says first. */
struct report {
	struct cost_trial_result result;
	uint64_t without_ns; /* a batch of the probe without a program */
	uint64_t batches[BATCHES];
};

struct cost_trial {
	int fd; /* our end; -1: ended */
	pid_t child;
	bool is_asked;
	struct report report;
	uint64_t batches[RECENT_BATCHES]; /* of the probe, with the program */
	size_t batch_cnt;
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + now.tv_nsec;
}

int cost_trial_timed(int prog_fd, uint64_t *run_cnt, uint64_t *run_ns)
{
	struct bpf_prog_info info = { 0 };
	__u32 length = sizeof(info);

	if (bpf_obj_get_info_by_fd(prog_fd, &info, &length))
		return -errno;
	*run_cnt = info.run_cnt;
	*run_ns = info.run_time_ns;
	return 0;
}

static int compare(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return left < right ? -1 : left > right;
}

static uint64_t median(const uint64_t *values, size_t cnt)
{
	uint64_t sorted[RECENT_BATCHES];

	memcpy(sorted, values, cnt * sizeof(*values));
	qsort(sorted, cnt, sizeof(*sorted), compare);
	return sorted[cnt / 2];
}

static uint64_t entry_ps(uint64_t without_ns, uint64_t with_ns)
{
	return with_ns > without_ns ? (with_ns - without_ns) * 1000 / BATCH_RUNS : 1;
}

/* ---- in the child ---- */

/* What makes the program run once. */
struct trigger {
	void (*pull)(const struct trigger *trigger, unsigned int cnt);
	const unsigned char *code;
};

static void pull_site(const struct trigger *trigger, unsigned int cnt)
{
	trial_site_run(trigger->code, cnt);
}

static void pull_rename(const struct trigger *trigger, unsigned int cnt)
{
	(void)trigger;
	for (unsigned int i = 0; i < cnt; i++)
		prctl(PR_SET_NAME, "txtrace-trial");
}

static uint64_t batch_ns(const struct trigger *trigger)
{
	uint64_t begin_ns = now_ns();

	trigger->pull(trigger, BATCH_RUNS);
	return now_ns() - begin_ns;
}

static uint64_t median_batch_ns(const struct trigger *trigger, uint64_t *batches)
{
	trigger->pull(trigger, WARM_UP_RUNS);
	for (size_t i = 0; i < BATCHES; i++)
		batches[i] = batch_ns(trigger);
	return median(batches, BATCHES);
}

static uint64_t timed_run_ps(const struct trigger *trigger, int prog_fd)
{
	uint64_t cnts[2], ns[2];
	int fd = bpf_enable_stats(BPF_STATS_RUN_TIME), err;

	if (fd < 0)
		return 0;
	err = cost_trial_timed(prog_fd, &cnts[0], &ns[0]);
	trigger->pull(trigger, BATCH_RUNS * BATCHES);
	if (!err)
		err = cost_trial_timed(prog_fd, &cnts[1], &ns[1]);
	close(fd);
	return err || cnts[1] <= cnts[0] ? 0 : (ns[1] - ns[0]) * 1000 / (cnts[1] - cnts[0]);
}

/* The probe goes with the child: removing it takes a while, and nobody has to wait for that. */
static bool attach_probe(const struct cost_trial_options *options, const char *path, uint64_t offset)
{
	struct uprobe_multi link = { .path = path, .offsets = &offset, .cnt = 1, .pid = (uint32_t)getpid() };
	LIBBPF_OPTS(bpf_uprobe_opts, perf, .retprobe = false);

	if (options->features->has_uprobe_multi)
		return uprobe_multi_link(bpf_program__fd(options->probe), &link) >= 0;
	return bpf_program__attach_uprobe_opts(options->probe, -1, path, offset, &perf) != NULL;
}

static void try_probe(const struct cost_trial_options *options, struct trigger *trigger, struct report *report)
{
	int fd = trial_site_open();
	uint64_t batches[BATCHES];
	char path[64];

	trigger->code = fd < 0 ? NULL : trial_site_map(fd);
	if (!trigger->code)
		return;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	report->without_ns = median_batch_ns(trigger, batches);
	if (!attach_probe(options, path, trial_site_offset(options->features->fast_nop)))
		return;
	median_batch_ns(trigger, report->batches);
	report->result.probe.run_cnt = BATCH_RUNS * BATCHES;
	report->result.probe.empty_run_ps = timed_run_ps(trigger, bpf_program__fd(options->probe));
}

/* Without the program before and behind: the machine may have become slower or faster meanwhile. */
static void try_tracepoint(const struct cost_trial_options *options, struct cost_trial_entry *entry)
{
	struct trigger trigger = { .pull = pull_rename };
	uint64_t batches[BATCHES], before_ns = median_batch_ns(&trigger, batches), with_ns;
	struct bpf_link *link = bpf_program__attach(options->tracepoint);

	if (!link)
		return;
	with_ns = median_batch_ns(&trigger, batches);
	entry->empty_run_ps = timed_run_ps(&trigger, bpf_program__fd(options->tracepoint));
	bpf_link__destroy(link);
	entry->entry_ps = entry_ps((before_ns + median_batch_ns(&trigger, batches)) / 2, with_ns);
	entry->run_cnt = BATCH_RUNS * BATCHES;
}

static void answer(int fd, const struct trigger *probe)
{
	unsigned char request;

	while (read(fd, &request, 1) == 1) {
		uint64_t ns = request == REQUEST_BATCH ? batch_ns(probe) : 0;

		if (write(fd, &ns, sizeof(ns)) != sizeof(ns))
			return;
	}
}

/* What is open in the recorder would otherwise stay so as long as the child lives. */
static void close_all_but(const int *fds, size_t cnt)
{
	unsigned int from = 3;

	for (size_t round = 0; round < cnt; round++) {
		unsigned int next = UINT_MAX;

		for (size_t i = 0; i < cnt; i++)
			if (fds[i] >= (int)from && (unsigned int)fds[i] < next)
				next = (unsigned int)fds[i];
		if (next == UINT_MAX)
			break;
		if (next > from)
			syscall(SYS_close_range, from, next - 1, 0);
		from = next + 1;
	}
	syscall(SYS_close_range, from, UINT_MAX, 0);
}

static void work_in_child(const struct cost_trial_options *options, int fd)
{
	const int kept[] = { fd, options->probe ? bpf_program__fd(options->probe) : -1, options->tracepoint ? bpf_program__fd(options->tracepoint) : -1 };
	struct trigger probe = { .pull = pull_site };
	struct report report = { .without_ns = 0 };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	close_all_but(kept, sizeof(kept) / sizeof(kept[0]));
	if (options->probe)
		try_probe(options, &probe, &report);
	if (options->tracepoint)
		try_tracepoint(options, &report.result.tracepoint);
	if (write(fd, &report, sizeof(report)) == sizeof(report))
		answer(fd, &probe);
}

/* ---- in the recorder ---- */

static int receive(struct cost_trial *trial)
{
	struct pollfd ready = { .fd = trial->fd, .events = POLLIN };
	int cnt;

	do
		cnt = poll(&ready, 1, PATIENCE_MS);
	while (cnt < 0 && errno == EINTR);
	if (cnt <= 0)
		return cnt ? -errno : -ETIMEDOUT;
	if (recv(trial->fd, &trial->report, sizeof(trial->report), MSG_WAITALL) != sizeof(trial->report))
		return -EPIPE;
	if (trial->report.result.probe.run_cnt) {
		memcpy(trial->batches, trial->report.batches, sizeof(trial->report.batches));
		trial->batch_cnt = BATCHES;
	}
	return 0;
}

int cost_trial_start(struct cost_trial **result, const struct cost_trial_options *options)
{
	struct cost_trial *trial = calloc(1, sizeof(*trial));
	int fds[2], err;

	if (!trial)
		return -ENOMEM;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds)) {
		err = -errno;
		free(trial);
		return err;
	}
	trial->child = fork();
	if (!trial->child) {
		work_in_child(options, fds[1]);
		_exit(0);
	}
	close(fds[1]);
	trial->fd = fds[0];
	err = trial->child < 0 ? -errno : receive(trial);
	if (err)
		cost_trial_free(trial);
	else
		*result = trial;
	return err;
}

void cost_trial_wake(struct cost_trial *trial, unsigned int cnt)
{
	const unsigned char request = REQUEST_WAKE;
	uint64_t nothing;

	for (unsigned int i = 0; i < cnt; i++)
		if (send(trial->fd, &request, 1, MSG_NOSIGNAL) != 1 || recv(trial->fd, &nothing, sizeof(nothing), MSG_WAITALL) != sizeof(nothing))
			return;
}

/* The oldest goes. */
static void add_batch(struct cost_trial *trial, uint64_t ns)
{
	if (trial->batch_cnt == RECENT_BATCHES)
		memmove(trial->batches, trial->batches + 1, --trial->batch_cnt * sizeof(*trial->batches));
	trial->batches[trial->batch_cnt++] = ns;
	trial->report.result.probe.run_cnt += BATCH_RUNS;
}

static void take_batch(struct cost_trial *trial)
{
	uint64_t ns;

	if (!trial->is_asked || recv(trial->fd, &ns, sizeof(ns), MSG_DONTWAIT) != sizeof(ns))
		return;
	trial->is_asked = false;
	add_batch(trial, ns);
}

void cost_trial_ask(struct cost_trial *trial)
{
	const unsigned char request = REQUEST_BATCH;

	take_batch(trial);
	if (trial->batch_cnt && !trial->is_asked)
		trial->is_asked = send(trial->fd, &request, 1, MSG_NOSIGNAL | MSG_DONTWAIT) == 1;
}

void cost_trial_result(struct cost_trial *trial, struct cost_trial_result *result)
{
	take_batch(trial);
	*result = trial->report.result;
	if (trial->batch_cnt)
		result->probe.entry_ps = entry_ps(trial->report.without_ns, median(trial->batches, trial->batch_cnt));
}

void cost_trial_end(struct cost_trial *trial)
{
	if (!trial || trial->fd < 0)
		return;
	take_batch(trial);
	close(trial->fd);
	trial->fd = -1;
	if (trial->child > 0)
		kill(trial->child, SIGKILL);
}

void cost_trial_free(struct cost_trial *trial)
{
	if (!trial)
		return;
	cost_trial_end(trial);
	if (trial->child > 0)
		while (waitpid(trial->child, NULL, 0) < 0 && errno == EINTR)
			;
	free(trial);
}
