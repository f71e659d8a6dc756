/* SPDX-License-Identifier: BSD-2-Clause */
/* The formats that can be imported; import.c makes the table of them. */
#ifndef IMPORT_FORMATS_H
#define IMPORT_FORMATS_H

#include "import/import.h"

extern const struct import_format import_ftrace;
extern const struct import_format import_monad;
extern const struct import_format import_perf;
extern const struct import_format import_sui;
extern const struct import_format import_tokio;
extern const struct import_format import_ftr;
extern const struct import_format import_fvm;
extern const struct import_format import_otlp;

#endif
