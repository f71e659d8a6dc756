/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/commands/otlp_send.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/units.h"
#include "cli/files/log_export.h"
#include "export/formats.h"
#include "otlp/otlp_sender.h"

#define POLL_NS 100000000u
#define FLUSH_NS 1000000000u
/*
 * Following, a span waits so long, until spans above it have ended or a checkpoint of the log tells of them:
 * a recorder writes one about every second.
 */
#define BEHIND_NS 5000000000u
#define BEHIND_MAX (1u << 20) /* records */
#define STEP_CNT 65536	      /* records between looks at signals */
#define STALL_NS 10000000000u
#define FINISH_NS 10000000000u

struct sending {
	struct cli *cli;
	const struct otlp_send_options *options;
	struct otlp_endpoint endpoint;
	struct otlp_sender *sender;
	const struct export_format *format;
	struct export_sink sink;
};

static int take_message(void *context, const char *bytes, size_t length, uint32_t span_cnt)
{
	const struct sending *sending = context;
	const struct otlp_request request = {
		.bytes = bytes,
		.length = length,
		.span_cnt = span_cnt,
		.type = sending->endpoint.is_json ? OTLP_TYPE_JSON : OTLP_TYPE_PROTOBUF,
		.is_packed = sending->endpoint.is_gzip,
	};

	return otlp_sender_add(sending->sender, &request);
}

static void say(void *context, const char *sentence)
{
	cli_warn(context, "%s", sentence);
}

static int begin(struct sending *sending)
{
	const struct otlp_send_options *options = sending->options;
	struct otlp_sender_options wanted = {
		.endpoint = &sending->endpoint,
		.give_up_ns = options->give_up_ns,
		.stall_ns = options->follow ? STALL_NS : 0,
		.ends_at_failure = !options->follow,
		.say = say,
		.context = sending->cli,
	};
	struct error error = { "" };
	int err = otlp_endpoint_read(&sending->endpoint, options->url, options->headers_file, &error);

	if (!err)
		err = otlp_sender_open(&sending->sender, &wanted, &error);
	if (err) {
		otlp_endpoint_release(&sending->endpoint);
		return cli_fail(sending->cli, "%s", error.text);
	}
	sending->format = sending->endpoint.is_json ? &format_otlp_json : &format_otlp;
	sending->sink = (struct export_sink){ take_message, sending };
	return CLI_OK;
}

/* There is nothing to send, which was said. */
static void abandon(struct sending *sending)
{
	struct otlp_sender_totals totals;

	otlp_sender_close(sending->sender, 0, &totals);
	otlp_endpoint_release(&sending->endpoint);
}

int otlp_tell_missing(struct cli *cli, const struct otlp_sender_totals *totals)
{
	char count[UNITS_SIZE];

	if (totals->rejected_cnt > 0)
		cli_warn(cli, "%s spans were rejected by the receiver: %s",
			 units_format_count(count, totals->rejected_cnt), totals->reason.text);
	if (totals->has_failed)
		return cli_fail(cli, "not all spans were sent: %s", totals->reason.text);
	if (totals->dropped_cnt > 0)
		cli_warn(cli, "%s spans were not sent: %s", units_format_count(count, totals->dropped_cnt),
			 totals->reason.text);
	if (totals->other_dropped_cnt > 0)
		cli_warn(cli, "%s other requests were not sent: %s",
			 units_format_count(count, totals->other_dropped_cnt), totals->reason.text);
	return totals->rejected_cnt > 0 || totals->dropped_cnt > 0 || totals->other_dropped_cnt > 0
		       ? CLI_INCOMPLETE
		       : CLI_OK;
}

/* err: with which the export failed; -ECANCELED: the sender has ended. */
static int end(struct sending *sending, int err, uint64_t wait_ns)
{
	struct cli *cli = sending->cli;
	struct otlp_sender_totals totals;
	char sent[UNITS_SIZE];
	int status;

	if (err && err != -ECANCELED)
		otlp_sender_stop(sending->sender);
	otlp_sender_close(sending->sender, wait_ns, &totals);
	cli_hide_progress(cli);
	fprintf(cli->out.file, "%s spans sent to %s\n", units_format_count(sent, totals.sent_cnt),
		sending->endpoint.place);
	fflush(cli->out.file);
	status = otlp_tell_missing(cli, &totals);
	if (err && err != -ECANCELED)
		status = cli_fail(cli, "can't send the spans: %s", strerror(-err));
	otlp_endpoint_release(&sending->endpoint);
	return status;
}

static int send_log(struct sending *sending, const struct options_result *parsed)
{
	struct exported exported = { .cli = sending->cli };
	struct export *export;
	int status = exported_open(&exported, sending->format, parsed, true), input_status, err;

	if (status) {
		abandon(sending);
		return status;
	}
	err = export_open_sink(&export, sending->format, &sending->sink, &exported.input.info);
	if (!err)
		err = export_records(&exported, export, NULL);
	status = end(sending, err, 0);
	input_status = exported_close(&exported);
	return status ? status : input_status;
}

/* ---- following ---- */

/* How many records had been read when. */
struct moment_cnt {
	uint64_t time_ns;
	uint64_t cnt;
};

#define MOMENTS 64 /* POLL_NS apart, so that they reach back further than BEHIND_NS */

/* The same log twice: the first one is read as it comes, the second some seconds later. */
struct following {
	struct sending *sending;
	struct log_input first, second;
	uint64_t first_cnt, second_cnt;
	struct moment_cnt moments[MOMENTS];
	uint64_t moment_cnt;
	struct export *export;
	uint64_t flushed_ns;
	sigset_t stops;
	bool is_stopped;
};

static void block_signals(sigset_t *stops, sigset_t *before)
{
	static const int numbers[] = { SIGINT, SIGTERM };
	struct sigaction action;

	sigemptyset(stops);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		/* a recorder that has started this one is who is to be interrupted */
		if (sigaction(numbers[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
			sigaddset(stops, numbers[i]);
	sigprocmask(SIG_BLOCK, stops, before);
}

static void wait_for_stop(struct following *following, uint64_t wait_ns)
{
	const struct timespec wait = { .tv_nsec = (long)wait_ns };

	if (!following->is_stopped)
		following->is_stopped = sigtimedwait(&following->stops, NULL, &wait) > 0;
}

/* Of all spans the first pass wants to know, whatever --where says. */
static int open_twice(struct following *following, const char *path)
{
	struct cli *cli = following->sending->cli;
	const struct log_scope *scope = cli->scope;
	bool is_too_early = true;
	int status = CLI_OK;

	while (is_too_early && !following->is_stopped) {
		status = log_input_follow(&following->second, cli, path, &is_too_early);
		if (is_too_early)
			wait_for_stop(following, POLL_NS);
	}
	if (status || is_too_early)
		return status;
	cli->scope = NULL;
	status = log_input_follow(&following->first, cli, path, &is_too_early);
	cli->scope = scope;
	following->first.is_quiet = true;
	if (status)
		log_input_close(&following->second);
	return status;
}

static int survey(struct following *following, bool *has_more)
{
	struct txtrace_record record;
	int err = 0;

	*has_more = false;
	for (size_t i = 0; i < STEP_CNT && !err; i++) {
		if (following->first_cnt > following->second_cnt + BEHIND_MAX)
			return 0;
		if (!log_input_next(&following->first, &record))
			return 0;
		following->first_cnt++;
		err = export_survey(following->export, &record);
	}
	*has_more = true;
	return err;
}

/* How many records the second pass may have read by now. */
static uint64_t find_horizon(struct following *following)
{
	uint64_t now_ns = clock_now_ns(), cnt = 0;
	struct moment_cnt *last = &following->moments[following->moment_cnt % MOMENTS];

	if (now_ns >= last->time_ns + POLL_NS)
		following->moments[++following->moment_cnt % MOMENTS] = (struct moment_cnt){
			now_ns, following->first_cnt
		};
	for (size_t i = 0; i < MOMENTS; i++) {
		const struct moment_cnt *moment = &following->moments[i];

		if (moment->time_ns + BEHIND_NS <= now_ns && moment->cnt > cnt)
			cnt = moment->cnt;
	}
	if (following->first_cnt > BEHIND_MAX && cnt < following->first_cnt - BEHIND_MAX)
		cnt = following->first_cnt - BEHIND_MAX;
	return cnt;
}

static int pass_on(struct following *following, uint64_t until_cnt, bool *has_more)
{
	struct txtrace_record record;
	int err = 0;

	*has_more = false;
	for (size_t i = 0; i < STEP_CNT && !err; i++) {
		if (following->second_cnt >= until_cnt || !log_input_next(&following->second, &record))
			return 0;
		following->second_cnt++;
		err = export_add(following->export, &record);
	}
	*has_more = true;
	return err;
}

static int flush(struct following *following)
{
	uint64_t now_ns = clock_now_ns();

	otlp_sender_look(following->sending->sender);
	if (now_ns < following->flushed_ns + FLUSH_NS)
		return 0;
	following->flushed_ns = now_ns;
	return export_flush(following->export);
}

static int follow_records(struct following *following)
{
	bool has_more = true, has_older = true;
	int err = 0;

	while (!err && !following->is_stopped && !following->first.is_at_end) {
		wait_for_stop(following, has_more || has_older ? 0 : POLL_NS);
		err = survey(following, &has_more);
		if (!err)
			err = pass_on(following, find_horizon(following), &has_older);
		if (!err)
			err = flush(following);
	}
	has_older = true;
	while (!err && has_older)
		err = pass_on(following, UINT64_MAX, &has_older);
	return err;
}

static int follow_log(struct following *following)
{
	struct sending *sending = following->sending;
	int err = export_open_sink(&following->export, sending->format, &sending->sink,
				   &following->second.info);

	if (err)
		return err;
	export_tell_at_close(following->export, say, sending->cli);
	err = follow_records(following);
	if (err)
		export_abort(following->export);
	else
		err = export_close(following->export, following->second.err, NULL);
	return err;
}

static int send_following(struct sending *sending, const char *path)
{
	struct following following = { .sending = sending };
	sigset_t before;
	int status, input_status, err;

	block_signals(&following.stops, &before);
	status = open_twice(&following, path);
	if (status || !following.first.log) {
		sigprocmask(SIG_SETMASK, &before, NULL);
		abandon(sending);
		return status;
	}
	err = follow_log(&following);
	sigprocmask(SIG_SETMASK, &before, NULL); /* another signal ends it at once */
	status = end(sending, err, FINISH_NS);
	log_input_close(&following.first);
	input_status = log_input_close(&following.second);
	return status ? status : input_status;
}

int otlp_send(struct cli *cli, const struct otlp_send_options *options, const struct options_result *parsed)
{
	struct sending sending = { .cli = cli, .options = options };
	int status;

	if (options->follow && (parsed->operand_cnt > 1 || strcmp(parsed->operands[0], "-") == 0))
		return cli_fail(cli, "only one file can be followed, and not the standard input");
	status = begin(&sending);
	if (status)
		return status;
	return options->follow ? send_following(&sending, parsed->operands[0]) : send_log(&sending, parsed);
}
