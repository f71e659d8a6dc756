/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/flight/flight_recorder.h"

#include <stdlib.h>
#include <string.h>

#define LABEL_MAX 256

struct flight_recorder {
	const struct flight_rules *rules;
	struct txtrace_trigger trigger; /* that waits for its file; cause 0: none does */
	char label[LABEL_MAX];
	uint64_t *times_ns; /* of the last max_cnt triggers that were spans: a ring */
	uint64_t time_cnt;
	uint64_t missed_cnt;
	uint64_t missed_told_cnt;
};

struct flight_recorder *flight_recorder_new(const struct flight_rules *rules)
{
	struct flight_recorder *flight = calloc(1, sizeof(*flight));

	if (!flight)
		return NULL;
	flight->rules = rules;
	flight->times_ns = calloc(rules->max_cnt + 1, sizeof(*flight->times_ns));
	if (flight->times_ns)
		return flight;
	free(flight);
	return NULL;
}

void flight_recorder_free(struct flight_recorder *flight)
{
	if (!flight)
		return;
	free(flight->times_ns);
	free(flight);
}

/* Takes one of those that are allowed. */
static bool is_allowed(struct flight_recorder *flight, uint64_t time_ns)
{
	uint64_t max_cnt = flight->rules->max_cnt, *oldest_ns;

	if (!max_cnt)
		return true;
	oldest_ns = &flight->times_ns[flight->time_cnt % max_cnt];
	if (flight->time_cnt >= max_cnt && time_ns < *oldest_ns + flight->rules->per_ns)
		return false;
	*oldest_ns = time_ns;
	flight->time_cnt++;
	return true;
}

void flight_recorder_see(struct flight_recorder *flight, const struct txtrace_span *span)
{
	const struct trigger_rule *rule = flight->trigger.cause ? NULL
								: flight_rules_find(flight->rules, span);
	size_t length = span->label.length < LABEL_MAX ? span->label.length : LABEL_MAX;

	if (!rule)
		return;
	if (!is_allowed(flight, span->end_ns)) {
		flight->missed_cnt++;
		return;
	}
	if (length)
		memcpy(flight->label, span->label.bytes, length);
	flight->trigger = (struct txtrace_trigger){
		.time_ns = span->end_ns,
		.span = span->id,
		.pid = span->pid,
		.tid = span->tid,
		.cause = TXTRACE_TRIGGER_SPAN,
		.is_keyed = span->flags & TXTRACE_SPAN_KEYED,
		.rule = { trigger_rule_text(rule), strlen(trigger_rule_text(rule)) },
		.label = { flight->label, length },
		.wall_ns = span->end_ns > span->begin_ns ? span->end_ns - span->begin_ns : 0,
	};
}

void flight_recorder_request(struct flight_recorder *flight, uint64_t now_ns)
{
	if (!flight->trigger.cause)
		flight->trigger = (struct txtrace_trigger){ .time_ns = now_ns,
							    .cause = TXTRACE_TRIGGER_REQUEST };
}

bool flight_recorder_end(struct flight_recorder *flight, uint64_t now_ns)
{
	if (!flight->trigger.cause && flight->rules->at_exit)
		flight->trigger = (struct txtrace_trigger){ .time_ns = now_ns,
							    .cause = TXTRACE_TRIGGER_EXIT };
	return flight->trigger.cause;
}

bool flight_recorder_is_due(const struct flight_recorder *flight, uint64_t now_ns, uint64_t lag_ns)
{
	uint64_t after_ns = flight->rules->after_ns;

	if (!flight->trigger.cause || now_ns < flight->trigger.time_ns)
		return false;
	return now_ns - flight->trigger.time_ns >= after_ns + (after_ns ? lag_ns : 0);
}

void flight_recorder_take(struct flight_recorder *flight, struct txtrace_record *record)
{
	record->kind = TXTRACE_RECORD_TRIGGER;
	record->trigger = flight->trigger;
	record->trigger.missed_cnt = flight->missed_cnt - flight->missed_told_cnt;
	flight->missed_told_cnt = flight->missed_cnt;
	flight->trigger.cause = TXTRACE_TRIGGER_UNKNOWN;
}

uint64_t flight_recorder_missed_cnt(const struct flight_recorder *flight)
{
	return flight->missed_cnt;
}
