/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions whose machine code tests/header/notes.sh reads: what does a mark cost when nobody traces? */
#include "txtrace.h"

txtrace_span_t path_of_begin(void);
txtrace_span_t path_of_begin_child(txtrace_span_t parent);
void path_of_end(txtrace_span_t s);
void path_of_attr(txtrace_span_t s, int n);
void path_of_counter(int n);
void path_of_key_begin(const void *key, size_t length);

txtrace_span_t path_of_begin(void)
{
	return TXTRACE_BEGIN("begin");
}

txtrace_span_t path_of_begin_child(txtrace_span_t parent)
{
	return TXTRACE_BEGIN_CHILD("child", parent);
}

void path_of_end(txtrace_span_t s)
{
	TXTRACE_END(s);
}

void path_of_attr(txtrace_span_t s, int n)
{
	TXTRACE_ATTR(s, "n", n);
}

void path_of_counter(int n)
{
	TXTRACE_COUNTER("n", n);
}

void path_of_key_begin(const void *key, size_t length)
{
	TXTRACE_KEY_BEGIN("key", key, length);
}
