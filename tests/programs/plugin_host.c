/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loads plugins (copies of plugins/plugin.c, given by --plugin with %d for their numbers) one after the other, waits until somebody traces each, and lets it
 * make spans. One line for each: {"type":"plugin","path":…,"waited_ns":N,"spans":N}: how long after dlopen it was traced.
 */
#include <dlfcn.h>

#include "truth.h"

static void use_plugin(const char *path, uint64_t span_cnt, double limit_s)
{
	uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC), loaded_ns, end_ns = begin_ns + (uint64_t)(limit_s * 1e9);
	void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	int (*is_traced)(void);
	void (*work)(unsigned long cnt);

	if (!plugin)
		fprintf(stderr, "%s\n", dlerror());
	must(plugin, "cannot load the plugin");
	loaded_ns = clock_ns(CLOCK_MONOTONIC);
	is_traced = (int (*)(void))(uintptr_t)dlsym(plugin, "plugin_is_traced");
	work = (void (*)(unsigned long))(uintptr_t)dlsym(plugin, "plugin_work");
	must(is_traced && work, "the plugin lacks its functions");
	while (!is_traced() && clock_ns(CLOCK_MONOTONIC) < end_ns)
		usleep(200);
	must(is_traced(), "nobody traces the plugin");
	printf("{\"type\":\"plugin\",\"path\":\"%s\",\"waited_ns\":%llu,\"spans\":%llu}\n", path,
	       (unsigned long long)(clock_ns(CLOCK_MONOTONIC) - loaded_ns), (unsigned long long)span_cnt);
	usleep(20000); /* the probes come one after the other */
	work(span_cnt);
	dlclose(plugin);
}

int main(int argc, char **argv)
{
	struct truth_options options = TRUTH_OPTIONS_DEFAULT;
	const char *plugin = NULL;
	uint64_t span_cnt = 100;
	char path[4096];
	const struct option_spec table[] = {
		TRUTH_OPTION_SPECS(&options),
		{ .name = "plugin", .help = "path, with %d for the number", .text = &plugin },
		{ .name = "spans", .help = "that each makes", .count = &span_cnt, .max = 1000000 },
	};

	options_parse(table, sizeof(table) / sizeof(table[0]), "plugin_host: spans of plugins that are loaded while it is traced", argc, argv);
	must(plugin && strstr(plugin, "%d"), "give --plugin PATH with a %d in it");
	truth_start(&options);
	for (uint64_t i = 0; i < options.repeat_cnt; i++) {
		int before = (int)(strstr(plugin, "%d") - plugin);

		snprintf(path, sizeof(path), "%.*s%llu%s", before, plugin, (unsigned long long)i, plugin + before + 2);
		use_plugin(path, span_cnt, 30);
		TXTRACE_EVENT(0, "a plugin is done");
	}
	return 0;
}
