/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers as people write and read them: 1.5ms, 64M, 1,234,567. Formats take at
 * most UNITS_SIZE bytes, NUL included, and return their buffer.
 */
#ifndef UNITS_H
#define UNITS_H

#include <stdint.h>

#define UNITS_SIZE 32

/* The whole text must be the number. -EINVAL: it is none; -ERANGE: it does not fit into 64 bits. */
int units_parse_u64(const char *text, uint64_t *value);
/* 4096, 64K, 1.5M, 2G; also KiB, MiB, GiB; powers of 1024 */
int units_parse_size(const char *text, uint64_t *bytes);
/* 250ns, 10us, 10µs, 5ms, 1.5s, 2m, 1h; a bare number is seconds */
int units_parse_duration(const char *text, uint64_t *ns);

/*
 * Three digits at least: "0", "812 ns", "41.3 µs", "5.21 ms", "12.0 s", "3,812
 * s". At most 7 columns below 10^4 s.
 */
char *units_format_duration(char buffer[static UNITS_SIZE], uint64_t ns);
/* "812 B", "4.00 KiB", "1.21 GiB" */
char *units_format_size(char buffer[static UNITS_SIZE], uint64_t bytes);
char *units_format_count(char buffer[static UNITS_SIZE], uint64_t count);  /* "1,234,567" */
/* "31.4 %"; "<0.1 %"; "" of nothing */
char *units_format_share(char buffer[static UNITS_SIZE], uint64_t part, uint64_t whole);

#endif
