/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "attach/attach.h"
#include "attach/probes/label_files.h"
#include "attach/process/fd_name.h"
#include "base/clock.h"
#include "base/named_output.h"
#include "record/options/capture_limits.h"
#include "record/options/capture_start.h"
#include "record/foreign_spans.h"
#include "record/no_spans.h"
#include "record/recorder_state.h"
#include "record/service/service_manager.h"
#include "record/targets/object_names.h"
#include "record/targets/socket_look.h"
#include "record/target_start.h"
#include "txtrace/mark_ring.h"

/* The rings hold what comes meanwhile. */
#define LINK_WAIT_NS 3000000000u

/* For the final report, so that it does not grow for days with labels that never occur again. */
#define REPORT_BYTES_MAX (64u << 20)

static bool is_ignored(int signal)
{
	struct sigaction action;

	return !sigaction(signal, NULL, &action) && action.sa_handler == SIG_IGN;
}

/*
 * Signals become readable rather than interrupting: blocked only after a child was forked, which keeps its
 * own. A hang-up that is ignored stays so (nohup); to be readable it would only have to be blocked.
 */
static int open_signals(struct recorder *recorder, struct error *error)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	if (!is_ignored(SIGHUP))
		sigaddset(&signals, SIGHUP);
	if (recorder->options->flight.max_bytes)
		/* blocked: by this txtrace-bpf --dump knows who understands it */
		sigaddset(&signals, SIGUSR1);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	recorder->signal_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	if (recorder->signal_fd >= 0)
		return 0;
	error_set(error, "cannot wait for signals: %s", strerror(errno));
	return -errno;
}

/*
 * A process of its own names the code: forked before there is anything that it must not hold, least of all
 * what keeps probes in place.
 */
static int open_stacks(struct recorder *recorder, struct error *error)
{
	const struct record_options *options = recorder->options;
	const struct outside_settle settle = { recorder_restrain_symbols, recorder };

	if (options->is_without_futex_names && !options->stacks.off_cpu && !options->stacks.on_cpu)
		return 0;
	recorder->stacks = code_stacks_new(options->stacks.off_cpu || options->stacks.on_cpu, &settle);
	if (recorder->stacks)
		return 0;
	error_set(error, "not enough memory to record stacks");
	return -ENOMEM;
}

static int open_elf_reader(struct recorder *recorder, struct error *error)
{
	int err = confinement_elf_reader(&recorder->elf_reader, recorder->options->is_unconfined);

	if (err)
		error_set(error, "cannot start the process that reads ELF files: %s", strerror(-err));
	return err;
}

/* For the same reason, if metrics are to be served, before that. */
static int open_service(struct recorder *recorder, struct error *error)
{
	struct service_options options = {
		.record = recorder->options,
		.messages = recorder->messages,
		.log_path = recorder->log_path,
		.manager_fd = recorder->manager_fd,
		.look = recorder_look,
		.context = recorder,
		.metrics = { recorder_restrain_metrics, recorder },
	};

	return service_open(&recorder->service, &options, error);
}

/* A process whose memory cannot be read costs what was to be read of it, and is named; the others go on. */
static void tell_frozen(void *context, const struct frozen_target *target)
{
	const struct recorder *recorder = context;
	const struct message_field fields[] = {
		{ "pid", NULL, target ? (uint64_t)target->pid : 0 },
		{ "comm", target ? target->comm : "", 0 },
	};

	if (!target)
		messages_say(recorder->messages, MESSAGE_WARNING, "frozen",
			     "%d reads of processes' memory never returned; nothing more is read from any "
			     "process: "
			     "new programs and labels in memory stay unknown",
			     PROCESS_READER_STUCK_MAX);
	else
		messages_tell(recorder->messages, MESSAGE_WARNING, "frozen", fields, 2,
			      "process %d ('%s') blocks reads of its memory; it is not asked again: its new "
			      "libraries and labels stay unknown",
			      target->pid, target->comm);
}

/* Forked before there is anything of BPF: one that is stuck would keep the probes in place. */
static int open_process_reader(struct recorder *recorder, struct error *error)
{
	const struct process_reader_options options = {
		.settle = recorder_restrain_reader,
		.tell = tell_frozen,
		.context = recorder,
		.trusted_uid = caller_uid(recorder->options->caller),
	};
	int err = process_reader_new(&recorder->reader, &options);

	if (err) {
		error_set(error, "cannot start the process that reads of others: %s", strerror(-err));
		return err;
	}
	target_set_set_reader(recorder->targets, recorder->reader);
	if (recorder->stacks)
		code_stacks_set_reader(recorder->stacks, recorder->reader);
	for (size_t i = 0; !recorder->options->command && i < target_set_named_cnt(recorder->targets); i++)
		target_read_command(target_set_named(recorder->targets, i), recorder->reader);
	return 0;
}

static int check_kernel(struct recorder *recorder, struct error *error)
{
	kernel_features_begin(&recorder->features);
	if (kernel_features_missing(&recorder->features, error, 1))
		return -EPERM;
	if (recorder->options->wants_otel && !recorder->features.has_task_storage) {
		error_set(error, "--otel needs Linux 5.13 or later; this is %s", recorder->features.release);
		return -EOPNOTSUPP;
	}
	return marks_choose(&recorder->marks_choice, recorder->options, &recorder->features,
			    recorder->targets, recorder->reader, error);
}

static int open_foreign(struct recorder *recorder, struct error *error)
{
	return foreign_spans_open(&recorder->foreign, recorder->options, &recorder->features, error);
}

static int open_kernel_side(struct recorder *recorder, struct error *error)
{
	struct ring_set_options rings = { 0 };
	static const struct span_choices all = { .sample_rate = 1 };
	bool uses_ring = recorder->marks_choice.uses_ring;
	struct kernel_side_options options = {
		.features = &recorder->features,
		.wants_interrupts = recorder->options->wants_irq,
		.sched = recorder->options->sched,
		/* what the kernel side does not see is chosen here: then everything is */
		.choices = uses_ring ? &all : &recorder->options->choices,
		.rules = &recorder->options->targets,
		.has_foreign = recorder->foreign,
		.has_otel = recorder->options->wants_otel,
		.has_mark_rings = uses_ring,
		.names_futexes = !recorder->options->is_without_futex_names,
		.has_stacks_off_cpu = recorder->options->stacks.off_cpu,
		.has_stacks_on_cpu = recorder->options->stacks.on_cpu,
		.copies_stacks = recorder->options->unwind == STACK_UNWIND_DWARF,
		.sample_ns = 1000000000u / recorder->options->stack_rate,
	};

	ring_set_plan(&rings, sysconf(_SC_NPROCESSORS_CONF), recorder->options->ring_size_bytes);
	options.ring_cnt = rings.ring_cnt;
	options.ring_bytes = rings.ring_bytes;
	options.wake_bytes = rings.wake_bytes;
	recorder->ring_cnt = rings.ring_cnt;
	return kernel_side_open(&recorder->kernel, &options, error);
}

static int open_rings(struct recorder *recorder, struct error *error)
{
	struct ring_set_options rings = { 0 };
	int err;

	ring_set_plan(&rings, sysconf(_SC_NPROCESSORS_CONF), recorder->options->ring_size_bytes);
	rings.rings_map_fd = kernel_side_rings_fd(recorder->kernel);
	err = ring_set_open(&recorder->rings, &rings, error);
	if (err)
		return err;
	return loss_counters_open(&recorder->losses, kernel_side_counters(recorder->kernel),
				  kernel_side_cpu_cnt(), kernel_side_loss_generation(recorder->kernel));
}

/* Before there are threads of ours but those that load programs. */
static int open_costs(struct recorder *recorder, struct error *error)
{
	const struct cost_meter_options options = {
		.features = &recorder->features,
		.kernel = recorder->kernel,
		.cpu_cnt = (uint32_t)sysconf(_SC_NPROCESSORS_CONF),
		.has_foreign = recorder->foreign != NULL,
		.settle = recorder_restrain_trial,
		.context = recorder,
	};

	struct cost_watch_options watch = {
		.plan = recorder->foreign,
		.targets = recorder->targets,
		.messages = recorder->messages,
	};

	recorder->costs = watch.meter = cost_meter_new(&options);
	recorder->cost_watch = cost_watch_new(&watch);
	if (recorder->costs && recorder->cost_watch)
		return 0;
	error_set(error, "not enough memory to record");
	return -ENOMEM;
}

/* What a probe costs is tried meanwhile; and before that, which one there is. */
static int load_kernel_side(struct recorder *recorder, struct error *error)
{
	uint64_t begin_ns = clock_now_ns();
	int err = open_kernel_side(recorder, error);

	kernel_features_settle(&recorder->features);
	if (recorder->options->wants_fast_probes)
		recorder->features.fast_nop = recorder->features.reckless_nop;
	if (!err)
		err = open_costs(recorder, error);
	if (!err)
		err = open_rings(recorder, error);
	if (!err)
		err = kernel_side_wait(recorder->kernel, error);
	recorder->start.load_us = (clock_now_ns() - begin_ns) / 1000;
	if (err)
		return err;
	if (recorder->foreign)
		kernel_side_connect(recorder->kernel, &recorder->features, recorder->foreign);
	kernel_side_watch_losses(recorder->kernel, &recorder->losses);
	cost_meter_connect(recorder->costs);
	return 0;
}

/*
 * What log_writer_open() takes. The thread that it starts, which writes the
 * log, has the caller's rights, too.
 */
struct log_opening {
	struct log_writer **writer;
	const char *path;
	const struct txtrace_log_info *info;
	const struct log_writer_options *options;
};

static int make_log(void *context)
{
	const struct log_opening *opening = context;

	return log_writer_open(opening->writer, opening->path, opening->info, opening->options);
}

/* Behind what reports look for. */
static void append_marks(struct text *how, const struct marks_choice *choice)
{
	if (choice->uses_ring)
		text_append(how, "; marks through shared memory");
	else if (choice->why_not)
		text_append_format(how, "; marks through probes: %s", choice->why_not);
}

static int open_log(struct recorder *recorder, struct error *error)
{
	const struct record_options *options = recorder->options;
	struct log_writer_options log = {
		.codec = options->compress,
		.queue_bytes = options->queue_size_bytes,
		.enter_thread = recorder_restrain_log,
		.context = recorder,
		.is_sync = options->is_sync,
		.refuses_unread = true,
		.keeps_older = true,
		.limits = options->limits,
		.flight = { .max_bytes = options->flight.max_bytes, .span_ns = options->flight.span_ns },
		.result = &recorder->result.log,
	};
	struct txtrace_log_info info;
	struct log_opening opening = { &recorder->log, recorder->log_path, &info, &log };
	bool is_one = target_set_named_cnt(recorder->targets) == 1 &&
		      !target_rules_want_every_process(&options->targets);
	struct text command = { 0 }, how = { 0 };
	int err;

	text_append_format(&how, "%s, %zu rings", options->command ? "launched" : "attached",
			   recorder->ring_cnt);
	capture_limits_append(&how, options);
	append_marks(&how, &recorder->marks_choice);
	target_start_describe(recorder, &command);
	capture_start_fill(&info, is_one ? (uint32_t)target_pid(target_set_named(recorder->targets, 0)) : 0,
			   text_string(&command), text_string(&how));
	text_release(&command);
	text_release(&how);
	err = caller_do(options->caller, make_log, &opening);
	if (err)
		error_set(error, "cannot write the log '%s': %s; choose another file with -o",
			  options->output,
			  err == -EBUSY ? "another recorder writes it"
					: recorder_explain_output(recorder, err));
	recorder->result.log_path = recorder->log_path;
	return err;
}

/* To be opened with the caller's rights, as the log. */
static int make_stream(void *context)
{
	struct recorder *recorder = context;
	const char *path = recorder->options->stream;
	int fd, err = named_output_special(&fd, path, false);

	if (!err && fd < 0)
		fd = named_output_make(path);
	if (err || fd < 0)
		return err ? err : fd;
	recorder->stream = fdopen(fd, "w");
	if (recorder->stream)
		return 0;
	err = -errno;
	close(fd);
	return err;
}

static int open_stream(struct recorder *recorder, struct error *error)
{
	int err = recorder->options->stream ? caller_do(recorder->options->caller, make_stream, recorder) : 0;

	if (err)
		error_set(error, "cannot write the stream '%s': %s", recorder->options->stream,
			  recorder_explain_output(recorder, err));
	return err;
}

static int read_label(void *context, uint32_t tgid, uint64_t label, struct event_text *text)
{
	struct recorder *recorder = context;
	bool is_place = label & WIRE_LABEL_IS_PLACE;
	int err = 0;

	if (otel_watch_label(label, text))
		is_place = true;
	else if (recorder->foreign && foreign_plan_label(recorder->foreign, label, text))
		is_place = true; /* the same for all */
	else if (is_place)
		err = label_files_read(recorder->label_files, label, text);
	else
		err = program_memory_label(recorder->memory, tgid, label, text);
	if (!err && (is_place || !recorder->features.has_cookies))
		kernel_filter_see_label(recorder->filter, tgid, label, text);
	return err;
}

static int note_copy(void *context, uint32_t tgid, uint64_t address, const struct event_text *text)
{
	struct recorder *recorder = context;

	return program_memory_note_copy(recorder->memory, tgid, address, text);
}

static int read_literal(void *context, uint32_t tgid, uint64_t label, struct event_text *text)
{
	struct recorder *recorder = context;

	return label & WIRE_LABEL_IS_PLACE
		       ? label_files_read(recorder->label_files, label, text)
		       : program_memory_literal(recorder->memory, tgid, label, text);
}

static int look_at_socket(void *context, pid_t pid, uint32_t fd, uint64_t inode, struct wire_socket *socket)
{
	return socket_look(context, pid, fd, inode, socket);
}

static int read_object(void *context, pid_t pid, uint32_t fd, uint64_t inode, char *name)
{
	struct recorder *recorder = context;
	struct socket_source sockets = { .look = look_at_socket, .context = recorder->kernel };

	return fd_name_read(&sockets, pid, fd, inode, name);
}

static bool wants_label(void *context, const struct event_text *label)
{
	return span_choices_want_label(context, label);
}

static int put_object(void *context, const struct txtrace_record *record)
{
	return pipeline_put(context, record);
}

/* What the observers need that does not exist yet. */
static bool make_observers(struct recorder *recorder)
{
	const struct object_names_options objects = {
		.read = read_object,
		.read_context = recorder,
		.sink = put_object,
		.sink_context = recorder->pipeline,
	};

	recorder->objects = object_names_new(&objects);
	recorder->report = label_report_new(REPORT_BYTES_MAX);
	if (recorder->options->wants_threads)
		recorder->workers = worker_report_new(NULL, NULL, 0);
	if (recorder->options->flight.max_bytes)
		recorder->flight = flight_recorder_new(&recorder->options->flight);
	if (recorder->stacks)
		code_stacks_set_sink(recorder->stacks, put_object, recorder->pipeline);
	return recorder->objects && recorder->report &&
	       (recorder->workers || !recorder->options->wants_threads) &&
	       (recorder->flight || !recorder->options->flight.max_bytes);
}

static int push_mark(void *context, const void *record, size_t size)
{
	struct recorder *recorder = context;

	return pipeline_push(recorder->pipeline, recorder->ring_cnt, record, size);
}

static int push_mark_loss(void *context, const struct wire_loss *loss)
{
	struct recorder *recorder = context;

	return pipeline_push_loss(recorder->pipeline, loss);
}

static void tell_busy(void *context, uint32_t tgid)
{
	const struct recorder *recorder = context;

	messages_say(recorder->messages, MESSAGE_WARNING, "marks",
		     "another recorder reads the marks of process %u in shared memory; they are not recorded "
		     "here; use --marks probe",
		     tgid);
}

static void see_shared(void *context, pid_t pid, uint64_t address)
{
	struct recorder *recorder = context;

	mark_rings_see(recorder->marks, (uint32_t)pid, address);
}

static struct mark_rings *open_marks(struct recorder *recorder)
{
	const struct mark_rings_options options = {
		.reader = recorder->reader,
		.label_files = recorder->label_files,
		.has_clocks = recorder->options->sched != SCHED_NONE,
		.context = recorder,
		.push = push_mark,
		.push_loss = push_mark_loss,
		.tell_busy = tell_busy,
	};

	return mark_rings_new(&options);
}

/* A mark in memory does not read the steal clock, however exact that is: as where it is late. */
static enum steal_kind steal_of_marks(const struct recorder *recorder)
{
	enum steal_kind kind = recorder->features.steal.kind;

	if (recorder->options->sched == SCHED_NONE)
		return STEAL_NOT_TOLD;
	return kind == STEAL_EXACT && recorder->marks_choice.uses_ring ? STEAL_LATE : kind;
}

static int open_pipeline(struct recorder *recorder, struct error *error)
{
	const struct span_choices *choices = &recorder->options->choices;
	bool uses_ring = recorder->marks_choice.uses_ring;
	struct pipeline_options options = {
		.lane_cnt = recorder->ring_cnt + 1, /* the last one: what is marked in memory */
		.span_bytes = recorder->options->span_memory_bytes,
		.labels = { .read = read_label,
			    .note_copy = note_copy,
			    .read_literal = read_literal,
			    .context = recorder },
		.sched = recorder->options->sched,
		.steal = steal_of_marks(recorder),
		.filter = { .min_duration_ns = choices->min_duration_ns,
			    .sample_rate = uses_ring ? choices->sample_rate : 1 },
		.log = recorder->log,
	};

	if (choices->label_cnt) {
		options.filter.wants_label = wants_label;
		options.filter.context = (void *)choices;
	}
	recorder->memory = program_memory_new(recorder->reader);
	recorder->label_files = label_files_new(recorder->memory,
						kernel_side_label_files_fd(recorder->kernel));
	if (uses_ring)
		recorder->marks = open_marks(recorder);
	if (recorder->marks)
		cost_meter_see_marks(recorder->costs, mark_rings_counts(recorder->marks));
	recorder->filter = kernel_filter_new(kernel_side_bpf(recorder->kernel), choices);
	recorder->watermarks = calloc(recorder->ring_cnt, sizeof(*recorder->watermarks));
	recorder->pipeline = pipeline_new(&options);
	if (recorder->memory && recorder->label_files &&
	    (recorder->marks || !uses_ring) && recorder->filter &&
	    recorder->watermarks && recorder->pipeline && make_observers(recorder)) {
		recorder_observe(recorder);
		if (!pipeline_begin(recorder->pipeline, clock_now_ns()))
			return 0;
	}
	error_set(error, "not enough memory to record");
	return -ENOMEM;
}

static int open_otel(struct recorder *recorder, struct error *error)
{
	const struct otel_watch_options options = {
		.reader = recorder->reader,
		.elf_reader = recorder->elf_reader,
		.targets = recorder->targets,
		.messages = recorder->messages,
		.processes_fd = kernel_side_otel_fd(recorder->kernel),
		.generation = kernel_side_otel_generation(recorder->kernel),
	};

	if (!recorder->options->wants_otel)
		return 0;
	recorder->otel = otel_watch_new(&options);
	if (recorder->otel)
		return 0;
	error_set(error, "not enough memory to record");
	return -ENOMEM;
}

static void looked(void *context, uint32_t pid)
{
	recorder_look_at_code(context, pid);
	recorder_look_at_contexts(context, pid);
}

static int open_attach(struct recorder *recorder, struct error *error)
{
	const struct target_rules *rules = &recorder->options->targets;
	struct attach_options options = {
		.features = &recorder->features,
		.memory = recorder->memory,
		.label_files = recorder->features.has_cookies ? recorder->label_files : NULL,
		.reader = recorder->reader,
		.foreign = recorder->foreign,
		.elf_reader = recorder->elf_reader,
		.uses_ring = recorder->marks,
		.see_shared = recorder->marks ? see_shared : NULL,
		.shared_context = recorder,
		.shared_bytes = MARK_POOL_BYTES,
		/*
		 * Links that only one process hits: what takes its time to go does not count anybody twice.
		 */
		.closes_aside = recorder->features.has_uprobe_multi_pid,
		.is_every_process = target_rules_want_every_process(rules),
		.link_wait_ns = recorder->features.has_uprobe_multi ? LINK_WAIT_NS : 0,
	};
	struct attach_watch_options watch = {
		.targets = recorder->targets,
		.is_any = rules->is_any,
		.is_quick = options.is_every_process,
		.may_rest = !rules->exe_cnt,
		.looked = looked,
		.context = recorder,
	};
	int err;

	if (!recorder->options->wants_threads)
		options.programs = kernel_side_programs(recorder->kernel, &options.program_cnt);
	err = attach_new(&recorder->attach, &options);
	watch.attach = recorder->attach;
	if (!err)
		err = attach_watch_open(&recorder->watch, &watch);
	if (err)
		error_set(error, "not enough memory to record");
	return err;
}

/*
 * The scheduler's events have to flow before the threads are listed, and both before the first span can
 * begin.
 */
static int start_kernel_side(struct recorder *recorder, struct error *error)
{
	int err = kernel_side_start(recorder->kernel, error);

	if (err)
		return err;
	cost_meter_look_idle(recorder->costs);
	cost_meter_begin(recorder->costs, clock_now_ns());
	return 0;
}

static void look_at_code(void *context, const struct traced_process *process)
{
	recorder_look_at_code(context, process->pid);
}

static void look_at_contexts(void *context, const struct traced_process *process)
{
	recorder_look_at_contexts(context, process->pid);
}

/*
 * The kernel side knows who is traced before it starts, and each thread before that one's first span can
 * begin.
 */
static int begin_tracing(struct recorder *recorder, struct error *error)
{
	uint64_t begin_ns = clock_now_ns();
	int err = target_start_tell(recorder, error);

	if (!err)
		err = open_otel(recorder, error);
	if (!err)
		err = open_attach(recorder, error);
	if (!err)
		err = start_kernel_side(recorder, error);
	if (!err)
		err = target_start_seed(recorder, error);
	if (!err)
		err = target_start_attach(recorder, error);
	recorder->start.attach_us = (clock_now_ns() - begin_ns) / 1000;
	return err;
}

/*
 * First the command, which must not hold anything of ours; then the other
 * processes, for the same reason, before there is anything of BPF.
 */
static int open_all(struct recorder *recorder, struct error *error)
{
	int err = target_start_open(recorder, error);

	if (!err)
		err = open_signals(recorder, error);
	if (!err)
		err = open_stacks(recorder, error);
	if (!err)
		err = open_elf_reader(recorder, error);
	if (!err)
		err = open_process_reader(recorder, error);
	if (!err)
		err = open_service(recorder, error);
	if (!err)
		err = check_kernel(recorder, error);
	if (!err)
		err = recorder_plan_restraint(recorder, error);
	if (!err)
		err = open_foreign(recorder, error);
	if (!err)
		err = load_kernel_side(recorder, error);
	if (!err)
		err = open_log(recorder, error);
	if (!err)
		err = open_stream(recorder, error);
	if (!err)
		err = open_pipeline(recorder, error);
	return err ? err : begin_tracing(recorder, error);
}

int recorder_open(struct recorder **result, const struct record_options *options,
		  const struct messages *messages, const struct confinement_handler *confinement,
		  int *exit_status, struct error *error)
{
	struct recorder *recorder = calloc(1, sizeof(*recorder));
	int err;

	*exit_status = 2;
	if (!recorder) {
		error_set(error, "not enough memory to record");
		return -ENOMEM;
	}
	recorder->options = options;
	recorder->start.begin_ns = clock_now_ns();
	recorder->messages = messages;
	recorder->confinement = confinement;
	recorder->signal_fd = -1;
	/* before a command is forked, which shall not hear of it */
	recorder->manager_fd = service_manager_open();
	recorder->exit_status = 2;
	err = open_all(recorder, error);
	if (err) {
		*exit_status = recorder->exit_status;
		recorder_close(recorder);
		return err;
	}
	recorder->exit_status = 0;
	cost_watch_steps(recorder->cost_watch);
	kernel_side_record(recorder->kernel);
	capture_read_clocks(&recorder->begin_ns, &recorder->begin_realtime_ns);
	cost_watch_begin(recorder->cost_watch, recorder->begin_ns);
	target_set_each(recorder->targets, look_at_contexts, recorder);
	if (options->command)
		target_resume(target_set_named(recorder->targets, 0));
	target_set_each(recorder->targets, look_at_code, recorder);
	recorder_restrain(recorder);
	attach_renew_threads(recorder->attach);
	recorder->start.all_us = (clock_now_ns() - recorder->start.begin_ns) / 1000;
	*result = recorder;
	return 0;
}

void recorder_result(const struct recorder *recorder, struct recorder_result *result)
{
	*result = recorder->result;
}

void recorder_explain(const struct recorder *recorder)
{
	const struct txtrace_summary *summary = &recorder->result.summary;
	const struct no_spans facts = {
		.options = recorder->options,
		.report = recorder->report,
		.foreign = recorder->foreign,
		.children = recorder->children,
		.site_cnt = recorder->result.site_cnt,
		.left_out_cnt = summary->left_out_cnt[TXTRACE_LEFT_OUT_SAMPLE] +
				summary->left_out_cnt[TXTRACE_LEFT_OUT_LABEL] +
				summary->left_out_cnt[TXTRACE_LEFT_OUT_SHORT],
		.stray_end_cnt = summary->anomaly_cnt[TXTRACE_ANOMALY_END_UNKNOWN],
	};

	no_spans_explain(&facts, recorder->messages);
}

struct label_report *recorder_report(struct recorder *recorder)
{
	return recorder->report;
}

struct worker_report *recorder_workers(struct recorder *recorder)
{
	return recorder->workers;
}

/*
 * Backwards: the probes first, so that the target is free whatever else fails; then the scheduler's programs;
 * the rings before the maps that they belong to. After a run the log has been closed before: what takes a
 * probe out may wait for any process that has mapped the file. A log that was not closed stays as it is on
 * disk, under its provisional name.
 */
void recorder_close(struct recorder *recorder)
{
	if (!recorder)
		return;
	attach_watch_close(recorder->watch);
	recorder_detach(recorder);
	mark_rings_free(recorder->marks);
	otel_watch_free(recorder->otel);
	pipeline_free(recorder->pipeline);
	foreign_plan_free(recorder->foreign);
	elf_reader_free(recorder->elf_reader);
	code_stacks_free(recorder->stacks);
	label_files_free(recorder->label_files);
	program_memory_free(recorder->memory);
	kernel_filter_free(recorder->filter);
	flight_recorder_free(recorder->flight);
	object_names_free(recorder->objects);
	label_report_free(recorder->report);
	worker_report_free(recorder->workers);
	recorder_end_log(recorder, -ECANCELED);
	if (recorder->stream)
		fclose(recorder->stream);
	service_close(recorder->service);
	if (recorder->manager_fd >= 0)
		close(recorder->manager_fd);
	cost_watch_free(recorder->cost_watch);
	cost_meter_free(recorder->costs);
	loss_counters_close(&recorder->losses);
	ring_set_close(recorder->rings);
	kernel_side_close(recorder->kernel);
	kernel_features_settle(&recorder->features);
	target_set_free(recorder->targets);
	process_reader_free(recorder->reader);
	if (recorder->signal_fd >= 0)
		close(recorder->signal_fd);
	free(recorder->watermarks);
	free(recorder);
}
