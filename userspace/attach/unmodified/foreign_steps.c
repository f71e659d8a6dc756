/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/unmodified/foreign_steps.h"

#include <elf.h>
#include <unistd.h>

#include "attach/probes/stepped_code.h"

static bool is_stepped(const struct foreign_object *object, const struct probe_spot *spot, uint16_t machine)
{
	uint8_t code[STEPPED_CODE_BYTES];
	ssize_t got = pread(object->fd, code, sizeof(code), (off_t)spot->offset);

	return got > 0 && stepped_code_is(code, (size_t)got, machine, object->features->version);
}

/* Each function and span once. */
static void note(struct foreign_plan *plan, const struct probe_spot *spot)
{
	bool is_function = spot->program == FOREIGN_PROGRAM_LEAVE || spot->program == FOREIGN_PROGRAM_ENTER ||
			   spot->program == FOREIGN_PROGRAM_CALL;
	size_t idx = is_function ? (uint32_t)spot->cookie
				 : plan->sites[spot->cookie % FOREIGN_SITE_MAX].span_idx;
	bool *is_noted = is_function ? &plan->is_stepped_label[idx] : &plan->is_stepped_span[idx];

	if (*is_noted)
		return;
	*is_noted = true;
	plan->stepped_cnt++;
	if (!plan->stepped_example)
		plan->stepped_example = is_function ? plan->labels[idx] : plan->spans[idx].label;
}

void foreign_steps_mark(struct foreign_search *search)
{
	Elf64_Ehdr header;

	if (pread(search->object->fd, &header, sizeof(header), 0) != sizeof(header))
		return;
	for (size_t i = 0; i < search->spot_cnt; i++) {
		struct probe_spot *spot = &search->spots[i];

		if (foreign_program_is_return((enum foreign_program)spot->program))
			continue;
		if (!is_stepped(search->object, spot, header.e_machine))
			continue;
		note(search->plan, spot);
		spot->cookie |= FOREIGN_COOKIE_STEPPED;
	}
}
