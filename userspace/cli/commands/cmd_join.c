/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/named_output.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/commands/command.h"
#include "cli/commands/context_ledger.h"
#include "cli/exit_status.h"
#include "cli/files/log_input.h"
#include "cli/files/output_file.h"
#include "cli/files/progress.h"
#include "import/import_source.h"

#define READ_BYTES (1u << 20)
#define PIECE_BYTES (1u << 18) /* are written at a time, while the cache has them */

struct join_options {
	const char *output;
};

static const struct option_spec specs[] = {
	OPTION("output", 'o', OPTION_STRING, "OUT",
	       "write the traces to this file, once they are complete (default: standard output)",
	       offsetof(struct join_options, output)),
	OPTION_END,
};

static const char *const notes[] = {
	"All attributes are times in ns of the span and of the spans below it in the same process. Spans "
	"that have attributes of txtrace already stay as they are.",
	"Exit status: 0 the traces were written; 1 the log is damaged, cut off or not closed, or no span "
	"of the traces is in it; 2 wrong usage, an unreadable log or unreadable traces, or output that "
	"can't be written.",
	NULL,
};

static const struct options options = {
	.program = "txtrace join",
	.about =
		"Adds to the spans of OpenTelemetry traces where their time went: on a CPU, runnable, "
		"blocked and for what reason, or detached. LOG was recorded with txtrace-bpf --otel; TRACES "
		"is a file of a collector (JSON Lines or protobuf; maybe compressed with gzip or zstd), or - "
		"for standard input. What is written is TRACES with these attributes; all else is as it was.",
	.usages = (const char *const[]){ "[-o OUT] LOG TRACES", NULL },
	.specs = specs,
	.examples =
		(const struct option_example[]){
			{ "txtrace join -o joined.jsonl shop.txtrace traces.jsonl",
			  "The traces of a collector's file exporter." },
			{ NULL, NULL },
		},
	.notes = notes,
	.operand = "FILE",
	.operand_min = 2,
	.operand_max = 2,
};

struct joining {
	struct cli *cli;
	const char *log_path;
	const char *traces_path;
	struct context_ledger ledger;
	struct text traces;
	FILE *file; /* where they go */
	int write_err;
	struct progress progress;
};

/* ---- reading ---- */

static int read_log(struct joining *joining, char *path)
{
	struct log_input input;
	struct txtrace_record record;
	int status = log_input_open(&input, joining->cli, &path, 1, true), err = 0;

	if (status)
		return status;
	context_ledger_begin(&joining->ledger, input.info.start_realtime_ns, input.capture_id);
	while (!err && log_input_next(&input, &record))
		err = context_join_record(joining->ledger.join, &record,
					  (int64_t)txtrace_log_realtime_ns(input.log, 0));
	status = log_input_close(&input);
	return err ? cli_fail(joining->cli, "not enough memory for '%s'", path) : status;
}

static int read_traces(struct joining *joining)
{
	struct import_source *source;
	const uint8_t *bytes;
	size_t length;
	int err = import_source_open(&source, joining->traces_path);

	if (err)
		return cli_fail(joining->cli, "can't read '%s': %s", joining->traces_path, strerror(-err));
	while ((bytes = import_source_peek(source, READ_BYTES, &length)) && length) {
		text_append_bytes(&joining->traces, (const char *)bytes, length);
		import_source_skip(source, length);
	}
	err = import_source_error(source);
	if (!err && (!bytes || joining->traces.err))
		err = -ENOMEM;
	import_source_close(source);
	return err ? cli_fail(joining->cli, "can't read '%s': %s", joining->traces_path,
			      err == -EBADMSG ? "its compressed data are damaged or cut off" : strerror(-err))
		   : CLI_OK;
}

/* ---- joining ---- */

/* The traces are read twice. */
static void show_progress(struct joining *joining, size_t offset, bool is_first)
{
	size_t length = joining->traces.length;

	if (progress_is_due(&joining->progress))
		progress_show(&joining->progress, is_first ? offset : length + offset, 2 * length);
}

static int see_span(void *context, const struct otlp_traces_span *span, struct otlp_traces_added *added)
{
	struct joining *joining = context;

	(void)added;
	show_progress(joining, span->offset, true);
	return context_ledger_see(&joining->ledger, span);
}

static int add_sums(void *context, const struct otlp_traces_span *span, struct otlp_traces_added *added)
{
	struct joining *joining = context;

	show_progress(joining, span->offset, false);
	return context_ledger_add(&joining->ledger, span, added);
}

/* What can't be read is found here, before anything is written. */
static int see_all(struct joining *joining)
{
	const struct otlp_traces_visitor visitor = { .span = see_span, .context = joining };
	size_t offset = 0;
	int err;

	progress_init(&joining->progress, joining->cli, true);
	err = otlp_traces_walk(text_string(&joining->traces), joining->traces.length, &visitor, NULL,
			       &offset);
	if (err == -EBADMSG)
		return cli_fail(joining->cli,
				"'%s' has no traces of OpenTelemetry, or is damaged, at offset %zu",
				joining->traces_path, offset);
	return err ? cli_fail(joining->cli, "not enough memory for '%s'", joining->traces_path) : CLI_OK;
}

/* ---- writing ---- */

static int write_piece(struct joining *joining, struct text *out)
{
	if (fwrite(text_string(out), 1, out->length, joining->file) != out->length) {
		joining->write_err = -errno;
		return -EIO;
	}
	text_clear(out);
	return 0;
}

static int drain(void *context, struct text *out)
{
	return out->length < PIECE_BYTES ? 0 : write_piece(context, out);
}

/* 0, -EIO: see joining->write_err; or -ENOMEM. */
static int add_all(struct joining *joining)
{
	const struct otlp_traces_visitor visitor = { .span = add_sums, .drain = drain, .context = joining };
	struct text out = { 0 };
	size_t offset;
	int err = otlp_traces_walk(text_string(&joining->traces), joining->traces.length, &visitor, &out,
				   &offset);

	if (!err)
		err = write_piece(joining, &out);
	text_release(&out);
	return err;
}

static int fail_output(struct cli *cli, const char *path, int err)
{
	if (err == -EBUSY)
		return cli_fail(cli, "can't write '%s': it is what is read", path);
	return cli_fail(cli, "can't write '%s': %s", path, named_output_explain(err));
}

static int write_file(struct joining *joining, const char *path)
{
	struct output_file output;
	int err = file_is_same(path, joining->log_path)
			  ? -EBUSY
			  : output_file_open(&output, path, joining->traces_path, true);

	if (err)
		return fail_output(joining->cli, path, err);
	joining->file = output.file;
	err = add_all(joining);
	if (err)
		output_file_abort(&output);
	else
		err = joining->write_err = output_file_commit(&output);
	if (joining->write_err)
		return fail_output(joining->cli, path, joining->write_err);
	return err ? cli_fail(joining->cli, "not enough memory for '%s'", path) : CLI_OK;
}

static int write_out(struct joining *joining, const char *path)
{
	struct cli *cli = joining->cli;
	int err;

	if (path && strcmp(path, "-") != 0)
		return write_file(joining, path);
	if (cli->out.is_terminal &&
	    !otlp_traces_is_json(text_string(&joining->traces), joining->traces.length))
		return cli_fail(
			cli, "these traces are in protobuf, not for a terminal: give a file with --output");
	cli_keep_lines(cli);
	joining->file = cli->out.file;
	err = add_all(joining);
	if (joining->write_err)
		return cli_write_failed(cli, joining->write_err);
	return err ? cli_fail(cli, "not enough memory for '%s'", joining->traces_path) : CLI_OK;
}

/* Returns what the result deserves. */
static int tell(const struct joining *joining)
{
	struct context_join_stats stats;
	char spans[UNITS_SIZE], joined[UNITS_SIZE], cnt[UNITS_SIZE];

	context_join_stats(joining->ledger.join, &stats);
	cli_warn(joining->cli, "added the ledger to %s of %s spans",
		 units_format_count(joined, joining->ledger.joined_cnt),
		 units_format_count(spans, joining->ledger.span_cnt));
	if (joining->ledger.own_cnt)
		cli_warn(joining->cli, "spans that have attributes of txtrace already, left as they are: %s",
			 units_format_count(cnt, joining->ledger.own_cnt));
	if (stats.unknown_cnt)
		cli_warn(joining->cli,
			 "spans in the log that are not in the traces: %s (not sampled, not exported yet, or "
			 "in "
			 "another file)",
			 units_format_count(cnt, stats.unknown_cnt));
	if (!stats.stay_cnt)
		cli_warn(joining->cli,
			 "the log has no contexts: it was not recorded with --otel, or no process "
			 "has published any");
	return joining->ledger.joined_cnt || joining->ledger.own_cnt ? CLI_OK : CLI_INCOMPLETE;
}

static int run_join(struct joining *joining, const struct join_options *values, char *log_path)
{
	int log_status, status;

	log_status = read_log(joining, log_path);
	if (log_status == CLI_FAILED)
		return log_status;
	status = read_traces(joining);
	if (!status)
		status = see_all(joining);
	if (!status)
		status = write_out(joining, values->output);
	if (!status)
		status = tell(joining);
	return status ? status : log_status;
}

static int run(struct cli *cli, int argc, char **argv)
{
	struct join_options values = { 0 };
	struct options_result result;
	struct joining joining = { .cli = cli };
	int status;

	if (!cli_parse(cli, &options, argc, argv, &values, &result, &status))
		return status;
	joining.log_path = result.operands[0];
	joining.traces_path = result.operands[1];
	if (!strcmp(joining.log_path, "-") && !strcmp(joining.traces_path, "-"))
		return cli_fail(cli, "the log and the traces can't both be standard input");
	status = context_ledger_open(&joining.ledger) ? cli_fail(cli, "not enough memory")
						      : run_join(&joining, &values, result.operands[0]);
	context_ledger_close(&joining.ledger);
	text_release(&joining.traces);
	return status;
}

const struct command command_join = { "join", "add where the time went to traces of OpenTelemetry", &options,
				      .run = run };
