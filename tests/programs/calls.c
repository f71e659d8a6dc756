/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions and no marks: nested, recursive, left by return, longjmp, tail call and pthread_exit. Knows how
 * often each was called and how often it was left without a return, and prints it:
 * {"label":"outer","calls":5,"skipped":0}. What it computes is checked by itself: a tracer must not change
 * it.
 *
 *	calls ROUNDS
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#define FUNCTION __attribute__((noinline)) int
#define RECURSION_DEPTH 40

int outer(int x), middle(int x), leaf(int x), recurse(int depth), catcher(int x), between(int x),
	thrower(int x), after(int x);
int first(int x), second(int x), last_words(int x);

static jmp_buf escape;

FUNCTION leaf(int x)
{
	__asm__ volatile("");
	return x * 3;
}

FUNCTION middle(int x)
{
	int sum = leaf(x);

	if (x % 5 == 0)
		return sum; /* a second way out */
	sum += leaf(x + 1);
	__asm__ volatile("");
	return sum;
}

FUNCTION outer(int x)
{
	int sum = middle(x);

	__asm__ volatile("");
	return sum + middle(x + 1);
}

FUNCTION recurse(int depth)
{
	int below = depth ? recurse(depth - 1) : 0;

	__asm__ volatile("");
	return below + 1;
}

FUNCTION thrower(int x)
{
	if (x % 3 == 0)
		longjmp(escape, 1);
	__asm__ volatile("");
	return x;
}

FUNCTION between(int x)
{
	int result = thrower(x);

	__asm__ volatile("");
	return result + 1;
}

/* Called where the frames that were jumped over have been. */
FUNCTION after(int x)
{
	__asm__ volatile("");
	return x + 1;
}

FUNCTION catcher(int x)
{
	int result;

	if (setjmp(escape))
		return after(x);
	result = between(x);
	__asm__ volatile("");
	return result;
}

FUNCTION second(int x)
{
	__asm__ volatile("");
	return x + 2;
}

/* Compiled to a jump: second() returns to whom called first(). */
FUNCTION first(int x)
{
	__asm__ volatile("");
	return second(x + 1);
}

FUNCTION last_words(int x)
{
	if (x >= 0)
		pthread_exit(NULL);
	return x;
}

static void *quit(void *argument)
{
	last_words(*(int *)argument);
	return NULL;
}

static void tell(const char *label, long calls, long skipped)
{
	printf("{\"label\":\"%s\",\"calls\":%ld,\"skipped\":%ld}\n", label, calls, skipped);
}

/* outer(), middle() and leaf() as they compute. */
static long expected_outer(int x)
{
	long sum = 0;

	for (int i = x; i <= x + 1; i++)
		sum += i % 5 ? 6L * i + 3 : 3L * i;
	return sum;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 10;
	long leaves = 0, jumps = 0, sum = 0, expected = 0;

	for (int i = 0; i < rounds; i++) {
		pthread_t thread;

		sum += outer(i) + recurse(RECURSION_DEPTH) + catcher(i) + first(i);
		expected += expected_outer(i) + RECURSION_DEPTH + 1 + i + 1 + i + 3;
		leaves += (i % 5 ? 2 : 1) + ((i + 1) % 5 ? 2 : 1);
		jumps += i % 3 == 0;
		if (pthread_create(&thread, NULL, quit, &i) || pthread_join(thread, NULL))
			return 1;
	}
	if (sum != expected) {
		fprintf(stderr, "calls: computed %ld instead of %ld\n", sum, expected);
		return 1;
	}
	tell("outer", rounds, 0);
	tell("middle", 2L * rounds, 0);
	tell("leaf", leaves, 0);
	tell("recurse", (RECURSION_DEPTH + 1L) * rounds, 0);
	tell("catcher", rounds, 0);
	tell("between", rounds, jumps);
	tell("thrower", rounds, jumps);
	tell("after", jumps, 0);
	tell("first", rounds, 0);
	tell("second", rounds, 0);
	tell("last_words", rounds, rounds);
	return 0;
}
