/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The writer with a thread: the same files as without; errors of the thread are met; and what is dropped, to
 * the record, when the disk does not keep up. The slow disk is a pipe that nobody reads.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "log/write/log_writer.h"
#include "unit/log_contents.h"

/* ---- the thread ---- */

/* With and without the thread the files are the same. */
static void the_thread_changes_nothing(void **state)
{
	struct series_folder folders[2];
	uint64_t bytes[2];

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct log_writer_result result;
		struct log_writer_options options = { .codec = LOG_CODEC_ZSTD,
						      .batch_bytes = 10000,
						      .queue_bytes = i ? QUEUE_BYTES : 0,
						      .is_sync = true,
						      .keeps_older = true,
						      .limits.rotate_bytes = 3000,
						      .result = &result };
		struct log_writer *writer;
		uint64_t record_cnt;

		make_folder(&folders[i]);
		writer = open_writer(&folders[i], &options);
		for (uint64_t id = 1; id <= 100000; id++) {
			assert_int_equal(add_span(writer, id), 0);
			/* the decision to rotate waits for the bytes: so they have to be there */
			if (id % 5000 == 0) {
				assert_int_equal(log_writer_flush(writer), 0);
				turn_if_due(writer);
			}
		}
		record_cnt = log_writer_records(writer);
		assert_int_equal(log_writer_close(writer), 0);
		assert_int_equal(record_cnt, 100000 + 2 * (result.file_cnt - 1)); /* two definitions each */
		bytes[i] = result.written_bytes;
	}
	assert_int_equal(bytes[0], bytes[1]);
	assert_string_equal(list_folder(&folders[0]), list_folder(&folders[1]));
	assert_non_null(strstr(list_folder(&folders[0]), "app.000002.txtrace"));
	for (int i = 0; i < 2; i++)
		remove_folder(&folders[i]);
}

static void the_index_counts_the_labels(void **state)
{
	struct log_writer_options options = { .batch_bytes = 5000,
					      .queue_bytes = QUEUE_BYTES,
					      .is_sync = true };
	struct series_folder folder;
	struct log_writer *writer;
	static char file[1 << 20];
	FILE *in;
	size_t length;
	/* 500 of each */
	static const uint8_t expected[] = { 0,	  2,	0xf4, 0x03, 3,	 'o', 'd', 'd',
					    0xf4, 0x03, 4,    'e',  'v', 'e', 'n' };

	(void)state;
	make_folder(&folder);
	writer = open_writer(&folder, &options);
	for (uint64_t id = 1; id <= 1000; id++)
		assert_int_equal(add_span(writer, id), 0);
	assert_int_equal(log_writer_close(writer), 0);
	in = fopen(in_folder(&folder, "app.txtrace"), "r");
	length = fread(file, 1, sizeof(file), in);
	fclose(in);
	assert_true(length > sizeof(expected) + 24);
	/* the end of the index, before the footer */
	assert_memory_equal(file + length - 24 - sizeof(expected), expected, sizeof(expected));
	remove_folder(&folder);
}

/* Adds and flushes until the writer says what the thread has met. */
static int add_until_error(struct log_writer *writer)
{
	struct sample_world world = new_world(3);
	struct txtrace_record record;
	int err = 0;

	for (unsigned int i = 0; i < 10000000 && !err; i++) {
		next_record(&world, &record);
		err = log_writer_add(writer, &record);
	}
	return err;
}

/* In a child, whose limits are its own. */
static int fill_up(struct series_folder *folder)
{
	struct log_writer_result result;
	struct log_writer_options options = {
		.codec = LOG_CODEC_ZSTD, .batch_bytes = 2000, .queue_bytes = QUEUE_BYTES, .result = &result
	};
	struct rlimit limit = { 100000, 100000 };
	struct log_writer *writer = open_writer(folder, &options);

	setrlimit(RLIMIT_FSIZE, &limit); /* SIGXFSZ would end us: the thread has it blocked */
	if (add_until_error(writer) != -EFBIG || log_writer_flush(writer) != -EFBIG ||
	    log_writer_error(writer) != -EFBIG)
		return 1;
	if (log_writer_turn(writer) != -EFBIG || log_writer_close(writer) != -EFBIG)
		return 2;
	return result.names.is_partial && !result.names.is_complete ? 0 : 3;
}

static void an_error_of_the_thread_is_met(void **state)
{
	struct series_folder folder;
	struct contents contents;
	int status;
	pid_t child;

	(void)state;
	make_folder(&folder);
	child = fork();
	if (!child)
		_exit(fill_up(&folder));
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	contents = contents_of(&folder, "app.txtrace.partial");
	assert_true(contents.cnt[TXTRACE_RECORD_SPAN] > 0 && !contents.cnt[TXTRACE_RECORD_DAMAGE]);
	remove_folder(&folder);
}

/* Found by looking, not by writing: into a file that was removed everything can be written. */
static void a_removed_folder_is_met_by_a_flush(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		struct log_writer_result result;
		struct log_writer_options options = { .queue_bytes = i ? QUEUE_BYTES : 0,
						      .is_sync = true,
						      .keeps_older = true,
						      .result = &result };
		struct series_folder folder;
		struct log_writer *writer;

		make_folder(&folder);
		writer = open_writer(&folder, &options);
		assert_int_equal(add_span(writer, 1), 0);
		assert_int_equal(log_writer_flush(writer), 0);
		assert_int_equal(log_writer_flush(writer), 0);
		remove_folder(&folder);
		assert_int_equal(log_writer_flush(writer), -ENOENT);
		assert_int_equal(add_span(writer, 2), -ENOENT);
		log_writer_abort(writer);
		assert_true(!result.names.is_partial && !result.names.is_complete);
	}
}

/* ---- a disk that does not keep up ---- */

/* A pipe that nobody reads, until somebody does. */
struct slow_disk {
	struct series_folder folder;
	int fd;
	pthread_t reader;
};

static void open_slow_disk(struct slow_disk *disk)
{
	make_folder(&disk->folder);
	assert_int_equal(mkfifo(in_folder(&disk->folder, "app.txtrace"), 0600), 0);
	disk->fd = open(disk->folder.name, O_RDWR);
	assert_true(disk->fd >= 0);
	/* the first batch does not fit in: from the start nothing moves */
	assert_true(fcntl(disk->fd, F_SETPIPE_SZ, 4096) >= 4096);
}

/* All that came through the pipe becomes a file. */
static void *read_slow_disk(void *context)
{
	struct slow_disk *disk = context;
	char bytes[65536], path[PATH_MAX];
	ssize_t length;
	FILE *out;

	snprintf(path, sizeof(path), "%s/read", disk->folder.path);
	out = fopen(path, "w");
	while (out && (length = read(disk->fd, bytes, sizeof(bytes))) > 0)
		fwrite(bytes, 1, (size_t)length, out);
	if (out)
		fclose(out);
	return NULL;
}

static void let_disk_work(struct slow_disk *disk)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/app.txtrace", disk->folder.path);
	fd = open(path, O_RDONLY);
	assert_true(fd >= 0);
	close(disk->fd); /* we no longer hold the writing end */
	disk->fd = fd;
	assert_int_equal(pthread_create(&disk->reader, NULL, read_slow_disk, disk), 0);
}

static struct contents close_slow_disk(struct slow_disk *disk)
{
	struct contents contents;

	pthread_join(disk->reader, NULL);
	close(disk->fd);
	contents = contents_of(&disk->folder, "read");
	remove_folder(&disk->folder);
	return contents;
}

static void assert_all_is_accounted_for(const struct contents *contents,
					const struct txtrace_dropped *dropped, uint64_t added_cnt)
{
	assert_int_equal(contents->cnt[TXTRACE_RECORD_DAMAGE], 0);
	assert_int_equal(contents->cnt[TXTRACE_RECORD_SPAN] +
				 contents->dropped.record_cnt[TXTRACE_RECORD_SPAN],
			 added_cnt);
	assert_memory_equal(contents->dropped.record_cnt, dropped->record_cnt, sizeof(dropped->record_cnt));
	assert_int_equal(contents->dropped.batch_cnt, dropped->batch_cnt);
	assert_int_equal(contents->dropped.first_ns, dropped->first_ns);
	assert_int_equal(contents->dropped.last_ns, dropped->last_ns);
	assert_true(contents->is_complete);
}

static void what_is_dropped_is_told_to_the_record(void **state)
{
	struct log_writer_options options = { .batch_bytes = 20000,
					      .queue_bytes = QUEUE_BYTES / 4,
					      .keeps_older = true,
					      .limits.rotate_bytes = 1000 };
	const struct txtrace_dropped *dropped;
	struct txtrace_dropped copy;
	struct contents contents;
	struct log_writer *writer;
	struct slow_disk disk;
	uint64_t id = 0, gap_begin;

	(void)state;
	open_slow_disk(&disk);
	writer = open_writer(&disk.folder, &options);
	dropped = log_writer_dropped(writer);
	while (!dropped->batch_cnt) /* never waits */
		assert_int_equal(add_span(writer, ++id), 0);
	gap_begin = dropped->first_ns / 10;
	while (dropped->batch_cnt < 5)
		assert_int_equal(add_span(writer, ++id), 0);
	assert_int_equal(dropped->record_cnt[TXTRACE_RECORD_SPAN], id - gap_begin + 1);
	assert_int_equal(log_writer_dropped_records(writer), id - gap_begin + 1);
	assert_int_equal(dropped->last_ns, id * 10 + 5);
	copy = *dropped;

	/* Nothing comes any more: the close waits, and tells it. */
	let_disk_work(&disk);
	assert_int_equal(log_writer_close(writer), 0);
	contents = close_slow_disk(&disk);
	assert_all_is_accounted_for(&contents, &copy, id);
	assert_int_equal(contents.last_id, gap_begin - 1);
	assert_false(contents.has_gaps);
	assert_int_equal(contents.cnt[TXTRACE_RECORD_DROPPED], 1);
	assert_int_equal(contents.cnt[TXTRACE_RECORD_CONTINUED], 0); /* a pipe has no parts */
}

static void definitions_that_were_dropped_come_again(void **state)
{
	struct log_writer_options options = { .batch_bytes = 20000, .queue_bytes = QUEUE_BYTES / 4 };
	const struct txtrace_dropped *dropped;
	struct txtrace_dropped copy;
	struct contents contents;
	struct log_writer *writer;
	struct slow_disk disk;
	uint64_t id = 0;

	(void)state;
	open_slow_disk(&disk);
	writer = open_writer(&disk.folder, &options);
	dropped = log_writer_dropped(writer);
	while (!dropped->batch_cnt)
		assert_int_equal(add_span(writer, ++id), 0);
	assert_false(log_writer_is_due(writer)); /* no definitions were in it */
	assert_int_equal(add_thread(writer, 1), 0);
	assert_int_equal(add_thread(writer, 2), 0);
	while (dropped->batch_cnt < 2)
		assert_int_equal(add_span(writer, ++id), 0);
	assert_false(log_writer_is_due(writer)); /* there is no room yet: they would be dropped again */
	let_disk_work(&disk);
	log_writer_drop_no_more(writer);
	assert_int_equal(add_span(writer, ++id), 0);
	assert_int_equal(log_writer_flush(writer), 0);
	assert_true(log_writer_is_due(writer));
	turn_if_due(writer);
	assert_false(log_writer_is_due(writer));
	copy = *dropped;
	assert_int_equal(log_writer_close(writer), 0);
	contents = close_slow_disk(&disk);
	assert_all_is_accounted_for(&contents, &copy, id);
	assert_int_equal(contents.dropped.record_cnt[TXTRACE_RECORD_THREAD], 2);
	assert_int_equal(contents.cnt[TXTRACE_RECORD_THREAD], 2);
}

/* Stalls of any length at any place: what is in the log and what is told to be missing are all there was. */
static void stalls_are_accounted_for(void **state)
{
	struct log_writer_options options = { .codec = LOG_CODEC_LZ4,
					      .batch_bytes = 3000,
					      .queue_bytes = 30000 };
	uint32_t random = 7;
	uint64_t id = 0;
	struct txtrace_dropped copy;
	struct contents contents;
	struct log_writer *writer;
	struct slow_disk disk;

	(void)state;
	open_slow_disk(&disk);
	writer = open_writer(&disk.folder, &options);
	while (!log_writer_dropped(writer)->batch_cnt)
		assert_int_equal(add_span(writer, ++id), 0);
	let_disk_work(&disk);
	/* as fast as it goes, against a reader that is quick and slow by turns */
	for (unsigned int i = 0; i < 300; i++) {
		random = random * 1664525 + 1013904223;
		for (unsigned int j = 0; j < random >> 20; j++)
			assert_int_equal(add_span(writer, ++id), 0);
		if (random & 0x10000)
			assert_int_equal(log_writer_flush(writer), 0);
		if ((random & 0xe0000) == 0)
			usleep(1000);
	}
	log_writer_drop_no_more(writer);
	assert_int_equal(add_span(writer, ++id), 0);
	copy = *log_writer_dropped(writer);
	assert_int_equal(log_writer_close(writer), 0);
	contents = close_slow_disk(&disk);
	assert_all_is_accounted_for(&contents, &copy, id);
	assert_int_equal(contents.last_id, id);
}

static void who_waits_drops_nothing(void **state)
{
	struct log_writer_options options = { .batch_bytes = 3000, .queue_bytes = 30000, .is_sync = true };
	struct contents contents;
	struct log_writer *writer;
	struct slow_disk disk;

	(void)state;
	open_slow_disk(&disk);
	writer = open_writer(&disk.folder, &options);
	let_disk_work(&disk);
	for (uint64_t id = 1; id <= 200000; id++)
		assert_int_equal(add_span(writer, id), 0);
	assert_int_equal(log_writer_dropped(writer)->batch_cnt, 0);
	assert_int_equal(log_writer_close(writer), 0);
	contents = close_slow_disk(&disk);
	assert_int_equal(contents.last_id, 200000);
	assert_true(!contents.has_gaps && contents.is_complete);
}

/* A batch that is larger than the whole queue can't be written whoever waits. It is dropped like others. */
static void a_batch_larger_than_the_queue_is_dropped(void **state)
{
	struct log_writer_options options = { .queue_bytes = 3000, .is_sync = true };
	struct series_folder folder;
	struct contents contents;
	struct log_writer *writer;

	(void)state;
	make_folder(&folder);
	writer = open_writer(&folder, &options);
	for (uint64_t id = 1; id <= 10000; id++)
		assert_int_equal(add_span(writer, id * id * 12345), 0);
	assert_int_equal(log_writer_close(writer), 0);
	contents = contents_of(&folder, "app.txtrace");
	assert_int_equal(contents.cnt[TXTRACE_RECORD_SPAN], 0);
	assert_int_equal(contents.dropped.record_cnt[TXTRACE_RECORD_SPAN], 10000);
	assert_true(contents.is_complete);
	remove_folder(&folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_thread_changes_nothing),
		cmocka_unit_test(the_index_counts_the_labels),
		cmocka_unit_test(an_error_of_the_thread_is_met),
		cmocka_unit_test(a_removed_folder_is_met_by_a_flush),
		cmocka_unit_test(what_is_dropped_is_told_to_the_record),
		cmocka_unit_test(definitions_that_were_dropped_come_again),
		cmocka_unit_test(stalls_are_accounted_for),
		cmocka_unit_test(who_waits_drops_nothing),
		cmocka_unit_test(a_batch_larger_than_the_queue_is_dropped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
