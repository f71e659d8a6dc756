/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rust names as people write them, without the hash: v0 ("_R…") and legacy
 * ("_ZN…17h<hash>E"). Done by libiberty where the build found it; otherwise no
 * name is read. Names of traced programs are hostile: a short one may take
 * long, so this is for a process that has little time (cxx_name.h,
 * symbolizer.h).
 */
#ifndef RUST_NAME_H
#define RUST_NAME_H

#define RUST_NAME_MAX 2048

/* What the symbol stands for, to be freed; NULL: it is no Rust symbol, too long, or there is no memory. */
char *rust_name_read(const char *symbol);

#endif
