/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How many probes of txtrace this program's file has, but for that of the ring:
 * as many as a tracer that has set all of them has counted the semaphore up by.
 * 0: cannot be known.
 */
#ifndef PROBE_COUNT_H
#define PROBE_COUNT_H

#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* A note's descriptor: three addresses, then the provider's name. */
static inline unsigned int probes_in_notes(const unsigned char *notes, uint64_t size)
{
	const unsigned int address_size = 3 * sizeof(uint64_t);
	static const char provider[] = "txtrace", ring[] = "ring";
	unsigned int cnt = 0;

	while (size > sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr header;
		memcpy(&header, notes, sizeof(header));
		uint64_t name_size = (header.n_namesz + 3u) & ~3u,
			 length = sizeof(header) + name_size + ((header.n_descsz + 3u) & ~3u);

		if (length > size)
			break;
		cnt += header.n_descsz > address_size + sizeof(provider) + sizeof(ring) &&
		       !memcmp(notes + sizeof(header) + name_size + address_size, provider,
			       sizeof(provider)) &&
		       memcmp(notes + sizeof(header) + name_size + address_size + sizeof(provider), ring,
			      sizeof(ring)) != 0;
		notes += length;
		size -= length;
	}
	return cnt;
}

static inline unsigned int probes_in_file(const unsigned char *file)
{
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)(const void *)file;
	const Elf64_Shdr *sections = (const Elf64_Shdr *)(const void *)(file + header->e_shoff);
	const char *names = (const char *)file + sections[header->e_shstrndx].sh_offset;

	for (unsigned int i = 0; i < header->e_shnum; i++)
		if (!strcmp(names + sections[i].sh_name, ".note.stapsdt"))
			return probes_in_notes(file + sections[i].sh_offset, sections[i].sh_size);
	return 0;
}

static inline unsigned int own_probe_cnt(void)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	unsigned int cnt = 0;
	struct stat status;

	if (fd < 0)
		return 0;
	if (!fstat(fd, &status)) {
		void *file = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (file != MAP_FAILED) {
			cnt = probes_in_file(file);
			munmap(file, (size_t)status.st_size);
		}
	}
	close(fd);
	return cnt;
}

#endif
