/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loads and unloads a plugin (a copy of plugins/plugin.c) again and again, lets it make spans each time, and
 * prints how much memory the program has after a tenth of the cycles, and at the end:
 * {"type":"memory","early_kib":N,"late_kib":N}
 */
#include <dlfcn.h>

#include "truth.h"

static unsigned long resident_kib(void)
{
	unsigned long pages = 0, ignored;
	FILE *file = fopen("/proc/self/statm", "re");

	must(file && fscanf(file, "%lu %lu", &ignored, &pages) == 2, "cannot read how much memory there is");
	fclose(file);
	return pages * (unsigned long)sysconf(_SC_PAGESIZE) / 1024;
}

/* The first time it may take a while until it is traced. */
static void use_plugin(const char *path, uint64_t span_cnt)
{
	void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	void (*work)(unsigned long cnt);
	unsigned int (*set_cnt)(void);

	must(plugin, "cannot load the plugin");
	set_cnt = (unsigned int (*)(void))(uintptr_t)dlsym(plugin, "plugin_set_cnt");
	work = (void (*)(unsigned long))(uintptr_t)dlsym(plugin, "plugin_work");
	must(set_cnt && work, "the plugin lacks its functions");
	for (int i = 0; !set_cnt(); i++) {
		must(i < 300000, "nobody traces the plugin");
		usleep(200);
	}
	work(span_cnt);
	dlclose(plugin);
}

int main(int argc, char **argv)
{
	struct truth_options options = TRUTH_OPTIONS_DEFAULT;
	uint64_t cycle_cnt = 1000, span_cnt = 200, done = 0;
	const char *plugin = NULL;
	unsigned long early_kib;
	const struct option_spec table[] = {
		TRUTH_OPTION_SPECS(&options),
		{ .name = "plugin", .help = "its path", .text = &plugin },
		{ .name = "cycles", .help = "how many", .count = &cycle_cnt, .min = 10, .max = 1000000 },
		{ .name = "spans", .help = "in each", .count = &span_cnt, .max = 1000000 },
	};

	options_parse(table, sizeof(table) / sizeof(table[0]), "plugin_cycles: a plugin comes and goes", argc,
		      argv);
	must(plugin, "give --plugin PATH");
	truth_start(&options);
	for (; done < cycle_cnt / 10; done++)
		use_plugin(plugin, span_cnt);
	early_kib = resident_kib();
	for (; done < cycle_cnt; done++)
		use_plugin(plugin, span_cnt);
	printf("{\"type\":\"memory\",\"early_kib\":%lu,\"late_kib\":%lu}\n", early_kib, resident_kib());
	return 0;
}
