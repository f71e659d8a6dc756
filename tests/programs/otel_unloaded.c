/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * otel_unloaded LIBRARY OTHER GO: publishes a context by the variable of LIBRARY, unloads that, and loads
 * OTHER, whose variable of each thread takes its place and its number: it leads to what looks like a context,
 * of trace 5 and span 6. A second later it sleeps in that, and then loads LIBRARY again and is in a context.
 */
#include <dlfcn.h>
#include <stdio.h>

#include "otel_context.h"

static struct otel_record **(*variable)(void);

struct otel_record **otel_variable(void)
{
	return variable();
}

static void *load(const char *path, const char *name)
{
	void *library = dlopen(path, RTLD_NOW);

	if (library)
		*(void **)&variable = dlsym(library, name);
	return variable ? library : NULL;
}

static void sleep_in(struct otel_record *record, uint64_t trace, uint64_t span)
{
	otel_set(record, trace, span);
	for (int i = 0; i < 20; i++)
		usleep(1000);
	otel_set(record, 0, 0);
	usleep(1000);
}

int main(int argc, char **argv)
{
	static struct otel_record record, other;
	void *library = argc > 3 ? load(argv[1], "otel_variable") : NULL, *second;

	if (!library)
		return 2;
	while (access(argv[3], F_OK))
		usleep(10000);
	sleep_in(&record, 7, 8);
	*otel_variable() = NULL;
	dlclose(library);
	second = load(argv[2], "other_variable");
	if (!second)
		return 2;
	sleep(1);
	sleep_in(&other, 5, 6);
	library = load(argv[1], "otel_variable");
	if (!library)
		return 2;
	sleep(1);
	sleep_in(&record, 7, 11);
	puts("done");
	return 0;
}
