/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/process/target.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/process/capabilities.h"
#include "attach/process/command_path.h"
#include "base/invoking_user.h"
#include "attach/process/proc_status.h"
#include "attach/process/process_reader.h"

#define EXIT_NOT_FOUND 127
#define EXIT_NOT_EXECUTABLE 126

struct target {
	pid_t pid;
	int pidfd;
	struct proc_status status;
	char exe[PATH_MAX];
	char command[PROCESS_READER_COMMAND_MAX];

	/* of a launched child */
	char *const *argv; /* NULL: opened by pid */
	int go_fd;         /* a byte lets it exec, the end lets it give up; -1: it has been told */
	int failure_fd;    /* the errno of its exec, or the end */
	bool can_be_held;
	bool is_held;
	bool is_reaped;
	int wait_status;
};

/* What the process is called; of one that ends meanwhile, less. */
static int describe(struct target *target)
{
	struct proc_status status;
	char path[64];
	ssize_t length;
	int err = proc_status_read(&status, target->pid);

	if (err)
		return err;
	target->status = status;
	snprintf(path, sizeof(path), "/proc/%d/exe", target->pid);
	length = readlink(path, target->exe, sizeof(target->exe) - 1);
	target->exe[length > 0 ? length : 0] = '\0';
	snprintf(target->command, sizeof(target->command), "%s", target->status.comm);
	return 0;
}

static struct target *target_new(pid_t pid)
{
	struct target *target = calloc(1, sizeof(*target));

	if (!target)
		return NULL;
	target->pid = pid;
	target->pidfd = -1;
	target->go_fd = -1;
	target->failure_fd = -1;
	return target;
}

static void target_free(struct target *target)
{
	if (target->pidfd >= 0)
		close(target->pidfd);
	if (target->go_fd >= 0)
		close(target->go_fd);
	if (target->failure_fd >= 0)
		close(target->failure_fd);
	free(target);
}

/*
 * pidfd_err: why there is no pidfd, or 0. The pidfd was made first, so a process that is described here and
 * still runs is the one it means.
 */
static int check_process(struct target *target, int pidfd_err, struct error *error)
{
	pid_t pid = target->pid;
	int err = describe(target);

	if (err == -ESRCH || (!err && pidfd_err == -ESRCH)) {
		error_set(error, "no process has the pid %d: see ps -e", pid);
		return -ESRCH;
	}
	if (err) {
		error_set(error, "cannot read /proc/%d: %s", pid, strerror(-err));
		return err;
	}
	if (target->status.tgid != pid) {
		error_set(error, "%d is a thread of process %d (\"%s\"): give the process, %d", pid,
			  target->status.tgid, target->status.comm, target->status.tgid);
		return -EINVAL;
	}
	if (target->status.is_kernel_thread) {
		error_set(error, "process %d (\"%s\") is a kernel thread, which has no program to trace", pid,
			  target->status.comm);
		return -EINVAL;
	}
	if (pidfd_err) {
		error_set(error, "cannot open process %d (\"%s\"): %s", pid, target->status.comm,
			  strerror(-pidfd_err));
		return pidfd_err;
	}
	if (!target_is_running(target)) {
		error_set(error, "process %d (\"%s\") has ended already", pid, target->status.comm);
		return -ESRCH;
	}
	return 0;
}

int target_open_pid(struct target **out, pid_t pid, struct error *error)
{
	struct target *target;
	int pidfd_err = 0, err;

	*out = NULL;
	if (pid <= 0) {
		error_set(error, "%d is no pid", pid);
		return -EINVAL;
	}
	if (pid == getpid()) {
		error_set(error, "process %d is the recorder itself", pid);
		return -EINVAL;
	}
	target = target_new(pid);
	if (!target) {
		error_set(error, "no memory");
		return -ENOMEM;
	}
	target->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (target->pidfd < 0)
		pidfd_err = -errno;
	err = check_process(target, pidfd_err, error);
	if (err) {
		target_free(target);
		return err;
	}
	*out = target;
	return 0;
}

/*
 * exec resets what is handled; what is ignored, and what is blocked, would be inherited. Handlers are reset
 * before any signal can reach them.
 */
static void reset_signals(void)
{
	struct sigaction action;
	sigset_t none;

	for (int number = 1; number < NSIG; number++) {
		if (sigaction(number, NULL, &action) < 0 ||
		    (action.sa_handler == SIG_IGN && number != SIGPIPE))
			continue;
		memset(&action, 0, sizeof(action));
		action.sa_handler = SIG_DFL;
		sigaction(number, &action, NULL);
	}
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* The child from here on; only what is safe after fork. */
static void __attribute__((noreturn))
run_child(char *const argv[], const struct invoking_user *user, int go_fd, int failure_fd)
{
	ssize_t got;
	char go;
	int err;

	reset_signals();
	err = invoking_user_become(user);
	do
		got = read(go_fd, &go, 1);
	while (got < 0 && errno == EINTR);
	if (got != 1)
		_exit(EXIT_NOT_FOUND);
	if (!err) {
		execvpe(argv[0], argv, user->environment);
		err = -errno;
	}
	while (write(failure_fd, &err, sizeof(err)) < 0 && errno == EINTR)
		;
	_exit(err == -ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE);
}

/* All signals are blocked around the fork, so that no handler of ours runs in the child. */
static pid_t fork_child(char *const argv[], const struct invoking_user *user, const int go[2],
			const int failure[2])
{
	sigset_t all, before;
	pid_t pid;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	pid = fork();
	if (pid == 0) {
		close(go[0]);
		run_child(argv, user, go[1], failure[1]);
	}
	if (pid < 0)
		pid = -errno;
	sigprocmask(SIG_SETMASK, &before, NULL);
	return pid;
}

/* A socket rather than a pipe to say go: to a child that was killed meanwhile, without SIGPIPE. */
static int fork_target(struct target *target, const struct invoking_user *user)
{
	int go[2], failure[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, go) < 0)
		return -errno;
	target->go_fd = go[0];
	if (pipe2(failure, O_CLOEXEC) < 0) {
		int err = -errno;

		close(go[1]);
		return err;
	}
	target->failure_fd = failure[0];
	pid = fork_child(target->argv, user, go, failure);
	close(go[1]);
	close(failure[1]);
	if (pid < 0)
		return pid;
	target->pid = pid;
	target->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	return target->pidfd < 0 ? -errno : 0;
}

/*
 * A setuid program would run without its privileges under a tracer that lacks the capability: then it is not
 * held.
 */
static bool seize(const struct target *target)
{
	return capability_is_effective(CAP_SYS_PTRACE) &&
	       ptrace(PTRACE_SEIZE, target->pid, 0, PTRACE_O_TRACEEXEC) == 0;
}

static void join_arguments(struct target *target)
{
	size_t used = 0;

	for (size_t i = 0; target->argv[i] && used < sizeof(target->command); i++)
		used += (size_t)snprintf(target->command + used, sizeof(target->command) - used, "%s%s",
					 i ? " " : "", target->argv[i]);
}

int target_launch(struct target **out, char *const argv[], struct error *error)
{
	struct invoking_user user;
	struct target *target = target_new(0);
	int err = target ? invoking_user_read(&user) : -ENOMEM;

	*out = NULL;
	if (err) {
		error_set(error, "cannot find the user who runs \"%s\" (SUDO_UID, SUDO_GID): %s", argv[0],
			  strerror(-err));
		free(target);
		return err;
	}
	target->argv = argv;
	err = fork_target(target, &user);
	invoking_user_release(&user);
	if (!err) {
		target->can_be_held = seize(target);
		err = describe(target);
	}
	if (err) {
		error_set(error, "cannot start \"%s\": %s", argv[0], strerror(-err));
		target_close(target);
		return err;
	}
	join_arguments(target);
	*out = target;
	return 0;
}

void target_read_command(struct target *target, struct process_reader *reader)
{
	char command[PROCESS_READER_COMMAND_MAX];

	if (process_reader_command(reader, command, target->pid) > 0)
		memcpy(target->command, command, sizeof(command));
}

bool target_can_be_held(const struct target *target)
{
	return target->can_be_held;
}

static void reap(struct target *target)
{
	while (!target->is_reaped) {
		if (waitpid(target->pid, &target->wait_status, 0) < 0 && errno == EINTR)
			continue;
		target->is_reaped = !WIFSTOPPED(target->wait_status);
	}
}

/*
 * Follows the seized child to its exec, or to its end. Signals that come meanwhile are passed on, stops are
 * left to last.
 */
static void follow_to_exec(struct target *target)
{
	int status;

	for (;;) {
		if (waitpid(target->pid, &status, __WALL) < 0) {
			if (errno == EINTR)
				continue;
			return;
		}
		if (!WIFSTOPPED(status)) {
			target->is_reaped = true;
			target->wait_status = status;
			return;
		}
		if (status >> 16 == PTRACE_EVENT_EXEC) {
			target->is_held = true;
			return;
		}
		if (status >> 16 == PTRACE_EVENT_STOP && WSTOPSIG(status) != SIGTRAP)
			ptrace(PTRACE_LISTEN, target->pid, 0, 0);
		else
			ptrace(PTRACE_CONT, target->pid, 0, status >> 16 ? 0 : WSTOPSIG(status));
	}
}

static void explain_failure(const struct target *target, int err, struct error *error)
{
	const char *name = target->argv[0];

	if (err == -ENOENT && !strchr(name, '/'))
		error_set(error, "cannot run \"%s\": it is in no directory of PATH", name);
	else if (err == -ENOENT)
		error_set(error, "cannot run \"%s\": there is no such file, or its interpreter is missing",
			  name);
	else if (err == -EACCES && !strchr(name, '/'))
		error_set(error,
			  "cannot run \"%s\": the user who runs it may execute it in no directory of PATH "
			  "(see ls -l)",
			  name);
	else if (err == -EACCES)
		error_set(error, "cannot run \"%s\": the user who runs it may not execute it (see ls -l)",
			  name);
	else
		error_set(error, "cannot run \"%s\": %s", name, strerror(-err));
}

/* What the child wrote before it gave up; 0: it has exec'd, or was killed before. */
static int read_failure(struct target *target)
{
	ssize_t got;
	int err;

	do
		got = read(target->failure_fd, &err, sizeof(err));
	while (got < 0 && errno == EINTR);
	close(target->failure_fd);
	target->failure_fd = -1;
	return got == sizeof(err) ? err : 0;
}

int target_go(struct target *target, int *exit_status, struct error *error)
{
	int err;

	if (target->go_fd < 0)
		return 0;
	send(target->go_fd, "", 1, MSG_NOSIGNAL);
	close(target->go_fd);
	target->go_fd = -1;
	if (target->can_be_held)
		follow_to_exec(target);
	err = read_failure(target);
	if (err) {
		reap(target);
		*exit_status = err == -ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
		explain_failure(target, err, error);
		return err;
	}
	describe(target);
	join_arguments(target);
	return 0;
}

void target_resume(struct target *target)
{
	if (target->is_held)
		ptrace(PTRACE_DETACH, target->pid, 0, 0);
	target->is_held = false;
}

int target_each_path(const struct target *target, target_path_visit visit, void *context)
{
	return target->argv ? command_path_each(target->argv, visit, context) : 0;
}

pid_t target_pid(const struct target *target)
{
	return target->pid;
}

pid_t target_inner_pid(const struct target *target)
{
	return target->status.inner_pid;
}

uint64_t target_start_ticks(const struct target *target)
{
	return target->status.start_ticks;
}

const char *target_comm(const struct target *target)
{
	return target->status.comm;
}

const char *target_exe(const struct target *target)
{
	return target->exe;
}

const char *target_command(const struct target *target)
{
	return target->command;
}

int target_poll_fd(const struct target *target)
{
	return target->pidfd;
}

bool target_is_running(const struct target *target)
{
	struct pollfd ended = { .fd = target->pidfd, .events = POLLIN };

	return !target->is_reaped && poll(&ended, 1, 0) == 0;
}

int target_signal(const struct target *target, int signal)
{
	return syscall(SYS_pidfd_send_signal, target->pidfd, signal, NULL, 0) < 0 ? -errno : 0;
}

int target_wait(struct target *target, int *exit_status)
{
	struct pollfd ended = { .fd = target->pidfd, .events = POLLIN };

	*exit_status = 0;
	if (target->argv) {
		reap(target);
		*exit_status = WIFSIGNALED(target->wait_status) ? 128 + WTERMSIG(target->wait_status)
								: WEXITSTATUS(target->wait_status);
		return 0;
	}
	while (poll(&ended, 1, -1) < 0)
		if (errno != EINTR)
			return -errno;
	return 0;
}

void target_close(struct target *target)
{
	if (!target)
		return;
	if ((target->go_fd >= 0 || target->is_held) && target->pid > 0 && !target->is_reaped) {
		kill(target->pid, SIGKILL);
		reap(target);
	}
	target_free(target);
}
