/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Puts pseudonyms in place of all that a program or its users may have written
 * into a log: labels, tags, keys, names and strings of attributes, names of
 * instants, counters and links, commands, the host. Numbers stay: times, ids,
 * values.
 */
#ifndef ANONYMIZER_H
#define ANONYMIZER_H

#include <stddef.h>

#include "txtrace/log.h"

struct anonymizer;

struct anonymizer *anonymizer_new(const void *salt, size_t length); /* NULL: no memory */
void anonymizer_free(struct anonymizer *anonymizer);

/*
 * The strings of the record are the anonymizer's then, until the next call.
 * After an error (-ENOMEM, -EINVAL: what kind is this?) it must not be used.
 */
int anonymizer_apply(struct anonymizer *anonymizer, struct txtrace_record *record);

/*
 * The header of a log: host, command and options become pseudonyms, the ids of
 * the capture and of the boot others; of the kernel its version number is left,
 * of the options what the capture was told to leave out (struct capture_scope).
 * What stays are the recorder's name, the pid, the number of CPUs and the
 * clocks. 0 or -ENOMEM.
 */
int anonymizer_apply_info(struct anonymizer *anonymizer, struct txtrace_log_info *info);

#endif
