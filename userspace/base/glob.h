/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shell patterns over bytes: * any bytes, ? one byte, [a-z] [!a-z] a set, \
 * takes the next byte as it is. Never slower than length * pattern.
 */
#ifndef GLOB_H
#define GLOB_H

#include <stdbool.h>
#include <stddef.h>

bool glob_matches(const char *pattern, const char *bytes, size_t length);

#endif
