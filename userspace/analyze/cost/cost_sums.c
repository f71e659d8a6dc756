/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/cost/cost_sums.h"

#include <string.h>

#include "analyze/capture_scope.h"
#include "base/saturating.h"

const char *const cost_class_names[COST_CLASS_COUNT] = {
	[COST_SPAN] = "span", [COST_KEY] = "key", [COST_TEXT] = "text", [COST_MARK] = "mark",
	[COST_SWITCH] = "switch", [COST_WAKE] = "wake", [COST_OTHER] = "other",
};

static const struct {
	const char *event;
	enum cost_class of;
} events[] = {
	{ "begin", COST_SPAN },	   { "begin_detached", COST_SPAN },
	{ "enter", COST_SPAN },	   { "leave", COST_SPAN },
	{ "end", COST_SPAN },	   { "key_begin", COST_KEY },
	{ "key_enter", COST_KEY }, { "key_leave", COST_KEY },
	{ "key_end", COST_KEY },   { "key_instant", COST_KEY },
	{ "tag", COST_TEXT },	   { "attr", COST_TEXT },
	{ "instant", COST_MARK },  { "counter", COST_MARK },
	{ "link", COST_MARK },	   { "switch", COST_SWITCH },
	{ "wake", COST_WAKE },
};

static enum cost_class class_of(const struct txtrace_string *event)
{
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		if (strlen(events[i].event) == event->length &&
		    memcmp(events[i].event, event->bytes, event->length) == 0)
			return events[i].of;
	return COST_OTHER;
}

static uint64_t times(uint64_t a, uint64_t b)
{
	uint64_t product;

	return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/*
 * The runs that sent something, without those that found nothing to send, and without what timing says of an
 * empty one.
 */
static uint64_t body_ps(const struct txtrace_cost *cost)
{
	uint64_t idle_cnt = less(cost->timed_run_cnt, cost->timed_event_cnt);
	uint64_t idle_ps = times(idle_cnt, cost->idle_run_ps ? cost->idle_run_ps : cost->empty_run_ps);

	return less(times(cost->timed_run_ns, 1000),
		    add_saturating(idle_ps, times(cost->timed_event_cnt, cost->empty_run_ps)));
}

static void add_recorder(struct cost_sums *sums, const struct txtrace_cost *cost)
{
	increase(&sums->event_cnt, cost->event_cnt);
	increase(&sums->observed_ns, less(cost->time_ns, cost->since_ns));
	increase(&sums->timing_ns, cost->timed_run_ns);
	increase(&sums->cpu_ns, cost->cpu_ns);
	increase(&sums->ring_bytes, cost->ring_bytes);
	increase(&sums->log_bytes, cost->log_bytes);
}

/* Spread over the events of spans: which of them were stepped is not known. */
static void add_steps(struct cost_sums *sums, const struct txtrace_cost *cost)
{
	increase(&sums->step_cnt, cost->event_cnt);
	increase(&sums->classes[COST_SPAN].entry_ps, times(cost->event_cnt, cost->entry_ps));
	sums->has_unknown_steps |= !cost->entry_ps;
}

void cost_sums_add(struct cost_sums *sums, const struct txtrace_cost *cost)
{
	struct cost_class_sums *of;

	sums->record_cnt++;
	if (!cost->event.length) {
		add_recorder(sums, cost);
		return;
	}
	if (cost->entry == TXTRACE_COST_ENTRY_STEP) {
		add_steps(sums, cost);
		return;
	}
	of = &sums->classes[class_of(&cost->event)];
	increase(&of->event_cnt, cost->event_cnt);
	if (cost->entry_ps || cost->entry == TXTRACE_COST_ENTRY_WITHIN) {
		increase(&of->entered_cnt, cost->event_cnt);
		increase(&of->entry_ps, times(cost->event_cnt, cost->entry_ps));
	}
	increase(&of->timed_event_cnt, cost->timed_event_cnt);
	increase(&of->body_ps, cost->timed_event_cnt ? body_ps(cost) : 0);
	if (cost->calibration_cnt > of->calibration_cnt)
		of->calibration_cnt = cost->calibration_cnt;
	if (cost->entry == TXTRACE_COST_ENTRY_MEMORY)
		increase(&of->memory_cnt, cost->event_cnt);
	of->entries |= cost->entry < 8 ? 1u << cost->entry : 0;
}

static uint64_t share(uint64_t value, uint64_t part, uint64_t whole)
{
	return (uint64_t)((unsigned __int128)value * part / whole);
}

struct cost_price cost_sums_price(const struct cost_sums *sums, enum cost_class of)
{
	const struct cost_class_sums *class = &sums->classes[of];
	struct cost_price price = { .has_entry = class->entered_cnt > 0,
				    .has_body = class->timed_event_cnt > 0 ||
						(class->event_cnt && class->event_cnt == class->memory_cnt) };

	price.entry_ps = price.has_entry ? class->entry_ps / class->entered_cnt : 0;
	price.body_ps = class->timed_event_cnt ? class->body_ps / class->timed_event_cnt : 0;
	if (class->memory_cnt)
		price.body_ps = share(price.body_ps, class->event_cnt - class->memory_cnt, class->event_cnt);
	return price;
}

uint64_t cost_sums_cost_ps(const struct cost_sums *sums, enum cost_class of, uint64_t cnt)
{
	struct cost_price price = cost_sums_price(sums, of);

	return times(cnt, add_saturating(price.entry_ps, price.body_ps));
}

uint64_t cost_sums_total_ns(const struct cost_sums *sums)
{
	uint64_t ps = 0;

	for (enum cost_class of = 0; of < COST_CLASS_COUNT; of++)
		increase(&ps, cost_sums_cost_ps(sums, of, sums->classes[of].event_cnt));
	return ps / 1000;
}

void cost_sums_see_capture(struct cost_sums *sums, const struct txtrace_log_info *info)
{
	struct capture_scope scope;

	capture_scope_read(&scope, info);
	sums->has_silent_runs = capture_scope_has_silent_runs(&scope);
}

bool cost_sums_is_whole(const struct cost_sums *sums)
{
	if (sums->has_silent_runs || sums->has_unknown_steps)
		return false;
	for (enum cost_class of = 0; of < COST_CLASS_COUNT; of++) {
		struct cost_price price = cost_sums_price(sums, of);

		if (sums->classes[of].event_cnt && of != COST_OTHER && (!price.has_entry || !price.has_body))
			return false;
	}
	return true;
}
