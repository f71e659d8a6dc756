/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From what the user said (attach/process/target_rules.h) to targets with probes: the
 * steps of recorder_open() that are about targets, in the order in which they
 * are taken. Each returns 0, or a negative errno and a sentence.
 */
#ifndef TARGET_START_H
#define TARGET_START_H

#include "base/error.h"

struct recorder;
struct text;

/* Opens the processes that are named, or forks the command, which waits. */
int target_start_open(struct recorder *recorder, struct error *error);

/* Tells the kernel side who is a target; has to come before the scheduler's events flow. */
int target_start_tell(struct recorder *recorder, struct error *error);

/*
 * The scheduler's events flow: starts the clocks of the threads that are there.
 * Who has ended meanwhile is no target any more.
 */
int target_start_seed(struct recorder *recorder, struct error *error);

/* Attaches the probes of all that run; launches the command, which is held if it can be. */
int target_start_attach(struct recorder *recorder, struct error *error);

/* Who is traced, in words, for the log's header. */
void target_start_describe(const struct recorder *recorder, struct text *text);

#endif
