/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/clock_bounds.h"
#include "analyze/merge_plan.h"
#include "log/format/record_table.h"
#include "base/units.h"
#include "cli/commands/command.h"
#include "cli/exit_status.h"
#include "cli/files/log_copy.h"
#include "cli/files/log_output.h"

#define INPUT_MAX 256 /* each takes a few MiB while it is read */

/* Clocks that are disciplined wander by less. */
#define CLOCK_STEP_NS 100000000

struct merge_options {
	const char *output;
};

static const struct option_spec specs[] = {
	OPTION("output", 'o', OPTION_STRING, "OUT", "write this file, once it is complete (required)",
	       offsetof(struct merge_options, output)),
	OPTION_END,
};

static const struct options options = {
	.program = "txtrace merge",
	.about = "Combines several logs, of several processes or hosts, into one, in the order of their "
		 "times. A directory is one log, made of all files in it. Times are shifted to the clock of "
		 "the first log, for another host by the wall clock, and corrected where requests between "
		 "the hosts (by their traceparents) show that it was wrong. Pids and tids of the second "
		 "capture are "
		 "raised by 4,194,304, those of the third by twice that, …, so that equal ids stay "
		 "different; CPUs of the second host begin at 8192. Losses and summaries are added up.",
	.usages = (const char *const[]){ "-o OUT FILE\xe2\x80\xa6", NULL },
	.specs = specs,
	.examples =
		(const struct option_example[]){
			{ "txtrace merge -o all.txtrace front.txtrace back.txtrace",
			  "What both servers did, side by side." },
			{ NULL, NULL },
		},
	.notes = exit_status_tool_notes,
	.operand = "FILE",
	.operand_min = 1,
	.operand_max = INPUT_MAX,
};

/* One of the logs. */
struct source {
	struct log_input input;
	struct id_shift shift;
	struct txtrace_record record; /* its next one, if has_record; as it stands in the log */
	bool has_record;
	bool has_damage; /* before that, something is missing */
	/*
	 * where the record belongs in the result: of one source it never falls, though times of checkpoints
	 * and losses stand ahead
	 */
	uint64_t key_ns;
	uint64_t clock_ns; /* as in struct merge_source */
	bool has_stepped;
	bool has_summary;
	struct txtrace_summary summary; /* held back */
};

/* The clock of a machine other than the first, by the requests between them. */
struct machine {
	const char *path; /* of its first log */
	struct clock_bound bound;
	int64_t correction_ns;
};

struct merging {
	struct cli *cli;
	char **paths;
	struct source *sources;
	struct machine *machines; /* all but the first */
	size_t machine_cnt;
	size_t cnt; /* of those that are open */
	struct merge_plan plan;
	struct log_output output;
	struct progress progress;
	uint64_t from_cnt;
};

/* ---- reading ---- */

/*
 * Checkpoints, losses and the summary are written when they become known, which is later than what their time
 * says, or earlier.
 */
static bool has_place_of_its_own(const struct txtrace_record *record)
{
	return record->kind != TXTRACE_RECORD_OPEN_SPAN && record->kind != TXTRACE_RECORD_LOSS &&
	       record->kind != TXTRACE_RECORD_SUMMARY;
}

static void read_next(struct source *source)
{
	uint64_t time_ns;

	for (;;) {
		source->has_record = log_input_next(&source->input, &source->record);
		if (!source->has_record)
			return;
		if (source->record.kind != TXTRACE_RECORD_DAMAGE)
			break;
		/* what follows a summary is only the index */
		source->has_damage |= !source->input.census.has_summary;
	}
	time_ns = record_finished_ns(&source->record) + source->shift.time_ns;
	if (has_place_of_its_own(&source->record) && time_ns > source->key_ns)
		source->key_ns = time_ns;
}

/*
 * The result goes by the first log's clock as it is set; of the others' only how it was in the beginning
 * counts, and a change is told.
 */
static void look_at_clock(struct source *source, bool is_first_log)
{
	uint64_t clock_ns = txtrace_log_realtime_ns(source->input.log, 0);
	int64_t step_ns = (int64_t)(clock_ns - source->clock_ns);
	char step[UNITS_SIZE];

	if (is_first_log) {
		source->clock_ns = clock_ns;
	} else if (!source->has_stepped && (step_ns > CLOCK_STEP_NS || step_ns < -CLOCK_STEP_NS)) {
		source->has_stepped = true;
		cli_warn(source->input.cli,
			 "the wall clock of '%s' was set %s by %s while it was recorded: its times are those "
			 "of the clock before that",
			 source->input.path, step_ns > 0 ? "forward" : "back",
			 units_format_duration(step,
					       step_ns > 0 ? (uint64_t)step_ns : 0 - (uint64_t)step_ns));
	}
}

/* ---- what can't be merged ---- */

static int refuse(const struct merging *merging, enum merge_refusal refusal)
{
	const char *path = merging->sources[merging->plan.refused].input.path,
		   *first = merging->sources[0].input.path;

	switch (refusal) {
	case MERGE_CLOCK_UNKNOWN:
		return cli_fail(merging->cli,
				"can't merge '%s': it is not known how its clock and that of '%s' compare",
				path, first);
	case MERGE_BEFORE_BOOT:
		return cli_fail(merging->cli,
				"can't merge '%s': it began before the machine of '%s' was booted; give the "
				"older one first",
				path, first);
	case MERGE_TOO_MANY:
		return cli_fail(merging->cli, "can't merge '%s': at most %u captures can be merged", path,
				ID_SHIFT_RANGES);
	case MERGE_ACCEPTED:
		break;
	}
	return CLI_OK;
}

/* ---- the machines' clocks ---- */

static int survey(struct merging *merging, struct clock_bounds *bounds, size_t idx,
		  const struct id_shift *shift)
{
	struct txtrace_record record;
	struct log_input input;
	int err = 0, status = log_input_open(&input, merging->cli, &merging->paths[idx], 1, true);

	if (status)
		return -ECANCELED; /* a sentence was said */
	input.is_quiet = true;
	clock_bounds_begin_log(bounds, shift->cpu_range, shift->time_ns);
	while (!err && log_input_next(&input, &record))
		err = clock_bounds_add(bounds, &record);
	log_input_close(&input);
	return err;
}

/* *correction of the first log of each machine, by its number among the sources. */
static int correct(struct merging *merging, struct merge_source *sources, const struct id_shift *shifts)
{
	struct clock_bounds *bounds = clock_bounds_new(merging->machine_cnt + 1);
	int err = bounds ? 0 : -ENOMEM;

	for (size_t i = 0; i < merging->cnt && !err; i++)
		err = survey(merging, bounds, i, &shifts[i]);
	err = err ? err : clock_bounds_finish(bounds);
	if (err == -EDOM) {
		cli_warn(merging->cli,
			 "the requests between these logs contradict each other, as when a clock was set "
			 "meanwhile: their times go by the wall clocks");
		err = 0;
	} else if (!err) {
		for (size_t i = 0; i < merging->cnt; i++) {
			uint32_t number = shifts[i].cpu_range;
			struct machine *machine = number ? &merging->machines[number - 1] : NULL;

			if (!machine || machine->path)
				continue;
			machine->path = merging->sources[i].input.path;
			clock_bounds_get(bounds, number, &machine->bound);
			machine->correction_ns = clock_bound_correction(&machine->bound);
			sources[i].correction_ns = machine->correction_ns;
		}
	}
	clock_bounds_free(bounds);
	return err;
}

static size_t count_machines(const struct id_shift *shifts, size_t cnt)
{
	size_t most = 0;

	for (size_t i = 0; i < cnt; i++)
		most = shifts[i].cpu_range > most ? shifts[i].cpu_range : most;
	return most;
}

/* Logs of several machines: what went between them says how wrong their clocks can be. */
static int judge_clocks(struct merging *merging, struct merge_source *sources, struct id_shift *shifts,
			enum merge_refusal *refusal)
{
	int err;

	merging->machine_cnt = count_machines(shifts, merging->cnt);
	if (merging->machine_cnt == 0)
		return 0;
	merging->machines = calloc(merging->machine_cnt, sizeof(*merging->machines));
	err = merging->machines ? correct(merging, sources, shifts) : -ENOMEM;
	if (!err)
		*refusal = merge_plan_make(&merging->plan, sources, merging->cnt);
	return err;
}

static const char *span_of_time(char buffer[UNITS_SIZE], int64_t ns)
{
	return units_format_duration(buffer, ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns);
}

static void print_clock(const struct merging *merging, const struct machine *machine)
{
	const struct clock_bound *bound = &machine->bound;
	char early[UNITS_SIZE], late[UNITS_SIZE], moved[UNITS_SIZE], count[UNITS_SIZE];
	FILE *out = merging->cli->out.file;

	if (!bound->has_least && !bound->has_most)
		return;
	fprintf(out, "'%s': ", machine->path);
	if (machine->correction_ns)
		fprintf(out, "its clock was wrong, so its times were moved %s by %s; now they ",
			machine->correction_ns > 0 ? "forward" : "back",
			span_of_time(moved, machine->correction_ns));
	else
		fputs("its times ", out);
	if (bound->has_most)
		fprintf(out, "are at most %s too early",
			span_of_time(early, bound->most_ns - machine->correction_ns));
	if (bound->has_least)
		fprintf(out, "%s at most %s too late", bound->has_most ? " and" : "are",
			span_of_time(late, machine->correction_ns - bound->least_ns));
	fprintf(out, ", by %s request%s%s\n", units_format_count(count, bound->request_cnt),
		bound->request_cnt == 1 ? "" : "s",
		!bound->has_least  ? "; how much too late is not known"
		: !bound->has_most ? "; how much too early is not known"
				   : "");
}

/* ---- planning ---- */

static int plan(struct merging *merging)
{
	struct merge_source *sources = calloc(merging->cnt, sizeof(*sources));
	struct id_shift *shifts = calloc(merging->cnt, sizeof(*shifts));
	enum merge_refusal refusal;
	int status, err = 0;

	if (!sources || !shifts) {
		free(sources);
		free(shifts);
		return cli_fail(merging->cli, "there is not enough memory");
	}
	for (size_t i = 0; i < merging->cnt; i++) {
		struct source *source = &merging->sources[i];

		read_next(source);
		source->clock_ns = txtrace_log_realtime_ns(source->input.log, 0);
		sources[i] = (struct merge_source){ .info = *txtrace_log_info(source->input.log),
						    .clock_ns = source->clock_ns };
		sources[i].is_realtime = txtrace_log_realtime_ns(source->input.log, 1) == 1;
		sources[i].begin_ns = sources[i].info.version_major ? sources[i].info.start_monotonic_ns
								    : source->key_ns;
	}
	merging->plan.shifts = shifts;
	refusal = merge_plan_make(&merging->plan, sources, merging->cnt);
	if (refusal == MERGE_ACCEPTED)
		err = judge_clocks(merging, sources, shifts, &refusal);
	for (size_t i = 0; i < merging->cnt; i++) {
		merging->sources[i].shift = shifts[i];
		merging->sources[i].key_ns += shifts[i].time_ns;
	}
	if (err == -ECANCELED)
		status = CLI_FAILED;
	else
		status = err ? cli_fail(merging->cli, "can't compare the clocks of the logs: %s",
					strerror(-err))
			     : refuse(merging, refusal);
	free(sources);
	free(shifts);
	return status;
}

/* ---- writing ---- */

static int add(struct merging *merging, struct txtrace_record *record)
{
	return log_output_add(&merging->output, record, merging->sources[0].clock_ns);
}

static int add_damage(struct merging *merging, struct source *source)
{
	struct txtrace_record damage = { .kind = TXTRACE_RECORD_DAMAGE };
	int err = source->has_damage ? add(merging, &damage) : 0;

	source->has_damage = false;
	return err;
}

/* The record of a source goes out; a summary waits for those of the others. */
static int add_next(struct merging *merging, struct source *source)
{
	int err = add_damage(merging, source);

	if (err)
		return err;
	if (source->record.kind == TXTRACE_RECORD_CONTINUED && merging->cnt > 1)
		return 0; /* the end of a part is not that of the result */
	look_at_clock(source, source == merging->sources);
	err = id_shift_apply(&source->shift, &source->record);
	if (err)
		return err;
	if (source->record.kind == TXTRACE_RECORD_SUMMARY && merging->cnt > 1) {
		source->has_summary = true;
		source->summary = source->record.summary;
		return 0;
	}
	merging->from_cnt++;
	return add(merging, &source->record);
}

/* The one whose record comes first; of two at the same time that of the log that was named first. */
static struct source *next_source(struct merging *merging)
{
	struct source *next = NULL;

	for (size_t i = 0; i < merging->cnt; i++) {
		struct source *source = &merging->sources[i];

		if (source->has_record && (!next || source->key_ns < next->key_ns))
			next = source;
	}
	return next;
}

static void show_progress(struct merging *merging)
{
	uint64_t done_bytes = 0, total_bytes = 0, done, total;

	for (size_t i = 0; i < merging->cnt; i++) {
		txtrace_log_progress(merging->sources[i].input.log, &done, &total);
		done_bytes += done;
		total_bytes += total;
	}
	progress_show(&merging->progress, done_bytes, total_bytes);
}

/* The last summary of a capture, whose files may have one each; NULL: it has none. */
static const struct txtrace_summary *summary_of(const struct merging *merging, uint32_t pid_range)
{
	const struct txtrace_summary *last = NULL;

	for (size_t i = 0; i < merging->cnt; i++) {
		const struct source *source = &merging->sources[i];

		if (source->has_summary && source->shift.pid_range == pid_range &&
		    (!last || source->summary.time_ns >= last->time_ns))
			last = &source->summary;
	}
	return last;
}

/* A capture without a summary did not end cleanly, and neither does what it is a part of. */
static int add_summary(struct merging *merging)
{
	struct txtrace_record record = { .kind = TXTRACE_RECORD_SUMMARY };

	for (uint32_t range = 0; range < merging->plan.capture_cnt; range++) {
		const struct txtrace_summary *summary = summary_of(merging, range);

		if (!summary)
			return 0;
		merge_summary_add(&record.summary, summary);
	}
	merging->from_cnt++;
	return add(merging, &record);
}

static int merge_records(struct merging *merging)
{
	struct source *source;
	int err = 0;

	while (!err && (source = next_source(merging))) {
		err = add_next(merging, source);
		if (err == -ERANGE)
			return err;
		read_next(source);
		if (progress_is_due(&merging->progress))
			show_progress(merging);
	}
	for (size_t i = 0; !err && i < merging->cnt; i++)
		err = add_damage(merging, &merging->sources[i]);
	return !err && merging->cnt > 1 ? add_summary(merging) : err;
}

static int merge(struct merging *merging, const char *path)
{
	struct source *source;
	int status = plan(merging), err;

	if (merging->cnt > 1)
		merging->plan.info.part = 0, merging->plan.info.first_sequence = 0;
	if (status == CLI_OK)
		status = log_output_open(&merging->output, merging->cli, path, &merging->plan.info,
					 LOG_CODEC_ZSTD);
	if (status)
		return status;
	err = merge_records(merging);
	if (err == -ERANGE) {
		source = next_source(merging);
		log_output_abort(&merging->output);
		return cli_fail(merging->cli,
				"can't merge '%s': it has numbers of processes, threads or CPUs that Linux "
				"does not have, as merged "
				"logs do; merge the original logs instead",
				source->input.path);
	}
	status = log_output_close(&merging->output, err, merging->from_cnt);
	for (size_t i = 0; i < merging->machine_cnt && status != CLI_FAILED; i++)
		print_clock(merging, &merging->machines[i]);
	return status;
}

/* ---- the logs ---- */

/* The file of the log that was opened last is in none that was opened before. */
static int check_once(const struct merging *merging, const char *path)
{
	for (size_t other = 0; other + 1 < merging->cnt; other++) {
		if (log_input_has_file(&merging->sources[other].input, path))
			return cli_fail(merging->cli, "'%s' is given twice", path);
	}
	return CLI_OK;
}

static int open_inputs(struct merging *merging, char **paths, size_t cnt, const char *output)
{
	int status = CLI_OK;

	for (size_t i = 0; status == CLI_OK && i < cnt; i++) {
		struct log_input *input = &merging->sources[i].input;

		status = log_input_open(input, merging->cli, &paths[i], 1, false);
		if (status)
			break;
		merging->cnt++;
		status = log_output_check(output, input);
		if (status == CLI_OK)
			status = log_input_check_one_capture(input);
		for (size_t file = 0; status == CLI_OK && file < txtrace_log_file_cnt(input->log); file++)
			status = check_once(merging, txtrace_log_file(input->log, file));
	}
	return status;
}

/* Once all is over; tells what of each is missing only if there is a result that lacks it. */
static int close_inputs(struct merging *merging, int status)
{
	int worst = CLI_OK;

	for (size_t i = 0; i < merging->cnt; i++) {
		struct log_input *input = &merging->sources[i].input;
		int newer = status == CLI_FAILED ? CLI_OK : log_copy_warn_newer(input), closed;

		input->is_quiet = status == CLI_FAILED;
		closed = log_input_close(input);
		worst = closed || newer ? CLI_INCOMPLETE : worst;
	}
	return status ? status : worst;
}

static int run(struct cli *cli, int argc, char **argv)
{
	struct merge_options values = { .output = NULL };
	struct merging merging = { .cli = cli };
	struct options_result result;
	int status;

	if (!cli_parse(cli, &options, argc, argv, &values, &result, &status))
		return status;
	status = log_copy_check_output(cli, "merge", values.output);
	if (status)
		return status;
	merging.paths = result.operands;
	merging.sources = calloc((size_t)result.operand_cnt, sizeof(*merging.sources));
	if (!merging.sources)
		return cli_fail(cli, "there is not enough memory");
	progress_init(&merging.progress, cli, true);
	status = open_inputs(&merging, result.operands, (size_t)result.operand_cnt, values.output);
	if (status == CLI_OK)
		status = merge(&merging, values.output);
	status = close_inputs(&merging, status);
	free(merging.machines);
	free(merging.sources);
	return status;
}

const struct command command_merge = { "merge", "combine the logs of several processes or hosts", &options,
				       .run = run };
