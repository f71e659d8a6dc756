/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/kernel/interrupt_programs.h"

#include <bpf/btf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "attach/probes/kernel_types.h"

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

static struct bpf_program *program_of(struct bpf_object *object, const char *name, const char *end)
{
	char program[64];

	snprintf(program, sizeof(program), "on_%s_%s", name, end);
	return bpf_object__find_program_by_name(object, program);
}

static bool has_tracepoint(const struct btf *btf, const char *name, const char *end)
{
	char type[64];

	snprintf(type, sizeof(type), "btf_trace_%s_%s", name, end);
	return btf__find_by_name_kind(btf, type, BTF_KIND_TYPEDEF) > 0;
}

int interrupt_programs_choose(struct bpf_object *object, struct error *error)
{
	struct btf *btf = btf__parse(KERNEL_TYPES_PATH, NULL);
	size_t cnt = 0;

	for (size_t i = 0; btf && i < NAME_CNT; i++) {
		if (!has_tracepoint(btf, names[i], "entry") || !has_tracepoint(btf, names[i], "exit"))
			continue;
		bpf_program__set_autoload(program_of(object, names[i], "entry"), true);
		bpf_program__set_autoload(program_of(object, names[i], "exit"), true);
		cnt++;
	}
	btf__free(btf);
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

int interrupt_programs_attach(struct bpf_object *object, struct bpf_link **links, size_t *cnt,
			      struct error *error)
{
	int err = 0;

	*cnt = 0;
	for (size_t i = 0; !err && i < NAME_CNT; i++) {
		struct bpf_program *entry = program_of(object, names[i], "entry");

		if (!bpf_program__autoload(entry))
			continue;
		err = attach(program_of(object, names[i], "exit"), links, cnt, error);
		if (!err)
			err = attach(entry, links, cnt, error);
	}
	return err;
}
