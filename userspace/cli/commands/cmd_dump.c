/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>

#include "log/format/record_table.h"
#include "cli/commands/command.h"
#include "cli/print/dump_line.h"
#include "cli/exit_status.h"
#include "cli/files/log_input.h"
#include "cli/files/log_scope.h"

#define POLL_EVERY_NS 100000000
#define LOOK_EVERY 4096 /* records between looks at the signals */

struct dump_options {
	uint32_t kinds; /* bits; 0: all */
	uint64_t limit;
	struct moment from;
	struct moment to;
	bool follow;
	struct log_scope scope; /* --where */
};

static int take_kind(void *context, const char *value, const char **complaint)
{
	struct dump_options *values = context;

	for (unsigned int kind = 0; kind < TXTRACE_RECORD_KIND_COUNT; kind++) {
		const char *name = txtrace_record_kind_name(kind);

		if (name && strcmp(name, value) == 0) {
			values->kinds |= 1u << kind;
			return 0;
		}
	}
	*complaint = "span, run, wake, thread, attribute, instant, counter, link, loss, open_span, summary, "
		     "dropped, continued, stay, object, stack, "
		     "frames, process, trigger or damage";
	return -EINVAL;
}

static const struct option_spec specs[] = {
	OPTION("kind", 'k', OPTION_CALL, "KIND",
	       "only records of this kind (may be repeated): span, run, wake, thread, attribute, "
	       "instant, counter, link, loss, "
	       "open_span, summary, dropped, continued, stay, object, stack, frames, process, trigger, "
	       "damage",
	       0, .call = take_kind),
	OPTION("from", 'f', OPTION_CALL, "T",
	       "skip records that ended before T: a time since the capture began, as in 1.5s, or a "
	       "CLOCK_MONOTONIC time as printed, as in 6098565896422abs",
	       offsetof(struct dump_options, from), .call = moment_take),
	OPTION("to", 't', OPTION_CALL, "T", "skip records that ended at T or later",
	       offsetof(struct dump_options, to), .call = moment_take),
	OPTION("follow", 0, OPTION_FLAG, NULL,
	       "follow a file that is still being written, and the files after it, until the capture ends",
	       offsetof(struct dump_options, follow)),
	OPTION("limit", 'n', OPTION_U64, "N", "stop after N lines; 0: never (the default)",
	       offsetof(struct dump_options, limit)),
	OPTION_WHERE(struct dump_options, scope),
	OPTION_END,
};

static const struct options options = {
	.program = "txtrace dump",
	.about = "Prints every record as a line of text with all its fields, in the order of the log: a span "
		 "is at the position of its end. Times are CLOCK_MONOTONIC ns. Strings are quoted; control "
		 "characters in them are escaped.",
	.usages = (const char *const[]){ "FILE\xe2\x80\xa6", "--follow FILE", NULL },
	.specs = specs,
	.examples = (const struct option_example[]){
		{ "txtrace dump -k span -k attribute bank.txtrace | grep 'tid=4711'",
		  "What one thread did." },
		{ "txtrace dump --follow -k span bank.txtrace",
		  "Follow what the recorder writes." },
		{ NULL, NULL },
	},
	.notes = exit_status_notes,
	.operand = "FILE",
	.operand_min = 1,
	.operand_max = -1,
};

/* ---- records ---- */

struct dumping {
	struct cli *cli;
	const struct dump_options *values;
	struct log_input input;
	uint64_t from_ns;
	uint64_t to_ns; /* UINT64_MAX: no end */
	struct text line;
	uint64_t line_cnt;
	bool is_done; /* there are enough lines, or what comes is too late */
};

static bool is_wanted(struct dumping *dumping, const struct txtrace_record *record)
{
	const struct dump_options *values = dumping->values;
	uint64_t time_ns = record_finished_ns(record);
	struct txtrace_batch batch;

	if (record->kind != TXTRACE_RECORD_DAMAGE && dumping->to_ns < UINT64_MAX &&
	    time_ns >= dumping->to_ns) {
		dumping->is_done = txtrace_log_batch(dumping->input.log, &batch) &&
				   batch.first_ns >= dumping->to_ns;
		return false;
	}
	if (record->kind != TXTRACE_RECORD_DAMAGE && time_ns < dumping->from_ns)
		return false;
	return !values->kinds || (record->kind < 32 && values->kinds & 1u << record->kind);
}

static int print(struct dumping *dumping, const struct txtrace_record *record)
{
	FILE *out = dumping->cli->out.file;

	text_clear(&dumping->line);
	dump_line_append(&dumping->line, record);
	text_append(&dumping->line, "\n");
	if (dumping->line.err)
		return dumping->line.err;
	dumping->line_cnt++;
	dumping->is_done = dumping->line_cnt == dumping->values->limit;
	return fwrite(text_string(&dumping->line), 1, dumping->line.length, out) == dumping->line.length
		       ? 0
		       : cli_write_failed(dumping->cli, -errno);
}

/* Records that are there, at most max_cnt of them. false: there are no more, or no more are wanted. */
static bool dump_some(struct dumping *dumping, uint64_t max_cnt, int *err)
{
	struct txtrace_record record;

	for (uint64_t i = 0; i < max_cnt; i++) {
		if (*err || dumping->is_done || dumping->cli->write_errno ||
		    !log_input_next(&dumping->input, &record))
			return false;
		if (is_wanted(dumping, &record))
			*err = print(dumping, &record);
	}
	return true;
}

static int begin(struct dumping *dumping)
{
	struct log_input *input = &dumping->input;
	int status = moment_resolve(&dumping->values->from, input, 0, &dumping->from_ns);

	if (status == CLI_OK)
		status = moment_resolve(&dumping->values->to, input, UINT64_MAX, &dumping->to_ns);
	if (status == CLI_OK && dumping->from_ns > 0)
		status = log_input_seek(input, dumping->from_ns);
	return status;
}

static int end(struct dumping *dumping, int err)
{
	int status;

	if (err)
		cli_fail(dumping->cli, "can't dump '%s': %s", dumping->input.path, strerror(-err));
	status = log_input_close(&dumping->input);
	text_release(&dumping->line);
	return err ? CLI_FAILED : status;
}

/* ---- following ---- */

/* Waits for one of these signals, which are blocked; true: one came. */
static bool is_stopped(const sigset_t *stops, long wait_ns)
{
	const struct timespec wait = { .tv_nsec = wait_ns };

	return sigtimedwait(stops, NULL, &wait) > 0;
}

/* Who reads the output has gone: nothing would tell before there is something to write. */
static bool is_output_gone(const struct cli *cli)
{
	struct pollfd out = { .fd = fileno(cli->out.file) };

	return poll(&out, 1, 0) > 0 && out.revents & POLLERR;
}

static int follow_file(struct dumping *dumping, const char *path, const sigset_t *stops)
{
	bool is_too_early = false;
	int status, err = 0;

	for (;;) {
		status = log_input_follow(&dumping->input, dumping->cli, path, &is_too_early);
		if (!is_too_early)
			break;
		if (is_stopped(stops, POLL_EVERY_NS))
			return CLI_OK;
	}
	if (status)
		return status;
	status = begin(dumping);
	if (status) {
		log_input_close(&dumping->input);
		return status;
	}
	for (;;) {
		bool has_more = dump_some(dumping, LOOK_EVERY, &err);

		if (!has_more && fflush(dumping->cli->out.file) != 0)
			cli_write_failed(dumping->cli, -errno);
		if (err || dumping->is_done || dumping->cli->write_errno || dumping->input.is_at_end)
			break;
		if (is_stopped(stops, has_more ? 0 : POLL_EVERY_NS) ||
		    (!has_more && is_output_gone(dumping->cli)))
			break;
	}
	return end(dumping, err);
}

/* Until the capture ends, or somebody has seen enough. */
static int follow(struct dumping *dumping, const char *path)
{
	sigset_t stops, before;
	int status;

	sigemptyset(&stops);
	sigaddset(&stops, SIGINT);
	sigaddset(&stops, SIGTERM);
	sigprocmask(SIG_BLOCK, &stops, &before);
	status = follow_file(dumping, path, &stops);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return status;
}

static int run(struct cli *cli, int argc, char **argv)
{
	struct dump_options values = { .limit = 0 };
	struct dumping dumping = { .cli = cli, .values = &values };
	struct options_result result;
	int status, err = 0;

	if (!cli_parse(cli, &options, argc, argv, &values, &result, &status))
		return status;
	values.scope.finds_spans = true;
	cli->scope = &values.scope;
	if (values.follow && result.operand_cnt > 1)
		return cli_fail(
			cli,
			"'%s' is one operand too many: only one file can be followed",
			result.operands[1]);
	if (values.follow && strcmp(result.operands[0], "-") == 0)
		return cli_fail(cli, "can't follow the standard input: name the file that is being written");
	if (values.follow)
		return follow(&dumping, result.operands[0]);
	status = log_input_open(&dumping.input, cli, result.operands, result.operand_cnt, false);
	if (status)
		return status;
	status = begin(&dumping);
	if (status) {
		log_input_close(&dumping.input);
		return status;
	}
	dump_some(&dumping, UINT64_MAX, &err);
	return end(&dumping, err);
}

const struct command command_dump = { "dump", "the records as text, one line each", &options, .run = run };
