/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/kernel/interrupt_programs.h"

#include <bpf/btf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* The tracepoints NAME_entry and NAME_exit, and the programs on_NAME_entry and on_NAME_exit. */
static const char *const names[] = {
	"irq_handler",
	"softirq", /* every kernel */
	"local_timer",
	"reschedule",
	"call_function",
	"call_function_single",
	"irq_work",
	"x86_platform_ipi",
	"error_apic",
	"spurious_apic",
	"threshold_apic",
	"deferred_error_apic",
	"thermal_apic", /* x86 */
	"ipi",		/* aarch64 */
};

#define NAME_CNT (sizeof(names) / sizeof(names[0]))
_Static_assert(2 * NAME_CNT <= INTERRUPT_PROGRAM_MAX, "INTERRUPT_PROGRAM_MAX");

static const char *program_of(char program[64], const char *name, const char *end)
{
	snprintf(program, 64, "on_%s_%s", name, end);
	return program;
}

static void choose(struct bpf_object *object, const char *name, const char *end)
{
	char program[64];

	bpf_program__set_autoload(bpf_object__find_program_by_name(object, program_of(program, name, end)),
				  true);
}

/* NULL: it was not chosen. */
static struct bpf_program *loaded_of(const struct loaded_programs *loaded, const char *name, const char *end)
{
	char program[64];

	return loaded_programs_find(loaded, program_of(program, name, end));
}

static bool has_tracepoint(const struct btf *btf, const char *name, const char *end)
{
	char type[64];

	snprintf(type, sizeof(type), "btf_trace_%s_%s", name, end);
	return btf__find_by_name_kind(btf, type, BTF_KIND_TYPEDEF) > 0;
}

int interrupt_programs_choose(struct bpf_object *object, const struct btf *types, struct error *error)
{
	size_t cnt = 0;

	for (size_t i = 0; types && i < NAME_CNT; i++) {
		if (!has_tracepoint(types, names[i], "entry") || !has_tracepoint(types, names[i], "exit"))
			continue;
		choose(object, names[i], "entry");
		choose(object, names[i], "exit");
		cnt++;
	}
	if (cnt)
		return 0;
	error_set(error, "this kernel has no tracepoints for interrupts; record without --irq");
	return -EOPNOTSUPP;
}

static int attach(struct bpf_program *program, struct bpf_link **links, size_t *cnt, struct error *error)
{
	struct bpf_link *link = bpf_program__attach(program);

	if (!link) {
		error_set(error, "cannot attach '%s' to the interrupts: %s", bpf_program__name(program),
			  strerror(errno));
		return -errno;
	}
	links[(*cnt)++] = link;
	return 0;
}

int interrupt_programs_attach(const struct loaded_programs *loaded, struct bpf_link **links, size_t *cnt,
			      struct error *error)
{
	int err = 0;

	*cnt = 0;
	for (size_t i = 0; !err && i < NAME_CNT; i++) {
		struct bpf_program *entry = loaded_of(loaded, names[i], "entry");

		if (!entry)
			continue;
		err = attach(loaded_of(loaded, names[i], "exit"), links, cnt, error);
		if (!err)
			err = attach(entry, links, cnt, error);
	}
	return err;
}
