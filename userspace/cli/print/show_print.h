/* SPDX-License-Identifier: BSD-2-Clause */
/* What `txtrace show` shows. */
#ifndef SHOW_PRINT_H
#define SHOW_PRINT_H

#include "cli/print/span_choice.h"

/* line_limit: of the longest things; 0: all. 0 or -ENOMEM. */
int show_print(const struct chosen_span *chosen, const struct screen *screen, size_t line_limit);
void show_json(const struct chosen_span *chosen, struct json *json);

#endif
