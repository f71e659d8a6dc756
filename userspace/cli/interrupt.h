/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Signals that would end the program (Ctrl-C, SIGTERM, SIGHUP), held back so that a command can clear up first. Those that whoever started the program
 * had it ignore stay ignored.
 */
#ifndef INTERRUPT_H
#define INTERRUPT_H

#include <signal.h>

struct interrupt {
	int fd; /* -1: nothing is held back */
	sigset_t before;
};

/* Can't fail: where there is no way to hold them back, signals end the program as ever. */
void interrupt_open(struct interrupt *interrupt);

/* The signal that came, or 0. */
int interrupt_poll(const struct interrupt *interrupt);

/* Ends the program by `signal`, as it would have, if that is not 0. */
void interrupt_close(struct interrupt *interrupt, int signal);

#endif
