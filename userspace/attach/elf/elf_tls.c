/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/elf/elf_tls.h"

#include <errno.h>
#include <gelf.h>
#include <stdbool.h>
#include <string.h>

#define SYMBOL_MAX 4000000u

#ifndef DF_1_PIE
#define DF_1_PIE 0x08000000
#endif

struct symbol {
	Elf_Scn *table; /* NULL: there is none */
	size_t idx;
	uint64_t value;
};

/* A name with a version behind it is that name. */
static bool is_called(const char *string, const char *name)
{
	size_t length = strlen(name);

	return string && strncmp(string, name, length) == 0 && (!string[length] || string[length] == '@');
}

static void find_in_table(Elf *elf, Elf_Scn *table, const GElf_Shdr *header, const char *name, uint64_t bytes,
			  struct symbol *found)
{
	Elf_Data *data = elf_getdata(table, NULL);
	size_t cnt = data && header->sh_entsize ? data->d_size / header->sh_entsize : 0;

	for (size_t i = 0; i < cnt && i < SYMBOL_MAX; i++) {
		GElf_Sym symbol;

		if (!gelf_getsym(data, (int)i, &symbol) || GELF_ST_TYPE(symbol.st_info) != STT_TLS ||
		    symbol.st_shndx == SHN_UNDEF || symbol.st_size != bytes ||
		    !is_called(elf_strptr(elf, header->sh_link, symbol.st_name), name))
			continue;
		*found = (struct symbol){ table, i, symbol.st_value };
		return;
	}
}

/* Those that are for others first: relocations are by them. */
static void find_symbol(Elf *elf, const char *name, uint64_t bytes, struct symbol *found)
{
	static const uint32_t types[] = { SHT_DYNSYM, SHT_SYMTAB };

	*found = (struct symbol){ 0 };
	for (size_t i = 0; i < 2 && !found->table; i++) {
		Elf_Scn *section = NULL;
		GElf_Shdr header;

		while (!found->table && (section = elf_nextscn(elf, section)))
			if (gelf_getshdr(section, &header) && header.sh_type == types[i])
				find_in_table(elf, section, &header, name, bytes, found);
	}
}

static enum elf_tls_way way_of(uint64_t machine, uint32_t type)
{
	if (machine == EM_X86_64)
		return type == R_X86_64_TPOFF64	   ? ELF_TLS_DISTANCE
		       : type == R_X86_64_DTPMOD64 ? ELF_TLS_MODULE
		       : type == R_X86_64_TLSDESC  ? ELF_TLS_DESCRIPTOR
						   : ELF_TLS_NONE;
	return type == R_AARCH64_TLS_TPREL    ? ELF_TLS_DISTANCE
	       : type == R_AARCH64_TLS_DTPMOD ? ELF_TLS_MODULE
	       : type == R_AARCH64_TLSDESC    ? ELF_TLS_DESCRIPTOR
					      : ELF_TLS_NONE;
}

/* The relocations of the symbol itself: those without one are of other variables of the file. */
static void find_word(Elf *elf, const struct symbol *symbol, struct elf_tls *tls)
{
	size_t table_idx = elf_ndxscn(symbol->table);
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(elf, section))) {
		Elf_Data *data;
		size_t cnt;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_RELA ||
		    header.sh_link != table_idx)
			continue;
		data = elf_getdata(section, NULL);
		cnt = data && header.sh_entsize ? data->d_size / header.sh_entsize : 0;
		for (size_t i = 0; i < cnt && i < SYMBOL_MAX; i++) {
			GElf_Rela relocation;
			enum elf_tls_way way;

			if (!gelf_getrela(data, (int)i, &relocation) ||
			    GELF_R_SYM(relocation.r_info) != symbol->idx)
				continue;
			way = way_of(tls->machine, (uint32_t)GELF_R_TYPE(relocation.r_info));
			if (way == ELF_TLS_NONE)
				continue;
			tls->way = way;
			tls->word = relocation.r_offset;
			return;
		}
	}
}

static bool is_pie(Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	GElf_Dyn entry;

	while ((section = elf_nextscn(elf, section))) {
		Elf_Data *data;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_DYNAMIC)
			continue;
		data = elf_getdata(section, NULL);
		for (int i = 0; data && gelf_getdyn(data, i, &entry) && entry.d_tag != DT_NULL; i++)
			if (entry.d_tag == DT_FLAGS_1)
				return entry.d_un.d_val & DF_1_PIE;
	}
	return false;
}

/* What the segments say. Returns whether the file is a program. */
static bool read_segments(Elf *elf, const GElf_Ehdr *header, struct elf_tls *tls)
{
	bool is_program = header->e_type == ET_EXEC, has_code = false;
	size_t cnt;

	if (elf_getphdrnum(elf, &cnt) || cnt > 65535)
		return false;
	for (size_t i = 0; i < cnt; i++) {
		GElf_Phdr segment;

		if (!gelf_getphdr(elf, (int)i, &segment))
			continue;
		is_program |= segment.p_type == PT_INTERP;
		if (segment.p_type == PT_TLS) {
			tls->address = segment.p_vaddr;
			tls->bytes = segment.p_memsz;
			tls->align = segment.p_align ? segment.p_align : 1;
		}
		if (segment.p_type != PT_LOAD)
			continue;
		if (segment.p_vaddr + segment.p_memsz > tls->end)
			tls->end = segment.p_vaddr + segment.p_memsz;
		if (!has_code && segment.p_flags & PF_X) {
			has_code = true;
			tls->code_offset = segment.p_offset;
			tls->code_address = segment.p_vaddr;
		}
	}
	return is_program || is_pie(elf);
}

static int read_tls(Elf *elf, struct elf_tls *tls, const char *name, uint64_t bytes)
{
	GElf_Ehdr header;
	struct symbol symbol;
	bool is_program;

	if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &header) ||
	    header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
	    (header.e_machine != EM_X86_64 && header.e_machine != EM_AARCH64))
		return -ENOEXEC;
	tls->machine = header.e_machine;
	find_symbol(elf, name, bytes, &symbol);
	if (!symbol.table)
		return 0;
	tls->value = symbol.value;
	is_program = read_segments(elf, &header, tls);
	if (!tls->align || tls->align & (tls->align - 1) || tls->value >= tls->bytes)
		return -EBADMSG;
	find_word(elf, &symbol, tls);
	if (tls->way == ELF_TLS_NONE)
		tls->way = is_program ? ELF_TLS_EXECUTABLE : ELF_TLS_UNKNOWN;
	return 0;
}

int elf_tls_read(struct elf_tls *tls, int fd, const char *name, uint64_t bytes)
{
	Elf *elf;
	int err;

	*tls = (struct elf_tls){ .way = ELF_TLS_NONE };
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!elf)
		return -ENOEXEC;
	err = read_tls(elf, tls, name, bytes);
	elf_end(elf);
	return err;
}

int elf_tls_read_context(struct elf_tls *tls, int fd)
{
	int err = elf_tls_read(tls, fd, ELF_CONTEXT_NAME, ELF_CONTEXT_BYTES);

	if (err || tls->way != ELF_TLS_NONE)
		return err;
	err = elf_tls_read(tls, fd, ELF_NODEJS_CONTEXT_NAME, ELF_NODEJS_CONTEXT_BYTES);
	tls->is_nodejs = true;
	return err;
}
