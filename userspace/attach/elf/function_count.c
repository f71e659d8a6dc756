/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/elf/function_count.h"

#include <errno.h>
#include <gelf.h>
#include <libelf.h>

static size_t count_functions(Elf_Scn *section, const GElf_Shdr *header)
{
	Elf_Data *data = header->sh_entsize ? elf_getdata(section, NULL) : NULL;
	size_t symbol_cnt = data ? data->d_size / header->sh_entsize : 0, cnt = 0;
	GElf_Sym symbol;

	for (size_t i = 0; i < symbol_cnt && gelf_getsym(data, (int)i, &symbol); i++)
		cnt += GELF_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_shndx != SHN_UNDEF &&
		       symbol.st_size;
	return cnt;
}

int function_count_read(struct function_count *count, int fd)
{
	size_t all = 0, exported = 0;
	Elf_Scn *section = NULL;
	Elf *elf;

	if (elf_version(EV_CURRENT) == EV_NONE)
		return -ENOEXEC;
	/* by read: a file that shrinks meanwhile is an error, never a SIGBUS */
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!elf || elf_kind(elf) != ELF_K_ELF) {
		elf_end(elf);
		return -ENOEXEC;
	}
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;

		if (!gelf_getshdr(section, &header))
			continue;
		if (header.sh_type == SHT_SYMTAB)
			all += count_functions(section, &header);
		else if (header.sh_type == SHT_DYNSYM)
			exported += count_functions(section, &header);
	}
	elf_end(elf);
	*count = (struct function_count){ .cnt = all ? all : exported, .is_exported_only = !all };
	return 0;
}
