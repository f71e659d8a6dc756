/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as Sui's transaction trace, the first one says how many event types there are: what is read of
 * them are records that keep their laws.
 */
#include "fuzz/fuzz_import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint32_t variants[] = { 0, 2, 4 };
	struct fuzz_bytes bytes = { data, size };
	const struct import_options options = { .sui_variants = variants[fuzz_take(&bytes, 1) % 3] };

	fuzz_import_file(&import_sui, &options, bytes.at, bytes.left);
	return 0;
}
