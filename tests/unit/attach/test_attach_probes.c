/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Real probes on the real kernel. The traced program is this one, started again as "PROGRAM spans": it makes
 * as many spans as it is told to, and a small BPF program counts the hits of each probe. So every count has a
 * known answer.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attach/attach.h"
#include "attach/process/capabilities.h"
#include "unit/attach_player.h"
#include "unit/skip.h"

static struct attach *attach_open(const struct kernel_part *part, struct program_memory *memory,
				  bool is_every_process)
{
	struct attach_options options = {
		.features = &part->features,
		.programs = part->programs,
		.program_cnt = 2,
		.memory = memory,
		.is_every_process = is_every_process,
	};
	struct attach *attach;

	assert_int_equal(attach_new(&attach, &options), 0);
	return attach;
}

/* ---- the stories ---- */

static void check_counts(const struct kernel_part *part, uint64_t expected)
{
	struct counts counts = kernel_part_counts(part);

	assert_int_equal(counts.begins, expected);
	assert_int_equal(counts.ends, expected);
}

/* Untraced before, every span counted while attached, untraced afterwards. */
static void play(bool use_multi)
{
	struct error error = { "" };
	struct attach_stats stats;
	struct kernel_part part;
	struct player player;
	struct attach *attach;

	kernel_part_open(&part, use_multi);
	attach = attach_open(&part, NULL, false);
	player_start(&player, own_path);
	assert_false(player_does(&player, "s 100"));
	check_counts(&part, 0);

	assert_int_equal(attach_scan(attach, player.pid, &error), 2);
	assert_string_equal(error.text, "");
	attach_stats(attach, &stats);
	assert_int_equal(stats.object_cnt, 1);
	assert_int_equal(stats.site_cnt, 2);
	assert_int_equal(stats.link_cnt, 2);
	assert_true(player_does(&player, "s 1000"));
	check_counts(&part, 1000);
	assert_int_equal(attach_scan(attach, player.pid, &error), 0); /* nothing new, nothing twice */
	assert_true(player_does(&player, "s 1"));
	check_counts(&part, 1001);

	attach_close(attach);
	assert_false(player_does(&player, "s 100"));
	check_counts(&part, 1001);
	player_stop(&player);
	bpf_object__close(part.object);
}

static void every_span_of_a_running_process_is_seen(void **state)
{
	(void)state;
	play(true);
}

static void also_through_perf_uprobes(void **state)
{
	(void)state;
	play(false);
}

/* uprobe_multi probes one process: others that run the same file are not even told that they are traced. */
static void another_process_of_the_same_program_is_left_alone(void **state)
{
	struct error error;
	struct kernel_part part;
	struct player traced, other;
	struct attach *attach;

	(void)state;
	kernel_part_open(&part, true);
	attach = attach_open(&part, NULL, false);
	player_start(&traced, own_path);
	player_start(&other, own_path);
	player_does(&traced, "s 0"); /* has exec'd */
	player_does(&other, "s 0");
	assert_int_equal(attach_scan(attach, traced.pid, &error), 2);
	assert_int_equal(player_does(&other, "s 100"), !part.features.has_uprobe_multi_pid);
	assert_true(player_does(&traced, "s 7"));
	if (part.features.has_uprobe_multi_pid)
		check_counts(&part, 7);

	/* Then the other one as well: each has its own links. */
	assert_int_equal(attach_scan(attach, other.pid, &error), 2);
	assert_true(player_does(&other, "s 100"));
	if (part.features.has_uprobe_multi_pid)
		check_counts(&part, 107);
	attach_forget(attach, traced.pid, 1); /* what has been attached since an exec holds on */
	assert_true(player_does(&traced, "s 1"));
	if (part.features.has_uprobe_multi_pid)
		check_counts(&part, 108);
	attach_forget(attach, traced.pid, UINT64_MAX);
	assert_true(player_does(&other, "s 1"));
	player_does(&traced, "s 1");
	if (part.features.has_uprobe_multi_pid)
		check_counts(&part, 109);
	attach_close(attach);
	player_stop(&traced);
	player_stop(&other);
	bpf_object__close(part.object);
}

static void every_process_of_the_program_is_probed_if_asked(void **state)
{
	struct error error;
	struct kernel_part part;
	struct player one, other;
	struct attach *attach;

	(void)state;
	kernel_part_open(&part, true);
	attach = attach_open(&part, NULL, true);
	player_start(&one, own_path);
	player_does(&one, "s 0");
	assert_int_equal(attach_scan(attach, one.pid, &error), 2);
	player_start(&other, own_path); /* later than the probes */
	assert_true(player_does(&other, "s 3"));
	assert_true(player_does(&one, "s 2"));
	check_counts(&part, 5);
	assert_int_equal(attach_scan(attach, other.pid, &error), 0);
	attach_close(attach);
	player_stop(&one);
	player_stop(&other);
	bpf_object__close(part.object);
}

/*
 * A launched command is held at its exec, so not one span is missed; and its labels are read when it has long
 * ended.
 */
static void launch(bool is_held)
{
	char *const command[] = { own_path, (char *)"spans", (char *)"now", (char *)"250", NULL };
	struct program_memory *memory = program_memory_new(NULL);
	struct error error = { "" };
	struct event_text label;
	struct kernel_part part;
	struct target *target;
	struct attach *attach;
	int exit_status = -1;
	uint32_t pid;

	kernel_part_open(&part, true);
	attach = attach_open(&part, memory, false);
	assert_int_equal(target_launch(&target, command, &error), 0);
	assert_int_equal(target_can_be_held(target), is_held);
	pid = (uint32_t)target_pid(target);
	assert_int_equal(attach_command(attach, target, &error), is_held ? 0 : 2);
	assert_int_equal(target_go(target, &exit_status, &error), 0);
	if (is_held)
		assert_int_equal(attach_scan(attach, (pid_t)pid, &error), 2);
	else
		/* it may have ended already, or all is known */
		assert_true(attach_scan(attach, (pid_t)pid, &error) <= 0);
	target_resume(target);
	assert_int_equal(target_wait(target, &exit_status), 0);
	assert_int_equal(exit_status, 3);
	check_counts(&part, 250);
	if (is_held) {
		assert_int_equal(program_memory_label(memory, pid, kernel_part_counts(&part).last_label,
						      &label),
				 0);
		assert_int_equal(label.length, strlen(LABEL));
		assert_memory_equal(label.bytes, LABEL, label.length);
	}
	target_close(target);
	attach_close(attach);
	program_memory_free(memory);
	bpf_object__close(part.object);
}

static void a_command_is_traced_from_its_first_instruction(void **state)
{
	(void)state;
	launch(true);
}

/* Takes CAP_SYS_PTRACE away, or gives it back. */
static void set_ptrace_capability(bool is_on)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	assert_int_equal(syscall(SYS_capget, &header, data), 0);
	if (is_on)
		data[0].effective |= 1u << CAP_SYS_PTRACE;
	else
		data[0].effective &= ~(1u << CAP_SYS_PTRACE);
	assert_int_equal(syscall(SYS_capset, &header, data), 0);
}

static void also_where_it_cannot_be_held(void **state)
{
	(void)state;
	set_ptrace_capability(false);
	launch(false);
	set_ptrace_capability(true);
}

/*
 * exec makes another image of the same process; what was probed in the first one does not hold for the
 * second.
 */
static void an_exec_is_followed(void **state)
{
	struct error error;
	struct kernel_part part;
	struct player player;
	struct attach *attach;

	(void)state;
	kernel_part_open(&part, true);
	attach = attach_open(&part, NULL, false);
	player_start(&player, own_path);
	player_does(&player, "s 0");
	assert_int_equal(attach_scan(attach, player.pid, &error), 2);
	assert_true(player_does(&player, "s 10"));
	fputs("e\n", player.commands); /* the same file, so its probes stay */
	player_stop(&player);
	check_counts(&part, 15);
	assert_int_equal(attach_scan(attach, player.pid, &error), -ESRCH);
	assert_non_null(strstr(error.text, "has ended"));
	attach_close(attach);
	bpf_object__close(part.object);
}

/*
 * A name with a space, a newline, an escape sequence and " (deleted)", of a file that another one has
 * replaced.
 */
static void a_replaced_program_with_an_ugly_name_is_attached_by_what_is_mapped(void **state)
{
	char path[PATH_MAX + 64];
	struct error error;
	struct kernel_part part;
	struct player player;
	struct attach *attach;

	(void)state;
	kernel_part_open(&part, true);
	attach = attach_open(&part, NULL, false);
	snprintf(path, sizeof(path), "%s/a b\nc\033[31m (deleted)", folder);
	run("cp '%s' '%s'", own_path, path);
	player_start(&player, path);
	player_does(&player, "s 0");
	assert_int_equal(unlink(path), 0);
	write_file(path, "not the program any more");
	assert_int_equal(attach_scan(attach, player.pid, &error), 2);
	assert_true(player_does(&player, "s 12"));
	check_counts(&part, 12);
	attach_close(attach);
	player_stop(&player);
	bpf_object__close(part.object);
}

static void a_plugin_that_is_loaded_later_is_attached_by_the_next_scan(void **state)
{
	char path[PATH_MAX + 64], command[PATH_MAX + 64];
	struct attach_stats stats;
	struct error error;
	struct kernel_part part;
	struct player player;
	struct attach *attach;

	(void)state;
	snprintf(path, sizeof(path), "%s/plugin.c", folder);
	write_file(path,
		   "#include \"txtrace.h\"\nvoid make_plugin_spans(unsigned n);\n"
		   "void make_plugin_spans(unsigned n) { while (n--) { TXTRACE_SPAN(\"plugin\"); } }\n");
	run("cc -Iinclude -O2 -fPIC -shared '%s' -o '%s/plugin.so'", path, folder);
	kernel_part_open(&part, true);
	attach = attach_open(&part, NULL, false);
	player_start(&player, own_path);
	player_does(&player, "s 0");
	assert_int_equal(attach_scan(attach, player.pid, &error), 2);
	snprintf(command, sizeof(command), "l %s/plugin.so", folder);
	player_does(&player, command);
	assert_int_equal(attach_scan(attach, player.pid, &error), 2);
	attach_stats(attach, &stats);
	assert_int_equal(stats.object_cnt, 2);
	player_does(&player, "p 30");
	player_does(&player, "s 4");
	check_counts(&part, 34);
	attach_close(attach);
	player_stop(&player);
	bpf_object__close(part.object);
}

/* One BPF program for several probes needs one link; the cookie tells which probe it was. */
static void one_program_may_handle_several_probes(void **state)
{
	struct error error;
	struct attach_stats stats;
	struct kernel_part part;
	struct player player;
	struct attach *attach;

	(void)state;
	if (!has_cookies())
		skip_because("this kernel has no cookies of probes (5.15 and later have)");
	kernel_part_open(&part, true);
	part.programs[0] = part.programs[1]; /* on_begin for both */
	part.programs[0].probe = "end";
	part.programs[0].cookie = 5;
	part.programs[1].cookie = 700;
	attach = attach_open(&part, NULL, false);
	player_start(&player, own_path);
	player_does(&player, "s 0");
	assert_int_equal(attach_scan(attach, player.pid, &error), 2);
	attach_stats(attach, &stats);
	assert_int_equal(stats.site_cnt, 2);
	assert_int_equal(stats.link_cnt, part.features.has_uprobe_multi ? 1 : 2);
	assert_true(player_does(&player, "s 10"));
	assert_int_equal(kernel_part_counts(&part).begins, 20);
	assert_int_equal(kernel_part_counts(&part).ends, 0);
	assert_int_equal(kernel_part_counts(&part).cookies, 10 * (5 + 700));
	attach_close(attach);
	assert_false(player_does(&player, "s 10"));
	player_stop(&player);
	bpf_object__close(part.object);
}

/* A kernel that does not take the fast nops: here, a place behind the end of the file. */
static void where_the_fast_nops_are_refused_the_first_ones_are_probed(void **state)
{
	struct probe_site slow[] = { { .probe = "begin" }, { .probe = "end" } };
	struct probe_sites sites = { .sites = slow, .cnt = 2 }, found;
	struct probe_links_options options = { .program_cnt = 2 };
	int fd = open(own_path, O_RDONLY | O_CLOEXEC);
	struct probe_links *links;
	struct kernel_part part;
	struct elf_notes notes;
	struct player player;
	struct error error;

	(void)state;
	kernel_part_open(&part, true);
	assert_int_equal(elf_notes_read(&notes, fd), 0);
	assert_int_equal(probe_sites_find(&found, &notes, fd, FAST_NOP_NONE), 0);
	for (size_t i = 0; i < found.cnt; i++)
		for (size_t s = 0; s < 2; s++)
			if (strcmp(found.sites[i].probe, slow[s].probe) == 0)
				slow[s] = found.sites[i];
	slow[0].fast_offset = slow[1].fast_offset = 1ull << 40;
	player_start(&player, own_path);
	player_does(&player, "s 0");
	options.features = &part.features;
	options.programs = part.programs;
	options.pid = player.pid;
	assert_int_equal(probe_links_attach(&links, &options, fd, &sites, &error), 2);
	assert_false(probe_links_are_fast(links));
	assert_true(player_does(&player, "s 9"));
	check_counts(&part, 9);
	probe_links_close(links);

	slow[0].offset = 1ull << 40; /* now the first ones as well: nothing is attached, and it is said */
	assert_true(probe_links_attach(&links, &options, fd, &sites, &error) < 0);
	assert_null(links);
	assert_non_null(strstr(error.text, "the kernel refuses the probes"));
	assert_false(player_does(&player, "s 9"));
	check_counts(&part, 9);
	player_stop(&player);
	probe_sites_release(&found);
	elf_notes_release(&notes);
	bpf_object__close(part.object);
	close(fd);
}

/* Links are made by a thread with a deadline; after the renewal by another one. */
static void links_are_made_by_a_thread_before_and_after_it_is_renewed(void **state)
{
	struct kernel_part part;
	struct attach_options options = { .program_cnt = 2, .link_wait_ns = 60000000000u };
	struct player first, second;
	struct attach *attach;
	struct error error;

	(void)state;
	kernel_part_open(&part, true);
	options.features = &part.features;
	options.programs = part.programs;
	assert_int_equal(attach_new(&attach, &options), 0);
	attach_renew_threads(attach); /* there is none yet */
	player_start(&first, own_path);
	player_start(&second, own_path);
	player_does(&first, "s 0");
	player_does(&second, "s 0");
	assert_int_equal(attach_scan(attach, first.pid, &error), 2);
	attach_renew_threads(attach);
	assert_int_equal(attach_scan(attach, second.pid, &error), 2);
	attach_renew_threads(attach);
	assert_false(attach_has_put_off(attach));
	assert_true(player_does(&first, "s 10"));
	assert_true(player_does(&second, "s 20"));
	check_counts(&part, 30);
	attach_close(attach);
	assert_false(player_does(&first, "s 10"));
	player_stop(&first);
	player_stop(&second);
	bpf_object__close(part.object);
}

static void a_process_that_has_ended_is_told(void **state)
{
	struct error error;
	struct kernel_part part;
	struct player player;
	struct attach *attach;

	(void)state;
	kernel_part_open(&part, true);
	attach = attach_open(&part, NULL, false);
	player_start(&player, own_path);
	player_stop(&player);
	assert_int_equal(attach_scan(attach, player.pid, &error), -ESRCH);
	assert_non_null(strstr(error.text, "has ended"));
	attach_close(attach);
	bpf_object__close(part.object);
}

static int set_up(void **state)
{
	const char *tmpdir = getenv("TEST_TMPDIR");

	(void)state;
	snprintf(folder, sizeof(folder), "%s", tmpdir ? tmpdir : "/tmp");
	if (!realpath("/proc/self/exe", own_path))
		return -1;
	compile_counter();
	return 0;
}

int main(int argc, char *argv[])
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_span_of_a_running_process_is_seen),
		cmocka_unit_test(also_through_perf_uprobes),
		cmocka_unit_test(another_process_of_the_same_program_is_left_alone),
		cmocka_unit_test(every_process_of_the_program_is_probed_if_asked),
		cmocka_unit_test(a_command_is_traced_from_its_first_instruction),
		cmocka_unit_test(also_where_it_cannot_be_held),
		cmocka_unit_test(an_exec_is_followed),
		cmocka_unit_test(a_replaced_program_with_an_ugly_name_is_attached_by_what_is_mapped),
		cmocka_unit_test(a_plugin_that_is_loaded_later_is_attached_by_the_next_scan),
		cmocka_unit_test(one_program_may_handle_several_probes),
		cmocka_unit_test(where_the_fast_nops_are_refused_the_first_ones_are_probed),
		cmocka_unit_test(links_are_made_by_a_thread_before_and_after_it_is_renewed),
		cmocka_unit_test(a_process_that_has_ended_is_told),
	};
	struct kernel_features features;
	struct error missing;

	if (argc > 2 && strcmp(argv[1], "spans") == 0)
		return run_as_target(argc, argv);
	kernel_features_probe(&features);
	if (kernel_features_missing(&features, &missing, 1)) {
		printf("1..0 # SKIP bpf: %s\n", missing.text);
		return 0;
	}
	return cmocka_run_group_tests_name("attach_probes", tests, set_up, NULL);
}
