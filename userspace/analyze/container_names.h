/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * In which container and pod each process is, as the records of processes tell.
 * CONTAINERS_MAX of them are told apart; of processes in further ones it is not
 * known.
 */
#ifndef CONTAINER_NAMES_H
#define CONTAINER_NAMES_H

#include <stdint.h>

#include "txtrace/log.h"

#define CONTAINERS_MAX 65536u

struct container_names;

struct container_names *container_names_new(void); /* NULL: no memory */
void container_names_free(struct container_names *names);

/* Another capture begins: its pids are other processes. */
void container_names_begin_capture(struct container_names *names);

/* What a process leaves unsaid when it ends is as it was. 0 or -ENOMEM. */
int container_names_add(struct container_names *names, const struct txtrace_process *process);

/* Empty: in none, or not known. Valid until the next add. */
struct txtrace_string container_names_container(const struct container_names *names, uint32_t pid);
struct txtrace_string container_names_pod(const struct container_names *names, uint32_t pid);

#endif
