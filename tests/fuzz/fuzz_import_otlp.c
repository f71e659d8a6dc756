/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as OpenTelemetry's traces, JSON or protobuf: what is read of them are records that keep their
 * laws.
 */
#include "fuzz/fuzz_import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct import_options options;

	fuzz_import_file(&import_otlp, &options, data, size);
	return 0;
}
