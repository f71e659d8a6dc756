/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The writer that a recorder uses: its files one after the other, each readable alone; its thread; and what it drops, to the record, when the
 * disk does not keep up. The slow disk is a pipe that nobody reads.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "log/log_writer.h"
#include "unit/log_samples.h"
#include "unit/series_folder.h"

#define QUEUE_BYTES (1u << 20)
#define SECOND 1000000000u

static struct log_writer *open_writer(struct series_folder *folder, const struct log_writer_options *options)
{
	struct log_writer *writer = NULL;

	assert_int_equal(log_writer_open(&writer, in_folder(folder, "app.txtrace"), &sample_info, options), 0);
	return writer;
}

static int add_span(struct log_writer *writer, uint64_t id)
{
	struct txtrace_record record = { .kind = TXTRACE_RECORD_SPAN,
					 .span = { .id = id, .pid = 1, .tid = 1, .end_tid = 1, .begin_ns = id * 10, .end_ns = id * 10 + 5 } };

	record.span.label = (struct txtrace_string){ id % 2 ? "odd" : "even", id % 2 ? 3 : 4 };
	record.span.work_ns = record.span.ledger.on_cpu_ns = 5;
	return log_writer_add(writer, &record);
}

static int add_thread(struct log_writer *writer, uint32_t tid)
{
	struct txtrace_record record = { .kind = TXTRACE_RECORD_THREAD, .thread = { .time_ns = 7, .tid = tid, .pid = 1, .comm = { "worker", 6 } } };

	return log_writer_add(writer, &record);
}

/* What a file says. */
struct contents {
	uint64_t cnt[TXTRACE_RECORD_KIND_COUNT];
	uint64_t first_id; /* of its spans; all are there between first and last, each once */
	uint64_t last_id;
	uint32_t first_kind;
	uint32_t last_kind;
	uint32_t next_part;
	struct txtrace_dropped dropped; /* in all */
	struct txtrace_log_info info;
	bool is_complete;
	bool has_gaps;
};

static void look_at(struct contents *contents, const struct txtrace_record *record)
{
	if (!contents->first_kind)
		contents->first_kind = record->kind;
	contents->last_kind = record->kind;
	contents->cnt[record->kind]++;
	if (record->kind == TXTRACE_RECORD_SPAN) {
		if (contents->cnt[TXTRACE_RECORD_SPAN] == 1)
			contents->first_id = record->span.id;
		else
			contents->has_gaps |= record->span.id != contents->last_id + 1;
		contents->last_id = record->span.id;
	} else if (record->kind == TXTRACE_RECORD_CONTINUED) {
		contents->next_part = record->continued.next_part;
	} else if (record->kind == TXTRACE_RECORD_DROPPED) {
		contents->dropped.batch_cnt += record->dropped.batch_cnt;
		contents->dropped.last_ns = record->dropped.last_ns;
		if (contents->cnt[TXTRACE_RECORD_DROPPED] == 1)
			contents->dropped.first_ns = record->dropped.first_ns;
		for (unsigned int i = 0; i < TXTRACE_RECORD_KIND_COUNT; i++)
			contents->dropped.record_cnt[i] += record->dropped.record_cnt[i];
	}
}

static struct contents read_contents(const char *path)
{
	struct contents contents = { 0 };
	struct txtrace_record record;
	struct txtrace_log *log;
	int result;

	assert_int_equal(txtrace_log_open(&log, path), 0);
	contents.info = *txtrace_log_info(log);
	while ((result = txtrace_log_next(log, &record)) > 0)
		look_at(&contents, &record);
	assert_int_equal(result, 0);
	contents.is_complete = txtrace_log_is_complete(log);
	txtrace_log_close(log);
	return contents;
}

static struct contents contents_of(struct series_folder *folder, const char *name)
{
	return read_contents(in_folder(folder, name));
}

/* As the recorder does between two events: definitions are two threads. */
static void turn_if_due(struct log_writer *writer)
{
	int result;

	if (!log_writer_is_due(writer))
		return;
	result = log_writer_turn(writer);
	assert_true(result >= 0);
	for (uint32_t tid = 1; result > 0 && tid <= 2; tid++)
		assert_int_equal(add_thread(writer, tid), 0);
}

/* ---- files one after the other ---- */

static void each_file_stands_alone(void **state)
{
	struct log_writer_result result = { 0 };
	/* Each batch makes a file of more than one byte; nothing is compressed, nothing is queued. */
	struct log_writer_options options = { .keeps_older = true, .rotate_bytes = 1, .result = &result };
	static const char *const names[] = { "app.000001.txtrace", "app.000002.txtrace", "app.000003.txtrace", "app.txtrace" };
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
	assert_string_equal(list_folder(&folder), "app.000001.txtrace app.000002.txtrace app.000003.txtrace app.txtrace.partial");
	assert_int_equal(log_writer_close(writer), 0);
	assert_string_equal(list_folder(&folder), "app.000001.txtrace app.000002.txtrace app.000003.txtrace app.txtrace");
	for (uint32_t i = 0; i < 4; i++) {
		struct contents contents = contents_of(&folder, names[i]);
		struct stat status;

		assert_int_equal(contents.info.part, i);
		assert_int_equal(contents.info.first_sequence, sequence);
		assert_memory_equal(contents.info.capture_id, sample_info.capture_id, 16);
		assert_true(contents.is_complete && !contents.has_gaps && !contents.cnt[TXTRACE_RECORD_DAMAGE]);
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
	struct log_writer_options options = { .keeps_older = true, .rotate_bytes = 1, .keep_cnt = 3 };
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

/* What is there and what is being written, together, at every moment; and a start that writes nothing costs nothing. */
static void all_files_stay_below_the_cap(void **state)
{
	const uint64_t cap = 20000;
	struct log_writer_options options = { .batch_bytes = 500, .keeps_older = true, .keep_bytes = cap };
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
	struct log_writer_options options = { .keeps_older = true, .rotate_ns = 60ull * SECOND };
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
	struct log_writer_options options = { .keeps_older = true, .rotate_bytes = 1, .queue_bytes = QUEUE_BYTES, .is_sync = true };
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
	assert_string_equal(list_folder(&folder), "app.000001.txtrace app.000002.txtrace app.txtrace.partial");
	assert_true(contents_of(&folder, "app.000002.txtrace").is_complete);
	assert_int_equal(contents_of(&folder, "app.txtrace.partial").last_id, 3);
	assert_false(contents_of(&folder, "app.txtrace.partial").is_complete);
	remove_folder(&folder);
}

/* ---- the thread ---- */

/* With and without the thread the files are the same. */
static void the_thread_changes_nothing(void **state)
{
	struct series_folder folders[2];
	uint64_t bytes[2];

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct log_writer_result result;
		struct log_writer_options options = { .codec = LOG_CODEC_ZSTD, .batch_bytes = 10000, .queue_bytes = i ? QUEUE_BYTES : 0, .is_sync = true,
						      .keeps_older = true, .rotate_bytes = 3000, .result = &result };
		struct log_writer *writer;
		uint64_t record_cnt;

		make_folder(&folders[i]);
		writer = open_writer(&folders[i], &options);
		for (uint64_t id = 1; id <= 100000; id++) {
			assert_int_equal(add_span(writer, id), 0);
			if (id % 5000 == 0) { /* the decision to rotate waits for the bytes: so they have to be there */
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
	struct log_writer_options options = { .batch_bytes = 5000, .queue_bytes = QUEUE_BYTES, .is_sync = true };
	struct series_folder folder;
	struct log_writer *writer;
	static char file[1 << 20];
	FILE *in;
	size_t length;
	static const uint8_t expected[] = { 0, 2, 0xf4, 0x03, 3, 'o', 'd', 'd', 0xf4, 0x03, 4, 'e', 'v', 'e', 'n' }; /* 500 of each */

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
	assert_memory_equal(file + length - 24 - sizeof(expected), expected, sizeof(expected)); /* the end of the index, before the footer */
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
	struct log_writer_options options = { .codec = LOG_CODEC_ZSTD, .batch_bytes = 2000, .queue_bytes = QUEUE_BYTES, .result = &result };
	struct rlimit limit = { 100000, 100000 };
	struct log_writer *writer = open_writer(folder, &options);

	setrlimit(RLIMIT_FSIZE, &limit); /* SIGXFSZ would end us: the thread has it blocked */
	if (add_until_error(writer) != -EFBIG || log_writer_flush(writer) != -EFBIG || log_writer_error(writer) != -EFBIG)
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
		struct log_writer_options options = { .queue_bytes = i ? QUEUE_BYTES : 0, .is_sync = true, .keeps_older = true, .result = &result };
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
	assert_true(fcntl(disk->fd, F_SETPIPE_SZ, 4096) >= 4096); /* the first batch does not fit in: from the start nothing moves */
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

static void assert_all_is_accounted_for(const struct contents *contents, const struct txtrace_dropped *dropped, uint64_t added_cnt)
{
	assert_int_equal(contents->cnt[TXTRACE_RECORD_DAMAGE], 0);
	assert_int_equal(contents->cnt[TXTRACE_RECORD_SPAN] + contents->dropped.record_cnt[TXTRACE_RECORD_SPAN], added_cnt);
	assert_memory_equal(contents->dropped.record_cnt, dropped->record_cnt, sizeof(dropped->record_cnt));
	assert_int_equal(contents->dropped.batch_cnt, dropped->batch_cnt);
	assert_int_equal(contents->dropped.first_ns, dropped->first_ns);
	assert_int_equal(contents->dropped.last_ns, dropped->last_ns);
	assert_true(contents->is_complete);
}

static void what_is_dropped_is_told_to_the_record(void **state)
{
	struct log_writer_options options = { .batch_bytes = 20000, .queue_bytes = QUEUE_BYTES / 4, .keeps_older = true, .rotate_bytes = 1000 };
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
	struct log_writer_options options = { .codec = LOG_CODEC_LZ4, .batch_bytes = 3000, .queue_bytes = 30000 };
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
	for (unsigned int i = 0; i < 300; i++) { /* as fast as it goes, against a reader that is quick and slow by turns */
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
		cmocka_unit_test(each_file_stands_alone),
		cmocka_unit_test(a_restart_goes_on_and_the_oldest_go),
		cmocka_unit_test(all_files_stay_below_the_cap),
		cmocka_unit_test(a_file_ends_when_it_is_old),
		cmocka_unit_test(a_crash_behind_a_rotation_leaves_both),
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
