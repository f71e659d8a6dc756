/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/probes/steal_source.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define CLOCK_SOURCES_PATH "/sys/devices/system/clocksource/clocksource0/available_clocksource"

/* Guests of KVM have its clock, also where it does not answer the instruction by which it is asked (PVM). */
static bool has_kvm_clock(void)
{
	FILE *file = fopen(CLOCK_SOURCES_PATH, "re");
	char text[256] = "";

	if (!file)
		return false;
	if (!fgets(text, sizeof(text), file))
		text[0] = '\0';
	fclose(file);
	return strstr(text, "kvm-clock");
}

#if defined(__x86_64__)
#include <cpuid.h>

#define LEAF_FEATURES 1u
#define HAS_HYPERVISOR (1u << 31) /* in ecx */

/* A hypervisor that also speaks another one's language has its own leaves behind those. */
#define LEAF_FIRST 0x40000000u
#define LEAF_LAST 0x40010000u
#define LEAF_STEP 0x100u
#define KVM_TELLS_STEAL (1u << 5) /* in eax of the leaf behind the signature */

static enum hypervisor ask_processor(void)
{
	uint32_t eax = 0, signature[3] = { 0 }, ecx = 0, ignored;

	if (!__get_cpuid(LEAF_FEATURES, &eax, &ignored, &ecx, &ignored) || !(ecx & HAS_HYPERVISOR))
		return HYPERVISOR_NONE;
	for (uint32_t leaf = LEAF_FIRST; leaf < LEAF_LAST; leaf += LEAF_STEP) {
		__cpuid(leaf, eax, signature[0], signature[1], signature[2]);
		if (memcmp(signature, "KVMKVMKVM\0\0", sizeof(signature)) != 0)
			continue;
		__cpuid(leaf + 1, eax, ignored, ignored, ignored);
		return eax & KVM_TELLS_STEAL ? HYPERVISOR_KVM : HYPERVISOR_KVM_MUTE;
	}
	return HYPERVISOR_OTHER;
}
#else
static enum hypervisor ask_processor(void)
{
	return HYPERVISOR_UNKNOWN;
}
#endif

enum hypervisor hypervisor_find(void)
{
	enum hypervisor hypervisor = ask_processor();

	return hypervisor != HYPERVISOR_KVM_MUTE && has_kvm_clock() ? HYPERVISOR_KVM : hypervisor;
}

void steal_source_choose(struct steal_source *source, const struct percpu_layout *layout,
			 enum hypervisor hypervisor)
{
	*source = (struct steal_source){ .hypervisor = hypervisor };
	if (hypervisor == HYPERVISOR_NONE || hypervisor == HYPERVISOR_KVM_MUTE)
		return;
	if (hypervisor == HYPERVISOR_KVM && layout->kvm_steal) {
		source->kind = STEAL_EXACT;
		source->offset = layout->kvm_steal;
	} else if (layout->queue_steal) {
		source->kind = STEAL_LATE;
		source->offset = layout->queue_steal;
	}
}
