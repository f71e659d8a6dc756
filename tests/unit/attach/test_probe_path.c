/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whatever cookie a path says, it leads to the file; and a program that reads it as bpf/compat.h does gets
 * the cookie.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attach/probes/probe_path.h"
#include "txtrace/foreign.h"

static uint32_t cookie_of(const char *path)
{
	uint32_t cookie = 0;

	for (int i = 0; i < PROBE_PATH_COOKIE_BITS; i++)
		cookie |= (uint32_t)PROBE_PATH_BIT(path[PROBE_PATH_PREFIX_BYTES + 2 * i + 1]) << i;
	return cookie;
}

static void every_cookie_comes_back(void **state)
{
	char path[PROBE_PATH_SIZE];

	(void)state;
	for (uint32_t cookie = 0; cookie < 1 << PROBE_PATH_COOKIE_BITS; cookie++)
		assert_int_equal(cookie_of(probe_path_format(path, 7, cookie)), cookie);
	assert_in_range(strlen(probe_path_format(path, INT_MAX, UINT64_MAX)), 1, PROBE_PATH_SIZE - 1);
	assert_string_equal(strrchr(path, '/'), "/2147483647");
}

static void every_path_leads_to_the_file(void **state)
{
	static const uint32_t cookies[] = { 0, 1, 0x8000, 0x5555, 0xffff };
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct stat wanted, found;
	char path[PROBE_PATH_SIZE];

	(void)state;
	assert_int_equal(fstat(fd, &wanted), 0);
	for (size_t i = 0; i < sizeof(cookies) / sizeof(cookies[0]); i++) {
		assert_int_equal(stat(probe_path_format(path, fd, cookies[i]), &found), 0);
		assert_int_equal(found.st_ino, wanted.st_ino);
		assert_int_equal(found.st_dev, wanted.st_dev);
	}
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_cookie_comes_back),
		cmocka_unit_test(every_path_leads_to_the_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
