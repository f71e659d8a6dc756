/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/options/live_run.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/invoking_user.h"
#include "record/options/log_place.h"
#include "record/options/txtrace_path.h"

#define LOOK_NS 20000000 /* for the log */
#define STATUS_NOT_STARTED 2
#define STATUS_NO_VIEWER 127

struct live {
	const struct record_options *options;
	char log[PATH_MAX];
	char partial[PATH_MAX];
	struct timespec since; /* a file of before is a dead recorder's */
	char viewer[PATH_MAX];
	struct invoking_user user;
	sigset_t signals; /* that stop it, and that of a child */
	int words_fd;	  /* what the recorder says */
	pid_t recorder;	  /* 0: it has ended */
	int status;	  /* with which */
	bool is_stopping;
};

/* ---- what is needed ---- */

static int find_log(void *context)
{
	struct live *live = context;
	int err = log_place_path(live->options->output, live->log, sizeof(live->log));

	if (!err && snprintf(live->partial, sizeof(live->partial), "%s.partial", live->log) >= PATH_MAX)
		err = -ENAMETOOLONG;
	return err;
}

static int has_log(void *context)
{
	const struct live *live = context;
	struct stat status;

	if (lstat(live->partial, &status))
		return false;
	return status.st_mtim.tv_sec != live->since.tv_sec ? status.st_mtim.tv_sec > live->since.tv_sec
							   : status.st_mtim.tv_nsec >= live->since.tv_nsec;
}

static int prepare(struct live *live)
{
	int err = caller_do(live->options->caller, find_log, live);

	if (!err)
		err = txtrace_path(live->viewer);
	if (!err)
		err = invoking_user_read(&live->user);
	if (err)
		return err;
	clock_gettime(CLOCK_REALTIME_COARSE, &live->since); /* which is that of files */
	live->words_fd = memfd_create("txtrace-bpf", MFD_CLOEXEC);
	return live->words_fd < 0 ? -errno : 0;
}

/* ---- the processes ---- */

static int start_recorder(struct live *live, const struct messages *messages, repeat_record record)
{
	pid_t parent = getpid();
	int status;

	fflush(NULL);
	live->recorder = fork();
	if (live->recorder)
		return live->recorder < 0 ? -errno : 0;
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	sigprocmask(SIG_UNBLOCK, &live->signals, NULL);
	if (getppid() != parent || dup2(live->words_fd, STDOUT_FILENO) < 0 ||
	    dup2(live->words_fd, STDERR_FILENO) < 0)
		_exit(STATUS_NOT_STARTED);
	status = record(live->options, messages);
	fflush(NULL);
	_exit(status);
}

static pid_t start_viewer(const struct live *live)
{
	char *const argv[] = { (char *)"txtrace", (char *)"top", (char *)"--", (char *)live->log, NULL };
	pid_t viewer = fork();

	if (viewer)
		return viewer < 0 ? -errno : viewer;
	sigprocmask(SIG_UNBLOCK, &live->signals, NULL);
	if (!invoking_user_become(&live->user))
		execve(live->viewer, argv, live->user.environment);
	_exit(STATUS_NO_VIEWER);
}

static int status_of(int status)
{
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Whether this child has ended, with what status. What ends meanwhile may be the recorder. */
static bool has_ended(struct live *live, pid_t child, int *status)
{
	pid_t ended;
	int how;

	while ((ended = waitpid(-1, &how, WNOHANG)) > 0) {
		if (ended == live->recorder) {
			live->recorder = 0;
			live->status = status_of(how);
		}
		if (ended == child) {
			*status = status_of(how);
			return true;
		}
	}
	return false;
}

/* A child has ended, somebody wants this to stop, or (0: never) so many ns have passed. */
static void wait_for_signal(struct live *live, long wait_ns)
{
	const struct timespec wait = { .tv_nsec = wait_ns };
	siginfo_t signal;
	int number = wait_ns ? sigtimedwait(&live->signals, &signal, &wait)
			     : sigwaitinfo(&live->signals, &signal);

	live->is_stopping |= number > 0 && number != SIGCHLD;
}

static void wait_for_log(struct live *live)
{
	int status;

	while (live->recorder && !live->is_stopping && !caller_do(live->options->caller, has_log, live)) {
		wait_for_signal(live, LOOK_NS);
		has_ended(live, 0, &status);
	}
}

static int wait_for_viewer(struct live *live, pid_t viewer)
{
	bool is_told = false;
	int status;

	while (!has_ended(live, viewer, &status)) {
		wait_for_signal(live, 0);
		if (live->is_stopping && !is_told)
			kill(viewer, SIGTERM);
		is_told = live->is_stopping;
	}
	return status;
}

static void stop_recorder(struct live *live)
{
	int status;

	if (live->recorder)
		kill(live->recorder, SIGTERM);
	while (live->recorder && !has_ended(live, live->recorder, &status))
		wait_for_signal(live, 0);
}

/* What the recorder has said meanwhile. */
static void tell_words(const struct live *live)
{
	char bytes[4096];
	ssize_t length;

	lseek(live->words_fd, 0, SEEK_SET);
	while ((length = read(live->words_fd, bytes, sizeof(bytes))) > 0)
		fwrite(bytes, 1, (size_t)length, stderr);
}

static void run(struct live *live, const struct messages *messages)
{
	pid_t viewer;
	int status;

	wait_for_log(live);
	if (!live->recorder || live->is_stopping)
		return;
	viewer = start_viewer(live);
	status = viewer > 0 ? wait_for_viewer(live, viewer) : STATUS_NO_VIEWER;
	if (status == STATUS_NO_VIEWER)
		messages_say(messages, MESSAGE_ERROR, "top", "cannot run '%s'; the log is in '%s'",
			     live->viewer, live->log);
}

int live_run(const struct record_options *options, const struct messages *messages, repeat_record record)
{
	struct live live = { .options = options, .words_fd = -1, .status = STATUS_NOT_STARTED };
	sigset_t before;
	int err;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		messages_say(messages, MESSAGE_ERROR, "top",
			     "the output is no terminal; record without --top");
		return STATUS_NOT_STARTED;
	}
	sigemptyset(&live.signals);
	sigaddset(&live.signals, SIGCHLD);
	sigaddset(&live.signals, SIGINT);
	sigaddset(&live.signals, SIGTERM);
	sigaddset(&live.signals, SIGHUP);
	err = prepare(&live);
	sigprocmask(SIG_BLOCK, &live.signals, &before);
	if (!err)
		err = start_recorder(&live, messages, record);
	if (!err) {
		run(&live, messages);
		stop_recorder(&live);
		tell_words(&live);
	} else {
		messages_say(messages, MESSAGE_ERROR, "top", "cannot start: %s", strerror(-err));
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (live.words_fd >= 0)
		close(live.words_fd);
	invoking_user_release(&live.user);
	return live.status;
}
