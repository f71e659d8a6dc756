/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/code/cxx_name.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/code/rust_name.h"

#define MEMORY_MAX (UINT64_C(1) << 30)

typedef char *(*demangle_fn)(const char *mangled, char *room, size_t *size, int *status);

/* In front of each name in the pipe. */
struct name_header {
	uint32_t idx;
	uint32_t length;
};

static bool is_mangled(const char *name)
{
	return (strncmp(name, "_Z", 2) == 0 || strncmp(name, "_R", 2) == 0) &&
	       strlen(name) <= CXX_NAME_MANGLED_MAX;
}

static void limit_child(void)
{
	const struct rlimit time = { CXX_NAME_SECONDS_MAX, CXX_NAME_SECONDS_MAX }, none = { 0, 0 };

	setrlimit(RLIMIT_CPU, &time);
	setrlimit(RLIMIT_CORE, &none);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* whose shadows are larger than that */
	setrlimit(RLIMIT_AS, &(const struct rlimit){ MEMORY_MAX, MEMORY_MAX });
#endif
}

/* demangle: NULL without libstdc++. The name is to be freed; NULL: there is none. */
static char *read_name(const char *mangled, demangle_fn demangle)
{
	char *name = rust_name_read(mangled);
	int status = -1;

	return name || !demangle ? name : demangle(mangled, NULL, NULL, &status);
}

static void run_child(int fd, demangle_fn demangle, const char *const *mangled, size_t cnt)
{
	FILE *out = fdopen(fd, "w");

	limit_child();
	for (size_t i = 0; out && i < cnt; i++) {
		char *name = is_mangled(mangled[i]) ? read_name(mangled[i], demangle) : NULL;
		struct name_header header = { .idx = (uint32_t)i };

		if (!name)
			continue;
		header.length = (uint32_t)strnlen(name, CXX_NAME_MAX + 1);
		if (header.length <= CXX_NAME_MAX) {
			fwrite(&header, sizeof(header), 1, out);
			fwrite(name, header.length, 1, out);
		}
		free(name);
	}
	if (out)
		fflush(out);
	_exit(0);
}

static void take_names(FILE *in, char **names, size_t cnt)
{
	char bytes[CXX_NAME_MAX + 1];
	struct name_header header;

	while (fread(&header, sizeof(header), 1, in) == 1 && header.idx < cnt &&
	       header.length <= CXX_NAME_MAX && fread(bytes, header.length, 1, in) == 1) {
		bytes[header.length] = '\0';
		if (!names[header.idx])
			names[header.idx] = strdup(bytes);
	}
}

static int read_by_child(char **names, demangle_fn demangle, const char *const *mangled, size_t cnt)
{
	int fds[2], err = 0;
	FILE *in = NULL;
	pid_t child;

	if (pipe(fds))
		return -errno;
	child = fork();
	if (child == 0) {
		close(fds[0]);
		run_child(fds[1], demangle, mangled, cnt);
	}
	if (child < 0)
		err = -errno;
	close(fds[1]);
	if (!err)
		in = fdopen(fds[0], "r");
	if (in) {
		take_names(in, names, cnt);
		fclose(in);
	} else {
		close(fds[0]);
	}
	while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	return err;
}

static void *open_library(void)
{
	return dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);
}

void cxx_names_prepare(void)
{
	open_library();
}

int cxx_names_read(char **names, const char *const *mangled, size_t cnt)
{
	void *library;
	demangle_fn demangle = NULL;
	size_t mangled_cnt = 0;
	int err = 0;

	memset(names, 0, cnt * sizeof(*names));
	for (size_t i = 0; i < cnt; i++)
		mangled_cnt += is_mangled(mangled[i]);
	if (!mangled_cnt)
		return 0;
	library = open_library();
	if (library)
		*(void **)&demangle = dlsym(library, "__cxa_demangle");
	err = read_by_child(names, demangle, mangled, cnt);
	if (library)
		dlclose(library);
	return err;
}

static bool closes(char c)
{
	return c == ')' || c == '>' || c == ']' || c == '}';
}

static bool opens(char c)
{
	return c == '(' || c == '<' || c == '[' || c == '{';
}

/* The '(' that the ')' at `end` belongs to; NULL: none. */
static char *parenthesis_before(char *name, char *end)
{
	int depth = 0;

	for (char *at = end; at >= name; at--) {
		depth += *at == ')' ? 1 : *at == '(' ? -1 : 0;
		if (!depth)
			return at;
	}
	return NULL;
}

/*
 * Behind the last blank that is in no brackets: what is before it is the return type. An operator's name may
 * have a blank of its own.
 */
static char *name_start(char *name)
{
	char *operator = strstr(name, "operator");
	char *at = operator ? operator : name + strlen(name);
	int depth = 0;

	for (; at > name; at--) {
		depth += closes(at[-1]) ? 1 : opens(at[-1]) ? -1 : 0;
		if (!depth && at[-1] == ' ')
			return at;
	}
	return name;
}

void cxx_name_shorten(char *name)
{
	char *end = strrchr(name, ')');
	char *parameters = end ? parenthesis_before(name, end) : NULL;
	char *start;

	if (parameters && parameters > name)
		*parameters = '\0';
	start = name_start(name);
	memmove(name, start, strlen(start) + 1);
}
