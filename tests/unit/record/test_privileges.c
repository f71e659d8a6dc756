/* SPDX-License-Identifier: BSD-2-Clause */
/* Which capabilities are kept for what. Without root there are none to keep. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/process/capabilities.h"
#include "record/sandbox/privileges.h"
#include "unit/skip.h"

#define BIT(name) CAPABILITY_BIT(CAP_##name)
#define ALWAYS (BIT(BPF) | BIT(PERFMON) | BIT(SYS_PTRACE) | BIT(CHECKPOINT_RESTORE) | BIT(DAC_READ_SEARCH))

static const struct kernel_features modern = { .has_uprobe_multi = true }, old;

static bool has_all(void)
{
	const uint64_t wanted = ALWAYS | BIT(SYS_ADMIN) | BIT(DAC_OVERRIDE) | BIT(KILL) | BIT(SETUID);

	return geteuid() == 0 && (capabilities_held() & wanted) == wanted;
}

static struct privileges plan(const struct kernel_features *features, const char *log_path, bool has_command,
			      bool has_caller)
{
	const struct privileges_needs needs = {
		.features = features,
		.log_path = log_path,
		.has_command = has_command,
		.has_caller = has_caller,
	};
	struct privileges privileges;

	privileges_plan(&privileges, &needs);
	return privileges;
}

static void little_is_kept_in_a_directory_of_ones_own(void **state)
{
	struct privileges privileges;

	(void)state;
	if (!has_all())
		skip_because("not root, with all capabilities");
	privileges = plan(&modern, "/tmp/a.txtrace", false, false);
	assert_int_equal(privileges.recording, ALWAYS);
	assert_int_equal(privileges.writing, BIT(DAC_READ_SEARCH));
	assert_int_equal(privileges.timing, BIT(SYS_ADMIN));
}

static void perf_uprobes_need_the_large_one(void **state)
{
	(void)state;
	if (!has_all())
		skip_because("not root, with all capabilities");
	assert_int_equal(plan(&old, "/tmp/a.txtrace", false, false).recording, ALWAYS | BIT(SYS_ADMIN));
}

static void under_sudo_files_need_nothing(void **state)
{
	char directory[] = "/tmp/txtrace-privileges.XXXXXX", path[64];
	struct privileges privileges;

	(void)state;
	if (!has_all() || !can_become_nobody())
		skip_because("not root, with all capabilities and other users");
	assert_non_null(mkdtemp(directory));
	assert_int_equal(chown(directory, 65534, 65534), 0);
	snprintf(path, sizeof(path), "%s/a.txtrace", directory);
	assert_int_equal(plan(&modern, path, false, false).recording, ALWAYS | BIT(DAC_OVERRIDE));
	assert_int_equal(plan(&modern, path, false, false).writing, BIT(DAC_READ_SEARCH) | BIT(DAC_OVERRIDE));
	privileges = plan(&modern, path, true, true);
	assert_int_equal(privileges.recording, ALWAYS | BIT(KILL));
	assert_int_equal(privileges.writing, 0);
	assert_int_equal(rmdir(directory), 0);
}

static void what_is_given_up_is_gone(void **state)
{
	pid_t child;
	int status;

	(void)state;
	if (!has_all())
		skip_because("not root, with all capabilities");
	child = fork();
	if (child == 0) {
		bool is_right = capabilities_keep(BIT(BPF)) == 0 && capabilities_held() == BIT(BPF) &&
				capability_is_effective(CAP_BPF) && !capability_is_effective(CAP_SYS_ADMIN) &&
				capabilities_keep(BIT(SYS_ADMIN)) == 0 && capabilities_held() == 0;

		_exit(is_right ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void what_is_lacking_is_said(void **state)
{
	struct privileges all = { .held = UINT64_MAX }, pair = { .held = BIT(BPF) | BIT(PERFMON) };
	struct error sentence = { "" };

	(void)state;
	assert_false(privileges_lacking(&all, &sentence));
	assert_true(privileges_lacking(&pair, &sentence));
	assert_non_null(strstr(sentence.text, "CAP_SYS_PTRACE"));
	assert_non_null(strstr(sentence.text, "CAP_SYS_ADMIN"));
	assert_null(strstr(sentence.text, "...")); /* all of it has found room */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(little_is_kept_in_a_directory_of_ones_own),
		cmocka_unit_test(perf_uprobes_need_the_large_one),
		cmocka_unit_test(under_sudo_files_need_nothing),
		cmocka_unit_test(what_is_given_up_is_gone),
		cmocka_unit_test(what_is_lacking_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
