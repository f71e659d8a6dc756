/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/flight/flight_rules.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"

#define LEAST_BYTES (1u << 20)

/* 30s is a time, 64M a size: by their last letters. */
static int take_one(struct flight_rules *rules, const char *value)
{
	size_t length = strlen(value);
	uint64_t number;

	if (!length || isdigit((unsigned char)value[length - 1]))
		return -EINVAL;
	if (!units_parse_duration(value, &number)) {
		rules->span_ns = number;
		return number ? 0 : -EINVAL;
	}
	if (units_parse_size(value, &number) || number < LEAST_BYTES)
		return -EINVAL;
	rules->max_bytes = number;
	return 0;
}

int flight_rules_take_size(struct flight_rules *rules, const char *value)
{
	const char *comma = strchr(value, ',');
	char first[64];
	int err;

	rules->max_bytes = rules->span_ns = 0;
	if (!comma) {
		err = take_one(rules, value);
	} else if ((size_t)(comma - value) >= sizeof(first)) {
		return -EINVAL;
	} else {
		memcpy(first, value, (size_t)(comma - value));
		first[comma - value] = '\0';
		err = take_one(rules, first);
		if (!err)
			err = take_one(rules, comma + 1);
	}
	if (!err && !rules->max_bytes)
		rules->max_bytes = FLIGHT_DEFAULT_BYTES;
	return err;
}

int flight_rules_take_max(struct flight_rules *rules, const char *value)
{
	static const struct {
		const char *unit;
		uint64_t ns;
	} units[] = { { "/s", 1000000000u },
		      { "/m", 60000000000u },
		      { "/h", 3600000000000u },
		      { "/d", 86400000000000u } };
	char *end;
	unsigned long cnt;

	if (!isdigit((unsigned char)*value))
		return -EINVAL;
	errno = 0;
	cnt = strtoul(value, &end, 10);
	if (errno || cnt > 1000)
		return -EINVAL;
	rules->max_cnt = cnt;
	if (!cnt && !*end)
		return 0;
	for (size_t i = 0; cnt && i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(end, units[i].unit) != 0)
			continue;
		rules->per_ns = units[i].ns;
		return 0;
	}
	return -EINVAL;
}

int flight_rules_parse(struct flight_rules *rules, struct error *error)
{
	for (size_t i = 0; i < rules->text_cnt; i++) {
		struct error why;
		int err;

		if (strcmp(rules->texts[i], "exit") == 0) {
			rules->at_exit = true;
			continue;
		}
		err = trigger_rule_parse(&rules->rules[rules->rule_cnt], rules->texts[i], &why);
		if (err) {
			error_set(error, "--trigger '%s': %s", rules->texts[i], why.text);
			return err;
		}
		rules->rule_cnt++;
	}
	rules->at_exit |= !rules->text_cnt;
	return 0;
}

void flight_rules_release(struct flight_rules *rules)
{
	while (rules->rule_cnt)
		trigger_rule_free(rules->rules[--rules->rule_cnt]);
}

const struct trigger_rule *flight_rules_find(const struct flight_rules *rules,
					     const struct txtrace_span *span)
{
	for (size_t i = 0; i < rules->rule_cnt; i++)
		if (trigger_rule_holds(rules->rules[i], span))
			return rules->rules[i];
	return NULL;
}
