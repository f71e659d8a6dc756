/* SPDX-License-Identifier: BSD-2-Clause */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/named_output.h"
#include "cli/commands/command.h"
#include "cli/exit_status.h"
#include "cli/files/log_scope.h"
#include "cli/files/output_file.h"
#include "cli/serve/page_server.h"
#include "cli/view/view_page.h"

struct view_options {
	unsigned int nest;
	const char *output;
	const char *address;
	struct log_scope scope;
};

static const struct option_spec specs[] = {
	OPTION("output", 'o', OPTION_STRING, "OUT", "write this file instead of standard output",
	       offsetof(struct view_options, output)),
	OPTION("serve", 0, OPTION_STRING, "ADDRESS",
	       "serve the page at this address of the machine alone, as in 127.0.0.1:8080, and parts of the "
	       "log "
	       "in more detail",
	       offsetof(struct view_options, address)),
	OPTION_NEST(struct view_options, nest),
	OPTIONS_SCOPE(struct view_options, scope),
	OPTION_END,
};

static const struct options options = {
	.program = "txtrace view",
	.about = "Writes a page for a browser: the report, a heat map of latency, the slowest spans, a "
		 "timeline of threads, and flame graphs. For the selected span it shows the ledger, the "
		 "waits and who ended them, and the critical path. The page is one file of at most 10 MB "
		 "and needs no network. For a large log it contains totals of everything, and only the "
		 "longest spans and thread states one by one. docs/view.md explains each part.",
	.usages = (const char *const[]){ "FILE\xe2\x80\xa6 -o PAGE.html",
					 "FILE\xe2\x80\xa6 --serve 127.0.0.1:PORT", NULL },
	.specs = specs,
	.examples =
		(const struct option_example[]){
			{ "txtrace view -o bank.html bank.txtrace && xdg-open bank.html",
			  "Look at the whole log." },
			{ "txtrace view --from 2s --to 3s -o second.html bank.txtrace",
			  "One second, in more detail." },
			{ "txtrace view --serve 127.0.0.1:8080 bank.txtrace",
			  "A large log: zoom in, and press More detail." },
			{ NULL, NULL },
		},
	.notes = exit_status_notes,
	.operand = "FILE",
	.operand_min = 1,
	.operand_max = -1,
};

static int write_page(struct cli *cli, const struct view_options *values, const struct view_log *log)
{
	struct output_file output;
	int err = log_input_has_file(&log->input, values->output)
			  ? -EBUSY
			  : output_file_open(&output, values->output, log->input.path, true);

	if (!err) {
		err = view_page_write(output.file, log, &view_page_alone);
		if (!err)
			err = output_file_commit(&output);
		else
			output_file_abort(&output);
	}
	if (!err)
		return CLI_OK;
	if (err == -EBUSY)
		return cli_fail(cli, "can't write '%s': it is the log itself", values->output);
	if (err == -E2BIG)
		return cli_fail(cli,
				"can't write '%s': the page would be too large; choose a part of the log "
				"with --from and --to",
				values->output);
	return cli_fail(cli, "can't write '%s': %s", values->output, named_output_explain(err));
}

static int make_page(struct cli *cli, const struct view_options *values, const struct options_result *result)
{
	struct view_log log;
	int err, input_status, status = view_log_read(&log, cli, result->operands, result->operand_cnt);

	if (status != CLI_OK)
		return status;
	if (values->output) {
		status = write_page(cli, values, &log);
	} else {
		err = view_page_write(cli->out.file, &log, &view_page_alone);
		if (err)
			status = cli_fail(cli, "can't draw '%s': %s", log.input.path, strerror(-err));
	}
	input_status = view_log_close(&log);
	return status ? status : input_status;
}

/* ---- as a server ---- */

struct served_view {
	struct cli *cli;
	const struct view_options *values;
	const struct options_result *result;
};

/* A time of CLOCK_MONOTONIC in ns, as the page asks for it. false: it is none. */
static bool take_time(struct moment *moment, char *buffer, size_t size, const char *digits)
{
	const char *complaint;

	if (!digits)
		return true;
	for (const char *at = digits; *at; at++) {
		if (!isdigit((unsigned char)*at))
			return false;
	}
	return *digits && (size_t)snprintf(buffer, size, "%sabs", digits) < size &&
	       moment_take(moment, buffer, &complaint) == 0;
}

static int answer(void *context, const char *path, const struct page_request *request,
		  struct page_reply *reply)
{
	const struct served_view *view = context;
	struct view_options values = *view->values;
	struct screen out = view->cli->out;
	char from[32], to[32];
	FILE *file;
	int status;

	if (*path ||
	    !take_time(&values.scope.from, from, sizeof(from), page_request_value(request, "from")) ||
	    !take_time(&values.scope.to, to, sizeof(to), page_request_value(request, "to")))
		return -ENOENT;
	file = open_memstream(&reply->bytes, &reply->length);
	if (!file)
		return -ENOMEM;
	view->cli->out = (struct screen){ .file = file };
	view->cli->scope = &values.scope;
	status = make_page(view->cli, &values, view->result);
	view->cli->out = out;
	view->cli->scope = &view->values->scope;
	return fclose(file) ? -ENOMEM : status == CLI_FAILED ? -EIO : 0;
}

static int run(struct cli *cli, int argc, char **argv)
{
	struct view_options values = { 0 };
	struct options_result result;
	struct served_view view = { cli, &values, &result };
	const struct page_site site = { .what = "the page", .answer = answer, .context = &view };
	int status;

	if (!cli_parse(cli, &options, argc, argv, &values, &result, &status))
		return status;
	if (values.output && strcmp(values.output, "-") == 0)
		values.output = NULL;
	if (values.address && values.output)
		return cli_fail(cli, "--output and --serve exclude each other");
	if (!values.output && !values.address && cli->out.is_terminal)
		return cli_fail(cli, "a page is no text for a terminal; give it a name with -o PAGE.html");
	values.scope.finds_spans = true;
	cli->scope = &values.scope;
	cli->nest = values.nest;
	return values.address ? page_server_run(cli, values.address, &site)
			      : make_page(cli, &values, &result);
}

const struct command command_view = { "view", "a page for a browser: report, heat map, timeline, flame graph",
				      &options, .run = run };
