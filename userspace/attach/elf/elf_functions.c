/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/elf/elf_functions.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach/elf/elf_reader.h"
#include "base/array.h"

#define BUILD_ID_MAX 64

struct segments {
	GElf_Phdr *loads;
	size_t cnt;
};

static int read_segments(Elf *elf, struct segments *segments)
{
	size_t cnt;

	if (elf_getphdrnum(elf, &cnt) || cnt > 65535)
		return -EBADMSG;
	segments->loads = calloc(cnt + 1, sizeof(*segments->loads));
	if (!segments->loads)
		return -ENOMEM;
	for (size_t i = 0; i < cnt; i++) {
		GElf_Phdr *load = &segments->loads[segments->cnt];

		if (gelf_getphdr(elf, (int)i, load) && load->p_type == PT_LOAD && load->p_flags & PF_X)
			segments->cnt++;
	}
	return 0;
}

/* Where in the file the code at the address lies; 0: nowhere. */
static uint64_t offset_of(const struct segments *segments, uint64_t address, uint64_t size)
{
	for (size_t i = 0; i < segments->cnt; i++) {
		const GElf_Phdr *load = &segments->loads[i];
		uint64_t within = address - load->p_vaddr;

		if (address >= load->p_vaddr && within < load->p_filesz && size <= load->p_filesz - within)
			return load->p_offset + within;
	}
	return 0;
}

static Elf_Scn *find_section(Elf *elf, uint32_t type, GElf_Shdr *header)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, header) && header->sh_type == type)
			return section;
	return NULL;
}

static bool has_section(Elf *elf, const char *wanted)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return false;
	while ((section = elf_nextscn(elf, section))) {
		const char *name = gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name)
								  : NULL;

		if (name && strcmp(name, wanted) == 0)
			return true;
	}
	return false;
}

/* Whether what the file is linked with is the C library alone, as far as is told. */
static bool needs_others(Elf *elf)
{
	static const char *const own[] = { "libc.so",  "libm.so",  "libpthread.so",
					   "libdl.so", "librt.so", "ld-linux" };
	GElf_Shdr header;
	Elf_Scn *section = find_section(elf, SHT_DYNAMIC, &header);
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
	GElf_Dyn entry;

	for (int i = 0; data && gelf_getdyn(data, i, &entry) && entry.d_tag != DT_NULL; i++) {
		const char *name = entry.d_tag == DT_NEEDED
					   ? elf_strptr(elf, header.sh_link, entry.d_un.d_val)
					   : own[0];
		size_t n = 0;

		while (name && n < sizeof(own) / sizeof(own[0]) && strncmp(name, own[n], strlen(own[n])) != 0)
			n++;
		if (!name || n == sizeof(own) / sizeof(own[0]))
			return true;
	}
	return false;
}

/* The name without its version; NULL: no memory. */
static const char *plain_name(struct elf_functions *functions, const char *name)
{
	size_t length = strcspn(name, "@");
	char *plain;
	char **grown;

	if (!name[length] || !length)
		return name;
	grown = array_grow(functions->plain_names, &functions->plain_size, functions->plain_cnt,
			   sizeof(*grown));
	if (!grown)
		return NULL;
	functions->plain_names = grown;
	plain = strndup(name, length);
	if (plain)
		functions->plain_names[functions->plain_cnt++] = plain;
	return plain;
}

/*
 * Visits the symbols of a table: those that are functions of this file are added, and those that show that
 * there may be exceptions are noted.
 */
static int add_symbols(struct elf_functions *functions, Elf *elf, uint32_t type,
		       const struct segments *segments)
{
	GElf_Shdr header;
	Elf_Scn *section = find_section(elf, type, &header);
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
	size_t cnt = data && header.sh_entsize ? header.sh_size / header.sh_entsize : 0;
	struct elf_function *grown;
	GElf_Sym symbol;

	if (cnt > ELF_FUNCTION_MAX)
		cnt = ELF_FUNCTION_MAX;
	grown = reallocarray(functions->functions, functions->cnt + cnt + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	functions->functions = grown;
	for (size_t i = 0; i < cnt && gelf_getsym(data, (int)i, &symbol); i++) {
		const char *name = elf_strptr(elf, header.sh_link, symbol.st_name);
		uint64_t offset;

		if (!name || !*name)
			continue;
		functions->has_unwinder |= strncmp(name, "_Unwind_R", 9) == 0 ||
					   strncmp(name, "__cxa_throw", 11) == 0;
		if ((GELF_ST_TYPE(symbol.st_info) != STT_FUNC &&
		     GELF_ST_TYPE(symbol.st_info) != STT_GNU_IFUNC) ||
		    symbol.st_shndx == SHN_UNDEF)
			continue;
		offset = offset_of(segments, symbol.st_value, symbol.st_size);
		name = offset ? plain_name(functions, name) : name;
		if (!name)
			return -ENOMEM;
		if (offset)
			functions->functions[functions->cnt++] = (struct elf_function){
				.name = name,
				.address = symbol.st_value,
				.size = symbol.st_size,
				.offset = offset,
				.is_chooser = GELF_ST_TYPE(symbol.st_info) == STT_GNU_IFUNC,
			};
	}
	return 0;
}

/* "/usr/lib/debug/.build-id/ab/cdef….debug"; false: the file has no build id. */
static bool debug_path(Elf *elf, char *path, size_t size)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(elf, section))) {
		Elf_Data *data;
		size_t name_at, bytes_at, at = 0;
		GElf_Nhdr note;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_NOTE ||
		    !(data = elf_getdata(section, NULL)))
			continue;
		while ((at = gelf_getnote(data, at, &note, &name_at, &bytes_at))) {
			const uint8_t *id = (const uint8_t *)data->d_buf + bytes_at;
			int length = 0;

			if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 ||
			    memcmp((char *)data->d_buf + name_at, "GNU", 4) != 0 || note.n_descsz < 2 ||
			    note.n_descsz > BUILD_ID_MAX)
				continue;
			length = snprintf(path, size, "/usr/lib/debug/.build-id/%02x/", id[0]);
			for (size_t i = 1; i < note.n_descsz; i++)
				length += snprintf(path + length, size - (size_t)length, "%02x", id[i]);
			snprintf(path + length, size - (size_t)length, ".debug");
			return true;
		}
	}
	return false;
}

static int add_debug_file(struct elf_functions *functions, const struct segments *segments)
{
	char path[64 + 2 * BUILD_ID_MAX];
	Elf *elf;

	if (!debug_path(functions->files[0], path, sizeof(path)))
		return 0;
	functions->debug_fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (functions->debug_fd < 0)
		return 0;
	elf = elf_begin(functions->debug_fd, ELF_C_READ, NULL);
	functions->files[1] = elf;
	return elf && elf_kind(elf) == ELF_K_ELF ? add_symbols(functions, elf, SHT_SYMTAB, segments) : 0;
}

static int compare_functions(const void *a, const void *b)
{
	const struct elf_function *left = a, *right = b;

	if (left->address != right->address)
		return left->address < right->address ? -1 : 1;
	return strcmp(left->name, right->name);
}

/* In order; what two tables tell, or two versions of one name, is there once. */
static void put_in_order(struct elf_functions *functions)
{
	struct elf_function *all = functions->functions;
	size_t cnt = 0;

	if (functions->cnt)
		qsort(all, functions->cnt, sizeof(*all), compare_functions);
	for (size_t i = 0; i < functions->cnt; i++) {
		if (!cnt || compare_functions(&all[cnt - 1], &all[i]))
			all[cnt++] = all[i];
	}
	functions->cnt = cnt;
}

static int read_functions(struct elf_functions *functions, Elf *elf)
{
	struct segments segments = { 0 };
	GElf_Ehdr header;
	bool has_table;
	int err;

	if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &header) ||
	    header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
	    (header.e_machine != EM_X86_64 && header.e_machine != EM_AARCH64))
		return -ENOEXEC;
	functions->machine = header.e_machine;
	functions->is_go = has_section(elf, ".gopclntab") || has_section(elf, ".go.buildinfo") ||
			   has_section(elf, ".data.rel.ro.gopclntab");
	functions->needs_others = needs_others(elf);
	err = read_segments(elf, &segments);
	if (!err)
		err = add_symbols(functions, elf, SHT_SYMTAB, &segments);
	has_table = functions->cnt;
	if (!err && !has_table)
		err = add_debug_file(functions, &segments);
	functions->is_stripped = !functions->cnt;
	if (!err && !has_table)
		err = add_symbols(functions, elf, SHT_DYNSYM, &segments);
	free(segments.loads);
	put_in_order(functions);
	return err;
}

int elf_functions_read(struct elf_functions *functions, int fd)
{
	Elf *elf;
	int err;

	*functions = (struct elf_functions){ .fd = fd, .debug_fd = -1 };
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!elf)
		return -ENOEXEC;
	functions->files[0] = elf;
	err = read_functions(functions, elf);
	if (err)
		elf_functions_release(functions);
	return err;
}

void elf_functions_release(struct elf_functions *functions)
{
	for (size_t i = 0; i < 2; i++)
		if (functions->files[i])
			elf_end(functions->files[i]);
	if (functions->debug_fd >= 0)
		close(functions->debug_fd);
	while (functions->plain_cnt)
		free(functions->plain_names[--functions->plain_cnt]);
	free(functions->plain_names);
	free(functions->functions);
	free(functions->strings);
	elf_talk_end(functions->talk);
	*functions = (struct elf_functions){ .debug_fd = -1 };
}

uint8_t *elf_function_code(const struct elf_functions *functions, const struct elf_function *function)
{
	uint8_t *code;

	if (!function->size || function->size > FUNCTION_BYTES_MAX)
		return NULL;
	code = malloc(function->size);
	if (code &&
	    pread(functions->fd, code, function->size, (off_t)function->offset) != (ssize_t)function->size) {
		free(code);
		return NULL;
	}
	return code;
}
