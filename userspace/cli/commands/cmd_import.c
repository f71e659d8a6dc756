/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/commands/command.h"
#include "cli/exit_status.h"
#include "cli/files/log_copy.h"
#include "cli/files/log_output.h"
#include "cli/files/progress.h"
#include "import/import.h"

#define NOT_GIVEN UINT_MAX

struct import_values {
	unsigned int format;
	unsigned int sui_variants;
	const char *lanes;
	const char *output;
	bool follow;
	bool payloads;
	const char *pairs;
};

static const char *format_name(size_t idx)
{
	const struct import_format *format = import_format_at(idx);

	return format ? format->name : NULL;
}

static const char *const variant_counts[] = { "2", "4", NULL };

static const struct option_spec specs[] = {
	OPTION("format", 'f', OPTION_CHOICE, "FORMAT", "format of the input (default: recognized by content)",
	       offsetof(struct import_values, format), .choice_at = format_name),
	OPTION("output", 'o', OPTION_STRING, "OUT", "write this log, once it is complete (required)",
	       offsetof(struct import_values, output)),
	OPTION("follow", 0, OPTION_FLAG, NULL,
	       "format monad: follow the ring until its writer ends, or Ctrl-C",
	       offsetof(struct import_values, follow)),
	OPTION("pairs", 0, OPTION_STRING, "BEGIN=END,\xe2\x80\xa6",
	       "formats perf and ftrace: events that begin and end a span of their thread",
	       offsetof(struct import_values, pairs)),
	OPTION("payloads", 0, OPTION_FLAG, NULL, "format monad: keep the bytes of events as attributes",
	       offsetof(struct import_values, payloads)),
	OPTION("sui-variants", 0, OPTION_CHOICE, "N",
	       "format sui: number of event types (default: 4 if one of the last two occurs)",
	       offsetof(struct import_values, sui_variants), .choices = variant_counts),
	OPTION("lanes", 0, OPTION_STRING, "FILE",
	       "format sui: which objects each transaction takes, a line for each: its digest, then the "
	       "objects",
	       offsetof(struct import_values, lanes)),
	OPTION_END,
};

static const char *const notes[] = {
	"OUT is written under a temporary name and renamed when it is complete; the input is never changed.",
	"Exit status: 0 all of the input is in OUT; 1 OUT has what could be read, and its readers report "
	"that something is missing; 2 there is no OUT: wrong usage, an input of another format, or an OUT "
	"that can't be written.",
	NULL,
};

static const struct options options = {
	.program = "txtrace import",
	.about = "Writes another tool's trace as a log, which every command reads. Inputs may be compressed "
		 "with gzip or zstd; a directory stands for the files in it, in the order of their numbers; "
		 "- is standard input. What the input does not contain is unknown in the log.",
	.usages = (const char *const[]){ "[--format FORMAT] -o OUT FILE\xe2\x80\xa6", NULL },
	.specs = specs,
	.examples =
		(const struct option_example[]){
			{ "txtrace import -o tokio.txtrace trace.0.bin",
			  "One file; its format is recognized." },
			{ "txtrace import -f tokio -o tokio.txtrace traces/", "A rotated set." },
			{ NULL, NULL },
		},
	.notes = notes,
	.operand = "FILE",
	.operand_min = 1,
	.operand_max = -1,
};

/* The log, which is made when the format knows its header. */
struct importing {
	struct cli *cli;
	const char *path;
	struct log_output output;
	bool has_output;
	struct progress progress;
	uint64_t clock_ns; /* what the wall clock is ahead of the times of the records */
	int status;
};

static int begin(void *context, const struct txtrace_log_info *info)
{
	struct importing *importing = context;

	importing->clock_ns = info->start_realtime_ns - info->start_monotonic_ns;
	importing->status = log_output_open(&importing->output, importing->cli, importing->path, info,
					    LOG_CODEC_ZSTD);
	importing->has_output = importing->status == CLI_OK;
	return importing->has_output ? 0 : -EIO;
}

static int add(void *context, struct txtrace_record *record)
{
	struct importing *importing = context;

	return log_output_add(&importing->output, record, importing->clock_ns);
}

static void say(void *context, const char *sentence)
{
	struct importing *importing = context;

	cli_warn(importing->cli, "%s", sentence);
}

static void show_progress(void *context, uint64_t done_bytes, uint64_t total_bytes)
{
	struct importing *importing = context;

	if (total_bytes != UINT64_MAX && progress_is_due(&importing->progress))
		progress_show(&importing->progress, done_bytes, total_bytes);
}

/* Waits for Ctrl-C, which is blocked. */
static bool wait_for_stop(void *context, uint64_t time_ns)
{
	const struct timespec wait = { .tv_nsec = (long)time_ns };
	sigset_t stops;

	(void)context;
	sigemptyset(&stops);
	sigaddset(&stops, SIGINT);
	sigaddset(&stops, SIGTERM);
	return sigtimedwait(&stops, NULL, &wait) > 0;
}

static void block_stops(sigset_t *before)
{
	sigset_t stops;

	sigemptyset(&stops);
	sigaddset(&stops, SIGINT);
	sigaddset(&stops, SIGTERM);
	sigprocmask(SIG_BLOCK, &stops, before);
}

static int finish(struct importing *importing, int err, const struct import_result *result)
{
	int status;

	if (importing->status)
		return importing->status; /* the output could not be made, which was said */
	if (err == -ECANCELED) {
		if (importing->has_output)
			log_output_abort(&importing->output);
		return cli_fail(importing->cli, "%s", result->error.text);
	}
	if (!importing->has_output)
		return cli_fail(importing->cli, "%s", strerror(-err));
	status = log_output_close(&importing->output, err, result->record_cnt);
	return status ? status : result->problem_cnt ? CLI_INCOMPLETE : CLI_OK;
}

static int run(struct cli *cli, int argc, char **argv)
{
	struct import_values values = { .format = NOT_GIVEN, .sui_variants = NOT_GIVEN };
	struct importing importing = { .cli = cli };
	const struct import_sink sink = { .begin = begin,
					  .add = add,
					  .say = say,
					  .progress = show_progress,
					  .wait = wait_for_stop,
					  .context = &importing };
	const struct import_format *format = NULL;
	struct import_options import_options = { 0 };
	struct import_result imported;
	struct options_result result;
	sigset_t before;
	char *output;
	int status, err;

	if (!cli_parse(cli, &options, argc, argv, &values, &result, &status))
		return status;
	status = log_copy_check_output(cli, "import", values.output);
	if (status)
		return status;
	importing.path = values.output;
	progress_init(&importing.progress, cli, true);
	if (values.format != NOT_GIVEN)
		format = import_format_at(values.format);
	if (values.sui_variants != NOT_GIVEN)
		import_options.sui_variants = values.sui_variants == 0 ? 2 : 4;
	import_options.is_following = values.follow;
	import_options.with_payloads = values.payloads;
	import_options.pairs = values.pairs;
	output = strdup(values.output); /* dirname() writes into it */
	if (!output)
		return cli_fail(cli, "%s", strerror(ENOMEM));
	import_options.directory = dirname(output);
	if (values.follow)
		block_stops(&before);
	import_options.lanes = values.lanes;
	err = import_run(format, (const char *const *)result.operands, (size_t)result.operand_cnt,
			 &import_options, &sink, &imported);
	status = finish(&importing, err, &imported);
	if (values.follow)
		sigprocmask(SIG_SETMASK, &before, NULL);
	free(output);
	return status;
}

const struct command command_import = { "import", "write another tool's trace as a log", &options,
					.run = run };
