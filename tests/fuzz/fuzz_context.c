/* SPDX-License-Identifier: BSD-2-Clause */
/* Any bytes as what a process says of itself in its process context. */
#include <errno.h>
#include <string.h>

#include "attach/otel/process_context.h"
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct process_context context;
	char *bytes = malloc(size ? size : 1);
	int err;

	LAW(bytes);
	memcpy(bytes, data, size);
	err = process_context_parse(&context, bytes, size);
	free(bytes);
	LAW(err == 0 || err == -EPROTO);
	LAW(memchr(context.service, '\0', sizeof(context.service)));
	LAW(memchr(context.schema_name, '\0', sizeof(context.schema_name)));
	LAW((context.schema != THREAD_SCHEMA_NONE) == (context.schema_name[0] != '\0') || err ||
	    context.schema == THREAD_SCHEMA_OTHER);
	return 0;
}
