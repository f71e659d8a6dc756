/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two functions: when a probe is on its first instruction, the kernel emulates
 * that of the one and single-steps that of the other. Calls the one or the other,
 * or both in turn, and computes between the calls if told to. No marks. Says how
 * long it took: {"calls":5,"cpu_ns":1234}.
 *
 *	first_instructions emulated|stepped|both CALLS [WORK]
 *
 * CALLS 0: until it is ended by a signal. WORK: rounds of a loop behind each call.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int emulated(void), stepped(void);

#if defined(__x86_64__)
#define EMULATED_CODE "push %rbp\n\tpop %rbp\n\tret"
#define STEPPED_CODE "xor %eax, %eax\n\tret"
#else
#define EMULATED_CODE "nop\n\tret"
#define STEPPED_CODE "mov x0, #0\n\tret"
#endif

#define DEFINE(name, code) \
	__asm__(".text\n.globl " name "\n.type " name ", %function\n" name ":\n\t" code "\n.size " name ", .-" name "\n")

DEFINE("emulated", EMULATED_CODE);
DEFINE("stepped", STEPPED_CODE);

static void work(unsigned long rounds)
{
	for (volatile unsigned long i = 0; i < rounds; i++)
		;
}

int main(int argc, char **argv)
{
	bool does_one = argc > 1 && strcmp(argv[1], "stepped") != 0;
	bool does_other = argc > 1 && strcmp(argv[1], "emulated") != 0;
	unsigned long calls = argc > 2 ? strtoul(argv[2], NULL, 0) : 0;
	unsigned long rounds = argc > 3 ? strtoul(argv[3], NULL, 0) : 0;
	struct timespec cpu;

	for (unsigned long i = 0; !calls || i < calls; i++) {
		if (does_one)
			emulated();
		if (does_other)
			stepped();
		work(rounds);
	}
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
	printf("{\"calls\":%lu,\"cpu_ns\":%llu}\n", calls,
	       (unsigned long long)cpu.tv_sec * 1000000000ull + (unsigned long long)cpu.tv_nsec);
	return 0;
}
