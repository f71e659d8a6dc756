/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/commands/command.h"
#include "cli/exit_status.h"
#include "cli/files/log_input.h"
#include "cli/files/newest_log.h"
#include "cli/top/span_page.h"
#include "cli/top/top_page.h"
#include "cli/top/top_terminal.h"

#define POLL_NS 100000000u
#define PAGE_NS 1000000000u
/* A recorder writes what it has every 0.7 s: after so long without anything, nothing older will come. */
#define QUIET_NS 2000000000u

#define BATCH_CNT 65536 /* records between looks at keys and signals */

struct top_options {
	unsigned int by;
	unsigned int window;
	unsigned int sort;
	const char *filter;
	uint64_t batch_cnt;
};

static const char *const window_names[] = { "1", "10", "60", NULL };

static const struct option_spec specs[] = {
	OPTION("by", 0, OPTION_CHOICE, "WHAT", "a row for each label, thread, process or tag (default label)",
	       offsetof(struct top_options, by), .choices = top_kind_names),
	OPTION("window", 'w', OPTION_CHOICE, "SECONDS", "what the figures are of: 1, 10 or 60 s (default 10)",
	       offsetof(struct top_options, window), .choices = window_names),
	OPTION("sort", 0, OPTION_CHOICE, "WHAT", "the most time, rate, p99 or open spans first, or by name",
	       offsetof(struct top_options, sort), .choices = top_sort_names),
	OPTION("filter", 0, OPTION_STRING, "PATTERN", "only rows with such a name, as in 'tx.*'",
	       offsetof(struct top_options, filter)),
	OPTION("batch", 0, OPTION_U64, "N", "print N pages as text, one a second; fewer if the log ends",
	       offsetof(struct top_options, batch_cnt), .minimum = 1),
	OPTION_END,
};

static const struct options options = {
	.program = "txtrace top",
	.about = "Shows live figures of a log that is being written: rates, percentiles, where the time was "
		 "spent, what spans wait for and who wakes them, for the last 1, 10 or 60 s, and the oldest "
		 "open spans. Of a directory, the newest log; without an argument, that of the current "
		 "directory. No privilege is needed but to read the log. The key ? lists the keys.",
	.usages = (const char *const[]){ "[LOG]", "DIRECTORY", NULL },
	.specs = specs,
	.examples =
		(const struct option_example[]){
			{ "txtrace top bank.txtrace", "Watch a recording." },
			{ "txtrace top --by thread --batch 3 bank.txtrace",
			  "Three pages as text, by thread." },
			{ NULL, NULL },
		},
	.notes = exit_status_notes,
	.operand = "LOG or DIRECTORY",
	.operand_max = 1,
};

struct watching {
	struct cli *cli;
	struct log_input input;
	struct live_view *view;
	struct top_choice choice;
	struct top_terminal *terminal; /* NULL: --batch */
	const sigset_t *stops;	       /* these signals, which are blocked, end it */
	struct top_result result;
	char *page;
	char filter[64];
	uint64_t batch_cnt;
	uint64_t page_ns; /* when the next page is due */
	uint64_t read_ns; /* when the log last had something new: of this time */
	uint64_t last_ns;
	bool is_at_end; /* of what the log will ever have */
	bool is_done;
	int err;
};

/* ---- records ---- */

/* false: nothing more is there yet. */
static bool read_some(struct watching *watching)
{
	struct txtrace_record record;

	for (size_t i = 0; i < BATCH_CNT; i++) {
		if (!log_input_next(&watching->input, &record))
			return false;
		watching->err = live_view_add(watching->view, &record);
		if (watching->err)
			return false;
	}
	return true;
}

static void pass_quiet_time(struct watching *watching)
{
	uint64_t now_ns = clock_now_ns();
	struct live_totals totals;

	live_view_totals(watching->view, &totals);
	if (watching->last_ns != totals.last_ns || !watching->read_ns)
		watching->read_ns = now_ns;
	watching->last_ns = totals.last_ns;
	if (now_ns > watching->read_ns + QUIET_NS)
		live_view_pass(watching->view, totals.last_ns + (now_ns - watching->read_ns - QUIET_NS));
}

static void read_log(struct watching *watching, bool *has_more)
{
	bool had_more = *has_more;

	*has_more = false;
	if (watching->is_at_end || watching->choice.is_paused)
		return;
	*has_more = read_some(watching);
	if (had_more && !*has_more)
		watching->page_ns = 0; /* what was recorded before is read: now it is worth a page */
	pass_quiet_time(watching);
	if (!*has_more && watching->input.is_at_end) {
		watching->is_at_end = true;
		live_view_end(watching->view);
	}
}

/* ---- pages ---- */

static const char *const status_line =
	"q quit  b by  w window  s sort  / filter  p pause  enter show  ? keys";

static const char *const keys_page =
	"Keys\n\n"
	"  b          rows by label, thread, process, tag\n"
	"  w          figures of the last 1, 10, 60 s\n"
	"  s          sort by time, rate, p99, open spans, name\n"
	"  /          only rows whose names match a pattern, as in tx*; empty: all\n"
	"  p, space   pause, and continue; the recorder is not affected\n"
	"  up, down   choose a row\n"
	"  enter      the slowest span of that row in the window, as a waterfall\n"
	"  q          quit\n\n"
	"Columns\n\n"
	"  spans/s    spans that ended, a second\n"
	"  open       spans that had begun and not ended at the last checkpoint of the\n"
	"             log, about once a second\n"
	"  p50, p99   of their wall times; of spans that are known as a whole\n"
	"  time       where it was spent: # on-CPU, = runnable, - blocked, . detached\n"
	"  waits for  what most of the blocked time was for, and its share of all\n"
	"  woken by   who ended most of that: the label of the span that it was in, or\n"
	"             its thread; with --sched timeline\n\n"
	"A window ends with the last whole second of the log.\n";

static int make_page(struct watching *watching)
{
	size_t size;
	FILE *file;
	int err;

	free(watching->page);
	watching->page = NULL;
	file = open_memstream(&watching->page, &size);
	if (!file)
		return -ENOMEM;
	err = top_page_print(&watching->input, watching->view, &watching->choice, file, &watching->result);
	return fclose(file) ? -ENOMEM : err;
}

static void show_page(struct watching *watching)
{
	watching->choice.columns = top_terminal_columns(watching->terminal);
	watching->choice.lines = top_terminal_lines(watching->terminal);
	watching->choice.has_colours = top_terminal_has_colours(watching->terminal);
	watching->err = make_page(watching);
	if (!watching->err)
		top_terminal_show(watching->terminal, watching->page, 0, status_line);
}

static void print_page(struct watching *watching)
{
	struct cli *cli = watching->cli;

	watching->choice.columns = cli->out.columns;
	watching->choice.has_colours = cli->out.has_colours;
	watching->err = make_page(watching);
	if (watching->err)
		return;
	fputs(watching->page, cli->out.file);
	watching->batch_cnt--;
	watching->is_done = watching->batch_cnt == 0 || watching->is_at_end;
	if (!watching->is_done)
		fputc('\n', cli->out.file);
	if (fflush(cli->out.file) != 0)
		cli_write_failed(cli, -errno);
	watching->is_done |= cli->write_errno != 0;
}

/* ---- keys ---- */

/* Waits for one of the signals; true: one came. */
static bool is_stopped(const struct watching *watching, uint64_t wait_ns)
{
	const struct timespec wait = { .tv_nsec = (long)wait_ns };

	return sigtimedwait(watching->stops, NULL, &wait) > 0;
}

/* However long that takes. GONE: there is no terminal any more, or a signal ends it all. */
static int wait_for_key(struct watching *watching)
{
	int key = TOP_KEY_NONE;

	while (key == TOP_KEY_NONE && !watching->is_done) {
		key = top_terminal_key(watching->terminal, POLL_NS / 1000000);
		watching->is_done = key == TOP_KEY_GONE || is_stopped(watching, 0);
	}
	return watching->is_done ? TOP_KEY_GONE : key;
}

/* A page of text, until the user has seen enough. */
static void show_text(struct watching *watching, const char *text)
{
	size_t first = 0, lines = 0, step;

	for (const char *at = text; *at; at++)
		lines += *at == '\n';
	for (;;) {
		int key;

		step = top_terminal_lines(watching->terminal);
		top_terminal_show(watching->terminal, text, first, "q back  up, down, page up, page down");
		key = wait_for_key(watching);
		if (key == 'q' || key == TOP_KEY_ESCAPE || key == TOP_KEY_ENTER || key == TOP_KEY_GONE)
			return;
		if (key == TOP_KEY_UP && first > 0)
			first--;
		if (key == TOP_KEY_PAGE_UP)
			first -= first < step ? first : step;
		if (key == TOP_KEY_DOWN && first + 1 < lines)
			first++;
		if ((key == TOP_KEY_PAGE_DOWN || key == ' ') && first + step < lines)
			first += step;
	}
}

static void show_span(struct watching *watching)
{
	const struct top_target *target = &watching->result.target;
	char *text;

	if (!target->id)
		return;
	top_terminal_show(watching->terminal, watching->page, 0, "reading the log for this span ...");
	text = span_page(txtrace_log_path(watching->input.log), target,
			 top_terminal_columns(watching->terminal));
	if (text)
		show_text(watching, text);
	free(text);
}

static void move_selection(struct watching *watching, int by)
{
	struct top_choice *choice = &watching->choice;

	if (!watching->result.row_cnt)
		choice->selected = SIZE_MAX;
	else if (choice->selected == SIZE_MAX)
		choice->selected = 0;
	else if (by < 0)
		choice->selected -= choice->selected > 0;
	else
		choice->selected += choice->selected + 1 < watching->result.row_cnt;
}

/* The pattern is typed into the status line; Escape leaves it as it was. */
static void ask_filter(struct watching *watching)
{
	char typed[sizeof(watching->filter)] = "", line[sizeof(typed) + 16];
	size_t length = 0;
	int key;

	do {
		snprintf(line, sizeof(line), "pattern: %s_", typed);
		top_terminal_show(watching->terminal, watching->page, 0, line);
		key = wait_for_key(watching);
		if (key == TOP_KEY_BACKSPACE && length > 0)
			typed[--length] = '\0';
		else if (key >= ' ' && key < 127 && length + 1 < sizeof(typed))
			typed[length++] = (char)key;
	} while (key != TOP_KEY_ENTER && key != TOP_KEY_ESCAPE && key != TOP_KEY_GONE);
	if (key != TOP_KEY_ENTER)
		return;
	strcpy(watching->filter, typed);
	watching->choice.filter = length > 0 ? watching->filter : NULL;
}

static void take_key(struct watching *watching, int key)
{
	struct top_choice *choice = &watching->choice;

	if (key == 'q' || key == TOP_KEY_GONE)
		watching->is_done = true;
	else if (!watching->page) /* nothing is shown that a key could be about */
		return;
	else if (key == 'b')
		choice->kind = (choice->kind + 1) % LIVE_KIND_COUNT;
	else if (key == 'w')
		choice->window = (choice->window + 1) % LIVE_WINDOW_COUNT;
	else if (key == 's')
		choice->sort = (choice->sort + 1) % TOP_SORT_COUNT;
	else if (key == 'p' || key == ' ')
		choice->is_paused = !choice->is_paused;
	else if (key == '/')
		ask_filter(watching);
	else if (key == TOP_KEY_UP || key == TOP_KEY_DOWN)
		move_selection(watching, key == TOP_KEY_UP ? -1 : 1);
	else if (key == TOP_KEY_ENTER)
		show_span(watching);
	else if (key == '?' || key == 'h')
		show_text(watching, keys_page);
}

/* ---- the loop ---- */

static void watch(struct watching *watching)
{
	bool has_more = false;

	while (!watching->err && !watching->is_done) {
		int key = TOP_KEY_NONE;

		read_log(watching, &has_more);
		if (watching->err || is_stopped(watching, has_more || watching->terminal ? 0 : POLL_NS))
			break;
		if (watching->terminal)
			key = top_terminal_key(watching->terminal, has_more ? 0 : POLL_NS / 1000000);
		take_key(watching, key);
		if (watching->is_done || (key == TOP_KEY_NONE && clock_now_ns() < watching->page_ns &&
					  !(watching->is_at_end && !watching->terminal)))
			continue;
		if (!watching->terminal && has_more) /* what was recorded before is no page of its own */
			continue;
		watching->page_ns = clock_now_ns() + PAGE_NS;
		if (watching->terminal)
			show_page(watching);
		else
			print_page(watching);
	}
}

static int open_log(struct watching *watching, const char *path)
{
	bool is_too_early = false;
	int status;

	for (;;) {
		status = log_input_follow(&watching->input, watching->cli, path, &is_too_early);
		if (!is_too_early)
			return status;
		if (is_stopped(watching, POLL_NS)) {
			watching->is_done = true;
			return CLI_OK;
		}
	}
}

static int open_terminal(struct watching *watching)
{
	if (!isatty(STDOUT_FILENO) || !isatty(STDIN_FILENO))
		return cli_fail(watching->cli,
				"the output is no terminal; print pages as text with --batch N");
	watching->terminal = top_terminal_open();
	return watching->terminal
		       ? CLI_OK
		       : cli_fail(watching->cli,
				  "ncurses does not know the terminal '%s'; set TERM, or use --batch N",
				  getenv("TERM") ? getenv("TERM") : "");
}

static int run_watch(struct watching *watching, const char *path)
{
	int status = open_log(watching, path);

	if (status != CLI_OK || watching->is_done)
		return status;
	watching->view = live_view_new(watching->input.info.start_monotonic_ns);
	if (!watching->view)
		watching->err = -ENOMEM;
	else if (!watching->batch_cnt)
		status = open_terminal(watching);
	if (status == CLI_OK && !watching->err)
		watch(watching);
	top_terminal_close(watching->terminal);
	live_view_free(watching->view);
	free(watching->page);
	if (status != CLI_OK) {
		log_input_close(&watching->input);
		return status;
	}
	return log_input_end(&watching->input, watching->err, "watch");
}

static int run(struct cli *cli, int argc, char **argv)
{
	struct top_options values = { .window = 1 };
	struct watching watching = { .cli = cli };
	struct options_result result;
	sigset_t stops, before;
	char *path;
	int status;

	if (!cli_parse(cli, &options, argc, argv, &values, &result, &status))
		return status;
	path = newest_log_path(cli, result.operand_cnt ? result.operands[0] : ".");
	if (!path)
		return CLI_FAILED;
	watching.choice = (struct top_choice){ .kind = values.by,
					       .window = values.window,
					       .sort = values.sort,
					       .filter = values.filter,
					       .selected = SIZE_MAX };
	watching.batch_cnt = values.batch_cnt;
	sigemptyset(&stops);
	sigaddset(&stops, SIGINT);
	sigaddset(&stops, SIGTERM);
	sigprocmask(SIG_BLOCK, &stops, &before);
	watching.stops = &stops;
	status = run_watch(&watching, path);
	sigprocmask(SIG_SETMASK, &before, NULL);
	free(path);
	return status;
}

const struct command command_top = { "top", "a live view of a log that is being written", &options,
				     .run = run };
