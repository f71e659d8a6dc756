/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/sandbox/confinement.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <ucontext.h>
#include <unistd.h>

#include "attach/process/outside_process.h"

#define BPF_ENABLE_STATS_NR 32 /* later than some headers */

/* ---- what is allowed ---- */

/* By name: a kernel or libseccomp that does not know one does without it. */
static const char *const calls[] = {
	/* memory, threads, time */
	"brk",
	"munmap",
	"mremap",
	"madvise",
	"futex",
	"set_robust_list",
	"rseq",
	"exit",
	"exit_group",
	"sched_yield",
	"sched_getaffinity",
	"gettid",
	"getpid",
	"clock_gettime",
	"clock_nanosleep",
	"nanosleep",
	"gettimeofday",
	"restart_syscall",
	"membarrier",
	/* signals; of tgkill and kill see below */
	"rt_sigaction",
	"rt_sigprocmask",
	"rt_sigreturn",
	"sigaltstack",
	"signalfd4",
	/* files: the log, /proc, what targets have mapped */
	"openat",
	"openat2",
	"open",
	"close",
	"read",
	"readv",
	"pread64",
	"preadv",
	"write",
	"writev",
	"pwrite64",
	"lseek",
	"fstat",
	"newfstatat",
	"stat",
	"lstat",
	"statx",
	"access",
	"faccessat",
	"faccessat2",
	"readlink",
	"readlinkat",
	"getdents64",
	"fcntl",
	"dup",
	"flock",
	"fsync",
	"fdatasync",
	"ftruncate",
	"fallocate",
	"fchmod",
	"umask",
	"rename",
	"renameat",
	"renameat2",
	"link",
	"linkat",
	"unlink",
	"unlinkat",
	"mkdir",
	"fstatfs",
	"statfs",
	"sync_file_range",
	"fadvise64",
	"copy_file_range",
	"sendfile",
	/* waiting, and the sockets that are there: of processes of ours, the service manager's */
	"poll",
	"ppoll",
	"select",
	"pselect6",
	"epoll_create1",
	"epoll_ctl",
	"epoll_wait",
	"epoll_pwait",
	"eventfd2",
	"pipe2",
	"timerfd_settime",
	"recvfrom",
	"recvmsg",
	"sendto",
	"sendmsg",
	"setsockopt", /* of socketpair see below */
	/* who we are, and how the machine is */
	"uname",
	"sysinfo",
	"getrusage",
	"times",
	"getrandom",
	"prlimit64",
	"getrlimit",
	"getuid",
	"geteuid",
	"getgid",
	"getegid",
	"getppid",
	"capget",
	"sched_getparam",
	"sched_getscheduler",
	/* the target's memory, and its end */
	"process_vm_readv",
	"wait4",
	"waitid",
	/* how a probe in a library that we, too, have mapped enters and leaves the kernel: nobody's choice */
	"uretprobe",
};

/* A call one of whose arguments must be this: in `mask`, if there is one, or else as an int. */
struct ruled_call {
	const char *call;
	unsigned int argument;
	uint64_t mask;
	uint64_t value;
};

static const struct ruled_call ruled_calls[] = {
	{ "mmap", 2, PROT_EXEC, 0 },
	{ "mprotect", 2, PROT_EXEC, 0 },
	/* clone3 hides its flags: glibc takes clone when it is not there */
	{ "clone", 0, CLONE_THREAD, CLONE_THREAD },
	{ "socketpair", 0, 0, AF_UNIX }, /* for whoever reads an ELF file */
	{ "ioctl", 1, 0, TCGETS },
	{ "ioctl", 1, 0, TIOCGWINSZ },
	{ "ioctl", 1, 0, FIONBIO },
	{ "ioctl", 1, 0, FIONREAD },
	{ "ioctl", 1, 0, PERF_EVENT_IOC_DISABLE }, /* samples of stacks, at the end */
	{ "prctl", 0, 0, 15 /* PR_SET_NAME */ },
	{ "bpf", 0, 0, BPF_MAP_LOOKUP_ELEM },
	{ "bpf", 0, 0, BPF_MAP_UPDATE_ELEM },
	{ "bpf", 0, 0, BPF_MAP_DELETE_ELEM },
	{ "bpf", 0, 0, BPF_MAP_GET_NEXT_KEY },
	{ "bpf", 0, 0, BPF_OBJ_GET_INFO_BY_FD },
	{ "bpf", 0, 0, BPF_LINK_CREATE },
	{ "bpf", 0, 0, BPF_ITER_CREATE },
	{ "bpf", 0, 0, BPF_PROG_TEST_RUN }, /* one of ours asks the thread on a CPU */
};

/* Without uprobe_multi every probe is a perf event; libbpf tries what the kernel can by loading programs. */
static const struct ruled_call perf_calls[] = {
	{ "perf_event_open", 1, 0, UINT32_MAX },
	{ "ioctl", 1, 0, PERF_EVENT_IOC_SET_BPF },
	{ "ioctl", 1, 0, PERF_EVENT_IOC_ENABLE },
	{ "bpf", 0, 0, BPF_PROG_LOAD },
	{ "bpf", 0, 0, BPF_BTF_LOAD },
	{ "bpf", 0, 0, BPF_RAW_TRACEPOINT_OPEN },
};

/*
 * Reads a byte, runs its probe, answers; turns the timing of programs on and off. A sanitizer asks for the
 * signal stack before it lets a process end.
 */
static const char *const trial_calls[] = { "read",	    "write",	       "close",	      "exit_group",
					   "clock_gettime", "restart_syscall", "sigaltstack", "uretprobe" };

static const struct ruled_call trial_ruled_calls[] = {
	{ "prctl", 0, 0, 15 /* PR_SET_NAME */ },
	{ "bpf", 0, 0, BPF_ENABLE_STATS_NR },
};

/*
 * libdw on files that may be anything, and a demangler. A sanitizer wants its
 * signal stack, and to say what it has found.
 */
static const char *const symbols_calls[] = {
	"brk", "munmap", "mremap", "madvise", "futex", "getrandom", "sysinfo", "prlimit64", "getrlimit",
	"sched_getaffinity", "sched_yield", "membarrier", "read", "readv", "pread64", "preadv", "lseek",
	"fstat", "newfstatat", "stat", "lstat", "statx", "readlink", "readlinkat", "getcwd", "access",
	"faccessat", "faccessat2", "clock_gettime", "gettimeofday", "getpid", "gettid", "rt_sigreturn",
	"rt_sigprocmask", "restart_syscall", "exit", "exit_group", "sigaltstack", "uretprobe",
};

static const struct ruled_call symbols_ruled_calls[] = {
	{ "mmap", 2, PROT_EXEC, 0 },
	{ "mprotect", 2, PROT_EXEC, 0 },
	{ "openat", 2, O_ACCMODE | O_CREAT | O_TRUNC, O_RDONLY },
	{ "open", 1, O_ACCMODE | O_CREAT | O_TRUNC, O_RDONLY },
	{ "write", 0, 0, STDERR_FILENO },
	{ "writev", 0, 0, STDERR_FILENO },
};

/* The process that has ELF files read starts one for each, and ends it. */
static const char *const elf_calls[] = {
	"clone", "wait4", "kill",	 "set_robust_list", "rseq",
	"dup2",	 "dup3",  "close_range", "getppid",	    "setrlimit",
};

static const struct ruled_call elf_ruled_calls[] = {
	{ "prctl", 0, 0, PR_SET_PDEATHSIG },
	{ "prctl", 0, 0, PR_SET_SECCOMP },
};

/*
 * HTTP with those who connect: on sockets that are there and those that are
 * accepted. A sanitizer wants the same as above.
 */
static const char *const metrics_calls[] = {
	"poll",		"epoll_ctl",	  "epoll_wait",	     "epoll_pwait", "accept4",
	"recvfrom",	"sendto",	  "sendmsg",	     "writev",	    "shutdown",
	"setsockopt",	"getsockopt",	  "getsockname",     "brk",	    "munmap",
	"mremap",	"madvise",	  "futex",	     "getrandom",   "clock_gettime",
	"gettimeofday", "time",		  "getpid",	     "gettid",	    "sched_yield",
	"rt_sigreturn", "rt_sigprocmask", "restart_syscall", "exit",	    "exit_group",
	"sigaltstack",	"uretprobe",
};

static const struct ruled_call metrics_ruled_calls[] = {
	{ "mmap", 2, PROT_EXEC, 0 },
	{ "mprotect", 2, PROT_EXEC, 0 },
	{ "ioctl", 1, 0, FIONREAD },
	{ "ioctl", 1, 0, FIONBIO },
	{ "write", 0, 0, STDERR_FILENO },
};

/*
 * Looks into other processes, and answers. How openat2 opens can't be seen from
 * here; there is no call to write with.
 */
static const char *const reader_calls[] = {
	"brk",		 "munmap",	   "mremap",
	"madvise",	 "futex",	   "getrandom",
	"sysinfo",	 "prlimit64",	   "getrlimit",
	"sched_yield",	 "membarrier",	   "openat2",
	"read",		 "readv",	   "pread64",
	"lseek",	 "close",	   "fstat",
	"newfstatat",	 "stat",	   "lstat",
	"statx",	 "fstatfs",	   "readlink",
	"readlinkat",	 "fcntl",	   "process_vm_readv",
	"clock_gettime", "getpid",	   "gettid",
	"rt_sigreturn",	 "rt_sigprocmask", "restart_syscall",
	"exit",		 "exit_group",	   "sigaltstack",
	"uretprobe",
};

static const struct ruled_call reader_ruled_calls[] = {
	{ "mmap", 2, PROT_EXEC, 0 },
	{ "mprotect", 2, PROT_EXEC, 0 },
	{ "openat", 2, O_ACCMODE | O_CREAT | O_TRUNC, O_RDONLY },
	{ "open", 1, O_ACCMODE | O_CREAT | O_TRUNC, O_RDONLY },
};

/* ---- filters ---- */

struct filter {
	scmp_filter_ctx context;
	int err;
};

static void allow(struct filter *filter, const char *name)
{
	int nr = seccomp_syscall_resolve_name(name);

	if (!filter->err && nr != __NR_SCMP_ERROR)
		filter->err = seccomp_rule_add(filter->context, SCMP_ACT_ALLOW, nr, 0);
	if (filter->err == -EDOM) /* another machine's */
		filter->err = 0;
}

static void allow_if(struct filter *filter, const char *name, struct scmp_arg_cmp condition)
{
	int nr = seccomp_syscall_resolve_name(name);

	if (!filter->err && nr != __NR_SCMP_ERROR)
		filter->err = seccomp_rule_add_array(filter->context, SCMP_ACT_ALLOW, nr, 1, &condition);
}

static struct scmp_arg_cmp argument_is(unsigned int argument, uint64_t mask, uint64_t value)
{
	return (struct scmp_arg_cmp){
		.arg = argument, .op = SCMP_CMP_MASKED_EQ, .datum_a = mask, .datum_b = value
	};
}

static void allow_ruled(struct filter *filter, const struct ruled_call *calls_, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++) {
		const struct ruled_call *call = &calls_[i];

		allow_if(filter, call->call,
			 argument_is(call->argument, call->mask ? call->mask : UINT32_MAX, call->value));
	}
}

/* What holds its process to the recorder stays as it is (attach/process/outside_process.h). */
static void allow_outside(struct filter *filter)
{
	static const int commands[] = { F_GETFD, F_SETFD, F_GETFL, F_DUPFD_CLOEXEC };
	struct scmp_arg_cmp is_other = { .arg = 0, .op = SCMP_CMP_GT, .datum_a = OUTSIDE_LIFE_FD };

	allow_if(filter, "close", is_other);
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		allow_if(filter, "fcntl", argument_is(1, UINT32_MAX, (uint32_t)commands[i]));
}

/* The system call by which a fast probe enters the kernel; it has no name in older tables. */
static void allow_uprobe(struct filter *filter)
{
#if defined(__x86_64__)
	if (!filter->err)
		filter->err = seccomp_rule_add(filter->context, SCMP_ACT_ALLOW, 336, 0);
#else
	(void)filter;
#endif
}

static struct filter filter_new(uint32_t otherwise)
{
	struct filter filter = { .context = seccomp_init(otherwise) };

	if (!filter.context)
		filter.err = -ENOMEM;
	if (!filter.err)
		filter.err = seccomp_attr_set(filter.context, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(EPERM));
	if (!filter.err)
		filter.err = seccomp_attr_set(filter.context, SCMP_FLTATR_CTL_TSYNC, 1);
	/* or older kernels would slow us down for the sake of a mitigation that is not about filters */
	if (!filter.err && seccomp_api_get() >= 4)
		seccomp_attr_set(filter.context, SCMP_FLTATR_CTL_SSB, 1);
	if (!filter.err)
		seccomp_attr_set(filter.context, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	return filter;
}

/* Sets no_new_privs, too. */
static int filter_load(struct filter *filter)
{
	if (!filter->err)
		filter->err = seccomp_load(filter->context);
	seccomp_release(filter->context);
	return filter->err;
}

/* ---- violations ---- */

/* What the call returns. */
static void set_result(ucontext_t *context, long result)
{
#if defined(__x86_64__)
	context->uc_mcontext.gregs[REG_RAX] = result;
#elif defined(__aarch64__)
	context->uc_mcontext.regs[0] = (unsigned long long)result;
#else
#error "the register of a system call's result is not known for this machine"
#endif
}

static void say_and_abort(int nr)
{
	char text[] = "txtrace-bpf: system call 0000 is not among those that recording takes\n";
	char *digit = strchr(text, '0') + 3;
	ssize_t ignored;

	for (unsigned int rest = (unsigned int)nr % 10000; rest; rest /= 10)
		*digit-- = (char)('0' + rest % 10);
	ignored = write(STDERR_FILENO, text, sizeof(text) - 1);
	(void)ignored;
	_exit(128 + SIGSYS);
}

void confinement_refuse(struct confinement_tally *tally, const siginfo_t *info, void *context)
{
	if (tally->aborts)
		say_and_abort(info->si_syscall);
	__atomic_store_n(&tally->last_nr, info->si_syscall, __ATOMIC_RELAXED);
	__atomic_fetch_add(&tally->cnt, 1, __ATOMIC_RELAXED);
	set_result(context, -EPERM);
}

static int handle(const struct confinement_handler *handler)
{
	struct sigaction action = { .sa_sigaction = handler->handle,
				    .sa_flags = SA_SIGINFO | SA_RESTART | SA_NODEFER };
	const char *wish = getenv("TXTRACE_CONFINEMENT");

	handler->tally->aborts = wish && strcmp(wish, "abort") == 0;
	return sigaction(SIGSYS, &action, NULL) ? -errno : 0;
}

/* ---- both ---- */

int confinement_begin(const struct confinement_options *options)
{
	struct filter filter = filter_new(SCMP_ACT_TRAP);

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		allow(&filter, calls[i]);
	allow_ruled(&filter, ruled_calls, sizeof(ruled_calls) / sizeof(ruled_calls[0]));
	if (!options->has_uprobe_multi)
		allow_ruled(&filter, perf_calls, sizeof(perf_calls) / sizeof(perf_calls[0]));
	if (options->command_fd >= 0)
		allow_if(&filter, "pidfd_send_signal",
			 argument_is(0, UINT32_MAX, (uint32_t)options->command_fd));
	if (options->may_fork)
		allow(&filter, "clone");
	allow_if(&filter, "tgkill", argument_is(0, UINT32_MAX, (uint32_t)getpid()));
	allow_uprobe(&filter);
	if (!filter.err)
		filter.err = seccomp_rule_add(filter.context, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
	if (!filter.err)
		filter.err = handle(options->handler);
	return filter_load(&filter);
}

int confinement_begin_trial(void)
{
	struct filter filter = filter_new(SCMP_ACT_ERRNO(EPERM));

	for (size_t i = 0; i < sizeof(trial_calls) / sizeof(trial_calls[0]); i++)
		allow(&filter, trial_calls[i]);
	allow_ruled(&filter, trial_ruled_calls, sizeof(trial_ruled_calls) / sizeof(trial_ruled_calls[0]));
	allow_uprobe(&filter);
	return filter_load(&filter);
}

/* What naming code takes is what reading files takes. */
static void allow_symbols(struct filter *filter)
{
	for (size_t i = 0; i < sizeof(symbols_calls) / sizeof(symbols_calls[0]); i++)
		allow(filter, symbols_calls[i]);
	allow_ruled(filter, symbols_ruled_calls,
		    sizeof(symbols_ruled_calls) / sizeof(symbols_ruled_calls[0]));
	allow_if(filter, "recvmsg", argument_is(0, UINT32_MAX, OUTSIDE_SOCKET_FD));
	allow_if(filter, "sendto", argument_is(0, UINT32_MAX, OUTSIDE_SOCKET_FD));
	allow_outside(filter);
	allow_uprobe(filter);
}

int confinement_begin_symbols(void)
{
	struct filter filter = filter_new(SCMP_ACT_ERRNO(EPERM));

	allow_symbols(&filter);
	return filter_load(&filter);
}

/* ---- ELF files ---- */

/* As the kernel takes it. */
struct program {
	struct sock_filter instructions[1024];
	struct sock_fprog program;
};

/* Made once: that takes longer than to read a file. */
static void prepare_file(struct program *program)
{
	struct filter filter = filter_new(SCMP_ACT_ERRNO(EPERM));
	int fd = memfd_create("filter", MFD_CLOEXEC);
	ssize_t size = -1;

	allow_symbols(&filter);
	if (!filter.err && fd >= 0 && !seccomp_export_bpf(filter.context, fd))
		size = pread(fd, program->instructions, sizeof(program->instructions), 0);
	if (size > 0 && size < (ssize_t)sizeof(program->instructions))
		program->program = (struct sock_fprog){ (unsigned short)((size_t)size /
									 sizeof(program->instructions[0])),
							program->instructions };
	close(fd);
	seccomp_release(filter.context);
}

static void settle_elf(void *context)
{
	struct filter filter;

	prepare_file(context);
	filter = filter_new(SCMP_ACT_ERRNO(EPERM));
	allow_symbols(&filter);
	for (size_t i = 0; i < sizeof(elf_calls) / sizeof(elf_calls[0]); i++)
		allow(&filter, elf_calls[i]);
	allow_ruled(&filter, elf_ruled_calls, sizeof(elf_ruled_calls) / sizeof(elf_ruled_calls[0]));
	if (!filter.err)
		filter.err = seccomp_rule_add(filter.context, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
	filter_load(&filter);
}

static void enter_file(void *context)
{
	const struct program *program = context;

	if (program->program.len)
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program->program);
}

int confinement_elf_reader(struct elf_reader **reader, bool is_unconfined)
{
	struct program program = { .program = { 0 } }; /* each process has a copy */
	const struct elf_settle settle = { settle_elf, enter_file, &program }, none = { NULL, NULL, NULL };

	return elf_reader_new(reader, is_unconfined ? &none : &settle);
}

int confinement_begin_metrics(void)
{
	struct filter filter = filter_new(SCMP_ACT_ERRNO(EPERM));

	for (size_t i = 0; i < sizeof(metrics_calls) / sizeof(metrics_calls[0]); i++)
		allow(&filter, metrics_calls[i]);
	allow_ruled(&filter, metrics_ruled_calls,
		    sizeof(metrics_ruled_calls) / sizeof(metrics_ruled_calls[0]));
	allow_outside(&filter);
	allow_uprobe(&filter);
	return filter_load(&filter);
}

int confinement_begin_reader(int socket_fd)
{
	static const char *const socket_calls[] = { "recvfrom", "recvmsg", "sendto", "sendmsg" };
	struct filter filter = filter_new(SCMP_ACT_ERRNO(EPERM));

	for (size_t i = 0; i < sizeof(reader_calls) / sizeof(reader_calls[0]); i++)
		allow(&filter, reader_calls[i]);
	allow_ruled(&filter, reader_ruled_calls, sizeof(reader_ruled_calls) / sizeof(reader_ruled_calls[0]));
	for (size_t i = 0; i < sizeof(socket_calls) / sizeof(socket_calls[0]); i++)
		allow_if(&filter, socket_calls[i], argument_is(0, UINT32_MAX, (uint32_t)socket_fd));
	allow_uprobe(&filter);
	return filter_load(&filter);
}

char *confinement_call_name(int nr)
{
	return seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, nr);
}
