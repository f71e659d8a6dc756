/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/record_options.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

#define FIELD(field) offsetof(struct record_options, field)

static const struct option_spec specs[] = {
	OPTION("pid", 'p', OPTION_U64, "PID", "trace this process, which runs already", FIELD(pid), .minimum = 1, .maximum = INT_MAX),
	OPTION("output", 'o', OPTION_STRING, "FILE", "write the log to FILE (default txtrace.txtrace)", FIELD(output)),
	OPTION("duration", 'd', OPTION_DURATION, "TIME", "stop after TIME: 5, 5s, 500ms, 2m (default: when the target ends, or at Ctrl-C)",
	       FIELD(duration_ns), .minimum = 1),
	OPTION("ring-size", 0, OPTION_SIZE, "SIZE", "memory for events on their way out of the kernel (default 16M for each CPU)",
	       FIELD(ring_size_bytes), .minimum = 64 << 10),
	OPTION("fast-probes", 0, OPTION_FLAG, NULL,
	       "probes cost half (kernel 6.18 and later), but a child that the program forks dies at its next mark on kernels with a known bug; "
	       "only for programs that never fork. Without this they are used where a trial shows that children survive",
	       FIELD(wants_fast_probes)),
	OPTION("quiet", 'q', OPTION_FLAG, NULL, "no status line and no report; errors and losses are still said", FIELD(is_quiet)),
	OPTION("stream", 0, OPTION_STRING, "FILE", "also write every event to FILE as text, in order, to be replayed without a kernel",
	       FIELD(stream)),
	OPTION_END,
};

static const struct option_example examples[] = {
	{ "sudo txtrace-bpf -p $(pidof server) -d 10", "trace a running server for ten seconds" },
	{ "sudo txtrace-bpf -o app.txtrace -- ./app --fast", "run a command and trace it from its first instruction" },
	{ "txtrace report app.txtrace", "read the log afterwards, without root" },
	{ NULL, NULL },
};

static const char *const notes[] = {
	"Exit status: 0 recorded; with a command, its exit status (128 + the signal that ended it); 2 usage, or recording could not start; 3 recording "
	"stopped early, and the log holds what came before.",
	NULL,
};

static const char *const usages[] = { "-p PID", "-- COMMAND [ARGUMENT…]", NULL };

static const struct options options = {
	.program = "txtrace-bpf",
	.about = "Records where the time of each transaction span of a program goes: on a CPU, runnable without one, blocked and on what, or "
		 "waiting in the program's own queues. The program is marked with the macros of txtrace.h.",
	.version = TXTRACE_VERSION,
	.usages = usages,
	.specs = specs,
	.examples = examples,
	.notes = notes,
	.operand_max = 0,
	.takes_command = true,
};

static bool complain(const char *sentence, int *status)
{
	struct text text = { 0 };

	text_append_escaped(&text, sentence, strlen(sentence));
	fprintf(stderr, "txtrace-bpf: %s\n", text_string(&text));
	text_release(&text);
	*status = 2;
	return false;
}

bool record_options_parse(struct record_options *values, int argc, char **argv, int *status)
{
	struct options_result result;

	*values = (struct record_options){ .output = "txtrace.txtrace" };
	*status = 0;
	if (options_parse(&options, argc, argv, values, &result))
		return complain(result.error, status);
	if (result.wants_help) {
		options_print_help(&options, stdout);
		return false;
	}
	if (result.wants_version) {
		printf("txtrace-bpf %s\n", TXTRACE_VERSION);
		return false;
	}
	if (result.command && !result.command_cnt)
		return complain("there is no command behind '--'; see txtrace-bpf --help", status);
	values->command = result.command;
	if (values->pid && values->command)
		return complain("a process (-p) and a command (--) cannot be traced at once; give one of them", status);
	if (!values->pid && !values->command)
		return complain("nothing to trace; give a process (-p PID) or a command (-- COMMAND), see txtrace-bpf --help", status);
	return true;
}
