/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analyze/span/span_top.h"
#include "base/clock.h"
#include "base/units.h"
#include "cli/commands/command.h"
#include "cli/commands/fleet_options.h"
#include "cli/print/column.h"
#include "cli/print/fleet_columns.h"
#include "cli/print/tail_print.h"
#include "fleet/fleet_diff.h"
#include "fleet/fleet_query.h"
#include "fleet/fleet_schema.h"

#define DEFAULT_PERCENTILE 99.0

struct fleet_options {
	struct fleet_server_options server;
	struct fleet_choice choice;
	uint64_t limit;
	const char *columns;
	const char *cluster;
	unsigned int by;
	unsigned int sort;
	double percentile;
	bool is_exact;
	bool wants_csv;
	bool wants_json;
};

/* ---- options ---- */

/* "2h": so long ago; "2026-11-29 07:00" or "2026-11-29T07:00:00Z": then, in UTC. */
static int parse_moment(const char *value, uint64_t *moment_s)
{
	static const char *const formats[] = { "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%dT%H:%M:%S",
					       "%Y-%m-%d %H:%M",    "%Y-%m-%dT%H:%M",	  "%Y-%m-%d" };
	uint64_t ago_ns;

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		struct tm broken = { 0 };
		const char *end = strptime(value, formats[i], &broken);
		time_t moment = end && !*end ? timegm(&broken) : -1;

		if (moment > 0 && moment <= UINT32_MAX) {
			*moment_s = (uint64_t)moment;
			return 0;
		}
	}
	if (!strchr("0123456789", value[0]) || units_parse_duration(value, &ago_ns))
		return -EINVAL;
	*moment_s = clock_read_ns(CLOCK_REALTIME) / 1000000000 - ago_ns / 1000000000;
	return 0;
}

static int set_moment(void *at, const char *value, const char **complaint)
{
	*complaint = "a time ago, as in 2h, or one of UTC, as in '2026-11-29 07:00'";
	return parse_moment(value, at);
}

static int set_percentile(void *options, const char *value, const char **complaint)
{
	return tail_parse_percentile(&((struct fleet_options *)options)->percentile, value, complaint);
}

#define CHOICE(name_, letter_, argument_, help_, member_)       \
	OPTION(name_, letter_, OPTION_STRING, argument_, help_, \
	       offsetof(struct fleet_options, choice.member_))

static const struct option_spec specs[] = {
	FLEET_SERVER_OPTIONS(struct fleet_options),
	OPTION_GROUP("which spans (all but create)"),
	CHOICE("label", 'l', "GLOB", "only spans with such a label", label),
	CHOICE("host", 0, "GLOB", "only of such hosts", host),
	CHOICE("container", 0, "GLOB", "only of such containers", container),
	CHOICE("pod", 0, "GLOB", "only of such pods", pod),
	CHOICE("capture", 0, "GLOB", "only of such captures: 32 hexadecimal digits", capture),
	OPTION("since", 0, OPTION_CALL, "WHEN",
	       "only spans that ended then or later: a time ago, as in 2h, or one of UTC, as in '2026-11-29 "
	       "07:00'",
	       offsetof(struct fleet_options, choice.since_s), .call = set_moment),
	OPTION("until", 0, OPTION_CALL, "WHEN", "only spans that ended before that",
	       offsetof(struct fleet_options, choice.until_s), .call = set_moment),
	OPTION_GROUP("what is shown"),
	OPTION("by", 'b', OPTION_CHOICE, "KEY",
	       "report: a row for each label (the default), host, \xe2\x80\xa6",
	       offsetof(struct fleet_options, by), .choice_at = fleet_report_key),
	OPTION("sort", 's', OPTION_CHOICE, "BY", "spans: those with the most of it come first",
	       offsetof(struct fleet_options, sort), .choice_at = span_top_sort),
	OPTION("percentile", 0, OPTION_CALL, "P",
	       "tail: the slow spans are those at or above the P-th percentile (default 99)", 0,
	       .call = set_percentile),
	OPTION("exact", 0, OPTION_FLAG, NULL,
	       "exact percentiles: the server sorts all wall times; else they are estimates (t-digest)",
	       offsetof(struct fleet_options, is_exact)),
	OPTION("limit", 'n', OPTION_U64, "N", "show N rows (default 20; report: 100); 0: all",
	       offsetof(struct fleet_options, limit)),
	OPTION("columns", 'c', OPTION_STRING, "NAME,\xe2\x80\xa6",
	       "report, spans, diff: these columns; a wrong name lists those that there are",
	       offsetof(struct fleet_options, columns)),
	OPTION("csv", 0, OPTION_FLAG, NULL, "report, spans, diff: write CSV; times are in ns",
	       offsetof(struct fleet_options, wants_csv)),
	OPTION("json", 0, OPTION_FLAG, NULL, "write one JSON object",
	       offsetof(struct fleet_options, wants_json)),
	OPTION_GROUP("create"),
	OPTION("cluster", 0, OPTION_STRING, "NAME",
	       "make local tables and, over those of all servers of this cluster, distributed ones",
	       offsetof(struct fleet_options, cluster)),
	OPTION_END,
};

static const char *const notes[] = {
	"diff compares two sides, each one or more of host=GLOB, capture=GLOB, container=GLOB, pod=GLOB, "
	"since=WHEN and until=WHEN, separated by commas. A capture is a run: with five or more on each side "
	"it says which labels changed.",
	fleet_server_note,
	"Exit status: 0 it was answered; 1 it was answered, but something is missing: files that were "
	"removed before they were sent, are damaged, or lost events; 2 wrong usage, or no answer.",
	NULL,
};

static const struct options options = {
	.program = "txtrace fleet",
	.about = "Queries the logs that 'txtrace ship' sent to ClickHouse, as 'txtrace report', 'tail', "
		 "'spans' "
		 "and 'diff' query files. 'create' makes the database and its tables, once, on each server. "
		 "docs/fleet.md describes the tables.",
	.usages = (const char *const[]){ "create", "report", "tail", "spans", "diff BASE NEW", NULL },
	.specs = specs,
	.examples =
		(const struct option_example[]){
			{ "txtrace fleet --clickhouse http://db1:8123 create",
			  "The tables, before the first log." },
			{ "txtrace fleet --clickhouse http://db1:8123 report --since 1h",
			  "Where the last hour went, by label." },
			{ "txtrace fleet --clickhouse http://db1:8123 report --by host --label checkout",
			  "One label, by host." },
			{ "txtrace fleet --clickhouse http://db1:8123 diff until=2h since=2h",
			  "What changed two hours ago." },
			{ NULL, NULL },
		},
	.notes = notes,
	.operand = "ACTION",
	.operand_min = 1,
	.operand_max = 3,
};

/* ---- an action ---- */

struct fleet_run {
	struct cli *cli;
	struct fleet_options *values;
	struct clickhouse *server;
	char *const *operands; /* behind the action */
	const char *type;      /* of the JSON document: "fleet_report" */
	struct json json;
	bool has_json; /* it has begun */
	struct error error;
};

/* Not before there is an answer: who gets a sentence gets no half of a document. */
static void begin_json(struct fleet_run *run)
{
	cli_begin_json(run->cli, &run->json);
	json_object_begin(&run->json);
	json_member_text(&run->json, "type", run->type);
	run->has_json = true;
}

/* Those of --columns, or those that are not hidden; CSV has all. */
static int choose_columns(struct fleet_run *run, const struct column *columns, struct column_choice *choice)
{
	const struct fleet_options *values = run->values;
	struct text complaint = { 0 };
	int err = 0;

	if (!values->columns) {
		for (const struct column *column = columns; column->name; column++)
			if (values->wants_csv || !(column->flags & COLUMN_HIDDEN))
				choice->columns[choice->cnt++] = column;
		return 0;
	}
	err = column_choose(choice, columns, 0, values->columns, &complaint);
	if (err)
		error_set(&run->error, "--columns: %s", text_string(&complaint));
	text_release(&complaint);
	return err;
}

/* Rows as CSV, JSON or a table: which of their columns, and how many. */
static int print_rows(struct fleet_run *run, const struct column *columns, const void *context,
		      const void *const *rows, size_t cnt, uint64_t limit)
{
	const struct fleet_options *values = run->values;
	struct column_choice choice = { .key_title = fleet_report_key(values->by) };
	size_t shown = limit && limit < cnt ? limit : cnt;
	int err = choose_columns(run, columns, &choice);

	if (err)
		return err;
	if (values->wants_json) {
		begin_json(run);
		json_name(&run->json, "rows");
		json_array_begin(&run->json);
		for (size_t i = 0; i < cnt; i++) {
			json_object_begin(&run->json);
			for (const struct column *column = columns; column->name; column++)
				column_member_json(column, context, rows[i], &run->json);
			json_object_end(&run->json);
		}
		json_array_end(&run->json);
	} else if (values->wants_csv) {
		column_print_csv_names(&choice, run->cli->out.file);
		for (size_t i = 0; i < cnt && !err; i++)
			err = column_print_csv(&choice, context, rows[i], run->cli->out.file);
	} else {
		err = column_print_table(&choice, context, rows, shown, 0, &run->cli->out);
		if (cnt > shown)
			fprintf(run->cli->out.file, "%zu more rows: --limit 0 shows all\n", cnt - shown);
	}
	return err;
}

/* The rows of an array, one behind the other. */
static int print_array(struct fleet_run *run, const struct column *columns, const void *array,
		       size_t row_bytes, size_t cnt, uint64_t limit)
{
	const void **rows = calloc(cnt ? cnt : 1, sizeof(*rows));
	int err;

	for (size_t i = 0; rows && i < cnt; i++)
		rows[i] = (const char *)array + i * row_bytes;
	err = rows ? print_rows(run, columns, NULL, rows, cnt, limit) : -ENOMEM;
	free(rows);
	return err;
}

static int report(struct fleet_run *run)
{
	const struct fleet_options *values = run->values;
	struct fleet_report answer = { 0 };
	int err = fleet_report_ask(&answer, run->server, &values->choice, values->by, values->is_exact,
				   &run->error);

	if (!err && answer.is_cut)
		cli_warn(run->cli, "there are more than the %zu rows with the most work; choose fewer spans",
			 answer.cnt);
	if (!err)
		err = print_array(run, fleet_report_columns, answer.rows, sizeof(*answer.rows), answer.cnt,
				  values->limit == UINT64_MAX ? 100 : values->limit);
	fleet_report_release(&answer);
	return err;
}

static int spans(struct fleet_run *run)
{
	const struct fleet_options *values = run->values;
	uint64_t limit = values->limit == UINT64_MAX ? 20 : values->limit;
	struct fleet_spans answer = { 0 };
	int err = fleet_spans_ask(&answer, run->server, &values->choice, values->sort, limit, &run->error);

	if (!err)
		err = print_array(run, fleet_span_columns, answer.rows, sizeof(*answer.rows), answer.cnt, 0);
	fleet_spans_release(&answer);
	return err;
}

static void tail_json(struct fleet_run *run, const struct fleet_tail *answer)
{
	begin_json(run);
	json_member_double(&run->json, "percentile", run->values->percentile);
	json_name(&run->json, "labels");
	json_array_begin(&run->json);
	for (size_t i = 0; i < answer->cnt; i++)
		tail_row_json(&run->json, &answer->rows[i]);
	json_array_end(&run->json);
}

static int tail_text(struct fleet_run *run, const struct fleet_tail *answer)
{
	const struct tail_row **rows = calloc(answer->cnt ? answer->cnt : 1, sizeof(*rows));
	uint64_t limit = run->values->limit == UINT64_MAX ? 20 : run->values->limit, hidden_cnt;
	int err;

	if (!rows)
		return -ENOMEM;
	for (size_t i = 0; i < answer->cnt; i++)
		rows[i] = &answer->rows[i];
	err = tail_print(&run->cli->out, run->values->percentile, rows, answer->cnt, limit, &hidden_cnt);
	if (hidden_cnt > 0)
		fprintf(run->cli->out.file, "%" PRIu64 " more labels: --limit 0 shows all\n\n", hidden_cnt);
	tail_print_too_few(&run->cli->out, run->values->percentile, rows, answer->cnt);
	free(rows);
	return err;
}

static int tail(struct fleet_run *run)
{
	const struct fleet_options *values = run->values;
	struct fleet_tail answer = { 0 };
	int err = fleet_tail_ask(&answer, run->server, &values->choice, values->percentile / 100,
				 values->is_exact, &run->error);

	if (!err && values->wants_json)
		tail_json(run, &answer);
	else if (!err)
		err = tail_text(run, &answer);
	fleet_tail_release(&answer);
	return err;
}

/* ---- diff ---- */

static int set_side_member(struct fleet_choice *side, const char *name, const char *value)
{
	if (strcmp(name, "host") == 0)
		side->host = value;
	else if (strcmp(name, "capture") == 0)
		side->capture = value;
	else if (strcmp(name, "container") == 0)
		side->container = value;
	else if (strcmp(name, "pod") == 0)
		side->pod = value;
	else if (strcmp(name, "since") == 0)
		return parse_moment(value, &side->since_s);
	else if (strcmp(name, "until") == 0)
		return parse_moment(value, &side->until_s);
	else
		return -EINVAL;
	return 0;
}

/* "host=web*,since=2h", besides what the options say. The text is taken apart. */
static int parse_side(struct fleet_run *run, struct fleet_choice *side, char *text)
{
	char *rest = text, *part;

	*side = run->values->choice;
	while ((part = strsep(&rest, ","))) {
		char *value = strchr(part, '=');

		if (value)
			*value++ = '\0';
		if (!value || set_side_member(side, part, value)) {
			error_set(&run->error,
				  "a side of diff is host=GLOB, capture=GLOB, container=GLOB, pod=GLOB, "
				  "since=WHEN or until=WHEN, separated by commas, not '%s%s%s'",
				  part, value ? "=" : "", value ? value : "");
			return -EINVAL;
		}
	}
	return 0;
}

static int diff(struct fleet_run *run)
{
	const struct fleet_options *values = run->values;
	struct fleet_choice sides[2];
	struct fleet_diff answer = { 0 };
	int err = parse_side(run, &sides[0], run->operands[0]);

	err = err ? err : parse_side(run, &sides[1], run->operands[1]);
	err = err ? err : fleet_diff_ask(&answer, run->server, sides, values->is_exact, &run->error);
	if (!err)
		err = print_array(run, fleet_diff_columns, answer.rows, sizeof(*answer.rows), answer.cnt,
				  values->limit == UINT64_MAX ? 20 : values->limit);
	if (!err && values->wants_json) {
		json_member_u64(&run->json, "base_captures", answer.capture_cnt[0]);
		json_member_u64(&run->json, "new_captures", answer.capture_cnt[1]);
		json_member_u64(&run->json, "captures_needed", answer.needed_cnt);
	} else if (!err && !values->wants_csv) {
		fprintf(run->cli->out.file, "\n%zu captures in the base, %zu in the new side",
			answer.capture_cnt[0], answer.capture_cnt[1]);
		if (answer.capture_cnt[0] < answer.needed_cnt || answer.capture_cnt[1] < answer.needed_cnt)
			fprintf(run->cli->out.file, "; to be sure of a change takes %zu on each",
				answer.needed_cnt);
		fputc('\n', run->cli->out.file);
	}
	fleet_diff_release(&answer);
	return err;
}

static int create(struct fleet_run *run)
{
	int err = fleet_schema_create(run->server, run->values->cluster, &run->error);

	if (!err)
		fprintf(run->cli->out.file, "the tables are in the database '%s' at %s\n",
			clickhouse_database(run->server), clickhouse_place(run->server));
	return err;
}

/* In the order of the bits below. */
static const struct action {
	const char *name;
	const char *type; /* of its JSON document; NULL: it is no query */
	int operand_cnt;
	int (*run)(struct fleet_run *run);
} actions[] = {
	{ "create", NULL, 0, create },	   { "report", "fleet_report", 0, report },
	{ "tail", "fleet_tail", 0, tail }, { "spans", "fleet_spans", 0, spans },
	{ "diff", "fleet_diff", 2, diff },
};

enum {
	CREATE = 1,
	REPORT = 2,
	TAIL = 4,
	SPANS = 8,
	DIFF = 16,
	QUERIES = REPORT | TAIL | SPANS | DIFF,
};

/* What was said and would have no effect: a sentence, and CLI_FAILED. */
static int check_options(struct cli *cli, const struct fleet_options *values, const struct action *action)
{
	const struct fleet_choice *choice = &values->choice;
	const struct {
		const char *name;
		bool is_given;
		unsigned int actions; /* that know it */
	} given[] = {
		{ "label", choice->label, QUERIES },
		{ "host", choice->host, QUERIES },
		{ "container", choice->container, QUERIES },
		{ "pod", choice->pod, QUERIES },
		{ "capture", choice->capture, QUERIES },
		{ "since", choice->since_s, QUERIES },
		{ "until", choice->until_s, QUERIES },
		{ "by", values->by, REPORT },
		{ "sort", values->sort, SPANS },
		{ "percentile", values->percentile != DEFAULT_PERCENTILE, TAIL },
		{ "exact", values->is_exact, REPORT | TAIL | DIFF },
		{ "limit", values->limit != UINT64_MAX, QUERIES },
		{ "columns", values->columns, REPORT | SPANS | DIFF },
		{ "csv", values->wants_csv, REPORT | SPANS | DIFF },
		{ "json", values->wants_json, QUERIES },
		{ "cluster", values->cluster, CREATE },
	};

	for (size_t i = 0; i < sizeof(given) / sizeof(given[0]); i++)
		if (given[i].is_given && !(given[i].actions & 1u << (action - actions)))
			return cli_fail(cli, "fleet %s has no option --%s", action->name, given[i].name);
	if (values->wants_csv && values->wants_json)
		return cli_fail(cli, "--csv and --json exclude each other");
	return CLI_OK;
}

static const struct action *find_action(const char *name)
{
	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++)
		if (strcmp(actions[i].name, name) == 0)
			return &actions[i];
	return NULL;
}

/* ---- what is missing ---- */

static void files_json(struct json *json, const struct fleet_files *files)
{
	json_name(json, "files");
	json_object_begin(json);
	json_member_u64(json, "hosts", files->host_cnt);
	json_member_u64(json, "sent", files->file_cnt);
	json_member_u64(json, "removed", files->removed_cnt);
	json_member_u64(json, "damaged", files->damaged_cnt);
	json_member_u64(json, "lost_events", files->lost_cnt);
	json_object_end(json);
}

static void print_files(struct fleet_run *run, const struct fleet_files *files)
{
	char counts[5][UNITS_SIZE];

	fprintf(run->cli->out.file,
		"\n%s files of %s hosts; %s were removed before they were sent, %s are damaged; %s events "
		"lost\n",
		units_format_count(counts[0], files->file_cnt),
		units_format_count(counts[1], files->host_cnt),
		units_format_count(counts[2], files->removed_cnt),
		units_format_count(counts[3], files->damaged_cnt),
		units_format_count(counts[4], files->lost_cnt));
}

static int query(struct fleet_run *run, const struct action *action, int *status)
{
	const struct fleet_options *values = run->values;
	struct fleet_files files;
	int err = fleet_schema_check(run->server, &run->error);

	err = err ? err : fleet_files_ask(&files, run->server, &values->choice, &run->error);
	if (err)
		return err;
	run->type = action->type;
	err = action->run(run);
	if (!err && !values->wants_json && !values->wants_csv)
		print_files(run, &files);
	if (run->has_json) {
		files_json(&run->json, &files);
		json_object_end(&run->json);
		err = cli_finish_json(run->cli, &run->json) ? -ENOMEM : err;
	}
	if (files.removed_cnt || files.damaged_cnt || files.lost_cnt)
		*status = CLI_INCOMPLETE;
	return err;
}

static int run_action(struct fleet_run *run, const struct action *action)
{
	int status = CLI_OK;
	int err = action->type ? query(run, action, &status) : action->run(run);

	if (err)
		status = cli_fail(run->cli, "%s", err == -ENOMEM ? "not enough memory" : run->error.text);
	return status;
}

static int run(struct cli *cli, int argc, char **argv)
{
	struct fleet_options values = { .server = FLEET_SERVER_DEFAULTS,
					.limit = UINT64_MAX,
					.percentile = DEFAULT_PERCENTILE };
	struct fleet_run run = { .cli = cli, .values = &values };
	const struct action *action;
	struct options_result result;
	int status;

	if (!cli_parse(cli, &options, argc, argv, &values, &result, &status))
		return status;
	action = find_action(result.operands[0]);
	if (!action)
		return cli_fail(cli, "'%s' is none of create, report, tail, spans and diff",
				result.operands[0]);
	if (result.operand_cnt - 1 != action->operand_cnt)
		return cli_fail(cli, "fleet %s takes %s, see 'txtrace fleet --help'", action->name,
				action->operand_cnt ? "two sides, BASE and NEW" : "no operands");
	status = check_options(cli, &values, action);
	if (status != CLI_OK)
		return status;
	run.operands = result.operands + 1;
	status = fleet_server_open(cli, &values.server, false, &run.server);
	if (status != CLI_OK)
		return status;
	status = run_action(&run, action);
	clickhouse_close(run.server);
	return status;
}

const struct command command_fleet = { "fleet", "query the logs of many hosts, in ClickHouse", &options,
				       .run = run };
