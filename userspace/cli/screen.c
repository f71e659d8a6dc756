/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/screen.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define DEFAULT_COLUMNS 100
#define LEAST_COLUMNS 60 /* narrower ones wrap */
#define MOST_COLUMNS 1000
#define DEFAULT_ROWS 24

static bool wants_colours(void)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

	return !(no_color && *no_color) && term && *term && strcmp(term, "dumb") != 0;
}

/* What COLUMNS says, for output that somebody else puts on a terminal; or the default. */
static size_t columns_wanted(void)
{
	const char *columns = getenv("COLUMNS");
	unsigned long cnt = columns ? strtoul(columns, NULL, 10) : 0;

	return cnt >= LEAST_COLUMNS && cnt <= MOST_COLUMNS ? cnt : DEFAULT_COLUMNS;
}

void screen_init(struct screen *screen, FILE *file)
{
	struct winsize size;
	int fd = fileno(file);

	*screen = (struct screen){ .file = file, .columns = columns_wanted(), .rows = DEFAULT_ROWS };
	screen->is_terminal = fd >= 0 && isatty(fd);
	if (!screen->is_terminal)
		return;
	screen->has_colours = wants_colours();
	if (ioctl(fd, TIOCGWINSZ, &size) != 0)
		return;
	if (size.ws_col > 0)
		screen->columns = size.ws_col < LEAST_COLUMNS ? LEAST_COLUMNS : size.ws_col;
	if (size.ws_row > 0)
		screen->rows = size.ws_row;
}

int screen_print_table(const struct screen *screen, const struct table *table)
{
	if (screen->document)
		return screen->add_table(screen->document, table);
	return table_print_within(table, screen->file, screen->has_colours,
				  screen->is_terminal ? screen->columns : 0);
}
