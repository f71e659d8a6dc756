/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/options/otlp_run.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/securebits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/process/capabilities.h"
#include "base/invoking_user.h"
#include "record/options/log_place.h"
#include "record/options/txtrace_path.h"

#define NICENESS 10
#define STATUS_NO_PROGRAM 127
/* At the end of the log the process takes some ten seconds, at most; unless somebody has stopped it. */
#define WAIT_CNT 300
#define WAIT_MS 100

struct plan {
	const struct record_options *options;
	char log[PATH_MAX];
	char program[PATH_MAX];
	struct invoking_user user;
};

/* ---- the process ---- */

/* Root's files stay root's, but none of root's capabilities comes back, whatever is run. */
static int give_up_rights(const struct plan *plan)
{
	const unsigned long bits = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |
				   SECBIT_NO_SETUID_FIXUP_LOCKED;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	if (plan->user.is_other)
		return invoking_user_become(&plan->user);
	if (geteuid() == 0 && prctl(PR_SET_SECUREBITS, bits))
		return -errno;
	return capabilities_keep(0);
}

/* Whoever interrupts the recorder does not interrupt this: the end of the log does. */
static void ignore_signals(void)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
	sigset_t none;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		signal(numbers[i], SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static void say_nothing(int stream)
{
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (fd >= 0)
		dup2(fd, stream);
}

static void send_spans(const struct plan *plan, int words_fd)
{
	const struct record_options *options = plan->options;
	char *arguments[10] = { (char *)"txtrace", (char *)"export", (char *)"--follow", (char *)"--otlp",
				(char *)options->otlp };
	size_t cnt = 5;

	if (options->otlp_headers) {
		arguments[cnt++] = (char *)"--headers-file";
		arguments[cnt++] = (char *)options->otlp_headers;
	}
	arguments[cnt++] = (char *)"--";
	arguments[cnt++] = (char *)plan->log;
	ignore_signals();
	if (nice(NICENESS) == -1 || give_up_rights(plan))
		return;
	if (options->is_quiet || words_fd >= 0)
		say_nothing(STDOUT_FILENO);
	if (words_fd >= 0)
		dup2(words_fd, STDERR_FILENO);
	execve(plan->program, arguments, plan->user.environment);
}

static void run_child(const struct plan *plan, int wait_fd, int words_fd)
{
	char go;

	if (recv(wait_fd, &go, 1, 0) != 1)
		_exit(0); /* there is nothing to send */
	send_spans(plan, words_fd);
	_exit(STATUS_NO_PROGRAM);
}

/* ---- the recorder ---- */

static int find_log(void *context)
{
	struct plan *plan = context;

	return log_place_path(plan->options->output, plan->log, sizeof(plan->log));
}

static int make_plan(struct plan *plan, const struct record_options *options)
{
	int err;

	plan->options = options;
	err = caller_do(options->caller, find_log, plan);
	if (!err)
		err = txtrace_path(plan->program);
	return err ? err : invoking_user_read(&plan->user);
}

/* A socket to say go, as attach/process/target.c has one: a child that was killed meanwhile is no SIGPIPE. */
static int start_child(struct otlp_run *run, const struct plan *plan)
{
	int fds[2];

	if (plan->options->messages == MESSAGES_JSON) {
		run->words_fd = memfd_create("txtrace-otlp", MFD_CLOEXEC);
		if (run->words_fd < 0)
			return -errno;
	}
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
		return -errno;
	fflush(NULL);
	run->child = fork();
	if (run->child == 0) {
		close(fds[1]);
		run_child(plan, fds[0], run->words_fd);
	}
	close(fds[0]);
	run->go_fd = fds[1];
	if (run->child > 0)
		return 0;
	run->child = 0;
	return -errno;
}

int otlp_run_fork(struct otlp_run *run, const struct record_options *options, struct error *error)
{
	struct plan plan = { 0 };
	int err;

	*run = (struct otlp_run){ .go_fd = -1, .words_fd = -1 };
	if (!options->otlp)
		return 0;
	err = make_plan(&plan, options);
	if (!err)
		err = start_child(run, &plan);
	invoking_user_release(&plan.user);
	if (err)
		error_set(error, "can't start the sender for --otlp: %s", strerror(-err));
	return err;
}

void otlp_run_begin(struct otlp_run *run)
{
	if (!run->child)
		return;
	while (send(run->go_fd, "", 1, MSG_NOSIGNAL) < 0 && errno == EINTR)
		;
	close(run->go_fd);
	run->go_fd = -1;
}

static void tell_words(const struct otlp_run *run, const struct messages *messages)
{
	FILE *words = fdopen(dup(run->words_fd), "r");
	char *line = NULL;
	size_t size = 0;
	ssize_t length;

	if (!words)
		return;
	rewind(words);
	while ((length = getline(&line, &size, words)) > 0) {
		line[strcspn(line, "\n")] = '\0';
		messages_say(messages, MESSAGE_WARNING, "otlp", "%s", line);
	}
	free(line);
	fclose(words);
}

/* false: it has not ended by now. */
static bool wait_for_child(pid_t child, int *status)
{
	for (int i = 0; i < WAIT_CNT; i++) {
		if (waitpid(child, status, WNOHANG) == child)
			return true;
		poll(NULL, 0, WAIT_MS);
	}
	return false;
}

void otlp_run_end(struct otlp_run *run, const struct messages *messages)
{
	int status = 0;
	bool has_ended = true;

	if (run->go_fd >= 0)
		close(run->go_fd);
	if (run->child)
		has_ended = wait_for_child(run->child, &status);
	if (run->words_fd >= 0) {
		tell_words(run, messages);
		close(run->words_fd);
	}
	if (!has_ended)
		messages_say(messages, MESSAGE_WARNING, "otlp",
			     "the sender for --otlp, process %d, does not end; the log has all spans",
			     (int)run->child);
	else if (run->child && (!WIFEXITED(status) || WEXITSTATUS(status) == STATUS_NO_PROGRAM))
		messages_say(messages, MESSAGE_WARNING, "otlp",
			     "the sender for --otlp could not run, or was killed; the log has all spans");
	*run = (struct otlp_run){ .go_fd = -1, .words_fd = -1 };
}
