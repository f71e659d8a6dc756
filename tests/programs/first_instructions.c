/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two functions: when a probe is on its first instruction, the kernel emulates
 * that of the one and single-steps that of the other. Calls the one or the other,
 * or both in turn, and computes between the calls if told to. No marks. Says how
 * long it took: {"calls":5,"cpu_ns":1234}.
 *
 *	first_instructions emulated|stepped|both|paired|jumping CALLS [WORK]
 *
 * CALLS 0: until it is ended by a signal. WORK: rounds of a loop behind each call.
 * paired: calls "emulated" and a function with the same code in turn, in blocks, and
 * says how long the blocks of each took: {…,"called_ns":900,"twin_ns":300}. Whatever
 * else happens on the machine hits both alike.
 * jumping: calls a function that ends by a jump through a register.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BLOCK_CALLS 100

int emulated(void), stepped(void), twin(void), jumping(void);

#if defined(__x86_64__)
#define EMULATED_CODE "push %rbp\n\tpop %rbp\n\tret"
#define STEPPED_CODE "xor %eax, %eax\n\tret"
#define JUMPING_CODE "push %rbp\n\tpop %rbp\n\tlea emulated(%rip), %rax\n\tjmp *%rax"
#else
#define EMULATED_CODE "nop\n\tret"
#define STEPPED_CODE "mov x0, #0\n\tret"
#define JUMPING_CODE "nop\n\tadr x9, emulated\n\tbr x9"
#endif

#define DEFINE(name, code) \
	__asm__(".text\n.globl " name "\n.type " name ", %function\n" name ":\n\t" code \
		"\n.size " name ", .-" name "\n")

DEFINE("emulated", EMULATED_CODE);
DEFINE("stepped", STEPPED_CODE);
DEFINE("twin", EMULATED_CODE);
DEFINE("jumping", JUMPING_CODE);

/*
 * In a register: a loop through memory may take twice as long for a while behind a trap, which is the CPU's
 * doing.
 */
static void work(unsigned long rounds)
{
	for (unsigned long i = 0; i < rounds; i++)
		__asm__ volatile("" : "+r"(i));
}

static unsigned long long cpu_ns(void)
{
	struct timespec cpu;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
	return (unsigned long long)cpu.tv_sec * 1000000000ull + (unsigned long long)cpu.tv_nsec;
}

static unsigned long long block_ns(int (*function)(void), unsigned long rounds)
{
	unsigned long long begin_ns = cpu_ns();

	for (int i = 0; i < BLOCK_CALLS; i++) {
		function();
		work(rounds);
	}
	return cpu_ns() - begin_ns;
}

static int call_pairs(unsigned long calls, unsigned long rounds)
{
	unsigned long long called_ns = 0, twin_ns = 0;

	for (unsigned long i = 0; i < calls / BLOCK_CALLS; i++) {
		called_ns += block_ns(emulated, rounds);
		twin_ns += block_ns(twin, rounds);
	}
	printf("{\"calls\":%lu,\"cpu_ns\":%llu,\"called_ns\":%llu,\"twin_ns\":%llu}\n", calls, cpu_ns(),
	       called_ns, twin_ns);
	return 0;
}

int main(int argc, char **argv)
{
	bool does_one = argc > 1 && strcmp(argv[1], "stepped") != 0;
	bool does_other = argc > 1 && strcmp(argv[1], "emulated") != 0;
	unsigned long calls = argc > 2 ? strtoul(argv[2], NULL, 0) : 0;
	unsigned long rounds = argc > 3 ? strtoul(argv[3], NULL, 0) : 0;

	if (argc > 1 && !strcmp(argv[1], "paired"))
		return call_pairs(calls, rounds);
	if (argc > 1 && !strcmp(argv[1], "jumping"))
		for (unsigned long i = 0; i < calls; i++)
			jumping();
	for (unsigned long i = 0; !calls || i < calls; i++) {
		if (does_one)
			emulated();
		if (does_other)
			stepped();
		work(rounds);
	}
	printf("{\"calls\":%lu,\"cpu_ns\":%llu}\n", calls, cpu_ns());
	return 0;
}
