/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/commands/command.h"
#include "cli/exit_status.h"
#include "cli/files/log_copy.h"

struct recompress_options {
	unsigned int codec; /* enum log_codec */
	const char *output;
};

static const char *const codecs[] = {
	[LOG_CODEC_NONE] = "none", [LOG_CODEC_ZSTD] = "zstd", [LOG_CODEC_LZ4] = "lz4", NULL
};

static const struct option_spec specs[] = {
	OPTION("codec", 'c', OPTION_CHOICE, "CODEC",
	       "zstd, the smallest (the default); lz4, which is faster to read; or none",
	       offsetof(struct recompress_options, codec), .choices = codecs),
	OPTION("output", 'o', OPTION_STRING, "OUT", "write this file, once it is complete (required)",
	       offsetof(struct recompress_options, output)),
	OPTION_END,
};

static const struct options options = {
	.program = "txtrace recompress",
	.about = "Writes the same log with another compression. All records stay the same. A log that was "
		 "flushed often, or written by an older version, also becomes smaller.",
	.usages = (const char *const[]){ "[--codec CODEC] -o OUT FILE\xe2\x80\xa6", NULL },
	.specs = specs,
	.examples = (const struct option_example[]){
		{ "txtrace recompress --codec none -o plain.txtrace bank.txtrace",
		  "For a file system that compresses by itself." },
		{ NULL, NULL },
	},
	.notes = exit_status_tool_notes,
	.operand = "FILE",
	.operand_min = 1,
	.operand_max = -1,
};

static int run(struct cli *cli, int argc, char **argv)
{
	struct recompress_options values = { .codec = LOG_CODEC_ZSTD };
	struct options_result result;
	int status;

	if (!cli_parse(cli, &options, argc, argv, &values, &result, &status))
		return status;
	status = log_copy_check_output(cli, "recompress", values.output);
	if (status)
		return status;
	return log_copy(cli, &(struct log_copy){ .inputs = result.operands,
						 .input_cnt = result.operand_cnt,
						 .output = values.output,
						 .codec = values.codec });
}

const struct command command_recompress = { "recompress", "write the same log with another compression",
					    &options, .run = run };
