/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * txtrace/log_record.h: what a span log says, record by record. Include
 * txtrace/log.h, which reads them and says what holds for all of this.
 */
#ifndef TXTRACE_LOG_RECORD_H
#define TXTRACE_LOG_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* Why a thread slept; the same numbers as enum block_reason in txtrace/event.h. */
enum txtrace_block_reason {
	TXTRACE_BLOCK_LOCK = 0,
	TXTRACE_BLOCK_DISK = 1,
	TXTRACE_BLOCK_NETWORK = 2,
	TXTRACE_BLOCK_SLEEP = 3,
	TXTRACE_BLOCK_PAGE_FAULT = 4,
	TXTRACE_BLOCK_PIPE = 5,
	TXTRACE_BLOCK_WAIT = 6,
	TXTRACE_BLOCK_STOPPED = 7,
	TXTRACE_BLOCK_OTHER = 8,
	TXTRACE_BLOCK_THROTTLED = 9,
	TXTRACE_BLOCK_POLL = 10,
	TXTRACE_BLOCK_REASON_COUNT = 11,
};

/*
 * "lock", "disk", "network", "sleep", "page_fault", "pipe", "wait", "stopped",
 * "other", "throttled", "poll"; NULL for any other number. Static.
 */
const char *txtrace_block_reason_name(unsigned int reason);

/*
 * Bytes from the log; not NUL-terminated; may be any bytes at all, so escape
 * them before a terminal or a format sees them.
 */
struct txtrace_string {
	const char *bytes; /* never NULL when length > 0 */
	size_t length;
};

/*
 * Where a span's time went. on_cpu + stolen + runnable + blocked[*] + detached +
 * unknown + interrupt = work, exactly, unless the span is a lower bound.
 */
struct txtrace_ledger {
	uint64_t on_cpu_ns;
	uint64_t runnable_ns;
	uint64_t blocked_ns[TXTRACE_BLOCK_REASON_COUNT];
	uint64_t detached_ns;
	uint64_t unknown_ns;
	/*
	 * with --irq: interrupts and softirqs on top of a thread that was on a CPU; else that is in on_cpu_ns
	 */
	uint64_t interrupt_ns;
	uint64_t stolen_ns; /* it would have been on a CPU, but a hypervisor had taken that */
};

/* The sum of blocked_ns, and of all parts. Saturating: hostile logs may hold any numbers. */
uint64_t txtrace_ledger_blocked_ns(const struct txtrace_ledger *ledger);
uint64_t txtrace_ledger_sum_ns(const struct txtrace_ledger *ledger);

enum txtrace_record_kind {
	/* a span that has ended, or that the capture's or its process' end cut off */
	TXTRACE_RECORD_SPAN = 1,
	TXTRACE_RECORD_RUN = 2,       /* one stay of a thread on a CPU */
	TXTRACE_RECORD_WAKE = 3,      /* a thread was woken: by whom */
	TXTRACE_RECORD_THREAD = 4,    /* a thread, or its new name */
	TXTRACE_RECORD_ATTRIBUTE = 5, /* TXTRACE_ATTR */
	TXTRACE_RECORD_INSTANT = 6,   /* TXTRACE_EVENT */
	TXTRACE_RECORD_COUNTER = 7,   /* TXTRACE_COUNTER */
	TXTRACE_RECORD_LINK = 8,      /* TXTRACE_LINK */
	TXTRACE_RECORD_LOSS = 9,      /* events that were lost: how many, when, where */
	/*
	 * checkpoint: this span had begun and not ended; its SPAN record, if it comes, says all of it again
	 */
	TXTRACE_RECORD_OPEN_SPAN = 10,
	TXTRACE_RECORD_SUMMARY = 11,  /* the recorder's own counts, once, at a clean end */
	/* records that the recorder could not write: the disk did not keep up */
	TXTRACE_RECORD_DROPPED = 12,
	/*
	 * the last record of a file: the capture goes on in the next one. Left out where that one is read
	 * next
	 */
	TXTRACE_RECORD_CONTINUED = 13,
	TXTRACE_RECORD_STAY = 14,     /* a thread worked for a span: from its enter to its exit */
	/* what threads wait for: a descriptor's file, a futex' place in the code */
	TXTRACE_RECORD_OBJECT = 15,
	TXTRACE_RECORD_STACK = 16,    /* where the code of a thread was, while it was blocked or on a CPU */
	TXTRACE_RECORD_FRAMES = 17,   /* the functions of a stack, by its number */
	TXTRACE_RECORD_OTHER_RUN = 18, /* who else had a CPU that a traced thread waited for */
	/* what tracing cost: one for each kind of event, and one of the recorder itself */
	TXTRACE_RECORD_COST = 19,
	TXTRACE_RECORD_PROCESS = 20,  /* a traced process: what it is called, or its end */
	TXTRACE_RECORD_TRIGGER = 21,  /* why a flight recorder has written what it had */
	/*
	 * what of the span that is told next is charged to others, too: for sums over all spans without a
	 * parent
	 */
	TXTRACE_RECORD_OVERLAP = 22,
	/* Kinds to come are numbered from here. */
	/* made by the reader, not in the file: a part of the file that could not be read */
	TXTRACE_RECORD_DAMAGE = 24,
	TXTRACE_RECORD_KIND_COUNT = 25,
};

/* "span", "run", "wake", …; NULL for any other number. Static. */
const char *txtrace_record_kind_name(unsigned int kind);

enum txtrace_span_flag {
	/* the account is incomplete: the span did not end, or lost events may have touched it */
	TXTRACE_SPAN_LOWER_BOUND = 1,
	TXTRACE_SPAN_UNFINISHED = 2,  /* it never ended: end_ns is when the capture or its process did */
	TXTRACE_SPAN_LOSS = 4,        /* lost events overlap it */
	TXTRACE_SPAN_IMBALANCE = 8,   /* the ledger does not add up: a bug of txtrace */
	/* named by `key`, not by an id of the program: id was given by the recorder */
	TXTRACE_SPAN_KEYED = 16,
	TXTRACE_SPAN_MOVED = 32,      /* more than one thread worked for it */
	/* Recorders before 0.2 set none of these four. */
	/* it has no parent: the program said so, or its thread was in no span */
	TXTRACE_SPAN_ROOT = 64,
	TXTRACE_SPAN_NESTED = 128,       /* the program named no parent: it is what the thread was in */
	TXTRACE_SPAN_PARENT_KEYED = 256, /* the parent is a keyed span: of any process */
	/* parent is 0, as lost events may have ended what the thread was in */
	TXTRACE_SPAN_PARENT_LOST = 512,
};

struct txtrace_span {
	uint64_t id;     /* what the program holds in its txtrace_span_t; unique with pid */
	uint64_t parent; /* id of the parent, in the same process unless it is keyed; or 0 */
	uint32_t pid;
	uint32_t tid;     /* the thread that began it */
	uint32_t end_tid; /* the thread that ended it; 0 if none did */
	uint32_t flags;   /* enum txtrace_span_flag */
	uint64_t begin_ns;
	uint64_t end_ns;  /* wall = end - begin */
	uint64_t work_ns; /* wall, plus what overlapped where several threads were in the span at once */
	struct txtrace_ledger ledger;
	struct txtrace_string label; /* length 0: unknown */
	struct txtrace_string tag;
	struct txtrace_string key;
	/*
	 * 0: exactly ledger.stolen_ns was stolen. Else no more than this: it is not known which spans of a
	 * stay on a CPU were hit, and that time is in ledger.on_cpu_ns
	 */
	uint64_t stolen_max_ns;
};

enum txtrace_left_as {
	TXTRACE_LEFT_UNKNOWN = 0,
	TXTRACE_LEFT_PREEMPTED = 1,
	TXTRACE_LEFT_YIELDED = 2,
	TXTRACE_LEFT_BLOCKED = 3,
	TXTRACE_LEFT_DEAD = 4,
};

#define TXTRACE_CPU_UNKNOWN 65535u /* as the number of a CPU: not known which */

/*
 * Before begin_ns the thread was blocked for blocked_ns (for the reason of its
 * RUN before), then runnable for runnable_ns.
 */
struct txtrace_run {
	uint32_t tid;
	uint32_t pid;
	uint32_t cpu;      /* TXTRACE_CPU_UNKNOWN: of an import whose format does not say */
	uint64_t begin_ns; /* got the CPU */
	uint64_t end_ns;   /* left it */
	uint64_t blocked_ns;
	uint64_t runnable_ns;
	uint8_t left_as; /* enum txtrace_left_as */
	uint8_t reason;  /* enum txtrace_block_reason, when left_as is BLOCKED */
	int32_t syscall_nr; /* BLOCKED: -1 in none, -2 unknown */
	/* BLOCKED: futex address, fd, or ns that a sleep asked for, by the reason; else 0 */
	uint64_t object;
	/* of runnable_ns, how much at its end this CPU is known to have been idle; 0 also: not known */
	uint64_t idle_ns;
	/*
	 * What the block before begin_ns was for, where only its end told it. It goes before the reason and
	 * object of the RUN before.
	 */
	bool has_wait_end;
	uint8_t wait_reason; /* enum txtrace_block_reason */
	uint64_t wait_object;
	uint64_t stolen_ns;      /* what a hypervisor took of the CPU from begin_ns to end_ns */
	uint64_t idle_stolen_ns; /* of idle_ns: the CPU was idle, and the hypervisor let it wait */
};

enum txtrace_wake_flag {
	TXTRACE_WAKE_INTERRUPT = 1,     /* an interrupt or timer did it: waker_tid is 0 */
	/* waker_tid is the thread that ran there, which may only have been interrupted */
	TXTRACE_WAKE_WAKER_UNKNOWN = 2,
	TXTRACE_WAKE_SPAN_KEYED = 4,    /* span is the id of a keyed span */
	TXTRACE_WAKE_WAKER_SPAN_KEYED = 8,
	TXTRACE_WAKE_TIMER = 16,        /* the interrupt, or the softirq, was a timer's */
	/* the interrupt was a softirq: work that an interrupt or a thread has left to it, mostly packets */
	TXTRACE_WAKE_SOFTIRQ = 32,
};

struct txtrace_wake {
	uint64_t time_ns;
	uint32_t tid; /* who was woken */
	uint32_t pid;
	uint32_t waker_tid;
	uint32_t waker_pid;
	uint32_t cpu; /* where the waker ran */
	uint32_t flags;
	struct txtrace_string waker_comm;
	/* the id of the span that the woken thread had entered last, and is in; 0: it is in none */
	uint64_t span;
	uint64_t waker_span; /* the same of the waker; 0 also where the waker is no thread, or unknown */
};

/*
 * A span without such records had one thread in it: end_tid (tid, if that is
 * 0), from begin + detached to its end. All others have one for each stay. They
 * come before the span's own record.
 */
struct txtrace_stay {
	uint64_t enter_ns;
	uint64_t exit_ns;
	uint64_t span;     /* id */
	/* of the span's own record: that of another process than the thread's only if it is keyed */
	uint32_t span_pid;
	uint32_t pid;      /* of the thread */
	uint32_t tid;
	bool is_keyed;     /* the span is */
};

struct txtrace_thread {
	uint64_t time_ns;
	uint32_t tid;
	uint32_t pid;
	bool is_seed; /* ran before the capture, or this part of it, began */
	bool is_exit; /* it ended here */
	struct txtrace_string comm;
};

enum txtrace_attribute_type {
	TXTRACE_ATTRIBUTE_BOOL = 1,
	TXTRACE_ATTRIBUTE_INT = 2,
	TXTRACE_ATTRIBUTE_UINT = 3,
	TXTRACE_ATTRIBUTE_DOUBLE = 4,
	TXTRACE_ATTRIBUTE_STRING = 5,
	TXTRACE_ATTRIBUTE_POINTER = 6,
	TXTRACE_ATTRIBUTE_BYTES = 7,
};

struct txtrace_attribute {
	uint64_t time_ns;
	uint64_t span; /* id */
	uint32_t pid;
	uint32_t tid;
	uint8_t type;        /* enum txtrace_attribute_type */
	bool is_truncated;   /* STRING, BYTES: the program's was longer */
	uint64_t value;      /* bits: int64_t, double by memcpy, … */
	struct txtrace_string name;
	struct txtrace_string string; /* STRING, BYTES */
};

struct txtrace_instant {
	uint64_t time_ns;
	uint64_t span; /* id, or 0 */
	uint32_t pid;
	uint32_t tid;
	struct txtrace_string name;
};

struct txtrace_counter {
	uint64_t time_ns;
	int64_t value;
	uint32_t pid;
	uint32_t tid;
	struct txtrace_string name;
};

struct txtrace_link {
	uint64_t time_ns;
	uint64_t from; /* ids */
	uint64_t to;
	uint32_t pid;
	uint32_t tid;
	struct txtrace_string name;
};

/* Between first_ns and last_ns these events did not reach the log. */
struct txtrace_loss {
	uint64_t first_ns;
	uint64_t last_ns;
	uint32_t cpu;             /* 65535: not known which */
	uint64_t span_event_cnt;  /* begin, end, tag, … of the program */
	uint64_t sched_event_cnt; /* switches, wakeups, threads */
	uint32_t pid;             /* whose: marks in shared memory. 0: not known, or of several threads */
	uint32_t tid;
};

struct txtrace_open_span {
	uint64_t time_ns; /* of the checkpoint */
	uint64_t id;
	uint64_t parent;
	uint64_t begin_ns;
	uint32_t pid;
	uint32_t tid;
	struct txtrace_string label;
	struct txtrace_string key;
	/*
	 * KEYED, ROOT, NESTED, PARENT_KEYED, PARENT_LOST of enum txtrace_span_flag; logs of format 1.1 and
	 * older: 0
	 */
	uint32_t flags;
};

/* Anomalies do not disturb other spans; docs/attribution.md defines each. */
enum txtrace_anomaly {
	/* end of a span that is not open: ended twice, or begun before the capture */
	TXTRACE_ANOMALY_END_UNKNOWN = 0,
	TXTRACE_ANOMALY_ENTER_UNKNOWN = 1,
	TXTRACE_ANOMALY_EXIT_UNKNOWN = 2,   /* exit of a span that is not open */
	TXTRACE_ANOMALY_EXIT_UNENTERED = 3, /* exit by a thread that was not in it */
	/* an id or key that is open already: the first goes on, the second is not counted */
	TXTRACE_ANOMALY_BEGIN_TWICE = 4,
	/* tag, attribute, instant of, or link from, a span that is not open: kept as it is */
	TXTRACE_ANOMALY_MARK_UNKNOWN = 5,
	TXTRACE_ANOMALY_UNFINISHED = 6,     /* open when its process exited or exec'd */
	/* the kernel's clocks and the replayed switches disagree though nothing was lost: a bug of txtrace */
	TXTRACE_ANOMALY_CLOCK_MISMATCH = 7,
	TXTRACE_ANOMALY_IMBALANCE = 8,      /* a ledger that does not add up: a bug of txtrace */
	TXTRACE_ANOMALY_COUNT = 9,
};

/* "end_unknown", …; NULL for any other number. Static. */
const char *txtrace_anomaly_name(unsigned int anomaly);

enum txtrace_left_out { /* of the log, because the user wanted it so */
	TXTRACE_LEFT_OUT_SAMPLE = 0,  /* spans of transactions that were not sampled */
	TXTRACE_LEFT_OUT_LABEL = 1,   /* spans whose label was not wanted */
	TXTRACE_LEFT_OUT_SHORT = 2,   /* spans that did not last long enough */
	TXTRACE_LEFT_OUT_NO_ROOM = 3, /* spans that the sampling had no room to remember */
	/* what else was said of spans that are left out: ends, tags, attributes, ..., in events or records */
	TXTRACE_LEFT_OUT_MARK = 4,
	TXTRACE_LEFT_OUT_COUNT = 5,
};

/* "sample", "label", "short", "no_room", "mark"; NULL for any other number. Static. */
const char *txtrace_left_out_name(unsigned int left_out);

struct txtrace_summary {
	uint64_t time_ns;         /* when recording stopped */
	uint64_t sent_cnt;        /* events that the kernel side wanted to send */
	uint64_t received_cnt;    /* that reached the merge */
	uint64_t lost_cnt;        /* that did not: sent = received + lost, or the report says so */
	uint64_t lost_clocks_cnt; /* threads or events without state clocks */
	uint64_t late_cnt;        /* events that came behind the merge's watermark */
	uint64_t anomaly_cnt[TXTRACE_ANOMALY_COUNT];
	uint64_t left_out_cnt[TXTRACE_LEFT_OUT_COUNT];
	uint64_t memory_process_cnt; /* processes whose marks were read in shared memory */
	uint64_t unread_process_cnt; /* whose memory could not be read: they mark through probes */
};

/*
 * The disk did not keep up, and whole batches of records had to go. What they
 * told is missing; the ledgers of the spans that are there are not touched:
 * they were made before.
 */
struct txtrace_dropped {
	uint64_t time_ns;  /* when it is told: not before last_ns */
	uint64_t first_ns; /* of the records that are missing: when they were finished */
	uint64_t last_ns;
	uint64_t batch_cnt;
	uint64_t record_cnt[TXTRACE_RECORD_KIND_COUNT]; /* indexed by enum txtrace_record_kind */
};

struct txtrace_continued {
	uint64_t time_ns;
	uint32_t next_part; /* of the capture: see struct txtrace_log_info */
};

/*
 * For the `object` of runs of this process. A descriptor refers to that from
 * here on. A futex (reason LOCK) has the code that was the first to wait for
 * it: the record may come behind such runs.
 */
struct txtrace_object {
	uint64_t time_ns;
	uint64_t object;
	uint32_t pid;
	uint32_t tid;   /* who waited for it first */
	uint8_t reason; /* enum txtrace_block_reason: what for */
	/* a path, "tcp 10.0.0.1:80 > 10.0.0.2:4711", "pipe:[4711]", "eventfd", …; any bytes */
	struct txtrace_string name;
};

enum txtrace_stack_what {
	/*
	 * the thread was blocked there for weight_ns, just before its RUN that begins at time_ns, but for its
	 * runnable_ns
	 */
	TXTRACE_STACK_OFF_CPU = 1,
	TXTRACE_STACK_ON_CPU = 2,  /* a sample: at time_ns it was there; it stands for weight_ns */
};

struct txtrace_stack {
	uint64_t time_ns;
	uint64_t weight_ns;
	/*
	 * id of a span that the thread is in: of the one entered last, and in repeats of the others; 0: it is
	 * in none
	 */
	uint64_t span;
	uint64_t stack; /* of the FRAMES record of this number, which comes later in the same file */
	uint32_t pid;
	uint32_t tid;
	/* of the span's own record: that of another process than the thread's only if it is keyed */
	uint32_t span_pid;
	uint8_t what;   /* enum txtrace_stack_what */
	bool is_keyed;  /* the span is */
	bool is_repeat; /* the record before says the same, for another span that the thread is in */
};

/* One for each stack of a file that a STACK record in it names: numbers are those of one capture. */
struct txtrace_frames {
	uint64_t time_ns; /* when it was written */
	uint64_t stack;
	/* of functions, the outermost first, with a newline between two of them; else any bytes */
	struct txtrace_string names;
};

enum txtrace_other_run_flag {
	/* who had the CPU is not known: the record tells of the move alone */
	TXTRACE_OTHER_RUN_NOBODY_KNOWN = 1,
};

/*
 * While a traced thread was runnable and waited for this CPU, this task had it
 * (a stay, or the part of one that was watched): one that is not traced, or, if
 * moved_tid is not 0, any. Stays of traced threads are runs; that the CPU was
 * idle until the thread got it is in the thread's run.
 */
struct txtrace_other_run {
	uint64_t begin_ns;
	uint64_t end_ns;
	uint32_t tid;   /* 0: nobody, it was idle */
	uint32_t pid;
	uint32_t cpu;
	uint32_t flags; /* enum txtrace_other_run_flag */
	/* this thread waited for the CPU, and was moved to another one at end_ns; 0: none was */
	uint32_t moved_tid;
	uint32_t moved_pid;
	struct txtrace_string comm;
	uint64_t stolen_ns; /* what a hypervisor took of the CPU meanwhile */
};

/* How a program of the recorder was reached. */
enum txtrace_cost_entry {
	TXTRACE_COST_ENTRY_UNKNOWN = 0,
	TXTRACE_COST_ENTRY_TRAP = 1,       /* a probe, by a trap */
	TXTRACE_COST_ENTRY_CALL = 2,       /* a probe, by the call that the kernel makes of a fast nop */
	TXTRACE_COST_ENTRY_TRACEPOINT = 3, /* a tracepoint of the kernel */
	/* event "step": what a probe costs more whose instruction is single-stepped */
	TXTRACE_COST_ENTRY_STEP = 4,
	/* sent along with an event of another kind, which is charged with all */
	TXTRACE_COST_ENTRY_WITHIN = 5,
	/* none was: a mark in shared memory. All of its cost is in entry_ps; lost ones are not counted */
	TXTRACE_COST_ENTRY_MEMORY = 6,
};

/*
 * What tracing cost from since_ns to time_ns; of a capture's files each says
 * its own part, so that all of them add up. event names a kind of event, as in
 * recorded streams ("begin", "switch", ...), of which event_cnt were sent, lost
 * ones included: that many times its program did all of its work. Some of the
 * runs were timed. An empty event: the recorder itself. docs/attribution.md,
 * "What tracing cost", says what follows from it.
 */
struct txtrace_cost {
	uint64_t time_ns;
	uint64_t since_ns;
	struct txtrace_string event;
	uint64_t event_cnt;       /* exact; of the recorder: of all kinds */
	uint64_t timed_event_cnt; /* those sent while runs were timed */
	uint64_t timed_run_cnt;   /* runs that were timed: also those that found nothing to send */
	uint64_t timed_run_ns;    /* how long they took, as timed; of the recorder: how long timing was on */
	/*
	 * calibrated, each: getting to an empty program and back, in ns / 1000; 0: not known, here and below
	 */
	uint64_t entry_ps;
	uint64_t empty_run_ps;    /* calibrated: what timing says of an empty program */
	uint64_t idle_run_ps;     /* calibrated: of this one, when it finds nothing to send */
	uint64_t calibration_cnt; /* runs that entry_ps was taken from */
	uint64_t cpu_ns;          /* of the recorder: its own CPU time */
	uint64_t ring_bytes;      /* of the recorder: what came out of the ring buffers */
	/* of the recorder: what had been written when this was told, less what was then */
	uint64_t log_bytes;
	uint8_t entry;            /* enum txtrace_cost_entry */
};

/* Why a process is traced: a bit for each reason. */
enum txtrace_process_reason {
	TXTRACE_PROCESS_NAMED = 1,  /* by its pid, or as the command */
	TXTRACE_PROCESS_CHILD = 2,  /* of one that is traced */
	TXTRACE_PROCESS_COMM = 4,   /* it is called so */
	TXTRACE_PROCESS_EXE = 8,    /* it runs that file */
	TXTRACE_PROCESS_CGROUP = 16, /* it is in that cgroup */
	TXTRACE_PROCESS_ANY = 32,   /* all are */
};

/*
 * Comes when it begins to be traced, again after each exec, and when it is
 * traced no more; and at the beginning of each part of the log.
 */
struct txtrace_process {
	uint64_t time_ns;
	/* when the process was started; with the pid it names one process. 0: not known */
	uint64_t start_ns;
	uint32_t pid;        /* as the recorder sees it, as in all records */
	uint32_t parent_pid; /* 0: not known */
	/* what the process takes for its pid: another one in a container. 0: not known */
	uint32_t inner_pid;
	uint8_t reasons;     /* enum txtrace_process_reason */
	bool is_seed;        /* ran before the capture, or this part of it, began */
	bool is_exit;        /* it ended here, or has exec'd what is not traced */
	struct txtrace_string comm;
	struct txtrace_string exe;     /* its path, as the process sees it; empty: not known, or as before */
	/* the arguments, separated by spaces, cut off if long; empty: not known */
	struct txtrace_string command;
	/*
	 * by its cgroup, when it began to be traced or at its last exec: the id of the container and the uid
	 * of the Kubernetes pod that it is in; empty: none, or not known
	 */
	struct txtrace_string container;
	struct txtrace_string pod;
};

enum txtrace_trigger_cause { /* why a flight recorder wrote its memory to a file */
	TXTRACE_TRIGGER_UNKNOWN = 0,
	TXTRACE_TRIGGER_SPAN = 1,    /* a span for which the rule holds */
	TXTRACE_TRIGGER_REQUEST = 2, /* SIGUSR1, or txtrace-bpf --dump */
	TXTRACE_TRIGGER_EXIT = 3,    /* the recording ended */
};

/* Stands in the file that it led to. */
struct txtrace_trigger {
	uint64_t time_ns;    /* SPAN: when the span was written: when it ended */
	uint64_t span;       /* SPAN: its id */
	uint32_t pid;        /* SPAN: its process, */
	uint32_t tid;        /* and the thread that began it */
	uint8_t cause;       /* enum txtrace_trigger_cause */
	bool is_keyed;
	uint64_t missed_cnt; /* triggers since the file before that led to none, as there had been too many */
	struct txtrace_string rule;  /* SPAN: as the user wrote it */
	struct txtrace_string label; /* SPAN: its label */
	uint64_t wall_ns;            /* SPAN: its wall time; 0: not known */
};

/*
 * Of the ledger of a span: what spans without a parent that its threads entered
 * later were charged with, too. Stands in front of the span's own record. The
 * rest is what the span has for itself in a sum over spans without a parent, or
 * in a call tree, that counts no ns of a thread twice.
 */
struct txtrace_overlap {
	uint64_t time_ns; /* the span's end */
	uint64_t span;    /* its id, … */
	uint32_t pid;     /* … process, … */
	uint32_t tid;     /* … and the thread that began it */
	bool is_keyed;
	struct txtrace_ledger ledger; /* no part is more than the span's; detached_ns is 0 */
};

struct txtrace_damage {
	uint64_t offset_bytes; /* in the file */
	uint64_t length_bytes; /* that were skipped; to the end of the file, if it is cut off */
	uint64_t record_cnt;   /* as the batch's header claims; 0 if that can't be read either */
	const char *reason;    /* a sentence; static */
};

struct txtrace_record {
	uint32_t kind; /* enum txtrace_record_kind; tells which member holds */
	union {
		struct txtrace_span span;
		struct txtrace_run run;
		struct txtrace_wake wake;
		struct txtrace_thread thread;
		struct txtrace_attribute attribute;
		struct txtrace_instant instant;
		struct txtrace_counter counter;
		struct txtrace_link link;
		struct txtrace_loss loss;
		struct txtrace_open_span open_span;
		struct txtrace_summary summary;
		struct txtrace_dropped dropped;
		struct txtrace_continued continued;
		struct txtrace_stay stay;
		struct txtrace_object object;
		struct txtrace_stack stack;
		struct txtrace_frames frames;
		struct txtrace_other_run other_run;
		struct txtrace_cost cost;
		struct txtrace_process process;
		struct txtrace_trigger trigger;
		struct txtrace_overlap overlap;
		struct txtrace_damage damage;
		uint64_t room[31]; /* for members to come: the size stays; use it for nothing */
	};
};

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
