/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/probes/link_opener.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attach/process/blocked_time.h"
#include "base/clock.h"

/* So many times the wait: a thread that is neither blocked nor done by then is given up, too. */
#define BUSY_FACTOR 10

/* What the thread works with, its own: who asked for it may have given up. */
struct job {
	int prog_fd;
	int object_fd;
	struct uprobe_multi multi;
	char path[64];
	uint64_t arrays[]; /* offsets, semaphores, cookies */
};

struct link_opener {
	uint64_t wait_ns;
	pthread_t thread;
	pid_t tid; /* of the thread */
	bool is_started;
	pthread_mutex_t mutex;
	pthread_cond_t has_changed;
	struct job *job; /* to be done, or being done; NULL: none */
	int result;      /* of the last one, if is_done */
	bool is_done;
	bool is_given_up; /* nobody waits for the job any more */
	bool is_ending; /* the thread is to end when it has no job */
	int *late_fds; /* to be closed after the job */
	size_t late_cnt;
};

struct link_opener *link_opener_new(uint64_t wait_ns)
{
	struct link_opener *opener = calloc(1, sizeof(*opener));
	pthread_condattr_t monotonic;

	if (!opener)
		return NULL;
	opener->wait_ns = wait_ns;
	pthread_mutex_init(&opener->mutex, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&opener->has_changed, &monotonic);
	pthread_condattr_destroy(&monotonic);
	return opener;
}

/* ---- jobs ---- */

static void job_free(struct job *job)
{
	close(job->object_fd);
	close(job->prog_fd);
	free(job);
}

static const uint64_t *copy_array(struct job *job, size_t idx, const uint64_t *from)
{
	uint64_t *to = &job->arrays[idx * job->multi.cnt];

	if (!from)
		return NULL;
	memcpy(to, from, job->multi.cnt * sizeof(*to));
	return to;
}

/* With descriptors of its own: the caller's may mean something else by the time that the kernel looks. */
static struct job *job_new(int prog_fd, const struct uprobe_multi *multi, int object_fd, int *err)
{
	struct job *job = malloc(sizeof(*job) + 3 * multi->cnt * sizeof(*job->arrays));

	*err = -ENOMEM;
	if (!job)
		return NULL;
	*job = (struct job){ .multi = *multi, .object_fd = -1 };
	job->prog_fd = fcntl(prog_fd, F_DUPFD_CLOEXEC, 0);
	if (job->prog_fd >= 0)
		job->object_fd = fcntl(object_fd, F_DUPFD_CLOEXEC, 0);
	if (job->object_fd < 0) {
		*err = -errno;
		if (job->prog_fd >= 0)
			close(job->prog_fd);
		free(job);
		return NULL;
	}
	snprintf(job->path, sizeof(job->path), "/proc/self/fd/%d", job->object_fd);
	job->multi.path = job->path;
	job->multi.offsets = copy_array(job, 0, multi->offsets);
	job->multi.semaphore_offsets = copy_array(job, 1, multi->semaphore_offsets);
	job->multi.cookies = copy_array(job, 2, multi->cookies);
	return job;
}

/* ---- the thread ---- */

/* The job that nobody waited for is over; locked, but not meanwhile. */
static void close_late(struct link_opener *opener)
{
	int *fds = opener->late_fds;
	size_t cnt = opener->late_cnt;

	opener->late_fds = NULL;
	opener->late_cnt = 0;
	pthread_mutex_unlock(&opener->mutex);
	if (opener->result >= 0)
		close(opener->result);
	for (size_t i = 0; i < cnt; i++)
		close(fds[i]);
	free(fds);
	pthread_mutex_lock(&opener->mutex);
}

static void *run(void *context)
{
	struct link_opener *opener = context;

	pthread_mutex_lock(&opener->mutex);
	opener->tid = (pid_t)syscall(SYS_gettid);
	for (;;) {
		struct job *job;

		while (!opener->job && !opener->is_ending)
			pthread_cond_wait(&opener->has_changed, &opener->mutex);
		job = opener->job;
		if (!job)
			break;
		pthread_mutex_unlock(&opener->mutex);
		opener->result = uprobe_multi_link(job->prog_fd, &job->multi);
		job_free(job);
		pthread_mutex_lock(&opener->mutex);
		while (opener->is_given_up && (opener->result >= 0 || opener->late_cnt)) {
			close_late(opener);
			opener->result = -ETIMEDOUT;
		}
		opener->job = NULL;
		opener->is_done = !opener->is_given_up;
		opener->is_given_up = false;
		pthread_cond_broadcast(&opener->has_changed);
	}
	pthread_mutex_unlock(&opener->mutex);
	return NULL;
}

static void join(struct link_opener *opener)
{
	if (opener->is_started)
		pthread_join(opener->thread, NULL);
	opener->is_started = opener->is_ending = false;
}

/* Signals are for the thread that called us, but for that of a refused system call. */
static bool start(struct link_opener *opener)
{
	sigset_t all, before;

	if (opener->is_ending)
		join(opener);
	if (opener->is_started)
		return true;
	sigfillset(&all);
	sigdelset(&all, SIGSYS);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	opener->is_started = !pthread_create(&opener->thread, NULL, run, opener);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return opener->is_started;
}

/* ---- who asks ---- */

/* Locked. Whether the job is done within a moment. */
static bool is_done_soon(struct link_opener *opener)
{
	uint64_t until_ns = clock_now_ns() + BLOCKED_LOOK_MS * UINT64_C(1000000);
	struct timespec until = { (time_t)(until_ns / 1000000000), (long)(until_ns % 1000000000) };
	int err = 0;

	while (!opener->is_done && err != ETIMEDOUT)
		err = pthread_cond_timedwait(&opener->has_changed, &opener->mutex, &until);
	return opener->is_done;
}

/* Locked. Only the time counts in which the kernel keeps the thread waiting: not that of a busy machine. */
static int wait_for(struct link_opener *opener)
{
	uint64_t begin_ns = clock_now_ns(), blocked_ns = 0;
	struct blocked_look last = { 0 }, fresh;

	while (!is_done_soon(opener)) {
		blocked_look(&fresh, opener->tid);
		if (last.at_ns)
			blocked_ns += blocked_between(&last, &fresh);
		last = fresh;
		if (blocked_ns >= opener->wait_ns ||
		    fresh.at_ns - begin_ns >= BUSY_FACTOR * opener->wait_ns) {
			opener->is_given_up = true;
			return -ETIMEDOUT;
		}
	}
	opener->is_done = false;
	return opener->result;
}

int link_opener_link(struct link_opener *opener, int prog_fd, const struct uprobe_multi *multi, int object_fd)
{
	struct job *job;
	int result;

	if (link_opener_is_held(opener))
		return -ETIMEDOUT;
	if (!opener || !start(opener))
		return uprobe_multi_link(prog_fd, multi);
	job = job_new(prog_fd, multi, object_fd, &result);
	if (!job)
		return result;
	pthread_mutex_lock(&opener->mutex);
	opener->job = job;
	pthread_cond_broadcast(&opener->has_changed);
	result = wait_for(opener);
	pthread_mutex_unlock(&opener->mutex);
	return result;
}

bool link_opener_is_held(struct link_opener *opener)
{
	bool is_held;

	if (!opener)
		return false;
	pthread_mutex_lock(&opener->mutex);
	is_held = opener->job;
	pthread_mutex_unlock(&opener->mutex);
	return is_held;
}

bool link_opener_close_later(struct link_opener *opener, int fd)
{
	int *grown = NULL;
	bool is_held;

	pthread_mutex_lock(&opener->mutex);
	is_held = opener->is_given_up;
	if (is_held)
		grown = reallocarray(opener->late_fds, opener->late_cnt + 1, sizeof(*grown));
	if (grown) {
		opener->late_fds = grown;
		grown[opener->late_cnt++] = fd;
	}
	pthread_mutex_unlock(&opener->mutex);
	return grown;
}

static void let_end(struct link_opener *opener)
{
	pthread_mutex_lock(&opener->mutex);
	opener->is_ending = true;
	pthread_cond_broadcast(&opener->has_changed);
	pthread_mutex_unlock(&opener->mutex);
}

void link_opener_renew(struct link_opener *opener)
{
	if (!opener || !opener->is_started)
		return;
	let_end(opener);
	if (!link_opener_is_held(opener))
		join(opener);
}

void link_opener_free(struct link_opener *opener)
{
	if (!opener)
		return;
	let_end(opener);
	join(opener);
	pthread_mutex_destroy(&opener->mutex);
	pthread_cond_destroy(&opener->has_changed);
	free(opener);
}
