/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/elf/elf_segments.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int elf_read(int fd, void *to, uint64_t size, uint64_t offset)
{
	uint64_t done = 0;

	if (offset > INT64_MAX || size > INT64_MAX - offset)
		return -EBADMSG;
	while (done < size) {
		ssize_t got = pread(fd, (char *)to + done, size - done, (off_t)(offset + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			return -EBADMSG;
		done += (uint64_t)got;
	}
	return 0;
}

static int read_header(struct elf_segments *segments)
{
	const Elf64_Ehdr *header = &segments->header;
	int err = elf_read(segments->fd, &segments->header, sizeof(segments->header), 0);

	if (err)
		return err == -EBADMSG ? -ENOEXEC : err;
	return memcmp(header->e_ident, ELFMAG, SELFMAG) || header->e_ident[EI_CLASS] != ELFCLASS64 ||
			       header->e_ident[EI_DATA] != ELFDATA2LSB
		       ? -ENOEXEC
		       : 0;
}

static int read_list(struct elf_segments *segments)
{
	const Elf64_Ehdr *header = &segments->header;
	size_t size = header->e_phnum * sizeof(*segments->list);
	int err;

	if (header->e_phnum == 0)
		return 0;
	if (header->e_phentsize != sizeof(*segments->list) || header->e_phnum > ELF_SEGMENT_MAX)
		return -EBADMSG;
	segments->list = malloc(size);
	if (!segments->list)
		return -ENOMEM;
	err = elf_read(segments->fd, segments->list, size, header->e_phoff);
	if (err)
		elf_segments_release(segments);
	else
		segments->cnt = header->e_phnum;
	return err;
}

int elf_segments_read(struct elf_segments *segments, int fd)
{
	struct stat status;
	int err;

	*segments = (struct elf_segments){ .fd = fd };
	if (fstat(fd, &status) < 0)
		return -errno;
	if (!S_ISREG(status.st_mode))
		return -ENOEXEC;
	segments->file_bytes = (uint64_t)status.st_size;
	err = read_header(segments);
	return err ? err : read_list(segments);
}

void elf_segments_release(struct elf_segments *segments)
{
	free(segments->list);
	segments->list = NULL;
	segments->cnt = 0;
}

bool elf_segments_find(const struct elf_segments *segments, uint64_t address, uint64_t size, uint32_t flags,
		       uint64_t *offset)
{
	for (size_t i = 0; i < segments->cnt; i++) {
		const Elf64_Phdr *segment = &segments->list[i];
		uint64_t within = address - segment->p_vaddr;

		if (segment->p_type != PT_LOAD || !(segment->p_flags & flags) ||
		    address < segment->p_vaddr || within >= segment->p_filesz ||
		    segment->p_filesz - within < size)
			continue;
		return !__builtin_add_overflow(segment->p_offset, within, offset) &&
		       *offset <= segments->file_bytes && segments->file_bytes - *offset >= size;
	}
	return false;
}
