/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/report/closing_words.h"

#include "attach/code/code_map.h"
#include "base/units.h"
#include "cli/print/report_print.h"
#include "cli/print/worker_print.h"
#include "cli/screen.h"
#include "record/foreign_spans.h"
#include "record/options/log_place.h"
#include "record/messages/loss_advice.h"
#include "txtrace/otel.h"

#define WORKERS_SHOWN_MAX 30

static void print_report(struct recorder *recorder, FILE *out)
{
	struct label_report *report = recorder_report(recorder);
	struct screen screen;

	screen_init(&screen, out);
	label_report_sort(report);
	report_print(report, &screen, &(struct report_view){ 0 });
	fflush(out);
}

/* Of --threads, in place of a report without spans. */
static void print_workers(struct recorder *recorder, FILE *out)
{
	const struct worker_table_options options = { .row_limit = WORKERS_SHOWN_MAX };
	struct worker_report *workers = recorder_workers(recorder);
	struct screen screen;

	screen_init(&screen, out);
	worker_report_finish(workers);
	worker_table_print(workers, &screen, &options);
	fflush(out);
}

static void print_loss(const struct recorder_result *result, const struct messages *messages)
{
	const struct txtrace_summary *summary = &result->summary;
	char sent[UNITS_SIZE], received[UNITS_SIZE], lost[UNITS_SIZE];

	messages_say(messages, MESSAGE_WARNING, "loss", "%s events sent, %s received, %s lost",
		     units_format_count(sent, summary->sent_cnt),
		     units_format_count(received, summary->received_cnt),
		     units_format_count(lost, summary->lost_cnt));
}

/* What the traced threads paid, and what we did. */
static void print_cost(const struct recorder_result *result, const struct messages *messages)
{
	const struct cost_sums *costs = &result->costs;
	uint64_t total_ns = cost_sums_total_ns(costs), body_ps = 0, cnt = 0;
	const struct message_field fields[] = {
		{ "tracing_ns", NULL, total_ns },
		{ "recorder_cpu_ns", NULL, costs->cpu_ns },
		{ "ring_bytes", NULL, costs->ring_bytes },
		{ "target_cpu_ns", NULL, result->share.cpu_ns },
	};
	char of_all[UNITS_SIZE + sizeof(", of the program's ")] = "";
	char total[UNITS_SIZE], each[UNITS_SIZE], body[UNITS_SIZE], events[UNITS_SIZE], share[UNITS_SIZE],
		bytes[UNITS_SIZE];

	for (enum cost_class of = 0; of < COST_CLASS_COUNT; of++) {
		cnt += costs->classes[of].event_cnt;
		body_ps += cost_sums_price(costs, of).body_ps * costs->classes[of].event_cnt;
	}
	if (!cnt)
		return;
	if (result->share.cpu_ns)
		snprintf(of_all, sizeof(of_all), ", %s of the program's",
			 units_format_share(share, result->share.tracing_ns, result->share.cpu_ns));
	messages_tell(messages, MESSAGE_INFO, "cost", fields, sizeof(fields) / sizeof(fields[0]),
		      "tracing cost %s%s of CPU%s: %s events, %s each, %s of it in BPF programs; the "
		      "recorder took %s of a CPU, for %s",
		      cost_sums_is_whole(costs) ? "about " : "at least ",
		      units_format_duration(total, total_ns), of_all, units_format_count(events, cnt),
		      units_format_duration(each, total_ns / cnt),
		      units_format_duration(body, body_ps / 1000 / cnt),
		      units_format_share(share, costs->cpu_ns, costs->observed_ns),
		      units_format_size(bytes, costs->ring_bytes));
}

static void print_dropped(const struct txtrace_dropped *dropped, const struct messages *messages)
{
	char records[UNITS_SIZE], spans[UNITS_SIZE];
	uint64_t record_cnt = 0;

	for (unsigned int kind = 0; kind < TXTRACE_RECORD_KIND_COUNT; kind++)
		record_cnt += dropped->record_cnt[kind];

	messages_say(messages, MESSAGE_WARNING, "dropped",
		     "the disk did not keep up: %s records, %s of them spans, are not in the log; a larger "
		     "--queue-size or a faster disk "
		     "helps",
		     units_format_count(records, record_cnt),
		     units_format_count(spans, dropped->record_cnt[TXTRACE_RECORD_SPAN]));
}

/* What to do with the files, for people. */
static void print_next(const struct recorder_result *result, const struct record_options *options,
		       size_t file_cnt, FILE *file)
{
	struct text arguments = { 0 };

	log_place_append_arguments(&arguments, result->log_path, &result->log.names);
	if (options->wants_threads)
		fprintf(file, "next: txtrace workers %s     txtrace blocked %s\n", text_string(&arguments),
			text_string(&arguments));
	else if (file_cnt > 1)
		fprintf(file, "next: txtrace report %s\n", text_string(&arguments));
	else
		fprintf(file,
			"next: txtrace spans %s     txtrace export %s --format perfetto -o trace.pftrace\n",
			text_string(&arguments), text_string(&arguments));
	text_release(&arguments);
}

/* Which files, and how large. */
static void print_log(const struct recorder_result *result, const struct record_options *options,
		      const struct messages *messages)
{
	bool is_flight = options->flight.max_bytes > 0;
	const struct log_file_names *names = &result->log.names;
	const struct message_field fields[] = {
		{ "log", result->log_path, 0 },
		{ "bytes", NULL, result->log.written_bytes },
		{ "files", NULL, result->log.file_cnt },
		{ "duration_ns", NULL, result->duration_ns },
		{ "spans", NULL, result->pipeline.attribution.span_cnt },
		{ "sent", NULL, result->summary.sent_cnt },
		{ "received", NULL, result->summary.received_cnt },
		{ "lost", NULL, result->summary.lost_cnt },
	};
	size_t cnt = log_place_cnt(result->log_path, names);
	char bytes[UNITS_SIZE], duration[UNITS_SIZE], file_cnt[32] = "";
	struct text files = { 0 };

	if (!cnt) {
		if (is_flight && !result->log.file_cnt)
			messages_say(messages, MESSAGE_INFO, "stop",
				     "nothing was written: there was no trigger");
		return;
	}
	log_place_append(&files, result->log_path, names);
	if (cnt > 1)
		snprintf(file_cnt, sizeof(file_cnt), "%zu files: ", cnt);
	messages_tell(messages, MESSAGE_INFO, "stop", fields, sizeof(fields) / sizeof(fields[0]),
		      "%s of log for %s in %s%s", units_format_size(bytes, result->log.written_bytes),
		      units_format_duration(duration, result->duration_ns), file_cnt, text_string(&files));
	if (is_flight && cnt < result->log.file_cnt)
		messages_say(messages, MESSAGE_INFO, "dumps",
			     "it is the last of %lu files; the others have numbers in their names, as far as "
			     "--keep lets them",
			     (unsigned long)result->log.file_cnt);
	else if (cnt < result->log.file_cnt)
		messages_say(messages, MESSAGE_INFO, "removed",
			     "the oldest of its %llu files were removed to make room: --keep and --keep-size",
			     (unsigned long long)result->log.file_cnt);
	if (messages->format == MESSAGES_TEXT && !messages->is_quiet)
		print_next(result, options, cnt, messages->file);
	text_release(&files);
}

/* Processes that could not be traced from their first instruction, or not at all. */
static void print_processes(const struct recorder_result *result, const struct messages *messages)
{
	const struct attach_watch_stats *watch = &result->watch;
	char cnt[UNITS_SIZE], time[UNITS_SIZE];

	if (watch->late_cnt)
		messages_say(messages, MESSAGE_INFO, "late",
			     "%s program%s or librar%s that had not been met before ran for up to %s before "
			     "the probes were there: what was marked meanwhile "
			     "is missing",
			     units_format_count(cnt, watch->late_cnt), watch->late_cnt == 1 ? "" : "s",
			     watch->late_cnt == 1 ? "y" : "ies",
			     units_format_duration(time, watch->late_max_ns));
	if (watch->missed_cnt)
		messages_say(messages, MESSAGE_INFO, "missed",
			     "%s programs ended before it could be seen whether they have probes",
			     units_format_count(cnt, watch->missed_cnt));
	if (result->frozen_cnt)
		messages_say(messages, MESSAGE_WARNING, "frozen_processes",
			     "%s process%s blocked reads of memory, and what came afterwards may be unknown: "
			     "labels, and probes of libraries",
			     units_format_count(cnt, result->frozen_cnt),
			     result->frozen_cnt == 1 ? "" : "es");
	if (result->lost_process_cnt)
		messages_say(messages, MESSAGE_WARNING, "lost_processes",
			     "%s processes were not traced: too many existed at once",
			     units_format_count(cnt, result->lost_process_cnt));
}

/* Stacks and names of functions that the log lacks. */
static void print_stacks(const struct recorder_result *result, const struct messages *messages)
{
	char cnt[UNITS_SIZE], kept[UNITS_SIZE];

	if (result->stacks.no_number_cnt)
		messages_say(messages, MESSAGE_WARNING, "stacks",
			     "%s stacks are not in the log: it has %s different ones, and no more are kept",
			     units_format_count(cnt, result->stacks.no_number_cnt),
			     units_format_count(kept, CODE_STACK_MAX));
	if (result->stacks.has_symbolizer_failed)
		messages_say(messages, MESSAGE_WARNING, "symbolizer",
			     "the process that names functions has failed: stacks have addresses where they "
			     "should have names");
	if (result->stacks.has_too_many_files)
		messages_say(messages, MESSAGE_WARNING, "stacks",
			     "more than %d different programs and libraries ran: code of those that came "
			     "last has no names, and stacks may end there",
			     CODE_MAP_FILE_MAX);
	if (result->stacks.has_unwinder_failed)
		messages_say(messages, MESSAGE_WARNING, "unwinder",
			     "the process that reads unwind tables has failed: since then, stacks may end "
			     "early, and code has no names");
}

/* What a process had too much of. */
static void print_refused(const struct recorder_result *result, const struct messages *messages)
{
	uint64_t refused_cnt = result->pipeline.attribution.refused_cnt,
		 beyond_cnt = result->labels.refused_cnt;
	uint64_t unreadable_cnt = result->labels.unreadable_cnt - beyond_cnt;
	const struct message_field fields[] = { { "unreadable", NULL, unreadable_cnt },
						{ "beyond", NULL, beyond_cnt } };
	char refused[UNITS_SIZE], unreadable[UNITS_SIZE], beyond[UNITS_SIZE];

	if (refused_cnt)
		messages_say(messages, MESSAGE_WARNING, "refused",
			     "%s of the lost events found no room: a process had too many spans open; a "
			     "larger --span-memory helps",
			     units_format_count(refused, refused_cnt));
	if (unreadable_cnt || beyond_cnt)
		messages_tell(messages, MESSAGE_WARNING, "labels", fields, sizeof(fields) / sizeof(fields[0]),
			      "%s labels or names could not be read from the program, and %s were beyond the "
			      "limits (65,536 of a process): they are unknown",
			      units_format_count(unreadable, unreadable_cnt),
			      units_format_count(beyond, beyond_cnt));
}

/* Of --otel. */
static void print_contexts(const struct recorder_result *result, const struct messages *messages)
{
	if (result->otel_full_cnt)
		messages_say(messages, MESSAGE_WARNING, "otel",
			     "%llu times there was no room for a context: more than %u threads or %u "
			     "processes publish some",
			     (unsigned long long)result->otel_full_cnt, OTEL_THREAD_MAX, OTEL_PROCESS_MAX);
	if (result->otel_fail_cnt)
		messages_say(messages, MESSAGE_WARNING, "otel",
			     "%llu times the context of a thread could not be read or was not valid; what "
			     "the thread did then belongs to no span",
			     (unsigned long long)result->otel_fail_cnt);
	if (!result->site_cnt && !result->otel_cnt)
		messages_say(messages, MESSAGE_WARNING, "otel",
			     "no process published the contexts of its threads; a tracer has to support "
			     "OTEP 4947, and may need an option for it");
}

/* What should never be, and what the user can do about the rest. */
static void print_doubts(const struct recorder_result *result, const struct record_options *options,
			 const struct messages *messages)
{
	const struct txtrace_summary *summary = &result->summary;
	struct loss_advice advice;

	if (result->losses.lost_cnt)
		messages_say(messages, MESSAGE_WARNING, "loss",
			     "spans that the losses may have touched are marked as lower bounds; %s",
			     loss_advice_give(&advice, &result->losses));
	if (summary->sent_cnt != summary->received_cnt + summary->lost_cnt)
		messages_say(messages, MESSAGE_ERROR, "bug",
			     "%lld events are unaccounted for: please report this as a bug",
			     (long long)(summary->sent_cnt - summary->received_cnt - summary->lost_cnt));
	if (result->dropped.batch_cnt)
		print_dropped(&result->dropped, messages);
	if (summary->lost_clocks_cnt)
		messages_say(messages, MESSAGE_WARNING, "clocks",
			     "%llu threads could not be given clocks; their time is unknown",
			     (unsigned long long)summary->lost_clocks_cnt);
	if (result->pipeline.undecodable_cnt || summary->late_cnt ||
	    summary->anomaly_cnt[TXTRACE_ANOMALY_IMBALANCE] ||
	    summary->anomaly_cnt[TXTRACE_ANOMALY_CLOCK_MISMATCH])
		messages_say(messages, MESSAGE_ERROR, "bug",
			     "%llu undecodable, %llu late events, %llu imbalances, %llu clock mismatches: "
			     "please report this as a bug",
			     (unsigned long long)result->pipeline.undecodable_cnt,
			     (unsigned long long)summary->late_cnt,
			     (unsigned long long)summary->anomaly_cnt[TXTRACE_ANOMALY_IMBALANCE],
			     (unsigned long long)summary->anomaly_cnt[TXTRACE_ANOMALY_CLOCK_MISMATCH]);
	if (options->wants_otel)
		print_contexts(result, messages);
	if (!result->site_cnt && !options->wants_threads && !options->wants_otel &&
	    !foreign_spans_are_wanted(options))
		messages_say(messages, MESSAGE_WARNING, "unmarked",
			     "no probes were found in the program: add the macros of txtrace.h to it, or "
			     "name others with --span, functions with --func");
}

void closing_words_print(struct recorder *recorder, const struct record_options *options, FILE *out,
			 const struct messages *messages)
{
	struct recorder_result result;

	recorder_result(recorder, &result);
	if (!options->is_quiet && options->wants_threads)
		print_workers(recorder, out);
	if (!options->is_quiet && !options->wants_threads)
		print_report(recorder, out);
	else if (result.summary.lost_cnt)
		print_loss(&result, messages);
	print_doubts(&result, options, messages);
	recorder_explain(recorder);
	print_refused(&result, messages);
	print_processes(&result, messages);
	print_stacks(&result, messages);
	print_cost(&result, messages);
	print_log(&result, options, messages);
}
