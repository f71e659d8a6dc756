/* SPDX-License-Identifier: BSD-2-Clause */
/* Which system calls of a tracer are steps, and whom they concern: for stepper.c. */
#ifndef STEPPER_CALL_H
#define STEPPER_CALL_H

#include <linux/bpf.h>
#include <poll.h>
#include <sys/uio.h>

#include "stepper_victim.h"

/* ---- what a system call is about ---- */

struct call {
	struct stepper *stepper;
	struct thread *thread;
	uint64_t nr;
	const uint64_t *args;
	int victim;           /* its index; -1: nobody's, -2: all of them */
	char kind[KIND_SIZE]; /* empty: no step */
};

#define NOBODY (-1)
#define ALL (-2)

static int victim_of_pid(const struct stepper *stepper, long pid)
{
	for (int i = 0; i < stepper->victim_cnt; i++)
		if (stepper->victims[i].pid == pid)
			return i;
	return NOBODY;
}

static bool read_memory(const struct call *call, void *to, uint64_t address, size_t size)
{
	struct iovec local = { to, size }, remote = { (void *)(uintptr_t)address, size };

	return process_vm_readv(call->thread->tid, &local, 1, &remote, 1, 0) == (ssize_t)size;
}

static void read_path(const struct call *call, char *path, size_t size, uint64_t address)
{
	size_t page_rest = 4096 - address % 4096, length = page_rest < size - 1 ? page_rest : size - 1;

	memset(path, 0, size);
	if (read_memory(call, path, address, length) && strlen(path) == length && length < size - 1)
		read_memory(call, path + length, address + length, size - 1 - length);
}

/* "maps" of /proc/7/maps, "map_files" of all in there. */
static void name_step(struct call *call, const char *verb, const char *file)
{
	char short_name[24];
	size_t length = strcspn(file, "/");

	snprintf(short_name, sizeof(short_name), "%.*s", (int)length, file);
	snprintf(call->kind, sizeof(call->kind), "%s %s", verb, *short_name ? short_name : "folder");
}

/* A path of a victim's in /proc, or of an fd that the thread has just opened there. */
static void look_at_path(struct call *call, const char *verb, const char *path)
{
	long pid;
	int behind = 0;

	if (sscanf(path, "/proc/%ld%n", &pid, &behind) == 1 && (!path[behind] || path[behind] == '/')) {
		call->victim = victim_of_pid(call->stepper, pid);
		if (call->victim >= 0)
			name_step(call, verb, path[behind] ? path + behind + 1 : "");
	} else if (!strncmp(path, "/proc/self/fd/", 14) && call->thread->victim >= 0) {
		call->victim = call->thread->victim;
		name_step(call, verb, "mapped file");
	}
}

static void on_path(struct call *call, const char *verb, unsigned argument)
{
	char path[256];

	read_path(call, path, sizeof(path), call->args[argument]);
	look_at_path(call, verb, path);
}

static void on_open(struct call *call)
{
	on_path(call, "open", 1);
}

static void on_link(struct call *call)
{
	on_path(call, "read link", 0);
}

static void on_link_at(struct call *call)
{
	on_path(call, "read link", 1);
}

static void on_stat(struct call *call)
{
	on_path(call, "stat", 1);
}

static void on_read(struct call *call)
{
	char path[256];

	read_link(path, sizeof(path), "/proc/%d/fd/%d", call->thread->tid, (int)call->args[0]);
	if (strstr(path, "bpf_iter")) {
		call->victim = ALL;
		snprintf(call->kind, sizeof(call->kind), "read iterator");
	} else {
		look_at_path(call, "read", path);
	}
}

static void on_pid(struct call *call, const char *verb, long pid)
{
	call->victim = victim_of_pid(call->stepper, pid);
	if (call->victim >= 0)
		snprintf(call->kind, sizeof(call->kind), "%s", verb);
}

static void on_pidfd_open(struct call *call)
{
	on_pid(call, "open pidfd", (long)call->args[0]);
}

static void on_read_memory(struct call *call)
{
	on_pid(call, "read memory", (long)call->args[0]);
}

/* The last fields that the tracer's header may not have yet. */
struct multi_attr {
	uint32_t prog_fd, target_fd, attach_type, flags;
	uint64_t path, offsets, ref_ctr_offsets, cookies;
	uint32_t cnt, multi_flags, pid;
};

#define UPROBE_MULTI 48

static void on_link_create(struct call *call, const struct multi_attr *attr)
{
	if (attr->attach_type == UPROBE_MULTI && attr->pid) {
		on_pid(call, "attach probes", attr->pid);
		return;
	}
	call->victim = attr->attach_type == UPROBE_MULTI && call->thread->victim >= 0 ? call->thread->victim
										      : ALL;
	snprintf(call->kind, sizeof(call->kind),
		 attr->attach_type == UPROBE_MULTI ? "attach probes" : "attach %u", attr->attach_type);
}

static void on_map_element(struct call *call, const char *verb, uint64_t key_address)
{
	uint32_t pid = 0;

	if (read_memory(call, &pid, key_address, sizeof(pid)))
		on_pid(call, verb, pid);
}

static void on_bpf(struct call *call)
{
	union bpf_attr attr = { 0 };
	size_t size = call->args[2] < sizeof(attr) ? call->args[2] : sizeof(attr);
	struct multi_attr multi = { 0 };

	if (!read_memory(call, &attr, call->args[1], size))
		return;
	memcpy(&multi, &attr, sizeof(multi));
	call->victim = ALL;
	switch (call->args[0]) {
	case BPF_LINK_CREATE:
		on_link_create(call, &multi);
		break;
	case BPF_PROG_LOAD:
		snprintf(call->kind, sizeof(call->kind), "load program");
		break;
	case BPF_RAW_TRACEPOINT_OPEN:
		snprintf(call->kind, sizeof(call->kind), "attach tracepoint");
		break;
	case BPF_ITER_CREATE:
		snprintf(call->kind, sizeof(call->kind), "create iterator");
		break;
	case BPF_MAP_UPDATE_ELEM:
		on_map_element(call, "put in map", attr.key);
		break;
	case BPF_MAP_DELETE_ELEM:
		on_map_element(call, "take out of map", attr.key);
		break;
	}
}

static void on_perf_event_open(struct call *call)
{
	call->victim = ALL;
	snprintf(call->kind, sizeof(call->kind), "open perf event");
}

/* Of one pidfd, or of all that the recorder waits for. */
static void on_poll(struct call *call)
{
	struct pollfd one;
	char link[64], path[64], line[128];
	FILE *info;
	long pid = 0;

	if (call->args[1] > 1) {
		call->victim = ALL;
		snprintf(call->kind, sizeof(call->kind), "wait");
		return;
	}
	if (call->args[1] != 1 || !read_memory(call, &one, call->args[0], sizeof(one)))
		return;
	read_link(link, sizeof(link), "/proc/%d/fd/%d", call->thread->tid, one.fd);
	if (!strstr(link, "pidfd"))
		return;
	snprintf(path, sizeof(path), "/proc/%d/fdinfo/%d", call->thread->tid, one.fd);
	info = fopen(path, "r");
	while (info && fgets(line, sizeof(line), info))
		if (sscanf(line, "Pid:%ld", &pid) == 1)
			break;
	if (info)
		fclose(info);
	on_pid(call, "ask pidfd", pid);
}

static const struct {
	long nr;
	void (*look)(struct call *call);
} steps[] = {
	{ SYS_openat, on_open },
	{ SYS_readlinkat, on_link_at },
	{ SYS_newfstatat, on_stat },
	{ SYS_statx, on_stat },
	{ SYS_read, on_read },
	{ SYS_getdents64, on_read },
	{ SYS_pidfd_open, on_pidfd_open },
	{ SYS_process_vm_readv, on_read_memory },
	{ SYS_bpf, on_bpf },
	{ SYS_perf_event_open, on_perf_event_open },
#ifdef SYS_readlink
	{ SYS_readlink, on_link },
#endif
#ifdef SYS_poll
	{ SYS_poll, on_poll },
#else
	{ SYS_ppoll, on_poll },
#endif
};

#endif
