/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "record/capture_start.h"
#include "record/log_place.h"
#include "record/own_usage.h"
#include "record/recorder_internal.h"

/* A link that is made for a process holds on to its first thread: once another one has taken that one's place it never matches again. */
void recorder_on_exec(void *context, uint32_t tgid, uint32_t old_tid, uint64_t exec_ns)
{
	struct recorder *recorder = context;

	if (old_tid != tgid && recorder->attach && recorder->features.has_uprobe_multi_pid)
		attach_forget(recorder->attach, (pid_t)tgid);
	program_memory_invalidate(recorder->memory, tgid, exec_ns);
	recorder->scan_delay_ns = FIRST_SCAN_NS;
	recorder->next_scan_ns = 0;
}

static int take_event(void *context, size_t ring, const void *record, size_t size)
{
	return pipeline_push(context, ring, record, size);
}

static int take_loss(void *context, const struct wire_loss *loss)
{
	return pipeline_push_loss(context, loss);
}

/*
 * Takes what is in the rings and handles what is old enough: up to where the rings had been emptied by the drain before. So a loss, which is read
 * behind the drain, is known before anything that it may touch is finished.
 */
static int drain(struct recorder *recorder)
{
	int err;

	for (size_t i = 0; i < recorder->ring_cnt; i++)
		recorder->watermarks[i] = ring_set_watermark_ns(recorder->rings, i);
	err = ring_set_drain(recorder->rings, take_event, recorder->pipeline);
	if (!err)
		err = loss_counters_read(&recorder->losses, take_loss, recorder->pipeline);
	for (size_t i = 0; i < recorder->ring_cnt; i++)
		pipeline_set_watermark(recorder->pipeline, i, recorder->watermarks[i]);
	return err ? err : pipeline_run(recorder->pipeline);
}

static void fill_summary(struct recorder *recorder, struct txtrace_summary *summary, uint64_t now_ns)
{
	struct loss_totals losses;
	struct pipeline_stats *stats = &recorder->result.pipeline;

	pipeline_stats(recorder->pipeline, stats);
	loss_counters_totals(&recorder->losses, &losses);
	*summary = (struct txtrace_summary){
		.time_ns = now_ns,
		.sent_cnt = losses.sent_cnt,
		.received_cnt = ring_set_taken_cnt(recorder->rings),
		.lost_cnt = losses.lost_cnt,
		.lost_clocks_cnt = losses.lost_clocks_cnt,
		.late_cnt = stats->merge.late_cnt,
	};
	memcpy(summary->anomaly_cnt, stats->attribution.anomaly_cnt, sizeof(summary->anomaly_cnt));
}

void recorder_look(void *context, struct metrics_figures *figures)
{
	struct recorder *recorder = context;
	const struct pipeline_stats *stats = &recorder->result.pipeline;

	fill_summary(recorder, &figures->summary, capture_now_ns());
	figures->start_realtime_ns = recorder->begin_realtime_ns;
	figures->undecodable_cnt = stats->undecodable_cnt;
	figures->open_span_cnt = stats->attribution.open_span_cnt;
	figures->thread_cnt = stats->attribution.thread_cnt;
	figures->written_bytes = recorder->log ? log_writer_bytes(recorder->log) : recorder->result.log.written_bytes;
	figures->dropped_record_cnt = recorder->log ? log_writer_dropped_records(recorder->log) : recorder->result.dropped_record_cnt;
	figures->recorder_cpu_ns = own_usage_cpu_ns();
	figures->resident_bytes = own_usage_memory_bytes();
}

static void show_status(struct recorder *recorder, uint64_t now_ns)
{
	struct pipeline_stats stats;
	struct loss_totals losses;
	struct status_figures figures = { .time_ns = now_ns, .written_bytes = log_writer_bytes(recorder->log) };

	pipeline_stats(recorder->pipeline, &stats);
	loss_counters_totals(&recorder->losses, &losses);
	figures.span_cnt = stats.attribution.span_cnt;
	figures.event_cnt = stats.event_cnt;
	figures.lost_cnt = losses.lost_cnt;
	figures.dropped_cnt = log_writer_dropped_records(recorder->log);
	status_line_show(&recorder->status, &figures);
}

static void scan(struct recorder *recorder, uint64_t now_ns)
{
	struct error ignored; /* what cannot be attached is counted, and said at the end */

	attach_scan(recorder->attach, target_pid(recorder->target), &ignored);
	recorder->next_scan_ns = now_ns + recorder->scan_delay_ns;
	if (recorder->scan_delay_ns < SCAN_NS)
		recorder->scan_delay_ns *= 2;
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

static void keep_house(struct recorder *recorder, uint64_t now_ns)
{
	uint64_t monotonic_ns, realtime_ns;

	if (now_ns < recorder->next_housekeeping_ns)
		return;
	recorder->next_housekeeping_ns = now_ns + HOUSEKEEPING_NS;
	capture_read_clocks(&monotonic_ns, &realtime_ns);
	log_writer_set_anchor(recorder->log, monotonic_ns, realtime_ns); /* the wall clock may have been set meanwhile */
	show_status(recorder, now_ns);
	service_tick(recorder->service, now_ns);
}

/* What can't take effect now is named; a mistake in the file changes nothing. */
static void read_options_again(struct recorder *recorder)
{
	struct record_options fresh;
	struct text unlike = { 0 };
	struct error error;

	service_reloading(recorder->service, capture_now_ns());
	if (record_options_read_again(recorder->options, &fresh, &error)) {
		messages_say(recorder->messages, MESSAGE_WARNING, "reload", "the options stay as they were: %s", error.text);
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
 * The first Ctrl-C goes to a launched command too, from the terminal: recording goes on until it has ended. SIGTERM comes to us alone and is
 * passed on. The second signal of any kind stops recording at once, and so does the first when the target is not our child.
 */
static bool wants_stop(struct recorder *recorder)
{
	struct signalfd_siginfo signal;

	while (read(recorder->signal_fd, &signal, sizeof(signal)) == sizeof(signal)) {
		if (signal.ssi_signo == SIGHUP && recorder->options->config.path) {
			read_options_again(recorder);
			continue;
		}
		if (!recorder->options->command || recorder->signal_cnt++)
			return true;
		if (signal.ssi_signo != SIGINT)
			target_signal(recorder->target, signal.ssi_signo);
	}
	return false;
}

static int wait_a_moment(struct recorder *recorder, uint64_t now_ns)
{
	struct pollfd fds[] = {
		{ .fd = recorder->signal_fd, .events = POLLIN },
		{ .fd = target_poll_fd(recorder->target), .events = POLLIN },
		{ .fd = ring_set_fd(recorder->rings), .events = POLLIN },
		{ .fd = service_fd(recorder->service), .events = POLLIN }, /* poll passes over -1 */
	};
	uint64_t end_ns = recorder->options->duration_ns ? recorder->begin_ns + recorder->options->duration_ns : UINT64_MAX;
	uint64_t until_ns = now_ns + TICK_MS * 1000000u;

	if (recorder->next_scan_ns < until_ns)
		until_ns = recorder->next_scan_ns;
	if (end_ns < until_ns)
		until_ns = end_ns;
	if (until_ns > now_ns && poll(fds, 4, (until_ns - now_ns + 999999) / 1000000) < 0 && errno != EINTR)
		return -errno;
	if (fds[2].revents & POLLIN) { /* takes the wake-ups: until the next one the rings are not ready, however full they are */
		struct epoll_event events[WIRE_RING_MAX];

		epoll_wait(ring_set_fd(recorder->rings), events, WIRE_RING_MAX, 0);
	}
	if (fds[1].revents)
		recorder->is_target_gone = true;
	service_run(recorder->service); /* also for the sake of clients that say nothing: they have a time limit */
	return 0;
}

static int loop(struct recorder *recorder)
{
	uint64_t now_ns = capture_now_ns();
	int err = 0;

	while (!err && !recorder->is_target_gone && !wants_stop(recorder)) {
		if (recorder->options->duration_ns && now_ns - recorder->begin_ns >= recorder->options->duration_ns)
			break;
		err = wait_a_moment(recorder, now_ns);
		now_ns = capture_now_ns();
		if (!err)
			err = drain(recorder);
		if (now_ns >= recorder->next_scan_ns && !recorder->is_target_gone)
			scan(recorder, now_ns);
		keep_house(recorder, now_ns);
		if (!err)
			err = flush(recorder, now_ns);
		if (!err)
			err = log_writer_error(recorder->log);
	}
	return err;
}

/* Silence first: removing the probes takes its time, one after the other. Once the programs have gone nothing comes any more. */
static int finish(struct recorder *recorder)
{
	struct txtrace_record summary = { .kind = TXTRACE_RECORD_SUMMARY };
	struct attach_stats stats;
	uint64_t end_ns;
	int err;

	kernel_side_silence(recorder->kernel);
	end_ns = capture_now_ns();

	attach_stats(recorder->attach, &stats);
	recorder->result.site_cnt = stats.site_cnt;
	attach_close(recorder->attach);
	recorder->attach = NULL;
	kernel_side_stop(recorder->kernel);
	log_writer_drop_no_more(recorder->log);
	err = drain(recorder);
	if (!err)
		err = pipeline_finish(recorder->pipeline, end_ns);
	fill_summary(recorder, &summary.summary, end_ns);
	recorder->result.summary = summary.summary;
	recorder->result.duration_ns = end_ns - recorder->begin_ns;
	return err ? err : pipeline_put(recorder->pipeline, &summary);
}

/* err: what happened until now. */
static int close_log(struct recorder *recorder, int err)
{
	recorder->result.dropped = *log_writer_dropped(recorder->log);
	recorder->result.dropped_record_cnt = log_writer_dropped_records(recorder->log);
	if (!err)
		err = log_writer_close(recorder->log);
	else
		log_writer_abort(recorder->log);
	recorder->log = NULL;
	return err;
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
	const struct message_field fields[] = { { "log", recorder->log_path, 0 }, { "version", TXTRACE_VERSION, 0 } };

	if (recorder->messages->format == MESSAGES_JSON)
		messages_tell(recorder->messages, MESSAGE_INFO, "start", fields, sizeof(fields) / sizeof(fields[0]), "recording");
}

int recorder_run(struct recorder *recorder, struct error *error)
{
	int err, finish_err;

	status_line_init(&recorder->status, stderr, recorder->options->is_quiet, recorder->begin_ns);
	recorder->next_housekeeping_ns = capture_now_ns() + HOUSEKEEPING_NS;
	recorder->next_flush_ns = capture_now_ns() + FLUSH_NS;
	recorder->next_scan_ns = capture_now_ns() + recorder->scan_delay_ns;
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
	recorder->result.is_target_alive = target_is_running(recorder->target);
	if (!recorder->result.is_target_alive)
		target_wait(recorder->target, &recorder->result.exit_status);
	if (err)
		explain_stop(recorder, err, error);
	return err;
}
