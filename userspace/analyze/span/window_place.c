/* SPDX-License-Identifier: BSD-2-Clause */
/* From the stays of threads to the span that each is in at any time: the one entered last. */
#include <errno.h>
#include <stdlib.h>

#include "analyze/span/window_internal.h"

static int compare_stays(const void *a, const void *b)
{
	const struct window_stay *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	if (x->enter_ns != y->enter_ns)
		return x->enter_ns < y->enter_ns ? -1 : 1;
	return x->exit_ns > y->exit_ns ? -1 : x->exit_ns < y->exit_ns; /* the outer one first */
}

/* A stack of stays in the order of their enters; those below the top may have ended already. */
struct stack {
	const struct window_stay **stays;
	size_t cnt;
};

static void put_place(struct span_window *window, const struct window_stay *of, uint64_t from_ns, size_t span)
{
	struct window_place *last = window->place_cnt > 0 ? &window->places[window->place_cnt - 1] : NULL;

	if (last && last->pid == of->pid && last->tid == of->tid && last->from_ns == from_ns)
		last->span = span;
	else
		window->places[window->place_cnt++] = (struct window_place){ of->pid, of->tid, from_ns,
									     span };
}

/*
 * Leaves all that have ended by until_ns, from the top: each uncovers the last one below that is still there.
 */
static void leave(struct span_window *window, struct stack *stack, uint64_t until_ns)
{
	while (stack->cnt > 0 && stack->stays[stack->cnt - 1]->exit_ns <= until_ns) {
		const struct window_stay *left = stack->stays[--stack->cnt];

		while (stack->cnt > 0 && stack->stays[stack->cnt - 1]->exit_ns <= left->exit_ns)
			stack->cnt--;
		put_place(window, left, left->exit_ns,
			  stack->cnt > 0 ? stack->stays[stack->cnt - 1]->span : WINDOW_NO_SPAN);
	}
}

int window_make_places(struct span_window *window)
{
	struct stack stack = { calloc(window->stay_cnt + 1, sizeof(const struct window_stay *)), 0 };

	window->places = calloc(2 * window->stay_cnt + 1, sizeof(*window->places));
	if (!stack.stays || !window->places) {
		free(stack.stays);
		return -ENOMEM;
	}
	qsort(window->stays, window->stay_cnt, sizeof(*window->stays), compare_stays);
	for (size_t i = 0; i < window->stay_cnt; i++) {
		const struct window_stay *stay = &window->stays[i];

		if (stack.cnt > 0 && (stack.stays[0]->pid != stay->pid || stack.stays[0]->tid != stay->tid))
			leave(window, &stack, UINT64_MAX);
		leave(window, &stack, stay->enter_ns);
		if (stay->span == WINDOW_NO_SPAN || stay->exit_ns <= stay->enter_ns)
			continue;
		put_place(window, stay, stay->enter_ns, stay->span);
		stack.stays[stack.cnt++] = stay;
	}
	leave(window, &stack, UINT64_MAX);
	free(stack.stays);
	return 0;
}

size_t span_window_place(const struct span_window *window, uint32_t pid, uint32_t tid, uint64_t time_ns,
			 uint64_t *since_ns)
{
	size_t low = 0, high = window->place_cnt;
	const struct window_place *place;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		place = &window->places[middle];
		if (place->pid < pid ||
		    (place->pid == pid &&
		     (place->tid < tid || (place->tid == tid && place->from_ns < time_ns))))
			low = middle + 1;
		else
			high = middle;
	}
	place = low > 0 ? &window->places[low - 1] : NULL;
	*since_ns = 0;
	if (!place || place->pid != pid || place->tid != tid)
		return WINDOW_NO_SPAN;
	*since_ns = place->from_ns;
	return place->span;
}
