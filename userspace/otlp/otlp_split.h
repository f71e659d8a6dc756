/* SPDX-License-Identifier: BSD-2-Clause */
/* Halves a message of traces (TracesData in protobuf or JSON) that is too large for its receiver. */
#ifndef OTLP_SPLIT_H
#define OTLP_SPLIT_H

#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

/*
 * The first span_cnt of its spans, and the others, each with what is said of
 * their processes. What is no span, and is not around any, goes along with both.
 * What is in the texts is replaced. 0, -ENOMEM, or -EBADMSG: this is no such
 * message.
 */
int otlp_split(const char *bytes, size_t length, uint32_t span_cnt, struct text *first, struct text *second);

#endif
