/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The driver of all commands that sum up a log: it parses the options, opens
 * the log, reads it once or twice, and prints what came out as text, CSV or
 * JSON. A command is its columns, and what is special about it:
 *
 *	const struct command command_workers = { "workers", "...", &options, .analysis = &workers };
 *
 * Its values begin with a struct analysis_options. With --columns, and with
 * --sort unless `sorts_text`, the text is a plain table of the columns.
 */
#ifndef ANALYSIS_H
#define ANALYSIS_H

#include "cli/cli.h"
#include "cli/files/log_input.h"
#include "cli/files/log_scope.h"
#include "cli/print/column.h"

/* ---- options that commands share; each takes those that mean something to it ---- */

struct analysis_options {
	uint64_t limit; /* rows of text; 0: all */
	uint64_t max_memory_bytes;
	const char *label; /* a pattern: other spans are left out */
	unsigned int nest;
	const char *columns;
	const char *sort;
	bool wants_csv;
	bool wants_json;
	bool wants_html;
	bool wants_markdown;
	struct log_scope scope;
};

#define OPTION_COMMON(name_, letter_, type_, argument_, help_, member_, ...)                        \
	OPTION(name_, letter_, type_, argument_, help_, offsetof(struct analysis_options, member_), \
	       ##__VA_ARGS__)

#define OPTION_LIMIT(help_) OPTION_COMMON("limit", 'n', OPTION_U64, "N", help_, limit)
#define OPTION_MEMORY(help_) \
	OPTION_COMMON("max-memory", 0, OPTION_SIZE, "SIZE", help_, max_memory_bytes, .minimum = 1 << 16)
#define OPTION_LABEL(help_) OPTION_COMMON("label", 'l', OPTION_STRING, "GLOB", help_, label)
#define OPTION_SORT                                                                                         \
	OPTION_COMMON("sort", 's', OPTION_STRING, "COLUMN",                                                 \
		      "rows with the most of it first, names in their order; -COLUMN: the other way round", \
		      sort)

/* What is printed, and which part of the log is read. All analyses have these. */
#define OPTIONS_OUTPUT(json_help)                                                                          \
	OPTION_COMMON("columns", 'c', OPTION_STRING, "NAME,\xe2\x80\xa6",                                  \
		      "a plain table of these columns; a wrong name lists those that there are", columns), \
		OPTION_COMMON("csv", 0, OPTION_FLAG, NULL, "write CSV, with all rows; times are in ns",    \
			      wants_csv),                                                                  \
		OPTION_COMMON("json", 0, OPTION_FLAG, NULL, json_help, wants_json),                        \
		OPTION_COMMON("html", 0, OPTION_FLAG, NULL, "write a page for a browser", wants_html),      \
		OPTION_COMMON("markdown", 0, OPTION_FLAG, NULL, "write Markdown, as for a pull request",    \
			      wants_markdown),                                                             \
		OPTIONS_SCOPE(struct analysis_options, scope)

/* ---- the rows ---- */

struct row_list {
	const void **rows;
	size_t cnt;
	size_t size;
	bool are_made; /* all of them, by row_list_make() */
	int err;
};

void row_list_add(struct row_list *list, const void *row); /* which lives as long as the analysis */

/* A row of its own, all zero, to be filled in. NULL: no memory, which list->err says. */
void *row_list_make(struct row_list *list, size_t bytes);

/* ---- an analysis ---- */

struct analysis_run {
	struct cli *cli;
	const struct analysis *analysis;
	const void *values;		       /* the options */
	const struct analysis_options *common; /* the same */
	struct log_input *input;	       /* of the first reading */
	const struct log_census *census; /* what the JSON document says of the log: the input's, or another */
	void *state;
	const void *context;	     /* of the columns; this, unless new() sets another */
	bool is_plain;		     /* the rows come as they are: CSV, or a table or JSON of columns */
	struct column_choice choice; /* of columns that are shown */
	struct row_list list;
	size_t shown_cnt; /* of the rows, in the text */
	unsigned int variant;
	const struct column *sort; /* NULL: rows are in the usual order */
};

/* One reading of the log. Each may be NULL; 0 or a negative errno. */
struct analysis_pass {
	int (*begin_capture)(struct analysis_run *run); /* what follows is of another capture */
	int (*add)(struct analysis_run *run, const struct txtrace_record *record);
	int (*finish)(struct analysis_run *run);
};

#define ANALYSIS_VARIANTS_MAX 4

struct analysis {
	const char *type; /* of the JSON document: "blocked" */
	/* of its member with the rows, by variant; NULL: head_json() writes what there is instead */
	const char *rows_names[ANALYSIS_VARIANTS_MAX];
	const char *what; /* "sum up the waits of": what can't be done when something fails */
	/* "no spans": the text without rows; neither: the titles alone */
	const char *no_rows;
	const char *(*why_no_rows)(const struct analysis_run *run);
	/* "12 more labels with less of it: …": what stands before the number, and behind "more" */
	const char *before_more, *more;
	const struct column *columns;
	bool sorts_text;      /* text() shows the rows in the order of --sort */
	bool sorts_itself;    /* --sort is the command's own */
	bool takes_all_spans; /* --label is the command's own */
	bool spans_only;      /* add() gets no other records */
	bool limits_itself;   /* rows() gives no more than are to be shown */
	bool has_no_title;
	bool has_own_foot; /* text() says what was lost */
	bool has_own_json; /* row_json() writes all of a row */
	bool is_compact;   /* JSON, with line breaks where head_json() puts them */
	bool finds_spans;  /* see struct log_scope */

	/* NULL: this one. Or another one, by the options; NULL: a sentence was said. */
	const struct analysis *(*choose)(struct cli *cli, void *values);
	void *(*new)(struct analysis_run *run); /* the state. NULL: no memory */
	void (*free)(void *state);
	/*
	 * A reading before the others, of all records of the whole log, for what only its end tells; NULL:
	 * it is never needed.
	 */
	bool (*needs_survey)(const struct analysis_run *run);
	struct analysis_pass survey;
	struct analysis_pass passes[2];
	bool (*has_column)(const struct analysis_run *run, const struct column *column); /* NULL: has all */
	int (*rows)(struct analysis_run *run, struct row_list *list);
	/* of the JSON document: what a row has besides its columns; NULL: nothing */
	void (*row_json)(const struct analysis_run *run, const void *row, struct json *json);

	/* The text between title and losses. NULL: the table, then notes(). */
	int (*text)(struct analysis_run *run);
	int (*notes)(struct analysis_run *run);				/* below a table; NULL: nothing */
	int (*foot)(struct analysis_run *run, struct table *table);	/* lines before those about losses */
	void (*head_json)(struct analysis_run *run, struct json *json); /* members before the rows */
	void (*tail_json)(struct analysis_run *run, struct json *json); /* and behind them */
	size_t values_bytes;
	const void *defaults;  /* of the values */
	size_t variant_offset; /* of an unsigned int of the values, which says what rows are; 0: none does */
};

/* Returns enum cli_status. */
int analysis_main(struct cli *cli, const struct analysis *analysis, const struct options *options, int argc,
		  char **argv);

/* For text(): the line about rows that are not shown. */
void analysis_print_more(struct analysis_run *run, uint64_t hidden_cnt);

#endif
