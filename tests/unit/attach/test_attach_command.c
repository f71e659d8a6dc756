/* SPDX-License-Identifier: BSD-2-Clause */
/* Which files a command will be run from: the program, and the interpreters of scripts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach/process/command_path.h"

static char folder[PATH_MAX];

struct chain {
	char text[4 * PATH_MAX];
	size_t cnt;
};

static int add_link(void *context, const char *path)
{
	struct chain *chain = context;

	snprintf(chain->text + strlen(chain->text), sizeof(chain->text) - strlen(chain->text), "%s%s",
		 chain->cnt++ ? " > " : "", path);
	return 0;
}

static void write_script(const char *name, const char *text)
{
	char path[PATH_MAX + 32];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0700);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

static void the_interpreters_of_scripts_are_found(void **state)
{
	static const struct {
		const char *name;
		const char *text;
		const char *chain; /* behind the script itself */
	} cases[] = {
		{ "plain", "#!/bin/sh\nexit 0\n", " > /bin/sh" },
		{ "spaces", "#!  /bin/sh   -e\nexit 0\n", " > /bin/sh" },
		{ "env", "#!/usr/bin/env plain\n", " > /usr/bin/env > %s/plain > /bin/sh" },
		{ "env-options", "#!/usr/bin/env -S A=b plain -x\n", " > /usr/bin/env > %s/plain > /bin/sh" },
		{ "env-nothing", "#!/usr/bin/env no-such-program\n", " > /usr/bin/env" },
		{ "no-first-line", "exit 0\n", " > /bin/sh" },
		{ "empty-first-line", "#!\n", "" },
		{ "missing", "#!/no/such/interpreter\n", " > /no/such/interpreter" },
		{ "empty", "", "" },
	};
	char old_path[PATH_MAX];

	(void)state;
	snprintf(old_path, sizeof(old_path), "%s", getenv("PATH") ? getenv("PATH") : "");
	setenv("PATH", folder, 1);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *const command[] = { (char *)cases[i].name, NULL };
		char behind[PATH_MAX + 64], expected[2 * PATH_MAX + 128];
		struct chain chain = { .cnt = 0 };

		write_script(cases[i].name, cases[i].text);
		assert_int_equal(command_path_each(command, add_link, &chain), 0);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		snprintf(behind, sizeof(behind), cases[i].chain, folder);
#pragma GCC diagnostic pop
		snprintf(expected, sizeof(expected), "%s/%s%s", folder, cases[i].name, behind);
		assert_string_equal(chain.text, expected);
	}
	setenv("PATH", old_path, 1);
}

static void a_script_that_interprets_itself_ends(void **state)
{
	char path[PATH_MAX + 32], text[sizeof(path) + 8];
	char *const command[] = { path, NULL };
	struct chain chain = { .cnt = 0 };

	(void)state;
	snprintf(path, sizeof(path), "%s/itself", folder);
	snprintf(text, sizeof(text), "#!%s\n", path);
	write_script("itself", text);
	assert_int_equal(command_path_each(command, add_link, &chain), 0);
	assert_in_range(chain.cnt, 2, 8);
}

static int set_up(void **state)
{
	const char *tmpdir = getenv("TEST_TMPDIR");

	(void)state;
	snprintf(folder, sizeof(folder), "%s/command.XXXXXX", tmpdir ? tmpdir : "/tmp");
	return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
	char command[PATH_MAX + 16];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_interpreters_of_scripts_are_found),
		cmocka_unit_test(a_script_that_interprets_itself_ends),
	};

	return cmocka_run_group_tests_name("attach_command", tests, set_up, tear_down);
}
