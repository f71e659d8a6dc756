// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "label.h"
#include "copied_text.h"

struct label_files_map label_files SEC(".maps");

__noinline uint64_t label_copy(uint64_t address)
{
	struct text_source source = { .value = address, .address = address };

	return text_send(0, WIRE_LABEL, &source) ? address : WIRE_LABEL_UNREADABLE;
}
