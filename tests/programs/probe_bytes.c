/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shows what the kernel has made of a probe while it is traced: marks --repeat spans and prints the bytes of
 * the probe's site after them, in hex. Untraced (with --wait-traced 0) it prints what the compiler put there.
 */
#include "truth.h"

#define SITE_BYTES 16 /* x86-64: nop, nop5, nop10; aarch64: nop, ret, udf */

int main(int argc, char **argv)
{
	struct truth_options options = truth_options_parse("probe_bytes: what a probe's site looks like",
							   argc, argv);
	unsigned char site[SITE_BYTES];
	const void *at;
	void (*probe)(uint64_t id) = txtrace_site_end;

	truth_start(&options);
	for (uint64_t i = 0; i < options.repeat_cnt; i++) {
		txtrace_span_t span = TXTRACE_BEGIN("look");
		TXTRACE_END(span);
	}
	memcpy(&at, &probe, sizeof(at));
	memcpy(site, at, sizeof(site));
	for (size_t i = 0; i < sizeof(site); i++)
		printf("%02x", site[i]);
	printf("\n");
	return 0;
}
