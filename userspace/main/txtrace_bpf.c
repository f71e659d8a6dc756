/* SPDX-License-Identifier: BSD-2-Clause */
/* txtrace-bpf: records. The privileged one of the two programs. */
#include <stdio.h>

#include "record/check_report.h"
#include "record/closing_words.h"
#include "record/dump_request.h"
#include "record/probe_listing.h"
#include "record/record_options.h"
#include "record/recorder.h"
#include "record/repeat.h"

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

static int list(const char *subject)
{
	struct error error = { "" };

	if (!probe_listing_print(subject, stdout, &error) && !fflush(stdout))
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

static int record(const struct record_options *options, const struct messages *messages)
{
	const struct confinement_handler confinement = { on_refused_call, &refused };
	struct recorder *recorder;
	struct recorder_result result;
	struct error error = { "" };
	int status = STATUS_NOT_STARTED, err;

	if (recorder_open(&recorder, options, messages, &confinement, &status, &error)) {
		messages_say(messages, MESSAGE_ERROR, "start", "%s", error.text);
		return status;
	}
	err = recorder_run(recorder, &error);
	closing_words_print(recorder, options, stdout, messages);
	recorder_result(recorder, &result);
	recorder_close(recorder);
	if (err)
		messages_say(messages, MESSAGE_ERROR, "stop", "%s", error.text);
	return err ? STATUS_STOPPED_EARLY : result.exit_status;
}

int main(int argc, char **argv)
{
	struct record_options options;
	struct messages messages = { .file = stderr };
	int status;

	if (!record_options_parse(&options, argc, argv, &status))
		return status;
	messages.format = options.messages;
	messages.is_quiet = options.is_quiet;
	if (options.dump_pid)
		status = dump((pid_t)options.dump_pid);
	else if (options.wants_check)
		status = check_report_print(&options, stdout);
	else if (options.repeat)
		status = repeat_run(&options, &messages, record);
	else
		status = options.list ? list(options.list) : record(&options, &messages);
	record_options_release(&options);
	return status;
}
