/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/verdict/verdict_run.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyze/compare/run_sampler.h"
#include "base/named_output.h"
#include "cli/files/log_input.h"
#include "cli/files/output_file.h"
#include "cli/verdict/verdict_report.h"
#include "cli/view/view_page.h"

#define RULES_BYTES_MAX (1 << 20)

const char *const verdict_status_notes[] = {
	"RULES is a file, or, if it has <, = or > in it, the rules themselves, divided by ';'. A rule is "
	"LABEL.FIGURE[.mean|.pN] OPERATOR "
	"LIMIT, such as "
	"'commit.on_cpu.p50 < +5%' (a change), '*.blocked.lock.mean < +0.5ms', 'tx.wall.p99 < 20ms' (the "
	"figure itself), 'tx.calls.fsync "
	"<= 1', 'anomalies == 0', "
	"'lower_bounds < 1%'. txtrace(1) has all of them.",
	"Exit status: 0 it holds, or nothing of the code is worse; 1 it regressed; 2 wrong usage, a log that "
	"can't be read, a rule that "
	"matches nothing, output that "
	"can't be written; 3 can't tell: there is too much noise, or there are too few runs or spans.",
	NULL,
};

/* ---- options ---- */

int verdict_option_gate(void *values, const char *value, const char **complaint)
{
	struct verdict_options *options = values;

	*complaint = "rules at most 16 times";
	if (options->gate_cnt == GATES_MAX)
		return -E2BIG;
	options->gates[options->gate_cnt++] = value;
	return 0;
}

static const struct verdict_format *format_of(const char *write)
{
	char name[32];
	size_t length = strcspn(write, "=");

	if (write[length] != '=' || write[length + 1] == '\0' || length >= sizeof(name))
		return NULL;
	memcpy(name, write, length);
	name[length] = '\0';
	return verdict_format_find(name);
}

int verdict_option_write(void *values, const char *value, const char **complaint)
{
	struct verdict_options *options = values;

	*complaint = "FORMAT=FILE with the format terminal, markdown, junit, github, json or html, at most "
		     "16 times";
	if (!format_of(value) || options->write_cnt == WRITES_MAX)
		return -EINVAL;
	options->writes[options->write_cnt++] = value;
	return 0;
}

static int parse_percent(const char *value, double *percent)
{
	char *end;
	double number = strtod(value, &end);

	if (end == value || strspn(value, "0123456789.") != (size_t)(end - value) ||
	    (*end && strcmp(end, "%") != 0))
		return -EINVAL;
	if (number <= 0 || number > 50)
		return -ERANGE;
	*percent = number;
	return 0;
}

int verdict_option_min_effect(void *values, const char *value, const char **complaint)
{
	*complaint = "a percentage above 0, at most 50";
	return parse_percent(value, &((struct verdict_options *)values)->min_effect_percent);
}

int verdict_option_false_alarms(void *values, const char *value, const char **complaint)
{
	*complaint = "a percentage above 0, at most 50";
	return parse_percent(value, &((struct verdict_options *)values)->false_alarms_percent);
}

int verdict_print_schema(struct cli *cli)
{
	cli_keep_lines(cli);
	fputs(verdict_schema, cli->out.file);
	return CLI_OK;
}

/* ---- rules ---- */

static char *read_file(const char *path, int *err)
{
	FILE *file = fopen(path, "re");
	char *text = file ? malloc(RULES_BYTES_MAX + 1) : NULL;
	struct stat status;
	size_t length;

	*err = file && !text ? -ENOMEM : file ? 0 : -errno;
	if (text && fstat(fileno(file), &status) == 0 && S_ISDIR(status.st_mode))
		*err = -EISDIR;
	length = text && !*err ? fread(text, 1, RULES_BYTES_MAX + 1, file) : 0;
	if (text && !*err && ferror(file))
		*err = -EIO;
	else if (length > RULES_BYTES_MAX)
		*err = -EFBIG;
	else if (text && memchr(text, '\0', length))
		*err = -EILSEQ;
	if (file)
		fclose(file);
	if (*err) {
		free(text);
		return NULL;
	}
	text[length] = '\0';
	return text;
}

int verdict_read_rules(struct cli *cli, const char *text, struct gate_rules *rules)
{
	bool is_inline = strpbrk(text, "<=>");
	size_t before_cnt = rules->cnt;
	struct error error = { "" };
	char *content = NULL;
	int err = 0;

	if (!is_inline)
		content = read_file(text, &err);
	if (err == -EILSEQ)
		return cli_fail(cli, "can't read the rules '%s': that is no text", text);
	if (err)
		return cli_fail(cli, "can't read the rules '%s': %s; rules themselves have <, = or > in them",
				text, strerror(-err));
	err = gate_rules_parse(rules, is_inline ? text : content, is_inline ? "the rules" : text, &error);
	free(content);
	if (err)
		return cli_fail(cli, "%s", err == -EINVAL ? error.text : "there is not enough memory");
	if (rules->cnt == before_cnt)
		return cli_fail(cli, "there is no rule in '%s'", text);
	return CLI_OK;
}

/* ---- logs ---- */

/* The times that a run covers, where it is to be divided into windows. */
static int measure(struct cli *cli, char *const *paths, int path_cnt, struct run_windows *windows)
{
	struct txtrace_record record;
	struct log_input input;
	int status = log_input_open(&input, cli, paths, path_cnt, true);

	if (status)
		return status;
	input.is_quiet = true;
	while (log_input_next(&input, &record))
		;
	windows->first_ns = input.census.first_ns;
	windows->last_ns = input.census.last_ns;
	log_input_close(&input);
	return CLI_OK;
}

static int sample(struct log_input *input, struct run_sampler *sampler)
{
	struct txtrace_record record;
	int err = sampler ? 0 : -ENOMEM;

	while (!err && log_input_next(input, &record)) {
		err = input->has_begun_capture ? run_sampler_begin_capture(sampler) : 0;
		err = err ? err : run_sampler_add(sampler, &record);
	}
	return err ? err : run_sampler_finish(sampler, &input->info, &input->census);
}

int verdict_read_run(struct cli *cli, struct run_set *set, enum compare_side side, char *const *paths,
		     int path_cnt, uint64_t max_memory_bytes, size_t *incomplete_cnt)
{
	struct run_windows windows = { .cnt = set->window_cnt[side] ? set->window_cnt[side] : 1 };
	struct run_sampler *sampler;
	struct log_input input;
	int status = windows.cnt > 1 ? measure(cli, paths, path_cnt, &windows) : CLI_OK, err;

	status = status ? status : log_input_open(&input, cli, paths, path_cnt, true);
	if (status)
		return status;
	sampler = run_sampler_new(set, side, input.path, &windows, input.info.kernel, max_memory_bytes);
	err = sample(&input, sampler);
	run_sampler_free(sampler);
	if (err)
		cli_fail(cli, "can't take the figures of '%s': %s", input.path, strerror(-err));
	status = log_input_close(&input);
	*incomplete_cnt += status == CLI_INCOMPLETE;
	return err ? CLI_FAILED : CLI_OK;
}

/* ---- reports ---- */

static int write_to_file(struct cli *cli, const struct verdict_view *view,
			 const struct verdict_document *document, const struct verdict_format *format,
			 const char *path)
{
	struct output_file output;
	struct screen screen;
	int err;

	for (int side = 0; side < 2; side++) {
		for (size_t i = 0; i < view->set->run_cnt[side]; i++) {
			if (file_is_same(path, view->set->runs[side][i].path))
				return cli_fail(cli, "can't write '%s': it is a log that is read", path);
		}
	}
	err = output_file_open(&output, path, view->set->runs[SIDE_NEW][0].path, true);
	if (err)
		return cli_fail(cli, "can't write '%s': %s", path, named_output_explain(err));
	screen_init(&screen, output.file);
	err = format->write(view, document, &screen);
	if (err)
		output_file_abort(&output);
	else
		err = output_file_commit(&output);
	return err ? cli_fail(cli, "can't write '%s': %s", path, strerror(-err)) : CLI_OK;
}

/* Of a run, as cli/view draws it, with half of the room of a page of its own. */
static int draw_run(struct cli *cli, const char *path, struct text *page)
{
	static const struct view_page_options beside = { .max_bytes = 4500000, .is_beside = true };
	char *const paths[] = { (char *)path };
	struct view_log log;
	char *bytes = NULL;
	size_t length = 0;
	FILE *file;
	int err, status = view_log_read(&log, cli, paths, 1);

	if (status != CLI_OK)
		return status;
	log.input.is_quiet = true;
	file = open_memstream(&bytes, &length);
	err = file ? view_page_write(file, &log, &beside) : -ENOMEM;
	if (file && fclose(file) && !err)
		err = -ENOMEM;
	view_log_close(&log);
	text_append_bytes(page, bytes, err ? 0 : length);
	free(bytes);
	err = err ? err : page->err;
	if (err == -E2BIG)
		return cli_fail(
			cli,
			"can't draw '%s': its part of the page would be too large; choose a part of the "
			"logs with --from and --to, or write the page with --write html=FILE",
			path);
	return err ? cli_fail(cli, "can't draw '%s': %s", path, strerror(-err)) : CLI_OK;
}

/* A log that came through a pipe is gone: then it is without timelines. */
static int write_page(struct cli *cli, const struct verdict_options *options, struct verdict_view *view,
		      const struct verdict_document *document)
{
	struct text pages[2] = { 0 };
	bool can_draw = true;
	int status = CLI_OK;

	for (int side = 0; side < 2; side++)
		can_draw &= view->set->run_cnt[side] && strcmp(view->set->runs[side][0].path, "-") != 0;
	for (int side = 0; can_draw && side < 2 && !status; side++)
		status = draw_run(cli, view->set->runs[side][0].path, &pages[side]);
	view->pages = can_draw ? pages : NULL;
	if (!status)
		status = write_to_file(cli, view, document, &verdict_format_html, options->page);
	view->pages = NULL;
	text_release(&pages[0]);
	text_release(&pages[1]);
	return status;
}

int verdict_write_reports(struct cli *cli, const struct verdict_options *options, struct verdict_view *view)
{
	struct verdict_document document;
	int err, status = CLI_OK;

	view->status = verdict_status_of(view->comparison, view->gate);
	err = verdict_document_init(&document, view);
	cli_hide_progress(cli);
	if (strcmp(verdict_format_at(options->format)->name, "terminal") != 0)
		cli_keep_lines(cli);
	err = err ? err : verdict_format_at(options->format)->write(view, &document, &cli->out);
	for (size_t i = 0; i < options->write_cnt && !err && !status; i++)
		status = write_to_file(cli, view, &document, format_of(options->writes[i]),
				       strchr(options->writes[i], '=') + 1);
	if (options->page && !err && !status)
		status = write_page(cli, options, view, &document);
	verdict_document_release(&document);
	if (err)
		return cli_fail(cli, "can't write the report: %s", strerror(-err));
	for (size_t i = 0; view->gate && i < view->gate->rules->cnt; i++) {
		if (view->gate->complaints[i])
			cli_warn(cli, "the rule '%s' matches nothing: %s", view->gate->rules->rules[i].text,
				 view->gate->complaints[i]);
	}
	return status ? status : view->status;
}
