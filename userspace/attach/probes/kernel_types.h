/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel's types (its BTF) that BPF programs read, and no others. The
 * kernel describes more than 100,000 types, and libbpf searches all of them for
 * each type that a program names. That was a fifth of the recorder's start.
 */
#ifndef KERNEL_TYPES_H
#define KERNEL_TYPES_H

struct btf;

#define KERNEL_TYPES_PATH "/sys/kernel/btf/vmlinux" /* all types of the kernel, for btf__parse() */

/*
 * Copies the structs, unions, enums and typedefs of the kernel that `programs`
 * (the BTF of a BPF object) has under the same name, and the types of their
 * members. The part of a program's name from "___" on is ignored, as libbpf
 * does. Pointers become void *, except those to functions, whose arguments
 * become void. The caller frees *result with btf__free(); it is NULL after an
 * error. Returns 0, -ENOMEM, or an error of libbpf.
 */
int kernel_types_select(struct btf **result, const struct btf *kernel, const struct btf *programs);

#endif
