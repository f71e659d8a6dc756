/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/terminal_output.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"

#define CONTINUED_INDENT 4
#define HELD_BYTES_MAX (1u << 20) /* what is longer needs a pager, whatever lines it has */

struct terminal_output {
	FILE *file;
	int fd;
	size_t columns, rows;
	char *pager;          /* NULL: none, or it runs */
	pid_t pager_pid;      /* 0: it does not run */
	bool keeps_lines;
	struct text line;     /* that has no end yet */
	struct text held;     /* until it is decided whether there is a pager */
	size_t held_line_cnt;
};

/* ---- the pager ---- */

static bool is_installed(const char *program)
{
	const char *at = getenv("PATH");
	char path[512];

	while (at && *at) {
		size_t length = strcspn(at, ":");

		if (snprintf(path, sizeof(path), "%.*s/%s", (int)length, at, program) < (int)sizeof(path) &&
		    access(path, X_OK) == 0)
			return true;
		at += length + (at[length] == ':');
	}
	return false;
}

const char *terminal_output_choose_pager(void)
{
	const char *own = getenv("TXTRACE_PAGER"), *common = getenv("PAGER"), *pager = own ? own : common;

	if (!pager)
		return is_installed("less") ? "less" : NULL;
	return *pager && strcmp(pager, "cat") != 0 ? pager : NULL;
}

static void run_pager(const char *pager, int in_fd)
{
	dup2(in_fd, STDIN_FILENO);
	close(in_fd);
	signal(SIGPIPE, SIG_DFL);
	setenv("LESS", "FRX", 0); /* leave if it fits, show colours, keep the screen */
	setenv("LV", "-c", 0);
	execl("/bin/sh", "sh", "-c", pager, (char *)NULL);
	_exit(127);
}

/* Where it cannot be started, the terminal gets all. An interrupt is the pager's while it runs. */
static void start_pager(struct terminal_output *terminal)
{
	int ends[2];
	pid_t pid;

	if (pipe(ends))
		return;
	pid = fork();
	if (pid == 0) {
		close(ends[1]);
		run_pager(terminal->pager, ends[0]);
	}
	close(ends[0]);
	if (pid < 0) {
		close(ends[1]);
		return;
	}
	signal(SIGINT, SIG_IGN);
	terminal->pager_pid = pid;
	terminal->fd = ends[1];
}

static int write_all(int fd, const char *bytes, size_t length)
{
	while (length > 0) {
		ssize_t written = write(fd, bytes, length);

		if (written < 0 && errno != EINTR)
			return -errno;
		bytes += written > 0 ? written : 0;
		length -= written > 0 ? (size_t)written : 0;
	}
	return 0;
}

static int write_held(struct terminal_output *terminal)
{
	int err = terminal->held.err
			  ? terminal->held.err
			  : write_all(terminal->fd, text_string(&terminal->held), terminal->held.length);

	text_clear(&terminal->held);
	terminal->held_line_cnt = 0;
	return err;
}

/* Whole lines, or what is left in the end. */
static int put(struct terminal_output *terminal, const char *bytes, size_t length)
{
	text_append_bytes(&terminal->held, bytes, length);
	if (!terminal->pager)
		return 0;
	for (size_t i = 0; i < length; i++)
		terminal->held_line_cnt += bytes[i] == '\n';
	if (terminal->held_line_cnt + 1 < terminal->rows && terminal->held.length < HELD_BYTES_MAX)
		return 0;
	start_pager(terminal);
	free(terminal->pager);
	terminal->pager = NULL;
	return 0;
}

/* ---- lines ---- */

/* The bytes of the character, or of the sequence for colours, at the begin; *columns that it takes. */
static size_t next_character(const char *bytes, size_t length, size_t *columns)
{
	size_t size = 1;

	*columns = 0;
	if (bytes[0] == '\033' && length > 1 && bytes[1] == '[') {
		for (size = 2; size < length && (bytes[size] < '@' || bytes[size] > '~');)
			size++;
		return size < length ? size + 1 : size;
	}
	while (size < length && size < 4 && ((unsigned char)bytes[size] & 0xc0) == 0x80)
		size++;
	*columns = text_columns(bytes, size);
	return size;
}

/*
 * How much of the text fits, up to a blank if there is one behind the first `least` columns; what has no room
 * at all gets one character.
 */
static size_t fitting_bytes(const char *bytes, size_t length, size_t columns, size_t least)
{
	size_t used = 0, at = 0, blank = 0, width;

	while (at < length) {
		size_t size = next_character(bytes + at, length - at, &width);

		if (used + width > columns)
			return blank ? blank : at ? at : size;
		if (bytes[at] == ' ' && used > least)
			blank = at;
		used += width;
		at += size;
	}
	return length;
}

static size_t leading_blanks(const char *bytes, size_t length)
{
	size_t cnt = 0;

	while (cnt < length && bytes[cnt] == ' ')
		cnt++;
	return cnt;
}

static int put_folded(struct terminal_output *terminal, const char *bytes, size_t length)
{
	size_t indent = leading_blanks(bytes, length) + CONTINUED_INDENT, room = terminal->columns, fitting,
	       blanks;
	struct text folded = { 0 };
	int err;

	indent = indent < room / 2 ? indent : room / 2;
	while ((fitting = fitting_bytes(bytes, length, room, room / 3)) < length) {
		size_t kept = fitting;

		while (kept > 0 && bytes[kept - 1] == ' ')
			kept--;
		text_append_bytes(&folded, bytes, kept);
		blanks = leading_blanks(bytes + fitting, length - fitting);
		bytes += fitting + blanks;
		length -= fitting + blanks;
		if (length > 0)
			text_append_format(&folded, "\n%*s", (int)indent, "");
		room = terminal->columns - indent;
	}
	text_append_bytes(&folded, bytes, length);
	text_append(&folded, "\n");
	err = folded.err ? folded.err : put(terminal, text_string(&folded), folded.length);
	text_release(&folded);
	return err;
}

static int add_lines(struct terminal_output *terminal, const char *bytes, size_t length)
{
	const char *newline;
	int err = 0;

	while (!err && (newline = memchr(bytes, '\n', length))) {
		size_t part = (size_t)(newline - bytes);

		text_append_bytes(&terminal->line, bytes, part);
		err = terminal->line.err
			      ? terminal->line.err
			      : put_folded(terminal, text_string(&terminal->line), terminal->line.length);
		text_clear(&terminal->line);
		bytes += part + 1;
		length -= part + 1;
	}
	text_append_bytes(&terminal->line, bytes, length);
	return err ? err : terminal->line.err;
}

/* ---- the file ---- */

static ssize_t take(void *cookie, const char *bytes, size_t length)
{
	struct terminal_output *terminal = cookie;
	int err = terminal->keeps_lines ? put(terminal, bytes, length) : add_lines(terminal, bytes, length);

	if (!err && !terminal->pager)
		err = write_held(terminal);
	if (!err)
		return (ssize_t)length;
	errno = -err;
	return 0;
}

struct terminal_output *terminal_output_new(int fd, size_t columns, size_t rows, const char *pager)
{
	static const cookie_io_functions_t functions = { .write = take };
	struct terminal_output *terminal = calloc(1, sizeof(*terminal));

	if (!terminal)
		return NULL;
	terminal->fd = fd;
	terminal->columns = columns;
	terminal->rows = rows;
	terminal->pager = pager ? strdup(pager) : NULL;
	terminal->file = fopencookie(terminal, "w", functions);
	if (!terminal->file || !terminal->pager != !pager) {
		terminal_output_close(terminal);
		return NULL;
	}
	setvbuf(terminal->file, NULL, _IOLBF, 0);
	return terminal;
}

FILE *terminal_output_file(const struct terminal_output *terminal)
{
	return terminal->file;
}

void terminal_output_keep_lines(struct terminal_output *terminal)
{
	terminal->keeps_lines = true;
}

void terminal_output_stream(struct terminal_output *terminal)
{
	free(terminal->pager);
	terminal->pager = NULL;
}

static int write_rest(struct terminal_output *terminal)
{
	text_append_bytes(&terminal->held, text_string(&terminal->line), terminal->line.length);
	return write_held(terminal);
}

int terminal_output_close(struct terminal_output *terminal)
{
	int err = 0, status;

	if (!terminal)
		return 0;
	if (terminal->file && fclose(terminal->file))
		err = -errno;
	if (!err)
		err = write_rest(terminal);
	if (terminal->pager_pid) {
		close(terminal->fd);
		while (waitpid(terminal->pager_pid, &status, 0) < 0 && errno == EINTR)
			;
	}
	text_release(&terminal->line);
	text_release(&terminal->held);
	free(terminal->pager);
	free(terminal);
	return err;
}
