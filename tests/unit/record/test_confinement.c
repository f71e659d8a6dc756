/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a confined process may do, and what becomes of it if it wants more. Each in a child of its own, for
 * there is no way back.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <pthread.h>
#include <seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/sandbox/confinement.h"
#include "unit/skip.h"

static struct confinement_tally tally;

static void on_refused(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	confinement_refuse(&tally, info, context);
}

static const struct confinement_handler handler = { on_refused, &tally };

/* A story that a child tells by its exit status: 0, or the line at which it went otherwise. */
#define EXPECT(condition)              \
	do {                           \
		if (!(condition))      \
			_exit(__LINE__ % 100 + 1); \
	} while (0)

static int status_of(void (*story)(void))
{
	pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (child == 0) {
		close(STDERR_FILENO);
		story();
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void begin(int command_fd)
{
	const struct confinement_options options = { .handler = &handler,
						     .has_uprobe_multi = true,
						     .command_fd = command_fd };

	EXPECT(confinement_begin(&options) == 0);
}

static bool is_refused(long result)
{
	return result == -1 && errno == EPERM;
}

static void writes_files(void)
{
	char path[] = "/tmp/txtrace-confined.XXXXXX";
	int fd = mkstemp(path);

	EXPECT(fd >= 0);
	begin(-1);
	EXPECT(write(fd, "record", 6) == 6 && fdatasync(fd) == 0);
	EXPECT(unlink(path) == 0 && close(fd) == 0);
	EXPECT(open("/proc/self/maps", O_RDONLY | O_CLOEXEC) >= 0);
	EXPECT(malloc(64 << 20) != NULL);
	EXPECT(tally.cnt == 0);
}

static void is_refused_what_it_does_not_take(void)
{
	begin(-1);
	EXPECT(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == -1 && tally.cnt == 1); /* not even that */
	EXPECT(is_refused(socket(AF_INET, SOCK_STREAM, 0)) && tally.last_nr == SYS_socket);
	EXPECT(is_refused(execl("/bin/true", "true", NULL)) && tally.last_nr == SYS_execve);
	EXPECT(is_refused(ptrace(PTRACE_ATTACH, getppid(), 0, 0)));
	EXPECT(is_refused(kill(getppid(), 0)));
	EXPECT(is_refused(fork()));
	EXPECT(is_refused(syscall(SYS_bpf, BPF_PROG_LOAD, NULL, 0)));
	EXPECT(is_refused(syscall(SYS_bpf, BPF_MAP_CREATE, NULL, 0)));
	EXPECT(is_refused(syscall(SYS_pidfd_send_signal, 0, SIGTERM, NULL, 0)));
	EXPECT(mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
	EXPECT(tally.cnt == 10);
}

static void *call_socket(void *result)
{
	*(bool *)result = is_refused(socket(AF_INET, SOCK_STREAM, 0));
	return NULL;
}

static int pipes[2];

static void *wait_and_call_socket(void *result)
{
	char go;

	return read(pipes[0], &go, 1) == 1 ? call_socket(result) : NULL;
}

/* Threads that were there before, and those to come. */
static void holds_all_threads(void)
{
	bool before = false, behind = false;
	pthread_t old, new;

	EXPECT(pipe(pipes) == 0 && pthread_create(&old, NULL, wait_and_call_socket, &before) == 0);
	begin(-1);
	EXPECT(pthread_create(&new, NULL, call_socket, &behind) == 0);
	EXPECT(write(pipes[1], "", 1) == 1);
	EXPECT(pthread_join(old, NULL) == 0 && pthread_join(new, NULL) == 0);
	EXPECT(before && behind && tally.cnt == 2);
}

/* The command that was launched, and nobody else. */
static void sends_its_command_signals(void)
{
	int command_fd = open("/dev/null", O_RDONLY | O_CLOEXEC),
	    other_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	begin(command_fd);
	/* the kernel was asked */
	EXPECT(syscall(SYS_pidfd_send_signal, command_fd, SIGTERM, NULL, 0) == -1 && errno == EBADF &&
	       tally.cnt == 0);
	EXPECT(is_refused(syscall(SYS_pidfd_send_signal, other_fd, SIGTERM, NULL, 0)) && tally.cnt == 1);
}

static void aborts_when_told(void)
{
	setenv("TXTRACE_CONFINEMENT", "abort", 1);
	begin(-1);
	socket(AF_INET, SOCK_STREAM, 0);
}

static void calibrates_and_no_more(void)
{
	EXPECT(confinement_begin_trial() == 0);
	EXPECT(write(-1, "", 1) == -1 && errno == EBADF);
	EXPECT(is_refused(open("/proc/self/maps", O_RDONLY | O_CLOEXEC)));
	EXPECT(is_refused(syscall(SYS_bpf, BPF_MAP_CREATE, NULL, 0)));
	EXPECT(is_refused(syscall(SYS_getuid)));
}

static void recording_goes_on_under_the_filter(void **state)
{
	(void)state;
	assert_int_equal(status_of(writes_files), 0);
	assert_int_equal(status_of(sends_its_command_signals), 0);
}

static void other_calls_fail_and_are_counted(void **state)
{
	(void)state;
	assert_int_equal(status_of(is_refused_what_it_does_not_take), 0);
}

static void every_thread_is_confined(void **state)
{
	(void)state;
	assert_int_equal(status_of(holds_all_threads), 0);
}

static void tests_can_have_it_end(void **state)
{
	(void)state;
	assert_int_equal(status_of(aborts_when_told), 128 + SIGSYS);
}

static void the_process_that_calibrates_is_confined_more(void **state)
{
	(void)state;
#if defined(__SANITIZE_THREAD__)
	skip_because("in each child ThreadSanitizer starts a thread, which needs more than calibrating");
#endif
	assert_int_equal(status_of(calibrates_and_no_more), 0);
}

static void calls_have_names(void **state)
{
	char *name = confinement_call_name(SYS_socket);

	(void)state;
	assert_string_equal(name, "socket");
	free(name);
	assert_null(confinement_call_name(99999));
}

/*
 * Sanitizers have calls of their own in children that fork and have threads; where there is no seccomp, there
 * is nothing to hold.
 */
static int need_seccomp(void **state)
{
	(void)state;
	unsetenv("TXTRACE_CONFINEMENT");
	return seccomp_api_get() >= 2 ? 0 : -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(recording_goes_on_under_the_filter),
		cmocka_unit_test(other_calls_fail_and_are_counted),
		cmocka_unit_test(every_thread_is_confined),
		cmocka_unit_test(tests_can_have_it_end),
		cmocka_unit_test(the_process_that_calibrates_is_confined_more),
		cmocka_unit_test(calls_have_names),
	};

	return cmocka_run_group_tests(tests, need_seccomp, NULL);
}
