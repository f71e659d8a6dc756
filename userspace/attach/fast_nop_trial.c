/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/fast_nop_trial.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/uprobe_multi.h"

#define PAGE_BYTES 4096
#define CALL_OPCODE 0xe8
#define SITE_RUNS 16 /* the first makes the kernel turn the nop into a call */

/* The site of include/txtrace.h. */
static const unsigned char site[] = {
	0x90, 0x0f, 0x1f, 0x44, 0x00, 0x00, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00, 0xc3,
};

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

static void run_site(const unsigned char *code)
{
	void (*run)(void);

	memcpy(&run, &code, sizeof(run));
	for (int i = 0; i < SITE_RUNS; i++)
		run();
}

static int wait_for(pid_t child)
{
	int status;

	if (child < 0 || waitpid(child, &status, 0) != child)
		return VERDICT_UNTRIED;
	return WIFEXITED(status) ? WEXITSTATUS(status) : VERDICT_DIED;
}

/* The process with the nop in use, and its child. No core, and no line in the kernel's log: the signals are handled. */
static int try_in_child(int fd, size_t nop_offset)
{
	const unsigned char *code = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	pid_t child;

	if (code == MAP_FAILED)
		return VERDICT_UNTRIED;
	run_site(code);
	if (code[nop_offset] != CALL_OPCODE && code[nop_offset + 5] != CALL_OPCODE) /* a call may follow a move of the stack */
		return VERDICT_UNTRIED;
	child = fork();
	if (!child) {
		signal(SIGSEGV, die_quietly);
		signal(SIGILL, die_quietly);
		signal(SIGTRAP, die_quietly);
		run_site(code);
		_exit(VERDICT_SURVIVED);
	}
	return wait_for(child);
}

static int open_site(void)
{
	unsigned char page[PAGE_BYTES] = { 0 };
	int fd = memfd_create("txtrace-trial", MFD_CLOEXEC);

	memcpy(page, site, sizeof(site));
	if (fd >= 0 && write(fd, page, sizeof(page)) != sizeof(page)) {
		close(fd);
		return -1;
	}
	return fd;
}

bool fast_nop_survives_fork(int prog_fd, enum fast_nop fast_nop)
{
	uint64_t offset = fast_nop == FAST_NOP_5 ? 1 : 6;
	struct uprobe_multi link = { .offsets = &offset, .cnt = 1 };
	int fd = open_site(), link_fd, verdict = VERDICT_UNTRIED;
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
