/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The wire: what the BPF programs write into the ring buffers.
 *
 * One fixed-size struct per kind of event, padding explicit, sizes asserted,
 * every byte written. The wire lives only between the kernel side and the
 * recorder of the same build, so it carries no version and no endianness.
 * userspace/event/ converts it into `struct event`.
 *
 * Times are CLOCK_MONOTONIC ns. A program reads the time *after* it has
 * reserved its ring space. So once the reader has read time D, and has then
 * drained every ring to its end without meeting a record that is reserved and
 * not yet written, no event with a time <= D can come any more: the merge needs
 * no guess about lateness.
 */
#ifndef TXTRACE_EVENT_H
#define TXTRACE_EVENT_H

#ifndef __VMLINUX_H__
#include <stdint.h>
#endif

/* Why a thread sleeps. The order is that of the wire, of the clocks and of the log: append only. */
enum block_reason {
	BLOCK_LOCK = 0,       /* futex, flock, semop */
	BLOCK_DISK = 1,       /* fsync, file reads and writes that had to wait for a device */
	BLOCK_NETWORK = 2,    /* sockets */
	BLOCK_SLEEP = 3,      /* nanosleep and its like; a poll whose time was up, timers */
	BLOCK_PAGE_FAULT = 4, /* not in a system call: the fault had to wait */
	BLOCK_PIPE = 5,       /* pipes, ttys, eventfds and other files */
	BLOCK_WAIT = 6,       /* child processes, signals */
	BLOCK_STOPPED = 7,    /* job control, ptrace */
	BLOCK_OTHER = 8,      /* any other system call */
	/* no sleep: its cgroup has used up its CPU time. Ends when it gets a CPU again */
	BLOCK_THROTTLED = 9,
	/* poll, select, epoll, io_uring: ended by an eventfd, a signal, or by what is not known */
	BLOCK_POLL = 10,
	BLOCK_REASON_COUNT = 11,
};

/* What a page fault waited for: the object of a block for BLOCK_PAGE_FAULT. Append only. */
enum block_fault {
	FAULT_UNKNOWN = 0,
	FAULT_FILE = 1,        /* a page of a mapped file */
	FAULT_ANONYMOUS = 2,   /* a new page */
	FAULT_SWAP = 3,
	FAULT_USERFAULTFD = 4, /* another program is to provide the page */
	FAULT_MMAP_LOCK = 5,   /* another thread was changing the address space */
	FAULT_MIGRATION = 6,   /* the kernel was moving the page */
	FAULT_KIND_COUNT = 7,
};

enum wire_kind {
	WIRE_SWITCH = 1,  /* a traced thread left or got a CPU (or one left for the other) */
	WIRE_WAKE = 2,    /* a traced thread was woken */
	WIRE_THREAD = 3,  /* a thread is traced from now on, or has a new name */
	WIRE_THREAD_EXIT = 4,
	WIRE_EXEC = 5,    /* the process got a new program */
	/* while a traced thread waited for this CPU, an untraced task had it and left it for another one */
	WIRE_OTHER = 6,
	WIRE_MOVE = 7,    /* a traced thread that waited for one CPU now waits for another */

	WIRE_BEGIN = 8,
	WIRE_BEGIN_DETACHED = 9,
	WIRE_ENTER = 10,
	WIRE_LEAVE = 11,  /* TXTRACE_EXIT */
	WIRE_END = 12,
	WIRE_TAG = 13,
	WIRE_ATTR = 14,
	WIRE_INSTANT = 15, /* TXTRACE_EVENT */
	WIRE_COUNTER = 16,
	WIRE_LINK = 17,
	WIRE_KEY_BEGIN = 18,
	WIRE_KEY_ENTER = 19,
	WIRE_KEY_LEAVE = 20,
	WIRE_KEY_END = 21,
	WIRE_KEY_INSTANT = 22,
	WIRE_STACK = 23,   /* where a thread's code was */
	WIRE_VALUE = 24,   /* of a program that was never changed: a value that goes into a span's tag */
	WIRE_ABANDON = 25, /* likewise: a span is over, and nobody saw when */
	WIRE_LABEL = 26,   /* the text at an address that this thread's next event has as its label or name */
	WIRE_POOL = 27,    /* a program has memory for marks, or a thread has its place in it */
	WIRE_PROCESS = 28, /* a process is traced from now on, has a new program, or is not traced any more */
	WIRE_MODE = 29,    /* the reader's own: never sent */
	WIRE_STAY = 30,    /* the clocks of a thread that has marked in memory shared with the reader */
	WIRE_KIND_COUNT = 32,
};

enum wire_flag {
	WIRE_HAS_CLOCKS = 1,       /* struct wire_clocks follows the kind's struct */
	WIRE_IN_INTERRUPT = 2,     /* WAKE: tid is the thread that was interrupted, not the one that woke */
	WIRE_IS_TRUNCATED = 4,     /* the text was longer than there is room for */
	WIRE_IS_SEED = 8,          /* THREAD, PROCESS: it ran before the tracer came */
	/* with clocks: its last switch-in was not seen, so time goes to `unknown` until it leaves the CPU */
	WIRE_NOT_ARRIVED = 16,
	WIRE_BY_TIMER = 32,        /* WAKE: the interrupt or softirq runs timers */
	WIRE_IS_RENAME = 64,       /* THREAD: only the name is new */
	WIRE_IS_NESTED = 128,      /* BEGIN: no parent was named, and the kernel side has found it */
	WIRE_IN_SOFTIRQ = 256,     /* WAKE: the interrupt is a softirq, and runs no timer */
	WIRE_IS_UNREADABLE = 512,  /* the text could not be read from the program's memory; its length is 0 */
	WIRE_HAS_WAIT_END = 1024,  /* WAKE: it is a struct wire_wait_end */
	WIRE_NO_CLOCKS = 2048,     /* the thread has no clocks: its account is unknown here */
	WIRE_WAKER_UNKNOWN = 4096, /* WAKE: this kernel does not tell whether it came from an interrupt */
	/* SWITCH: an untraced task left the CPU to a traced thread, and other traced threads wait for it */
	WIRE_OTHERS_WAIT = 8192,
	WIRE_FLAGS = 16383,        /* all of them */
};

struct wire_header {
	uint64_t time_ns;
	uint32_t tid;  /* the thread on whose CPU time it happened; SWITCH: the thread that left */
	uint32_t tgid;
	uint16_t flags; /* enum wire_flag */
	uint16_t size;  /* of the whole record in bytes, clocks and text included; 65535: or more */
	uint16_t cpu;
	uint8_t kind;   /* enum wire_kind */
	uint8_t padding;
};

/*
 * A reading of a thread's clocks at header.time_ns: how long it has been in
 * each state since born_ns. They always add up: on_cpu + stolen + runnable +
 * blocked + unknown + interrupt = time - born. A span event carries them if this
 * thread has been switched, or a hypervisor has stolen of its CPU, since the
 * last span event that it got into a ring; if not, on_cpu alone has moved, by
 * the difference of the two times.
 */
struct wire_clocks {
	/*
	 * when these clocks started; together with the tid it names one thread, also when the tid is used
	 * again
	 */
	uint64_t born_ns;
	uint64_t on_cpu_ns;
	uint64_t runnable_ns;
	uint64_t blocked_ns[BLOCK_REASON_COUNT];
	uint64_t unknown_ns;
	/* with --irq: of the time on a CPU what interrupts took; else that is in on_cpu */
	uint64_t interrupt_ns;
	uint64_t stolen_ns; /* of the time on a CPU what a hypervisor took */
};

/* How it is known what a hypervisor stole of a CPU: see bpf/steal.h. */
enum steal_kind {
	STEAL_NOT_TOLD = 0, /* there is no hypervisor, or nobody tells */
	STEAL_EXACT = 1,    /* at any moment */
	STEAL_LATE = 2,     /* when a stay on a CPU ends: what was marked in it is not split */
	STEAL_KIND_COUNT = 3,
};

/* SWITCH.left_as: how header.tid left the CPU */
enum wire_left_as {
	WIRE_LEFT_UNTRACED = 0,  /* header.tid is not a thread that we trace */
	WIRE_LEFT_PREEMPTED = 1, /* still runnable, pushed off */
	WIRE_LEFT_YIELDED = 2,   /* still runnable, left by itself (also: woken before it was off) */
	WIRE_LEFT_BLOCKED = 3,
	WIRE_LEFT_DEAD = 4,
};

struct wire_switch {
	struct wire_header header;
	uint32_t next_tid;
	uint32_t next_tgid;
	union {
		struct {
			/*
			 * BLOCKED: futex address, fd, how many fds << 32 | the first of them (poll, select),
			 * ns that a sleep asked for, or enum block_fault, by the reason and call; else 0
			 */
			uint64_t object;
			uint64_t inode;  /* BLOCKED on an fd: of its file, as i_ino; else 0 */
		};
		char other_comm[16]; /* UNTRACED, with other_ns, and not idle: of who left */
	};
	union {
		int32_t syscall_nr; /* BLOCKED: -1 if in none, -2 if this kernel does not tell */
		/* UNTRACED: for at least so long the one that left has had the CPU; 0: not known */
		uint32_t other_ns;
	};
	uint8_t left_as;    /* enum wire_left_as */
	uint8_t reason;     /* BLOCKED: enum block_reason */
	uint8_t next_is_traced;
	/* what was stolen is in the thread's on_cpu: it made marks, and whose it is is not known */
	uint8_t is_stolen_shared;
	/*
	 * what a hypervisor took of the CPU while the one that left had it; UNTRACED: in the last other_ns
	 * of that
	 */
	uint64_t stolen_ns;
};

struct wire_wake {
	struct wire_header header; /* tid, tgid: the waker, unless flags say otherwise */
	uint32_t wakee_tid;
	uint32_t wakee_tgid;
	char waker_comm[16]; /* as the kernel has it: may lack the NUL */
};

/*
 * WAKE that ends a wait in poll, select, epoll or io_uring: only what ended it
 * tells what it was for. This goes before the reason and the object of the
 * SWITCH with which it began.
 */
struct wire_wait_end {
	struct wire_wake wake;
	/*
	 * the fd that ended it; of poll and select 1 << 32 above it; 0: its time was up; else as in the
	 * SWITCH
	 */
	uint64_t object;
	uint64_t inode;  /* of that fd's file; 0: it is no fd, or which one is not known */
	uint8_t reason;  /* enum block_reason */
	uint8_t padding[7];
};

/*
 * OTHER: header.tid had the CPU from since_ns on (or before that already) until
 * header.time_ns. tid 0: idle
 */
struct wire_other {
	struct wire_header header;
	uint64_t since_ns;
	uint64_t stolen_ns; /* what a hypervisor took of the CPU since then; 0 also: not known */
	char comm[16];
};

/*
 * MOVE: header.tid waited for from_cpu, which other_tid had from since_ns on
 * (or before that already) until header.time_ns.
 */
struct wire_move {
	struct wire_header header;
	uint64_t since_ns; /* header.time_ns, if it is not known */
	uint64_t stolen_ns; /* of from_cpu, as in OTHER */
	uint32_t from_cpu;
	uint32_t other_tid;  /* 0: idle */
	uint32_t other_tgid;
	uint32_t is_unknown; /* this kernel does not tell who has the CPU */
	char other_comm[16];
};

/* THREAD.state: what the thread was doing at time_ns */
enum wire_thread_state {
	WIRE_THREAD_ON_CPU = 1,
	WIRE_THREAD_RUNNABLE = 2,
	WIRE_THREAD_BLOCKED = 3,
};

struct wire_thread {
	struct wire_header header; /* tid, tgid: the thread itself */
	uint64_t born_ns;          /* as in its clocks */
	char comm[16];
	uint8_t state;  /* enum wire_thread_state; RENAME: 0 */
	uint8_t reason; /* BLOCKED: enum block_reason */
	uint8_t padding[2];
	uint32_t parent_tgid;
};

/*
 * A label or name. 0: none. With the highest bit set, which no address has, it is
 * the place of a literal in the file that has the mark: the file's number, then
 * the address that the file gives the literal. Without it, it is an address in
 * the program; the LABEL before has the text. Before Linux 5.15 it is an address
 * always, and there is no LABEL.
 */
#define WIRE_LABEL_UNREADABLE 1 /* nothing can lie there */
#define WIRE_LABEL_IS_PLACE 0x8000000000000000ull
#define WIRE_LABEL_PLACE_BITS 48
#define WIRE_LABEL_PLACE_MAX 0xffffffffffffull
/* a power of two; the marks of further files have labels that are copied. No file has number 0 */
#define WIRE_LABEL_FILE_MAX 8192

/* Of one number: where the file has its read-only segments. Size 0: no labels are told as places. */
struct wire_label_file {
	uint64_t start;
	uint64_t size;
};

/*
 * BEGIN…: the span has no parent. With 0 none was named: BEGIN, then it is what
 * the thread is in; BEGIN_DETACHED, then it has none.
 */
#define WIRE_PARENT_ROOT 0xffffffffffffffffull

/* THREAD_EXIT, EXEC; then clocks if flags say so. */
struct wire_thread_end {
	struct wire_header header;
	uint32_t old_tid; /* EXEC: that the thread had before; exec gives it that of the process */
	uint32_t padding;
};

/* BEGIN, BEGIN_DETACHED, ENTER, LEAVE, END, ABANDON; then clocks if flags say so. */
struct wire_span {
	struct wire_header header;
	uint64_t id;
	uint64_t label;  /* BEGIN…; else 0 */
	uint64_t parent; /* BEGIN…: id, 0 or WIRE_PARENT_ROOT */
};

/* INSTANT: name; COUNTER: name, value; LINK: id -> other, name */
struct wire_mark {
	struct wire_header header;
	uint64_t id;
	uint64_t name; /* as a label */
	uint64_t value; /* COUNTER: int64_t; LINK: the id it points to */
};

/* TXTRACE_ATTR's third argument, in the program, on the wire and in the log: append only */
enum attr_type {
	ATTR_BOOL = 1,
	ATTR_INT = 2,
	ATTR_UINT = 3,
	ATTR_DOUBLE = 4, /* value: its bits */
	ATTR_STRING = 5,
	ATTR_POINTER = 6,
	ATTR_BYTES = 7,
};

/*
 * TAG (text), ATTR and VALUE (name, type, value; STRING, BYTES: text), LABEL
 * (text at the address `value`). The kernel side sends two sizes: a short record
 * for short texts, a long one for the rest; text_length says how much of `text`
 * is filled, and what follows is undefined. Marks in shared memory are as long
 * as they are.
 */
#define WIRE_TEXT_SHORT 64
#define WIRE_TEXT_LONG 512
#define WIRE_TEXT_MAX (1 << 20)

struct wire_text {
	struct wire_header header;
	uint64_t id;
	uint64_t name;  /* ATTR: as a label; VALUE: see txtrace/foreign.h */
	/* ATTR, VALUE; TAG, LABEL: address of the text. Of a text that cannot be copied: as a label */
	uint64_t value;
	uint32_t type;  /* ATTR, VALUE: enum attr_type */
	uint32_t text_length;
	/* the text follows, without a NUL */
};

#define WIRE_KEY_MAX 64

/* KEY_BEGIN (name: label), KEY_ENTER, KEY_LEAVE, KEY_END, KEY_INSTANT (name); then clocks if flags say so. */
struct wire_key {
	struct wire_header header;
	uint64_t name;
	uint32_t key_length;
	uint32_t padding;
	uint8_t key[WIRE_KEY_MAX];
};

enum wire_stack_what {
	WIRE_STACK_OFF_CPU = 1, /* where the thread blocked */
	WIRE_STACK_ON_CPU = 2,  /* a sample of what it did */
	WIRE_STACK_FUTEX = 3,   /* who waits for a futex for the first time */
};

#define WIRE_STACK_KERNEL_MAX 32
#define WIRE_STACK_USER_MAX 127
#define WIRE_STACK_BYTES_MAX 8192
/* numbered as userspace/attach/code/unwind_table.h says; the last is the address of the code */
#define WIRE_STACK_REGISTER_COUNT 17
#define WIRE_STACK_REGISTER_SP 7

/*
 * STACK: return addresses, innermost first, kernel's and user's; or instead of
 * the user's the registers in user mode and what lies on the stack, from which
 * the recorder finds them. header.time_ns is later than begin_ns.
 */
struct wire_stack {
	struct wire_header header;
	uint64_t begin_ns;   /* OFF_CPU, FUTEX: of the SWITCH; ON_CPU: 0 */
	uint64_t object;     /* FUTEX: its address; ON_CPU: ns that the sample stands for */
	uint8_t what;        /* enum wire_stack_what */
	uint8_t has_registers;
	uint16_t kernel_cnt; /* addresses */
	uint16_t user_cnt;
	uint16_t byte_cnt;   /* of the stack, from registers[WIRE_STACK_REGISTER_SP] on */
	uint64_t registers[WIRE_STACK_REGISTER_COUNT];
	/* uint64_t kernel[kernel_cnt], user[user_cnt]; the room that is left over is undefined */
};

/* With registers. */
struct wire_stack_copy {
	struct wire_stack stack; /* user_cnt: 0 */
	uint64_t kernel[WIRE_STACK_KERNEL_MAX];
	uint8_t bytes[WIRE_STACK_BYTES_MAX];
};

/* PROCESS.change */
enum wire_process_change {
	WIRE_PROCESS_JOINED = 1, /* traced from now on, though it was there before */
	WIRE_PROCESS_FORKED = 2, /* traced from its fork on */
	WIRE_PROCESS_EXEC = 3,   /* it has a new program, and is traced on */
	WIRE_PROCESS_LEFT = 4,   /* it has a new program, for which it is not traced */
	WIRE_PROCESS_EXITED = 5,
};

/* PROCESS.reasons: why it is traced */
enum target_reason {
	TARGET_NAMED = 1,  /* by its pid, or as the command */
	TARGET_CHILD = 2,  /* of one that is traced */
	TARGET_COMM = 4,
	TARGET_EXE = 8,
	TARGET_CGROUP = 16,
	TARGET_ANY = 32,   /* it has met a probe */
};

#define WIRE_POOL_GONE 0xffffffffffffffffull /* a lane's place: nothing is marked in the pool any more */

/* POOL: told by the probe `ring` of include/txtrace.h. */
struct wire_pool {
	struct wire_header header; /* tid, tgid: of the thread that has the lane */
	uint64_t address;  /* of the pool */
	uint64_t lane;     /* its place in it; 0: this is about the pool alone; or WIRE_POOL_GONE */
	/* what to add to a label's address for its place, as WIRE_LABEL_IS_PLACE has it; 0: there is none */
	uint64_t label_base;
};

/* STAY: what header.tid's clocks were when they last moved; it was on its CPU until header.time_ns. */
struct wire_stay {
	struct wire_header header;
	uint64_t since_ns;
	/* enum wire_thread_state; not on a CPU: the kernel hid that it came, some time since since_ns */
	uint8_t state;
	uint8_t is_still_on_cpu; /* it was asked; else it leaves the CPU now */
	uint8_t padding[6];
	struct wire_clocks clocks;
};

#define WIRE_PATH_MAX 128

struct wire_process {
	struct wire_header header; /* tgid: the process; tid: the same */
	/* of the process, CLOCK_MONOTONIC; together with the pid it names one process */
	uint64_t start_ns;
	/* address of the program's code; another one after each exec, as good as certain */
	uint64_t code_start;
	uint64_t exe_inode;        /* of what it runs, and of that file's file system: major << 20 | minor */
	uint64_t exe_device;
	uint32_t parent_tgid;
	uint32_t inner_pid;        /* what the process takes for its pid: another one in a container */
	uint32_t thread_cnt;
	uint8_t change;            /* enum wire_process_change */
	uint8_t reasons;           /* enum target_reason */
	uint16_t path_length;
	char comm[16];
	/* EXEC, and JOINED by an exec: what was asked to be executed; behind path_length undefined */
	char path[WIRE_PATH_MAX];
};

_Static_assert(sizeof(struct wire_stack) == 184, "wire_stack");
_Static_assert(sizeof(struct wire_header) == 24, "wire_header");
_Static_assert(sizeof(struct wire_clocks) == 136, "wire_clocks");
_Static_assert(sizeof(struct wire_switch) == 64, "wire_switch");
_Static_assert(sizeof(struct wire_wake) == 48, "wire_wake");
_Static_assert(sizeof(struct wire_wait_end) == 72, "wire_wait_end");
_Static_assert(sizeof(struct wire_other) == 56, "wire_other");
_Static_assert(sizeof(struct wire_move) == 72, "wire_move");
_Static_assert(sizeof(struct wire_thread) == 56, "wire_thread");
_Static_assert(sizeof(struct wire_thread_end) == 32, "wire_thread_end");
_Static_assert(sizeof(struct wire_span) == 48, "wire_span");
_Static_assert(sizeof(struct wire_mark) == 48, "wire_mark");
_Static_assert(sizeof(struct wire_text) == 56, "wire_text");
_Static_assert(sizeof(struct wire_key) == 104, "wire_key");
_Static_assert(sizeof(struct wire_process) == 216, "wire_process");
_Static_assert(sizeof(struct wire_pool) == 48, "wire_pool");
_Static_assert(sizeof(struct wire_stay) == 176, "wire_stay");

/* What the kernel side did not send because nobody wants it. */
enum wire_left_out {
	WIRE_LEFT_OUT_SAMPLE = 0,  /* spans of transactions that are not sampled */
	WIRE_LEFT_OUT_LABEL = 1,   /* spans whose label is not wanted */
	WIRE_LEFT_OUT_NO_ROOM = 2, /* spans that there was no room to remember */
	/*
	 * events of all these spans, but for their begins; also of spans that are not known any more, or
	 * never were
	 */
	WIRE_LEFT_OUT_EVENT = 3,
	WIRE_LEFT_OUT_COUNT = 4,
};

/*
 * What one CPU sent and lost: kept by the BPF programs, mapped by the reader.
 * received = sent - lost for each kind, always.
 */
struct wire_counters {
	uint64_t sent[WIRE_KIND_COUNT];
	uint64_t lost[WIRE_KIND_COUNT]; /* no room in the ring */
	uint64_t first_lost_ns;         /* of the first loss since the reader last raised the generation */
	uint64_t last_lost_ns;
	uint64_t generation;
	uint64_t lost_clocks; /* a thread's clocks could not be made or reached */
	uint64_t left_out[WIRE_LEFT_OUT_COUNT];
	uint64_t sent_bytes;  /* about: the kernel side's own, see bpf/emit.h */
	uint64_t padding[7];  /* no CPU writes into a line of another one */
};

/* Of one CPU: the kernel side's own, see bpf/cpu_watch.h. */
struct cpu_watch {
	/*
	 * the present task has the CPU, as far as was watched; the greatest number: the watch is about to
	 * begin
	 */
	uint64_t since_ns;
	uint64_t steal_ns;    /* what its steal clock showed then; the greatest number: not known */
	uint32_t waiting_cnt; /* traced threads that wait for it */
	uint32_t padding[11]; /* a cache line for each */
};

/* Of one CPU: the kernel side's own, see bpf/steal.h. */
struct steal_clock {
	uint64_t address;    /* 0: not found yet */
	uint64_t seen_ns;    /* what it showed when it was last read along with a time */
	uint64_t padding[6]; /* a cache line for each */
};

/* Of one CPU: hits of traced threads on foreign probes whose instruction was single-stepped. */
struct step_counter {
	uint64_t cnt;
	uint64_t padding[7]; /* a cache line for each */
};

/*
 * Probes are attached and removed one after the other, so the programs are let
 * loose and stopped all at once by a word that they share with the recorder:
 * otherwise spans would begin whose end is not watched yet, or no more.
 */
enum wire_phase {
	WIRE_PHASE_STARTING = 0,  /* the threads' clocks run; probes are silent */
	WIRE_PHASE_RECORDING = 1,
	WIRE_PHASE_STOPPED = 2,   /* everything is silent */
};

#define WIRE_CPU_MAX 1024 /* CPUs that have counters of their own; higher ones share by modulo */
#define WIRE_RING_MAX 64

#endif
