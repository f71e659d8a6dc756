/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * txtrace/log.h: read a span log.
 *
 *	struct txtrace_log *log;
 *	struct txtrace_record record;
 *	int err = txtrace_log_open(&log, "app.txtrace");
 *	while (!err && (err = txtrace_log_next(log, &record)) > 0) {
 *		if (record.kind == TXTRACE_RECORD_SPAN)
 *			use(&record.span);
 *		err = 0;
 *	}
 *	if (err)
 *		complain(txtrace_log_strerror(log, err));
 *	txtrace_log_close(log);
 *
 * Records come in the order in which they were finished: a span where it ended. All times are CLOCK_MONOTONIC ns of the recording
 * machine; txtrace_log_info() tells the wall clock. Nothing in the file is trusted: a damaged part costs the batch that it is in, is told
 * as a TXTRACE_RECORD_DAMAGE where it was met, and reading goes on behind it.
 *
 * Memory: whatever the file says, at most 36 MiB; with n threads that decode ahead n + 2 times 40 MiB. Of a log that txtrace wrote about 2 MiB, with
 * threads n + 2 times 6 MiB. A name and 150 bytes for each file of a set. No more than one file is open.
 *
 * Threads: a struct txtrace_log is used by one thread at a time; different logs by different threads at once. What is called without a log may be
 * called by any thread.
 *
 * Errors are negative errno values. The library prints nothing, sets no signal handler and keeps no state but that of the logs that are open.
 *
 * Programs that were built with this header run with every later library of the same SONAME. Until that changes: enumerators keep their numbers, so be
 * ready for kinds, flags and reasons that are not in your header; struct txtrace_record and struct txtrace_batch keep their sizes; members are added
 * only to the ends of the structs in the former, and of struct txtrace_log_info, which the library alone makes. docs/library.md tells the rest.
 */
#ifndef TXTRACE_LOG_H
#define TXTRACE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What is declared from here on is what the library exports; nothing else is. */
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
	TXTRACE_BLOCK_REASON_COUNT = 10,
};

/* "lock", "disk", "network", "sleep", "page_fault", "pipe", "wait", "stopped", "other", "throttled"; NULL for any other number. Static. */
const char *txtrace_block_reason_name(unsigned int reason);

/* Bytes from the log; not NUL-terminated; may be any bytes at all, so escape them before a terminal or a format sees them. */
struct txtrace_string {
	const char *bytes; /* never NULL when length > 0 */
	size_t length;
};

/* Where a span's time went. on_cpu + runnable + blocked[*] + detached + unknown + interrupt = work, exactly, unless the span is a lower bound. */
struct txtrace_ledger {
	uint64_t on_cpu_ns;
	uint64_t runnable_ns;
	uint64_t blocked_ns[TXTRACE_BLOCK_REASON_COUNT];
	uint64_t detached_ns;
	uint64_t unknown_ns;
	uint64_t interrupt_ns; /* with --irq: interrupts and softirqs on top of a thread that was on a CPU; else that is in on_cpu_ns */
};

/* The sum of blocked_ns, and of all parts. Saturating: hostile logs may hold any numbers. */
uint64_t txtrace_ledger_blocked_ns(const struct txtrace_ledger *ledger);
uint64_t txtrace_ledger_sum_ns(const struct txtrace_ledger *ledger);

enum txtrace_record_kind {
	TXTRACE_RECORD_SPAN = 1,      /* a span that has ended, or that the capture's or its process' end cut off */
	TXTRACE_RECORD_RUN = 2,       /* one stay of a thread on a CPU */
	TXTRACE_RECORD_WAKE = 3,      /* a thread was woken: by whom */
	TXTRACE_RECORD_THREAD = 4,    /* a thread, or its new name */
	TXTRACE_RECORD_ATTRIBUTE = 5, /* TXTRACE_ATTR */
	TXTRACE_RECORD_INSTANT = 6,   /* TXTRACE_EVENT */
	TXTRACE_RECORD_COUNTER = 7,   /* TXTRACE_COUNTER */
	TXTRACE_RECORD_LINK = 8,      /* TXTRACE_LINK */
	TXTRACE_RECORD_LOSS = 9,      /* events that were lost: how many, when, where */
	TXTRACE_RECORD_OPEN_SPAN = 10, /* checkpoint: this span had begun and not ended; its SPAN record, if it comes, says all of it again */
	TXTRACE_RECORD_SUMMARY = 11,  /* the recorder's own counts, once, at a clean end */
	TXTRACE_RECORD_DROPPED = 12,  /* records that the recorder could not write: the disk did not keep up */
	TXTRACE_RECORD_CONTINUED = 13, /* the last record of a file: the capture goes on in the next one. Left out where that one is read next */
	TXTRACE_RECORD_STAY = 14,     /* a thread worked for a span: from its enter to its exit */
	TXTRACE_RECORD_OBJECT = 15,   /* what threads wait for: a descriptor's file, a futex' place in the code */
	TXTRACE_RECORD_STACK = 16,    /* where the code of a thread was, while it was blocked or on a CPU */
	TXTRACE_RECORD_FRAMES = 17,   /* the functions of a stack, by its number */
	TXTRACE_RECORD_OTHER_RUN = 18, /* who else had a CPU that a traced thread waited for */
	TXTRACE_RECORD_COST = 19,     /* what tracing cost: one for each kind of event, and one of the recorder itself */
	TXTRACE_RECORD_PROCESS = 20,  /* a traced process: what it is called, or its end */
	/* Kinds to come are numbered from here. */
	TXTRACE_RECORD_DAMAGE = 24,   /* made by the reader, not in the file: a part of the file that could not be read */
	TXTRACE_RECORD_KIND_COUNT = 25,
};

/* "span", "run", "wake", …; NULL for any other number. Static. */
const char *txtrace_record_kind_name(unsigned int kind);

enum txtrace_span_flag {
	TXTRACE_SPAN_LOWER_BOUND = 1, /* the account is incomplete: the span did not end, or lost events may have touched it */
	TXTRACE_SPAN_UNFINISHED = 2,  /* it never ended: end_ns is when the capture or its process did */
	TXTRACE_SPAN_LOSS = 4,        /* lost events overlap it */
	TXTRACE_SPAN_IMBALANCE = 8,   /* the ledger does not add up: a bug of txtrace */
	TXTRACE_SPAN_KEYED = 16,      /* named by `key`, not by an id of the program: id was given by the recorder */
	TXTRACE_SPAN_MOVED = 32,      /* more than one thread worked for it */
};

struct txtrace_span {
	uint64_t id;     /* what the program holds in its txtrace_span_t; unique with pid */
	uint64_t parent; /* id of the parent in the same process, or 0 */
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
};

enum txtrace_left_as {
	TXTRACE_LEFT_UNKNOWN = 0,
	TXTRACE_LEFT_PREEMPTED = 1,
	TXTRACE_LEFT_YIELDED = 2,
	TXTRACE_LEFT_BLOCKED = 3,
	TXTRACE_LEFT_DEAD = 4,
};

/* Before begin_ns the thread was blocked for blocked_ns (for the reason of its RUN before), then runnable for runnable_ns. */
struct txtrace_run {
	uint32_t tid;
	uint32_t pid;
	uint32_t cpu;
	uint64_t begin_ns; /* got the CPU */
	uint64_t end_ns;   /* left it */
	uint64_t blocked_ns;
	uint64_t runnable_ns;
	uint8_t left_as; /* enum txtrace_left_as */
	uint8_t reason;  /* enum txtrace_block_reason, when left_as is BLOCKED */
	int32_t syscall_nr; /* BLOCKED: -1 in none, -2 unknown */
	uint64_t object;    /* BLOCKED: futex address, fd, or ns that a sleep asked for, by the reason; else 0 */
	uint64_t idle_ns;   /* of runnable_ns, how much at its end this CPU is known to have been idle; 0 also: not known */
};

enum txtrace_wake_flag {
	TXTRACE_WAKE_INTERRUPT = 1,     /* an interrupt or timer did it: waker_tid is 0 */
	TXTRACE_WAKE_WAKER_UNKNOWN = 2, /* waker_tid is the thread that ran there, which may only have been interrupted */
	TXTRACE_WAKE_SPAN_KEYED = 4,    /* span is the id of a keyed span */
	TXTRACE_WAKE_WAKER_SPAN_KEYED = 8,
	TXTRACE_WAKE_TIMER = 16,        /* the interrupt, or the softirq, was a timer's */
	TXTRACE_WAKE_SOFTIRQ = 32,      /* the interrupt was a softirq: work that an interrupt or a thread has left to it, mostly packets */
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
	uint64_t span;       /* the id of the span that the woken thread had entered last, and is in; 0: it is in none */
	uint64_t waker_span; /* the same of the waker; 0 also where the waker is no thread, or unknown */
};

/*
 * A span without such records had one thread in it: end_tid (tid, if that is 0), from begin + detached to its end. All others have one for each stay.
 * They come before the span's own record.
 */
struct txtrace_stay {
	uint64_t enter_ns;
	uint64_t exit_ns;
	uint64_t span;     /* id */
	uint32_t span_pid; /* of the span's own record: that of another process than the thread's only if it is keyed */
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
};

struct txtrace_attribute {
	uint64_t time_ns;
	uint64_t span; /* id */
	uint32_t pid;
	uint32_t tid;
	uint8_t type;        /* enum txtrace_attribute_type */
	bool is_truncated;   /* STRING: the program's was longer */
	uint64_t value;      /* bits: int64_t, double by memcpy, … */
	struct txtrace_string name;
	struct txtrace_string string; /* STRING */
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
	uint32_t cpu;
	uint64_t span_event_cnt;  /* begin, end, tag, … of the program */
	uint64_t sched_event_cnt; /* switches, wakeups, threads */
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
};

/* Anomalies do not disturb other spans; docs/attribution.md defines each. */
enum txtrace_anomaly {
	TXTRACE_ANOMALY_END_UNKNOWN = 0,    /* end of a span that is not open: ended twice, or begun before the capture */
	TXTRACE_ANOMALY_ENTER_UNKNOWN = 1,
	TXTRACE_ANOMALY_EXIT_UNKNOWN = 2,   /* exit of a span that is not open */
	TXTRACE_ANOMALY_EXIT_UNENTERED = 3, /* exit by a thread that was not in it */
	TXTRACE_ANOMALY_BEGIN_TWICE = 4,    /* an id or key that is open already: the first goes on, the second is not counted */
	TXTRACE_ANOMALY_MARK_UNKNOWN = 5,   /* tag, attribute, instant of, or link from, a span that is not open: kept as it is */
	TXTRACE_ANOMALY_UNFINISHED = 6,     /* open when its process exited or exec'd */
	TXTRACE_ANOMALY_CLOCK_MISMATCH = 7, /* the kernel's clocks and the replayed switches disagree though nothing was lost: a bug of txtrace */
	TXTRACE_ANOMALY_IMBALANCE = 8,      /* a ledger that does not add up: a bug of txtrace */
	TXTRACE_ANOMALY_COUNT = 9,
};

/* "end_unknown", …; NULL for any other number. Static. */
const char *txtrace_anomaly_name(unsigned int anomaly);

struct txtrace_summary {
	uint64_t time_ns;         /* when recording stopped */
	uint64_t sent_cnt;        /* events that the kernel side wanted to send */
	uint64_t received_cnt;    /* that reached the merge */
	uint64_t lost_cnt;        /* that did not: sent = received + lost, or the report says so */
	uint64_t lost_clocks_cnt; /* threads or events without state clocks */
	uint64_t late_cnt;        /* events that came behind the merge's watermark */
	uint64_t anomaly_cnt[TXTRACE_ANOMALY_COUNT];
};

/*
 * The disk did not keep up, and whole batches of records had to go. What they told is missing; the ledgers of the spans that are there are not
 * touched: they were made before.
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
 * For the `object` of runs of this process. A descriptor refers to that from here on. A futex (reason LOCK) has the code that was the first to wait for it:
 * the record may come behind such runs.
 */
struct txtrace_object {
	uint64_t time_ns;
	uint64_t object;
	uint32_t pid;
	uint32_t tid;   /* who waited for it first */
	uint8_t reason; /* enum txtrace_block_reason: what for */
	struct txtrace_string name; /* a path, "tcp 10.0.0.1:80 > 10.0.0.2:4711", "pipe:[4711]", "eventfd", …; any bytes */
};

enum txtrace_stack_what {
	TXTRACE_STACK_OFF_CPU = 1, /* the thread was blocked there for weight_ns, just before its RUN that begins at time_ns, but for its runnable_ns */
	TXTRACE_STACK_ON_CPU = 2,  /* a sample: at time_ns it was there; it stands for weight_ns */
};

struct txtrace_stack {
	uint64_t time_ns;
	uint64_t weight_ns;
	uint64_t span;  /* id of a span that the thread is in: of the one entered last, and in repeats of the others; 0: it is in none */
	uint64_t stack; /* of the FRAMES record of this number, which comes later in the same file */
	uint32_t pid;
	uint32_t tid;
	uint32_t span_pid; /* of the span's own record: that of another process than the thread's only if it is keyed */
	uint8_t what;   /* enum txtrace_stack_what */
	bool is_keyed;  /* the span is */
	bool is_repeat; /* the record before says the same, for another span that the thread is in */
};

/* One for each stack of a file that a STACK record in it names: numbers are those of one capture. */
struct txtrace_frames {
	uint64_t time_ns; /* when it was written */
	uint64_t stack;
	struct txtrace_string names; /* of functions, the outermost first, with a newline between two of them; else any bytes */
};

enum txtrace_other_run_flag {
	TXTRACE_OTHER_RUN_NOBODY_KNOWN = 1, /* who had the CPU is not known: the record tells of the move alone */
};

/*
 * While a traced thread was runnable and waited for this CPU, this task had it (a stay, or the part of one that was watched): one that is not traced, or, if
 * moved_tid is not 0, any. Stays of traced threads are runs; that the CPU was idle until the thread got it is in the thread's run.
 */
struct txtrace_other_run {
	uint64_t begin_ns;
	uint64_t end_ns;
	uint32_t tid;   /* 0: nobody, it was idle */
	uint32_t pid;
	uint32_t cpu;
	uint32_t flags; /* enum txtrace_other_run_flag */
	uint32_t moved_tid; /* this thread waited for the CPU, and was moved to another one at end_ns; 0: none was */
	uint32_t moved_pid;
	struct txtrace_string comm;
};

/* How a program of the recorder was reached. */
enum txtrace_cost_entry {
	TXTRACE_COST_ENTRY_UNKNOWN = 0,
	TXTRACE_COST_ENTRY_TRAP = 1,       /* a probe, by a trap */
	TXTRACE_COST_ENTRY_CALL = 2,       /* a probe, by the call that the kernel makes of a fast nop */
	TXTRACE_COST_ENTRY_TRACEPOINT = 3, /* a tracepoint of the kernel */
};

/*
 * What tracing cost from since_ns to time_ns; of a capture's files each says its own part, so that all of them add up. event names a kind of event, as in
 * recorded streams ("begin", "switch", ...), of which event_cnt were sent, lost ones included: that many times its program did all of its work. Some of the
 * runs were timed. An empty event: the recorder itself. docs/attribution.md, "What tracing cost", says what follows from it.
 */
struct txtrace_cost {
	uint64_t time_ns;
	uint64_t since_ns;
	struct txtrace_string event;
	uint64_t event_cnt;       /* exact; of the recorder: of all kinds */
	uint64_t timed_event_cnt; /* those sent while runs were timed */
	uint64_t timed_run_cnt;   /* runs that were timed: also those that found nothing to send */
	uint64_t timed_run_ns;    /* how long they took, as timed; of the recorder: how long timing was on */
	uint64_t entry_ps;        /* calibrated, each: getting to an empty program and back, in ns / 1000; 0: not known, here and below */
	uint64_t empty_run_ps;    /* calibrated: what timing says of an empty program */
	uint64_t idle_run_ps;     /* calibrated: of this one, when it finds nothing to send */
	uint64_t calibration_cnt; /* runs that entry_ps was taken from */
	uint64_t cpu_ns;          /* of the recorder: its own CPU time */
	uint64_t ring_bytes;      /* of the recorder: what came out of the ring buffers */
	uint64_t log_bytes;       /* of the recorder: what had been written when this was told, less what was then */
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

/* Comes when it begins to be traced, again after each exec, and when it is traced no more; and at the beginning of each part of the log. */
struct txtrace_process {
	uint64_t time_ns;
	uint64_t start_ns;   /* when the process was started; with the pid it names one process. 0: not known */
	uint32_t pid;        /* as the recorder sees it, as in all records */
	uint32_t parent_pid; /* 0: not known */
	uint32_t inner_pid;  /* what the process takes for its pid: another one in a container. 0: not known */
	uint8_t reasons;     /* enum txtrace_process_reason */
	bool is_seed;        /* ran before the capture, or this part of it, began */
	bool is_exit;        /* it ended here, or has exec'd what is not traced */
	struct txtrace_string comm;
	struct txtrace_string exe;     /* its path, as the process sees it; empty: not known, or as before */
	struct txtrace_string command; /* the arguments, separated by spaces, cut off if long; empty: not known */
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
		struct txtrace_damage damage;
		uint64_t room[31]; /* for members to come: the size stays; use it for nothing */
	};
};

/* A file's header. Strings are NUL-terminated, bounded, and escaped nowhere. */
struct txtrace_log_info {
	uint16_t version_major;
	uint16_t version_minor;
	uint8_t capture_id[16];     /* random */
	uint8_t boot_id[16];        /* of the machine: monotonic times compare only within one */
	uint64_t start_monotonic_ns; /* the same moment on both clocks */
	uint64_t start_realtime_ns;
	uint32_t pid;               /* of the target; 0 if there are several */
	uint32_t cpu_cnt;
	uint32_t part;              /* this file's place in its capture: 0, 1, … */
	uint64_t first_sequence;    /* of its first batch: they are numbered through all parts */
	char host[256];
	char kernel[256];           /* uname: release and machine */
	char command[256];          /* of the target */
	char recorder[64];          /* name and version */
	char options[256];
};

struct txtrace_log;

/* ---- opening ---- */

/*
 * Opens a file, or all logs in a directory as one; what else is in it is left alone. -EBADMSG: not a txtrace log; -ENODATA: an empty file;
 * -EPROTONOSUPPORT: of a newer major version; -ESPIPE: a pipe or device; -ENOMSG: a directory without logs. A log whose header is damaged is opened:
 * its info is then 0, and the damage is its first record.
 *
 * *log is the caller's, and to be closed also after a failure, when it is good for txtrace_log_strerror() and txtrace_log_path() only. It is NULL where
 * there was no memory for it.
 */
int txtrace_log_open(struct txtrace_log **log, const char *path);

/*
 * Opens several files or directories as one log: those that a capture was rotated into, and further captures of the same boot. They are read in
 * the order of the start of their capture, then of their part of it; one is open at a time. A part that is missing in the middle is told as a
 * TXTRACE_RECORD_DAMAGE; those that are missing at the beginning are known by the first file's info->part. -EXDEV: not all of one boot; -EEXIST: the same
 * part is there twice.
 */
int txtrace_log_open_files(struct txtrace_log **log, const char *const *paths, size_t cnt);

/*
 * Opens a file that is still being written. txtrace_log_next() returns 0 where nothing more is there yet, and may be called again, say ten times a second,
 * until txtrace_log_is_at_end(). An end in the middle of something is no damage as long as a recorder writes; once none holds the file any more, what is cut
 * off is told. When the file is complete and the capture goes on, so does reading, in the next file. path is what was given to the recorder; path.partial is
 * followed, if that is being written, or path is not there. -EAGAIN: not even its header is there yet; -EISDIR.
 */
int txtrace_log_follow(struct txtrace_log **log, const char *path);

/*
 * thread_cnt threads (at most 64) decode ahead of the reader. What is read is the same for any number. 0, as after the open: none, all is done where it is
 * asked for. Before the first record only, else -EBUSY.
 */
int txtrace_log_set_threads(struct txtrace_log *log, unsigned int thread_cnt);

void txtrace_log_close(struct txtrace_log *log); /* NULL is allowed */

/* A sentence about this error of the open or of the log, for a human; static or owned by the log, which may be NULL. */
const char *txtrace_log_strerror(const struct txtrace_log *log, int err);

/* ---- reading ---- */

/*
 * The next record: 1 and *record filled, 0 at the end, or a negative errno when the file itself can't be read (EIO). Strings in the record
 * live until the next call. Damage is a record, not an error.
 */
int txtrace_log_next(struct txtrace_log *log, struct txtrace_record *record);

/* After next has returned 0: it always will. Otherwise the log is being followed, and there may be more. */
bool txtrace_log_is_at_end(const struct txtrace_log *log);

/* At the end: whether all of the log was closed properly. If not, the recorder crashed, was killed, or is still writing. */
bool txtrace_log_is_complete(const struct txtrace_log *log);

/*
 * Goes to the first batch that holds a record that finished at time_ns or later, or to the one with this sequence, or the next one there is: the next
 * record is its first one. From anywhere, but when following only as long as reading is in the first file (-EBUSY). Indexes are used where blocks confirm
 * them; else batches are passed by their headers alone. Damage that is met on the way is told before.
 */
int txtrace_log_seek_time(struct txtrace_log *log, uint64_t time_ns);
int txtrace_log_seek_batch(struct txtrace_log *log, uint64_t sequence);

/* ---- where it is ---- */

/* The header of the file that is read; at first, of the first one. */
#ifdef __cplusplus
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow" /* functions with the names of structs */
#endif
const struct txtrace_log_info *txtrace_log_info(const struct txtrace_log *log);
#ifdef __cplusplus
#pragma GCC diagnostic pop
#endif

/* The name of that file. After a failed open: of the file that is to blame, or NULL. Owned by the log, until the next call. */
const char *txtrace_log_path(const struct txtrace_log *log);

/* All files of the log, in the order in which they are read: how many there are, and their names. */
size_t txtrace_log_file_cnt(const struct txtrace_log *log);
const char *txtrace_log_file(const struct txtrace_log *log, size_t idx);

/* How many captures they are of. */
size_t txtrace_log_capture_cnt(const struct txtrace_log *log);

struct txtrace_batch {
	uint64_t sequence;     /* in its capture */
	uint64_t offset_bytes; /* in the file */
	uint64_t first_ns;     /* least and greatest time at which a record of it finished, as its header says */
	uint64_t last_ns;
	uint32_t record_cnt;   /* as well */
};

/* The batch of the record that was read last; false: there is none. */
bool txtrace_log_batch(const struct txtrace_log *log, struct txtrace_batch *batch);

/*
 * The wall clock (CLOCK_REALTIME ns) at time_ns, by the pair of clock readings that was stored with the record that was read last: it follows a wall
 * clock that was set during the capture.
 */
uint64_t txtrace_log_realtime_ns(const struct txtrace_log *log, uint64_t time_ns);

/* How far reading has come, and how long all files are: for progress. */
void txtrace_log_progress(const struct txtrace_log *log, uint64_t *read_bytes, uint64_t *total_bytes);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
