/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/units.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

struct unit {
	const char *name;
	uint64_t factor;
};

static const struct unit size_units[] = {
	{ "", 1 },
	{ "B", 1 },
	{ "K", 1ull << 10 }, { "KiB", 1ull << 10 }, { "k", 1ull << 10 },
	{ "M", 1ull << 20 }, { "MiB", 1ull << 20 }, { "m", 1ull << 20 },
	{ "G", 1ull << 30 }, { "GiB", 1ull << 30 }, { "g", 1ull << 30 },
	{ "T", 1ull << 40 }, { "TiB", 1ull << 40 },
	{ NULL, 0 },
};

static const struct unit duration_units[] = {
	{ "", 1000000000 },   { "ns", 1 },
	{ "us", 1000 },       { "\xc2\xb5s", 1000 }, /* micro sign */
	{ "\xce\xbcs", 1000 }, /* Greek mu */
	{ "ms", 1000000 },    { "s", 1000000000 },
	{ "m", 60000000000 }, { "h", 3600000000000 },
	{ NULL, 0 },
};

static const struct unit no_units[] = { { "", 1 }, { NULL, 0 } };

/* Reads digits into *value; returns what follows them, NULL if there is none or it overflows. */
static const char *parse_digits(const char *text, uint64_t *value)
{
	const char *c = text;

	*value = 0;
	while (*c >= '0' && *c <= '9') {
		if (__builtin_mul_overflow(*value, (uint64_t)10, value) ||
		    __builtin_add_overflow(*value, (uint64_t)(*c - '0'), value))
			return NULL;
		c++;
	}
	return c;
}

/*
 * Integers throughout, so that 0.1s is 100000000 ns and not one less. Digits behind the point that exceed the
 * unit are dropped.
 */
static int parse(const char *text, const struct unit *units, bool may_have_fraction, uint64_t *value)
{
	uint64_t whole, fraction = 0, scale = 1, part;
	const char *rest = parse_digits(text, &whole);

	if (!rest)
		return -ERANGE;
	if (rest == text)
		return -EINVAL;
	if (*rest == '.' && may_have_fraction) {
		const char *digit = rest + 1;

		for (; *digit >= '0' && *digit <= '9'; digit++) {
			if (scale >= 1000000)
				continue;
			fraction = fraction * 10 + (uint64_t)(*digit - '0');
			scale *= 10;
		}
		if (digit == rest + 1)
			return -EINVAL;
		rest = digit;
	}
	for (const struct unit *unit = units; unit->name; unit++) {
		if (strcmp(unit->name, rest) != 0)
			continue;
		if (__builtin_mul_overflow(fraction, unit->factor, &part) ||
		    __builtin_mul_overflow(whole, unit->factor, value) ||
		    __builtin_add_overflow(*value, part / scale, value))
			return -ERANGE;
		return 0;
	}
	return -EINVAL;
}

int units_parse_u64(const char *text, uint64_t *value)
{
	return parse(text, no_units, false, value);
}

int units_parse_size(const char *text, uint64_t *bytes)
{
	return parse(text, size_units, true, bytes);
}

int units_parse_duration(const char *text, uint64_t *ns)
{
	return parse(text, duration_units, true, ns);
}

char *units_format_count(char buffer[static UNITS_SIZE], uint64_t count)
{
	char digits[UNITS_SIZE];
	int length = snprintf(digits, sizeof(digits), "%" PRIu64, count), out = 0;

	for (int i = 0; i < length; i++) {
		if (i > 0 && (length - i) % 3 == 0)
			buffer[out++] = ',';
		buffer[out++] = digits[i];
	}
	buffer[out] = '\0';
	return buffer;
}

/* Three significant digits of value / factor, cut and not rounded up into the next unit. */
static char *format_scaled(char *buffer, uint64_t value, uint64_t factor, const char *unit)
{
	uint64_t whole = value / factor, rest = value % factor;
	char count[UNITS_SIZE];
	unsigned int hundredths = (unsigned int)((double)rest / (double)factor * 100.0);

	if (factor == 1 || whole >= 100)
		snprintf(buffer, UNITS_SIZE, "%s %s", units_format_count(count, whole), unit);
	else if (whole >= 10)
		snprintf(buffer, UNITS_SIZE, "%" PRIu64 ".%u %s", whole, hundredths / 10, unit);
	else
		snprintf(buffer, UNITS_SIZE, "%" PRIu64 ".%02u %s", whole, hundredths, unit);
	return buffer;
}

/* The largest unit that is not larger than the value. The units go down and end with a factor of 1. */
static char *format_with(char *buffer, uint64_t value, const struct unit *unit)
{
	while (value < unit->factor && unit->factor > 1)
		unit++;
	return format_scaled(buffer, value, unit->factor, unit->name);
}

char *units_format_duration(char buffer[static UNITS_SIZE], uint64_t ns)
{
	static const struct unit units[] = {
		{ "s", 1000000000 }, { "ms", 1000000 }, { "\xc2\xb5s", 1000 }, { "ns", 1 }
	};

	if (ns == 0)
		return strcpy(buffer, "0");
	return format_with(buffer, ns, units);
}

char *units_format_size(char buffer[static UNITS_SIZE], uint64_t bytes)
{
	static const struct unit units[] = {
		{ "TiB", 1ull << 40 },
		{ "GiB", 1ull << 30 },
		{ "MiB", 1ull << 20 },
		{ "KiB", 1ull << 10 },
		{ "B", 1 },
	};

	return format_with(buffer, bytes, units);
}

char *units_format_share(char buffer[static UNITS_SIZE], uint64_t part, uint64_t whole)
{
	double percent = whole ? 100.0 * ((double)part / (double)whole) : 0;

	if (whole == 0)
		buffer[0] = '\0';
	else if (part > 0 && percent < 0.1)
		strcpy(buffer, "<0.1 %");
	else
		snprintf(buffer, UNITS_SIZE, "%.1f %%", percent);
	return buffer;
}
