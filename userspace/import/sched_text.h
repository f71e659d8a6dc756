/* SPDX-License-Identifier: BSD-2-Clause */
/* Text of scheduler events, whoever printed it: what the formats perf and ftrace have in common. */
#ifndef SCHED_TEXT_H
#define SCHED_TEXT_H

#include "import/import.h"

/* For struct import_format. */
int sched_text_read(struct import *import);

/* Whether the first line that is not empty and no comment is an event. *has_dash: of the form COMM-TID. */
bool sched_text_is_event(const uint8_t *head, size_t length, bool *has_dash);

#endif
