/* SPDX-License-Identifier: BSD-2-Clause */
/* Whose rights open files: root's, or those of the user who called sudo. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/caller.h"
#include "unit/skip.h"

#define CLOSED "/etc/shadow" /* to all but root */

static struct caller *sudo_caller(const char *uid, const char *gid, int expected)
{
	struct caller *caller = NULL;

	setenv("SUDO_UID", uid, 1);
	setenv("SUDO_GID", gid, 1);
	assert_int_equal(caller_new(&caller), expected);
	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
	return caller;
}

static int open_closed(void *context)
{
	int fd = open(CLOSED, O_RDONLY | O_CLOEXEC);

	(void)context;
	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

static void *open_in_thread(void *result)
{
	*(int *)result = open_closed(NULL);
	return NULL;
}

static int start_thread(void *context)
{
	pthread_t thread;
	int result = 1;

	(void)context;
	assert_int_equal(pthread_create(&thread, NULL, open_in_thread, &result), 0);
	pthread_join(thread, NULL);
	return result;
}

static void without_sudo_they_are_our_own(void **state)
{
	struct caller *caller;

	(void)state;
	unsetenv("SUDO_UID");
	assert_int_equal(caller_new(&caller), 0);
	assert_false(caller_is_other(caller));
	assert_false(caller_is_other(NULL));
	assert_int_equal(caller_do(NULL, open_closed, NULL), open_closed(NULL));
	assert_int_equal(caller_do(caller, open_closed, NULL), open_closed(NULL));
	caller_free(caller);
	if (geteuid() != 0)
		return;
	caller = sudo_caller("0", "0", 0); /* root called sudo */
	assert_false(caller_is_other(caller));
	caller_free(caller);
}

static void under_sudo_they_are_the_users(void **state)
{
	struct caller *caller;

	(void)state;
	if (geteuid() != 0 || open_closed(NULL))
		skip_because("not root, or no " CLOSED);
	caller = sudo_caller("65534", "65534", 0);
	assert_true(caller_is_other(caller));
	assert_int_equal(caller_do(caller, open_closed, NULL), -EACCES);
	assert_int_equal(caller_do(caller, start_thread, NULL), -EACCES);
	assert_int_equal(open_closed(NULL), 0); /* ours are as they were */
	assert_non_null(strstr(caller_explain(caller, -EACCES), "user who called sudo"));
	assert_string_equal(caller_explain(caller, -ENOENT), strerror(ENOENT));
	caller_free(caller);
}

static int read_groups(void *context)
{
	gid_t groups[16];

	(void)context;
	return getgroups(16, groups) == 1 && groups[0] == 65533 ? 0 : -EINVAL;
}

static void of_groups_they_have_the_users(void **state)
{
	const gid_t ours[] = { 4, 6 };
	struct caller *caller;
	gid_t groups[16];

	(void)state;
	if (geteuid() != 0 || setgroups(2, ours))
		skip_because("not root");
	caller = sudo_caller("65533", "65533", 0); /* whom the machine does not know */
	assert_int_equal(caller_do(caller, read_groups, NULL), 0);
	assert_int_equal(getgroups(16, groups), 2);
	caller_free(caller);
}

static void a_child_has_its_own_thread(void **state)
{
	struct caller *caller;
	pid_t child;
	int status;

	(void)state;
#if defined(__SANITIZE_THREAD__)
	skip_because("ThreadSanitizer starts no thread in the child of a process that has several");
#endif
	if (geteuid() != 0 || open_closed(NULL))
		skip_because("not root, or no " CLOSED);
	caller = sudo_caller("65534", "65534", 0);
	assert_int_equal(caller_do(caller, open_closed, NULL), -EACCES);
	child = fork();
	if (child == 0) {
		status = caller_do(caller, open_closed, NULL) == -EACCES &&
					 caller_do(caller, open_closed, NULL) == -EACCES
				 ? 0
				 : 1;
		caller_free(caller);
		_exit(status);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(caller_do(caller, open_closed, NULL), -EACCES);
	caller_free(caller);
}

static int count_capabilities(void *context)
{
	char line[256];
	unsigned long long set = 0;
	FILE *file = fopen("/proc/thread-self/status", "re");

	(void)context;
	while (file && fgets(line, sizeof(line), file))
		sscanf(line, "CapPrm: %llx", &set);
	if (file)
		fclose(file);
	return file && !set ? 0 : -EINVAL;
}

static void no_capability_stays(void **state)
{
	struct caller *caller;

	(void)state;
	if (geteuid() != 0 || !can_become_nobody())
		skip_because("not root, or there is no other user in this user namespace");
	caller = sudo_caller("65534", "65534", 0);
	assert_int_equal(caller_do(caller, count_capabilities, NULL), 0);
	caller_free(caller);
}

static void ids_that_are_no_numbers_are_refused(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip_because("not root");
	assert_null(sudo_caller("65534x", "65534", -EINVAL));
	assert_null(sudo_caller("", "65534", -EINVAL));
	assert_null(sudo_caller("65534", "-5", -EINVAL));
	assert_null(sudo_caller("4294967295", "1", -EINVAL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_sudo_they_are_our_own),
		cmocka_unit_test(under_sudo_they_are_the_users),
		cmocka_unit_test(of_groups_they_have_the_users),
		cmocka_unit_test(a_child_has_its_own_thread),
		cmocka_unit_test(no_capability_stays),
		cmocka_unit_test(ids_that_are_no_numbers_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
