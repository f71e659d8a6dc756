/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A file that grows byte by byte is followed: no prefix of it gives damage, a wrong record or one twice, and
 * each batch comes as soon as it is there. A capture is followed into its next files. It ends when it is
 * complete, or when nobody holds the file any more.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/file.h>
#include <sys/time.h>

#include "log/format/log_header.h"
#include "unit/log_parts.h"

/* A recorder that writes bytes which are known before. */
struct recorder {
	int fd;
	char *folder;
	char *path;
	uint8_t *bytes;
	size_t length;
	size_t written;
};

static void read_file(const char *path, uint8_t **bytes, size_t *length)
{
	struct stat status;
	int fd = open(path, O_RDONLY);

	assert_int_equal(fstat(fd, &status), 0);
	*length = (size_t)status.st_size;
	*bytes = malloc(*length + 1);
	assert_int_equal(read(fd, *bytes, *length), status.st_size);
	close(fd);
}

/* Takes the folder. */
static struct recorder begin_recording(char *folder, const char *name, const char *complete)
{
	struct recorder recorder = { .folder = folder, .path = in_folder(folder, name) };

	read_file(complete, &recorder.bytes, &recorder.length);
	recorder.fd = open(recorder.path, O_RDWR | O_CREAT | O_EXCL, 0600);
	assert_true(recorder.fd >= 0);
	assert_int_equal(flock(recorder.fd, LOCK_EX | LOCK_NB), 0);
	return recorder;
}

static void write_to(struct recorder *recorder, size_t length)
{
	assert_int_equal(write(recorder->fd, recorder->bytes + recorder->written, length - recorder->written),
			 (ssize_t)(length - recorder->written));
	recorder->written = length;
}

/* As if it had written for the last time a minute ago. */
static void die(struct recorder *recorder)
{
	const struct timeval long_ago[2] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };

	close(recorder->fd);
	recorder->fd = -1;
	assert_int_equal(utimes(recorder->path, long_ago), 0);
}

static void end_recording(struct recorder *recorder)
{
	if (recorder->fd >= 0)
		close(recorder->fd);
	free(recorder->path);
	free(recorder->bytes);
	remove_folder(recorder->folder);
}

/* All that a follower has got so far. */
struct follower {
	struct txtrace_log *log;
	char *text;
	size_t length;
	FILE *out;
	unsigned int damage_cnt;
	uint64_t damaged_bytes;
};

static void begin_following(struct follower *follower)
{
	*follower = (struct follower){ .log = NULL };
	follower->out = open_memstream(&follower->text, &follower->length);
}

static void take(struct follower *follower)
{
	struct txtrace_record record;
	int result;

	while ((result = txtrace_log_next(follower->log, &record)) > 0) {
		if (record.kind == TXTRACE_RECORD_DAMAGE) {
			follower->damage_cnt++;
			follower->damaged_bytes += record.damage.length_bytes;
		} else {
			put_record(follower->out, &record);
		}
	}
	assert_int_equal(result, 0);
	fflush(follower->out);
}

static void end_following(struct follower *follower)
{
	txtrace_log_close(follower->log);
	fclose(follower->out);
	free(follower->text);
}

/* A complete log, in a folder of its own, and its text. */
static char *make_complete(struct parts *parts, char *folder, enum part_end end)
{
	begin_parts(parts, 1);
	write_part_in(parts, folder, "complete", end);
	end_parts(parts);
	return in_folder(folder, "complete");
}

/* How many batches are complete in this prefix. */
static unsigned int batches_in(const struct recorder *recorder)
{
	size_t at = log_get_u32(recorder->bytes + LOG_HEADER_LENGTH);
	unsigned int cnt = 0;
	struct log_block block;

	while (log_block_decode(recorder->bytes + at, recorder->length - at, &block) &&
	       block.type == LOG_BLOCK_BATCH) {
		at += block.header_bytes + block.stored_bytes;
		if (at > recorder->written)
			break;
		cnt++;
	}
	return cnt;
}

static unsigned int lines_of(const char *text)
{
	unsigned int cnt = 0;

	for (; *text; text++)
		cnt += *text == '\n';
	return cnt;
}

static void a_file_that_grows_by_bytes(unsigned int thread_cnt)
{
	struct follower follower;
	struct recorder recorder;
	struct parts parts;
	char *folder = new_folder(), *complete = make_complete(&parts, folder, PART_SUMMARY);

	recorder = begin_recording(folder, "app.partial", complete);
	begin_following(&follower);
	for (size_t length = 0; length <= recorder.length; length++) {
		unsigned int records = 0;

		write_to(&recorder, length);
		if (!follower.log) {
			int err = txtrace_log_follow(&follower.log, recorder.path);

			assert_int_equal(err, length < log_get_u32(recorder.bytes + LOG_HEADER_LENGTH)
						      ? -EAGAIN
						      : 0);
			if (err) {
				txtrace_log_close(follower.log);
				follower.log = NULL;
				continue;
			}
			assert_int_equal(txtrace_log_set_threads(follower.log, thread_cnt), 0);
		}
		take(&follower);
		assert_int_equal(follower.damage_cnt, 0);
		assert_memory_equal(follower.text, parts.text, follower.length);
		records = batches_in(&recorder) * PART_RECORDS + (batches_in(&recorder) == PART_BATCHES);
		assert_int_equal(lines_of(follower.text), records);
		assert_int_equal(txtrace_log_is_at_end(follower.log), length == recorder.length);
		assert_int_equal(txtrace_log_is_complete(follower.log), length == recorder.length);
	}
	assert_string_equal(follower.text, parts.text);
	end_following(&follower);
	end_recording(&recorder);
	free_parts(&parts);
	free(complete);
}

static void a_file_that_grows_byte_by_byte(void **state)
{
	(void)state;
	a_file_that_grows_by_bytes(0);
	a_file_that_grows_by_bytes(2);
}

/* At any byte the recorder is killed: what is there is read, and what is cut off is told. */
static void a_recorder_that_is_killed(void **state)
{
	struct recorder recorder;
	struct parts parts;
	char *folder = new_folder(), *complete = make_complete(&parts, folder, PART_SUMMARY);
	size_t header_bytes;

	(void)state;
	recorder = begin_recording(folder, "app.partial", complete);
	header_bytes = log_get_u32(recorder.bytes + LOG_HEADER_LENGTH);
	write_to(&recorder, header_bytes);
	for (size_t length = header_bytes; length < recorder.length; length += 7) {
		struct follower follower;

		write_to(&recorder, length);
		begin_following(&follower);
		assert_int_equal(txtrace_log_follow(&follower.log, recorder.path), 0);
		take(&follower);
		assert_false(txtrace_log_is_at_end(follower.log));
		assert_int_equal(follower.damage_cnt, 0);
		die(&recorder);
		take(&follower);
		assert_true(txtrace_log_is_at_end(follower.log));
		assert_false(txtrace_log_is_complete(follower.log));
		assert_in_range(follower.damage_cnt, 0, 1);
		assert_int_equal(lines_of(follower.text), batches_in(&recorder) * PART_RECORDS +
								  (batches_in(&recorder) == PART_BATCHES));
		assert_memory_equal(follower.text, parts.text, follower.length);
		end_following(&follower);
		recorder.fd = open(recorder.path, O_RDWR | O_APPEND);
		assert_int_equal(flock(recorder.fd, LOCK_EX | LOCK_NB), 0);
	}
	end_recording(&recorder);
	free_parts(&parts);
	free(complete);
}

/* In the middle: told as soon as the next batch proves it. At the end: not before the recorder is gone. */
static void damage_in_a_file_that_grows(void **state)
{
	struct follower follower;
	struct recorder recorder;
	struct log_block block;
	struct parts parts;
	char *folder = new_folder(), *complete = make_complete(&parts, folder, PART_SUMMARY);
	size_t first, second;

	(void)state;
	recorder = begin_recording(folder, "app.partial", complete);
	first = log_get_u32(recorder.bytes + LOG_HEADER_LENGTH);
	assert_true(log_block_decode(recorder.bytes + first, recorder.length - first, &block));
	second = first + block.header_bytes + block.stored_bytes;
	recorder.bytes[second - 1] ^= 1;
	begin_following(&follower);
	write_to(&recorder, second);
	assert_int_equal(txtrace_log_follow(&follower.log, recorder.path), 0);
	take(&follower);
	assert_int_equal(follower.damage_cnt, 0);
	write_to(&recorder, second + 1);
	take(&follower);
	assert_int_equal(follower.damage_cnt, 0);
	write_to(&recorder, recorder.length);
	take(&follower);
	assert_int_equal(follower.damage_cnt, 1);
	assert_int_equal(follower.damaged_bytes, second - first);
	assert_int_equal(lines_of(follower.text), (PART_BATCHES - 1) * PART_RECORDS + 1);
	assert_true(txtrace_log_is_at_end(follower.log));
	end_following(&follower);
	end_recording(&recorder);
	free_parts(&parts);
	free(complete);
}

/* Which of the names is followed. */
static void the_file_that_is_being_written_is_found(void **state)
{
	struct follower follower;
	struct recorder recorder;
	struct parts parts, earlier;
	char *folder = new_folder(), *complete = make_complete(&parts, folder, PART_SUMMARY),
	     *app = in_folder(folder, "app");

	(void)state;
	begin_parts(&earlier, 9);
	assert_int_equal(txtrace_log_follow(&follower.log, app), -ENOENT);
	txtrace_log_close(follower.log);
	recorder = begin_recording(folder, "app.partial", complete);
	write_to(&recorder, recorder.length / 2);

	/* app is not there: app.partial is. */
	begin_following(&follower);
	assert_int_equal(txtrace_log_follow(&follower.log, app), 0);
	assert_string_equal(txtrace_log_path(follower.log), recorder.path);
	end_following(&follower);

	/* app is of an earlier run, app.partial is being written. */
	write_part_in(&earlier, folder, "earlier", PART_SUMMARY);
	free(complete);
	complete = in_folder(folder, "earlier");
	assert_int_equal(rename(complete, app), 0);
	begin_following(&follower);
	assert_int_equal(txtrace_log_follow(&follower.log, app), 0);
	assert_string_equal(txtrace_log_path(follower.log), recorder.path);
	end_following(&follower);

	/* What a crash left is not followed when there is an app. */
	die(&recorder);
	begin_following(&follower);
	assert_int_equal(txtrace_log_follow(&follower.log, app), 0);
	assert_string_equal(txtrace_log_path(follower.log), app);
	take(&follower);
	assert_true(txtrace_log_is_complete(follower.log));
	end_following(&follower);

	begin_following(&follower);
	assert_int_equal(txtrace_log_follow(&follower.log, folder), -EISDIR);
	end_following(&follower);
	end_recording(&recorder);
	free_parts(&parts);
	free_parts(&earlier);
	free(complete);
	free(app);
}

/* From the first to the last, with the last in place, and one of them gone. */
static void follow_with_one_gone(const char *folder)
{
	char *first = in_folder(folder, "app.000007.txtrace"),
	     *gone = in_folder(folder, "app.000009.txtrace");
	struct follower follower;

	assert_int_equal(unlink(gone), 0);
	begin_following(&follower);
	assert_int_equal(txtrace_log_follow(&follower.log, first), 0);
	take(&follower);
	assert_int_equal(follower.damage_cnt, 1);
	assert_int_equal(lines_of(follower.text), 3 * PART_BATCHES * PART_RECORDS + 1);
	assert_true(txtrace_log_is_at_end(follower.log));
	assert_false(txtrace_log_is_complete(follower.log));
	end_following(&follower);
	free(gone);
	free(first);
}

/*
 * The next part is being written, has been rotated away already, or is the last one, which has the plain
 * name. A follower that is slow still gets all that is on the disk.
 */
static void a_capture_goes_on_in_other_files(void **state)
{
	struct follower follower;
	struct parts parts;
	char *folder = new_folder(), *app, *partial, *stray;

	(void)state;
	app = in_folder(folder, "app.txtrace");
	partial = in_folder(folder, "app.txtrace.partial");
	stray = in_folder(folder, "app.000000000000000000000001.txtrace");
	begin_parts(&parts, 1);
	assert_int_equal(symlink("/dev/null", stray), 0);
	begin_following(&follower);
	write_part_in(&parts, folder, "app.000007.txtrace", PART_CONTINUED);
	fflush(parts.out);
	assert_int_equal(txtrace_log_follow(&follower.log, "/nonexistent"), -ENOENT);
	txtrace_log_close(follower.log);
	free(stray);
	stray = in_folder(folder, "app.000007.txtrace");
	assert_int_equal(txtrace_log_follow(&follower.log, stray), 0);
	take(&follower);
	assert_string_equal(follower.text, parts.text);
	assert_false(txtrace_log_is_at_end(follower.log));

	/* Two more, while the follower slept; then the one that is being written. */
	write_part_in(&parts, folder, "app.000008.txtrace", PART_CONTINUED);
	write_part_in(&parts, folder, "app.000009.txtrace", PART_CONTINUED);
	fflush(parts.out);
	take(&follower);
	assert_string_equal(follower.text, parts.text);
	write_part(&parts, app, PART_CRASH);
	fflush(parts.out);
	take(&follower);
	assert_string_equal(follower.text, parts.text);
	assert_string_equal(txtrace_log_path(follower.log), partial);
	assert_int_equal(txtrace_log_info(follower.log)->part, 3);
	assert_int_equal(follower.damage_cnt, 0);
	end_following(&follower);

	assert_int_equal(unlink(partial), 0);
	parts.info.part--;
	parts.info.first_sequence -= PART_BATCHES + 1;
	write_part(&parts, app, PART_SUMMARY);
	follow_with_one_gone(folder);
	free(app);
	free(partial);
	free(stray);
	free_parts(&parts);
	remove_folder(folder);
}

/* A recorder that really runs: its file is followed while it writes, is renamed, and ends. */
static void a_real_writer_is_followed(void **state)
{
	struct log_writer_options options = { .codec = LOG_CODEC_LZ4 };
	struct follower follower;
	struct txtrace_record record;
	struct log_writer *writer;
	struct parts parts;
	char *folder = new_folder(), *app = in_folder(folder, "app");

	(void)state;
	begin_parts(&parts, 1);
	begin_following(&follower);
	assert_int_equal(log_writer_open(&writer, app, &parts.info, &options), 0);
	assert_int_equal(txtrace_log_follow(&follower.log, app), 0);
	assert_int_equal(txtrace_log_seek_time(follower.log, 0), 0);
	for (unsigned int i = 0; i < 50; i++) {
		next_record(&parts.world, &record);
		add_record(writer, &parts, &record);
		assert_int_equal(log_writer_flush(writer), 0);
		take(&follower);
		fflush(parts.out);
		assert_string_equal(follower.text, parts.text);
	}
	assert_false(txtrace_log_is_at_end(follower.log));
	assert_int_equal(log_writer_close(writer), 0);
	take(&follower);
	assert_true(txtrace_log_is_complete(follower.log));
	end_following(&follower);
	free(app);
	free_parts(&parts);
	remove_folder(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_that_grows_byte_by_byte),
		cmocka_unit_test(a_recorder_that_is_killed),
		cmocka_unit_test(damage_in_a_file_that_grows),
		cmocka_unit_test(the_file_that_is_being_written_is_found),
		cmocka_unit_test(a_capture_goes_on_in_other_files),
		cmocka_unit_test(a_real_writer_is_followed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
