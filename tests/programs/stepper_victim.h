/* SPDX-License-Identifier: BSD-2-Clause */
/* The processes that stepper.c starts and strikes, and what it knows of them and of its tracer. */
#ifndef STEPPER_VICTIM_H
#define STEPPER_VICTIM_H

#include <linux/sched.h>
#include <sys/wait.h>

#include "truth.h"

#define VICTIM_MAX 16
#define KIND_MAX 64
#define KIND_SIZE 48
#define PROGRAM_MAX 1024
#define THREAD_MAX 256

/* Of one kind, how many steps have been met. */
struct kind {
	char name[KIND_SIZE];
	unsigned cnt;
};

struct victim {
	pid_t pid;
	const char *event;
	struct kind kinds[KIND_MAX];
	bool is_reached;
	bool is_reaped;
	bool is_held;
	int wait_status;
	pid_t stranger; /* who has its pid now; 0: nobody */
};

struct thread {
	pid_t tid;
	int victim; /* whom its last step concerned; -1: nobody */
};

struct stepper {
	const char *events, *at, *mortal, *becomes, *directory, *cgroup;
	uint64_t is_late, is_launched, is_open, innocent;
	bool is_dry;
	struct victim victims[VICTIM_MAX];
	int victim_cnt;
	struct thread threads[THREAD_MAX];
	pid_t tracer;
	int tracer_status;
	unsigned thread_cnt;
	uint64_t waits_since_ns; /* it waits for events: all that is to be set is set */
	unsigned idle_cnt;       /* how often it has waited since its last step */
	bool has_given_up;
	bool is_interrupted;
	uint32_t programs[PROGRAM_MAX];
	unsigned program_cnt;
};

/* ---- victims ---- */

static void enter_cgroup(const char *directory)
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/cgroup.procs", directory);
	file = fopen(path, "w");
	must(file && fprintf(file, "%d\n", getpid()) > 0 && !fclose(file), "cannot enter the cgroup");
}

/*
 * Each has files of its own to run and to become: only then do its semaphores
 * say that it is traced itself.
 */
static void __attribute__((noreturn)) live(const struct stepper *stepper, const char *event, int idx)
{
	char truth[512], becomes[512], mortal[512];

	end_with_parent(SIGKILL);
	if (stepper->cgroup)
		enter_cgroup(stepper->cgroup);
	snprintf(truth, sizeof(truth), "%s/%d.err", stepper->directory, getpid());
	must(freopen(truth, "w", stderr), "cannot write what the victims say"); /* stderr is the tracer's */
	snprintf(truth, sizeof(truth), "%s/%d.truth", stepper->directory, getpid());
	snprintf(becomes, sizeof(becomes), "%s.%d", stepper->becomes, idx);
	snprintf(mortal, sizeof(mortal), "%s.%d", stepper->mortal, idx);
	if (!strcmp(event, "plain"))
		execl(mortal, mortal, "--", "/bin/sleep", "0.4", NULL);
	else if (!strcmp(event, "again"))
		execl(mortal, mortal, "--", mortal, "--reborn", "1", NULL);
	else
		execl(mortal, mortal, "--", becomes, "--wait-traced", "200", "--repeat", "3", "--output",
		      truth, NULL);
	must(false, "cannot run the victim");
	_exit(1);
}

static void read_link(char *target, size_t size, const char *format, int a, int b)
{
	char path[64];
	ssize_t length;

	snprintf(path, sizeof(path), format, a, b);
	length = readlink(path, target, size - 1);
	target[length > 0 ? length : 0] = 0;
}

/* Its first argument: "--" of one that is as it was started. */
static bool has_argument(pid_t pid, const char *argument)
{
	char path[64], words[1024] = "";
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, words, sizeof(words) - 1) < 0)
		*words = 0;
	if (fd >= 0)
		close(fd);
	return !strcmp(words + strlen(words) + 1, argument);
}

static char state_of(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	return task_state(path);
}

static bool is_gone(pid_t pid)
{
	char state = state_of(pid);

	return !state || strchr("ZX", state);
}

static void start_victim(struct stepper *stepper, struct victim *victim)
{
	victim->pid = fork();
	must(victim->pid >= 0, "cannot fork");
	if (!victim->pid)
		live(stepper, victim->event, (int)(victim - stepper->victims));
	while (!has_argument(victim->pid, "--") || state_of(victim->pid) != 'S')
		usleep(200);
}

static void reap(struct victim *victim)
{
	while (!victim->is_reaped && waitpid(victim->pid, &victim->wait_status, 0) < 0 && errno == EINTR)
		;
	victim->is_reaped = true;
}

/* A process with this pid, which nobody has asked to trace. */
static pid_t take_pid(const struct stepper *stepper, pid_t pid, int idx)
{
	char mortal[512];
	struct clone_args arguments = { .exit_signal = SIGCHLD,
					.set_tid = (uintptr_t)&pid,
					.set_tid_size = 1 };
	pid_t child;

	snprintf(mortal, sizeof(mortal), "%s.%d", stepper->mortal, idx);
	child = (pid_t)syscall(SYS_clone3, &arguments, sizeof(arguments));
	if (!child) {
		end_with_parent(SIGKILL);
		execl(mortal, mortal, "--stranger", "1", NULL);
		_exit(1);
	}
	if (child < 0) /* somebody else was quicker */
		return 0;
	while (state_of(child) != 'S' || !has_argument(child, "--stranger"))
		usleep(200);
	return child;
}

static void see_become(struct victim *victim)
{
	while (has_argument(victim->pid, "--"))
		usleep(200);
	kill(victim->pid, SIGSTOP);
	victim->is_held = true;
}

struct event {
	const char *name;
	int signal;
	enum { REAP, LEAVE, BECOME, REUSE } then;
};

static const struct event events[] = {
	{ "kill", SIGKILL, REAP },     { "zombie", SIGKILL, LEAVE }, { "exit", SIGTERM, REAP },
	{ "marked", SIGUSR1, BECOME }, { "plain", SIGUSR1, BECOME }, { "thread", SIGUSR2, BECOME },
	{ "again", SIGUSR1, BECOME },  { "fork", SIGHUP, REAP },     { "reuse", SIGKILL, REUSE },
};

static void strike(struct stepper *stepper, struct victim *victim)
{
	const struct event *event = events;

	victim->is_reached = true;
	while (strcmp(event->name, victim->event))
		event++;
	kill(victim->pid, event->signal);
	if (stepper->is_launched) { /* the tracer's child, and the tracer's to reap */
		while (!is_gone(victim->pid))
			usleep(200);
		return;
	}
	switch (event->then) {
	case REAP:
		reap(victim);
		break;
	case LEAVE:
		while (state_of(victim->pid) != 'Z')
			usleep(200);
		break;
	case BECOME:
		see_become(victim);
		break;
	case REUSE:
		reap(victim);
		victim->stranger = take_pid(stepper, victim->pid, (int)(victim - stepper->victims));
		break;
	}
}

#endif
