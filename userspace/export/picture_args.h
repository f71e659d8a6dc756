/* SPDX-License-Identifier: BSD-2-Clause */
/* A list of args that is being put together. Errors stick in `err` (-ENOMEM); strings are not copied. */
#ifndef PICTURE_ARGS_H
#define PICTURE_ARGS_H

#include "export/picture.h"
#include "export/span_marks.h"
#include "export/timeline.h"

struct picture_args {
	int err;
	struct picture_arg *args;
	size_t cnt;
	size_t size;
	size_t group; /* index + 1 of the group that is open, or 0 */
};

void args_clear(struct picture_args *args); /* for the next shape; keeps the room and the error */
void args_release(struct picture_args *args);

/* name is a literal. */
void args_add(struct picture_args *args, const char *name, enum arg_type type, uint64_t value);

/* Everything that a record says and the shape does not show. mark may be NULL. */
void args_add_span(struct picture_args *args, const struct txtrace_span *span, const struct span_mark *mark);
void args_add_attribute(struct picture_args *args, const struct txtrace_attribute *attribute);
void args_add_state(struct picture_args *args, const struct state_slice *slice,
		    const struct txtrace_run *run);
void args_add_wake(struct picture_args *args, const struct txtrace_wake *wake);
void args_add_loss(struct picture_args *args, const struct txtrace_loss *loss);
void args_add_dropped(struct picture_args *args, const struct txtrace_dropped *dropped);
void args_add_damage(struct picture_args *args, const struct txtrace_damage *damage);
void args_add_totals(struct picture_args *args, const struct export_totals *totals);

#endif
