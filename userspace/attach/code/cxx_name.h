/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * C++ and Rust names as people write them: Rust's by rust_name.h, C++'s by
 * libstdc++ where it is installed, as the recorder is not linked with it. Names
 * of traced programs are hostile, and a short one can be made to grow without
 * end: a child process reads them, with little memory and little time, and what
 * it does not bring stays as it is.
 */
#ifndef CXX_NAME_H
#define CXX_NAME_H

#include <stddef.h>

#define CXX_NAME_MANGLED_MAX 1024
#define CXX_NAME_MAX 2048
#define CXX_NAME_SECONDS_MAX 10

/* Has the library at hand: to be called before the process may map no more code. Stays. */
void cxx_names_prepare(void);

/*
 * names[i] becomes the name that mangled[i] stands for, to be freed; NULL if
 * that is no mangled one, or cannot be read here. 0, or a negative errno: then
 * all are NULL.
 */
int cxx_names_read(char **names, const char *const *mangled, size_t cnt);

/*
 * Cuts return type, parameters and what is behind them: "int
 * Bank::move<long>(Account&) const" becomes "Bank::move<long>".
 */
void cxx_name_shorten(char *name);

#endif
