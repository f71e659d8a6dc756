/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/files/log_export.h"

#include <stdio.h>

int exported_open(struct exported *exported, const struct export_format *format,
		  const struct options_result *parsed, bool wants_progress)
{
	const struct log_scope *scope = exported->cli->scope;
	int status = log_input_open(&exported->input, exported->cli, parsed->operands, parsed->operand_cnt,
				    wants_progress);

	if (status || !format->survey)
		return status;
	if (format->surveys_all)
		exported->cli->scope = NULL;
	status = log_input_open(&exported->first, exported->cli, parsed->operands, parsed->operand_cnt,
				wants_progress);
	exported->cli->scope = scope;
	if (status) {
		log_input_close(&exported->input);
		return status;
	}
	exported->has_first = exported->first.is_quiet = true;
	return CLI_OK;
}

int exported_close(struct exported *exported)
{
	if (exported->has_first)
		log_input_close(&exported->first);
	return log_input_close(&exported->input);
}

static void say(void *context, const char *sentence)
{
	cli_warn(context, "%s", sentence);
}

/* If the last record is the first of another capture */
static int begin_capture(const struct log_input *input, struct export *export)
{
	return input->has_begun_capture ? export_begin_capture(export, input->capture_id) : 0;
}

int export_records(struct exported *exported, struct export *export, FILE *out)
{
	struct log_input *input = &exported->input;
	struct txtrace_record record;
	int err = 0;

	while (!err && exported->has_first && log_input_next(&exported->first, &record)) {
		err = begin_capture(&exported->first, export);
		if (!err)
			err = export_survey(export, &record);
	}
	if (!err && exported->has_first)
		err = export_begin_capture(export, input->info.capture_id);
	input->progress.written = out;
	while (!err && log_input_next(input, &record)) {
		err = begin_capture(input, export);
		if (!err)
			err = export_add(export, &record);
	}
	input->progress.written = NULL;
	if (err) {
		export_abort(export);
		return err;
	}
	export_tell_at_close(export, say, exported->cli);
	return export_close(export, input->err, NULL);
}

int export_input(struct exported *exported, const struct export_format *format, FILE *out)
{
	struct export *export;
	int err = export_open(&export, format, out, &exported->input.info);

	return err ? err : export_records(exported, export, out);
}
