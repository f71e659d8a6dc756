/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Spans that do nothing but compute: 5 ms of a CPU by the thread's own clock, however long that takes. --note
 * FILE: what is in FILE (a cgroup's account) before the first span and after the last one, in OUTPUT.before
 * and OUTPUT.after.
 */
#include "truth.h"

static void note(const char *from, const char *output, const char *when)
{
	char path[4096], text[4096];
	FILE *in = from ? fopen(from, "r") : NULL, *out;
	size_t length;

	if (!from)
		return;
	must(in && output, "cannot read what is to be noted");
	length = fread(text, 1, sizeof(text), in);
	fclose(in);
	snprintf(path, sizeof(path), "%s.%s", output, when);
	out = fopen(path, "w");
	must(out && fwrite(text, 1, length, out) == length && !fclose(out), "cannot write the note");
}

int main(int argc, char **argv)
{
	struct truth_options options = TRUTH_OPTIONS_DEFAULT;
	const char *noted = NULL;
	const struct option_spec table[] = {
		TRUTH_OPTION_SPECS(&options),
		{ .name = "note", .help = "file to copy before and after", .text = &noted },
	};
	struct witness witness;
	struct truth *truths;

	options_parse(table, sizeof(table) / sizeof(table[0]), "spin: spans of 5 ms on a CPU", argc, argv);
	truths = truths_new(options.repeat_cnt);
	witness_init(&witness);
	truth_start(&options);
	note(noted, options.output, "before");
	for (uint64_t i = 0; i < options.repeat_cnt; i++)
		WITNESSED(&truths[i], &witness, "spin", spin_cpu_ns(&witness, 5 * NS_PER_MS));
	note(noted, options.output, "after");
	truths_print(truths, options.repeat_cnt);
	free(truths);
	return 0;
}
