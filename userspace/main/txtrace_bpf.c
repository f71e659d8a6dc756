/* SPDX-License-Identifier: BSD-2-Clause */
/* txtrace-bpf: records. The privileged one of the two programs. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "record/report/check_report.h"
#include "record/report/closing_words.h"
#include "record/flight/dump_request.h"
#include "record/report/probe_listing.h"
#include "record/options/live_run.h"
#include "record/options/otlp_run.h"
#include "record/options/record_options.h"
#include "record/recorder.h"
#include "record/options/repeat.h"

enum {
	STATUS_NOT_STARTED = 2,
	STATUS_STOPPED_EARLY = 3,
};

static struct confinement_tally refused;

static void on_refused_call(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	confinement_refuse(&refused, info, context);
}

static int list(const struct record_options *options)
{
	struct error error = { "" };

	if (!probe_listing_print(options->list, options->list_pattern, options->caller, stdout, &error) &&
	    !fflush(stdout))
		return 0;
	fprintf(stderr, "txtrace-bpf: %s\n", error.text);
	return STATUS_NOT_STARTED;
}

static int dump(pid_t pid)
{
	struct error error = { "" };

	if (!dump_request_send(pid, &error))
		return 0;
	fprintf(stderr, "txtrace-bpf: %s\n", error.text);
	return STATUS_NOT_STARTED;
}

static int record_and_send(const struct record_options *options, const struct messages *messages,
			   struct otlp_run *otlp)
{
	const struct confinement_handler confinement = { on_refused_call, &refused };
	struct recorder *recorder;
	struct recorder_result result;
	struct error error = { "" };
	int status = STATUS_NOT_STARTED, err;

	if (recorder_open(&recorder, options, messages, &confinement, &status, &error)) {
		messages_say(messages, MESSAGE_ERROR, "start", "%s", error.text);
		otlp_run_end(otlp, messages);
		return status;
	}
	otlp_run_begin(otlp);
	err = recorder_run(recorder, &error);
	closing_words_print(recorder, options, stdout, messages);
	recorder_result(recorder, &result);
	if (err)
		messages_say(messages, MESSAGE_ERROR, "stop", "%s", error.text);
	status = err ? STATUS_STOPPED_EARLY : result.exit_status;
	if (recorder_leave_signals(recorder)) {
		fflush(NULL);
		_exit(status);
	}
	recorder_close(recorder);
	otlp_run_end(otlp, messages); /* the program is not traced any more while this waits */
	return status;
}

static int record(const struct record_options *options, const struct messages *messages)
{
	struct error error = { "" };
	struct otlp_run otlp;

	if (!otlp_run_fork(&otlp, options, &error))
		return record_and_send(options, messages, &otlp);
	messages_say(messages, MESSAGE_ERROR, "start", "%s", error.text);
	return STATUS_NOT_STARTED;
}

/* Opens the file of options, and presets. */
struct parse {
	struct record_options *options;
	int argc;
	char **argv;
	int status;
};

static int parse(void *context)
{
	struct parse *parse = context;

	return record_options_parse(parse->options, parse->argc, parse->argv, &parse->status);
}

static int act(const struct record_options *options)
{
	struct messages messages = {
		.file = stderr,
		.format = options->messages,
		.is_quiet = options->is_quiet,
	};

	if (options->dump_pid)
		return dump((pid_t)options->dump_pid);
	if (options->wants_check)
		return check_report_print(options, stdout);
	if (options->repeat)
		return repeat_run(options, &messages, record);
	if (options->wants_top)
		return live_run(options, &messages, record);
	return options->list ? list(options) : record(options, &messages);
}

int main(int argc, char **argv)
{
	struct record_options options;
	struct parse parsing = { .options = &options, .argc = argc, .argv = argv };
	struct caller *caller;
	int result = caller_new(&caller);

	if (result) {
		fprintf(stderr,
			"txtrace-bpf: cannot find the user who called sudo (SUDO_UID, SUDO_GID): %s\n",
			strerror(-result));
		return STATUS_NOT_STARTED;
	}
	result = caller_do(caller, parse, &parsing);
	if (result < 0) {
		fprintf(stderr, "txtrace-bpf: cannot take the rights of the user who called sudo: %s\n",
			strerror(-result));
		parsing.status = STATUS_NOT_STARTED;
	} else if (result > 0) {
		options.caller = caller;
		parsing.status = act(&options);
		record_options_release(&options);
	}
	caller_free(caller);
	return parsing.status;
}
