/* SPDX-License-Identifier: BSD-2-Clause */
/* The bytes of a log's files never exceed their limit, not even while a batch is written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/inotify.h>
#include <sys/stat.h>

#include "log/file/log_file.h"
#include "unit/series_folder.h"

#define LIMIT_BYTES 1000
#define BATCH_BYTES 100

enum { REMOVED = 1, GREW = 2 };

/* What happened in the folder since it was asked last, in order. */
static int read_changes(int watch, uint8_t *changes, int cnt_max)
{
	_Alignas(struct inotify_event) char buffer[4096];
	ssize_t length = read(watch, buffer, sizeof(buffer));
	int cnt = 0;

	for (char *at = buffer; length > 0 && at < buffer + length && cnt < cnt_max;) {
		const struct inotify_event *event = (const struct inotify_event *)at;

		changes[cnt++] = event->mask & IN_DELETE ? REMOVED : GREW;
		at += sizeof(*event) + event->len;
	}
	return cnt;
}

static void write_batch(struct log_file *file)
{
	static const char head[10] = SERIES_LOG, body[BATCH_BYTES - sizeof(head)];

	assert_int_equal(log_file_write(file, head, sizeof(head), body, sizeof(body)), 0);
}

/* Files of three batches, of a limit of ten batches. */
static void room_is_made_before_it_is_taken(void **state)
{
	const struct log_file_options options = { .keeps_older = true,
						  .limits = { .total_bytes = LIMIT_BYTES } };
	int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC), removed_cnt = 0;
	struct series_folder folder;
	struct log_file *file;
	uint8_t changes[8];

	(void)state;
	make_folder(&folder);
	assert_true(inotify_add_watch(watch, in_folder(&folder, "."), IN_DELETE | IN_MODIFY) >= 0);
	assert_int_equal(log_file_open(&file, in_folder(&folder, "app"), &options), 0);
	for (int i = 0; i < 60; i++) {
		int cnt;

		if (i && i % 3 == 0)
			assert_int_equal(log_file_turn(file), 0);
		write_batch(file);
		cnt = read_changes(watch, changes, 8);
		assert_true(cnt == 1 || cnt == 2);
		assert_int_equal(changes[cnt - 1], GREW);
		removed_cnt += cnt - 1;
	}
	assert_int_equal(removed_cnt, 17); /* of 19, as two and what is growing are no more than the limit */
	assert_int_equal(log_file_complete(file, NULL), 0);
	close(watch);
	remove_folder(&folder);
}

/* As long as nothing was written, and until the first batch is there. */
static void what_does_not_start_removes_nothing(void **state)
{
	struct log_file_options options = { .keeps_older = true };
	struct series_folder folder;
	struct log_file *file;
	struct stat status;

	(void)state;
	make_folder(&folder);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(log_file_open(&file, in_folder(&folder, "app"), &options), 0);
		write_batch(file);
		assert_int_equal(log_file_complete(file, NULL), 0);
	}
	options.limits.total_bytes = 1;
	assert_int_equal(log_file_open(&file, in_folder(&folder, "app"), &options), 0);
	assert_int_equal(log_file_write(file, SERIES_LOG, 8, NULL, 0), 0);
	assert_int_equal(stat(in_folder(&folder, "app.000001"), &status), 0);
	log_file_discard(file, NULL);
	assert_int_equal(stat(in_folder(&folder, "app.000001"), &status), 0);
	assert_int_equal(log_file_open(&file, in_folder(&folder, "app"), &options), 0);
	write_batch(file);
	assert_int_not_equal(stat(in_folder(&folder, "app.000001"), &status), 0);
	assert_int_equal(log_file_complete(file, NULL), 0);
	remove_folder(&folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(room_is_made_before_it_is_taken),
		cmocka_unit_test(what_does_not_start_removes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
