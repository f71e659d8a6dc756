/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Command lines of the test programs: a table says what there is. Every option
 * is `--name VALUE`. A bad one ends the program with a sentence on stderr and
 * status 2; --help prints the table and ends with 0.
 */
#ifndef PROGRAM_OPTIONS_H
#define PROGRAM_OPTIONS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

/* Exactly one of count, real and text is set: where the value goes. min and max bound the first two. */
struct option_spec {
	const char *name;
	const char *help;
	uint64_t *count;
	double *real;
	const char **text;
	double min;
	double max;
};

static inline void options_help(const struct option_spec *table, size_t option_cnt, const char *what)
{
	printf("%s\n", what);
	for (size_t i = 0; i < option_cnt; i++) {
		printf("  --%-14s %s", table[i].name, table[i].help);
		if (table[i].count)
			printf(" [%llu]", (unsigned long long)*table[i].count);
		else if (table[i].real)
			printf(" [%g]", *table[i].real);
		putchar('\n');
	}
}

static inline void options_store(const struct option_spec *spec, const char *value)
{
	if (spec->text) {
		*spec->text = value;
		return;
	}
	char *rest;
	double number = strtod(value, &rest);
	if (rest == value || *rest || !(number >= spec->min && number <= spec->max)) {
		fprintf(stderr, "--%s takes a number from %.0f to %.0f, not \"%s\"\n", spec->name, spec->min,
			spec->max, value);
		exit(2);
	}
	if (spec->count)
		*spec->count = (uint64_t)number;
	else
		*spec->real = number;
}

static inline void options_parse(const struct option_spec *table, size_t option_cnt, const char *what,
				 int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		const struct option_spec *found = NULL;
		if (!strcmp(argv[i], "--help")) {
			options_help(table, option_cnt, what);
			exit(0);
		}
		for (size_t k = 0; k < option_cnt && !strncmp(argv[i], "--", 2); k++)
			if (!strcmp(argv[i] + 2, table[k].name))
				found = &table[k];
		if (!found || i + 1 == argc) {
			fprintf(stderr,
				found ? "option \"%s\" lacks its value: see --help\n"
				      : "unknown option \"%s\": see --help\n",
				argv[i]);
			exit(2);
		}
		options_store(found, argv[++i]);
	}
}

/* No test program outlives the shell or tool that started it. */
static inline void end_with_parent(int signal_nr)
{
	prctl(PR_SET_PDEATHSIG, signal_nr);
}

#endif
