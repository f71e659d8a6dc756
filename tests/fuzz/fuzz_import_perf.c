/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as the text of perf script or ftrace, the first one says whether there are pairs of events: what
 * is read of them are records that keep their laws.
 */
#include "fuzz/fuzz_import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_bytes bytes = { data, size };
	struct import_options options = { 0 };
	uint64_t choice = fuzz_take(&bytes, 1);

	if (choice & 1)
		options.pairs = "probe:work=probe:work__return,work=work__return";
	fuzz_import_file(choice & 2 ? &import_ftrace : &import_perf, &options, bytes.at, bytes.left);
	return 0;
}
