/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/probes/cost_trial.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "attach/probes/trial_site.h"
#include "attach/probes/uprobe_multi.h"
#include "base/clock.h"

#define BATCH_RUNS 256
#define STEP_RUNS 64 /* in a batch: each takes many times as long */
#define BATCHES 16
#define WARM_UP_RUNS 32
#define PATIENCE_MS 2000

#define RECENT_BATCHES 64 /* so many of the probe's count */
#define PENDING_MAX 4
#define TIMING_MS 50 /* so long the recorder waits for the child to turn timing on or off */

enum request { /* a byte; the answer is a number */
	REQUEST_WAKE = 0,
	REQUEST_BATCH = 1, /* ns */
	REQUEST_TIME = 2,  /* 1, or 0: it may not */
	REQUEST_REST = 3,
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
	uint8_t pending[PENDING_MAX]; /* enum request: what has not been answered yet, oldest first */
	size_t pending_cnt;
	bool is_timed;
	struct report report;
	uint64_t batches[RECENT_BATCHES]; /* of the probe, with the program */
	size_t batch_cnt;
};

/* The thread's own clock: what others do on its CPU meanwhile is not in it. */
static uint64_t cpu_ns(void)
{
	return clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
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

static uint64_t entry_ps(uint64_t without_ns, uint64_t with_ns, unsigned int run_cnt)
{
	return with_ns > without_ns ? (with_ns - without_ns) * 1000 / run_cnt : 1;
}

/* ---- in the child ---- */

/* What makes the program run once. */
struct trigger {
	void (*pull)(const struct trigger *trigger, unsigned int cnt);
	unsigned int run_cnt; /* of a batch */
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
	uint64_t begin_ns = cpu_ns();

	trigger->pull(trigger, trigger->run_cnt);
	return cpu_ns() - begin_ns;
}

static uint64_t median_batch_ns(const struct trigger *trigger, uint64_t *batches)
{
	trigger->pull(trigger, WARM_UP_RUNS);
	for (size_t i = 0; i < BATCHES; i++)
		batches[i] = batch_ns(trigger);
	return median(batches, BATCHES);
}

/*
 * The kernel times by the wall clock: where we lose the CPU within a run, that batch is far off, and not the
 * median. 0: not known.
 */
static uint64_t timed_run_ps(const struct trigger *trigger, int prog_fd)
{
	int fd = bpf_enable_stats(BPF_STATS_RUN_TIME);
	uint64_t batches[BATCHES] = { 0 }, cnts[2] = { 0 }, ns[2] = { 0 };

	if (fd < 0)
		return 0;
	for (size_t i = 0; i < BATCHES; i++) {
		if (cost_trial_timed(prog_fd, &cnts[0], &ns[0]))
			break;
		trigger->pull(trigger, trigger->run_cnt);
		if (!cost_trial_timed(prog_fd, &cnts[1], &ns[1]) && cnts[1] > cnts[0])
			batches[i] = (ns[1] - ns[0]) * 1000 / (cnts[1] - cnts[0]);
	}
	close(fd);
	return median(batches, BATCHES);
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

static void try_probe(const struct cost_trial_options *options, struct trigger *trigger,
		      struct report *report)
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

static void try_step(const struct cost_trial_options *options, struct cost_trial_entry *entry)
{
	struct trigger trigger = { .pull = pull_site, .run_cnt = STEP_RUNS };
	int fd = trial_site_stepped_offset() ? trial_site_open() : -1;
	const unsigned char *code = fd < 0 ? NULL : trial_site_map(fd);
	uint64_t batches[BATCHES], without_ns;
	char path[64];

	if (!code)
		return;
	trigger.code = code + trial_site_stepped_offset();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	without_ns = median_batch_ns(&trigger, batches);
	if (!attach_probe(options, path, trial_site_stepped_offset()))
		return;
	entry->entry_ps = entry_ps(without_ns, median_batch_ns(&trigger, batches), STEP_RUNS);
	entry->run_cnt = STEP_RUNS * BATCHES;
}

/* Without the program before and behind: the machine may have become slower or faster meanwhile. */
static void try_tracepoint(const struct cost_trial_options *options, struct cost_trial_entry *entry)
{
	struct trigger trigger = { .pull = pull_rename, .run_cnt = BATCH_RUNS };
	uint64_t batches[BATCHES], before_ns = median_batch_ns(&trigger, batches), with_ns;
	struct bpf_link *link = bpf_program__attach(options->tracepoint);

	if (!link)
		return;
	with_ns = median_batch_ns(&trigger, batches);
	entry->empty_run_ps = timed_run_ps(&trigger, bpf_program__fd(options->tracepoint));
	bpf_link__destroy(link);
	entry->entry_ps = entry_ps((before_ns + median_batch_ns(&trigger, batches)) / 2, with_ns, BATCH_RUNS);
	entry->run_cnt = BATCH_RUNS * BATCHES;
}

/* The kernel times as long as the descriptor is open; the child's end closes it, too. */
static bool turn_timing(int *stats_fd, bool is_on)
{
	if (is_on && *stats_fd < 0)
		*stats_fd = bpf_enable_stats(BPF_STATS_RUN_TIME);
	if (!is_on && *stats_fd >= 0) {
		close(*stats_fd);
		*stats_fd = -1;
	}
	return *stats_fd >= 0;
}

static void answer(int fd, const struct trigger *probe)
{
	unsigned char request;
	int stats_fd = -1;

	while (read(fd, &request, 1) == 1) {
		uint64_t number = 0;

		if (request == REQUEST_BATCH)
			number = batch_ns(probe);
		else if (request == REQUEST_TIME || request == REQUEST_REST)
			number = turn_timing(&stats_fd, request == REQUEST_TIME);
		if (write(fd, &number, sizeof(number)) != sizeof(number))
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
	const int kept[] = { fd, options->probe ? bpf_program__fd(options->probe) : -1,
			     options->tracepoint ? bpf_program__fd(options->tracepoint) : -1 };
	struct trigger probe = { .pull = pull_site, .run_cnt = BATCH_RUNS };
	struct report report = { .without_ns = 0 };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	close_all_but(kept, sizeof(kept) / sizeof(kept[0]));
	if (options->probe)
		try_probe(options, &probe, &report);
	if (options->probe && options->wants_step)
		try_step(options, &report.result.step);
	if (options->tracepoint)
		try_tracepoint(options, &report.result.tracepoint);
	if (options->settle)
		options->settle(options->context);
	if (write(fd, &report, sizeof(report)) == sizeof(report))
		answer(fd, &probe);
}

/* ---- in the recorder ---- */

static int set_patience(struct cost_trial *trial, int patience_ms)
{
	const struct timeval patience = { patience_ms / 1000, patience_ms % 1000 * 1000 };

	return setsockopt(trial->fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) ? -errno : 0;
}

int cost_trial_wait(struct cost_trial *trial)
{
	ssize_t got = -1;
	int err = set_patience(trial, PATIENCE_MS);

	while (!err && got < 0) {
		got = recv(trial->fd, &trial->report, sizeof(trial->report), MSG_WAITALL);
		if (got < 0 && errno != EINTR)
			err = -errno;
	}
	if (err || (size_t)got != sizeof(trial->report))
		return err ? err : -EPIPE;
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
	err = trial->child < 0 ? -errno : 0;
	if (err)
		cost_trial_free(trial);
	else
		*result = trial;
	return err;
}

/* The oldest goes. */
static void add_batch(struct cost_trial *trial, uint64_t ns)
{
	if (trial->batch_cnt == RECENT_BATCHES)
		memmove(trial->batches, trial->batches + 1, --trial->batch_cnt * sizeof(*trial->batches));
	trial->batches[trial->batch_cnt++] = ns;
	trial->report.result.probe.run_cnt += BATCH_RUNS;
}

static void take_answer(struct cost_trial *trial, uint64_t number)
{
	uint8_t request = trial->pending[0];

	memmove(trial->pending, trial->pending + 1, --trial->pending_cnt);
	if (request == REQUEST_BATCH)
		add_batch(trial, number);
	else if (request == REQUEST_TIME || request == REQUEST_REST)
		trial->is_timed = number;
}

static void take_answers(struct cost_trial *trial)
{
	uint64_t number;

	while (trial->pending_cnt && recv(trial->fd, &number, sizeof(number), MSG_DONTWAIT) == sizeof(number))
		take_answer(trial, number);
}

static bool ask(struct cost_trial *trial, enum request request)
{
	const unsigned char byte = request;

	take_answers(trial);
	if (trial->pending_cnt == PENDING_MAX || send(trial->fd, &byte, 1, MSG_NOSIGNAL | MSG_DONTWAIT) != 1)
		return false;
	trial->pending[trial->pending_cnt++] = byte;
	return true;
}

/* For all answers, for so long each. */
static int wait_for_answers(struct cost_trial *trial, int patience_ms)
{
	uint64_t number;
	int err = set_patience(trial, patience_ms);

	while (!err && trial->pending_cnt) {
		ssize_t got = recv(trial->fd, &number, sizeof(number), MSG_WAITALL);

		if (got == sizeof(number))
			take_answer(trial, number);
		else if (got >= 0 || errno != EINTR)
			err = got < 0 && errno == EAGAIN ? -ETIMEDOUT : -EPIPE;
	}
	return err;
}

void cost_trial_wake(struct cost_trial *trial, unsigned int cnt)
{
	for (unsigned int i = 0; i < cnt; i++)
		if (!ask(trial, REQUEST_WAKE) || wait_for_answers(trial, PATIENCE_MS))
			return;
}

int cost_trial_time(struct cost_trial *trial, bool is_timed)
{
	int err;

	if (!ask(trial, is_timed ? REQUEST_TIME : REQUEST_REST))
		return -EAGAIN;
	err = wait_for_answers(trial, TIMING_MS);
	if (err)
		return err;
	return trial->is_timed == is_timed ? 0 : -EPERM;
}

static bool is_pending(const struct cost_trial *trial, enum request request)
{
	return memchr(trial->pending, request, trial->pending_cnt) != NULL;
}

void cost_trial_ask(struct cost_trial *trial)
{
	take_answers(trial);
	if (trial->batch_cnt && !is_pending(trial, REQUEST_BATCH))
		ask(trial, REQUEST_BATCH);
}

void cost_trial_result(struct cost_trial *trial, struct cost_trial_result *result)
{
	take_answers(trial);
	*result = trial->report.result;
	if (trial->batch_cnt)
		result->probe.entry_ps = entry_ps(trial->report.without_ns,
						  median(trial->batches, trial->batch_cnt), BATCH_RUNS);
}

void cost_trial_end(struct cost_trial *trial)
{
	if (!trial || trial->fd < 0)
		return;
	take_answers(trial);
	close(trial->fd); /* at which the child ends */
	trial->fd = -1;
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
