/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/report/function_listing.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attach/code/cxx_name.h"
#include "base/glob.h"

/* A function's symbol, and what it stands for. */
struct listed_function {
	const char *symbol;
	const char *cxx_name; /* NULL: none */
	bool is_chooser; /* it chooses what its name stands for */
};

/* What --func calls a file: "libssl" for /usr/lib/libssl.so.3, "python3.11" for /usr/bin/python3.11. */
static void function_listing_binary(struct text *name, const char *path)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	const char *so = strstr(base, ".so");

	text_append_escaped(name, base, so && so != base ? (size_t)(so - base) : strlen(base));
}

static bool matches_name(const char *pattern, const char *binary, const char *name)
{
	struct text full = { 0 };
	bool is_match;

	if (glob_matches(pattern, name, strlen(name)))
		return true;
	text_append_format(&full, "%s:", binary);
	text_append(&full, name);
	is_match = !full.err && glob_matches(pattern, text_string(&full), full.length);
	text_release(&full);
	return is_match;
}

static bool matches(const char *pattern, const char *binary, const struct listed_function *function)
{
	char shortened[CXX_NAME_MAX + 1];

	if (matches_name(pattern, binary, function->symbol))
		return true;
	if (!function->cxx_name)
		return false;
	snprintf(shortened, sizeof(shortened), "%s", function->cxx_name);
	cxx_name_shorten(shortened);
	return matches_name(pattern, binary, function->cxx_name) || matches_name(pattern, binary, shortened);
}

static int compare(const void *a, const void *b)
{
	const struct listed_function *left = a, *right = b;

	return strcmp(left->symbol, right->symbol);
}

static void append(struct text *text, const char *binary, const struct listed_function *function)
{
	text_append_format(text, "    %s:", binary);
	text_append_escaped(text, function->symbol, strlen(function->symbol));
	if (function->cxx_name) {
		text_append(text, "  ");
		text_append_escaped(text, function->cxx_name, strlen(function->cxx_name));
	}
	if (function->is_chooser)
		text_append(text, "  (an IFUNC: each program chooses one of several when it starts)");
	text_append(text, "\n");
}

/* names: room for as many; what they stand for is read by a child process, see cxx_name.h. */
static int read_names(const struct elf_functions *functions, struct listed_function *listed, char **names)
{
	const char **mangled = calloc(functions->cnt + 1, sizeof(*mangled));

	if (!mangled)
		return -ENOMEM;
	for (size_t i = 0; i < functions->cnt; i++)
		mangled[i] = functions->functions[i].name;
	cxx_names_read(names, mangled, functions->cnt); /* what cannot be read has its symbol alone */
	for (size_t i = 0; i < functions->cnt; i++)
		listed[i] = (struct listed_function){ mangled[i], names[i],
						      functions->functions[i].is_chooser };
	free(mangled);
	return 0;
}

int function_listing_append(struct text *text, struct elf_reader *reader, const char *path, int fd,
			    const char *pattern, size_t *cnt)
{
	struct elf_functions functions;
	struct listed_function *listed;
	struct text binary = { 0 };
	char **names;
	int err = elf_reader_functions(reader, &functions, fd);

	if (err)
		return err == -ENOMEM ? err : 0;
	listed = calloc(functions.cnt + 1, sizeof(*listed));
	names = calloc(functions.cnt + 1, sizeof(*names));
	err = listed && names ? read_names(&functions, listed, names) : -ENOMEM;
	function_listing_binary(&binary, path);
	if (!err)
		qsort(listed, functions.cnt, sizeof(*listed), compare);
	for (size_t i = 0; !err && i < functions.cnt; i++) {
		if ((i && !compare(&listed[i - 1], &listed[i])) ||
		    !matches(pattern, text_string(&binary), &listed[i]))
			continue;
		append(text, text_string(&binary), &listed[i]);
		++*cnt;
	}
	for (size_t i = 0; names && i < functions.cnt; i++)
		free(names[i]);
	free(names);
	free(listed);
	text_release(&binary);
	elf_functions_release(&functions);
	return err;
}
