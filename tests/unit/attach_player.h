/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The two sides of a test of real probes: the traced program, which is the test
 * itself, started again as "PROGRAM spans …", and a small BPF program that
 * counts the hits of its probes.
 */
#ifndef ATTACH_PLAYER_H
#define ATTACH_PLAYER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/version.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/attach.h"
#include "txtrace.h"

#define LABEL "a label of the traced program"

/* ---- the traced program ---- */

static void make_spans(unsigned int cnt)
{
	for (unsigned int i = 0; i < cnt; i++) {
		txtrace_span_t span = TXTRACE_BEGIN(LABEL);

		TXTRACE_END(span);
	}
}

/*
 * "now N": makes N spans and ends. "wait": for each line on stdin, 's N', 'p N'
 * (spans of the plugin), or 'e' (exec "now 5"): does it and answers.
 */
static int run_as_target(int argc, char *argv[])
{
	void (*make_plugin_spans)(unsigned int) = NULL;
	char line[PATH_MAX];

	if (argc == 4 && strcmp(argv[2], "now") == 0) {
		make_spans((unsigned int)atoi(argv[3]));
		return 3;
	}
	while (fgets(line, sizeof(line), stdin)) {
		if (line[0] == 's')
			make_spans((unsigned int)atoi(line + 1));
		if (line[0] == 'p' && make_plugin_spans)
			make_plugin_spans((unsigned int)atoi(line + 1));
		if (line[0] == 'l') {
			void *plugin;

			line[strcspn(line, "\n")] = '\0';
			plugin = dlopen(line + 2, RTLD_NOW);
			*(void **)&make_plugin_spans = plugin ? dlsym(plugin, "make_plugin_spans") : NULL;
		}
		if (line[0] == 'e')
			execl("/proc/self/exe", argv[0], "spans", "now", "5", (char *)NULL);
		puts(TXTRACE_ENABLED() ? "traced" : "untraced");
		fflush(stdout);
	}
	return 0;
}

/* A program that was started and does what it is told. */
struct player {
	pid_t pid;
	FILE *commands;
	FILE *answers;
};

static void player_start(struct player *player, const char *path)
{
	int in[2], out[2];

	assert_int_equal(pipe2(in, O_CLOEXEC), 0);
	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	player->pid = fork();
	if (player->pid == 0) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		execl(path, "player", "spans", "wait", (char *)NULL);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	player->commands = fdopen(in[1], "w");
	player->answers = fdopen(out[0], "r");
}

/* Whether it says that it is traced, once it has done it. */
static bool player_does(struct player *player, const char *command)
{
	char answer[32] = "";

	fprintf(player->commands, "%s\n", command);
	fflush(player->commands);
	assert_non_null(fgets(answer, sizeof(answer), player->answers));
	return strcmp(answer, "traced\n") == 0;
}

static void player_stop(struct player *player)
{
	int status;

	fclose(player->commands);
	assert_int_equal(waitpid(player->pid, &status, 0), player->pid);
	assert_true(WIFEXITED(status));
	fclose(player->answers);
}

/* ---- the BPF program ---- */

static const char counter_source[] =
	"#include <linux/bpf.h>\n#include <linux/ptrace.h>\n#include <bpf/bpf_helpers.h>\n#include "
	"<bpf/bpf_tracing.h>\n"
	"struct { unsigned long long begins, ends, last_label, cookies; } counts;\n"
	"SEC(\"uprobe\") int on_begin(struct pt_regs *ctx)\n"
	"{ __sync_fetch_and_add(&counts.begins, 1); counts.last_label = PT_REGS_PARM2(ctx);\n"
	"  if (HAS_COOKIES) __sync_fetch_and_add(&counts.cookies, bpf_get_attach_cookie(ctx)); return 0; }\n"
	"SEC(\"uprobe\") int on_end(struct pt_regs *ctx) { __sync_fetch_and_add(&counts.ends, 1); return 0; "
	"}\n"
	"char _license[] SEC(\"license\") = \"GPL\";\n";

struct counts {
	uint64_t begins;
	uint64_t ends;
	uint64_t last_label;
	uint64_t cookies; /* summed up */
};

struct kernel_part {
	struct kernel_features features;
	struct bpf_object *object;
	struct probe_program programs[2];
};

static char folder[PATH_MAX];
static char own_path[PATH_MAX];

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static void run(const char *format, ...)
{
	char command[4 * PATH_MAX];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(command, sizeof(command), format, arguments);
	va_end(arguments);
	if (system(command) != 0)
		fail_msg("failed: %s", command);
}

static bool has_cookies(void)
{
	struct kernel_features features;

	kernel_features_probe(&features);
	return features.version >= KERNEL_VERSION(5, 15, 0);
}

static void compile_counter(void)
{
#if defined(__x86_64__)
	const char *architecture = "-D__TARGET_ARCH_x86 -idirafter /usr/include/x86_64-linux-gnu";
#else
	const char *architecture = "-D__TARGET_ARCH_arm64 -idirafter /usr/include/aarch64-linux-gnu";
#endif
	char path[PATH_MAX + 16];

	snprintf(path, sizeof(path), "%s/counter.c", folder);
	write_file(path, counter_source);
	run("clang -target bpf %s -DHAS_COOKIES=%d -g -O2 -c '%s' -o '%s/counter.o'", architecture,
	    has_cookies(), path, folder);
}

static void kernel_part_open(struct kernel_part *part, bool use_multi)
{
	static const char *const names[][2] = { { "end", "on_end" }, { "begin", "on_begin" } };
	char path[PATH_MAX + 16];

	kernel_features_probe(&part->features);
	part->features.has_uprobe_multi = part->features.has_uprobe_multi && use_multi;
	snprintf(path, sizeof(path), "%s/counter.o", folder);
	part->object = bpf_object__open_file(path, NULL);
	assert_non_null(part->object);
	for (size_t i = 0; i < 2; i++) {
		part->programs[i] = (struct probe_program){
			.probe = names[i][0],
			.prog = bpf_object__find_program_by_name(part->object, names[i][1])
		};
		assert_int_equal(probe_program_prepare(part->programs[i].prog, &part->features), 0);
	}
	assert_int_equal(bpf_object__load(part->object), 0);
	for (size_t i = 0; i < 2; i++)
		part->programs[i].prog_fd = bpf_program__fd(part->programs[i].prog);
}

static struct counts kernel_part_counts(const struct kernel_part *part)
{
	struct counts counts = { 0 };
	uint32_t zero = 0;

	assert_int_equal(bpf_map_lookup_elem(bpf_object__find_map_fd_by_name(part->object, ".bss"), &zero,
					     &counts),
			 0);
	return counts;
}

#endif
