/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The few of the kernel's types (its BTF) that are asked for by name. The
 * kernel describes over 100,000, and libbpf goes through all of them for each
 * type that a program reads, which took a fifth of the recorder's start.
 */
#ifndef KERNEL_TYPES_H
#define KERNEL_TYPES_H

#include <stddef.h>

#define KERNEL_TYPES_PATH "/sys/kernel/btf/vmlinux" /* all of them, as btf__parse() reads them */

struct btf;

/*
 * All structs, unions, enums and typedefs of these names, with the types of
 * their members. A pointer is void * unless it points to a function: its
 * arguments are void. The caller frees *result with btf__free(). 0, -ENOMEM, or
 * errors of libbpf.
 */
int kernel_types_select(struct btf **result, const struct btf *kernel, const char *const *names, size_t cnt);

/*
 * The same for the types that a BPF object has relocations for: their names in
 * its own BTF are without what begins with "___".
 */
int kernel_types_select_for(struct btf **result, const struct btf *kernel, const struct btf *object);

#endif
