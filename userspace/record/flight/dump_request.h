/* SPDX-License-Identifier: BSD-2-Clause */
/* Asks another txtrace-bpf, which runs as a flight recorder, to write what it has: --dump. */
#ifndef DUMP_REQUEST_H
#define DUMP_REQUEST_H

#include <sys/types.h>

#include "base/error.h"

/*
 * 0, or a negative errno and a sentence. A process that would not understand it
 * gets no signal: it would die of it.
 */
int dump_request_send(pid_t pid, struct error *error);

#endif
