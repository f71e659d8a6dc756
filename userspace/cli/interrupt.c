/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/interrupt.h"

#include <stddef.h>
#include <sys/signalfd.h>
#include <unistd.h>

static void add_unless_ignored(sigset_t *signals, int signal)
{
	struct sigaction action;

	if (sigaction(signal, NULL, &action) == 0 && action.sa_handler == SIG_DFL)
		sigaddset(signals, signal);
}

void interrupt_open(struct interrupt *interrupt)
{
	sigset_t signals;

	sigemptyset(&signals);
	add_unless_ignored(&signals, SIGINT);
	add_unless_ignored(&signals, SIGTERM);
	add_unless_ignored(&signals, SIGHUP);
	interrupt->fd = signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
	if (interrupt->fd >= 0)
		sigprocmask(SIG_BLOCK, &signals, &interrupt->before);
}

int interrupt_poll(const struct interrupt *interrupt)
{
	struct signalfd_siginfo signal;

	return interrupt->fd >= 0 && read(interrupt->fd, &signal, sizeof(signal)) == sizeof(signal) ? (int)signal.ssi_signo : 0;
}

void interrupt_close(struct interrupt *interrupt, int signal)
{
	if (interrupt->fd < 0)
		return;
	close(interrupt->fd);
	interrupt->fd = -1;
	sigprocmask(SIG_SETMASK, &interrupt->before, NULL);
	if (signal)
		raise(signal);
}
