/* SPDX-License-Identifier: BSD-2-Clause */
/* The variable of otel_writer.c, in a library. The others are there so that it is not the first one. */
struct otel_record;

#ifdef PROTECTED
#define SHARED __attribute__((visibility("protected")))
#else
#define SHARED __attribute__((visibility("default")))
#endif

static __thread long before[5];
SHARED __thread struct otel_record *otel_thread_ctx_v1;

SHARED struct otel_record **otel_variable(void);

SHARED struct otel_record **otel_variable(void)
{
	before[0]++;
	return &otel_thread_ctx_v1;
}
