/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/commands/command.h"
#include "cli/exit_status.h"
#include "cli/files/log_export.h"
#include "cli/files/log_scope.h"
#include "cli/print/markup.h"
#include "cli/serve/page_server.h"

#define PERFETTO "https://ui.perfetto.dev"
#define FORMAT "perfetto"

struct open_options {
	unsigned int nest;
	const char *address;
	const char *ui;
	bool wants_no_browser;
	struct log_scope scope;
};

static int set_ui(void *options, const char *value, const char **complaint)
{
	struct open_options *values = options;
	const char *host = strncmp(value, "https://", 8) == 0  ? value + 8
			   : strncmp(value, "http://", 7) == 0 ? value + 7
							       : "";

	*complaint = "an address without a path, as in https://ui.perfetto.dev";
	values->ui = value;
	return *host && !strpbrk(host, "/?#\"'<>& ") ? 0 : -EINVAL;
}

static const struct option_spec specs[] = {
	OPTION("address", 'a', OPTION_STRING, "ADDRESS",
	       "serve at this address of the machine alone (default 127.0.0.1:0, any free port)",
	       offsetof(struct open_options, address)),
	OPTION("ui", 0, OPTION_CALL, "URL", "another copy of Perfetto's UI (default " PERFETTO ")", 0,
	       .call = set_ui),
	OPTION("no-browser", 0, OPTION_FLAG, NULL, "print the address and start no browser",
	       offsetof(struct open_options, wants_no_browser)),
	OPTION_NEST(struct open_options, nest),
	OPTIONS_SCOPE(struct open_options, scope),
	OPTION_END,
};

static const struct options options = {
	.program = "txtrace open",
	.about = "Shows a log in Perfetto's UI: serves it at the loopback address, and opens a page in the "
		 "browser that hands it to " PERFETTO
		 ". The log stays on this machine: the UI is a web page that "
		 "runs in the browser.",
	.usages = (const char *const[]){ "FILE\xe2\x80\xa6", NULL },
	.specs = specs,
	.examples =
		(const struct option_example[]){
			{ "txtrace open bank.txtrace", "Look at it in Perfetto." },
			{ "txtrace open --from 1s --to 2s --no-browser bank.txtrace",
			  "A part; the address is for a browser that is open already." },
			{ NULL, NULL },
		},
	.notes = exit_status_notes,
	.operand = "FILE",
	.operand_min = 1,
	.operand_max = -1,
};

/*
 * Perfetto's handshake, as its documentation on deep linking has it: PING until it answers PONG, then the
 * trace. Only what comes from its window and its address counts.
 */
static const char script[] =
	"const ui = document.body.dataset.ui, title = document.body.dataset.title;\n"
	"const say = (text) => { document.getElementById('state').textContent = text; };\n"
	"function show() {\n"
	"  const page = window.open(ui + '/');\n"
	"  if (!page) { say('The browser did not open a window by itself: press the button.'); return; }\n"
	"  say('Waiting for Perfetto…');\n"
	"  const trace = fetch('trace').then((reply) => {\n"
	"    if (!reply.ok) throw new Error('status ' + reply.status);\n"
	"    return reply.arrayBuffer();\n"
	"  });\n"
	"  const asking = setInterval(() => page.postMessage('PING', ui), 50);\n"
	"  window.addEventListener('message', async function answered(event) {\n"
	"    if (event.source !== page || event.origin !== ui || event.data !== 'PONG') return;\n"
	"    clearInterval(asking);\n"
	"    window.removeEventListener('message', answered);\n"
	"    try {\n"
	"      page.postMessage({ perfetto: { buffer: await trace, title } }, ui);\n"
	"      say('Perfetto has the trace.');\n"
	"    } catch (error) { say('The trace could not be read: ' + error.message + '. Does txtrace open "
	"still run?'); }\n"
	"  });\n"
	"}\n"
	"document.getElementById('show').addEventListener('click', show);\n"
	"show();\n";

struct opened {
	struct cli *cli;
	const struct open_options *values;
	const char *title;
	FILE *trace;
	size_t length;
};

static int answer_text(struct page_reply *reply, const char *type, const char *bytes)
{
	reply->type = type;
	reply->bytes = strdup(bytes);
	reply->length = strlen(bytes);
	return reply->bytes ? 0 : -ENOMEM;
}

static int answer_page(const struct opened *opened, struct page_reply *reply)
{
	struct text text = { 0 };
	int err;

	text_append(&text,
		    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta "
		    "http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'self'; "
		    "connect-src 'self'; base-uri 'none'; form-action 'none'\"><title>txtrace "
		    "open</title></head>\n"
		    "<body data-ui=\"");
	markup_append(&text, opened->values->ui);
	text_append(&text, "\" data-title=\"");
	markup_append(&text, opened->title);
	text_append(&text, "\">\n<h1>");
	markup_append(&text, opened->title);
	text_append(
		&text,
		"</h1>\n<p><button type=\"button\" id=\"show\">Open in Perfetto</button></p>\n"
		"<p id=\"state\" role=\"status\"></p>\n<script src=\"open.js\"></script>\n</body></html>\n");
	err = text.err ? text.err : answer_text(reply, "text/html; charset=utf-8", text_string(&text));
	text_release(&text);
	return err;
}

static int answer(void *context, const char *path, const struct page_request *request,
		  struct page_reply *reply)
{
	const struct opened *opened = context;

	(void)request;
	if (*path == '\0')
		return answer_page(opened, reply);
	if (strcmp(path, "open.js") == 0)
		return answer_text(reply, "text/javascript; charset=utf-8", script);
	if (strcmp(path, "trace") != 0)
		return -ENOENT;
	reply->type = "application/octet-stream";
	reply->fd = fileno(opened->trace);
	reply->length = opened->length;
	return 0;
}

/* With what the desktop calls a browser, if there is a desktop. */
static void start_browser(void *context, const char *address)
{
	const struct opened *opened = context;
	const char *const command[] = { "xdg-open", address, NULL };
	int nowhere;

	if (opened->values->wants_no_browser || (!getenv("DISPLAY") && !getenv("WAYLAND_DISPLAY")) || fork())
		return;
	nowhere = open("/dev/null", O_RDWR);
	for (int fd = 0; nowhere >= 0 && fd < 3; fd++)
		dup2(nowhere, fd);
	execvp(command[0], (char *const *)(uintptr_t)command);
	_exit(127);
}

static int export_trace(struct opened *opened, const struct options_result *result)
{
	const struct export_format *format = export_format_find(FORMAT);
	struct exported exported = { .cli = opened->cli };
	int status = exported_open(&exported, format, result, true), input_status, err;
	off_t end = 0;

	if (status)
		return status;
	opened->trace = tmpfile();
	err = opened->trace ? export_input(&exported, format, opened->trace) : -errno;
	if (!err && (fflush(opened->trace) || (end = ftello(opened->trace)) < 0))
		err = -errno;
	if (err)
		status = cli_fail(opened->cli, "can't write a temporary file: %s", strerror(-err));
	else
		opened->length = (size_t)end;
	input_status = exported_close(&exported);
	return status ? status : input_status;
}

static int run(struct cli *cli, int argc, char **argv)
{
	struct open_options values = { .address = "127.0.0.1:0", .ui = PERFETTO };
	struct opened opened = { .cli = cli, .values = &values };
	const struct page_site site = {
		.what = "the log", .answer = answer, .started = start_browser, .context = &opened
	};
	struct options_result result;
	const char *slash;
	int status, served;

	if (!cli_parse(cli, &options, argc, argv, &values, &result, &status))
		return status;
	slash = strrchr(result.operands[0], '/');
	opened.title = slash && slash[1] ? slash + 1 : result.operands[0];
	values.scope.finds_spans = true;
	cli->scope = &values.scope;
	cli->nest = values.nest;
	status = export_trace(&opened, &result);
	served = status == CLI_FAILED ? CLI_FAILED : page_server_run(cli, values.address, &site);
	if (opened.trace)
		fclose(opened.trace);
	return served ? served : status;
}

const struct command command_open = { "open", "show a log in Perfetto's UI", &options, .run = run };
