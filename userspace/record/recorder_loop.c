/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/units.h"
#include "record/options/capture_limits.h"
#include "base/clock.h"
#include "record/options/capture_start.h"
#include "record/targets/detach_watch.h"
#include "record/kernel/kernel_targets.h"
#include "record/foreign_spans.h"
#include "record/options/log_place.h"
#include "record/cost/own_usage.h"
#include "record/recorder_state.h"
#include "record/target_exes.h"

/*
 * A link that is made for a process holds on to its first thread: once another one has taken that one's place
 * it never matches again. What was attached since then, when the exec was heard and its turn had not come
 * yet, holds on to the right one.
 */
void recorder_see_exec(struct recorder *recorder, uint32_t tgid, uint32_t old_tid, uint64_t exec_ns)
{
	if (old_tid != tgid && recorder->watch && recorder->features.has_uprobe_multi_pid)
		attach_forget(recorder->attach, (pid_t)tgid, exec_ns);
	program_memory_invalidate(recorder->memory, tgid, exec_ns);
	process_reader_forget(recorder->reader, (pid_t)tgid);
	if (recorder->watch)
		attach_watch_soon(recorder->watch, (pid_t)tgid);
}

/*
 * A child has its parent's memory until it execs; of one that joins later, the parent must be known to run
 * the same program.
 */
static bool is_copy_of_parent(const struct recorder *recorder, const struct event *event)
{
	const struct traced_process *parent = target_set_get(recorder->targets, event->process.parent_tgid);

	if (event->process.change == WIRE_PROCESS_FORKED)
		return true;
	return event->process.change == WIRE_PROCESS_JOINED && !(event->flags & WIRE_IS_SEED) &&
	       !event->process.path.length && parent && parent->code_start == event->process.code_start;
}

int recorder_see_process(struct recorder *recorder, const struct event *event)
{
	int err = 0;

	process_reader_forget(recorder->reader, (pid_t)event->tgid);
	/* an exec, of which nobody else tells while the process has no clocks yet */
	if (event->process.path.length)
		program_memory_invalidate(recorder->memory, event->tgid, event->time_ns);
	if (is_copy_of_parent(recorder, event))
		err = program_memory_note_fork(recorder->memory, event->process.parent_tgid, event->tgid,
					       event->process.start_ns);
	kernel_filter_see_process(recorder->filter, event);
	if (!err || err == -ENOMEM) /* a limit that is met there costs labels, and is counted there */
		err = target_set_see(recorder->targets, event);
	if (event->process.change == WIRE_PROCESS_EXITED || event->process.change == WIRE_PROCESS_LEFT) {
		program_memory_forget(recorder->memory, event->tgid, event->time_ns);
		if (recorder->watch)
			attach_watch_end(recorder->watch, (pid_t)event->tgid, event->time_ns);
	}
	return err;
}

/*
 * Processes are heard of at once, whenever their turn comes in the log: what they have mapped, and are
 * called, may soon be gone.
 */
static int hear_process(struct recorder *recorder, const struct wire_process *wire, size_t size)
{
	int err = target_set_hear(recorder->targets, wire, size);

	if (size < sizeof(*wire))
		return err;
	if (recorder->watch)
		attach_watch_hear(recorder->watch, wire);
	if (wire->change == WIRE_PROCESS_JOINED && wire->thread_cnt > 1 &&
	    !(wire->header.flags & WIRE_IS_SEED))
		recorder->wants_seed = true;
	return err;
}

static int put_cost(void *context, const struct txtrace_record *record)
{
	return pipeline_put(context, record);
}

int recorder_put_costs(struct recorder *recorder, uint64_t time_ns)
{
	const struct cost_meter_bytes bytes = {
		.ring_bytes = ring_set_taken_bytes(recorder->rings),
		.log_bytes = log_writer_bytes(recorder->log),
	};

	return cost_meter_tell(recorder->costs, time_ns, &bytes, put_cost, recorder->pipeline);
}

static int take_event(void *context, size_t ring, const void *record, size_t size)
{
	struct recorder *recorder = context;
	const struct wire_header *header = record;
	struct wire_stack_number number;
	int result = 0;

	if (size < sizeof(*header))
		return pipeline_push(recorder->pipeline, ring, record, size);
	if (header->kind == WIRE_PROCESS)
		result = hear_process(recorder, record, size);
	if (!result && recorder->marks) {
		result = mark_rings_hear(recorder->marks, record, size);
		if (header->kind == WIRE_POOL || header->kind == WIRE_STAY)
			return result;
	}
	if (!result && recorder->stacks)
		result = code_stacks_take(recorder->stacks, record, size, &number);
	if (result > 0)
		return pipeline_push(recorder->pipeline, ring, &number, sizeof(number));
	if (result < 0 || header->kind == WIRE_STACK)
		return result;
	return pipeline_push(recorder->pipeline, ring, record, size);
}

static int take_loss(void *context, const struct wire_loss *loss)
{
	return pipeline_push_loss(context, loss);
}

/* Up to then all that the kernel side has sent was taken. */
static uint64_t told_until_ns(const struct recorder *recorder)
{
	uint64_t told_ns = UINT64_MAX;

	for (size_t i = 0; i < recorder->ring_cnt; i++)
		if (ring_set_watermark_ns(recorder->rings, i) < told_ns)
			told_ns = ring_set_watermark_ns(recorder->rings, i);
	return told_ns;
}

static void ask_threads(struct recorder *recorder)
{
	int err = kernel_side_ask(recorder->kernel);

	if (err && !recorder->has_told_unasked)
		messages_say(recorder->messages, MESSAGE_WARNING, "marks",
			     "the kernel runs no program on another CPU (%s): the time of threads that "
			     "mark and do not leave their CPU is unknown",
			     strerror(-err));
	recorder->has_told_unasked |= err != 0;
}

/*
 * What was marked in memory. A thread that has marked and stays on its CPU is asked for its clocks; the
 * others have told theirs when they left it.
 */
static int drain_marks(struct recorder *recorder)
{
	/* what is behind has room in the queue, and in the merge it would take twice as much */
	int err = mark_rings_drain(recorder->marks, told_until_ns(recorder),
				   !pipeline_has_more(recorder->pipeline));
	uint64_t told_ns = clock_now_ns();

	if (err || !mark_rings_want_stays(recorder->marks, told_ns))
		return err;
	ask_threads(recorder);
	err = ring_set_drain(recorder->rings, take_event, recorder);
	if (told_until_ns(recorder) < told_ns)
		told_ns = told_until_ns(recorder);
	return err ? err : mark_rings_settle(recorder->marks, told_ns);
}

/*
 * Takes what is in the rings and handles what is old enough: up to where the rings had been emptied by the
 * drain before. So a loss, which is read behind the drain, is known before anything that it may touch is
 * finished.
 */
int recorder_drain(struct recorder *recorder)
{
	int err;

	for (size_t i = 0; i < recorder->ring_cnt; i++)
		recorder->watermarks[i] = ring_set_watermark_ns(recorder->rings, i);
	err = ring_set_drain(recorder->rings, take_event, recorder);
	if (!err && recorder->marks)
		err = drain_marks(recorder);
	if (!err)
		err = loss_counters_read(&recorder->losses, take_loss, recorder->pipeline);
	for (size_t i = 0; i < recorder->ring_cnt; i++)
		pipeline_set_watermark(recorder->pipeline, i, recorder->watermarks[i]);
	pipeline_set_watermark(recorder->pipeline, recorder->ring_cnt,
			       recorder->marks ? mark_rings_watermark_ns(recorder->marks) : UINT64_MAX);
	return err ? err : pipeline_run(recorder->pipeline);
}

static void add_marks(const struct mark_rings *marks, struct txtrace_summary *summary)
{
	struct mark_rings_stats stats;

	mark_rings_stats(marks, &stats);
	summary->sent_cnt += stats.taken_cnt + stats.lost_cnt;
	summary->received_cnt += stats.taken_cnt;
	summary->lost_cnt += stats.lost_cnt;
	summary->memory_process_cnt = stats.memory_process_cnt;
	summary->unread_process_cnt = stats.unread_process_cnt;
}

void recorder_summarize(struct recorder *recorder, struct txtrace_summary *summary, uint64_t now_ns)
{
	struct loss_totals losses;
	struct pipeline_stats *stats = &recorder->result.pipeline;

	pipeline_stats(recorder->pipeline, stats);
	loss_counters_totals(&recorder->losses, &losses);
	recorder->result.losses = (struct loss_causes){
		.lost_cnt = losses.lost_cnt,
		.missed_cnt = losses.missed_cnt,
		.full_cnt = kernel_side_full_cnt(recorder->kernel),
	};
	*summary = (struct txtrace_summary){
		.time_ns = now_ns,
		.sent_cnt = losses.sent_cnt,
		.received_cnt = ring_set_taken_cnt(recorder->rings) - stats->attribution.refused_cnt,
		.lost_cnt = losses.lost_cnt + stats->attribution.refused_cnt,
		.lost_clocks_cnt = losses.lost_clocks_cnt,
		.late_cnt = stats->merge.late_cnt,
	};
	if (recorder->marks)
		add_marks(recorder->marks, summary);
	memcpy(summary->anomaly_cnt, stats->attribution.anomaly_cnt, sizeof(summary->anomaly_cnt));
	memcpy(summary->left_out_cnt, stats->attribution.left_out_cnt, sizeof(summary->left_out_cnt));
	kernel_filter_count(kernel_side_counters(recorder->kernel), (uint32_t)kernel_side_cpu_cnt(),
			    summary->left_out_cnt);
}

void recorder_look(void *context, struct metrics_figures *figures)
{
	struct recorder *recorder = context;
	const struct pipeline_stats *stats = &recorder->result.pipeline;

	recorder_summarize(recorder, &figures->summary, clock_now_ns());
	figures->start_realtime_ns = recorder->begin_realtime_ns;
	figures->undecodable_cnt = stats->undecodable_cnt;
	figures->refused_cnt = stats->attribution.refused_cnt;
	figures->losses = recorder->result.losses;
	figures->lost_process_cnt = kernel_targets_lost(kernel_side_bpf(recorder->kernel));
	figures->open_span_cnt = stats->attribution.open_span_cnt;
	figures->thread_cnt = stats->attribution.thread_cnt;
	figures->written_bytes = recorder->log ? log_writer_bytes(recorder->log)
					       : recorder->result.log.written_bytes;
	figures->dropped_record_cnt = recorder->log ? log_writer_dropped_records(recorder->log)
						    : recorder->result.dropped_record_cnt;
	figures->frozen_cnt = process_reader_frozen(recorder->reader)->cnt;
	figures->recorder_cpu_ns = own_usage_cpu_ns();
	figures->resident_bytes = own_usage_memory_bytes();
}

static void show_status(struct recorder *recorder, uint64_t now_ns)
{
	struct pipeline_stats stats;
	struct loss_totals losses;
	struct status_figures figures = { .time_ns = now_ns,
					  .written_bytes = log_writer_bytes(recorder->log) };

	pipeline_stats(recorder->pipeline, &stats);
	loss_counters_totals(&recorder->losses, &losses);
	figures.span_cnt = stats.attribution.span_cnt;
	figures.event_cnt = stats.event_cnt;
	figures.lost_cnt = losses.lost_cnt + stats.attribution.refused_cnt;
	figures.dropped_cnt = log_writer_dropped_records(recorder->log);
	status_line_show(&recorder->status, &figures);
}

void recorder_look_at_code(void *context, uint32_t pid)
{
	const struct recorder *recorder = context;

	if (recorder->stacks)
		code_stacks_look(recorder->stacks, pid);
}

void recorder_look_at_contexts(void *context, uint32_t pid)
{
	const struct recorder *recorder = context;

	if (recorder->otel)
		otel_watch_look(recorder->otel, pid);
}

/*
 * What the kernel side could not tell of processes is asked for: who is traced and was not announced is
 * announced by the next listing of threads, and who is traced no more has gone from its map.
 */
static void catch_up(struct recorder *recorder)
{
	uint64_t lost_cnt = loss_counters_of_kind(&recorder->losses, WIRE_PROCESS);
	struct error ignored;

	if (lost_cnt != recorder->process_lost_cnt) {
		recorder->process_lost_cnt = lost_cnt;
		recorder->wants_seed = true;
	}
	if (!recorder->wants_seed)
		return;
	recorder->wants_seed = false;
	kernel_side_seed(recorder->kernel, &ignored);
}

/* Nobody looks at what each write to it returns. */
static int flush_stream(struct recorder *recorder)
{
	FILE *stream = recorder->stream;

	errno = EIO;
	if (!stream || (!fflush(stream) && !ferror(stream)))
		return 0;
	recorder->is_stream_broken = true;
	return -errno;
}

/* Afterwards a crash of ours costs at most what follows. */
static int flush(struct recorder *recorder, uint64_t now_ns)
{
	int err;

	if (now_ns < recorder->next_flush_ns)
		return 0;
	recorder->next_flush_ns = now_ns + FLUSH_NS;
	err = pipeline_checkpoint(recorder->pipeline, now_ns);
	if (!err)
		err = log_writer_flush(recorder->log);
	return err ? err : flush_stream(recorder);
}

static void do_periodic_work(struct recorder *recorder, uint64_t now_ns)
{
	uint64_t monotonic_ns, realtime_ns;

	if (now_ns < recorder->next_periodic_ns)
		return;
	recorder->next_periodic_ns = now_ns + PERIOD_NS;
	capture_read_clocks(&monotonic_ns, &realtime_ns);
	/* the wall clock may have been set meanwhile */
	log_writer_set_anchor(recorder->log, monotonic_ns, realtime_ns);
	show_status(recorder, now_ns);
	service_tick(recorder->service, now_ns);
	recorder_tell_refused(recorder);
	recorder_tell_unread(recorder);
	recorder_tell_held(recorder);
	foreign_spans_warn(recorder->foreign, recorder->messages);
	otel_watch_tick(recorder->otel, now_ns);
	cost_watch_steps(recorder->cost_watch);
}

struct rereading {
	const struct record_options *before;
	struct record_options *fresh;
	struct error *error;
};

static int read_again(void *context)
{
	const struct rereading *rereading = context;

	return record_options_read_again(rereading->before, rereading->fresh, rereading->error);
}

/* What can't take effect now is named; a mistake in the file changes nothing. */
static void read_options_again(struct recorder *recorder)
{
	struct record_options fresh = { 0 };
	struct text unlike = { 0 };
	struct error error = { "cannot take the rights of the user who called sudo" };
	struct rereading rereading = { recorder->options, &fresh, &error };

	service_reloading(recorder->service, clock_now_ns());
	if (caller_do(recorder->options->caller, read_again, &rereading)) {
		messages_say(recorder->messages, MESSAGE_WARNING, "reload",
			     "the options stay as they were: %s", error.text);
	} else {
		log_writer_set_limits(recorder->log, &fresh.limits);
		record_options_append_unlike(recorder->options, &fresh, &unlike);
		messages_say(recorder->messages, MESSAGE_INFO, "reload", "the options were read again%s%s",
			     unlike.length ? "; these need a restart: " : "", text_string(&unlike));
	}
	service_ready(recorder->service);
	text_release(&unlike);
	record_options_release(&fresh);
}

/*
 * The first Ctrl-C goes to a launched command too, from the terminal: recording goes on until it has ended.
 * SIGTERM comes to us alone and is passed on. The second signal of any kind stops recording at once, and so
 * does the first when the target is not our child.
 */
static bool wants_stop(struct recorder *recorder)
{
	struct signalfd_siginfo signal;

	while (read(recorder->signal_fd, &signal, sizeof(signal)) == sizeof(signal)) {
		if (signal.ssi_signo == SIGHUP && recorder->options->config.path) {
			read_options_again(recorder);
			continue;
		}
		if (signal.ssi_signo == SIGUSR1) {
			flight_recorder_request(recorder->flight, clock_now_ns());
			continue;
		}
		if (!recorder->options->command || recorder->signal_cnt++) {
			recorder->is_told_to_stop = true;
			return true;
		}
		if (signal.ssi_signo != SIGINT)
			target_signal(target_set_named(recorder->targets, 0), signal.ssi_signo);
	}
	return false;
}

/*
 * Whatever was asked before: the second signal ends it at once, also while
 * nothing is recorded any more.
 */
bool recorder_is_hurried(struct recorder *recorder)
{
	struct signalfd_siginfo signal;
	bool is_hurried = false;

	while (read(recorder->signal_fd, &signal, sizeof(signal)) == sizeof(signal))
		is_hurried |= signal.ssi_signo != SIGUSR1 &&
			      (signal.ssi_signo != SIGHUP || !recorder->options->config.path);
	return is_hurried;
}

bool recorder_leave_signals(struct recorder *recorder)
{
	sigset_t signals;

	if (recorder_is_hurried(recorder))
		return true;
	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	if (recorder->is_told_to_stop)
		sigprocmask(SIG_UNBLOCK, &signals, NULL);
	return false;
}

/* The kernel side has forgotten it by itself, and says so. */
static void named_ended(void *context, pid_t pid)
{
	(void)context;
	(void)pid;
}

static bool has_more(const struct recorder *recorder)
{
	return pipeline_has_more(recorder->pipeline) ||
	       (recorder->marks && mark_rings_have_more(recorder->marks));
}

/*
 * A recorder that has nothing to do does not disturb others. It sleeps from the
 * look after the one that tells the kernel side, which takes what that had sent
 * by then.
 */
static void see_whether_quiet(struct recorder *recorder, uint64_t now_ns)
{
	uint64_t taken_cnt = ring_set_taken_cnt(recorder->rings);
	bool was_quiet = recorder->is_quiet;

	if (taken_cnt != recorder->seen_cnt || has_more(recorder) ||
	    (recorder->marks && mark_rings_have_pools(recorder->marks)))
		recorder->busy_ns = now_ns;
	recorder->seen_cnt = taken_cnt;
	recorder->is_quiet = now_ns - recorder->busy_ns >= QUIET_NS;
	recorder->is_asleep = recorder->is_quiet && was_quiet;
	if (recorder->is_quiet != was_quiet)
		kernel_side_set_sleeping(recorder->kernel, recorder->is_quiet);
}

static uint64_t tick_ns(const struct recorder *recorder)
{
	if (has_more(recorder))
		return 0;
	return recorder->is_asleep ? PERIOD_NS : TICK_MS * 1000000u;
}

/* What nobody sends costs nothing. */
static void measure_cost(struct recorder *recorder, uint64_t now_ns)
{
	recorder->next_cost_ns = UINT64_MAX;
	if (!recorder->is_asleep || cost_meter_is_timing(recorder->costs))
		recorder->next_cost_ns = cost_meter_tick(recorder->costs, now_ns);
}

static int wait_a_moment(struct recorder *recorder, uint64_t now_ns)
{
	struct pollfd fds[] = {
		{ .fd = recorder->signal_fd, .events = POLLIN },
		{ .fd = target_set_poll_fd(recorder->targets), .events = POLLIN },
		{ .fd = ring_set_fd(recorder->rings), .events = POLLIN },
		{ .fd = attach_watch_fd(recorder->watch, now_ns), .events = POLLIN },
		{ .fd = service_fd(recorder->service), .events = POLLIN }, /* poll passes over -1 */
	};
	uint64_t end_ns = recorder->options->duration_ns ? recorder->begin_ns + recorder->options->duration_ns
							 : UINT64_MAX;
	uint64_t until_ns = now_ns + tick_ns(recorder);
	int wait_ms;

	if (attach_watch_due_ns(recorder->watch, now_ns) < until_ns)
		until_ns = attach_watch_due_ns(recorder->watch, now_ns);
	if (recorder->next_cost_ns < until_ns)
		until_ns = recorder->next_cost_ns;
	if (end_ns < until_ns)
		until_ns = end_ns;
	/* what is due is no reason not to look */
	wait_ms = until_ns > now_ns ? (int)((until_ns - now_ns + 999999) / 1000000) : 0;
	if (poll(fds, sizeof(fds) / sizeof(fds[0]), wait_ms) < 0 && errno != EINTR)
		return -errno;
	/* takes the wake-ups: until the next one the rings are not ready, however full they are */
	if (fds[2].revents & POLLIN) {
		struct epoll_event events[WIRE_RING_MAX];

		epoll_wait(ring_set_fd(recorder->rings), events, WIRE_RING_MAX, 0);
	}
	if (fds[1].revents && !target_set_reap(recorder->targets, named_ended, recorder))
		recorder->is_target_gone = !target_rules_are_open(&recorder->options->targets);
	/* also for the sake of clients that say nothing: they have a time limit */
	service_run(recorder->service);
	return 0;
}

static int loop(struct recorder *recorder)
{
	uint64_t now_ns = clock_now_ns();
	int err = 0;

	while (!err && !recorder->is_target_gone && !wants_stop(recorder)) {
		if (recorder->options->duration_ns &&
		    now_ns - recorder->begin_ns >= recorder->options->duration_ns)
			break;
		err = wait_a_moment(recorder, now_ns);
		now_ns = clock_now_ns();
		measure_cost(recorder, now_ns);
		cost_watch_tick(recorder->cost_watch, now_ns);
		if (!err)
			err = recorder_drain(recorder);
		if (!err && !recorder->is_target_gone) {
			attach_watch_run(recorder->watch, now_ns);
			if (attach_watch_take_news(recorder->watch))
				recorder->wants_seed |= target_exes_renew(recorder);
			catch_up(recorder);
		}
		see_whether_quiet(recorder, now_ns);
		do_periodic_work(recorder, now_ns);
		if (!err)
			err = pipeline_tick(recorder->pipeline);
		if (!err)
			err = flush(recorder, now_ns);
		if (!err && recorder->flight)
			err = recorder_fly(recorder, now_ns);
		if (!err)
			err = log_writer_error(recorder->log);
	}
	return err;
}

/* No record that has come before is later. */
static uint64_t last_ns(const struct recorder *recorder, uint64_t end_ns)
{
	uint64_t given_ns = recorder->result.pipeline.merge.given_ns;

	return given_ns > end_ns ? given_ns : end_ns;
}

void recorder_detach(struct recorder *recorder)
{
	struct detach_watch *watch = NULL;

	if (recorder->attach)
		watch = detach_watch_new(recorder->messages, recorder->reader);
	attach_close(recorder->attach);
	recorder->attach = NULL;
	if (recorder->kernel)
		kernel_side_stop(recorder->kernel);
	detach_watch_free(watch);
}

/* Programs mark on until their probes are removed. What is behind the end is nobody's any more. */
static void stop_marks(struct recorder *recorder)
{
	mark_rings_stop(recorder->marks, clock_now_ns());
	ask_threads(recorder);
}

/*
 * Silence first: removing the probes takes its time, one after the other, and any process that has mapped a
 * probed file can make that long. So the log is finished while they are still there, if the programs can be
 * known to send nothing any more.
 */
static int finish(struct recorder *recorder)
{
	struct txtrace_record summary = { .kind = TXTRACE_RECORD_SUMMARY };
	struct attach_stats stats;
	struct target_set_stats targets;
	uint64_t end_ns;
	int err;

	cost_meter_stop(recorder->costs, clock_now_ns());
	cost_watch_end(recorder->cost_watch, clock_now_ns(), &recorder->result.share);
	if (recorder->marks)
		stop_marks(recorder);
	kernel_side_silence(recorder->kernel);
	end_ns = clock_now_ns();

	attach_stats(recorder->attach, &stats);
	recorder->result.site_cnt = stats.probed_cnt;
	attach_watch_stats(recorder->watch, &recorder->result.watch);
	recorder->result.lost_process_cnt = kernel_targets_lost(kernel_side_bpf(recorder->kernel));
	attach_watch_close(recorder->watch);
	recorder->watch = NULL;
	if (!kernel_side_is_silent(recorder->kernel))
		recorder_detach(recorder);
	log_writer_drop_no_more(recorder->log);
	do
		err = recorder_drain(recorder);
	while (!err && has_more(recorder));
	if (!err && recorder->marks) /* nothing more is told */
		err = mark_rings_settle(recorder->marks, UINT64_MAX);
	if (!err)
		err = pipeline_finish(recorder->pipeline, end_ns);
	target_set_stats(recorder->targets, &targets);
	recorder->result.process_cnt = targets.joined_cnt;
	recorder_summarize(recorder, &summary.summary, end_ns);
	if (!err)
		err = recorder_put_costs(recorder, last_ns(recorder, end_ns));
	recorder->result.costs = *cost_meter_sums(recorder->costs);
	recorder->result.costs.has_silent_runs = capture_limits_have_silent_runs(recorder->options);
	recorder->result.summary = summary.summary;
	program_memory_stats(recorder->memory, &recorder->result.labels);
	if (recorder->stacks)
		code_stacks_stats(recorder->stacks, &recorder->result.stacks);
	recorder->result.frozen_cnt = process_reader_frozen(recorder->reader)->cnt;
	recorder->result.otel_cnt = otel_watch_found_cnt(recorder->otel);
	recorder->result.otel_full_cnt = kernel_side_otel_full_cnt(recorder->kernel);
	recorder->result.otel_fail_cnt = kernel_side_otel_fail_cnt(recorder->kernel);
	recorder->result.duration_ns = end_ns - recorder->begin_ns;
	if (err)
		return err;
	return recorder->flight ? recorder_land(recorder, &summary)
				: pipeline_put(recorder->pipeline, &summary);
}

/* err: what happened until now. */
static int close_log(struct recorder *recorder, int err)
{
	recorder->result.dropped = *log_writer_dropped(recorder->log);
	recorder->result.dropped_record_cnt = log_writer_dropped_records(recorder->log);
	return recorder_end_log(recorder, err);
}

static void explain_stop(const struct recorder *recorder, int err, struct error *error)
{
	const struct log_file_names *names = &recorder->result.log.names;
	struct text text = { 0 };

	text_append(&text, "recording stopped: ");
	if (recorder->is_stream_broken)
		text_append_format(&text, "cannot write the stream '%s': ", recorder->options->stream);
	text_append(&text, strerror(-err));
	if (log_place_cnt(recorder->log_path, names)) {
		text_append(&text, "; what was recorded before is in ");
		log_place_append(&text, recorder->log_path, names);
	}
	error_set(error, "%s", text_string(&text));
	text_release(&text);
}

/* For machines; people see the status line. */
static void tell_start(const struct recorder *recorder)
{
	const struct message_field fields[] = {
		{ "log", recorder->log_path, 0 },
		{ "version", TXTRACE_VERSION, 0 },
		{ "start_us", NULL, recorder->start.all_us },
		{ "load_us", NULL, recorder->start.load_us },
		{ "attach_us", NULL, recorder->start.attach_us },
	};

	char bytes[UNITS_SIZE];

	if (recorder->flight)
		messages_say(recorder->messages, MESSAGE_INFO, "flight",
			     "keeps the last part of the log in memory, at most %s, until there is a trigger",
			     units_format_size(bytes, recorder->options->flight.max_bytes));
	if (recorder->messages->format == MESSAGES_JSON)
		messages_tell(recorder->messages, MESSAGE_INFO, "start", fields,
			      sizeof(fields) / sizeof(fields[0]), "recording");
}

int recorder_run(struct recorder *recorder, struct error *error)
{
	int err, finish_err;

	status_line_init(&recorder->status, stderr, recorder->options->is_quiet, recorder->begin_ns);
	recorder->next_periodic_ns = clock_now_ns() + PERIOD_NS;
	recorder->next_flush_ns = clock_now_ns() + FLUSH_NS;
	recorder->busy_ns = clock_now_ns();
	recorder->next_cost_ns = cost_meter_tick(recorder->costs, clock_now_ns());
	service_ready(recorder->service);
	tell_start(recorder);
	err = loop(recorder);
	finish_err = finish(recorder);
	if (!err)
		err = finish_err;
	if (!err)
		err = flush_stream(recorder);
	err = close_log(recorder, err);
	service_finish(recorder->service);
	status_line_clear(&recorder->status);
	foreign_spans_finish(recorder->foreign, recorder->messages);
	recorder_tell_refused(recorder);
	recorder_tell_unread(recorder);
	recorder_tell_held(recorder);
	recorder->result.is_target_alive = target_set_reap(recorder->targets, named_ended, recorder) > 0;
	if (!recorder->result.is_target_alive && recorder->options->command)
		target_wait(target_set_named(recorder->targets, 0), &recorder->result.exit_status);
	if (err)
		explain_stop(recorder, err, error);
	return err;
}
