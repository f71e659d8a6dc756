/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which probes of an object sit on instructions that the kernel single-steps:
 * they are counted apart, and warned about.
 */
#ifndef FOREIGN_STEPS_H
#define FOREIGN_STEPS_H

#include "attach/unmodified/foreign_search.h"

/* Marks the cookies of these spots, and notes whose they are. What cannot be read is taken as emulated. */
void foreign_steps_mark(struct foreign_search *search);

#endif
