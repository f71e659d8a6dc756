/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/record_options.h"

#include <errno.h>
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

static int take_pids(void *values, const char *value, const char **complaint)
{
	struct record_options *options = values;
	int err = target_rules_add_pids(&options->targets, value);

	*complaint = err == -E2BIG ? "no more than 1024 pids" : "a pid, or several with commas between them";
	return err;
}

/* One more of a list of words. */
static int take_word(const char **words, size_t *cnt, const char *value, const char **complaint)
{
	*complaint = !*value ? "a word that is not empty" : "no more than 64 times";
	if (!*value || *cnt == TARGET_RULE_MAX)
		return -EINVAL;
	words[(*cnt)++] = value;
	return 0;
}

static int take_comm(void *values, const char *value, const char **complaint)
{
	struct record_options *options = values;

	return take_word(options->targets.comms, &options->targets.comm_cnt, value, complaint);
}

static int take_exe(void *values, const char *value, const char **complaint)
{
	struct record_options *options = values;

	return take_word(options->targets.exes, &options->targets.exe_cnt, value, complaint);
}

static int take_cgroup(void *values, const char *value, const char **complaint)
{
	struct record_options *options = values;

	return take_word(options->targets.cgroups, &options->targets.cgroup_cnt, value, complaint);
}

static const struct option_spec specs[] = {
	OPTION_GROUP("what to trace"),
	OPTION("pid", 'p', OPTION_CALL, "PID[,PID…]", "trace these processes, which run already", 0, .call = take_pids),
	OPTION("follow", 'f', OPTION_FLAG, NULL, "and their children, and the children's children, whatever they exec", FIELD(targets.follows_children)),
	OPTION("comm", 0, OPTION_CALL, "NAME", "trace all processes of this name (as in ps -o comm), also those to come", 0, .call = take_comm),
	OPTION("exe", 0, OPTION_CALL, "PATH", "trace all processes that run this file, also those to come", 0, .call = take_exe),
	OPTION("cgroup", 0, OPTION_CALL, "PATH", "trace all processes in this cgroup (v1 or v2) and those below it, also those to come", 0,
	       .call = take_cgroup),
	OPTION("all", 'a', OPTION_FLAG, NULL, "trace all processes that have txtrace probes, also those to come", FIELD(targets.is_any)),
	OPTION("list", 0, OPTION_STRING, "PID|FILE", "record nothing: list what could be traced in this process or file, and how to name it",
	       FIELD(list)),
	OPTION_GROUP("how"),
	OPTION("output", 'o', OPTION_STRING, "FILE",
	       "write the log to FILE, or to txtrace.txtrace in the directory FILE (default txtrace.txtrace); what is there gets a number", FIELD(output)),
	OPTION("duration", 'd', OPTION_DURATION, "TIME", "stop after TIME: 5, 5s, 500ms, 2m (default: when the target ends, or at Ctrl-C)",
	       FIELD(duration_ns), .minimum = 1),
	OPTION("ring-size", 0, OPTION_SIZE, "SIZE", "memory for events on their way out of the kernel (default 16M for each CPU)",
	       FIELD(ring_size_bytes), .minimum = 64 << 10),
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
	{ "sudo txtrace-bpf --exe /usr/sbin/server -f", "trace all processes of a server that run and those to come, with their children, until Ctrl-C" },
	{ "sudo txtrace-bpf --cgroup /sys/fs/cgroup/system.slice/app.service", "trace a service" },
	{ "txtrace-bpf --list $(pidof server)", "what could be traced there" },
	{ "txtrace report app.txtrace", "read the log afterwards, without root" },
	{ NULL, NULL },
};

static const char *const notes[] = {
	"Exit status: 0 recorded; with a command, its exit status (128 + the signal that ended it); 2 usage, or recording could not start; 3 recording "
	"stopped early, and the log holds what came before.",
	NULL,
};

static const char *const usages[] = { "-p PID[,PID…]", "--comm NAME | --exe PATH | --cgroup PATH | -a", "-- COMMAND [ARGUMENT…]", "--list PID|FILE", NULL };

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
	if (values->list)
		return true;
	if (values->command && (values->targets.pid_cnt || target_rules_are_open(&values->targets)))
		return complain("processes (-p, --comm, --exe, --cgroup, -a) and a command (--) cannot be traced at once; give one of them", status);
	if (!values->command && !values->targets.pid_cnt && !target_rules_are_open(&values->targets))
		return complain("nothing to trace; give a process (-p PID) or a command (-- COMMAND), see txtrace-bpf --help", status);
	return true;
}
