/* SPDX-License-Identifier: BSD-2-Clause */
/* The formats that there are; export.c makes the table of them. */
#ifndef FORMATS_H
#define FORMATS_H

#include "export/export.h"

extern const struct export_format format_jsonl;
extern const struct export_format format_perfetto;
extern const struct export_format format_chrome;
extern const struct export_format format_ctf;
extern const struct export_format format_pprof;
extern const struct export_format format_speedscope;
extern const struct export_format format_csv;
extern const struct export_format format_firefox;
extern const struct export_format format_tokio;
extern const struct export_format format_tokio4;
extern const struct export_format format_tokio6;
extern const struct export_format format_sui;
extern const struct export_format format_sui2;
extern const struct export_format format_ftr;
extern const struct export_format format_ftr_double;
extern const struct export_format format_ftr_lz4;
extern const struct export_format format_ftr_text;
extern const struct export_format format_fvm;
extern const struct export_format format_sui_files;
extern const struct export_format format_sui2_files;
extern const struct export_format format_otlp;
extern const struct export_format format_otlp_json;
/* of sql/, which knows the tables */
extern const struct export_format format_sqlite;

#endif
