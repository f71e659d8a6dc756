/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The functions of an ELF file: of its symbol table, or, if that was stripped,
 * of its debug file (/usr/lib/debug/.build-id) and those that it exports. Names
 * are without the version that a symbol table may have behind them
 * ("clock_nanosleep@@GLIBC_2.17"). Read through libelf by pread; nothing in the
 * file is trusted.
 */
#ifndef ELF_FUNCTIONS_H
#define ELF_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ELF_FUNCTION_MAX 4000000

struct elf_function {
	const char *name; /* any bytes */
	uint64_t address;
	uint64_t size;   /* 0: not told */
	uint64_t offset; /* in the file */
	/* an IFUNC: called once, to choose which of several functions its name stands for */
	bool is_chooser;
};

struct elf_talk;

struct elf_functions {
	struct elf_function *functions; /* by address; several may be at one */
	size_t cnt;
	uint16_t machine;
	bool is_go;        /* stacks of Go move: a hooked return address ends the program */
	bool has_unwinder; /* exceptions can start in this file: it has or calls the unwinder */
	/* neither a symbol table nor a debug file: those that it exports are all that is known */
	bool is_stripped;
	bool needs_others; /* it is linked with more than the C library, or with nobody knows what */
	int fd;            /* the caller's */
	void *files[2];    /* libelf's: the names lie in there */
	int debug_fd;
	char **plain_names; /* of those that had a version */
	size_t plain_cnt, plain_size;
	char *strings;         /* the names, where another process read them */
	struct elf_talk *talk; /* with it (elf_reader.h); or NULL */
};

/*
 * 0 (also if there are none); -ENOEXEC: no 64-bit ELF file of ours; -EBADMSG;
 * -ENOMEM. After an error there is nothing to release.
 */
int elf_functions_read(struct elf_functions *functions, int fd);
void elf_functions_release(struct elf_functions *functions);

/* The function's code, to be freed; NULL: it cannot be read. */
uint8_t *elf_function_code(const struct elf_functions *functions, const struct elf_function *function);

#endif
