/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How marks of txtrace.h come: through memory that the program shares with the
 * recorder, or through probes.
 */
#ifndef MARKS_CHOICE_H
#define MARKS_CHOICE_H

#include <stdbool.h>

#include "attach/probes/kernel_features.h"
#include "attach/process/process_reader.h"
#include "base/error.h"
#include "record/options/record_options.h"
#include "record/targets/target_set.h"

struct marks_choice {
	bool uses_ring;
	const char *why_not; /* static; NULL: it does, or probes were asked for */
};

/*
 * What --marks asks for, or with `auto` what is possible here. 0; a negative
 * errno and a sentence if the ring was asked for and is not possible.
 */
int marks_choose(struct marks_choice *choice, const struct record_options *options,
		 const struct kernel_features *features, const struct target_set *targets,
		 struct process_reader *reader, struct error *error);

#endif
