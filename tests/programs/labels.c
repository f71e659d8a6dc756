/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Labels and names that are no literals of the macros: on the heap and on the stack, written over right after
 * the mark; longer than there is room for; at addresses that hold nothing. --plugin PATH: child processes
 * that load the plugin, let it make spans, and end at once. Ends without a pause.
 */
#include <dlfcn.h>
#include <sys/wait.h>

#include "truth.h"

#define WAIT_S 300

/* Far from everything that is used: its page is not there when it is passed. */
static const char untouched[1 << 20] = { [1 << 19] = 'n', 'e', 'v', 'e', 'r', ' ', 'r', 'e', 'a', 'd' };

static uint64_t next_id = 1;

static void mark(const char *text)
{
	uint64_t id = next_id++;

	txtrace_site_begin(id, text, 0);
	txtrace_site_event(id, text);
	txtrace_site_attr(id, text, 3 /* unsigned */, id);
	txtrace_site_end(id);
	txtrace_site_counter(text, (int64_t)id);
}

/* The same place each time, with another text. */
static void mark_rewritten(char *place, size_t size, const char *where, uint64_t cnt)
{
	for (uint64_t i = 0; i < cnt; i++) {
		snprintf(place, size, "%s %llu", where, (unsigned long long)i);
		mark(place);
		memset(place, '!', size);
	}
}

static void mark_everywhere(uint64_t cnt)
{
	char *heap = malloc(400), stack[64];

	must(heap, "no memory");
	txtrace_site_begin(next_id, &untouched[1 << 19], 0);
	txtrace_site_tag(next_id, &untouched[1 << 19]);
	txtrace_site_attr(next_id, "text", 5 /* string */, (uintptr_t)&untouched[1 << 19]);
	txtrace_site_end(next_id++);
	mark_rewritten(heap, 400, "on the heap", cnt);
	memset(heap, 'x', 399);
	heap[399] = '\0';
	mark(heap);
	free(heap);
	mark_rewritten(stack, sizeof(stack), "on the stack", cnt);
	txtrace_site_key_begin("key", "k", 1);
	strcpy(stack, "named");
	txtrace_site_key_event("k", 1, stack);
	txtrace_site_key_end("k", 1);
	for (int i = 0; i < 3; i++) /* what the kernel side uses for itself, and what is not there */
		mark((const char *[]){ (const char *)0x8001000000001000, (const char *)0xfffff00000000000,
				       (const char *)0x4 }[i]);
}

static void use_plugin(const char *path, uint64_t cnt, bool waits)
{
	void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	unsigned int (*set_cnt)(void);
	void (*work)(unsigned long cnt);

	must(plugin, "cannot load the plugin");
	set_cnt = (unsigned int (*)(void))(uintptr_t)dlsym(plugin, "plugin_set_cnt");
	work = (void (*)(unsigned long))(uintptr_t)dlsym(plugin, "plugin_work");
	must(set_cnt && work, "the plugin lacks its functions");
	for (int i = 0; waits && set_cnt() == 0; i++) {
		must(i < WAIT_S * 1000, "nobody traces the plugin");
		usleep(1000);
	}
	if (waits)
		usleep(SETTLE_NS / 1000);
	work(cnt);
}

int main(int argc, char **argv)
{
	struct truth_options options = TRUTH_OPTIONS_DEFAULT;
	const char *plugin = NULL;
	uint64_t child_cnt = 20, is_child = 0;
	const struct option_spec table[] = {
		TRUTH_OPTION_SPECS(&options),
		{ .name = "plugin", .help = "path", .text = &plugin },
		{ .name = "children", .help = "that load it and end", .count = &child_cnt, .max = 10000 },
		{ .name = "child", .help = "1: be one", .count = &is_child, .max = 1 },
	};

	options_parse(table, sizeof(table) / sizeof(table[0]), "labels: those that are no literals", argc,
		      argv);
	if (is_child) {
		use_plugin(plugin, 1, false);
		_exit(0);
	}
	truth_start(&options);
	if (plugin) {
		use_plugin(plugin, 1, true);
		for (uint64_t i = 0; i < child_cnt; i++) {
			if (fork() == 0) {
				execl("/proc/self/exe", "labels", "--child", "1", "--plugin", plugin, NULL);
				_exit(1);
			}
			wait(NULL);
		}
	}
	mark_everywhere(options.repeat_cnt);
	_exit(0);
}
