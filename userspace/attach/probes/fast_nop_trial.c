/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/probes/fast_nop_trial.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/probes/trial_site.h"
#include "attach/probes/uprobe_multi.h"

#define CALL_OPCODE 0xe8
#define SITE_RUNS 16 /* the first makes the kernel turn the nop into a call */

enum verdict { /* exit statuses of the children */
	VERDICT_SURVIVED = 0,
	VERDICT_DIED = 1,
	VERDICT_UNTRIED = 2, /* the nop did not become a call, or there was no second child */
};

static void die_quietly(int signal)
{
	(void)signal;
	_exit(VERDICT_DIED);
}

static int wait_for(pid_t child)
{
	int status;

	if (child < 0 || waitpid(child, &status, 0) != child)
		return VERDICT_UNTRIED;
	return WIFEXITED(status) ? WEXITSTATUS(status) : VERDICT_DIED;
}

/*
 * The process with the nop in use, and its child. No core, and no line in the kernel's log: the signals are
 * handled.
 */
static int try_in_child(int fd, size_t nop_offset)
{
	const unsigned char *code = trial_site_map(fd);
	pid_t child;

	if (!code)
		return VERDICT_UNTRIED;
	trial_site_run(code, SITE_RUNS);
	/* a call may follow a move of the stack */
	if (code[nop_offset] != CALL_OPCODE && code[nop_offset + 5] != CALL_OPCODE)
		return VERDICT_UNTRIED;
	child = fork();
	if (!child) {
		signal(SIGSEGV, die_quietly);
		signal(SIGILL, die_quietly);
		signal(SIGTRAP, die_quietly);
		trial_site_run(code, SITE_RUNS);
		_exit(VERDICT_SURVIVED);
	}
	return wait_for(child);
}

bool fast_nop_survives_fork(int prog_fd, enum fast_nop fast_nop)
{
	uint64_t offset = trial_site_offset(fast_nop);
	struct uprobe_multi link = { .offsets = &offset, .cnt = 1 };
	int fd = trial_site_open(), link_fd, verdict = VERDICT_UNTRIED;
	char path[64];
	pid_t child;

	if (fd < 0 || fast_nop == FAST_NOP_NONE) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	link.path = path;
	link_fd = uprobe_multi_link(prog_fd, &link);
	if (link_fd >= 0) {
		child = fork();
		if (!child)
			_exit(try_in_child(fd, offset));
		verdict = wait_for(child);
		close(link_fd);
	}
	close(fd);
	return verdict == VERDICT_SURVIVED;
}
