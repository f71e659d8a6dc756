/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Targets: processes that run already, that are none, that end; and commands that are launched, held,
 * refused, killed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/process/capabilities.h"
#include "attach/process/proc_status.h"
#include "attach/process/target.h"
#include "unit/skip.h"

static char folder[PATH_MAX];

/* ---- processes ---- */

static pid_t sleeper_with_name(const char *name)
{
	pid_t child;
	int ready[2];
	char byte;

	assert_int_equal(pipe(ready), 0);
	child = fork();
	if (child == 0) {
		prctl(PR_SET_NAME, name);
		if (write(ready[1], "", 1) == 1)
			pause();
		_exit(0);
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return child;
}

static void end(pid_t child)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static void a_running_process_is_opened_and_described(void **state)
{
	pid_t child = sleeper_with_name("a) b\n(c");
	struct error error = { "" };
	struct target *target;
	char own_exe[PATH_MAX];
	int exit_status = -1;

	(void)state;
	assert_int_equal(target_open_pid(&target, child, &error), 0);
	assert_int_equal(target_pid(target), child);
	assert_int_equal(target_inner_pid(target), child);
	assert_string_equal(target_comm(target), "a) b\n(c");
	assert_non_null(realpath("/proc/self/exe", own_exe));
	assert_string_equal(target_exe(target), own_exe);
	target_read_command(target, NULL);
	assert_non_null(strstr(target_command(target), "test_attach_target"));
	assert_int_not_equal(target_start_ticks(target), 0);
	assert_true(target_is_running(target));
	assert_int_equal(target_go(target, &exit_status, &error), 0); /* nothing to wait for */

	assert_int_equal(target_signal(target, SIGKILL), 0);
	assert_int_equal(target_wait(target, &exit_status), 0);
	assert_int_equal(exit_status, 0); /* its parent alone may know */
	assert_false(target_is_running(target));
	waitpid(child, NULL, 0);
	assert_int_equal(target_signal(target, SIGTERM), -ESRCH);
	target_close(target);
}

/* In a container a process has another pid than we know it by. */
static void a_process_of_another_pid_namespace_has_two_pids(void **state)
{
	struct target *target;
	struct error error;
	pid_t outer, keeper;
	int known[2];

	(void)state;
	if (geteuid() != 0)
		skip_because("not root");
	assert_int_equal(pipe2(known, O_CLOEXEC), 0);
	keeper = fork();
	if (keeper == 0) {
		outer = unshare(CLONE_NEWPID) < 0 ? -1 : fork();
		if (outer == 0 || write(known[1], &outer, sizeof(outer)) == sizeof(outer))
			for (;;)
				pause();
		_exit(1);
	}
	assert_int_equal(read(known[0], &outer, sizeof(outer)), sizeof(outer));
	if (outer > 0) {
		assert_int_equal(target_open_pid(&target, outer, &error), 0);
		assert_int_equal(target_pid(target), outer);
		assert_int_equal(target_inner_pid(target), 1);
		target_close(target);
		kill(outer, SIGKILL);
	}
	end(keeper);
	close(known[0]);
	close(known[1]);
	if (outer < 0)
		skip_because("we may not make a PID namespace");
}

static void what_is_no_process_is_refused_with_a_sentence(void **state)
{
	pid_t ended = fork(), zombie;
	struct target *target;
	struct error error;
	siginfo_t info;
	char expected[64];

	(void)state;
	if (ended == 0)
		_exit(0);
	waitpid(ended, NULL, 0);
	assert_int_equal(target_open_pid(&target, ended, &error), -ESRCH);
	assert_null(target);
	snprintf(expected, sizeof(expected), "no process has the pid %d: see ps -e", ended);
	assert_string_equal(error.text, expected);

	zombie = fork();
	if (zombie == 0)
		_exit(0);
	assert_int_equal(waitid(P_PID, (id_t)zombie, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(target_open_pid(&target, zombie, &error), -ESRCH);
	assert_non_null(strstr(error.text, "has ended already"));
	waitpid(zombie, NULL, 0);

	assert_int_equal(target_open_pid(&target, 0, &error), -EINVAL);
	assert_string_equal(error.text, "0 is no pid");
	assert_int_equal(target_open_pid(&target, -5, &error), -EINVAL);
	assert_int_equal(target_open_pid(&target, INT_MAX, &error), -ESRCH);
	assert_int_equal(target_open_pid(&target, getpid(), &error), -EINVAL);
	assert_non_null(strstr(error.text, "is the recorder itself"));
}

static void a_kernel_thread_is_refused(void **state)
{
	struct target *target;
	struct error error;
	char comm[32] = "";
	FILE *file = fopen("/proc/2/comm", "r");

	(void)state;
	if (!file || !fgets(comm, sizeof(comm), file) || strcmp(comm, "kthreadd\n") != 0)
		skip_because("we are in a PID namespace without kernel threads");
	fclose(file);
	assert_int_equal(target_open_pid(&target, 2, &error), -EINVAL);
	assert_string_equal(error.text,
			    "process 2 (\"kthreadd\") is a kernel thread, which has no program to trace");
}

struct thread_story {
	pid_t tid;
	pthread_barrier_t barrier;
};

static void *wait_twice(void *argument)
{
	struct thread_story *story = argument;

	story->tid = (pid_t)syscall(SYS_gettid);
	pthread_barrier_wait(&story->barrier);
	pthread_barrier_wait(&story->barrier);
	return NULL;
}

static void a_thread_is_refused_and_its_process_named(void **state)
{
	struct thread_story story = { 0 };
	struct target *target;
	struct error error;
	char expected[64];
	pthread_t thread;

	(void)state;
	pthread_barrier_init(&story.barrier, NULL, 2);
	assert_int_equal(pthread_create(&thread, NULL, wait_twice, &story), 0);
	pthread_barrier_wait(&story.barrier);
	assert_int_equal(target_open_pid(&target, story.tid, &error), -EINVAL);
	snprintf(expected, sizeof(expected), "%d is a thread of process %d", story.tid, getpid());
	assert_int_equal(strncmp(error.text, expected, strlen(expected)), 0);
	pthread_barrier_wait(&story.barrier);
	pthread_join(thread, NULL);
	pthread_barrier_destroy(&story.barrier);
}

static void an_exec_changes_the_image_and_a_fork_does_not(void **state)
{
	struct proc_status own, child_status;
	pid_t child = sleeper_with_name("child");
	char *const command[] = { (char *)"sleep", (char *)"100", NULL };
	struct target *target;
	struct error error;
	int exit_status;

	(void)state;
	assert_int_equal(proc_status_read(&own, getpid()), 0);
	assert_int_equal(proc_status_read(&child_status, child), 0);
	assert_int_equal(own.image, child_status.image);
	assert_int_equal(child_status.parent_pid, getpid());
	end(child);

	assert_int_equal(target_launch(&target, command, &error), 0);
	assert_int_equal(target_go(target, &exit_status, &error), 0);
	target_resume(target);
	assert_int_equal(proc_status_read(&child_status, target_pid(target)), 0);
	assert_int_not_equal(own.image, child_status.image);
	target_signal(target, SIGKILL);
	assert_int_equal(target_wait(target, &exit_status), 0);
	assert_int_equal(exit_status, 128 + SIGKILL);
	target_close(target);
}

/* ---- commands ---- */

struct launched {
	struct target *target;
	struct error error;
	int exit_status;
};

/* Runs the command to its end. Returns what target_go returned. */
static int run_to_end(struct launched *launched, char *const command[])
{
	int err;

	memset(launched, 0, sizeof(*launched));
	assert_int_equal(target_launch(&launched->target, command, &launched->error), 0);
	launched->exit_status = -1;
	err = target_go(launched->target, &launched->exit_status, &launched->error);
	if (!err) {
		target_resume(launched->target);
		assert_int_equal(target_wait(launched->target, &launched->exit_status), 0);
		assert_false(target_is_running(launched->target));
	}
	target_close(launched->target);
	return err;
}

static void an_exit_status_is_passed_on(void **state)
{
	char *const ends_with_7[] = { (char *)"sh", (char *)"-c", (char *)"exit 7", NULL };
	char *const kills_itself[] = { (char *)"sh", (char *)"-c", (char *)"kill -TERM $$", NULL };
	char *const is_true[] = { (char *)"true", NULL };
	struct launched launched;

	(void)state;
	assert_int_equal(run_to_end(&launched, ends_with_7), 0);
	assert_int_equal(launched.exit_status, 7);
	assert_int_equal(run_to_end(&launched, kills_itself), 0);
	assert_int_equal(launched.exit_status, 128 + SIGTERM);
	assert_int_equal(run_to_end(&launched, is_true), 0);
	assert_int_equal(launched.exit_status, 0);
}

static void a_command_that_cannot_run_is_explained(void **state)
{
	char path[PATH_MAX + 32];
	char *const unknown[] = { (char *)"no-such-command-anywhere", NULL };
	char *const missing[] = { (char *)"/no/such/file", NULL };
	char *const not_executable[] = { path, NULL };
	struct launched launched;

	(void)state;
	assert_int_equal(run_to_end(&launched, unknown), -ENOENT);
	assert_int_equal(launched.exit_status, 127);
	assert_string_equal(launched.error.text,
			    "cannot run \"no-such-command-anywhere\": it is in no directory of PATH");
	assert_int_equal(run_to_end(&launched, missing), -ENOENT);
	assert_int_equal(launched.exit_status, 127);
	assert_string_equal(
		launched.error.text,
		"cannot run \"/no/such/file\": there is no such file, or its interpreter is missing");

	snprintf(path, sizeof(path), "%s/not-executable", folder);
	close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	assert_int_equal(run_to_end(&launched, not_executable), -EACCES);
	assert_int_equal(launched.exit_status, 126);
	assert_non_null(strstr(launched.error.text, "may not execute it (see ls -l)"));
	unlink(path);
}

/* Nothing of the command runs before go, nor, where it can be held, before resume. */
static void a_command_waits_until_it_is_told(void **state)
{
	char path[PATH_MAX + 32], script[PATH_MAX + 64];
	char *const command[] = { (char *)"sh", (char *)"-c", script, NULL };
	struct target *target;
	struct error error;
	int exit_status;

	(void)state;
	snprintf(path, sizeof(path), "%s/it-ran", folder);
	snprintf(script, sizeof(script), ": > '%s'", path);
	assert_int_equal(target_launch(&target, command, &error), 0);
	usleep(20000);
	assert_int_not_equal(access(path, F_OK), 0);
	assert_true(target_is_running(target));
	assert_int_equal(target_go(target, &exit_status, &error), 0);
	if (target_can_be_held(target)) {
		assert_int_equal(strcmp(target_comm(target), "sh"), 0); /* it has exec'd */
		usleep(20000);
		assert_int_not_equal(access(path, F_OK), 0);
	}
	target_resume(target);
	assert_int_equal(target_wait(target, &exit_status), 0);
	assert_int_equal(access(path, F_OK), 0);
	assert_int_equal(strncmp(target_command(target), "sh -c : > ", 10), 0);
	target_close(target);
	unlink(path);
}

static void a_command_that_was_never_told_to_go_does_not_run(void **state)
{
	char path[PATH_MAX + 32];
	char *const command[] = { (char *)"touch", path, NULL };
	struct target *target;
	struct error error;
	pid_t pid;

	(void)state;
	snprintf(path, sizeof(path), "%s/it-ran", folder);
	assert_int_equal(target_launch(&target, command, &error), 0);
	pid = target_pid(target);
	target_close(target);
	assert_int_not_equal(access(path, F_OK), 0);
	assert_int_equal(kill(pid, 0), -1);
	assert_int_equal(errno, ESRCH);
	target_close(NULL);
}

/* Who holds the command dies: it runs, as if it had not been held. */
static void a_held_command_outlives_the_recorder(void **state)
{
	char path[PATH_MAX + 32];
	char *const command[] = { (char *)"touch", path, NULL };
	int held[2], status;
	char can_be_held;
	pid_t recorder;

	(void)state;
	snprintf(path, sizeof(path), "%s/it-ran", folder);
	assert_int_equal(pipe2(held, O_CLOEXEC), 0);
	recorder = fork();
	if (recorder == 0) {
		struct target *target;
		struct error error;
		int exit_status;

		if (target_launch(&target, command, &error) || target_go(target, &exit_status, &error))
			_exit(1);
		can_be_held = target_can_be_held(target);
		if (write(held[1], &can_be_held, 1) == 1)
			for (;;)
				pause();
	}
	close(held[1]);
	assert_int_equal(read(held[0], &can_be_held, 1), 1);
	close(held[0]);
	if (can_be_held)
		assert_int_not_equal(access(path, F_OK), 0);
	kill(recorder, SIGKILL);
	assert_int_equal(waitpid(recorder, &status, 0), recorder);
	for (int i = 0; i < 120000 && access(path, F_OK) != 0; i++)
		usleep(1000);
	assert_int_equal(access(path, F_OK), 0);
	unlink(path);
}

/* A signal that comes while the child waits, or is on its way to its exec, is its own business. */
static void a_signal_before_the_exec_ends_it(void **state)
{
	char *const command[] = { (char *)"sleep", (char *)"100", NULL };
	struct pollfd ended = { .events = POLLIN };
	struct target *target;
	struct error error;
	int exit_status = -1;

	(void)state;
	assert_int_equal(target_launch(&target, command, &error), 0);
	assert_int_equal(target_signal(target, SIGTERM), 0);
	target_go(target, &exit_status, &error);
	target_resume(target);
	ended.fd = target_poll_fd(target);
	assert_int_equal(poll(&ended, 1, -1), 1);
	assert_int_equal(target_wait(target, &exit_status), 0);
	assert_int_equal(exit_status, 128 + SIGTERM);
	target_close(target);
}

static void on_signal(int number)
{
	(void)number;
}

/* What we block or handle is not the child's; what whoever started us ignores (nohup) is. */
static void signals_are_reset(void **state)
{
	char *const command[] = {
		(char *)"sh", (char *)"-c",
		(char *)"m=$(sed -n 's/^SigBlk:\t//p' /proc/$$/status); i=$(sed -n 's/^SigIgn:\t//p' "
			"/proc/$$/status); "
			"[ $((0x$m)) = 0 ] && [ $((0x$i & 1)) = 1 ] && [ $((0x$i & 0x1000)) = 0 ]",
		NULL
	};
	struct launched launched;
	sigset_t blocked, before;

	(void)state;
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGINT);
	sigaddset(&blocked, SIGUSR1);
	sigprocmask(SIG_BLOCK, &blocked, &before);
	signal(SIGHUP, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGTERM, on_signal);
	assert_int_equal(run_to_end(&launched, command), 0);
	signal(SIGHUP, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	sigprocmask(SIG_SETMASK, &before, NULL);
	assert_int_equal(launched.exit_status, 0);
}

/* readlink opens nothing itself: whatever it finds was left open by us. */
static void no_file_of_ours_leaks_into_the_command(void **state)
{
	char *const command[] = {
		(char *)"sh", (char *)"-c",
		(char *)"exec readlink /proc/self/fd/3 /proc/self/fd/4 /proc/self/fd/5 /proc/self/fd/6", NULL
	};
	struct launched launched;
	char path[PATH_MAX + 32], found[256] = "";
	int out, saved = fcntl(1, F_DUPFD_CLOEXEC, 0);

	(void)state;
	for (int fd = 3; fd < 100; fd++)
		fcntl(fd, F_SETFD, FD_CLOEXEC); /* what we got from whoever started us */
	snprintf(path, sizeof(path), "%s/output", folder);
	out = open(path, O_CREAT | O_RDWR | O_TRUNC | O_CLOEXEC, 0600);
	fflush(stdout);
	dup2(out, 1);
	run_to_end(&launched, command);
	dup2(saved, 1);
	close(saved);
	assert_true(pread(out, found, sizeof(found) - 1, 0) >= 0);
	close(out);
	unlink(path);
	assert_string_equal(found, "");
	assert_int_equal(launched.exit_status, 1); /* it found nothing */
}

/* As sudo would: root, with the invoking user's numbers in the environment. */
static void a_command_runs_as_the_user_behind_sudo(void **state)
{
	char *const command[] = { (char *)"sh", (char *)"-c",
				  (char *)"[ \"$(id -u)\" = 65534 ] && [ \"$(id -g)\" = 65534 ] && [ \"$(id "
					  "-G)\" = 65534 ] && [ \"$USER\" = nobody ] && "
					  "[ \"$LOGNAME\" = nobody ] && [ \"$HOME\" != \"$OLD_HOME\" ] && [ "
					  "-z \"$SUDO_UID$SUDO_USER\" ] && "
					  "[ \"$KEPT\" = yes ]",
				  NULL };
	struct launched launched;
	struct target *target;
	int err;

	(void)state;
	if (!can_become_nobody())
		skip_because("not root, or there is no other user in this user namespace");
	setenv("OLD_HOME", getenv("HOME") ? getenv("HOME") : "", 1);
	setenv("KEPT", "yes", 1);
	setenv("SUDO_UID", "65534", 1);
	setenv("SUDO_GID", "65534", 1);
	setenv("SUDO_USER", "nobody", 1);
	err = run_to_end(&launched, command);
	setenv("SUDO_UID", "12x", 1); /* what is no number is not taken for root's */
	assert_int_equal(target_launch(&target, command, &launched.error), -EINVAL);
	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
	unsetenv("SUDO_USER");
	assert_int_equal(err, 0);
	assert_int_equal(launched.exit_status, 0);
	assert_non_null(strstr(launched.error.text, "SUDO_UID"));
}

static int set_up(void **state)
{
	const char *tmpdir = getenv("TEST_TMPDIR");

	(void)state;
	setenv("PATH", "/usr/bin:/bin", 1);
	snprintf(folder, sizeof(folder), "%s/target.XXXXXX", tmpdir ? tmpdir : "/tmp");
	return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
	char command[PATH_MAX + 16];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_running_process_is_opened_and_described),
		cmocka_unit_test(a_process_of_another_pid_namespace_has_two_pids),
		cmocka_unit_test(what_is_no_process_is_refused_with_a_sentence),
		cmocka_unit_test(a_kernel_thread_is_refused),
		cmocka_unit_test(a_thread_is_refused_and_its_process_named),
		cmocka_unit_test(an_exec_changes_the_image_and_a_fork_does_not),
		cmocka_unit_test(an_exit_status_is_passed_on),
		cmocka_unit_test(a_command_that_cannot_run_is_explained),
		cmocka_unit_test(a_command_waits_until_it_is_told),
		cmocka_unit_test(a_command_that_was_never_told_to_go_does_not_run),
		cmocka_unit_test(a_held_command_outlives_the_recorder),
		cmocka_unit_test(a_signal_before_the_exec_ends_it),
		cmocka_unit_test(signals_are_reset),
		cmocka_unit_test(no_file_of_ours_leaks_into_the_command),
		cmocka_unit_test(a_command_runs_as_the_user_behind_sudo),
	};

	return cmocka_run_group_tests_name("attach_target", tests, set_up, tear_down);
}
