/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/closing_words.h"

#include "base/units.h"
#include "cli/report_print.h"
#include "cli/screen.h"

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

/* What should never be, and what the user can do about the rest. */
static void print_doubts(const struct recorder_result *result, FILE *messages)
{
	const struct txtrace_summary *summary = &result->summary;

	if (summary->lost_cnt)
		fprintf(messages, "txtrace-bpf: spans that the losses may have touched are marked as lower bounds; a larger --ring-size helps\n");
	if (summary->sent_cnt != summary->received_cnt + summary->lost_cnt)
		fprintf(messages, "txtrace-bpf: %lld events are unaccounted for: please report this as a bug\n",
			(long long)(summary->sent_cnt - summary->received_cnt - summary->lost_cnt));
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
		fprintf(messages, "txtrace-bpf: no txtrace probes were found in the program: add the macros of txtrace.h to it\n");
}

void closing_words_print(struct recorder *recorder, const struct record_options *options, FILE *out, FILE *messages)
{
	struct recorder_result result;
	char bytes[UNITS_SIZE], duration[UNITS_SIZE];

	recorder_result(recorder, &result);
	if (!options->is_quiet)
		print_report(recorder, out);
	else if (result.summary.lost_cnt)
		print_loss(&result, messages);
	print_doubts(&result, messages);
	if (options->is_quiet || !result.log_suffix)
		return;
	fprintf(messages, "txtrace-bpf: %s of log for %s in '%s%s'\n", units_format_size(bytes, result.log_bytes),
		units_format_duration(duration, result.duration_ns), options->output, result.log_suffix);
	fprintf(messages, "next: txtrace spans %s%s     txtrace export %s%s --format perfetto -o trace.pftrace\n", options->output,
		result.log_suffix, options->output, result.log_suffix);
}
