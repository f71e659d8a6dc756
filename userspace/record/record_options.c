/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/record_options.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "log/write/log_writer.h"
#include "record/log_place.h"

#define FIELD(field) offsetof(struct record_options, field)

#define DEFAULT_ROTATE_BYTES (100u << 20)
#define DEFAULT_KEEP 10
#define DEFAULT_STACK_RATE 99
#define DEFAULT_QUEUE_BYTES (64u << 20)

static const char *const codecs[] = { [LOG_CODEC_NONE] = "none", [LOG_CODEC_ZSTD] = "zstd", [LOG_CODEC_LZ4] = "lz4", NULL };

static const char *const unwinds[] = { [STACK_UNWIND_DWARF] = "dwarf", [STACK_UNWIND_FRAME_POINTERS] = "frame-pointers", NULL };

static const struct option_spec specs[] = {
	OPTION("pid", 'p', OPTION_U64, "PID", "trace this process, which runs already", FIELD(pid), .minimum = 1, .maximum = INT_MAX),
	OPTION("output", 'o', OPTION_STRING, "FILE",
	       "write the log to FILE, or to txtrace.txtrace in the directory FILE (default txtrace.txtrace); what is there gets a number", FIELD(output)),
	OPTION("duration", 'd', OPTION_DURATION, "TIME", "stop after TIME: 5, 5s, 500ms, 2m (default: when the target ends, or at Ctrl-C)",
	       FIELD(duration_ns), .minimum = 1),
	OPTION("ring-size", 0, OPTION_SIZE, "SIZE", "memory for events on their way out of the kernel (default 16M for each CPU)",
	       FIELD(ring_size_bytes), .minimum = 64 << 10),
	OPTION_GROUP("where the code is"),
	OPTION("stacks", 0, OPTION_STRING, "WHEN",
	       "record stacks of the code: off-cpu (where threads block), on-cpu (where they run, sampled), or off-cpu,on-cpu", FIELD(stack_list)),
	OPTION("stack-rate", 0, OPTION_U64, "N", "sample stacks on CPUs N times a second (default 99)", FIELD(stack_rate), .minimum = 1, .maximum = 10000),
	OPTION("unwind", 0, OPTION_CHOICE, "HOW",
	       "find callers by dwarf (the default on x86-64: 8 KiB of stack are copied each time) or by frame-pointers (cheaper; where the code has them)",
	       FIELD(unwind), .choices = unwinds),
	OPTION("no-futex-names", 0, OPTION_FLAG, NULL, "do not look which code is the first to wait for each futex", FIELD(is_without_futex_names)),
	OPTION_GROUP("the log"),
	OPTION("rotate-size", 0, OPTION_SIZE, "SIZE", "go on in another file when one has SIZE (default 100M; 0: never)", FIELD(rotate_size_bytes)),
	OPTION("rotate-time", 0, OPTION_DURATION, "TIME", "or when one is that old: 90s, 15m, 1h (default 0: never)", FIELD(rotate_time_ns)),
	OPTION("keep", 0, OPTION_U64, "N", "keep N files, those of earlier recordings included, and remove the oldest (default 10; 0: all)",
	       FIELD(keep)),
	OPTION("keep-size", 0, OPTION_SIZE, "SIZE", "keep files of SIZE in all; then none is larger than half of that (default 0: any)",
	       FIELD(keep_size_bytes)),
	OPTION("queue-size", 0, OPTION_SIZE, "SIZE",
	       "memory for what is encoded and waits for the disk; without room, batches are dropped and counted (default 64M, taken as it is needed)",
	       FIELD(queue_size_bytes), .minimum = 4 << 20),
	OPTION("sync", 0, OPTION_FLAG, NULL, "wait for the disk, never drop batches: the log is on the disk each second; for tests", FIELD(is_sync)),
	OPTION("compress", 0, OPTION_CHOICE, "CODEC", "how batches are compressed (default zstd)", FIELD(compress), .choices = codecs),
	OPTION_GROUP("other options"),
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
	{ "sudo txtrace-bpf -p $(pidof server) -o /var/log/app.txtrace --rotate-time 1h --keep-size 2G", "record on and on, in at most 2 GiB" },
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

/* "off-cpu", "on-cpu", or both with a comma between. */
static bool parse_stacks(struct record_options *values)
{
	const char *at = values->stack_list;

	while (at) {
		size_t length = strcspn(at, ",");

		if (length == strlen("off-cpu") && strncmp(at, "off-cpu", length) == 0)
			values->stacks.off_cpu = true;
		else if (length == strlen("on-cpu") && strncmp(at, "on-cpu", length) == 0)
			values->stacks.on_cpu = true;
		else
			return false;
		at = at[length] ? at + length + 1 : NULL;
	}
	return true;
}

bool record_options_parse(struct record_options *values, int argc, char **argv, int *status)
{
	struct options_result result;

	*values = (struct record_options){
		.output = LOG_PLACE_DEFAULT,
		.rotate_size_bytes = DEFAULT_ROTATE_BYTES,
		.keep = DEFAULT_KEEP,
		.queue_size_bytes = DEFAULT_QUEUE_BYTES,
		.compress = LOG_CODEC_ZSTD,
		.stack_rate = DEFAULT_STACK_RATE,
	};
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
	if (!parse_stacks(values))
		return complain("--stacks takes off-cpu, on-cpu, or off-cpu,on-cpu", status);
	values->command = result.command;
	if (values->pid && values->command)
		return complain("a process (-p) and a command (--) cannot be traced at once; give one of them", status);
	if (!values->pid && !values->command)
		return complain("nothing to trace; give a process (-p PID) or a command (-- COMMAND), see txtrace-bpf --help", status);
	return true;
}
