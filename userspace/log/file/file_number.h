/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The names of a log's older files: "app.txtrace" gives "app.000001.txtrace",
 * "app.000002.txtrace", …: the number stands before the last extension, or
 * behind a name that has none, with six digits at least. Up to a million they
 * sort as their numbers do.
 */
#ifndef FILE_NUMBER_H
#define FILE_NUMBER_H

#include <stddef.h>
#include <stdint.h>

#define FILE_NUMBER_MAX 999999999999999999u /* 18 digits; a name with more is none of ours */

/*
 * name: a path or a bare name; what is before its last slash is kept. number:
 * from 1. -ENAMETOOLONG: it does not fit into size.
 */
int file_number_format(const char *name, uint64_t number, char *buffer, size_t size);

/* The number of `other`, a bare name, among those of `name`, a bare one, too; 0: it is not one of them. */
uint64_t file_number_parse(const char *name, const char *other);

#endif
