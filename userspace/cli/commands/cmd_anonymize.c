/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "analyze/files/anonymizer.h"
#include "cli/commands/command.h"
#include "cli/exit_status.h"
#include "cli/files/log_copy.h"

#define RANDOM_SALT_BYTES 32

struct anonymize_options {
	const char *output;
	const char *salt;
};

static const struct option_spec specs[] = {
	OPTION("output", 'o', OPTION_STRING, "OUT", "write this file, once it is complete (required)",
	       offsetof(struct anonymize_options, output)),
	OPTION("salt", 0, OPTION_STRING, "SECRET",
	       "the same secret makes the same pseudonyms of the same strings, in any log; anyone who has "
	       "it can test guesses, so keep it private (default: random, and not stored)",
	       offsetof(struct anonymize_options, salt)),
	OPTION_END,
};

static const struct options options = {
	.program = "txtrace anonymize",
	.about = "Writes a log that can be given to others: labels, tags, keys, names and strings of "
		 "attributes, names of instants, counters and links, commands of threads and the host are "
		 "replaced by pseudonyms such as 'mdgjfg5ftvhr'. The same string always gets the same "
		 "pseudonym. A tag such as 'shard=3,kind=write' keeps its commas and equals signs. Numbers "
		 "are kept: times, ids, ledgers, numbers in attributes and counters, addresses.",
	.usages = (const char *const[]){ "[--salt SECRET] -o OUT FILE\xe2\x80\xa6", NULL },
	.specs = specs,
	.examples = (const struct option_example[]){
		{ "txtrace anonymize -o public.txtrace bank.txtrace", "For a bug report." },
		{ "txtrace anonymize --salt \"$(cat secret)\" -o monday.txtrace bank.txtrace",
		  "With the same secret, labels can be compared between days." },
		{ NULL, NULL },
	},
	.notes = exit_status_tool_notes,
	.operand = "FILE",
	.operand_min = 1,
	.operand_max = -1,
};

static int change_info(void *context, struct txtrace_log_info *info)
{
	return anonymizer_apply_info(context, info);
}

static int change(void *context, struct txtrace_record *record)
{
	int err = anonymizer_apply(context, record);

	return err ? err : 1;
}

/* NULL: a sentence was said. */
static struct anonymizer *open_anonymizer(struct cli *cli, const char *salt)
{
	uint8_t random[RANDOM_SALT_BYTES];
	struct anonymizer *anonymizer;

	if (!salt && getrandom(random, sizeof(random), 0) != sizeof(random)) {
		cli_fail(cli, "can't get random numbers for a salt: %s; give one with --salt",
			 strerror(errno));
		return NULL;
	}
	anonymizer = salt ? anonymizer_new(salt, strlen(salt)) : anonymizer_new(random, sizeof(random));
	explicit_bzero(random, sizeof(random));
	if (!anonymizer)
		cli_fail(cli, "there is not enough memory");
	return anonymizer;
}

static int run(struct cli *cli, int argc, char **argv)
{
	struct anonymize_options values = { .output = NULL };
	struct options_result result;
	struct anonymizer *anonymizer;
	int status;

	if (!cli_parse(cli, &options, argc, argv, &values, &result, &status))
		return status;
	status = log_copy_check_output(cli, "anonymize", values.output);
	if (status)
		return status;
	if (values.salt && !*values.salt)
		return cli_fail(cli, "option '--salt' takes a secret, not an empty string");
	anonymizer = open_anonymizer(cli, values.salt);
	if (!anonymizer)
		return CLI_FAILED;
	status = log_copy(cli, &(struct log_copy){ .inputs = result.operands,
						   .input_cnt = result.operand_cnt,
						   .output = values.output,
						   .codec = LOG_CODEC_ZSTD,
						   .change_info = change_info,
						   .change = change,
						   .context = anonymizer });
	anonymizer_free(anonymizer);
	return status;
}

const struct command command_anonymize = { "anonymize", "replace all names in a log by pseudonyms",
					   &options, .run = run };
