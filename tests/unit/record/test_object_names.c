/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which descriptors are looked up when, and what the log is told: with a reader of names that does as each
 * story says.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "attach/process/fd_name.h"
#include "record/targets/object_names.h"

static unsigned int look_cnt;
static char told[1024];

static int read_name(void *context, pid_t pid, uint32_t fd, uint64_t inode, char *name)
{
	(void)context;
	look_cnt++;
	if (inode == 404)
		return -ESTALE;
	snprintf(name, FD_NAME_SIZE, "%d/%u/%llu", pid, fd, (unsigned long long)inode);
	return 0;
}

static int read_slowly(void *context, pid_t pid, uint32_t fd, uint64_t inode, char *name)
{
	const struct timespec time = { .tv_nsec = 50000000 };

	nanosleep(&time, NULL);
	return read_name(context, pid, fd, inode, name);
}

static int sink(void *context, const struct txtrace_record *record)
{
	size_t length = strlen(told);

	(void)context;
	assert_int_equal(record->kind, TXTRACE_RECORD_OBJECT);
	snprintf(told + length, sizeof(told) - length, "%llu:%u:%u:%llu=%.*s ",
		 (unsigned long long)record->object.time_ns, record->object.pid, record->object.tid,
		 (unsigned long long)record->object.object, (int)record->object.name.length,
		 record->object.name.bytes);
	return 0;
}

static void block(struct object_names *names, uint64_t time_ns, uint32_t tid, uint64_t fd, uint64_t inode)
{
	struct event event = { .time_ns = time_ns, .tid = tid, .tgid = 10, .kind = EVENT_SWITCH };

	event.sched.left_as = WIRE_LEFT_BLOCKED;
	event.sched.reason = BLOCK_DISK;
	event.sched.object = fd;
	event.sched.inode = inode;
	assert_int_equal(object_names_see(names, &event), 0);
}

static int set_up(void **state)
{
	const struct object_names_options options = { .read = read_name, .sink = sink };

	look_cnt = 0;
	told[0] = '\0';
	*state = object_names_new(&options);
	return *state ? 0 : -1;
}

static int tear_down(void **state)
{
	object_names_free(*state);
	return 0;
}

static void a_file_is_looked_up_once(void **state)
{
	block(*state, 100, 11, 3, 7);
	block(*state, 200, 12, 3, 7);
	block(*state, 300, 11, 3, 7);
	assert_int_equal(look_cnt, 1);
	assert_string_equal(told, "100:10:11:3=10/3/7 ");
}

static void a_number_that_is_used_again_is_looked_up_again(void **state)
{
	block(*state, 100, 11, 3, 7);
	block(*state, 200, 11, 3, 8);
	block(*state, 300, 11, 3, 7);
	assert_int_equal(look_cnt, 3);
	assert_string_equal(told, "100:10:11:3=10/3/7 200:10:11:3=10/3/8 300:10:11:3=10/3/7 ");
}

/* It will not come back: whoever waits for that number later waits for another file. */
static void what_is_closed_is_not_told_nor_looked_up_again(void **state)
{
	block(*state, 100, 11, 3, 404);
	block(*state, 200, 11, 3, 404);
	assert_int_equal(look_cnt, 1);
	assert_string_equal(told, "");
	block(*state, 300, 11, 3, 9);
	assert_string_equal(told, "300:10:11:3=10/3/9 ");
}

static void what_is_no_block_on_a_file_is_left_alone(void **state)
{
	struct event event = { .kind = EVENT_SWITCH };

	event.sched.inode = 5;
	event.sched.left_as = WIRE_LEFT_PREEMPTED;
	assert_int_equal(object_names_see(*state, &event), 0);
	block(*state, 100, 11, 0x7f00, 0); /* a futex */
	assert_int_equal(look_cnt, 0);
}

static void all_are_told_again(void **state)
{
	block(*state, 100, 11, 3, 7);
	block(*state, 200, 11, 4, 404);
	told[0] = '\0';
	assert_int_equal(object_names_tell(*state, 900), 0);
	assert_string_equal(told, "900:10:11:3=10/3/7 ");
	assert_int_equal(look_cnt, 2);
}

/*
 * The first look takes more than all that is allowed: until a hundred times as much time has gone by there is
 * no other.
 */
static void looks_take_little_time(void **state)
{
	const struct object_names_options options = { .read = read_slowly, .sink = sink };
	struct object_names *names = object_names_new(&options);

	(void)state;
	assert_non_null(names);
	block(names, 100, 11, 3, 7);
	block(names, 200, 11, 4, 8);
	block(names, 300, 11, 5, 9);
	assert_int_equal(look_cnt, 1);
	assert_string_equal(told, "100:10:11:3=10/3/7 ");
	object_names_free(names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_file_is_looked_up_once, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_number_that_is_used_again_is_looked_up_again, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(what_is_closed_is_not_told_nor_looked_up_again, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(what_is_no_block_on_a_file_is_left_alone, set_up, tear_down),
		cmocka_unit_test_setup_teardown(all_are_told_again, set_up, tear_down),
		cmocka_unit_test_setup_teardown(looks_take_little_time, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
