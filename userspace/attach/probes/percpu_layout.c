/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/probes/percpu_layout.h"

#include <stdbool.h>
#include <string.h>

#define NESTING_MAX 4

/*
 * Since 7.3 the preempt count also has, in bits 16 to 23, how often interrupts were disabled; what was there
 * is 8 bits higher. Bit 31 is another thing. The variable came with it.
 */
#define INTERRUPT_MASK_BEFORE_7_3 0x00ff0000
#define INTERRUPT_MASK 0x7f000000
#define VARIABLE_SINCE_7_3 "local_interrupt_disable_state"

static const char *name_of(const struct btf *btf, uint32_t name_offset)
{
	const char *name = btf__name_by_offset(btf, name_offset);

	return name ? name : "";
}

/* The variable's place in the section, its type in *type; -1: not there. */
static int64_t place_of(const struct btf *btf, const struct btf_type *section, const char *wanted,
			uint32_t *type)
{
	const struct btf_var_secinfo *places = btf_var_secinfos(section);

	for (unsigned int i = 0; i < btf_vlen(section); i++) {
		const struct btf_type *variable = btf__type_by_id(btf, places[i].type);

		if (!variable || strcmp(name_of(btf, variable->name_off), wanted) != 0)
			continue;
		*type = variable->type;
		return places[i].offset;
	}
	return -1;
}

/* Of a member, which may be in nameless structs within, in bytes; -1: not there. */
static int64_t member_offset(const struct btf *btf, uint32_t id, const char *wanted, int nesting)
{
	const struct btf_type *type = btf__type_by_id(btf, id);
	int64_t within;

	if (!type || !btf_is_composite(type) || nesting == NESTING_MAX)
		return -1;
	for (unsigned int i = 0; i < btf_vlen(type); i++) {
		const struct btf_member *member = &btf_members(type)[i];
		const char *name = name_of(btf, member->name_off);

		if (!strcmp(name, wanted))
			return btf_member_bit_offset(type, i) / 8;
		within = *name ? -1 : member_offset(btf, member->type, wanted, nesting + 1);
		if (within >= 0)
			return btf_member_bit_offset(type, i) / 8 + within;
	}
	return -1;
}

/* Of a variable, or of a member of it; 0: not there. */
static int64_t distance(const struct btf *btf, const struct btf_type *section, int64_t from,
			const char *variable, const char *member)
{
	uint32_t type;
	int64_t place = place_of(btf, section, variable, &type), within = 0;

	if (place >= 0 && member)
		within = member_offset(btf, type, member, 0);
	return place < 0 || within < 0 ? 0 : place + within - from;
}

void percpu_layout_read(const struct btf *btf, struct percpu_layout *layout)
{
	int id = btf__find_by_name_kind(btf, ".data..percpu", BTF_KIND_DATASEC);
	const struct btf_type *section = id > 0 ? btf__type_by_id(btf, (uint32_t)id) : NULL;
	uint32_t type = 0, other_type;
	int64_t from = section ? place_of(btf, section, "runqueues", &type) : -1, within;

	*layout = (struct percpu_layout){ .interrupt_mask = INTERRUPT_MASK_BEFORE_7_3 };
	if (section && place_of(btf, section, VARIABLE_SINCE_7_3, &other_type) >= 0)
		layout->interrupt_mask = INTERRUPT_MASK;
	if (from < 0)
		return;
	layout->preempt_count = distance(btf, section, from, "__preempt_count", NULL);
	if (!layout->preempt_count)
		layout->preempt_count = distance(btf, section, from, "pcpu_hot", "preempt_count");
	layout->hrtimer_bases = distance(btf, section, from, "hrtimer_bases", NULL);
	layout->timer_bases = distance(btf, section, from, "timer_bases", NULL);
	layout->kvm_steal = distance(btf, section, from, "steal_time", "steal");
	within = member_offset(btf, type, "prev_steal_time_rq", 0);
	layout->queue_steal = within > 0 ? within : 0;
}
