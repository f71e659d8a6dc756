/* SPDX-License-Identifier: BSD-2-Clause */
/* What somebody has sent in gzip's format. */
#ifndef OTLP_UNPACK_H
#define OTLP_UNPACK_H

#include <stddef.h>

#include "base/text.h"

/*
 * Replaces what is in out. 0, -ENOMEM, -EBADMSG: it is damaged or cut off, or
 * -EFBIG: it would be longer than size_max.
 */
int otlp_unpack(const char *bytes, size_t length, size_t size_max, struct text *out);

#endif
