/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Small ELF files made by hand, for tests: a text segment (file 0x1000, address
 * 0x401000), a data segment (file 0x2000, address 0x602000), each of one page,
 * and the sections .note.stapsdt, .stapsdt.base and .shstrtab behind them. A
 * test changes what it likes before it writes the file.
 */
#ifndef ELF_IMAGE_H
#define ELF_IMAGE_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ELF_TEXT_OFFSET 0x1000u
#define ELF_TEXT_ADDRESS 0x401000u
#define ELF_DATA_OFFSET 0x2000u
#define ELF_DATA_ADDRESS 0x602000u
#define ELF_NOTES_OFFSET 0x3000u
#define ELF_NOTES_ROOM 0x1000u
#define ELF_NAMES_OFFSET 0x4000u
#define ELF_SECTIONS_OFFSET 0x5000u
#define ELF_BASE_ADDRESS 0x700000u

enum elf_image_section { SECTION_NULL, SECTION_NOTES, SECTION_BASE, SECTION_NAMES, SECTION_CNT };

struct elf_image {
	union {
		unsigned char bytes[ELF_SECTIONS_OFFSET + SECTION_CNT * sizeof(Elf64_Shdr)];
		Elf64_Ehdr header;
	};
};

static inline Elf64_Phdr *elf_image_segments(struct elf_image *image)
{
	return (Elf64_Phdr *)(void *)(image->bytes + sizeof(Elf64_Ehdr));
}

static inline Elf64_Shdr *elf_image_sections(struct elf_image *image)
{
	return (Elf64_Shdr *)(void *)(image->bytes + ELF_SECTIONS_OFFSET);
}

static inline void elf_image_init(struct elf_image *image)
{
	static const char names[] = "\0.note.stapsdt\0.stapsdt.base\0.shstrtab";
	Elf64_Phdr *segments = elf_image_segments(image);
	Elf64_Shdr *sections = elf_image_sections(image);

	memset(image, 0, sizeof(*image));
	memcpy(image->header.e_ident, ELFMAG, SELFMAG);
	image->header.e_ident[EI_CLASS] = ELFCLASS64;
	image->header.e_ident[EI_DATA] = ELFDATA2LSB;
	image->header.e_ident[EI_VERSION] = EV_CURRENT;
	image->header.e_type = ET_EXEC;
	image->header.e_machine = EM_X86_64;
	image->header.e_phoff = sizeof(Elf64_Ehdr);
	image->header.e_phentsize = sizeof(Elf64_Phdr);
	image->header.e_phnum = 2;
	image->header.e_shoff = ELF_SECTIONS_OFFSET;
	image->header.e_shentsize = sizeof(Elf64_Shdr);
	image->header.e_shnum = SECTION_CNT;
	image->header.e_shstrndx = SECTION_NAMES;
	segments[0] = (Elf64_Phdr){ .p_type = PT_LOAD,
				    .p_flags = PF_R | PF_X,
				    .p_offset = ELF_TEXT_OFFSET,
				    .p_vaddr = ELF_TEXT_ADDRESS,
				    .p_filesz = 0x1000,
				    .p_memsz = 0x1000 };
	segments[1] = (Elf64_Phdr){ .p_type = PT_LOAD,
				    .p_flags = PF_R | PF_W,
				    .p_offset = ELF_DATA_OFFSET,
				    .p_vaddr = ELF_DATA_ADDRESS,
				    .p_filesz = 0x1000,
				    .p_memsz = 0x2000 };
	sections[SECTION_NOTES] = (Elf64_Shdr){ .sh_name = 1,
						.sh_type = SHT_NOTE,
						.sh_offset = ELF_NOTES_OFFSET };
	sections[SECTION_BASE] = (Elf64_Shdr){
		.sh_name = 15, .sh_type = SHT_PROGBITS, .sh_addr = ELF_BASE_ADDRESS, .sh_size = 1
	};
	sections[SECTION_NAMES] = (Elf64_Shdr){
		.sh_name = 29, .sh_type = SHT_STRTAB, .sh_offset = ELF_NAMES_OFFSET, .sh_size = sizeof(names)
	};
	memcpy(image->bytes + ELF_NAMES_OFFSET, names, sizeof(names));
}

/*
 * Appends a note as the assembler makes it: pc, base, semaphore, then `strings`
 * ("provider\0name\0arguments\0", of that size).
 */
static inline void elf_image_add_note(struct elf_image *image, uint64_t pc, uint64_t base, uint64_t semaphore,
				      const char *strings, size_t size)
{
	Elf64_Shdr *section = &elf_image_sections(image)[SECTION_NOTES];
	unsigned char *at = image->bytes + ELF_NOTES_OFFSET + section->sh_size;
	const Elf64_Nhdr header = { .n_namesz = 8, .n_descsz = (Elf64_Word)(24 + size), .n_type = 3 };
	const uint64_t addresses[] = { pc, base, semaphore };

	memcpy(at, &header, sizeof(header));
	memcpy(at + 12, "stapsdt", 8);
	memcpy(at + 20, addresses, sizeof(addresses));
	memcpy(at + 44, strings, size);
	section->sh_size += 44 + ((size + 3) & ~(size_t)3);
}

/* The first `size` bytes as a file that only this fd leads to. */
static inline int elf_image_file(const struct elf_image *image, size_t size)
{
	int fd = memfd_create("elf_image", MFD_CLOEXEC);

	if (fd >= 0 && write(fd, image->bytes, size) != (ssize_t)size) {
		close(fd);
		return -1;
	}
	return fd;
}

#endif
