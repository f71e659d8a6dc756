/* SPDX-License-Identifier: BSD-2-Clause */
/* Whose code is at an address: of how many processes that is known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "attach/code/code_map.h"

#define CHILD_TGID 10000000u /* above all pids */

static enum code_place_kind kind_in(struct code_map *map, uint32_t tgid)
{
	const struct code_moment moment = { .tgid = tgid, .event_ns = 1, .now_ns = 1 };

	return code_map_find(map, &moment, (uint64_t)(uintptr_t)&kind_in, false).kind;
}

/* Children begin with what their parent has mapped, as of this process. */
static void who_is_asked_for_is_known(void **state)
{
	struct code_map *map = code_map_new();
	uint32_t self = (uint32_t)getpid();

	(void)state;
	assert_non_null(map);
	assert_int_equal(kind_in(map, self), CODE_UNKNOWN);
	assert_int_equal(code_map_look(map, self, 1), 0);
	assert_int_equal(kind_in(map, self), CODE_FILE);
	for (uint32_t i = 0; i < 2 * CODE_MAP_PROCESS_MAX; i++) {
		assert_int_equal(code_map_fork(map, self, CHILD_TGID + i), 0);
		assert_int_equal(kind_in(map, CHILD_TGID), CODE_FILE);
		assert_int_equal(kind_in(map, CHILD_TGID + i), CODE_FILE);
	}
	/* Two have been asked for again and again; of the others there are as many as have room. */
	assert_int_equal(kind_in(map, self), CODE_FILE);
	assert_int_equal(kind_in(map, CHILD_TGID + CODE_MAP_PROCESS_MAX + 1), CODE_UNKNOWN);
	assert_int_equal(kind_in(map, CHILD_TGID + CODE_MAP_PROCESS_MAX + 2), CODE_FILE);
	code_map_free(map);
}

/* What was mapped first is known; that there is no room for the rest is told. */
static void so_many_files_are_known(void **state)
{
	struct code_moment moment = { .tgid = (uint32_t)getpid(), .event_ns = 1, .now_ns = 1 };
	struct code_map *map = code_map_new();
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *code[CODE_MAP_FILE_MAX], names[CODE_MAP_FILE_MAX][256];
	const char *folder = getenv("TEST_TMPDIR");

	(void)state;
	assert_non_null(map);
	assert_int_equal(code_map_look(map, moment.tgid, 1), 0);
	assert_false(code_map_is_full(map));
	for (size_t i = 0; i < CODE_MAP_FILE_MAX; i++) {
		int fd;

		snprintf(names[i], sizeof(names[i]), "%s/code.XXXXXX", folder ? folder : "/tmp");
		fd = mkstemp(names[i]);
		assert_true(fd >= 0);
		assert_int_equal(ftruncate(fd, (off_t)page), 0);
		code[i] = mmap(NULL, page, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
		assert_true(code[i] != MAP_FAILED);
		close(fd);
	}
	assert_int_equal(code_map_look(map, moment.tgid, 2), 0);
	assert_true(code_map_is_full(map));
	assert_int_equal(kind_in(map, moment.tgid), CODE_FILE);
	for (size_t i = 0; i < CODE_MAP_FILE_MAX; i++) {
		munmap(code[i], page);
		unlink(names[i]);
	}
	code_map_free(map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_is_asked_for_is_known),
		cmocka_unit_test(so_many_files_are_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
