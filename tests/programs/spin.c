/* SPDX-License-Identifier: BSD-2-Clause */
/* Spans that do nothing but compute: 5 ms of a CPU by the thread's own clock, however long that takes. */
#include "truth.h"

int main(int argc, char **argv)
{
	struct truth_options options = truth_options_parse("spin: spans of 5 ms on a CPU", argc, argv);
	struct truth *truths = truths_new(options.repeat_cnt);
	struct witness witness;

	witness_init(&witness);
	truth_start(&options);
	for (uint64_t i = 0; i < options.repeat_cnt; i++)
		WITNESSED(&truths[i], &witness, "spin", spin_cpu_ns(&witness, 5 * NS_PER_MS));
	truths_print(truths, options.repeat_cnt);
	free(truths);
	return 0;
}
