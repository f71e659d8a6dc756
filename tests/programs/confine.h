/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What may keep a program from making memory to mark in: limits, locked memory,
 * and what the filters of known sandboxes say of mmap() and madvise(); those
 * allow munmap(). Everything else they say of does not matter to a mark, and is
 * allowed here.
 */
#ifndef CONFINE_H
#define CONFINE_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "truth.h"

#define CONFINEMENTS "docker, openssh, chromium, refused, little-memory or locked"

#define CONFINEMENT_LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define CONFINEMENT_RETURN(action) BPF_STMT(BPF_RET | BPF_K, (action))
/* Else: passes over so many instructions. */
#define CONFINEMENT_IF_CALL(nr, skip) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (nr), 0, (skip))

static inline void confine_filter(const struct sock_filter *filter, size_t cnt)
{
	const struct sock_fprog program = { .len = (unsigned short)cnt,
					    .filter = (struct sock_filter *)filter };

	must(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) && !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program),
	     "there is no seccomp filter");
}

/* Docker's default profile, and systemd's @system-service. */
static inline void confine_docker(void)
{
	const struct sock_filter filter[] = { CONFINEMENT_RETURN(SECCOMP_RET_ALLOW) };

	confine_filter(filter, sizeof(filter) / sizeof(filter[0]));
}

/* mmap() with any of these bits in an argument is not allowed. */
static inline void confine_mmap(uint32_t argument, uint32_t forbidden, uint32_t action)
{
	const struct sock_filter filter[] = {
		CONFINEMENT_LOAD(nr),
		CONFINEMENT_IF_CALL(SYS_mmap, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, argument),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, forbidden, 0, 1),
		CONFINEMENT_RETURN(action),
		CONFINEMENT_RETURN(SECCOMP_RET_ALLOW),
	};

	confine_filter(filter, sizeof(filter) / sizeof(filter[0]));
}

#define CONFINEMENT_ARGUMENT(number) ((uint32_t)offsetof(struct seccomp_data, args[number]))

/* Its baseline policy: few flags and few advices. */
static inline void confine_chromium(void)
{
	const uint32_t flags = MAP_SHARED | MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE |
			       MAP_FIXED | MAP_DENYWRITE | MAP_LOCKED;
	const struct sock_filter filter[] = {
		CONFINEMENT_LOAD(nr),
		CONFINEMENT_IF_CALL(SYS_mmap, 3),
		CONFINEMENT_LOAD(args[3]),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, ~flags, 0, 7),
		CONFINEMENT_RETURN(SECCOMP_RET_TRAP),
		CONFINEMENT_IF_CALL(SYS_madvise, 5),
		CONFINEMENT_LOAD(args[2]),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MADV_DONTNEED, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MADV_RANDOM, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MADV_FREE, 1, 0),
		CONFINEMENT_RETURN(SECCOMP_RET_ERRNO | EPERM),
		CONFINEMENT_RETURN(SECCOMP_RET_ALLOW),
	};

	confine_filter(filter, sizeof(filter) / sizeof(filter[0]));
}

/* The value of a line of /proc/self/status, in KiB. */
static inline unsigned long confinement_status_kib(const char *name)
{
	FILE *file = fopen("/proc/self/status", "re");
	unsigned long kib = 0;
	char line[256];

	must(file, "there is no /proc");
	while (fgets(line, sizeof(line), file))
		if (!strncmp(line, name, strlen(name)))
			kib = strtoul(line + strlen(name), NULL, 10);
	fclose(file);
	return kib;
}

/* 8 MiB more than it has: there is room for its guard, and none for a pool. */
static inline void confine_little_memory(void)
{
	const rlim_t bytes = (confinement_status_kib("VmSize:") + (8 << 10)) << 10;
	const struct rlimit limit = { bytes, bytes };

	must(!setrlimit(RLIMIT_AS, &limit), "memory cannot be limited");
}

static inline void confine(const char *how)
{
	if (!strcmp(how, "docker"))
		confine_docker();
	else if (!strcmp(how, "openssh"))
		/* before authentication: no PROT_EXEC, or it is killed */
		confine_mmap(CONFINEMENT_ARGUMENT(2), ~(uint32_t)(PROT_READ | PROT_WRITE),
			     SECCOMP_RET_KILL_PROCESS);
	else if (!strcmp(how, "chromium"))
		confine_chromium();
	else if (!strcmp(how, "refused"))
		/* no product's: all shared memory is refused */
		confine_mmap(CONFINEMENT_ARGUMENT(3), MAP_SHARED, SECCOMP_RET_ERRNO | ENOMEM);
	else if (!strcmp(how, "little-memory"))
		confine_little_memory();
	else
		must(!strcmp(how, "locked") && !mlockall(MCL_CURRENT | MCL_FUTURE),
		     "memory cannot be locked");
}

/* "pools 1 locked 16384 kB": shared anonymous mappings of a pool's size, and what of them is locked. */
static inline void print_pools(void)
{
	FILE *file = fopen("/proc/self/smaps", "re");
	unsigned long begin, end, locked_kib = 0;
	char line[4096], flags[5];
	bool is_pool = false;
	int cnt = 0;

	must(file, "there is no /proc");
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%lx-%lx %4s", &begin, &end, flags) == 3) {
			is_pool = end - begin == 16 << 20 && flags[3] == 's' && strstr(line, "/dev/zero");
			cnt += is_pool;
		} else if (is_pool && !strncmp(line, "Locked:", 7)) {
			locked_kib += strtoul(line + 7, NULL, 10);
		}
	}
	fclose(file);
	printf("pools %d locked %lu kB\n", cnt, locked_kib);
}

#endif
