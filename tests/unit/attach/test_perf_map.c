/* SPDX-License-Identifier: BSD-2-Clause */
/* Which file is read as the map of a JIT compiler: the process may put anything in its place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/process/perf_map.h"
#include "unit/skip.h"

#define NOBODY 65534
#define LINE "1000 100 a_function\n"

/* What the process makes of the map's place, before it is looked at. False: it cannot. */
typedef bool (*arrangement)(const char *map, const char *folder);

static bool put(const char *path, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	bool is_written = fd >= 0 && write(fd, LINE, strlen(LINE)) == (ssize_t)strlen(LINE) &&
			  fchmod(fd, mode) == 0;

	if (fd >= 0)
		close(fd);
	return is_written;
}

static bool write_to(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool is_written = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return is_written;
}

static bool become_nobody(void)
{
	return setresgid(NOBODY, NOBODY, NOBODY) == 0 && setresuid(NOBODY, NOBODY, NOBODY) == 0 &&
	       prctl(PR_SET_DUMPABLE, 1) == 0;
}

/* Root in namespaces of its own, where it may mount and change its root. */
static bool enter_namespaces(void)
{
	return become_nobody() && unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 &&
	       write_to("/proc/self/setgroups", "deny") && write_to("/proc/self/uid_map", "0 65534 1") &&
	       write_to("/proc/self/gid_map", "0 65534 1");
}

static bool its_own(const char *map, const char *folder)
{
	(void)folder;
	return become_nobody() && put(map, 0600);
}

static bool of_somebody_else(const char *map, const char *folder)
{
	(void)folder;
	return put(map, 0644) && chown(map, 1, 1) == 0 && become_nobody();
}

static bool of_root_for_everybody(const char *map, const char *folder)
{
	(void)folder;
	return put(map, 0644) && become_nobody();
}

/* The attack: it may not read it, but name it. */
static bool of_root_alone_by_a_mount(const char *map, const char *folder)
{
	char secret[PATH_MAX];

	snprintf(secret, sizeof(secret), "%s/secret", folder);
	return put(secret, 0600) && enter_namespaces() && put(map, 0600) &&
	       mount(secret, map, NULL, MS_BIND, NULL) == 0 && open(map, O_RDONLY | O_CLOEXEC) < 0;
}

static bool by_a_link(const char *map, const char *folder)
{
	char target[PATH_MAX];

	snprintf(target, sizeof(target), "%s/target", folder);
	return become_nobody() && put(target, 0600) && symlink(target, map) == 0;
}

/*
 * In a root of its own, whose /tmp leads to what is in the folder for us, and
 * nowhere for itself.
 */
static bool by_a_link_on_the_way(const char *map, const char *folder)
{
	char root[PATH_MAX], link[PATH_MAX], target[PATH_MAX];

	snprintf(root, sizeof(root), "%s/root", folder);
	snprintf(link, sizeof(link), "%s/root/tmp", folder);
	snprintf(target, sizeof(target), "%s/%s", folder, strrchr(map, '/') + 1);
	return become_nobody() && mkdir(root, 0755) == 0 && symlink(folder, link) == 0 && put(target, 0600) &&
	       unshare(CLONE_NEWUSER) == 0 && chroot(root) == 0;
}

static void remove_folder(const char *folder)
{
	char command[PATH_MAX + 16];

	snprintf(command, sizeof(command), "rm -rf %s", folder);
	assert_int_equal(system(command), 0);
}

/* expected: what perf_map_read() gives, of a process that has arranged its place so. */
static void expect(arrangement arrange, int expected)
{
	char folder[] = "/tmp/txtrace-perf-map.XXXXXX", map_path[64], answer = 0;
	struct perf_map map;
	int fds[2], err;
	pid_t child;

	if (geteuid() != 0 || !can_become_nobody())
		skip_because("not root, or there is no other user in this user namespace");
	assert_non_null(mkdtemp(folder));
	assert_int_equal(chown(folder, NOBODY, NOBODY), 0);
	assert_int_equal(chmod(folder, 0755), 0);
	assert_int_equal(pipe(fds), 0);
	child = fork();
	if (child == 0) {
		snprintf(map_path, sizeof(map_path), "/tmp/perf-%d.map", getpid());
		answer = arrange(map_path, folder) ? 'y' : 'n';
		if (write(fds[1], &answer, 1) == 1)
			pause();
		_exit(0);
	}
	assert_int_equal(read(fds[0], &answer, 1), 1);
	err = answer == 'y' ? perf_map_read(&map, child) : 0;
	if (answer == 'y' && !err) {
		assert_int_equal(map.cnt, 1);
		perf_map_release(&map);
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	close(fds[0]);
	close(fds[1]);
	snprintf(map_path, sizeof(map_path), "/tmp/perf-%d.map", child);
	unlink(map_path);
	remove_folder(folder);
	if (answer != 'y')
		skip_because("no user namespaces for everybody");
	assert_int_equal(err, expected);
}

static void its_own_file_is_read(void **state)
{
	(void)state;
	expect(its_own, 0);
}

static void roots_file_that_all_may_read_is_read(void **state)
{
	(void)state;
	expect(of_root_for_everybody, 0);
}

static void another_users_is_not(void **state)
{
	(void)state;
	expect(of_somebody_else, -EPERM);
}

static void what_it_may_not_read_is_not_read_for_it(void **state)
{
	(void)state;
	expect(of_root_alone_by_a_mount, -EPERM);
}

static void no_link_is_followed(void **state)
{
	(void)state;
	expect(by_a_link, -EPERM);
}

static void no_link_leads_out_of_its_root(void **state)
{
	(void)state;
	expect(by_a_link_on_the_way, -ELOOP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(its_own_file_is_read),
		cmocka_unit_test(roots_file_that_all_may_read_is_read),
		cmocka_unit_test(another_users_is_not),
		cmocka_unit_test(what_it_may_not_read_is_not_read_for_it),
		cmocka_unit_test(no_link_is_followed),
		cmocka_unit_test(no_link_leads_out_of_its_root),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
