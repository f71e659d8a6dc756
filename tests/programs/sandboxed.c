/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Spans in a sandbox of seccomp's: strict, where a thread may read, write, exit and return from signals, and
 * a filter that kills for all but a few system calls: as many as --repeat says, each with a tag, an
 * attribute, an event and a child. A mark must not make a system call, and the first one must not read the
 * time stamp counter for its id, which strict mode forbids, too: whoever gets to "done" has lived.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>

#include "truth.h"

#define ALLOW(nr) \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (nr), 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static void forbid_all_but_a_few(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		ALLOW(SYS_read),
		ALLOW(SYS_write),
		ALLOW(SYS_exit),
		ALLOW(SYS_rt_sigreturn),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	const struct sock_fprog program = { .len = sizeof(filter) / sizeof(filter[0]), .filter = filter };

	must(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) && !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program),
	     "there is no seccomp filter");
}

/* For --func: something that is called, and returns. */
static __attribute__((noinline, used)) int sandboxed_work(int x)
{
	volatile int sum = x;

	for (int i = 0; i < 1000; i++)
		sum = sum + i;
	return sum;
}

static void spans(uint64_t cnt)
{
	for (uint64_t i = 0; i < cnt; i++) {
		txtrace_span_t span = TXTRACE_BEGIN("sandboxed"), child;

		TXTRACE_TAG(span, "in=sandbox");
		TXTRACE_ATTR(span, "turn", (int)i);
		child = TXTRACE_BEGIN_CHILD("child", span);
		TXTRACE_EVENT(child, "working");
		sandboxed_work((int)i);
		TXTRACE_END(child);
		TXTRACE_END(span);
	}
}

int main(int argc, char **argv)
{
	struct truth_options options = TRUTH_OPTIONS_DEFAULT;
	const char *how = "strict";
	const struct option_spec table[] = {
		TRUTH_OPTION_SPECS(&options),
		{ .name = "how", .help = "strict or filter", .text = &how },
	};

	options_parse(table, sizeof(table) / sizeof(table[0]), "sandboxed: spans under seccomp", argc, argv);
	truth_start(&options);
	if (!strcmp(how, "strict"))
		must(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT), "there is no strict seccomp");
	else
		forbid_all_but_a_few();
	spans(options.repeat_cnt);
	if (write(STDOUT_FILENO, "done\n", 5) != 5)
		syscall(SYS_exit, 1);
	syscall(SYS_exit, 0); /* exit_group is forbidden */
}
