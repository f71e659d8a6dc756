/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/closing_words.h"

#include "base/units.h"
#include "cli/print/report_print.h"
#include "cli/screen.h"
#include "record/log_place.h"

static void print_report(struct recorder *recorder, FILE *out)
{
	struct label_report *report = recorder_report(recorder);
	struct screen screen;

	screen_init(&screen, out);
	label_report_sort(report);
	report_print(report, NULL, &screen, &(struct report_view){ 0 });
	fflush(out);
}

static void print_loss(const struct recorder_result *result, FILE *messages)
{
	const struct txtrace_summary *summary = &result->summary;
	char sent[UNITS_SIZE], received[UNITS_SIZE], lost[UNITS_SIZE];

	fprintf(messages, "txtrace-bpf: %s events sent, %s received, %s lost\n", units_format_count(sent, summary->sent_cnt),
		units_format_count(received, summary->received_cnt), units_format_count(lost, summary->lost_cnt));
}

static void print_dropped(const struct txtrace_dropped *dropped, FILE *messages)
{
	char records[UNITS_SIZE], spans[UNITS_SIZE];
	uint64_t record_cnt = 0;

	for (unsigned int kind = 0; kind < TXTRACE_RECORD_KIND_COUNT; kind++)
		record_cnt += dropped->record_cnt[kind];

	fprintf(messages,
		"txtrace-bpf: the disk did not keep up: %s records, %s of them spans, are not in the log; a larger --queue-size or a faster disk "
		"helps\n",
		units_format_count(records, record_cnt),
		units_format_count(spans, dropped->record_cnt[TXTRACE_RECORD_SPAN]));
}

/* Which files, how large, and what to do with them. */
static void print_log(const struct recorder_result *result, FILE *messages)
{
	const struct log_file_names *names = &result->log.names;
	size_t cnt = log_place_cnt(result->log_path, names);
	char bytes[UNITS_SIZE], duration[UNITS_SIZE];
	struct text files = { 0 }, arguments = { 0 };

	if (!cnt)
		return;
	log_place_append(&files, result->log_path, names);
	log_place_append_arguments(&arguments, result->log_path, names);
	fprintf(messages, "txtrace-bpf: %s of log for %s in ", units_format_size(bytes, result->log.written_bytes),
		units_format_duration(duration, result->duration_ns));
	if (cnt > 1)
		fprintf(messages, "%zu files: ", cnt);
	fprintf(messages, "%s\n", text_string(&files));
	if (cnt < result->log.file_cnt)
		fprintf(messages, "txtrace-bpf: the oldest of its %llu files were removed to make room: --keep and --keep-size\n",
			(unsigned long long)result->log.file_cnt);
	if (cnt > 1)
		fprintf(messages, "next: txtrace report %s\n", text_string(&arguments));
	else
		fprintf(messages, "next: txtrace spans %s     txtrace export %s --format perfetto -o trace.pftrace\n", text_string(&arguments),
			text_string(&arguments));
	text_release(&files);
	text_release(&arguments);
}

/* What should never be, and what the user can do about the rest. */
static void print_doubts(const struct recorder_result *result, FILE *messages)
{
	const struct txtrace_summary *summary = &result->summary;

	if (summary->lost_cnt)
		fprintf(messages, "txtrace-bpf: spans that the losses may have touched are marked as lower bounds; a larger --ring-size helps\n");
	if (summary->sent_cnt != summary->received_cnt + summary->lost_cnt)
		fprintf(messages, "txtrace-bpf: %lld events are unaccounted for: please report this as a bug\n",
			(long long)(summary->sent_cnt - summary->received_cnt - summary->lost_cnt));
	if (result->dropped.batch_cnt)
		print_dropped(&result->dropped, messages);
	if (summary->lost_clocks_cnt)
		fprintf(messages, "txtrace-bpf: %llu threads could not be given clocks; their time is unknown\n",
			(unsigned long long)summary->lost_clocks_cnt);
	if (result->pipeline.undecodable_cnt || summary->late_cnt || summary->anomaly_cnt[TXTRACE_ANOMALY_IMBALANCE] ||
	    summary->anomaly_cnt[TXTRACE_ANOMALY_CLOCK_MISMATCH])
		fprintf(messages,
			"txtrace-bpf: %llu undecodable, %llu late events, %llu imbalances, %llu clock mismatches: please report this as a bug\n",
			(unsigned long long)result->pipeline.undecodable_cnt, (unsigned long long)summary->late_cnt,
			(unsigned long long)summary->anomaly_cnt[TXTRACE_ANOMALY_IMBALANCE],
			(unsigned long long)summary->anomaly_cnt[TXTRACE_ANOMALY_CLOCK_MISMATCH]);
	if (!result->site_cnt)
		fprintf(messages, "txtrace-bpf: no probes were found in the program: add the macros of txtrace.h to it, or name others with --span, functions with --func\n");
}

void closing_words_print(struct recorder *recorder, const struct record_options *options, FILE *out, FILE *messages)
{
	struct recorder_result result;

	recorder_result(recorder, &result);
	if (!options->is_quiet)
		print_report(recorder, out);
	else if (result.summary.lost_cnt)
		print_loss(&result, messages);
	print_doubts(&result, messages);
	if (!options->is_quiet)
		print_log(&result, messages);
}
