/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A probe site of our own, the same instructions as that of include/txtrace.h,
 * in a file of memory: for trials in children of ours.
 */
#ifndef TRIAL_SITE_H
#define TRIAL_SITE_H

#include <stddef.h>

#include "attach/probes/kernel_features.h"

/*
 * Where in the file the nop is that this kind of probe sits on; NONE: the
 * first, which can always be probed.
 */
size_t trial_site_offset(enum fast_nop fast_nop);

/*
 * Where in the file an instruction is that the kernel single-steps when a probe
 * is on it; a return is behind it. 0: none is known for this machine.
 */
size_t trial_site_stepped_offset(void);

int trial_site_open(void); /* an fd, or -1 */

/* Maps the file: its code, or NULL. For a process that will end soon. */
const unsigned char *trial_site_map(int fd);

void trial_site_run(const unsigned char *code, unsigned int cnt);

#endif
