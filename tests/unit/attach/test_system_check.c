/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the facts of a machine mean: each obstacle has its row, its verdict and its advice; and settings are
 * read from files that may be anything.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <linux/version.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attach/probes/system_check.h"

#define ROW_MAX 32

static const struct system_facts good = {
	.features = { .release = "6.12.0",
		      .version = KERNEL_VERSION(6, 12, 0),
		      .has_btf = true,
		      .can_load = true,
		      .has_uprobe_multi = true,
		      .has_uprobe_multi_pid = true,
		      .has_cookies = true,
		      .is_root = true,
		      .has_cap_sys_admin = true,
		      .has_cap_bpf = true,
		      .has_cap_perfmon = true,
		      .has_socket_types = true },
	.perf_event_paranoid = 2,
	.unprivileged_bpf_disabled = 2,
	.has_cap_sys_ptrace = true,
	.has_cap_sys_resource = true,
	.memlock_bytes = 8 << 20,
	.ring_cnt = 2,
	.ring_bytes = 16 << 20,
};

static const struct check_row *row_of(const struct system_facts *facts, const char *subject)
{
	static struct check_row rows[ROW_MAX];
	size_t cnt = system_check(facts, rows, ROW_MAX);

	assert_in_range(cnt, 1, ROW_MAX);
	for (size_t i = 0; i < cnt; i++)
		if (!strcmp(rows[i].subject, subject))
			return &rows[i];
	fail_msg("there is no row '%s'", subject);
	return NULL;
}

static size_t count(const struct system_facts *facts, enum check_verdict verdict)
{
	struct check_row rows[ROW_MAX];
	size_t cnt = system_check(facts, rows, ROW_MAX), found = 0;

	for (size_t i = 0; i < cnt; i++) {
		found += rows[i].verdict == verdict;
		assert_true(*rows[i].found.text);
		assert_null(strstr(rows[i].found.text, "..."));
		assert_null(strstr(rows[i].advice.text, "..."));
		if (rows[i].verdict == CHECK_MISSING)
			assert_true(*rows[i].advice.text);
	}
	return found;
}

static void where_all_works_all_is_ok(void **state)
{
	struct check_row rows[2];

	(void)state;
	assert_int_equal(count(&good, CHECK_OK), system_check(&good, NULL, 0));
	assert_int_equal(system_check(&good, rows, 2), system_check(&good, NULL, 0));
	assert_string_equal(check_verdict_names[CHECK_UNKNOWN], "unknown");
}

/* One fact is changed; that row alone is missing, and says what to do. */
static void each_obstacle_has_its_row(void **state)
{
	struct system_facts facts[10];
	static const struct {
		const char *subject;
		const char *advice;
	} rows[10] = {
		{ "kernel", "5.10" },
		{ "BTF", "CONFIG_DEBUG_INFO_BTF" },
		{ "lockdown", "lockdown=integrity" },
		{ "capabilities", "CAP_SYS_ADMIN: only with uprobe_multi" },
		{ "namespaces", "--userns=host" },
		{ "namespaces", "--pid=host" },
		{ "BPF programs", "seccomp" },
		{ "BPF programs", "TXTRACE_DEBUG_LIBBPF" },
		{ "ring buffers", "ulimit -l" },
		{ "ring buffers", "--ring-size" },
	};

	(void)state;
	for (size_t i = 0; i < 10; i++)
		facts[i] = good;
	facts[0].features.version = KERNEL_VERSION(5, 4, 0);
	facts[1].features.has_btf = false;
	facts[2].features.lockdown = LOCKDOWN_CONFIDENTIALITY;
	facts[3].features.has_uprobe_multi = facts[3].features.has_cap_sys_admin = false;
	facts[4].is_in_user_namespace = true;
	facts[5].features.is_in_pid_namespace = true;
	facts[6].features.can_load = false;
	facts[6].features.load_errno = EPERM;
	facts[6].has_seccomp = true;
	facts[7].load_err = -EINVAL;
	facts[8].ring_errno = EPERM;
	facts[8].features.version = KERNEL_VERSION(5, 10, 0);
	facts[8].has_cap_sys_resource = false;
	facts[9].ring_errno = ENOMEM;
	for (size_t i = 0; i < 10; i++) {
		const struct check_row *row = row_of(&facts[i], rows[i].subject);

		assert_int_equal(row->verdict, CHECK_MISSING);
		if (!strstr(row->advice.text, rows[i].advice))
			fail_msg("no '%s' in '%s'", rows[i].advice, row->advice.text);
		assert_int_equal(count(&facts[i], CHECK_MISSING), 1);
	}
}

/* Which clock of stolen time is read, by what the kernel has and who runs it; and what --check says. */
static void stolen_time_has_its_source(void **state)
{
	const struct percpu_layout both = { .kvm_steal = -82112, .queue_steal = 2816 },
				   queue = { .queue_steal = 2816 }, none = { 0 };
	static const struct {
		enum hypervisor hypervisor;
		enum steal_kind kind[3]; /* with both, with that of the queue, with none */
		enum check_verdict verdict[3];
	} rows[] = {
		{ HYPERVISOR_NONE, { 0, 0, 0 }, { CHECK_OK, CHECK_OK, CHECK_OK } },
		{ HYPERVISOR_KVM,
		  { STEAL_EXACT, STEAL_LATE, STEAL_NOT_TOLD },
		  { CHECK_OK, CHECK_LIMITED, CHECK_LIMITED } },
		{ HYPERVISOR_KVM_MUTE, { 0, 0, 0 }, { CHECK_LIMITED, CHECK_LIMITED, CHECK_LIMITED } },
		{ HYPERVISOR_OTHER,
		  { STEAL_LATE, STEAL_LATE, STEAL_NOT_TOLD },
		  { CHECK_LIMITED, CHECK_LIMITED, CHECK_LIMITED } },
		{ HYPERVISOR_UNKNOWN,
		  { STEAL_LATE, STEAL_LATE, STEAL_NOT_TOLD },
		  { CHECK_LIMITED, CHECK_LIMITED, CHECK_LIMITED } },
	};
	const struct percpu_layout *layouts[] = { &both, &queue, &none };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		for (size_t j = 0; j < 3; j++) {
			struct system_facts facts = good;
			struct steal_source *source = &facts.features.steal;

			steal_source_choose(source, layouts[j], rows[i].hypervisor);
			assert_int_equal(source->kind, rows[i].kind[j]);
			assert_int_equal(source->offset, source->kind == STEAL_EXACT  ? both.kvm_steal
							 : source->kind == STEAL_LATE ? both.queue_steal
										      : 0);
			assert_int_equal(row_of(&facts, "stolen time")->verdict, rows[i].verdict[j]);
		}
	}
}

static void what_is_less_is_limited(void **state)
{
	struct system_facts facts = good;

	(void)state;
	facts.features.has_cap_sys_admin = facts.features.is_root = facts.has_cap_sys_ptrace = false;
	facts.features.reckless_nop = FAST_NOP_5;
	facts.ptrace_scope = 1;
	assert_int_equal(count(&facts, CHECK_LIMITED), 4); /* capabilities, fast nops, memory, timing */
	assert_int_equal(count(&facts, CHECK_MISSING), 0);
	assert_non_null(strstr(row_of(&facts, "process memory")->found.text, "ptrace_scope is 1"));
	facts.features.version = KERNEL_VERSION(5, 10, 0);
	assert_int_equal(row_of(&facts, "kernel")->verdict, CHECK_LIMITED);
}

/* Before 5.15 there are no cookies, before 5.13 no storage, and a kernel may not describe its uprobes. */
static void older_kernels_say_less_of_probes(void **state)
{
	struct system_facts facts = good;

	(void)state;
	facts.features.has_task_storage = true;
	facts.features.has_cookies = false;
	assert_int_equal(row_of(&facts, "unmodified programs")->verdict, CHECK_LIMITED);
	assert_non_null(strstr(row_of(&facts, "unmodified programs")->advice.text, "5.15"));
	facts.features.has_probe_paths = true;
	assert_int_equal(row_of(&facts, "unmodified programs")->verdict, CHECK_OK);
	assert_null(strstr(row_of(&facts, "unmodified programs")->found.text, "threads"));
	facts.features.has_task_storage = false;
	assert_non_null(strstr(row_of(&facts, "unmodified programs")->found.text, "4,096 threads"));
}

/* Without CONFIG_INET. */
static void a_kernel_without_sockets_names_fewer(void **state)
{
	struct system_facts facts = good;

	(void)state;
	assert_int_equal(row_of(&facts, "socket addresses")->verdict, CHECK_OK);
	facts.features.has_socket_types = false;
	assert_int_equal(row_of(&facts, "socket addresses")->verdict, CHECK_LIMITED);
	facts.features.has_btf = false;
	assert_int_equal(row_of(&facts, "socket addresses")->verdict, CHECK_UNKNOWN);
}

/* Nobody says that a feature is not there when it could not be asked. */
static void what_cannot_be_asked_is_unknown(void **state)
{
	struct system_facts facts = { .features = { .release = "6.18.0",
						    .version = KERNEL_VERSION(6, 18, 0),
						    .has_btf = true,
						    .load_errno = EPERM,
						    .has_socket_types = true,
						    .reckless_nop = FAST_NOP_5 },
				      .perf_event_paranoid = SYSTEM_UNKNOWN,
				      .ring_errno = -1,
				      .load_err = 1,
				      .ring_cnt = 1,
				      .ring_bytes = 1 << 20 };

	(void)state;
	/* rings, uprobe_multi, fast nops, unmodified programs */
	assert_int_equal(count(&facts, CHECK_UNKNOWN), 4);
	assert_int_equal(count(&facts, CHECK_MISSING), 2); /* capabilities, programs */
	assert_string_equal(row_of(&facts, "perf_event_paranoid")->found.text, "the kernel does not say");
}

static void put(const char *root, const char *path, const char *text)
{
	char full[512];
	FILE *out;

	snprintf(full, sizeof(full), "%s/proc/sys/kernel/%s", root, path);
	out = fopen(full, "w");
	assert_non_null(out);
	fputs(text, out);
	fclose(out);
}

/* A folder stands for "/": numbers, none, nonsense. */
static void settings_are_read(void **state)
{
	const char *folder = getenv("TEST_TMPDIR");
	char root[256], path[512];
	struct system_facts facts;

	(void)state;
	snprintf(root, sizeof(root), "%s/root.%d", folder ? folder : "/tmp", (int)getpid());
	snprintf(path, sizeof(path), "mkdir -p %s/proc/sys/kernel/yama", root);
	assert_int_equal(system(path), 0);
	put(root, "perf_event_paranoid", "-1\n");
	put(root, "unprivileged_bpf_disabled", "nonsense\n");
	put(root, "yama/ptrace_scope", "3\n");
	system_facts_gather(&facts, root);
	assert_int_equal(facts.perf_event_paranoid, -1);
	assert_int_equal(facts.unprivileged_bpf_disabled, SYSTEM_UNKNOWN);
	assert_int_equal(facts.bpf_stats_enabled, SYSTEM_UNKNOWN);
	assert_int_equal(facts.ptrace_scope, 3);
	assert_false(facts.has_tracefs);
	assert_int_equal(facts.ring_errno, -1);
	snprintf(path, sizeof(path), "rm -r %s", root);
	assert_int_equal(system(path), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(where_all_works_all_is_ok),
		cmocka_unit_test(each_obstacle_has_its_row),
		cmocka_unit_test(stolen_time_has_its_source),
		cmocka_unit_test(what_is_less_is_limited),
		cmocka_unit_test(older_kernels_say_less_of_probes),
		cmocka_unit_test(what_cannot_be_asked_is_unknown),
		cmocka_unit_test(a_kernel_without_sockets_names_fewer),
		cmocka_unit_test(settings_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
