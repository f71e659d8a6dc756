/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/sandbox/privileges.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attach/process/capabilities.h"
#include "base/text.h"

/* ---- who needs it ---- */

static bool always(const struct privileges_needs *needs, uint64_t held)
{
	(void)needs;
	(void)held;
	return true;
}

/* Perf uprobes need it, and whoever has it may do what CAP_BPF and CAP_PERFMON allow. */
static bool for_probes(const struct privileges_needs *needs, uint64_t held)
{
	const uint64_t pair = CAPABILITY_BIT(CAP_BPF) | CAPABILITY_BIT(CAP_PERFMON);

	return !needs->features->has_uprobe_multi || (held & pair) != pair;
}

/* The directory of a path that may lead to a file in it. */
static void directory_of(const char *path, char directory[PATH_MAX])
{
	const char *slash = strrchr(path, '/');
	int length = slash ? (int)(slash - path) : 0;

	snprintf(directory, PATH_MAX, "%.*s", length, path);
	if (!length)
		snprintf(directory, PATH_MAX, "%s", slash ? "/" : ".");
}

static bool is_closed_to_us(const char *path, uint64_t held)
{
	char directory[PATH_MAX];

	directory_of(path, directory);
	return !capabilities_suffice_to_change(held & ~(CAPABILITY_BIT(CAP_DAC_OVERRIDE) |
							CAPABILITY_BIT(CAP_DAC_READ_SEARCH)),
					       directory);
}

static bool for_directories(const struct privileges_needs *needs, uint64_t held)
{
	if (needs->has_caller) /* who may write there without us, or may not */
		return false;
	return is_closed_to_us(needs->log_path, held) ||
	       (needs->metrics_file && is_closed_to_us(needs->metrics_file, held));
}

static bool for_command(const struct privileges_needs *needs, uint64_t held)
{
	(void)held;
	return needs->has_command && needs->has_caller;
}

/*
 * Whether it is kept by the recorder, and by the thread that writes the log,
 * which attaches nothing and looks at nobody. Where that thread has the
 * caller's rights, it has nothing else.
 */
static const struct {
	unsigned int capability;
	bool (*is_needed)(const struct privileges_needs *needs, uint64_t held);
	bool is_for_log;
} table[] = {
	{ CAP_BPF, always, false },
	{ CAP_PERFMON, always, false },
	{ CAP_SYS_ADMIN, for_probes, false },
	{ CAP_SYS_PTRACE, always, false },
	{ CAP_CHECKPOINT_RESTORE, always, false },
	{ CAP_DAC_READ_SEARCH, always, true },
	{ CAP_DAC_OVERRIDE, for_directories, true },
	{ CAP_KILL, for_command, false },
};

void privileges_plan(struct privileges *privileges, const struct privileges_needs *needs)
{
	*privileges = (struct privileges){ .held = capabilities_held() };
	privileges->timing = privileges->held & CAPABILITY_BIT(CAP_SYS_ADMIN);
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		uint64_t bit = privileges->held & CAPABILITY_BIT(table[i].capability);

		if (!bit || !table[i].is_needed(needs, privileges->held))
			continue;
		privileges->recording |= bit;
		if (table[i].is_for_log && !needs->has_caller)
			privileges->writing |= bit;
	}
}

/* ---- what is lacking ---- */

#define ADMIN CAPABILITY_BIT(CAP_SYS_ADMIN)

/* What each is for, one of several that do. */
static const struct {
	uint64_t any_of;
	const char *name;
	const char *lack;
} uses[] = {
	{ CAPABILITY_BIT(CAP_SYS_PTRACE), "CAP_SYS_PTRACE",
	  "labels of other users' processes come from files alone, and their descriptors have no names" },
	{ CAPABILITY_BIT(CAP_CHECKPOINT_RESTORE) | ADMIN, "CAP_CHECKPOINT_RESTORE",
	  "programs in containers, or deleted, are not found" },
	{ ADMIN, "CAP_SYS_ADMIN", "how long BPF programs run is not known" },
};

bool privileges_lacking(const struct privileges *privileges, struct error *sentence)
{
	struct text text = { 0 };

	for (size_t i = 0; i < sizeof(uses) / sizeof(uses[0]); i++)
		if (!(privileges->held & uses[i].any_of))
			text_append_format(&text, "%swithout %s %s", text.length ? "; " : "", uses[i].name,
					   uses[i].lack);
	if (text.length)
		error_set(sentence, "recording, in less detail: %s", text_string(&text));
	text_release(&text);
	return sentence->text[0] != '\0';
}
