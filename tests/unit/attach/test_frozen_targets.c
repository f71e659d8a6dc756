/* SPDX-License-Identifier: BSD-2-Clause */
/* When a process that lets reads of its memory wait is asked no more. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/process/frozen_targets.h"

#define MS UINT64_C(1000000)
#define NOW_NS (UINT64_C(5000) * 1000 * MS)
#define CHILD_CNT 10

static pid_t children[CHILD_CNT];

static int start_children(void **state)
{
	(void)state;
	for (int i = 0; i < CHILD_CNT; i++) {
		children[i] = fork();
		if (children[i] == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (;;)
				pause();
		}
	}
	return 0;
}

static int end_children(void **state)
{
	(void)state;
	for (int i = 0; i < CHILD_CNT; i++) {
		kill(children[i], SIGKILL);
		waitpid(children[i], NULL, 0);
	}
	return 0;
}

static void a_second_in_all_is_too_long(void **state)
{
	struct frozen_targets set = { 0 };
	const struct frozen_target *frozen;

	(void)state;
	assert_false(frozen_targets_refuse(&set, children[0], NOW_NS));
	assert_null(frozen_targets_wait(&set, children[0], 600 * MS, NOW_NS));
	assert_int_equal(frozen_targets_left_ns(&set, children[0], NOW_NS), 400 * MS);
	assert_false(frozen_targets_refuse(&set, children[0], NOW_NS));
	frozen = frozen_targets_wait(&set, children[0], 400 * MS, NOW_NS);
	assert_non_null(frozen);
	assert_int_equal(frozen->pid, children[0]);
	assert_int_equal(frozen->uid, getuid());
	assert_string_equal(frozen->comm, "test_frozen_tar");
	assert_true(frozen_targets_refuse(&set, children[0], NOW_NS + FROZEN_USER_NS)); /* for good */
	assert_false(frozen_targets_refuse(&set, children[1], NOW_NS));
	frozen_targets_release(&set);
}

/* A sixteenth of the time that goes by is forgiven. */
static void what_was_long_ago_counts_less(void **state)
{
	struct frozen_targets set = { 0 };

	(void)state;
	assert_null(frozen_targets_wait(&set, children[0], 800 * MS, NOW_NS));
	assert_int_equal(frozen_targets_left_ns(&set, children[0], NOW_NS + 1600 * MS), 300 * MS);
	assert_null(frozen_targets_wait(&set, children[0], 299 * MS, NOW_NS + 1600 * MS));
	assert_int_equal(frozen_targets_left_ns(&set, children[0], NOW_NS + 100000 * MS), FROZEN_WAIT_NS);
	frozen_targets_release(&set);
}

static void four_of_a_user_are_enough(void **state)
{
	struct frozen_targets set = { 0 };

	(void)state;
	for (int i = 0; i < FROZEN_OF_USER_MAX; i++) {
		assert_false(frozen_targets_refuse(&set, children[9], NOW_NS));
		assert_non_null(frozen_targets_wait(&set, children[i], FROZEN_WAIT_NS, NOW_NS));
	}
	assert_true(frozen_targets_refuse(&set, children[9], NOW_NS));
	assert_true(frozen_targets_refuse(&set, children[9], NOW_NS + FROZEN_USER_NS - 1));
	assert_false(frozen_targets_refuse(&set, children[9], NOW_NS + FROZEN_USER_NS));
	frozen_targets_release(&set);
}

/* Whoever has many users, too: what each may take is halved with every eight. */
static void many_may_take_less(void **state)
{
	struct frozen_targets set = { 0 };

	(void)state;
	for (int i = 0; i < 8; i++)
		assert_non_null(frozen_targets_wait(&set, children[i], FROZEN_WAIT_NS, NOW_NS));
	assert_int_equal(frozen_targets_left_ns(&set, children[9], NOW_NS), FROZEN_WAIT_NS / 2);
	assert_non_null(frozen_targets_wait(&set, children[8], FROZEN_WAIT_NS / 2, NOW_NS));
	assert_int_equal(frozen_targets_left_ns(&set, children[9], NOW_NS + FROZEN_USER_NS), FROZEN_WAIT_NS);
	frozen_targets_release(&set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_second_in_all_is_too_long),
		cmocka_unit_test(what_was_long_ago_counts_less),
		cmocka_unit_test(four_of_a_user_are_enough),
		cmocka_unit_test(many_may_take_less),
	};

	return cmocka_run_group_tests(tests, start_children, end_children);
}
