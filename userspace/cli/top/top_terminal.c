/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/top/top_terminal.h"

#include <curses.h>
#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <term.h>
#include <unistd.h>

#include "base/text.h"

#define STYLES_MAX 8 /* numbers of one sequence */

struct top_terminal {
	SCREEN *screen;
	bool has_utf8;
	bool has_colours;
	struct text ascii; /* the page without what the locale does not have */
};

static bool wants_colours(void)
{
	const char *no_color = getenv("NO_COLOR");

	return !(no_color && *no_color) && has_colors();
}

/* Asked before: newterm() loses memory when it fails. */
static bool is_known(void)
{
	int reason;

	if (setupterm(NULL, STDOUT_FILENO, &reason) != OK)
		return false;
	del_curterm(cur_term);
	return true;
}

struct top_terminal *top_terminal_open(void)
{
	struct top_terminal *terminal = calloc(1, sizeof(*terminal));

	if (!terminal)
		return NULL;
	setlocale(LC_CTYPE, "");
	terminal->has_utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	terminal->screen = is_known() ? newterm(NULL, stdout, stdin) : NULL;
	if (!terminal->screen) {
		free(terminal);
		return NULL;
	}
	cbreak();
	noecho();
	keypad(stdscr, TRUE);
	set_escdelay(25);
	curs_set(0);
	terminal->has_colours = wants_colours() && start_color() == OK;
	if (terminal->has_colours) {
		use_default_colors();
		for (short i = 0; i < 8; i++)
			init_pair((short)(i + 1), i, -1);
	}
	return terminal;
}

void top_terminal_close(struct top_terminal *terminal)
{
	if (!terminal)
		return;
	endwin();
	delscreen(terminal->screen);
	text_release(&terminal->ascii);
	free(terminal);
}

size_t top_terminal_columns(const struct top_terminal *terminal)
{
	(void)terminal;
	return COLS > 0 ? (size_t)COLS : 80;
}

size_t top_terminal_lines(const struct top_terminal *terminal)
{
	(void)terminal;
	return LINES > 1 ? (size_t)LINES - 1 : 1; /* the last one is the status */
}

bool top_terminal_has_colours(const struct top_terminal *terminal)
{
	return terminal->has_colours;
}

/* ---- text ---- */

/* By letters that tell the parts of a bar apart; of everything else the place is kept. */
static char letter_of(const char *character)
{
	static const struct {
		const char *utf8;
		char letter;
	} letters[] = {
		{ "\xe2\x96\x88", '#' }, { "\xe2\x96\x93", '=' }, { "\xe2\x96\x92", '-' },
		{ "\xe2\x96\x91", '.' }, { "\xe2\x96\x9a", '*' }, { "\xc2\xb5", 'u' },
		{ "\xc2\xb7", '.' },	 { "\xe2\x80\xa6", '~' },
	};

	for (size_t i = 0; i < sizeof(letters) / sizeof(letters[0]); i++)
		if (strncmp(character, letters[i].utf8, strlen(letters[i].utf8)) == 0)
			return letters[i].letter;
	return '?';
}

static const char *without_utf8(struct text *ascii, const char *text)
{
	text_clear(ascii);
	while (*text) {
		char letter = (unsigned char)*text < 0x80 ? *text : letter_of(text);

		text_append_bytes(ascii, &letter, 1);
		for (text++; (*text & 0xc0) == 0x80;)
			text++;
	}
	return text_string(ascii);
}

static void set_style(const struct top_terminal *terminal, int number)
{
	if (number == 0)
		attrset(A_NORMAL);
	else if (number == 1)
		attron(A_BOLD);
	else if (number == 2)
		attron(A_DIM);
	else if (number == 7)
		attron(A_REVERSE);
	else if (terminal->has_colours && number >= 30 && number <= 37)
		attron(COLOR_PAIR(number - 30 + 1));
	else if (terminal->has_colours && number >= 90 && number <= 97)
		attron(COLOR_PAIR(number - 90 + 1) | A_BOLD);
}

/* "\033[1;31m": returns what is behind it. */
static const char *take_sequence(const struct top_terminal *terminal, const char *text)
{
	text += 2;
	if (*text == 'm')
		set_style(terminal, 0);
	for (int i = 0; i < STYLES_MAX && *text && *text != 'm'; i++) {
		set_style(terminal, (int)strtol(text, (char **)&text, 10));
		if (*text == ';')
			text++;
		else if (*text != 'm')
			break;
	}
	return *text == 'm' ? text + 1 : text;
}

static void show_line(const struct top_terminal *terminal, int line, const char *text, const char *end)
{
	move(line, 0);
	while (text < end) {
		size_t length = strcspn(text, "\033\n");

		if (length > (size_t)(end - text))
			length = (size_t)(end - text);
		/* ncurses goes on in the next line, which is written over, or is beyond the last one */
		addnstr(text, (int)length);
		text += length;
		if (text < end && strncmp(text, "\033[", 2) == 0)
			text = take_sequence(terminal, text);
		else if (text < end)
			text++;
		if (getcury(stdscr) != line)
			break;
	}
	attrset(A_NORMAL);
}

void top_terminal_show(struct top_terminal *terminal, const char *text, size_t first, const char *status)
{
	size_t line = 0;

	if (!terminal->has_utf8)
		text = without_utf8(&terminal->ascii, text);
	erase();
	while (*text && line < first + top_terminal_lines(terminal)) {
		size_t length = strcspn(text, "\n");

		if (line >= first)
			show_line(terminal, (int)(line - first), text, text + length);
		text += length + (text[length] == '\n');
		line++;
	}
	move(LINES - 1, 0);
	clrtoeol();
	attron(A_REVERSE);
	addnstr(status, COLS - 1);
	attrset(A_NORMAL);
	refresh();
}

/* ---- keys ---- */

int top_terminal_key(struct top_terminal *terminal, int wait_ms)
{
	int key;

	(void)terminal;
	timeout(wait_ms);
	key = getch();
	switch (key) {
	case ERR:
		return isatty(STDIN_FILENO) ? TOP_KEY_NONE : TOP_KEY_GONE;
	case KEY_RESIZE:
		return TOP_KEY_RESIZE;
	case KEY_UP:
		return TOP_KEY_UP;
	case KEY_DOWN:
		return TOP_KEY_DOWN;
	case KEY_PPAGE:
		return TOP_KEY_PAGE_UP;
	case KEY_NPAGE:
		return TOP_KEY_PAGE_DOWN;
	case '\n':
	case '\r':
	case KEY_ENTER:
		return TOP_KEY_ENTER;
	case 27:
		return TOP_KEY_ESCAPE;
	case 8:
	case 127:
	case KEY_BACKSPACE:
		return TOP_KEY_BACKSPACE;
	default:
		return key > 0 && key < 128 ? key : TOP_KEY_NONE;
	}
}
