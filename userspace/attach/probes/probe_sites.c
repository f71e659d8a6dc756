/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/probes/probe_sites.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const probe_names[] = {
	"begin", "begin_detached", "enter", "exit", "end", "tag", "attr", "event", "counter", "link",
	"key_begin", "key_enter", "key_exit", "key_end", "key_event", "ring",
};

#define PROBE_OF_RING "ring"
#define RING_SEMAPHORE 2 /* from the other one in the word, in bytes */

#define PROBE_CNT (sizeof(probe_names) / sizeof(probe_names[0]))

/* nop; nop5; nop10; ret */
static const unsigned char x86_site[] = {
	0x90, 0x0f, 0x1f, 0x44, 0x00, 0x00, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00, 0xc3,
};

static const uint64_t x86_nop_offsets[] = { [FAST_NOP_NONE] = 0, [FAST_NOP_5] = 1, [FAST_NOP_10] = 6 };

static const unsigned char aarch64_nop[] = { 0x1f, 0x20, 0x03, 0xd5 };

const char *probe_name(size_t idx)
{
	return idx < PROBE_CNT ? probe_names[idx] : NULL;
}

static const char *find_name(const char *name)
{
	for (size_t i = 0; i < PROBE_CNT; i++)
		if (strcmp(probe_names[i], name) == 0)
			return probe_names[i];
	return NULL;
}

/*
 * Fills fast_offset; false if there is no nop at the site: a probe in the middle of an instruction, which a
 * forged note could ask for, would change what the program does.
 */
static bool choose_nop(struct probe_site *site, uint16_t machine, int fd, enum fast_nop fast_nop)
{
	unsigned char bytes[sizeof(x86_site)];
	ssize_t length = pread(fd, bytes, sizeof(bytes), (off_t)site->offset);

	site->fast_offset = site->offset;
	if (machine == EM_AARCH64)
		return length >= (ssize_t)sizeof(aarch64_nop) &&
		       memcmp(bytes, aarch64_nop, sizeof(aarch64_nop)) == 0;
	if (length == (ssize_t)sizeof(bytes) && memcmp(bytes, x86_site, sizeof(bytes)) == 0)
		site->fast_offset += x86_nop_offsets[fast_nop];
	return length > 0 && bytes[0] == x86_site[0];
}

static int compare_sites(const void *left, const void *right)
{
	const struct probe_site *a = left, *b = right;
	int names = strcmp(a->probe, b->probe);

	if (names)
		return names;
	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

/* Two notes about one site (a linker may keep both) would make every event twice. */
static void remove_doubles(struct probe_sites *sites)
{
	size_t kept = 0;

	for (size_t i = 0; i < sites->cnt; i++)
		if (kept == 0 || compare_sites(&sites->sites[kept - 1], &sites->sites[i]) != 0)
			sites->sites[kept++] = sites->sites[i];
	sites->cnt = kept;
}

int probe_sites_find(struct probe_sites *sites, const struct elf_notes *notes, int fd, enum fast_nop fast_nop)
{
	memset(sites, 0, sizeof(*sites));
	sites->sites = calloc(notes->cnt + 1, sizeof(*sites->sites));
	if (!sites->sites)
		return -ENOMEM;
	for (size_t i = 0; i < notes->cnt; i++) {
		const struct elf_note *note = &notes->notes[i];
		struct probe_site *site = &sites->sites[sites->cnt];

		if (strcmp(note->provider, PROBE_PROVIDER) != 0)
			continue;
		site->probe = find_name(note->name);
		site->offset = note->offset;
		site->semaphore_offset = note->semaphore_offset;
		if (!site->probe || !choose_nop(site, notes->machine, fd, fast_nop))
			sites->skipped_cnt++;
		else
			sites->cnt++;
	}
	qsort(sites->sites, sites->cnt, sizeof(*sites->sites), compare_sites);
	remove_doubles(sites);
	return 0;
}

static bool is_of_ring(const struct probe_site *site)
{
	return strcmp(site->probe, PROBE_OF_RING) == 0;
}

static bool has_stand_in(const struct probe_sites *sites, const struct probe_site *site)
{
	for (size_t i = 0; i < sites->cnt; i++)
		if (is_of_ring(&sites->sites[i]) && site->semaphore_offset &&
		    sites->sites[i].semaphore_offset == site->semaphore_offset + RING_SEMAPHORE)
			return true;
	return false;
}

void probe_sites_choose(struct probe_sites *sites, bool uses_ring)
{
	size_t kept = 0;

	/* the probe of the ring is the last one by name: those before it are judged while it is there */
	for (size_t i = 0; i < sites->cnt; i++)
		if (uses_ring ? !has_stand_in(sites, &sites->sites[i]) : !is_of_ring(&sites->sites[i]))
			sites->sites[kept++] = sites->sites[i];
	sites->cnt = kept;
}

void probe_sites_release(struct probe_sites *sites)
{
	free(sites->sites);
	memset(sites, 0, sizeof(*sites));
}

static void providers_count(struct probe_providers *providers, const char *name)
{
	struct probe_provider *provider = providers->providers;
	struct probe_provider *end = provider + providers->cnt;

	while (provider < end && strncmp(provider->name, name, sizeof(provider->name) - 1) != 0)
		provider++;
	if (provider == end) {
		if (providers->cnt == PROBE_PROVIDER_MAX) {
			providers->others_cnt++;
			return;
		}
		snprintf(provider->name, sizeof(provider->name), "%s", name);
		provider->probe_cnt = 0;
		providers->cnt++;
	}
	provider->probe_cnt++;
}

static int compare_names(const void *left, const void *right)
{
	const struct elf_note *a = *(const struct elf_note *const *)left,
			      *b = *(const struct elf_note *const *)right;
	int providers = strcmp(a->provider, b->provider);

	return providers ? providers : strcmp(a->name, b->name);
}

int probe_providers_add(struct probe_providers *providers, const struct elf_notes *notes)
{
	const struct elf_note **sorted = calloc(notes->cnt + 1, sizeof(*sorted));
	size_t cnt = 0;

	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < notes->cnt; i++)
		if (strcmp(notes->notes[i].provider, PROBE_PROVIDER) != 0)
			sorted[cnt++] = &notes->notes[i];
	qsort(sorted, cnt, sizeof(*sorted), compare_names);
	for (size_t i = 0; i < cnt; i++)
		if (i == 0 || compare_names(&sorted[i - 1], &sorted[i]) != 0)
			providers_count(providers, sorted[i]->provider);
	free(sorted);
	return 0;
}

void probe_providers_text(const struct probe_providers *providers, char *text, size_t size)
{
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < providers->cnt && used < size; i++) {
		const struct probe_provider *provider = &providers->providers[i];

		used += (size_t)snprintf(text + used, size - used, "%s%s (%zu probe%s)", i ? ", " : "",
					 provider->name, provider->probe_cnt,
					 provider->probe_cnt == 1 ? "" : "s");
	}
	if (providers->others_cnt && used < size)
		snprintf(text + used, size - used, ", and %zu probes of others", providers->others_cnt);
}
