/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Command line options as a table: one entry parses, checks, complains and
 * explains an option.
 *
 *	struct spans_options { bool wants_json; uint64_t limit; unsigned int sort; };
 *
 *	static const struct option_spec specs[] = {
 *		OPTION("limit", 'n', OPTION_U64, "N", "show N spans (default 20)", offsetof(struct
 *		spans_options, limit), .minimum = 1),
 *		OPTION("sort", 0, OPTION_CHOICE, "KEY", "what to sort by", offsetof(struct spans_options,
 *		sort), .choices = keys),
 *		OPTION("json", 0, OPTION_FLAG, NULL, "write JSON", offsetof(struct spans_options,
 *		wants_json)),
 *		OPTION_END,
 *	};
 *	static const struct options options = {
 *		.program = "txtrace spans", .about = "The slowest spans.", .usages = (const char *const[]){
 *		"FILE", NULL },
 *		.specs = specs, .operand = "FILE", .operand_min = 1, .operand_max = 1,
 *	};
 *
 *	struct spans_options values = { .limit = 20 };      defaults are what is there before
 *	struct options_result result;
 *
 *	if (options_parse(&options, argc, argv, &values, &result))
 *		complain(result.error);                     one sentence
 *	else if (result.wants_help)
 *		options_print_help(&options, stdout);
 *
 * Options and operands may come in any order. A value comes as --limit=5,
 * --limit 5, -n5 or -n 5; short flags may be put together (-qv). An option that
 * is given twice counts the last time; a list is an OPTION_CALL. Everything
 * behind "--" is an operand, or the command, if the program takes one. -h and
 * --help are always there; --version is if `version` is set; whichever comes
 * first ends the parsing. There are no abbreviations: scripts would break by a
 * new option.
 */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum option_type {
	OPTION_FLAG = 1, /* bool, set to true */
	OPTION_STRING,   /* const char *, pointing into argv */
	OPTION_U64,      /* uint64_t */
	OPTION_SIZE,     /* uint64_t, bytes: 4096, 64K, 1.5M, 2G */
	OPTION_DURATION, /* uint64_t, ns: 250ns, 10us, 5ms, 1.5s, 2m; a bare number is seconds */
	OPTION_CHOICE,   /* unsigned int, the index in `choices` */
	OPTION_CALL,     /* whatever `call` does with it */
	/* struct option_file: a file of options, which count as if they stood here, on the command line */
	OPTION_FILE,
};

/*
 * A file of options: one a line, as "name", "name value" or "name = value"; a
 * line that begins with # is a comment. The fields of the values point into
 * text, which the caller frees when it is done with them. All zero before.
 */
struct option_file {
	const char *path;
	char *text;
};

/*
 * Takes one value of an OPTION_CALL (NULL if its `argument` is NULL) into the
 * caller's values: it gets what stands at the offset. On failure a negative errno, and
 * *complaint says what a value must be, as in "option '--pid' takes <complaint>, not 'x'"; static, or living
 * in the values.
 */
typedef int (*option_call)(void *values, const char *value, const char **complaint);

struct option_spec {
	const char *name; /* without the dashes; the same word as the field and the man page's heading */
	char letter;      /* or 0 */
	enum option_type type;
	const char *argument; /* "FILE"; NULL for a flag */
	const char *help;     /* a phrase in lower case; wrapped where it is printed. Says the default. */
	size_t offset;        /* of the field in the values */
	uint64_t minimum;     /* numbers, sizes (bytes), durations (ns) */
	uint64_t maximum;     /* 0: none */
	/* CHOICE; ends with NULL; or, when they stand in somebody else's table, */
	const char *const *choices;
	const char *(*choice_at)(size_t idx); /* NULL behind the last */
	option_call call;
	bool is_hidden; /* parsed, not listed */
};

/*
 * The entries of a table. An OPTION_CALL with the offset 0 gets all values;
 * behind it comes what else there is: .minimum = 1, .choices = keys.
 */
#define OPTION(name_, letter_, type_, argument_, help_, offset_, ...)					\
	{ .name = name_, .letter = letter_, .type = type_, .argument = argument_, .help = help_, \
	.offset = offset_, ##__VA_ARGS__ }
#define OPTION_GROUP(heading) { .help = heading } /* stands above the options that follow */
#define OPTION_END { .name = NULL }

struct option_example {
	const char *command;
	const char *help;
};

struct options {
	const char *program; /* "txtrace spans" */
	const char *about;   /* a sentence or a few; may be NULL */
	const char *version; /* NULL: no --version */
	const char *const *usages; /* what comes behind "program [OPTION…]", a line each; ends with NULL */
	const struct option_spec *specs;
	const struct option_example *examples; /* ends with .command = NULL; may be NULL */
	/* paragraphs at the end (exit status, …); ends with NULL; may be NULL */
	const char *const *notes;
	const char *operand; /* "FILE": what it is called when it is missing */
	int operand_min;
	int operand_max;    /* -1: any number */
	bool takes_command; /* what comes behind "--" is a command and no operand */
};

#define OPTIONS_ERROR_SIZE 640

struct options_result {
	char **operands; /* these point into argv, which was reordered */
	int operand_cnt;
	char **command; /* NULL: there was no "--", or the program takes no command */
	int command_cnt;
	bool wants_help; /* then nothing else is to be looked at */
	bool wants_version;
	/* after a failure: a sentence. It may quote argv: escape it before a terminal. */
	char error[OPTIONS_ERROR_SIZE];
};

/* argv[0] is skipped. 0, or -EINVAL and result->error. */
int options_parse(const struct options *options, int argc, char **argv, void *values,
		  struct options_result *result);

/* The idx-th choice of an OPTION_CHOICE; NULL behind the last. */
const char *option_choice(const struct option_spec *spec, size_t idx);

/* Usage, about, options, examples, notes: for at most 100 columns. */
void options_print_help(const struct options *options, FILE *file);

#endif
