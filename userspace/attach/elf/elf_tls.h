/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A variable that an ELF file has once for each thread, by its name: where it
 * lies in the file's block of such variables, and how the program finds it,
 * which decides how somebody else does.
 */
#ifndef ELF_TLS_H
#define ELF_TLS_H

#include <stdint.h>

enum elf_tls_way {
	ELF_TLS_NONE = 0,	/* the file does not have the variable */
	ELF_TLS_EXECUTABLE = 1, /* in the program itself: at a fixed distance from the thread pointer */
	ELF_TLS_DISTANCE = 2,	/* a word of the process has the distance (TPOFF64) */
	ELF_TLS_MODULE = 3,	/* two words have the module and the offset in its block (DTPMOD64) */
	ELF_TLS_DESCRIPTOR = 4, /* a descriptor of two words (TLSDESC) */
	ELF_TLS_UNKNOWN = 5,	/* it has it, and nothing in the file says how it is found */
	ELF_TLS_WAY_COUNT = 6,
};

/* All addresses are the file's own. */
struct elf_tls {
	uint64_t way;	    /* enum elf_tls_way */
	uint64_t machine;   /* EM_X86_64, EM_AARCH64 */
	uint64_t is_nodejs; /* of elf_tls_read_context(): it is the second one */
	uint64_t value;	    /* the variable's offset in the block */
	uint64_t word;	    /* DISTANCE, MODULE, DESCRIPTOR: the address of these words */
	/* EXECUTABLE: the block */
	uint64_t address;
	uint64_t bytes;
	uint64_t align; /* a power of two */
	/* the first segment with code: where it is in the file, and in memory */
	uint64_t code_offset;
	uint64_t code_address;
	uint64_t end; /* of all segments */
};

/*
 * A variable of so many bytes. 0: also if there is none (way); -ENOEXEC: no ELF
 * file; -EBADMSG: it is damaged.
 */
int elf_tls_read(struct elf_tls *tls, int fd, const char *name, uint64_t bytes);

/* In which tracers of OpenTelemetry publish what a thread does: the first of these that the file has. */
#define ELF_CONTEXT_NAME "otel_thread_ctx_v1"
#define ELF_CONTEXT_BYTES 8
#define ELF_NODEJS_CONTEXT_NAME "otel_thread_ctx_nodejs_v1"
#define ELF_NODEJS_CONTEXT_BYTES 32

int elf_tls_read_context(struct elf_tls *tls, int fd);

#endif
