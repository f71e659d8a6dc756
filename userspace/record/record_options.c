/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/record_options.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "log/write/log_writer.h"
#include "record/log_place.h"

#define FIELD(field) offsetof(struct record_options, field)

#define DEFAULT_ROTATE_BYTES (100u << 20)
#define DEFAULT_KEEP 10
#define DEFAULT_QUEUE_BYTES (64u << 20)

static const char *const codecs[] = { [LOG_CODEC_NONE] = "none", [LOG_CODEC_ZSTD] = "zstd", [LOG_CODEC_LZ4] = "lz4", NULL };

static const char *const func_returns[] = { "auto", "exits", "hook", NULL }; /* enum foreign_returns */

static int take_text(const char **texts, size_t *cnt, const char *value, const char **complaint)
{
	if (*cnt == FOREIGN_OPTION_MAX) {
		*complaint = "at most 64 values";
		return -E2BIG;
	}
	texts[(*cnt)++] = value;
	return 0;
}

static int take_span(void *values, const char *value, const char **complaint)
{
	struct foreign_options *foreign = &((struct record_options *)values)->foreign;

	return take_text(foreign->spans, &foreign->span_cnt, value, complaint);
}

static int take_func(void *values, const char *value, const char **complaint)
{
	struct foreign_options *foreign = &((struct record_options *)values)->foreign;

	return take_text(foreign->funcs, &foreign->func_cnt, value, complaint);
}

static int take_preset(void *values, const char *value, const char **complaint)
{
	struct foreign_options *foreign = &((struct record_options *)values)->foreign;

	return take_text(foreign->presets, &foreign->preset_cnt, value, complaint);
}

static const struct option_spec specs[] = {
	OPTION("pid", 'p', OPTION_U64, "PID", "trace this process, which runs already", FIELD(pid), .minimum = 1, .maximum = INT_MAX),
	OPTION("output", 'o', OPTION_STRING, "FILE",
	       "write the log to FILE, or to txtrace.txtrace in the directory FILE (default txtrace.txtrace); what is there gets a number", FIELD(output)),
	OPTION("duration", 'd', OPTION_DURATION, "TIME", "stop after TIME: 5, 5s, 500ms, 2m (default: when the target ends, or at Ctrl-C)",
	       FIELD(duration_ns), .minimum = 1),
	OPTION("ring-size", 0, OPTION_SIZE, "SIZE", "memory for events on their way out of the kernel (default 16M for each CPU)",
	       FIELD(ring_size_bytes), .minimum = 64 << 10),
	OPTION_GROUP("programs that were never changed"),
	OPTION("span", 0, OPTION_CALL, "LABEL=BEGIN..END[,key=KEY][,tag=TAG][,parent=PARENT]",
	       "spans from USDT probes (PROVIDER:PROBE) or functions (uprobe:BINARY:SYMBOL, uretprobe:BINARY:SYMBOL); several with |; see txtrace-bpf(1)", 0,
	       .call = take_span),
	OPTION("func", 0, OPTION_CALL, "BINARY:SYMBOL[,…]", "a span for each call of these functions, nested; patterns such as 'Bank::*' too", 0,
	       .call = take_func),
	OPTION("func-limit", 0, OPTION_U64, "N", "refuse a pattern that means more than N functions of a file (default 500)", FIELD(foreign.func_limit),
	       .minimum = 1),
	OPTION("func-returns", 0, OPTION_CHOICE, "HOW",
	       "how returns are seen: hook is quick, but an exception that passes a hooked function ends the program; exits leaves the stack alone and costs more; "
	       "auto (the default) hooks where there are no exceptions",
	       FIELD(foreign.func_returns), .choices = func_returns),
	OPTION("preset", 0, OPTION_CALL, "NAME|PATH", "spans of a well-known program, from a file: postgresql, python, ruby, php, hotspot, libvirt", 0,
	       .call = take_preset),
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
	{ "sudo txtrace-bpf -p $(pgrep -n postgres) --preset postgresql", "trace a program that was never changed, by its own probes" },
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
		 "waiting in the program's own queues. The program is marked with the macros of txtrace.h, or its probes and "
		 "functions are named.",
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

	*values = (struct record_options){
		.output = LOG_PLACE_DEFAULT,
		.rotate_size_bytes = DEFAULT_ROTATE_BYTES,
		.keep = DEFAULT_KEEP,
		.queue_size_bytes = DEFAULT_QUEUE_BYTES,
		.compress = LOG_CODEC_ZSTD,
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
	values->command = result.command;
	if (values->pid && values->command)
		return complain("a process (-p) and a command (--) cannot be traced at once; give one of them", status);
	if (!values->pid && !values->command)
		return complain("nothing to trace; give a process (-p PID) or a command (-- COMMAND), see txtrace-bpf --help", status);
	return true;
}
