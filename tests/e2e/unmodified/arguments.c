/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Probes of another provider, with arguments of all sizes and kinds, as sys/sdt.h makes them; with a
 * semaphore, so that they are silent until somebody raises it. Spans are named by thread, by number over two
 * threads, by two numbers, and by string; the program says which there are.
 *
 *	arguments ROUNDS
 */
#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define SEMAPHORE(name) unsigned short shop_##name##_semaphore __attribute__((section(".probes")))
SEMAPHORE(sizes);
SEMAPHORE(sized);
SEMAPHORE(order);
SEMAPHORE(sent);
SEMAPHORE(item);
SEMAPHORE(packed);
SEMAPHORE(check);
SEMAPHORE(request);
SEMAPHORE(answer);
SEMAPHORE(step);
SEMAPHORE(stepped);
SEMAPHORE(note);
SEMAPHORE(noted);

struct order {
	uint64_t number;
	int8_t small;
	uint16_t medium;
	int32_t large;
};

static struct order orders[4];

__attribute__((noinline)) static void show_sizes(int i, const char *text)
{
	volatile int8_t s8 = (int8_t)-i;
	volatile uint8_t u8 = (uint8_t)(200 + i % 50);
	volatile int16_t s16 = (int16_t)(-1000 - i);
	volatile uint16_t u16 = (uint16_t)(60000 + i);

	if (shop_sizes_semaphore)
		DTRACE_PROBE4(shop, sizes, s8, u8, s16, u16);
	if (shop_sized_semaphore)
		DTRACE_PROBE4(shop, sized, (int32_t)-100000 - i, (uint32_t)4000000000u + (uint32_t)i,
			      (int64_t)-5000000000 - i, text);
}

/* An order is taken by one thread and sent by the other. */
static void *send_orders(void *unused)
{
	for (int i = 0; i < 4; i++)
		DTRACE_PROBE1(shop, sent, orders[i].number);
	return unused;
}

__attribute__((noinline)) static void take_orders(int round)
{
	pthread_t sender;

	for (int i = 0; i < 4; i++) {
		orders[i] = (struct order){
			.number = (uint64_t)round * 4 + (uint64_t)i, .small = -1, .medium = 2, .large = -3
		};
		DTRACE_PROBE3(shop, order, orders[i].number, orders[i].small, orders[i].medium);
	}
	if (pthread_create(&sender, NULL, send_orders, NULL) == 0)
		pthread_join(sender, NULL);
}

/* So much of a text as is said, which goes on behind it. */
__attribute__((noinline)) static void take_notes(void)
{
	static const int lengths[] = { 0, 1, 62, 63, 64, 65, 300, 510, 600, -1 };
	static char text[701];

	for (size_t i = 0; i + 1 < sizeof(text); i++)
		text[i] = (char)('a' + i % 26);
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		DTRACE_PROBE2(shop, note, (const char *)text, lengths[i]);
		DTRACE_PROBE(shop, noted);
	}
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 10;
	char text[32], key[32];

	for (int i = 0; i < rounds; i++) {
		snprintf(text, sizeof(text), "round %d", i);
		snprintf(key, sizeof(key), "key-%d", i);
		show_sizes(i, text);
		take_orders(i);
		DTRACE_PROBE2(shop, item, i, 7);
		DTRACE_PROBE2(shop, item, i, 8);
		DTRACE_PROBE1(shop, request, (const char *)key);
		DTRACE_PROBE2(shop, check, i, 8);
		DTRACE_PROBE2(shop, packed, 7, i); /* in another order than at the begin */
		DTRACE_PROBE1(shop, answer, (const char *)key);
		DTRACE_PROBE2(shop, packed, 8, i);
		DTRACE_PROBE1(shop, step, i);
		DTRACE_PROBE1(shop, step, i); /* the first one is never ended */
		DTRACE_PROBE(shop, stepped);
	}
	take_notes();
	return shop_item_semaphore + shop_packed_semaphore + shop_check_semaphore + shop_request_semaphore +
		       shop_answer_semaphore + shop_order_semaphore + shop_sent_semaphore +
		       shop_step_semaphore + shop_stepped_semaphore + shop_note_semaphore +
		       shop_noted_semaphore >
	       100;
}
