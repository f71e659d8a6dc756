/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "cli/command.h"
#include "cli/dump_line.h"
#include "cli/exit_status.h"
#include "cli/log_input.h"

struct dump_options {
	uint32_t kinds; /* bits; 0: all */
	uint64_t limit;
};

static int take_kind(void *context, const char *value, const char **complaint)
{
	struct dump_options *values = context;

	for (unsigned int kind = 0; kind < TXTRACE_RECORD_KIND_COUNT; kind++) {
		const char *name = txtrace_record_kind_name(kind);

		if (name && strcmp(name, value) == 0) {
			values->kinds |= 1u << kind;
			return 0;
		}
	}
	*complaint = "span, run, wake, thread, attribute, instant, counter, link, loss, open_span, summary, dropped, continued, stay or damage";
	return -EINVAL;
}

static const struct option_spec specs[] = {
	OPTION("kind", 'k', OPTION_CALL, "KIND",
	       "only records of this kind (may be given several times): span, run, wake, thread, attribute, instant, counter, link, loss, "
	       "open_span, summary, dropped, continued, stay, damage",
	       0, .call = take_kind),
	OPTION("limit", 'n', OPTION_U64, "N", "stop after N lines; 0: never (the default)", offsetof(struct dump_options, limit)),
	OPTION_END,
};

static const struct options options = {
	.program = "txtrace dump",
	.about = "Every record as a line of text with all its fields, in the order of the log: a span stands where it ended. Times are "
		 "CLOCK_MONOTONIC ns. Strings are quoted; control characters in them are escaped.",
	.usages = (const char *const[]){ "FILE", NULL },
	.specs = specs,
	.examples = (const struct option_example[]){
		{ "txtrace dump -k span -k attribute bank.txtrace | grep 'tid=4711'", "What one thread did." },
		{ NULL, NULL },
	},
	.notes = exit_status_notes,
	.operand = "FILE",
	.operand_min = 1,
	.operand_max = 1,
};

static int dump(struct cli *cli, const struct dump_options *values, struct log_input *input)
{
	struct txtrace_record record;
	struct text text = { 0 };
	uint64_t line_cnt = 0;
	int err = 0;

	while (!err && !cli->write_errno && (values->limit == 0 || line_cnt < values->limit) && log_input_next(input, &record)) {
		if (values->kinds && (record.kind >= 32 || !(values->kinds & 1u << record.kind)))
			continue;
		text_clear(&text);
		dump_line_append(&text, &record);
		text_append(&text, "\n");
		err = text.err;
		if (!err && fwrite(text_string(&text), 1, text.length, cli->out.file) != text.length)
			err = cli_write_failed(cli, -errno);
		line_cnt++;
	}
	text_release(&text);
	return err;
}

static int run(struct cli *cli, int argc, char **argv)
{
	struct dump_options values = { .limit = 0 };
	struct options_result result;
	struct log_input input;
	int status, err;

	if (!cli_parse(cli, &options, argc, argv, &values, &result, &status))
		return status;
	status = log_input_open(&input, cli, result.operands[0], false);
	if (status)
		return status;
	err = dump(cli, &values, &input);
	status = log_input_close(&input);
	return err ? cli_fail(cli, "can't dump '%s': %s", result.operands[0], strerror(-err)) : status;
}

const struct command command_dump = { "dump", "the records as text, one line each", &options, run };
