/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where one object (an executable or a shared library) can be probed: the sites
 * of txtrace's own probes, at the instruction that this kernel probes fastest,
 * and a count of the probes of others.
 *
 * A site on x86-64 is `nop; nop5; nop10; ret`, and the note points at the
 * 1-byte nop. Only where the file holds exactly these bytes is another nop than
 * the first one probed.
 */
#ifndef PROBE_SITES_H
#define PROBE_SITES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attach/elf/elf_notes.h"
#include "attach/probes/kernel_features.h"

#define PROBE_PROVIDER "txtrace"

struct probe_site {
	const char *probe;         /* "begin", "end", …: static */
	uint64_t offset;           /* in the file, of the note's instruction, which can always be probed */
	uint64_t fast_offset;      /* of the fastest nop; may be the same */
	uint64_t semaphore_offset; /* 0: none */
};

struct probe_sites {
	struct probe_site *sites; /* sorted by probe, then offset; no two alike */
	size_t cnt;
	size_t skipped_cnt; /* notes of txtrace with an unknown name, or at what is no nop: never probed */
};

/* The names of txtrace's probes, in the order of sites; NULL after the last. */
const char *probe_name(size_t idx);

/* Picks the sites out of the notes of the file open at fd. 0 or -ENOMEM. */
int probe_sites_find(struct probe_sites *sites, const struct elf_notes *notes, int fd,
		     enum fast_nop fast_nop);

/*
 * Leaves out what is not to be attached: the probe `ring`, or with uses_ring
 * those that it stands for. They share a word with its semaphore; those of an
 * older txtrace.h that is linked into the same object do not.
 */
void probe_sites_choose(struct probe_sites *sites, bool uses_ring);

void probe_sites_release(struct probe_sites *sites);

/* The providers of an object's other probes, and how many each has. */
struct probe_provider {
	char name[48]; /* cut off if longer */
	size_t probe_cnt;
};

#define PROBE_PROVIDER_MAX 16

struct probe_providers {
	/* objects in the order in which they were added, in each by name */
	struct probe_provider providers[PROBE_PROVIDER_MAX];
	size_t cnt;
	size_t others_cnt; /* probes of providers for which there was no room */
};

/*
 * Adds an object's probes that are not txtrace's to what is there. One that has
 * several sites in the object counts once. 0 or -ENOMEM.
 */
int probe_providers_add(struct probe_providers *providers, const struct elf_notes *notes);

/*
 * "postgresql (57 probes), libc (12 probes)"; "" if there are none. Always
 * terminated; cut off if it is longer.
 */
void probe_providers_text(const struct probe_providers *providers, char *text, size_t size);

#endif
