/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The arguments of a USDT probe as its note tells them, in words: "8@%rdi
 * -4@-20(%rbp) 8f@%xmm0" is "u64, i32, f64".
 */
#ifndef PROBE_ARGUMENT_H
#define PROBE_ARGUMENT_H

#include <stddef.h>

#define PROBE_ARGUMENT_MAX 12 /* systemtap's limit */

struct probe_argument {
	char type[8];        /* "u64", "i32", "f64", …; "?" if the note says what is none */
	/* where it is, as the note says it: "%rdi", "-20(%rbp)", "[sp, 24]", "$5"; points into the note */
	const char *operand;
	size_t operand_length;
};

/* How many there are; those beyond the limit are left out. */
size_t probe_arguments_parse(const char *args, struct probe_argument arguments[PROBE_ARGUMENT_MAX]);

#endif
