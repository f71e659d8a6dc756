/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The executables whose processes are targets (--exe): what file a path means,
 * and those that it meant before.
 */
#ifndef TARGET_EXES_H
#define TARGET_EXES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct recorder;

/* Tells the kernel side which files they are. 0, or a negative errno and a sentence. */
int target_exes_tell(struct recorder *recorder, struct error *error);

/*
 * While it records: a path may lead to another file by now (an upgrade). True:
 * it does, and who runs it has to be looked for.
 */
bool target_exes_renew(struct recorder *recorder);

/*
 * The probes of the file that this rule names, for those who will run it. How
 * many sites, 0 if it cannot be read, or a negative errno and a sentence.
 */
int target_exes_attach(struct recorder *recorder, size_t idx, struct error *error);

#endif
