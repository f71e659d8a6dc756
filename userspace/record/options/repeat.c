/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/options/repeat.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/units.h"

enum {
	STATUS_NOT_STARTED = 2,
	STATUS_STOPPED = 3,
};

#define SIDE_BASE 0
#define SIDE_NEW 1
#define NUMBER_MAX 999999999

static const char *const side_names[] = { [SIDE_BASE] = "base", [SIDE_NEW] = "new" };

struct repeat {
	const struct record_options *options;
	const struct messages *messages;
	repeat_record record;
	const char *directory;
	uint64_t first_number;
	sigset_t signals; /* that stop it, and that of a child */
	bool is_stopping;
};

/* ---- names ---- */

static int name_log(const struct repeat *repeat, char path[PATH_MAX], const char *prefix, int side,
		    uint64_t number)
{
	int length = snprintf(path, PATH_MAX, "%s/%s%s-%03" PRIu64 ".txtrace", repeat->directory, prefix,
			      side_names[side], number);

	return length < PATH_MAX ? 0 : -ENAMETOOLONG;
}

/* "base-7.txtrace", "new-007.txtrace.partial", "aside-new-007.txtrace": 7. Other names: 0. */
static uint64_t number_of(const char *name)
{
	unsigned long long number;
	char *end;

	if (strncmp(name, "aside-", 6) == 0)
		name += 6;
	for (int side = 0; side < 2; side++) {
		size_t length = strlen(side_names[side]);

		if (strncmp(name, side_names[side], length) != 0 || name[length] != '-' ||
		    name[length + 1] < '0' || name[length + 1] > '9')
			continue;
		errno = 0;
		number = strtoull(name + length + 1, &end, 10);
		return errno || *end != '.' || number > NUMBER_MAX ? 0 : number;
	}
	return 0;
}

static int find_first_number(struct repeat *repeat)
{
	DIR *directory = opendir(repeat->directory);
	struct dirent *entry;
	uint64_t last = 0;
	int err;

	if (!directory)
		return -errno;
	for (errno = 0; (entry = readdir(directory)) != NULL; errno = 0)
		last = number_of(entry->d_name) > last ? number_of(entry->d_name) : last;
	err = -errno;
	closedir(directory);
	repeat->first_number = last + 1;
	return err;
}

/* Made if it is not there. */
static int open_directory(void *context)
{
	struct repeat *repeat = context;

	if (mkdir(repeat->directory, 0755) != 0)
		return errno == EEXIST ? find_first_number(repeat) : -errno;
	repeat->first_number = 1;
	return 0;
}

/* ---- one run ---- */

static pid_t start_run(struct repeat *repeat, int side, const char *path)
{
	struct record_options options = *repeat->options;
	struct messages messages = *repeat->messages;
	pid_t parent = getpid(), pid;

	fflush(NULL);
	pid = fork();
	if (pid)
		return pid < 0 ? -errno : pid;
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	sigprocmask(SIG_UNBLOCK, &repeat->signals, NULL);
	if (getppid() != parent)
		_exit(STATUS_STOPPED);
	options.output = path;
	options.is_quiet = messages.is_quiet = true;
	if (side == SIDE_BASE)
		options.command = options.base.argv;
	int status = repeat->record(&options, &messages);
	fflush(NULL);
	_exit(status);
}

/*
 * Until it has ended. What a terminal sends came to all of us; what was sent to us alone is passed on, SIGINT
 * as SIGTERM, since a recorder takes a first SIGINT for a terminal's and leaves it to the command.
 */
static int wait_for_run(struct repeat *repeat, pid_t pid)
{
	int status;

	for (;;) {
		pid_t ended = waitpid(pid, &status, WNOHANG);
		siginfo_t signal;

		if (ended == pid)
			return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
		if (ended < 0)
			return STATUS_STOPPED;
		if (sigwaitinfo(&repeat->signals, &signal) < 0 || signal.si_signo == SIGCHLD)
			continue;
		repeat->is_stopping = true;
		if (signal.si_code != SI_KERNEL)
			kill(pid, signal.si_signo == SIGINT ? SIGTERM : signal.si_signo);
	}
}

/* A signal that came between two runs. */
static bool was_stopped(struct repeat *repeat)
{
	const struct timespec now = { 0, 0 };
	siginfo_t signal;

	while (sigtimedwait(&repeat->signals, &signal, &now) > 0)
		repeat->is_stopping |= signal.si_signo != SIGCHLD;
	return repeat->is_stopping;
}

struct renaming {
	const char *path;
	const char *aside;
};

/* 1: there is no such log. */
static int rename_aside(void *context)
{
	const struct renaming *names = context;
	struct stat status;

	if (lstat(names->path, &status) != 0)
		return 1;
	return rename(names->path, names->aside) != 0 ? -errno : 0;
}

/* No log of a pair that is not whole is to be compared. */
static void put_aside(const struct repeat *repeat, uint64_t number)
{
	char path[PATH_MAX], aside[PATH_MAX];
	struct renaming names = { path, aside };

	for (int side = 0; side < 2; side++) {
		int result = 1;

		if (!name_log(repeat, path, "", side, number) &&
		    !name_log(repeat, aside, "aside-", side, number))
			result = caller_do(repeat->options->caller, rename_aside, &names);

		if (result < 0)
			messages_say(repeat->messages, MESSAGE_ERROR, "aside",
				     "cannot rename '%s': %s; do not compare it", path, strerror(-result));
		else if (!result)
			messages_say(repeat->messages, MESSAGE_WARNING, "aside",
				     "'%s' was put aside as '%s': its pair or its run is not whole", path,
				     aside);
	}
}

/* 0, or the status that ends it all. */
static int run_once(struct repeat *repeat, int side, uint64_t idx)
{
	uint64_t number = repeat->first_number + idx, begin_ns = clock_now_ns(), took_ns;
	const struct record_options *options = repeat->options;
	char path[PATH_MAX], duration[UNITS_SIZE];
	int status = 0;
	pid_t pid;

	if (was_stopped(repeat))
		return STATUS_STOPPED;
	pid = name_log(repeat, path, "", side, number) ? -ENAMETOOLONG : start_run(repeat, side, path);
	if (pid < 0) {
		messages_say(repeat->messages, MESSAGE_ERROR, "start", "cannot start the run of '%s': %s",
			     path, strerror((int)-pid));
		return STATUS_NOT_STARTED;
	}
	status = wait_for_run(repeat, pid);
	took_ns = clock_now_ns() - begin_ns;
	const struct message_field fields[] = {
		{ "log", path, 0 },	    { "side", side_names[side], 0 },
		{ "number", NULL, number }, { "of", NULL, options->repeat },
		{ "ns", NULL, took_ns },    { "status", NULL, (uint64_t)status },
	};
	if (repeat->is_stopping)
		return STATUS_STOPPED;
	if (status)
		messages_tell(repeat->messages, MESSAGE_ERROR, "run", fields,
			      sizeof(fields) / sizeof(fields[0]),
			      "run %" PRIu64 " of %" PRIu64 ", %s, ended with status %d: no more runs",
			      idx + 1, options->repeat, side_names[side], status);
	else
		messages_tell(repeat->messages, MESSAGE_INFO, "run", fields,
			      sizeof(fields) / sizeof(fields[0]),
			      "run %" PRIu64 " of %" PRIu64 ", %s: '%s', %s", idx + 1, options->repeat,
			      side_names[side], path, units_format_duration(duration, took_ns));
	return status;
}

/* ---- all of them ---- */

/* Escaped by messages_say(); a directory with blanks in it is quoted, and its patterns are not. */
static void say_next(const struct repeat *repeat, uint64_t done_cnt)
{
	bool is_plain = repeat->directory[strcspn(repeat->directory, " \t\n'\"\\$`*?[;|&<>()#~!{")] == '\0';
	const char *quote = is_plain ? "" : "'",
		   *directory = strchr(repeat->directory, '\'') ? "DIR" : repeat->directory;
	const struct messages *messages = repeat->messages;

	if (repeat->options->base.argv)
		messages_say(messages, MESSAGE_INFO, "next",
			     "%" PRIu64 " pairs were recorded; next: txtrace diff %s%s%s/base-*.txtrace -- "
					"%s%s%s/new-*.txtrace",
			     done_cnt, quote, directory, quote, quote, directory, quote);
	else
		messages_say(messages, MESSAGE_INFO, "next",
			     "%" PRIu64
			     " runs were recorded; next: txtrace diff BASE… -- %s%s%s/new-*.txtrace",
			     done_cnt, quote, directory, quote);
}

static int run_all(struct repeat *repeat)
{
	bool has_base = repeat->options->base.argv;
	uint64_t idx = 0;
	int status = 0;

	if (repeat->first_number > 1)
		messages_say(repeat->messages, MESSAGE_INFO, "place",
			     "'%s' has runs in it: numbers continue from %" PRIu64, repeat->directory,
			     repeat->first_number);
	for (; idx < repeat->options->repeat && !status; idx++) {
		status = has_base ? run_once(repeat, SIDE_BASE, idx) : 0;
		status = status ? status : run_once(repeat, SIDE_NEW, idx);
	}
	if (status) {
		put_aside(repeat, repeat->first_number + --idx);
		if (repeat->is_stopping)
			messages_say(repeat->messages, MESSAGE_WARNING, "stop",
				     "stopped by a signal in run %" PRIu64 " of %" PRIu64, idx + 1,
				     repeat->options->repeat);
	}
	if (idx)
		say_next(repeat, idx);
	return status;
}

int repeat_run(const struct record_options *options, const struct messages *messages, repeat_record record)
{
	struct repeat repeat = {
		.options = options, .messages = messages, .record = record, .directory = options->output
	};
	struct sigaction hang_up;
	sigset_t before;
	int status, err;

	err = caller_do(options->caller, open_directory, &repeat);
	if (err) {
		messages_say(messages, MESSAGE_ERROR, "start",
			     "cannot put logs into '%s', which is to be a directory (-o): %s",
			     repeat.directory, caller_explain(options->caller, err));
		return STATUS_NOT_STARTED;
	}
	sigemptyset(&repeat.signals);
	sigaddset(&repeat.signals, SIGINT);
	sigaddset(&repeat.signals, SIGTERM);
	/* nohup: blocked, it would come after all */
	if (sigaction(SIGHUP, NULL, &hang_up) == 0 && hang_up.sa_handler != SIG_IGN)
		sigaddset(&repeat.signals, SIGHUP);
	sigaddset(&repeat.signals, SIGCHLD);
	signal(SIGCHLD, SIG_DFL); /* whoever ignores it never learns how a child ended */
	sigprocmask(SIG_BLOCK, &repeat.signals, &before);
	status = run_all(&repeat);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return status;
}
