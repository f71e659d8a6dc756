/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/service/service.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/named_output.h"
#include "base/units.h"
#include "cli/files/output_file.h"
#include "record/service/metrics_server.h"
#include "record/messages/loss_advice.h"
#include "record/service/service_manager.h"

#define FILE_NS 10000000000u /* how often the file is written */
#define LOSS_NS 10000000000u /* how often losses are said, at most */

struct service {
	struct service_options options;
	struct span_metrics *spans;
	struct metrics_server *server;
	uint64_t next_file_ns;
	uint64_t next_loss_ns;
	struct loss_causes told_losses;
	uint64_t told_lost_process_cnt;
	uint64_t told_refused_cnt;
	uint64_t told_dropped_cnt;
	bool has_file_failed;	/* and it was said */
	bool has_server_failed; /* likewise */
};

static void write_page(void *context, enum metrics_format format, struct text *text)
{
	struct service *service = context;
	struct metrics_figures figures = { 0 };

	service->options.look(service->options.context, &figures);
	figures.server_failure_cnt = service->has_server_failed;
	metrics_write(&figures, service->spans, format, text);
}

int service_open(struct service **result, const struct service_options *options, struct error *error)
{
	const struct record_options *record = options->record;
	struct service *service = calloc(1, sizeof(*service));
	const struct metrics_server_options server = { record->metrics, write_page, service,
						       options->metrics };
	int err = 0;

	if (!service) {
		error_set(error, "not enough memory to record");
		return -ENOMEM;
	}
	service->options = *options;
	if (record->metrics || record->metrics_file) {
		service->spans = span_metrics_new();
		if (!service->spans) {
			error_set(error, "not enough memory for metrics");
			err = -ENOMEM;
		}
	}
	if (!err && record->metrics)
		err = metrics_server_open(&service->server, &server, error);
	if (!err) {
		*result = service;
		return 0;
	}
	service_close(service);
	return err;
}

struct span_metrics *service_spans(struct service *service)
{
	return service->spans;
}

void service_ready(struct service *service)
{
	service_manager_tell(service->options.manager_fd, "READY=1");
}

int service_fd(const struct service *service)
{
	return service->server ? metrics_server_fd(service->server) : -1;
}

void service_run(struct service *service)
{
	if (!service->server)
		return;
	metrics_server_run(service->server);
	if (!metrics_server_is_gone(service->server) || service->has_server_failed)
		return;
	service->has_server_failed = true;
	messages_say(service->options.messages, MESSAGE_WARNING, "metrics",
		     "metrics are not served any more: the process txtrace-metrics has ended; the capture "
		     "continues");
}

static int write_to(FILE *file, const struct text *text)
{
	if (text->err)
		return text->err;
	return fwrite(text_string(text), 1, text->length, file) == text->length ? 0 : -EIO;
}

struct page_file {
	const struct service *service;
	const struct text *text;
};

/* With the caller's rights. */
static int replace_file(void *context)
{
	const struct page_file *page = context;
	const struct service_options *options = &page->service->options;
	struct output_file output;
	int err = output_file_open(&output, options->record->metrics_file, options->log_path, false);

	if (err)
		return err;
	err = write_to(output.file, page->text);
	if (!err)
		return output_file_commit(&output);
	output_file_abort(&output);
	return err;
}

static void complain(const struct service *service, int err)
{
	const struct record_options *record = service->options.record;
	const char *why = named_output_explain(err);
	struct error error;

	if (err == -EBUSY)
		why = "it is the log";
	else if (err == -EACCES || err == -EPERM)
		why = caller_explain(record->caller, err);
	error_set(&error, "cannot write the metrics to '%s': %s", record->metrics_file, why);
	messages_say(service->options.messages, MESSAGE_WARNING, "metrics", "%s", error.text);
}

/*
 * Whoever reads it sees a whole page: this one or the one before. A failure is said once, until it works
 * again.
 */
static void write_file(struct service *service)
{
	const struct record_options *record = service->options.record;
	struct text text = { 0 };
	struct page_file page = { service, &text };
	int err;

	if (!record->metrics_file || !service->spans)
		return;
	write_page(service, METRICS_TEXT, &text);
	err = caller_do(record->caller, replace_file, &page);
	text_release(&text);
	if (err && !service->has_file_failed)
		complain(service, err);
	service->has_file_failed = err != 0;
}

static void tell_losses(struct service *service)
{
	struct metrics_figures figures = { 0 };
	char lost[UNITS_SIZE], refused[UNITS_SIZE], dropped[UNITS_SIZE], processes[UNITS_SIZE];
	struct loss_advice advice;
	struct loss_causes losses;

	service->options.look(service->options.context, &figures);
	losses = loss_causes_since(&figures.losses, &service->told_losses);
	if (losses.lost_cnt) {
		const struct message_field field = { "lost", NULL, losses.lost_cnt };

		messages_tell(service->options.messages, MESSAGE_WARNING, "loss", &field, 1,
			      "%s events were lost: spans that this may have touched are lower bounds; %s",
			      units_format_count(lost, field.number), loss_advice_give(&advice, &losses));
	}
	if (figures.refused_cnt > service->told_refused_cnt) {
		const struct message_field field = { "refused", NULL,
						     figures.refused_cnt - service->told_refused_cnt };

		messages_tell(service->options.messages, MESSAGE_WARNING, "refused", &field, 1,
			      "%s events are not in the log: a process has more spans open than there is "
			      "room for; a larger --span-memory helps",
			      units_format_count(refused, field.number));
	}
	if (figures.dropped_record_cnt > service->told_dropped_cnt) {
		const struct message_field field = { "dropped", NULL,
						     figures.dropped_record_cnt - service->told_dropped_cnt };

		messages_tell(service->options.messages, MESSAGE_WARNING, "dropped", &field, 1,
			      "the disk does not keep up: %s records are not in the log; a larger "
			      "--queue-size or a faster disk helps",
			      units_format_count(dropped, field.number));
	}
	if (figures.lost_process_cnt > service->told_lost_process_cnt) {
		const struct message_field field = {
			"processes", NULL, figures.lost_process_cnt - service->told_lost_process_cnt
		};

		messages_tell(service->options.messages, MESSAGE_WARNING, "lost_processes", &field, 1,
			      "%s processes are not traced: too many exist at once",
			      units_format_count(processes, field.number));
	}
	service->told_losses = figures.losses;
	service->told_lost_process_cnt = figures.lost_process_cnt;
	service->told_refused_cnt = figures.refused_cnt;
	service->told_dropped_cnt = figures.dropped_record_cnt;
}

void service_tick(struct service *service, uint64_t now_ns)
{
	if (now_ns >= service->next_file_ns) {
		service->next_file_ns = now_ns + FILE_NS;
		write_file(service);
	}
	if (!service->next_loss_ns) /* short recordings have their say at the end */
		service->next_loss_ns = now_ns + LOSS_NS;
	/* a terminal has the status line */
	if (now_ns >= service->next_loss_ns && !isatty(fileno(service->options.messages->file))) {
		service->next_loss_ns = now_ns + LOSS_NS;
		tell_losses(service);
	}
}

void service_reloading(struct service *service, uint64_t now_ns)
{
	char state[64];

	snprintf(state, sizeof(state), "RELOADING=1\nMONOTONIC_USEC=%llu",
		 (unsigned long long)(now_ns / 1000));
	service_manager_tell(service->options.manager_fd, state);
}

void service_finish(struct service *service)
{
	service_manager_tell(service->options.manager_fd, "STOPPING=1");
	write_file(service);
}

void service_close(struct service *service)
{
	if (!service)
		return;
	metrics_server_close(service->server);
	span_metrics_free(service->spans);
	free(service);
}
