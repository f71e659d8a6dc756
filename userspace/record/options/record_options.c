/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/options/record_options.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attribute/attribution.h"
#include "base/units.h"
#include "event/sched_mode.h"
#include "record/options/log_place.h"
#include "record/messages/messages.h"

#define REPEAT_MAX 100000
#define FIELD(field) offsetof(struct record_options, field)

#define DEFAULT_ROTATE_BYTES (100u << 20)
#define DEFAULT_KEEP 10
#define DEFAULT_STACK_RATE 99
#define DEFAULT_QUEUE_BYTES (64u << 20)

static const char *const codecs[] = {
	[LOG_CODEC_NONE] = "none", [LOG_CODEC_ZSTD] = "zstd", [LOG_CODEC_LZ4] = "lz4", NULL
};

static int take_pids(void *values, const char *value, const char **complaint)
{
	struct record_options *options = values;
	int err = target_rules_add_pids(&options->targets, value);

	*complaint = err == -E2BIG ? "no more than 1024 pids" : "a pid, or several separated by commas";
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

static int take_label(void *values, const char *value, const char **complaint)
{
	struct record_options *options = values;

	return take_word(options->choices.labels, &options->choices.label_cnt, value, complaint);
}

static int take_sample(void *values, const char *value, const char **complaint)
{
	*complaint = "a rate, as in 1/100";
	return span_choices_take_sample(&((struct record_options *)values)->choices, value);
}

static int take_flight(void *values, const char *value, const char **complaint)
{
	*complaint = "a size of at least 1M, a time, or both: 64M, 30s, 64M,30s";
	return flight_rules_take_size(&((struct record_options *)values)->flight, value);
}

static int take_trigger(void *values, const char *value, const char **complaint)
{
	struct flight_rules *flight = &((struct record_options *)values)->flight;

	*complaint = !*value ? "a rule that is not empty" : "no more than 16 rules";
	if (!*value || flight->text_cnt == FLIGHT_RULE_MAX)
		return -EINVAL;
	flight->texts[flight->text_cnt++] = value;
	return 0;
}

static int take_trigger_max(void *values, const char *value, const char **complaint)
{
	*complaint = "a number per time (at most 1000), as in 10/h; also /s, /m, /d; 0: any number";
	return flight_rules_take_max(&((struct record_options *)values)->flight, value);
}

static int take_dump(void *values, const char *value, const char **complaint)
{
	struct record_options *options = values;

	*complaint = "the pid of a txtrace-bpf that runs with --flight";
	return units_parse_u64(value, &options->dump_pid) || !options->dump_pid || options->dump_pid > INT_MAX
		       ? -EINVAL
		       : 0;
}

static const char *const unwinds[] = {
	[STACK_UNWIND_DWARF] = "dwarf", [STACK_UNWIND_FRAME_POINTERS] = "frame-pointers", NULL
};
static const char *const message_formats[] = { [MESSAGES_TEXT] = "text", [MESSAGES_JSON] = "json", NULL };

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

static const char *const marks_mode_names[] = { [MARKS_PROBE] = "probe",
					      [MARKS_RING] = "ring",
					      [MARKS_AUTO] = "auto",
					      NULL };

static const struct option_spec specs[] = {
	OPTION_GROUP("what to trace"),
	OPTION("pid", 'p', OPTION_CALL, "PID[,PID…]", "trace these running processes", 0,
	       .call = take_pids),
	OPTION("follow", 'f', OPTION_FLAG, NULL,
	       "also trace their children, and the children's children, whatever they exec",
	       FIELD(targets.follows_children)),
	OPTION("comm", 0, OPTION_CALL, "NAME",
	       "trace all processes of this name (as in ps -o comm), now and later", 0,
	       .call = take_comm),
	OPTION("exe", 0, OPTION_CALL, "PATH", "trace all processes that run this file, now and later", 0,
	       .call = take_exe),
	OPTION("cgroup", 0, OPTION_CALL, "PATH",
	       "trace all processes in this cgroup (v1 or v2) and those below it, now and later", 0,
	       .call = take_cgroup),
	OPTION("all", 'a', OPTION_FLAG, NULL,
	       "trace all processes that have txtrace probes, now and later", FIELD(targets.is_any)),
	OPTION("list", 0, OPTION_STRING, "PID|FILE",
	       "record nothing; list what could be traced in this process or file, and how to name it; with "
	       "a PATTERN such as 'pthread_*', only the probes and functions whose name matches",
	       FIELD(list)),
	OPTION_GROUP("how"),
	OPTION("output", 'o', OPTION_STRING, "FILE",
	       "write the log to FILE, or to txtrace.txtrace in the directory FILE (default "
	       "txtrace.txtrace); an existing file is renamed with a number",
	       FIELD(output)),
	OPTION("duration", 'd', OPTION_DURATION, "TIME",
	       "stop after TIME: 5, 5s, 500ms, 2m (default: when the target ends, or at Ctrl-C)",
	       FIELD(duration_ns), .minimum = 1),
	OPTION("ring-size", 0, OPTION_SIZE, "SIZE",
	       "memory for the kernel's ring buffers of events (default 16M for each CPU)",
	       FIELD(ring_size_bytes), .minimum = 64 << 10),
	OPTION("span-memory", 0, OPTION_SIZE, "SIZE",
	       "memory for open spans, of which one process may use half; spans beyond it are counted as "
	       "lost (default 2G, allocated as needed)",
	       FIELD(span_memory_bytes), .minimum = 1 << 20),
	OPTION("irq", 0, OPTION_FLAG, NULL,
	       "record interrupts and softirqs as a separate part of the ledger, not as on-CPU; costs a "
	       "little at each interrupt of the machine",
	       FIELD(wants_irq)),
	OPTION("otel", 0, OPTION_FLAG, NULL,
	       "record which OpenTelemetry span each thread is in, of programs whose tracer publishes it "
	       "(OTEP 4947): a span 'otel' for each stay in one, with its traceparent",
	       FIELD(wants_otel)),
	OPTION("threads", 0, OPTION_FLAG, NULL,
	       "record only threads, without spans: for workers, blocked, neighbours and concurrency",
	       FIELD(wants_threads)),
	OPTION("sched", 0, OPTION_CHOICE, "MODE",
	       "how much of the scheduler to record (default timeline); ledger: only the ledgers of spans, "
	       "nothing per switch; off: nothing, spans have only their wall time",
	       FIELD(sched), .choices = sched_mode_names),
	OPTION("marks", 0, OPTION_CHOICE, "HOW",
	       "how marks reach the recorder (default probe); ring: through shared memory, without a trap; "
	       "auto: so where it is possible",
	       FIELD(marks), .choices = marks_mode_names),
	OPTION_GROUP("which spans (others are filtered and counted; their time stays with their parents)"),
	OPTION("sample", 0, OPTION_CALL, "1/N",
	       "record 1 of every N transactions, complete with child spans", 0, .call = take_sample),
	OPTION("label", 0, OPTION_CALL, "GLOB", "record only spans whose label matches (may be repeated)", 0,
	       .call = take_label),
	OPTION("min-duration", 0, OPTION_DURATION, "TIME", "record only spans that last at least TIME: 5ms",
	       FIELD(choices.min_duration_ns)),
	OPTION_GROUP("flight recorder (nothing is written until a trigger fires)"),
	OPTION("flight", 0, OPTION_CALL, "SIZE|TIME",
	       "keep the last part of the log in memory: 64M, 30s (in at most 256M), or 64M,30s; a trigger "
	       "writes it to a file of its own",
	       0, .call = take_flight),
	OPTION("trigger", 0, OPTION_CALL, "RULE",
	       "a condition on spans that triggers, as in 'label=commit and wall>50ms' (may be repeated); "
	       "exit: the end of the capture (the default). SIGUSR1 and --dump always trigger",
	       0, .call = take_trigger),
	OPTION("trigger-after", 0, OPTION_DURATION, "TIME", "continue for TIME before writing (default 0)",
	       FIELD(flight.after_ns)),
	OPTION("trigger-max", 0, OPTION_CALL, "N/h",
	       "write at most N files an hour for spans; also /s, /m, /d (default 10/h; 0: any number)", 0,
	       .call = take_trigger_max),
	OPTION("dump", 0, OPTION_CALL, "PID",
	       "record nothing; make the txtrace-bpf with this PID, which runs with --flight, write its log "
	       "now",
	       0,
	       .call = take_dump),
	OPTION_GROUP("runs to compare"),
	OPTION("repeat", 0, OPTION_U64, "N",
	       "run and record the command N times, into new-001.txtrace and so on in the directory of -o "
	       "(default " REPEAT_PLACE_DEFAULT "), for txtrace diff",
	       FIELD(repeat), .minimum = 1, .maximum = REPEAT_MAX),
	OPTION("base", 0, OPTION_STRING, "COMMAND",
	       "with --repeat: run COMMAND before each, into base-001.txtrace and so on. It is split at "
	       "blanks, with quotes as in a shell; no shell runs it",
	       FIELD(base_text)),
	OPTION_GROUP("unmodified programs"),
	OPTION("span", 0, OPTION_CALL, "LABEL=BEGIN..END[,key=KEY][,tag=TAG][,parent=PARENT]",
	       "spans from USDT probes (PROVIDER:PROBE) or functions (uprobe:BINARY:SYMBOL, "
	       "uretprobe:BINARY:SYMBOL), several separated by |; see txtrace-bpf(1)",
	       0, .call = take_span),
	OPTION("func", 0, OPTION_CALL, "BINARY:SYMBOL[,…]",
	       "a span for each call of these functions, nested; patterns such as 'Bank::*' are allowed", 0,
	       .call = take_func),
	OPTION("func-limit", 0, OPTION_U64, "N",
	       "refuse a pattern that matches more than N functions of a file (default 500)",
	       FIELD(foreign.func_limit), .minimum = 1),
	OPTION("func-returns", 0, OPTION_CHOICE, "HOW",
	       "how returns are detected: hook is quick, but an exception that passes through a hooked "
	       "function ends the program; exits does not change the stack and costs more; auto (the "
	       "default) hooks where there are no exceptions",
	       FIELD(foreign.func_returns), .choices = func_returns),
	OPTION("preset", 0, OPTION_CALL, "NAME|PATH",
	       "spans of a well-known program, from a file: postgresql, mariadb, redis, nginx, python, ruby, "
	       "php, hotspot, libvirt, libstdcxx",
	       0, .call = take_preset),
	OPTION_GROUP("where the code is"),
	OPTION("stacks", 0, OPTION_STRING, "WHEN",
	       "record stacks of the code: off-cpu (where threads block), on-cpu (where they run, sampled), "
	       "or off-cpu,on-cpu",
	       FIELD(stack_list)),
	OPTION("stack-rate", 0, OPTION_U64, "N", "sample stacks on CPUs N times a second (default 99)",
	       FIELD(stack_rate), .minimum = 1, .maximum = 10000),
	OPTION("unwind", 0, OPTION_CHOICE, "HOW",
	       "how callers are found: dwarf (the default: copies 8 KiB of stack each time) or "
	       "frame-pointers (cheaper, if the code has them)",
	       FIELD(unwind), .choices = unwinds),
	OPTION("no-futex-names", 0, OPTION_FLAG, NULL,
	       "do not record which code is the first to wait for each futex", FIELD(is_without_futex_names)),
	OPTION_GROUP("the log"),
	OPTION("rotate-size", 0, OPTION_SIZE, "SIZE",
	       "rotate when the file reaches SIZE (default 100M; 0: never)",
	       FIELD(limits.rotate_bytes)),
	OPTION("rotate-time", 0, OPTION_DURATION, "TIME",
	       "rotate when the file reaches this age: 90s, 15m, 1h (default 0: never)",
	       FIELD(limits.rotate_ns)),
	OPTION("keep", 0, OPTION_U64, "N",
	       "keep N files, including those of earlier captures, and remove the oldest (default 10; 0: "
	       "all)",
	       FIELD(limits.keep_cnt)),
	OPTION("keep-size", 0, OPTION_SIZE, "SIZE",
	       "keep files up to SIZE in all; none is larger than half of that (default 0: no limit)",
	       FIELD(limits.keep_bytes)),
	OPTION("queue-size", 0, OPTION_SIZE, "SIZE",
	       "memory for encoded records that wait for the disk; if it is full, batches are dropped and "
	       "counted (default 64M, allocated as needed)",
	       FIELD(queue_size_bytes), .minimum = 4 << 20),
	OPTION("sync", 0, OPTION_FLAG, NULL,
	       "wait for the disk each second instead of dropping batches; for tests",
	       FIELD(is_sync)),
	OPTION("compress", 0, OPTION_CHOICE, "CODEC", "how batches are compressed (default zstd)",
	       FIELD(compress), .choices = codecs),
	OPTION_GROUP("as a service"),
	OPTION("config", 0, OPTION_FILE, "FILE",
	       "read options from FILE, one a line: 'keep-size = 2G'; SIGHUP reads it again, and new limits "
	       "for rotation and for kept files take effect at once",
	       FIELD(config)),
	OPTION("metrics", 0, OPTION_STRING, "ADDR:PORT",
	       "serve metrics for Prometheus at http://ADDR:PORT/metrics", FIELD(metrics)),
	OPTION("metrics-file", 0, OPTION_STRING, "FILE",
	       "write metrics to FILE every ten seconds, for the node exporter's textfile collector",
	       FIELD(metrics_file)),
	OPTION("otlp", 0, OPTION_STRING, "URL",
	       "send the spans to a receiver of OpenTelemetry's protocol over HTTP while recording, as in "
	       "http://localhost:4318, by an unprivileged 'txtrace export --otlp'; 'env': the URL in "
	       "OTEL_EXPORTER_OTLP_ENDPOINT",
	       FIELD(otlp)),
	OPTION("otlp-headers", 0, OPTION_STRING, "FILE",
	       "with --otlp: send these headers, lines NAME: VALUE, such as a key of the receiver",
	       FIELD(otlp_headers)),
	OPTION("messages", 0, OPTION_CHOICE, "FORMAT",
	       "format of messages on stderr (default text); json: one object a line", FIELD(messages),
	       .choices = message_formats),
	OPTION_GROUP("other options"),
	OPTION("check", 0, OPTION_FLAG, NULL,
	       "record nothing; print what works here, what does not, and what to do (exit status 0: "
	       "recording works, 2: it does not)",
	       FIELD(wants_check)),
	OPTION("json", 0, OPTION_FLAG, NULL, "with --check: write one JSON object", FIELD(wants_json)),
	OPTION("fast-probes", 0, OPTION_FLAG, NULL,
	       "halve the cost of probes (kernel 6.18 and later), although on kernels with a known bug a "
	       "forked child dies at its next mark; only for programs that never fork. By default fast "
	       "probes are used if a test shows that children survive",
	       FIELD(wants_fast_probes)),
	OPTION("quiet", 'q', OPTION_FLAG, NULL,
	       "print no status line and no report; errors and losses are still printed", FIELD(is_quiet)),
	OPTION("top", 0, OPTION_FLAG, NULL,
	       "show live figures while recording, as 'txtrace top' does; quitting the view ends the "
	       "recording",
	       FIELD(wants_top)),
	OPTION("no-confine", 0, OPTION_FLAG, NULL,
	       "no sandbox: keep all privileges and system calls while recording; by default those that "
	       "recording does not need are given up",
	       FIELD(is_unconfined)),
	OPTION("stream", 0, OPTION_STRING, "FILE",
	       "also write every event to FILE as text, in order, for replay without a kernel",
	       FIELD(stream)),
	OPTION_END,
};

static const struct option_example examples[] = {
	{ "sudo txtrace-bpf -p $(pidof server) -d 10", "trace a running server for ten seconds" },
	{ "sudo txtrace-bpf -o app.txtrace -- ./app --fast",
	  "run a command and trace it from its first instruction" },
	{ "sudo txtrace-bpf -p $(pidof server) -o /var/log/app.txtrace --rotate-time 1h --keep-size 2G",
	  "record without an end, in at most 2 GiB" },
	{ "sudo txtrace-bpf --exe /usr/sbin/server -f",
	  "trace all processes of a server, now and later, with their children, until Ctrl-C" },
	{ "sudo txtrace-bpf --cgroup /sys/fs/cgroup/system.slice/app.service", "trace a service" },
	{ "sudo txtrace-bpf --repeat 10 --base './app-before --fast' -- ./app --fast",
	  "ten runs of each in turn, to compare" },
	{ "txtrace-bpf --list $(pidof server)", "list what could be traced in a process" },
	{ "txtrace-bpf --list $(pidof server) 'pthread_*'",
	  "list its probes and functions with such a name" },
	{ "sudo txtrace-bpf -p $(pidof server) --flight 64M --trigger 'label=commit and wall>50ms'",
	  "keep the last 64 MiB in memory, and write a file for each slow commit" },
	{ "sudo txtrace-bpf -p $(pidof server) --sched ledger --sample 1/100",
	  "record the ledgers of 1 of 100 transactions, at the least cost" },
	{ "sudo txtrace-bpf --check", "check whether recording works here" },
	{ "sudo txtrace-bpf -p $(pgrep -n postgres) --preset postgresql",
	  "trace an unmodified program by its own probes" },
	{ "txtrace report app.txtrace", "read the log afterwards, without root" },
	{ NULL, NULL },
};

static const char *const notes[] = {
	"Exit status: 0 the capture succeeded; with a command, its exit status (128 + the signal that ended "
	"it); 2 wrong usage, or the capture could not start; 3 the capture stopped early, and the log "
	"contains what was recorded before.",
	NULL,
};

static const char *const usages[] = { "-p PID[,PID…]",
				      "--comm NAME | --exe PATH | --cgroup PATH | -a",
				      "-- COMMAND [ARGUMENT…]",
				      "--repeat N [--base COMMAND] -- COMMAND [ARGUMENT…]",
				      "--list PID|FILE [PATTERN]",
				      "--check",
				      "--dump PID",
				      NULL };

static const struct options options = {
	.program = "txtrace-bpf",
	.about = "Records where the time of each transaction of a program goes: on a CPU, runnable without "
		 "one, blocked (on what, and by whom), or waiting in the program's own queues. Programs "
		 "mark spans with the macros of txtrace.h; for unmodified programs, options name probes "
		 "and functions.",
	.version = TXTRACE_VERSION,
	.usages = usages,
	.specs = specs,
	.examples = examples,
	.notes = notes,
	.operand_max = 1, /* the pattern of --list */
	.takes_command = true,
};

static void set_defaults(struct record_options *values, int argc, char **argv)
{
	*values = (struct record_options){
		.limits = { .rotate_bytes = DEFAULT_ROTATE_BYTES, .keep_cnt = DEFAULT_KEEP },
		.queue_size_bytes = DEFAULT_QUEUE_BYTES,
		.span_memory_bytes = ATTRIBUTION_SPAN_BYTES,
		.compress = LOG_CODEC_ZSTD,
		.choices = { .sample_rate = 1 },
		.flight = FLIGHT_RULES_DEFAULTS,
		.stack_rate = DEFAULT_STACK_RATE,
		.argc = argc,
		.argv = argv,
	};
}

static const char *find_repeat_conflict(const struct record_options *values)
{
	const struct log_writer_limits *limits = &values->limits;

	if (!values->repeat)
		return values->base_text
			       ? "--base needs --repeat; give both to record runs of both in turn"
			       : NULL;
	if (!values->command)
		return "--repeat runs a command; give it after '--' (-- COMMAND)";
	if (values->stream || values->metrics || values->metrics_file || values->config.path)
		return "--stream, --metrics, --metrics-file and --config are for one capture, not for "
		       "--repeat";
	if (values->flight.max_bytes)
		return "with --repeat each run has one complete log; remove --flight";
	if (limits->rotate_bytes != DEFAULT_ROTATE_BYTES || limits->rotate_ns ||
	    limits->keep_cnt != DEFAULT_KEEP || limits->keep_bytes)
		return "with --repeat each run has one log, which is kept; remove --rotate-size, "
		       "--rotate-time, --keep and --keep-size";
	return NULL;
}

/* Of the threads alone there are no spans to be chosen, and what is left is the timeline. */
static const char *find_threads_conflict(const struct record_options *values)
{
	const struct foreign_options *foreign = &values->foreign;
	const struct span_choices *choices = &values->choices;

	if (!values->wants_threads)
		return NULL;
	if (foreign->span_cnt || foreign->func_cnt || foreign->preset_cnt)
		return "--threads records no spans; remove --span, --func and --preset, or --threads";
	if (values->wants_otel)
		return "--threads records no spans; remove --otel or --threads";
	if (choices->sample_rate > 1 || choices->label_cnt || choices->min_duration_ns)
		return "--threads records no spans; remove --sample, --label and --min-duration, or "
		       "--threads";
	if (values->sched != SCHED_TIMELINE)
		return "--threads needs the timeline of the threads; remove --sched";
	for (size_t i = 0; i < values->flight.text_cnt; i++) {
		if (strcmp(values->flight.texts[i], "exit"))
			return "--threads records no spans that could trigger; use --trigger exit or "
			       "txtrace-bpf --dump, or remove --threads";
	}
	return NULL;
}

/* What goes together; NULL, or a sentence. */
static const char *find_conflict(const struct record_options *values, const struct options_result *result)
{
	bool has_target = values->targets.pid_cnt || target_rules_are_open(&values->targets);

	if (result->command && !result->command_cnt)
		return "there is no command after '--'; see txtrace-bpf --help";
	if (values->list || values->dump_pid)
		return NULL;
	if (!values->flight.max_bytes && (values->flight.text_cnt || values->flight.after_ns))
		return "--trigger and --trigger-after need --flight, which says how much is kept, as in "
		       "--flight 64M";
	if (values->wants_json && !values->wants_check)
		return "--json needs --check; for a log use txtrace report --json";
	if (values->wants_check)
		return has_target || values->command
			       ? "--check traces nothing; give it neither a process nor a command"
			       : NULL;
	if (values->command && has_target)
		return "processes (-p, --comm, --exe, --cgroup, -a) and a command (--) cannot be traced at "
		       "once; give one of them";
	if (values->stacks.off_cpu && values->sched != SCHED_TIMELINE)
		return "--stacks off-cpu needs the switches, which only --sched timeline records";
	if (values->stacks.on_cpu && values->sched == SCHED_NONE)
		return "--stacks on-cpu needs the clocks, which --sched off does not have";
	if (values->wants_irq && values->sched == SCHED_NONE)
		return "--irq needs the time on a CPU, which --sched off does not record; remove one of "
		       "them";
	if (values->wants_otel && values->sched == SCHED_NONE)
		return "--otel looks when a thread leaves its CPU, which --sched off does not see; remove "
		       "one of them";
	if (values->wants_otel && (values->choices.sample_rate > 1 || values->choices.label_cnt ||
				   values->choices.min_duration_ns))
		return "--otel cannot be used with --sample, --label or --min-duration: parts of spans would "
		       "be missing";
	if (!values->command && !has_target)
		return "nothing to trace; give a process (-p PID) or a command (-- COMMAND), see txtrace-bpf "
		       "--help";
	if (find_threads_conflict(values))
		return find_threads_conflict(values);
	if (values->otlp_headers && !values->otlp)
		return "--otlp-headers is for --otlp";
	if (values->otlp && (values->repeat || values->wants_top || values->flight.max_bytes))
		return "--otlp follows one log: not with --repeat, --top or --flight; to send a log later, "
		       "use 'txtrace export --otlp'";
	if (values->wants_top && (values->command || values->repeat))
		return "--top needs the terminal, which the command has; run 'txtrace top' in another one";
	if (values->wants_top && values->flight.max_bytes)
		return "with --flight there is no log until something triggers; remove --top";
	return find_repeat_conflict(values);
}

/* The words of --base; a run of --repeat has one log, however large. */
static const char *prepare_repeat(struct record_options *values, struct options_result *result)
{
	struct error error = { "" };

	if (!values->repeat)
		return NULL;
	values->limits = (struct log_writer_limits){ 0 };
	if (!values->base_text || !word_list_split(&values->base, values->base_text, &error))
		return NULL;
	snprintf(result->error, sizeof(result->error), "the command of --base %s", error.text);
	return result->error;
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

static const char *parse(struct record_options *values, int argc, char **argv, struct options_result *result)
{
	const char *complaint;
	struct error error;

	set_defaults(values, argc, argv);
	if (options_parse(&options, argc, argv, values, result))
		return result->error;
	if (result->wants_help || result->wants_version)
		return NULL;
	if (result->operand_cnt && !values->list) {
		snprintf(result->error, sizeof(result->error),
			 "unexpected argument '%s', see 'txtrace-bpf --help'", result->operands[0]);
		return result->error;
	}
	values->list_pattern = result->operand_cnt ? result->operands[0] : NULL;
	if (!parse_stacks(values))
		return "--stacks takes off-cpu, on-cpu, or off-cpu,on-cpu";
	values->command = result->command;
	if (!values->output)
		values->output = values->repeat ? REPEAT_PLACE_DEFAULT : LOG_PLACE_DEFAULT;
	complaint = find_conflict(values, result);
	if (!complaint && flight_rules_parse(&values->flight, &error)) {
		snprintf(result->error, sizeof(result->error), "%s", error.text);
		return result->error;
	}
	return complaint ? complaint : prepare_repeat(values, result);
}

bool record_options_parse(struct record_options *values, int argc, char **argv, int *status)
{
	struct options_result result;
	const char *complaint = parse(values, argc, argv, &result);

	*status = complaint ? 2 : 0;
	if (complaint) {
		struct error error;

		error_set(&error, "%s", complaint);
		fprintf(stderr, "txtrace-bpf: %s\n", error.text);
	} else if (result.wants_help) {
		options_print_help(&options, stdout);
	} else if (result.wants_version) {
		printf("txtrace-bpf %s\n", TXTRACE_VERSION);
	} else {
		return true;
	}
	record_options_release(values);
	return false;
}

/* ---- again ---- */

int record_options_read_again(const struct record_options *before, struct record_options *fresh,
			      struct error *error)
{
	struct options_result result;
	const char *complaint = parse(fresh, before->argc, before->argv, &result);

	if (complaint)
		error_set(error, "%s", complaint);
	return complaint ? -EINVAL : 0;
}

static bool is_same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static bool is_same(const struct option_spec *spec, const struct record_options *a,
		    const struct record_options *b)
{
	const void *field = (const char *)a + spec->offset, *other = (const char *)b + spec->offset;

	switch (spec->type) {
	case OPTION_FLAG:
		return *(const bool *)field == *(const bool *)other;
	case OPTION_STRING:
		return is_same_text(*(const char *const *)field, *(const char *const *)other);
	case OPTION_U64:
	case OPTION_SIZE:
	case OPTION_DURATION:
		return *(const uint64_t *)field == *(const uint64_t *)other;
	case OPTION_CHOICE:
		return *(const unsigned int *)field == *(const unsigned int *)other;
	case OPTION_CALL: /* it stands for what it has read, and who knows how to compare that */
	case OPTION_FILE:
		return true;
	}
	return true;
}

/* The limits of the log: log_writer_set_limits(). */
static bool is_live(const struct option_spec *spec)
{
	return spec->offset >= FIELD(limits) &&
	       spec->offset < FIELD(limits) + sizeof(struct log_writer_limits);
}

void record_options_append_unlike(const struct record_options *before, const struct record_options *fresh,
				  struct text *names)
{
	for (const struct option_spec *spec = specs; spec->name || spec->help; spec++) {
		if (!spec->name || is_live(spec) || is_same(spec, before, fresh))
			continue;
		text_append(names, names->length ? ", --" : "--");
		text_append(names, spec->name);
	}
}

void record_options_release(struct record_options *values)
{
	flight_rules_release(&values->flight);
	word_list_release(&values->base);
	free(values->config.text);
	values->config = (struct option_file){ 0 };
}
