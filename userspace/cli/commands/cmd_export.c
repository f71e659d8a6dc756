/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/named_output.h"
#include "cli/commands/command.h"
#include "cli/commands/otlp_send.h"
#include "cli/exit_status.h"
#include "cli/files/log_export.h"
#include "cli/files/log_input.h"
#include "cli/files/log_scope.h"
#include "cli/files/output_directory.h"
#include "cli/files/output_file.h"
#include "export/export.h"

#define NO_FORMAT UINT_MAX

struct export_options {
	unsigned int nest;
	unsigned int format;
	const char *output;
	struct otlp_send_options otlp;
	struct log_scope scope;
};

static const char *format_name(size_t idx)
{
	const struct export_format *format = export_format_at(idx);

	return format ? format->name : NULL;
}

static const struct option_spec specs[] = {
	OPTION("format", 'f', OPTION_CHOICE, "FORMAT", "format of the output (default: by the suffix of OUT)",
	       offsetof(struct export_options, format), .choice_at = format_name),
	OPTION("output", 'o', OPTION_STRING, "OUT",
	       "write this file, or directory with ctf and sui-files, once it is complete (default: standard "
	       "output)",
	       offsetof(struct export_options, output)),
	OPTION("otlp", 0, OPTION_STRING, "URL",
	       "send the spans to a receiver of OpenTelemetry's protocol over HTTP, as in "
	       "http://localhost:4318; 'env': the URL in OTEL_EXPORTER_OTLP_ENDPOINT",
	       offsetof(struct export_options, otlp.url)),
	OPTION("follow", 0, OPTION_FLAG, NULL,
	       "with --otlp: a file that is still being written, and the files after it, until the capture "
	       "ends",
	       offsetof(struct export_options, otlp.follow)),
	OPTION("headers-file", 0, OPTION_STRING, "FILE",
	       "with --otlp: send these headers, lines NAME: VALUE, such as a key of the receiver",
	       offsetof(struct export_options, otlp.headers_file)),
	OPTION("give-up", 0, OPTION_DURATION, "TIME",
	       "with --otlp: how long to send a request again before it is dropped (default 1m)",
	       offsetof(struct export_options, otlp.give_up_ns), .minimum = 1),
	OPTION_NEST(struct export_options, nest),
	OPTIONS_SCOPE(struct export_options, scope),
	OPTION_END,
};

static const char *const notes[] = {
	"--otlp uses the variables OTEL_EXPORTER_OTLP_HEADERS, _COMPRESSION, _TIMEOUT, _PROTOCOL, "
	"_CERTIFICATE, _CLIENT_KEY and _CLIENT_CERTIFICATE, or the same with OTEL_EXPORTER_OTLP_TRACES_.",
	"Exit status: 0 it was written or sent; 1 the log is damaged, cut off or not closed, or spans were "
	"not taken by the receiver; 2 wrong usage, an unreadable log, or output that can't be written or "
	"sent.",
	NULL,
};

static const struct options options = {
	.program = "txtrace export",
	.about = "Writes the log in another format: JSON Lines with every record for your own tools, or a "
		 "picture for ui.perfetto.dev (perfetto, protobuf) and chrome://tracing (chrome, JSON). For "
		 "other tools: a trace for "
		 "babeltrace2 and Trace Compass (ctf), profiles by span path and code (pprof, speedscope), "
		 "one for profiler.firefox.com (firefox), "
		 "traces for OpenTelemetry (otlp, otlp-json), "
		 "a table of spans (csv), the telemetry of a Tokio runtime (tokio).",
	.usages = (const char *const[]){ "--format FORMAT FILE\xe2\x80\xa6", "-o OUT FILE\xe2\x80\xa6",
					 "--otlp URL FILE\xe2\x80\xa6", NULL },
	.specs = specs,
	.examples =
		(const struct option_example[]){
			{ "txtrace export -f jsonl bank.txtrace | jq 'select(.type == \"span\" and .wall_ns "
			  "> 5e6)'",
			  "Spans longer than 5 ms." },
			{ "txtrace export -f perfetto -o bank.pftrace bank.txtrace",
			  "A picture; open it at https://ui.perfetto.dev." },
			{ "txtrace export --otlp http://localhost:4318 bank.txtrace",
			  "The spans to a collector of OpenTelemetry." },
			{ NULL, NULL },
		},
	.notes = notes,
	.operand = "FILE",
	.operand_min = 1,
	.operand_max = -1,
};

static bool ends_with(const char *text, const char *end)
{
	size_t text_length = strlen(text), length = strlen(end);

	return length > 0 && text_length > length && strcmp(text + text_length - length, end) == 0;
}

/* NULL: a sentence was said. */
static const struct export_format *choose_format(struct cli *cli, const struct export_options *values)
{
	const struct export_format *chosen = NULL, *format;

	if (values->format != NO_FORMAT)
		return export_format_at(values->format);
	for (size_t i = 0; values->output && (format = export_format_at(i)); i++) {
		if (ends_with(values->output, format->suffix) &&
		    (!chosen || strlen(format->suffix) > strlen(chosen->suffix)))
			chosen = format; /* .speedscope.json is no .json */
	}
	if (chosen)
		return chosen;
	if (values->output)
		cli_fail(cli,
			 "the suffix of '%s' is no known format; give --format, see 'txtrace help export'",
			 values->output);
	else
		cli_fail(cli, "the format is missing; give --format, see 'txtrace help export'");
	return NULL;
}

static int fail_output(struct cli *cli, const char *path, int err)
{
	if (err == -EBUSY)
		return cli_fail(cli, "can't write '%s': it is the log itself", path);
	return cli_fail(cli, "can't write '%s': %s", path, named_output_explain(err));
}

/* Which of the two files it was, a format with a temporary one does not tell. */
static int fail_export(struct cli *cli, const char *path, const struct export_format *format, int err)
{
	if (!format->work_folder)
		return fail_output(cli, path, err);
	return cli_fail(
		cli, "can't write '%s', with a temporary file in '%s': %s; set TMPDIR to another directory",
		path, format->work_folder(), named_output_explain(err));
}

static int export_to_file(struct exported *exported, const char *path, const struct export_format *format)
{
	struct log_input *input = &exported->input;
	struct cli *cli = exported->cli;
	struct output_file output;
	int err = log_input_has_file(input, path) ? -EBUSY
						  : output_file_open(&output, path, input->path, true);

	if (err)
		return fail_output(cli, path, err);
	err = export_input(exported, format, output.file);
	if (err) {
		output_file_abort(&output);
		return fail_export(cli, path, format, err);
	}
	err = output_file_commit(&output);
	return err ? fail_output(cli, path, err) : CLI_OK;
}

static int export_to_directory(struct exported *exported, const char *path,
			       const struct export_format *format)
{
	struct cli *cli = exported->cli;
	struct output_directory output;
	struct export *export;
	int err = output_directory_open(&output, path);

	if (err == -EEXIST)
		return cli_fail(cli,
				"can't write '%s': it exists already, and format '%s' makes a directory; "
				"remove it first, or choose another name",
				path, format->name);
	if (err)
		return fail_output(cli, path, err);
	err = export_open_in(&export, format, output.fd, &exported->input.info);
	if (!err)
		err = export_records(exported, export, NULL);
	if (!err)
		err = output_directory_commit(&output);
	else
		output_directory_abort(&output);
	return err ? fail_output(cli, path, err) : CLI_OK;
}

static int export_to_stdout(struct exported *exported, const struct export_format *format)
{
	struct cli *cli = exported->cli;
	int err;

	if (!format->open)
		return cli_fail(cli, "format '%s' makes a directory: give its name with --output",
				format->name);
	if (format->is_binary && cli->out.is_terminal)
		return cli_fail(cli, "format '%s' is not for a terminal: give a file with --output",
				format->name);
	cli_keep_lines(cli);
	err = export_input(exported, format, cli->out.file);
	if (err && ferror(cli->out.file))
		err = cli_write_failed(cli, err);
	return err ? cli_fail(cli, "can't export '%s': %s", exported->input.path, strerror(-err)) : CLI_OK;
}

/* false: a sentence was said. */
static bool check_otlp(struct cli *cli, const struct export_options *values)
{
	const struct otlp_send_options *otlp = &values->otlp;

	if (otlp->url && (values->output || values->format != NO_FORMAT))
		cli_fail(cli, "--otlp sends spans: --output and --format are for files");
	else if (!otlp->url && (otlp->follow || otlp->headers_file || otlp->give_up_ns != OTLP_GIVE_UP_NS))
		cli_fail(cli, "--follow, --headers-file and --give-up are for --otlp");
	else if (otlp->follow && values->nest)
		cli_fail(cli, "--nest reads a log twice: not with --follow");
	else
		return true;
	return false;
}

static int run(struct cli *cli, int argc, char **argv)
{
	struct export_options values = { .format = NO_FORMAT, .otlp.give_up_ns = OTLP_GIVE_UP_NS };
	const struct export_format *format;
	struct options_result result;
	struct exported exported = { .cli = cli };
	int status, input_status;

	if (!cli_parse(cli, &options, argc, argv, &values, &result, &status))
		return status;
	if (!check_otlp(cli, &values))
		return CLI_FAILED;
	if (values.otlp.url) {
		values.scope.finds_spans = !values.otlp.follow;
		cli->scope = &values.scope;
		cli->nest = values.nest;
		return otlp_send(cli, &values.otlp, &result);
	}
	if (values.output && strcmp(values.output, "-") == 0)
		values.output = NULL;
	format = choose_format(cli, &values);
	if (!format)
		return CLI_FAILED;
	values.scope.finds_spans = true;
	cli->scope = &values.scope;
	cli->nest = values.nest;
	cli->is_of_gas = strcmp(format->name, "fvm") == 0;
	status = exported_open(&exported, format, &result, values.output || !cli->out.is_terminal);
	if (status)
		return status;
	if (values.output && format->open_in)
		status = export_to_directory(&exported, values.output, format);
	else if (values.output)
		status = export_to_file(&exported, values.output, format);
	else
		status = export_to_stdout(&exported, format);
	input_status = exported_close(&exported);
	return status ? status : input_status;
}

const struct command command_export = { "export", "write a log as JSON Lines, a picture, or another format",
					&options, .run = run };
