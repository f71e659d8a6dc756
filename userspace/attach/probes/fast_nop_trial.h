/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Does a program that forks survive this kernel's fast nops? A probed fast nop
 * becomes a call into a page that the kernel maps into the process. Kernel 6.18
 * does not give that page to a forked child, which has the call all the same:
 * at its next probe the child dies of SIGSEGV, although nobody traces it. No
 * version number tells which kernels have mended that, so it is tried on two
 * children of our own.
 */
#ifndef FAST_NOP_TRIAL_H
#define FAST_NOP_TRIAL_H

#include <stdbool.h>

#include "attach/probes/kernel_features.h"

/*
 * prog_fd: a loaded program that does nothing, for uprobe_multi. True: a child
 * that was forked off a process with a fast nop in use came through it
 * unharmed. False: it died, or the trial could not be made. Takes some tens of
 * milliseconds; needs to be called before there are threads.
 */
bool fast_nop_survives_fork(int prog_fd, enum fast_nop fast_nop);

#endif
