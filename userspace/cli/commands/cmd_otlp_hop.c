/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A request is answered at once and waits until the log has what happened until
 * its last span ended. Then its spans get their ledgers, and it goes to the
 * sender. Both queues are bounded: who finds no room is asked to try again.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/clock.h"
#include "base/seeded_random.h"
#include "base/units.h"
#include "cli/commands/command.h"
#include "cli/commands/context_ledger.h"
#include "cli/commands/hop_log.h"
#include "cli/commands/otlp_send.h"
#include "cli/serve/post_server.h"
#include "otlp/otlp_sender.h"
#include "otlp/otlp_unpack.h"

#define DEFAULT_LISTEN "127.0.0.1:4318"
#define REQUEST_MAX (64u << 20) /* bytes, also unpacked */
#define WAITING_MAX (64u << 20)
#define WAIT_NS 3000000000u /* a request waits so long for the log */
#define WORD_MAX 100	    /* bytes of a type, or the name of an encoding */
#define TURN_MS 100
#define STEP_CNT 65536 /* records between looks at requests */
#define FINISH_NS 10000000000u
/* What a trace needs to be remembered. */
#define KEEP_NS 600000000000u
#define KEEP_CNT 500000u

struct hop_options {
	const char *listen;
	const char *to;
	const char *headers_file;
	uint64_t give_up_ns;
};

static const struct option_spec specs[] = {
	OPTION("listen", 0, OPTION_STRING, "ADDRESS",
	       "where to take requests: an address and a port, as in 0.0.0.0:4318, or a port of this machine "
	       "alone (default 127.0.0.1:4318)",
	       offsetof(struct hop_options, listen)),
	OPTION("to", 0, OPTION_STRING, "URL",
	       "the collector, as in http://collector:4318; 'env': what OTEL_EXPORTER_OTLP_ENDPOINT says",
	       offsetof(struct hop_options, to)),
	OPTION("headers-file", 0, OPTION_STRING, "FILE",
	       "send these headers, lines NAME: VALUE, instead of those of the same name that come",
	       offsetof(struct hop_options, headers_file)),
	OPTION("give-up", 0, OPTION_DURATION, "TIME",
	       "how long to send a request again before it is dropped (default 1m)",
	       offsetof(struct hop_options, give_up_ns), .minimum = 1),
	OPTION_END,
};

static const char *const notes[] = {
	"A request is answered at once, and passed on when the log has the time of its spans, which takes "
	"about a second, and 3 s at most. When 64 MiB wait, further requests are answered with status 503: "
	"tracers try again. Metrics and logs are passed on as they are. Only HTTP is understood (port 4318), "
	"not gRPC (4317).",
	"Use it on the machine of the services. All programs that can reach ADDRESS can send through it.",
	"Exit status, after Ctrl-C or SIGTERM: 0 everything was passed on; 1 the collector did not take all; "
	"2 wrong usage, or nothing can be served or sent.",
	NULL,
};

static const struct options options = {
	.program = "txtrace otlp-hop",
	.about =
		"Stands between the tracers of services and their collector, and adds to each span where its "
		"time went, as 'txtrace join' does. LOG is written meanwhile by txtrace-bpf --otel; of a "
		"directory, the newest log; without an argument, that of the current directory.",
	.usages = (const char *const[]){ "--to URL [OPTION…] [LOG]", "--to URL [OPTION…] DIRECTORY", NULL },
	.specs = specs,
	.examples =
		(const struct option_example[]){
			{ "txtrace otlp-hop --to http://collector:4318 /var/lib/txtrace",
			  "Services send to http://localhost:4318, as they do by default." },
			{ NULL, NULL },
		},
	.notes = notes,
	.operand = "LOG or DIRECTORY",
	.operand_max = 1,
};

/* A request that was answered. */
struct waiting {
	struct waiting *next;
	struct otlp_request *request;
	size_t size;
	bool has_spans;
	uint64_t end_ns; /* of its last span, Unix time */
	uint64_t came_ns;
};

struct hop {
	struct cli *cli;
	struct otlp_endpoint endpoint;
	struct otlp_sender *sender;
	struct context_ledger ledger;
	struct hop_log log;
	struct waiting *first, **end;
	size_t waiting_bytes;
	struct text unpacked; /* of the request that comes */
	struct text out;      /* of the one that goes */
	char via[48];	      /* "Via: 1.1 txtrace-…", which no other has */
	uint64_t unknown_cnt; /* requests with something else in place of traces */
	uint64_t lost_cnt;    /* requests for which there was no memory */
	bool has_log_failed;
};

/* ---- what comes ---- */

static int look_at_span(void *context, const struct otlp_traces_span *span, struct otlp_traces_added *added)
{
	struct waiting *waiting = context;

	(void)added;
	waiting->has_spans = true;
	waiting->request->span_cnt++;
	if (span->end_ns > waiting->end_ns)
		waiting->end_ns = span->end_ns;
	return 0;
}

static bool is_of_type(const char *type, const char *wanted)
{
	size_t length = strlen(wanted);

	return type && !strncasecmp(type, wanted, length) && (!type[length] || strchr("; ", type[length])) &&
	       strlen(type) <= WORD_MAX;
}

static bool has_passed(const struct hop *hop, const struct post_request *came)
{
	for (const char *const *header = came->headers; *header; header++)
		if (!strncasecmp(*header, "via:", 4) && strstr(*header, hop->via + strlen("Via: ")))
			return true;
	return false;
}

/* false: it is answered so. A web page can't send these types to another site unasked. */
static bool check(const struct hop *hop, const struct post_request *came, struct post_reply *reply)
{
	if (!is_of_type(came->type, OTLP_TYPE_PROTOBUF) && !is_of_type(came->type, OTLP_TYPE_JSON)) {
		reply->status = 415;
		reply->text = "Only application/x-protobuf and application/json are passed on.\n";
	} else if (came->encoding && strlen(came->encoding) > WORD_MAX) {
		reply->status = 415;
		reply->text = "There is no such encoding.\n";
	} else if (strcmp(came->path, OTLP_TRACES_PATH) != 0 && !hop->endpoint.base) {
		reply->status = 404;
		reply->text = "Only traces are passed on.\n";
	} else if (has_passed(hop, came)) {
		reply->status = 508;
		reply->text = "This has come through here before.\n";
	} else {
		return true;
	}
	return false;
}

#define HEADERS_MAX 80 /* with two of ours */
#define ENCODING_SIZE (WORD_MAX + sizeof("Content-Encoding: "))

static void add_headers(const struct hop *hop, const struct post_request *came, bool is_unpacked,
			char *encoding, const char **lines)
{
	size_t cnt = 0;

	for (const char *const *header = came->headers; *header && cnt < HEADERS_MAX - 3; header++)
		lines[cnt++] = *header;
	lines[cnt++] = hop->via;
	if (came->encoding && !is_unpacked) {
		snprintf(encoding, ENCODING_SIZE, "Content-Encoding: %s", came->encoding);
		lines[cnt++] = encoding;
	}
	lines[cnt] = NULL;
}

/* What can't be read goes on as it is: the collector may know more. */
static void look_at_spans(struct hop *hop, struct waiting *waiting, bool is_packed)
{
	const struct otlp_request *request = waiting->request;
	const struct otlp_traces_visitor looking = { .span = look_at_span, .context = waiting };
	size_t offset;

	if (!is_packed && !otlp_traces_walk(request->bytes, request->length, &looking, NULL, &offset))
		return;
	waiting->has_spans = false;
	waiting->request->span_cnt = 0;
	hop->unknown_cnt++;
}

static struct waiting *make_waiting(struct hop *hop, const struct post_request *came)
{
	struct waiting *waiting = calloc(1, sizeof(*waiting));
	bool is_traces = strcmp(came->path, OTLP_TRACES_PATH) == 0;
	bool is_unpacked = is_traces && came->encoding && !strcasecmp(came->encoding, "gzip") &&
			   otlp_unpack(came->bytes, came->length, REQUEST_MAX, &hop->unpacked) == 0;
	const char *lines[HEADERS_MAX];
	char encoding[ENCODING_SIZE];
	struct otlp_request request = {
		.bytes = is_unpacked ? text_string(&hop->unpacked) : came->bytes,
		.length = is_unpacked ? hop->unpacked.length : came->length,
		.type = came->type,
		.is_packed = is_unpacked,
		.path = is_traces ? NULL : came->path,
		.headers = lines,
	};

	if (!waiting)
		return NULL;
	add_headers(hop, came, is_unpacked, encoding, lines);
	waiting->request = otlp_request_copy(&request, &waiting->size);
	if (!waiting->request) {
		free(waiting);
		return NULL;
	}
	waiting->came_ns = clock_now_ns();
	if (is_traces)
		look_at_spans(hop, waiting, came->encoding && !is_unpacked);
	return waiting;
}

static void take(void *context, const struct post_request *came, struct post_reply *reply)
{
	struct hop *hop = context;
	struct waiting *waiting;

	if (!check(hop, came, reply))
		return;
	waiting = make_waiting(hop, came);
	if (!waiting) {
		reply->status = 503;
		reply->text = "There is not enough memory.\n";
		reply->retry_after_s = 1;
		return;
	}
	*hop->end = waiting;
	hop->end = &waiting->next;
	hop->waiting_bytes += waiting->size;
	reply->type = is_of_type(came->type, OTLP_TYPE_JSON) ? OTLP_TYPE_JSON : OTLP_TYPE_PROTOBUF;
	reply->text = is_of_type(came->type, OTLP_TYPE_JSON) ? "{}" : "";
}

static size_t room(void *context)
{
	const struct hop *hop = context;

	return hop->waiting_bytes < WAITING_MAX ? WAITING_MAX - hop->waiting_bytes : 0;
}

/* ---- what goes ---- */

static int see_span(void *context, const struct otlp_traces_span *span, struct otlp_traces_added *added)
{
	(void)added;
	return context_ledger_see(context, span);
}

static int add_ledger(void *context, const struct otlp_traces_span *span, struct otlp_traces_added *added)
{
	return context_ledger_add(context, span, added);
}

/* With the ledgers; without them if there is no memory. */
static int pass_on(struct hop *hop, const struct waiting *waiting)
{
	const struct otlp_traces_visitor seeing = { .span = see_span, .context = &hop->ledger };
	const struct otlp_traces_visitor adding = { .span = add_ledger, .context = &hop->ledger };
	struct otlp_request request = *waiting->request;
	size_t offset;

	text_clear(&hop->out);
	hop->out.err = 0;
	if (waiting->has_spans && !otlp_traces_walk(request.bytes, request.length, &seeing, NULL, &offset) &&
	    !otlp_traces_walk(request.bytes, request.length, &adding, &hop->out, &offset)) {
		request.bytes = text_string(&hop->out);
		request.length = hop->out.length;
	}
	return otlp_sender_add(hop->sender, &request);
}

static void remove_first(struct hop *hop)
{
	struct waiting *waiting = hop->first;

	hop->first = waiting->next;
	if (!hop->first)
		hop->end = &hop->first;
	hop->waiting_bytes -= waiting->size;
	free(waiting->request);
	free(waiting);
}

static bool is_due(const struct hop *hop, const struct waiting *waiting)
{
	return !waiting->has_spans || clock_now_ns() >= waiting->came_ns + WAIT_NS ||
	       hop_log_has(&hop->log, waiting->end_ns, waiting->came_ns);
}

/* Those that are due and find room in the sender's queue; is_end: all, as long as it takes. */
static void pass_on_due(struct hop *hop, bool is_end)
{
	while (hop->first &&
	       (is_end || (is_due(hop, hop->first) && otlp_sender_has_room(hop->sender, hop->first->size)))) {
		hop->lost_cnt += pass_on(hop, hop->first) == -ENOMEM;
		remove_first(hop);
	}
}

static void read_log(struct hop *hop)
{
	uint64_t until_ns;
	int err;

	if (hop->has_log_failed)
		return;
	err = hop_log_read(&hop->log, STEP_CNT);
	until_ns = context_join_until_ns(hop->ledger.join);
	context_join_forget(hop->ledger.join, until_ns > KEEP_NS ? until_ns - KEEP_NS : 0, KEEP_CNT);
	if (!err)
		return;
	hop->has_log_failed = true;
	cli_warn(hop->cli, "there is not enough memory: spans are passed on without ledgers");
	hop_log_close(&hop->log);
}

static void turn(void *context)
{
	struct hop *hop = context;

	read_log(hop);
	pass_on_due(hop, false);
	otlp_sender_look(hop->sender);
}

/* ---- the beginning and the end ---- */

static void say(void *context, const char *sentence)
{
	cli_warn(context, "%s", sentence);
}

static int open_sender(struct hop *hop, const struct hop_options *values)
{
	struct otlp_sender_options wanted = {
		.endpoint = &hop->endpoint,
		.give_up_ns = values->give_up_ns,
		.stall_ns = FINISH_NS,
		.say = say,
		.context = hop->cli,
	};
	struct error error = { "" };
	int err = otlp_endpoint_read(&hop->endpoint, values->to, values->headers_file, &error);

	if (!err)
		err = otlp_sender_open(&hop->sender, &wanted, &error);
	return err ? cli_fail(hop->cli, "%s", error.text) : CLI_OK;
}

static void tell_ledgers(const struct hop *hop)
{
	struct context_join_stats stats;
	char count[UNITS_SIZE];

	context_join_stats(hop->ledger.join, &stats);
	if (stats.late_cnt)
		cli_warn(hop->cli,
			 "stretches of time that came into the log after their span was passed on: %s",
			 units_format_count(count, stats.late_cnt));
	if (stats.crowded_cnt)
		cli_warn(hop->cli, "traces that were forgotten early, as there were too many: %s",
			 units_format_count(count, stats.crowded_cnt));
	if (hop->unknown_cnt)
		cli_warn(hop->cli,
			 "requests that could not be read as traces, and were passed on as they were: %s",
			 units_format_count(count, hop->unknown_cnt));
	if (hop->lost_cnt)
		cli_warn(hop->cli, "requests that were lost, as there was not enough memory: %s",
			 units_format_count(count, hop->lost_cnt));
}

/* What waits still gets its ledgers, as far as the log has them in time. */
static void pass_on_rest(struct hop *hop)
{
	const struct timespec moment = { .tv_nsec = TURN_MS * 1000000 };
	uint64_t until_ns = clock_now_ns() + WAIT_NS;

	while (hop->first && clock_now_ns() < until_ns) {
		turn(hop);
		if (hop->first)
			nanosleep(&moment, NULL);
	}
	pass_on_due(hop, true);
}

static int finish(struct hop *hop)
{
	struct cli *cli = hop->cli;
	struct otlp_sender_totals totals;
	char sent[UNITS_SIZE], joined[UNITS_SIZE];
	int status;

	pass_on_rest(hop);
	otlp_sender_close(hop->sender, FINISH_NS, &totals);
	fprintf(cli->out.file, "%s spans passed on to %s, %s of them with a ledger\n",
		units_format_count(sent, totals.sent_cnt), hop->endpoint.place,
		units_format_count(joined, hop->ledger.joined_cnt));
	fflush(cli->out.file);
	tell_ledgers(hop);
	status = otlp_tell_missing(cli, &totals);
	return status == CLI_OK && hop->lost_cnt ? CLI_INCOMPLETE : status;
}

static int serve(struct hop *hop, const struct hop_options *values)
{
	const struct post_site site = { .take = take,
					.room = room,
					.turn = turn,
					.context = hop,
					.turn_ms = TURN_MS,
					.body_max = REQUEST_MAX };
	struct post_server *server;
	struct otlp_sender_totals totals;
	int status = open_sender(hop, values);

	if (status)
		return status;
	status = post_server_open(&server, hop->cli, values->listen, &site);
	if (status) {
		otlp_sender_close(hop->sender, 0, &totals);
		return status;
	}
	fprintf(hop->cli->out.file, "requests to http://%s go to %s\nCtrl-C ends it\n",
		post_server_host(server), hop->endpoint.place);
	fflush(hop->cli->out.file);
	post_server_run(server);
	post_server_close(server);
	return finish(hop);
}

static int run(struct cli *cli, int argc, char **argv)
{
	struct hop_options values = { .listen = DEFAULT_LISTEN, .give_up_ns = OTLP_GIVE_UP_NS };
	struct hop hop = { .cli = cli };
	struct options_result result;
	struct seeded_random random;
	int status;

	if (!cli_parse(cli, &options, argc, argv, &values, &result, &status))
		return status;
	if (!values.to)
		return cli_fail(cli, "where should the spans go? Give a collector with --to, as in --to "
				     "http://collector:4318");
	cli_stream(cli);
	hop.end = &hop.first;
	hop.log = (struct hop_log){ .cli = cli,
				    .path = result.operand_cnt ? result.operands[0] : ".",
				    .ledger = &hop.ledger };
	seeded_random_init(&random, clock_now_ns());
	snprintf(hop.via, sizeof(hop.via), "Via: 1.1 txtrace-%016" PRIx64, seeded_random_next(&random));
	status = context_ledger_open(&hop.ledger) ? cli_fail(cli, "not enough memory") : serve(&hop, &values);
	hop_log_close(&hop.log);
	context_ledger_close(&hop.ledger);
	otlp_endpoint_release(&hop.endpoint);
	text_release(&hop.unpacked);
	text_release(&hop.out);
	return status;
}

const struct command command_otlp_hop = { "otlp-hop",
					  "add where the time went to OpenTelemetry spans on their way",
					  &options, .run = run };
