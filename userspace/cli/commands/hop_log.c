/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/commands/hop_log.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/text.h"
#include "cli/files/newest_log.h"

#define LOOK_NS 1000000000u
#define SILENCE_NS 5000000000u
/* A record may stand behind others that are so much younger. */
#define DISORDER_NS 100000000u

static void tell_none(struct hop_log *log)
{
	if (!log->is_told)
		cli_warn(log->cli,
			 "there is no log in '%s' that is being written: spans are passed on without ledgers "
			 "until there is one",
			 log->path);
	log->is_told = true;
}

/* Of it, or of its beginnings; false: neither is there. */
static bool find_status(const char *file, struct stat *status)
{
	struct text partial = { 0 };
	bool is_there;

	text_append_format(&partial, "%s.partial", file);
	is_there = stat(text_string(&partial), status) == 0 || stat(file, status) == 0;
	text_release(&partial);
	return is_there;
}

/* What can't be read is said once, until it is another file, or has more. */
static bool is_refused(const struct hop_log *log, const struct stat *status)
{
	return log->refused.st_ino == status->st_ino && log->refused.st_size == status->st_size;
}

/* That it has no end yet, or is one part of several, need not be said. */
static void close_quietly(struct log_input *input)
{
	input->is_quiet = true;
	log_input_close(input);
}

/* One that was read, or can't be, is not there. */
static bool open_next(struct hop_log *log, const char *file, struct log_input *next)
{
	struct stat status;
	bool is_too_early;

	if (!find_status(file, &status) || is_refused(log, &status))
		return false;
	if (log_input_follow(next, log->cli, file, &is_too_early)) {
		if (!is_too_early)
			log->refused = status;
		return false;
	}
	if (!log->has_capture || memcmp(log->last_id, next->capture_id, sizeof(log->last_id)) != 0)
		return true;
	close_quietly(next);
	return false;
}

static void begin_capture(struct hop_log *log, const struct log_input *input, uint64_t start_ns)
{
	memcpy(log->last_id, input->capture_id, sizeof(log->last_id));
	log->has_capture = true;
	context_ledger_begin(log->ledger, start_ns, input->capture_id);
}

static void end_log(struct hop_log *log)
{
	if (log->is_open)
		close_quietly(&log->input);
	log->is_open = false;
	free(log->file);
	log->file = NULL;
}

static void look_for_log(struct hop_log *log)
{
	struct log_input next;
	char *file;

	log->looked_ns = clock_now_ns();
	if (newest_log_find(log->path, &file) == 0 && open_next(log, file, &next)) {
		end_log(log);
		log->file = file;
		log->input = next;
		log->is_open = true;
		if (log->is_told || log->has_capture)
			cli_warn(log->cli, "reading '%s'", log->file);
		log->is_told = false;
		begin_capture(log, &log->input, log->input.info.start_realtime_ns);
		return;
	}
	free(file);
	if (!log->is_open)
		tell_none(log);
}

/* The log of a recorder that was killed has no end: if it is silent, there may be another one. */
static bool should_look(const struct hop_log *log)
{
	uint64_t now_ns = clock_now_ns();

	if (log->is_open && now_ns < log->read_ns + SILENCE_NS)
		return false;
	return !log->looked_ns || now_ns >= log->looked_ns + LOOK_NS;
}

static int take_record(struct hop_log *log, const struct txtrace_record *record)
{
	uint64_t clock_ns = txtrace_log_realtime_ns(log->input.log, 0);

	if (log->input.has_begun_capture)
		begin_capture(log, &log->input,
			      txtrace_log_info(log->input.log)->start_monotonic_ns + clock_ns);
	return context_join_record(log->ledger->join, record, (int64_t)clock_ns);
}

int hop_log_read(struct hop_log *log, size_t record_max)
{
	struct txtrace_record record;
	size_t cnt = 0;
	int err = 0;

	if (should_look(log))
		look_for_log(log);
	while (log->is_open && cnt < record_max && !err && log_input_next(&log->input, &record)) {
		err = take_record(log, &record);
		cnt++;
	}
	if (cnt > 0)
		log->read_ns = clock_now_ns();
	if (log->is_open && log->input.is_at_end)
		end_log(log);
	return err;
}

bool hop_log_has(const struct hop_log *log, uint64_t time_ns, uint64_t since_ns)
{
	if (!log->is_open)
		return log->looked_ns >= since_ns;
	return context_join_until_ns(log->ledger->join) >= time_ns + DISORDER_NS;
}

void hop_log_close(struct hop_log *log)
{
	end_log(log);
}
