/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The files of a log one after the other: each readable alone, by size, by age, below a cap, after a restart
 * and after a crash.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <sys/wait.h>

#include "log/write/log_writer.h"
#include "unit/log_contents.h"

#define SECOND 1000000000u

/* ---- files one after the other ---- */

static void each_file_stands_alone(void **state)
{
	struct log_writer_result result = { 0 };
	/* Each batch makes a file of more than one byte; nothing is compressed, nothing is queued. */
	struct log_writer_options options = { .keeps_older = true,
					      .limits.rotate_bytes = 1,
					      .result = &result };
	static const char *const names[] = { "app.000001.txtrace", "app.000002.txtrace", "app.000003.txtrace",
					     "app.txtrace" };
	struct series_folder folder;
	struct log_writer *writer;
	uint64_t sequence = 0, bytes = 0;

	(void)state;
	make_folder(&folder);
	writer = open_writer(&folder, &options);
	assert_false(log_writer_is_due(writer));
	for (uint64_t id = 1; id <= 40; id++) {
		assert_int_equal(add_span(writer, id), 0);
		if (id % 10 == 0) {
			assert_int_equal(log_writer_flush(writer), 0);
			if (id < 40)
				turn_if_due(writer);
		}
	}
	assert_string_equal(list_folder(&folder),
			    "app.000001.txtrace app.000002.txtrace app.000003.txtrace app.txtrace.partial");
	assert_int_equal(log_writer_close(writer), 0);
	assert_string_equal(list_folder(&folder),
			    "app.000001.txtrace app.000002.txtrace app.000003.txtrace app.txtrace");
	for (uint32_t i = 0; i < 4; i++) {
		struct contents contents = contents_of(&folder, names[i]);
		struct stat status;

		assert_int_equal(contents.info.part, i);
		assert_int_equal(contents.info.first_sequence, sequence);
		assert_memory_equal(contents.info.capture_id, sample_info.capture_id, 16);
		assert_true(contents.is_complete && !contents.has_gaps &&
			    !contents.cnt[TXTRACE_RECORD_DAMAGE]);
		assert_int_equal(contents.first_id, i * 10 + 1);
		assert_int_equal(contents.last_id, i * 10 + 10);
		assert_int_equal(contents.cnt[TXTRACE_RECORD_THREAD], i ? 2 : 0);
		assert_int_equal(contents.first_kind, i ? TXTRACE_RECORD_THREAD : TXTRACE_RECORD_SPAN);
		assert_int_equal(contents.cnt[TXTRACE_RECORD_CONTINUED], i < 3);
		assert_int_equal(contents.last_kind, i < 3 ? TXTRACE_RECORD_CONTINUED : TXTRACE_RECORD_SPAN);
		assert_int_equal(contents.next_part, i < 3 ? i + 1 : 0);
		sequence += i < 3 ? 3 : 0; /* the spans, the end, the index */
		assert_int_equal(stat(in_folder(&folder, names[i]), &status), 0);
		assert_int_equal(status.st_mode & 07777, 0600);
		bytes += (uint64_t)status.st_size;
	}
	assert_int_equal(result.file_cnt, 4);
	assert_int_equal(result.written_bytes, bytes);
	assert_int_equal(result.names.first_number, 1);
	assert_int_equal(result.names.last_number, 3);
	assert_true(result.names.is_complete && !result.names.is_partial);
	remove_folder(&folder);
}

static void a_restart_goes_on_and_the_oldest_go(void **state)
{
	struct log_writer_options options = { .keeps_older = true,
					      .limits.rotate_bytes = 1,
					      .limits.keep_cnt = 3 };
	struct series_folder folder;

	(void)state;
	make_folder(&folder);
	for (uint64_t run = 0; run < 3; run++) {
		struct log_writer *writer = open_writer(&folder, &options);

		for (uint64_t id = run * 10 + 1; id <= run * 10 + 2; id++) {
			turn_if_due(writer);
			assert_int_equal(add_span(writer, id), 0);
			assert_int_equal(log_writer_flush(writer), 0);
		}
		assert_int_equal(log_writer_close(writer), 0);
	}
	assert_string_equal(list_folder(&folder), "app.000004.txtrace app.000005.txtrace app.txtrace");
	assert_int_equal(contents_of(&folder, "app.000004.txtrace").last_id, 12); /* the second run's last */
	assert_int_equal(contents_of(&folder, "app.000005.txtrace").first_id, 21);
	assert_int_equal(contents_of(&folder, "app.txtrace").first_id, 22);
	remove_folder(&folder);
}

/*
 * What is there and what is being written, together, at every moment; and a start that writes nothing costs
 * nothing.
 */
static void all_files_stay_below_the_cap(void **state)
{
	const uint64_t cap = 20000;
	struct log_writer_options options = { .batch_bytes = 500,
					      .keeps_older = true,
					      .limits.keep_bytes = cap };
	struct series_folder folder;
	unsigned int file_max = 0;

	(void)state;
	make_folder(&folder);
	for (unsigned int run = 0; run < 3; run++) {
		struct log_writer *writer = open_writer(&folder, &options);
		char before[sizeof(folder.listing)];

		strcpy(before, list_folder(&folder));
		for (uint64_t id = 1; id <= 5000; id++) {
			struct dirent **entries;
			uint64_t bytes = 0;
			unsigned int file_cnt = 0;

			if (id == 2) /* nothing is written yet */
				assert_string_equal(list_folder(&folder), before);
			turn_if_due(writer);
			assert_int_equal(add_span(writer, id * 12345), 0);
			if (id % 50)
				continue;
			for (int i = scandir(folder.path, &entries, NULL, NULL); i > 0; free(entries[i])) {
				struct stat status;

				assert_int_equal(stat(in_folder(&folder, entries[--i]->d_name), &status), 0);
				bytes += S_ISREG(status.st_mode) ? (uint64_t)status.st_size : 0;
				file_cnt += S_ISREG(status.st_mode);
				if (!i) {
					free(entries[i]);
					break;
				}
			}
			free(entries);
			assert_true(bytes <= cap + 1000); /* an index and a batch may stand above it */
			file_max = file_cnt > file_max ? file_cnt : file_max;
		}
		assert_int_equal(log_writer_close(writer), 0);
	}
	assert_true(file_max >= 3);
	remove_folder(&folder);
}

static void a_file_ends_when_it_is_old(void **state)
{
	struct log_writer_options options = { .keeps_older = true, .limits.rotate_ns = 60ull * SECOND };
	uint64_t start_ns = sample_info.start_monotonic_ns;
	struct series_folder folder;
	struct log_writer *writer;

	(void)state;
	make_folder(&folder);
	writer = open_writer(&folder, &options);
	log_writer_set_anchor(writer, start_ns + 3600ull * SECOND, 0);
	assert_int_equal(log_writer_flush(writer), 0);
	assert_false(log_writer_is_due(writer)); /* old, and empty */
	log_writer_set_anchor(writer, start_ns + 59ull * SECOND, 0);
	assert_int_equal(add_span(writer, 1), 0);
	assert_int_equal(log_writer_flush(writer), 0);
	assert_false(log_writer_is_due(writer));
	log_writer_set_anchor(writer, start_ns + 60ull * SECOND, 0);
	assert_int_equal(log_writer_flush(writer), 0);
	assert_true(log_writer_is_due(writer)); /* though nothing new came */
	turn_if_due(writer);
	assert_string_equal(list_folder(&folder), "app.000001.txtrace app.txtrace.partial");
	log_writer_set_anchor(writer, start_ns + 300ull * SECOND, 0);
	assert_int_equal(log_writer_flush(writer), 0);
	assert_false(log_writer_is_due(writer)); /* it holds nothing but definitions */
	assert_int_equal(add_span(writer, 2), 0);
	assert_int_equal(log_writer_flush(writer), 0);
	turn_if_due(writer);
	assert_int_equal(log_writer_close(writer), 0);
	assert_string_equal(list_folder(&folder), "app.000001.txtrace app.000002.txtrace app.txtrace");
	remove_folder(&folder);
}

static void a_crash_behind_a_rotation_leaves_both(void **state)
{
	struct log_writer_options options = {
		.keeps_older = true, .limits.rotate_bytes = 1, .queue_bytes = QUEUE_BYTES, .is_sync = true
	};
	struct series_folder folder;
	int status;
	pid_t child;

	(void)state;
	make_folder(&folder);
	child = fork();
	if (!child) {
		struct log_writer *writer = open_writer(&folder, &options);

		for (uint64_t id = 1; id <= 2; id++) {
			add_span(writer, id);
			log_writer_flush(writer);
			turn_if_due(writer);
		}
		add_span(writer, 3);
		log_writer_flush(writer);
		add_span(writer, 4);
		raise(SIGKILL);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	assert_string_equal(list_folder(&folder),
			    "app.000001.txtrace app.000002.txtrace app.txtrace.partial");
	assert_true(contents_of(&folder, "app.000002.txtrace").is_complete);
	assert_int_equal(contents_of(&folder, "app.txtrace.partial").last_id, 3);
	assert_false(contents_of(&folder, "app.txtrace.partial").is_complete);
	remove_folder(&folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_file_stands_alone),
		cmocka_unit_test(a_restart_goes_on_and_the_oldest_go),
		cmocka_unit_test(all_files_stay_below_the_cap),
		cmocka_unit_test(a_file_ends_when_it_is_old),
		cmocka_unit_test(a_crash_behind_a_rotation_leaves_both),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
