/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Passes strings to probes, whose pages it has never touched, and ends at once: literals, writable data,
 * memory of no file. What it has of them is given back to the kernel first, which reads around whatever is
 * read.
 */
#include <sys/mman.h>
#include <sys/sdt.h>

#include "txtrace.h"

#define AROUND_BYTES 65536

static const char literals[4][AROUND_BYTES]
	__attribute__((aligned(AROUND_BYTES))) = { "", "", "a literal", "" };
static char data[4][AROUND_BYTES] __attribute__((aligned(AROUND_BYTES))) = { "", "", "writable", "" };

int main(void)
{
	char *anonymous = mmap(0, AROUND_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	txtrace_span_t span = TXTRACE_BEGIN("own");

	if (anonymous == MAP_FAILED || madvise((void *)literals, sizeof(literals), MADV_DONTNEED) ||
	    madvise(data, sizeof(data), MADV_DONTNEED))
		return 1;
	DTRACE_PROBE3(shop, pass, literals[2], data[2], anonymous);
	DTRACE_PROBE(shop, passed);
	TXTRACE_TAG(span, literals[2]);
	TXTRACE_ATTR(span, "text", literals[2]);
	TXTRACE_END(span);
	return 0;
}
