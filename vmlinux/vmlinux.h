/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The few kernel types that bpf/ uses, kept by hand, so that the build needs no
 * BTF and reads nothing of the machine it runs on. libbpf relocates each access
 * to where the running kernel has the field (CO-RE). README.md beside this file
 * says how to add one.
 */
#ifndef __VMLINUX_H__
#define __VMLINUX_H__

typedef signed char __s8;
typedef unsigned char __u8;
typedef short __s16;
typedef unsigned short __u16;
typedef int __s32;
typedef unsigned int __u32;
typedef long long __s64;
typedef unsigned long long __u64;

typedef __u8 uint8_t;
typedef __u16 uint16_t;
typedef __u32 uint32_t;
typedef __u64 uint64_t;
typedef __s32 int32_t;
typedef __s64 int64_t;

typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;

typedef _Bool bool;
enum { false = 0, true = 1 };

typedef int pid_t;
typedef unsigned short umode_t;

enum {
	BPF_ANY = 0,
	BPF_NOEXIST = 1,
};

enum {
	BPF_RB_NO_WAKEUP = 1,
	BPF_RB_FORCE_WAKEUP = 2,
	BPF_RB_AVAIL_DATA = 0,
};

enum {
	BPF_F_NO_PREALLOC = 1,
	BPF_F_USER_STACK = 1 << 8,
	BPF_LOCAL_STORAGE_GET_F_CREATE = 1,
};

enum bpf_map_type {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_ARRAY_OF_MAPS = 12,
	BPF_MAP_TYPE_RINGBUF = 27,
	BPF_MAP_TYPE_TASK_STORAGE = 29,
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

/* The registers of a system call: x86-64. */
struct pt_regs {
	unsigned long r15;
	unsigned long r14;
	unsigned long r13;
	unsigned long r12;
	unsigned long bp;
	unsigned long bx;
	unsigned long r11;
	unsigned long r10;
	unsigned long r9;
	unsigned long r8;
	unsigned long di;
	unsigned long si;
	unsigned long dx;
	unsigned long cx;
	unsigned long ax;
	unsigned long sp;
	unsigned long ip;
	unsigned long orig_ax;
};

/* … and aarch64, where struct pt_regs begins with it. */
struct user_pt_regs {
	unsigned long long regs[31];
	unsigned long long sp;
	unsigned long long pc;
};

struct pt_regs___aarch64 {
	unsigned long long orig_x0;
	int syscallno;
};

struct __kernel_timespec {
	long long tv_sec;
	long long tv_nsec;
};

struct super_block {
	unsigned int s_dev;
	unsigned long s_magic;
};

struct inode {
	umode_t i_mode;
	unsigned long i_ino;
	struct super_block *i_sb;
};

struct qstr {
	const unsigned char *name;
};

struct dentry {
	struct qstr d_name;
};

struct path {
	struct dentry *dentry;
};

struct file {
	struct path f_path;
	struct inode *f_inode;
	void *private_data;
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

struct mm_struct {
	struct file *exe_file;
	unsigned long start_code;
};

typedef struct {
	int counter;
} atomic_t;

typedef struct {
	unsigned long sig[1];
} sigset_t;

struct sigpending {
	sigset_t signal;
};

struct signal_struct {
	atomic_t live; /* threads that have not begun to exit */
	int nr_threads;
	struct sigpending shared_pending;
};

struct upid {
	int nr;
	void *ns;
};

struct pid {
	unsigned int level;
	struct upid numbers[1];
};

struct linux_binprm {
	const char *filename;
};

struct list_head {
	struct list_head *next, *prev;
};

/* epoll: a descriptor that is watched, and what those that are ready are in. */
struct epoll_filefd {
	struct file *file;
	int fd;
} __attribute__((packed));

struct epitem {
	struct list_head rdllink;
	struct epoll_filefd ffd;
};

struct eventpoll {
	struct list_head rdllist;
	struct epitem *ovflist;
};

struct pipe_inode_info {
	unsigned int head;
	unsigned int tail;
	unsigned int max_usage;
	unsigned int readers;
	unsigned int writers;
};

struct eventfd_ctx {
	__u64 count;
};

struct timerfd_ctx {
	__u64 ticks;
};

struct sk_buff_head {
	__u32 qlen;
};

struct sock_common {
	__be32 skc_daddr;
	__be32 skc_rcv_saddr;
	__be16 skc_dport;
	__u16 skc_num;
	unsigned short skc_family;
	volatile unsigned char skc_state;
};

struct sock {
	struct sock_common __sk_common;
	__u16 sk_type;
	__u16 sk_protocol;
	struct sk_buff_head sk_receive_queue;
	__u32 sk_ack_backlog; /* of one that listens: connections that wait */
	int sk_err;
	__u8 sk_shutdown; /* before 5.9 a bit field */
};

struct socket {
	struct sock *sk;
};

struct sockaddr_un {
	unsigned short sun_family;
	char sun_path[108];
};

struct unix_address {
	int len;
	struct sockaddr_un name[0];
};

struct unix_sock { /* not there where it is a module */
	struct sock sk;
	struct unix_address *addr;
	struct sock *peer;
};

struct llist_node;

struct llist_head {
	struct llist_node *first;
};

struct io_uring_task {
	struct file *registered_rings[16]; /* since 5.18 */
	/* since 6.1 a list of this kind, of struct io_kiocb by its io_task_work */
	struct llist_head task_list;
};

struct io_rsrc_node {
	unsigned long file_ptr;
};

struct io_rsrc_data {
	unsigned int nr;
	struct io_rsrc_node **nodes;
};

struct io_file_table {
	struct io_rsrc_data data; /* since 6.13, see compat.h */
};

struct io_ring_ctx {
	struct io_file_table file_table; /* files that are registered */
	struct llist_head work_llist; /* since 6.1: the same, of rings that only the task itself completes */
};

struct io_cqe {
	unsigned int flags;
	int fd; /* until the request has its file */
};

struct llist_node {
	struct llist_node *next;
};

struct io_task_work {
	struct llist_node node;
};

struct io_kiocb {
	struct file *file;
	__u8 opcode;
	unsigned int flags; /* since 6.9 a __u64 */
	struct io_cqe cqe; /* since 5.19 */
	struct io_ring_ctx *ctx;
	struct io_task_work io_task_work;
};

struct kernfs_node {
	__u64 id;
};

struct cgroup;

struct cgroup_subsys_state {
	struct cgroup *cgroup;
	struct cgroup_subsys_state *parent;
};

struct cgroup_root {
	int hierarchy_id;
};

struct cgroup {
	struct cgroup_subsys_state self;
	struct kernfs_node *kn;
	struct cgroup_root *root;
};

struct cgrp_cset_link {
	struct cgroup *cgrp;
	struct list_head cgrp_link;
};

struct css_set {
	struct list_head cgrp_links; /* of struct cgrp_cset_link, by its cgrp_link: one for each hierarchy */
};

struct thread_info {
	unsigned int cpu; /* before 5.16: task_struct.cpu, see compat.h */
};

struct rq {
	int cpu;
};

struct cfs_rq {
	struct rq *rq; /* with CONFIG_FAIR_GROUP_SCHED */
};

struct timer_list;

struct timer_base {
	struct timer_list *running_timer;
};

struct hrtimer_cpu_base {
	unsigned int in_hrtirq : 1; /* with CONFIG_HIGH_RES_TIMERS */
};

struct sched_entity {
	struct cfs_rq *cfs_rq; /* with CONFIG_FAIR_GROUP_SCHED */
};

struct thread_struct {
	unsigned long fsbase; /* x86-64 */
};

struct task_struct {
	struct sched_entity se;
	struct thread_struct thread;
	struct thread_info thread_info;
	void *stack;
	struct mm_struct *mm;
	unsigned int flags;
	unsigned int __state; /* before 5.14: state, see compat.h */
	/* up to 7.2 an int, in 7.3 a __u8: without a sign libbpf makes of the load what the kernel has */
	unsigned int on_cpu;
	unsigned int in_iowait : 1;
	pid_t pid;
	pid_t tgid;
	struct task_struct *real_parent;
	struct task_struct *group_leader;
	struct pid *thread_pid;
	__u64 start_time; /* CLOCK_MONOTONIC, ns */
	struct signal_struct *signal;
	sigset_t blocked;
	struct sigpending pending;
	struct css_set *cgroups;
	struct files_struct *files;
	struct io_uring_task *io_uring;
	char comm[16];
};

/* aarch64 has the preempt count in it; the 32 bits above are the wish to be scheduled. */
struct thread_info___aarch64 {
	struct {
		unsigned int count;
	} preempt;
};

struct thread_struct___aarch64 {
	struct {
		unsigned long tp_value;
	} uw;
};

struct task_struct___aarch64 {
	struct thread_info___aarch64 thread_info;
	struct thread_struct___aarch64 thread;
};

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
	unsigned long long session_id;
	unsigned long long seq_num;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

#pragma clang attribute pop

struct bpf_map;

#endif
