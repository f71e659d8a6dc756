/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loads plugins (copies of plugins/plugin.c, given by --plugin with %d for their numbers) one after the
 * other, waits until somebody traces each, and lets it make spans. One line for each:
 * {"type":"plugin","path":…,"waited_ns":N,"spans":N}: how long after dlopen it was traced.
 */
#include <dlfcn.h>

#include "truth.h"

/* The probes come one after the other. Returns how long the first one took. */
static uint64_t wait_for_probes(unsigned int (*set_cnt)(void), double limit_s)
{
	uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC), change_ns = begin_ns, first_ns = 0;
	unsigned int before_cnt = 0, cnt;

	while (!before_cnt || clock_ns(CLOCK_MONOTONIC) - change_ns < SETTLE_NS) {
		cnt = set_cnt();
		if (cnt != before_cnt) {
			change_ns = clock_ns(CLOCK_MONOTONIC);
			first_ns = first_ns ? first_ns : change_ns - begin_ns;
		}
		before_cnt = cnt;
		must(cnt || clock_ns(CLOCK_MONOTONIC) - begin_ns < (uint64_t)(limit_s * 1e9),
		     "nobody traces the plugin");
		usleep(200);
	}
	return first_ns;
}

static void use_plugin(const char *path, uint64_t span_cnt, double limit_s)
{
	void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	unsigned int (*set_cnt)(void);
	void (*work)(unsigned long cnt);

	if (!plugin)
		fprintf(stderr, "%s\n", dlerror());
	must(plugin, "cannot load the plugin");
	set_cnt = (unsigned int (*)(void))(uintptr_t)dlsym(plugin, "plugin_set_cnt");
	work = (void (*)(unsigned long))(uintptr_t)dlsym(plugin, "plugin_work");
	must(set_cnt && work, "the plugin lacks its functions");
	printf("{\"type\":\"plugin\",\"path\":\"%s\",\"waited_ns\":%llu,\"spans\":%llu}\n", path,
	       (unsigned long long)wait_for_probes(set_cnt, limit_s), (unsigned long long)span_cnt);
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

	options_parse(table, sizeof(table) / sizeof(table[0]),
		      "plugin_host: spans of plugins that are loaded while it is traced", argc, argv);
	must(plugin && strstr(plugin, "%d"), "give --plugin PATH with a %d in it");
	truth_start(&options);
	for (uint64_t i = 0; i < options.repeat_cnt; i++) {
		int before = (int)(strstr(plugin, "%d") - plugin);

		snprintf(path, sizeof(path), "%.*s%llu%s", before, plugin, (unsigned long long)i,
			 plugin + before + 2);
		use_plugin(path, span_cnt, 300);
		TXTRACE_EVENT(0, "a plugin is done");
	}
	return 0;
}
