/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/process/command_path.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SCRIPT_DEPTH_MAX 5      /* the kernel follows no more */
#define SCRIPT_LINE_BYTES 256   /* and reads no more */
#define SHELL "/bin/sh"         /* runs what is neither a program nor a script with a first line */
#define DEFAULT_PATH "/bin:/usr/bin"

static bool is_executable_file(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

/* Searches PATH; false if the name is nowhere. An empty entry is the current directory. */
static bool find_in_path(const char *name, char *path, size_t size)
{
	const char *entry = getenv("PATH");

	if (strchr(name, '/'))
		return snprintf(path, size, "%s", name) < (int)size && is_executable_file(path);
	if (!entry)
		entry = DEFAULT_PATH;
	while (*name) {
		size_t length = strcspn(entry, ":");
		int written = snprintf(path, size, "%.*s%s%s", (int)length, entry, length ? "/" : "", name);

		if (written < (int)size && is_executable_file(path))
			return true;
		if (!entry[length])
			break;
		entry += length + 1;
	}
	return false;
}

/* The first bytes of a file, terminated. */
static bool read_start(const char *path, char *start, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	ssize_t length;

	if (fd < 0)
		return false;
	length = read(fd, start, size - 1);
	close(fd);
	start[length > 0 ? length : 0] = '\0';
	return length > 0;
}

/* env [-OPTION | NAME=VALUE]… NAME */
static char *env_program(char *arguments)
{
	char *word;

	while ((word = strsep(&arguments, " \t")))
		if (word[0] && word[0] != '-' && !strchr(word, '='))
			return word;
	return NULL;
}

static bool is_env(const char *path)
{
	const char *slash = strrchr(path, '/');

	return strcmp(slash ? slash + 1 : path, "env") == 0;
}

/*
 * Calls visit for the interpreter of a script's first line ("#!" has been cut off) and puts the path of what
 * runs next there.
 */
static int visit_interpreter(char *line, command_path_visit visit, void *context, char *path, size_t size)
{
	char *interpreter;
	int result;

	line[strcspn(line, "\n")] = '\0';
	line += strspn(line, " \t");
	interpreter = strsep(&line, " \t");
	if (!interpreter[0] || snprintf(path, size, "%s", interpreter) >= (int)size) {
		path[0] = '\0';
		return 0;
	}
	if (!is_env(path) || !line)
		return 0;
	result = visit(context, path);
	interpreter = env_program(line);
	if (!interpreter || !find_in_path(interpreter, path, size))
		path[0] = '\0';
	return result;
}

int command_path_each(char *const argv[], command_path_visit visit, void *context)
{
	char path[PATH_MAX], start[SCRIPT_LINE_BYTES + 1];
	int result = 0;

	if (!argv[0] || !find_in_path(argv[0], path, sizeof(path)))
		return 0;
	for (int depth = 0; depth <= SCRIPT_DEPTH_MAX && path[0]; depth++) {
		result = visit(context, path);
		if (result || !read_start(path, start, sizeof(start)) || memcmp(start, "\177ELF", 4) == 0)
			return result;
		if (strncmp(start, "#!", 2) != 0)
			return visit(context, SHELL);
		result = visit_interpreter(start + 2, visit, context, path, sizeof(path));
		if (result)
			return result;
	}
	return result;
}
