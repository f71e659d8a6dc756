/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "log/format/record_table.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/commands/command.h"
#include "cli/exit_status.h"
#include "cli/files/log_beside.h"
#include "cli/files/log_copy.h"
#include "cli/files/log_output.h"
#include "log/copy/block_copy.h"

#define LOOK_EVERY 1024 /* records between looks at how far the reader is */

struct repair_options {
	const char *output;
};

static const struct option_spec specs[] = {
	OPTION("output", 'o', OPTION_STRING, "OUT", "write this file, once it is complete (required)",
	       offsetof(struct repair_options, output)),
	OPTION_END,
};

static const char *const notes[] = {
	"OUT is written under a temporary name and renamed when it is complete; the input is never changed.",
	"Exit status: 0 only the index was missing; 1 OUT has what could be read, and its readers report "
	"what is missing; 2 there is no OUT: wrong usage, a log that can't be read, or an OUT that can't be "
	"written.",
	NULL,
};

static const struct options options = {
	.program = "txtrace repair",
	.about = "Writes a log with an index from one that is damaged or was not closed: its good batches, "
		 "byte by byte, with the ids and clocks of the capture. Missing data is not invented: "
		 "readers of OUT report where batches are missing, and a log whose recorder did not end "
		 "cleanly still has no summary.",
	.usages = (const char *const[]){ "-o OUT FILE", NULL },
	.specs = specs,
	.examples = (const struct option_example[]){
		{ "txtrace repair -o bank.txtrace bank.txtrace.partial",
		  "After the recorder was killed." },
		{ NULL, NULL },
	},
	.notes = notes,
	.operand = "FILE",
	.operand_min = 1,
	.operand_max = 1,
};

/* The reader goes ahead and finds what is damaged; the copy follows, from one sound block to the next. */
struct repair {
	struct cli *cli;
	struct log_input input;
	struct block_file *blocks;
	struct block_copy *copy;
	struct log_beside beside;
	uint64_t at;         /* how far the file is copied */
	bool is_cut;         /* since the last block that was copied, something was damaged */
	uint32_t until_look; /* records */
};

/* ---- copying ---- */

static bool is_of_capture(const struct repair *repair)
{
	const struct txtrace_log_info *info = txtrace_log_info(repair->input.log);

	return memcmp(block_file_block(repair->blocks)->capture_id, info->capture_id,
		      sizeof(info->capture_id)) == 0;
}

/*
 * Copies sound blocks up to `to`. Where there is none it stands still: the reader will tell where it goes on.
 */
static int copy_to(struct repair *repair, uint64_t to)
{
	uint64_t index_offset;
	uint32_t index_bytes;
	int result;

	while (repair->at < to) {
		if (block_file_has_footer(repair->blocks, repair->at, &index_offset, &index_bytes)) {
			repair->at += LOG_FOOTER_BYTES;
			continue;
		}
		result = block_file_load(repair->blocks, repair->at);
		if (result > 0)
			result = is_of_capture(repair) ? block_copy_add(repair->copy) : 0;
		if (result <= 0)
			return result;
		repair->at += block_file_block(repair->blocks)->header_bytes +
			      (uint64_t)block_file_block(repair->blocks)->stored_bytes;
		repair->is_cut = false;
	}
	return 0;
}

/* What the reader skips is left out. */
static int skip(struct repair *repair, const struct txtrace_damage *damage)
{
	uint64_t end = damage->offset_bytes + damage->length_bytes;
	int err = copy_to(repair, damage->offset_bytes);

	if (end > repair->at && damage->length_bytes > 0) {
		repair->at = end;
		repair->is_cut = true;
	}
	return err;
}

static int take(struct repair *repair, const struct txtrace_record *record)
{
	uint64_t read_bytes, total_bytes;

	if (record->kind == TXTRACE_RECORD_DAMAGE)
		return skip(repair, &record->damage);
	if (--repair->until_look > 0)
		return 0;
	repair->until_look = LOOK_EVERY;
	txtrace_log_progress(repair->input.log, &read_bytes, &total_bytes);
	return copy_to(repair, read_bytes);
}

static int copy_all(struct repair *repair, struct txtrace_record *record, bool has_record)
{
	int err = 0;

	while (!err && has_record) {
		err = take(repair, record);
		has_record = !err && log_input_next(&repair->input, record);
	}
	return err ? err : copy_to(repair, log_input_total_bytes(&repair->input));
}

/* ---- the file ---- */

/*
 * The first record. Where the file's header is damaged, it is the first batch that knows the capture: what is
 * damaged before it is skipped now, as nothing can be written yet.
 */
static bool read_first(struct repair *repair, struct txtrace_record *record)
{
	bool has_record = log_input_next(&repair->input, record),
	     has_header = txtrace_log_info(repair->input.log)->version_major > 0;

	while (has_record && !has_header && record->kind == TXTRACE_RECORD_DAMAGE) {
		repair->at = record->damage.offset_bytes + record->damage.length_bytes;
		has_record = log_input_next(&repair->input, record);
	}
	return has_record;
}

static int open_copy(struct repair *repair, const char *path, const struct txtrace_record *first)
{
	struct txtrace_log_info info = *txtrace_log_info(repair->input.log), ignored;
	const uint8_t *header;
	int64_t length;
	int err = block_file_open(&repair->blocks, repair->input.path);

	if (err)
		return err;
	length = block_file_read_header(repair->blocks, &header, &ignored);
	if (length < 0)
		return (int)length;
	if (length > 0) {
		repair->at = (uint64_t)length;
	} else {
		if (!first)
			return -ENODATA;
		info.start_monotonic_ns = record_began_ns(first);
		info.start_realtime_ns = txtrace_log_realtime_ns(repair->input.log, info.start_monotonic_ns);
	}
	err = log_beside_init(&repair->beside, path);
	return err ? err
		   : block_copy_open(&repair->copy, log_beside_name(&repair->beside), repair->blocks, &info);
}

/* Behind a summary nothing comes: if the end is damaged then it is the index. */
static int finish(struct repair *repair, int err, struct block_copy_stats *stats)
{
	bool is_cut = repair->is_cut && !repair->input.census.has_summary;

	if (repair->copy)
		block_copy_stats(repair->copy, stats);
	stats->gap_cnt += is_cut;
	if (err)
		block_copy_abort(repair->copy);
	else
		err = block_copy_close(repair->copy, is_cut);
	if (!err)
		err = log_beside_commit(&repair->beside);
	else
		log_beside_abort(&repair->beside);
	block_file_close(repair->blocks);
	return err;
}

static void tell(struct repair *repair, const char *path, const struct block_copy_stats *stats)
{
	char records[UNITS_SIZE], batches[UNITS_SIZE], gaps[UNITS_SIZE], size[UNITS_SIZE];
	struct text escaped = { 0 };
	struct stat status;

	if (stats->gap_cnt > 0)
		cli_warn(repair->cli, "'%s' lacks batches in %s place%s: its readers report that", path,
			 units_format_count(gaps, stats->gap_cnt), stats->gap_cnt == 1 ? "" : "s");
	if (stat(path, &status) != 0 || !S_ISREG(status.st_mode))
		return;
	text_append_escaped(&escaped, path, strlen(path));
	fprintf(repair->cli->out.file, "%s records in %s batches, %s, are in '%s'\n",
		units_format_count(records, stats->record_cnt), units_format_count(batches, stats->batch_cnt),
		units_format_size(size, (uint64_t)status.st_size), text_string(&escaped));
	text_release(&escaped);
}

static int repair_log(struct repair *repair, const char *path)
{
	struct block_copy_stats stats = { 0 };
	struct txtrace_record record;
	bool has_record;
	int err, input_status;

	has_record = read_first(repair, &record);
	err = open_copy(repair, path, has_record ? &record : NULL);
	if (!err)
		err = copy_all(repair, &record, has_record);
	err = finish(repair, err, &stats);
	cli_hide_progress(repair->cli);
	repair->input.is_quiet = err != 0;
	input_status = log_input_close(&repair->input);
	if (err)
		return cli_fail(repair->cli, "can't repair '%s' into '%s': %s", repair->input.path, path,
				err == -ENODATA ? "there is nothing in it that can be read" : strerror(-err));
	tell(repair, path, &stats);
	return input_status;
}

static bool is_directory(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static int run(struct cli *cli, int argc, char **argv)
{
	struct repair_options values = { .output = NULL };
	struct repair repair = { .cli = cli, .until_look = LOOK_EVERY };
	struct options_result result;
	int status;

	if (!cli_parse(cli, &options, argc, argv, &values, &result, &status))
		return status;
	if (strcmp(result.operands[0], "-") == 0)
		return cli_fail(cli, "can't repair the standard input: save it as a file, and repair that");
	status = log_copy_check_output(cli, "repair", values.output);
	if (status == CLI_OK)
		status = log_input_open(&repair.input, cli, result.operands, 1, true);
	if (status)
		return status;
	if (is_directory(result.operands[0]))
		status = cli_fail(cli, "'%s' is a directory: repair one file at a time", result.operands[0]);
	else
		status = log_output_check(values.output, &repair.input);
	if (status == CLI_OK)
		return repair_log(&repair, values.output);
	log_input_close(&repair.input);
	return status;
}

const struct command command_repair = { "repair",
					"add an index to a log that was not closed, or is damaged",
					&options, .run = run };
