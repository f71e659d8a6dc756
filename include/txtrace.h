/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * txtrace.h: marks in a program, where its transactions begin, wait, move
 * between threads and end.
 *
 * Copy this one file into your program and include it. There is no library to
 * link and no call to make at the start. When nobody traces, a mark costs one
 * load and one predicted branch, and its arguments are not evaluated. When
 * somebody does (`txtrace-bpf -p PID`, but also bpftrace, perf or gdb: the
 * marks are ordinary USDT probes of the provider "txtrace"), it calls a probe.
 *
 *     void serve(struct request *r)
 *     {
 *         TXTRACE_SPAN("serve");    // to the end of the block, however it is left
 *         // 0 when nobody traces, and then every use of s does nothing
 *         txtrace_span_t s = TXTRACE_BEGIN("commit");
 *         TXTRACE_ATTR(s, "bytes", r->size);
 *         ...
 *         TXTRACE_END(s);           // from any thread
 *     }
 *
 * C11 or C++11 and later, gcc or clang, Linux on x86-64 or aarch64. Elsewhere,
 * or with -DTXTRACE_DISABLE, every macro compiles to nothing. docs/macros.md of
 * txtrace explains each macro with an example.
 *
 * Rules that hold for all of them
 *   - Labels and names are string literals; anything else does not compile. Two
 *     uses of one label are the same kind of span.
 *   - An argument is evaluated at most once, and not at all when nobody traces.
 *     The one exception is the span that a macro is for (the first argument of
 *     TXTRACE_END and the like): its value says whether there is anything to do.
 *   - Span 0 is no span: to end, enter, exit, tag or link it does nothing. As a
 *     parent it means that there is none: the span is a root.
 *   - A span that names no parent is a child of the span that its thread entered
 *     last and is still in, if there is one.
 *   - Strings and keys are read by the tracer or, where marks go into shared
 *     memory (the ring, below), by the program itself. There, an address that
 *     cannot be read is a fault of the program. NULL is no string.
 *   - They work in any thread, after fork, and in signal handlers (there is one
 *     limit, see txtrace_mark_).
 *
 * What tracers rely on (ABI: it does not change)
 *   Each object file (executable, shared library, plugin) holds one copy of each
 *   probe, in a section group that the linker merges: a hidden function
 *   txtrace_site_<name> with a note in .note.stapsdt. The semaphores are the two
 *   16-bit halves of the object's txtrace_switches in .probes: the second one is
 *   that of `ring`, the first one that of all others. The note's address is the
 *   function's first byte. From there the code is, exactly,
 *       x86-64    90                              a nop of one byte: where a
 *                                                 uprobe is cheapest before 6.18
 *                 0f 1f 44 00 00                  a nop of five, which 6.18 can
 *                                                 turn into a call
 *                 66 2e 0f 1f 84 00 00 00 00 00   a nop of ten, for kernels to come
 *                 c3                              ret
 *       aarch64   1f 20 03 d5  c0 03 5f d6        nop, ret
 *   and starts at a multiple of 16, so that no nop crosses a page. As the probe
 *   is a function of its own, no red zone lies below it. After the ret comes the
 *   probe's number, never executed: without it, a linker that folds identical
 *   code would make one function of them all. At each of the nops the arguments
 *   are in the ABI's argument registers:
 *       begin(id, label, parent)       begin_detached(id, label, parent)
 *       enter(id)                      exit(id)
 *       end(id)                        tag(id, string)
 *       attr(id, name, enum txtrace_attr_type_, value)
 *       event(id, name)                link(from, to, name)
 *       counter(name, signed value)    key_begin(label, key, length)
 *       key_enter(key, length)         key_exit(key, length)
 *       key_end(key, length)           key_event(key, length, name)
 *       ring(enum txtrace_mark_kind_, id, name, value, stamp)
 *   The value of bytes is the address of a struct txtrace_piece. A key may be
 *   longer than the 64 bytes that count, a string may have any length. `parent`
 *   is an id; all ones (TXTRACE_ROOT_) say that the span has
 *   none; 0 says that none was named, and the rule above finds it
 *   (begin_detached: there is none). `ring` stands for all the others where its
 *   semaphore is set: what is marked goes into the ring (below), or, as long as
 *   there is none, to this probe. The others are called besides, if their
 *   semaphore is set, too.
 *   Two linkers leave more notes than probes: lld does not merge the groups of
 *   -flto=thin objects (two notes then name one address; with --gc-sections it
 *   does), gold keeps the notes of probes that --gc-sections removed (address 0).
 *
 * Changes
 *   0.1.0   the first
 *   0.2.0   spans nest; TXTRACE_BEGIN_ROOT, TXTRACE_SPAN_ROOT;
 *           TXTRACE_BEGIN_CHILD below span 0 begins a root. Before, `parent` was
 *           0 for that, too: a tracer cannot tell it from TXTRACE_BEGIN there,
 *           and puts the span below the one that its thread is in. The first id
 *           no longer comes from the time stamp counter: marks work in seccomp's
 *           strict mode.
 *   0.3.0   the ring. Symbols have new names, so that objects with an older copy
 *           can be linked in; each object has all probes, whichever it uses.
 *           TXTRACE_ATTR_BYTES, TXTRACE_ATTR_PIECES, TXTRACE_TAG_PIECES,
 *           TXTRACE_TRACEPARENT, TXTRACE_SET_TRACEPARENT, TXTRACE_SET_TRACESTATE
 */
#ifndef TXTRACE_H
#define TXTRACE_H

#include <stddef.h>
#include <stdint.h>

#define TXTRACE_HEADER_VERSION 300 /* major * 10000 + minor * 100 + patch */

/*
 * A span: never 0, and unique in its process, over all threads and objects. A
 * forked child counts on where its parent was.
 */
typedef uint64_t txtrace_span_t;

/* One of several parts of a value. */
struct txtrace_piece {
	const void *data;
	size_t size;
};

#define TXTRACE_TRACEPARENT_SIZE 56 /* of a `traceparent` of W3C's Trace Context, with the final zero */

#if !defined(TXTRACE_DISABLE) && defined(__linux__) && defined(__ELF__) && defined(__LP64__) &&		\
	(defined(__x86_64__) || defined(__aarch64__))
#define TXTRACE_IS_COMPILED_IN 1
#else
#define TXTRACE_IS_COMPILED_IN 0
#endif

#define TXTRACE_PASTE_(a, b) a##b
#define TXTRACE_NAME_(prefix, number) TXTRACE_PASTE_(prefix, number)
#define TXTRACE_LITERAL_(text) ("" text "")

#if defined(__cplusplus)
#define TXTRACE_CAST_(type, value) static_cast<type>(value)
#define TXTRACE_STATIC_ASSERT_ static_assert
#else
#define TXTRACE_CAST_(type, value) ((type)(value))
#define TXTRACE_STATIC_ASSERT_ _Static_assert
#endif

#define TXTRACE_UNLIKELY_(condition) __builtin_expect(!!(condition), 0)

#if TXTRACE_IS_COMPILED_IN

/* ---- the probes ---- */

/* Link-time optimisation strings the assembly of all files together: hence .ifndef. */
#define TXTRACE_ASM_ONCE_(symbol, text) __asm__(".ifndef " symbol "\n" text ".endif\n")

#define TXTRACE_ASM_SYMBOL_(symbol, type, body)								\
	".weak " symbol "\n"										\
	".hidden " symbol "\n"										\
	".type " symbol ",%" type "\n"									\
	symbol ":\n"											\
	body												\
	".size " symbol ",.-" symbol "\n"

/*
 * The notes say where this section was at link time: tools correct addresses by
 * it. Shared with <sys/sdt.h>.
 */
TXTRACE_ASM_ONCE_("_.stapsdt.base",
	".pushsection .stapsdt.base,\"aG\",%progbits,.stapsdt.base,comdat\n"
	TXTRACE_ASM_SYMBOL_("_.stapsdt.base", "object", ".zero 1\n")
	".popsection\n");

/*
 * Two semaphores in one aligned word, so that a mark looks at both with one
 * load: of all probes but `ring`, and of `ring`. In the file, not in .bss: the
 * kernel finds them by their offsets in the file.
 */
TXTRACE_ASM_ONCE_("txtrace_switches",
	".pushsection .probes,\"awG\",%progbits,txtrace_switches,comdat\n"
	".balign 4\n"
	TXTRACE_ASM_SYMBOL_("txtrace_switches", "object", ".2byte 0, 0\n")
	".popsection\n");

#if defined(__x86_64__)
#define TXTRACE_ASM_SITE_(number)									\
	".byte 0x90\n"											\
	".byte 0x0f,0x1f,0x44,0x00,0x00\n"								\
	".byte 0x66,0x2e,0x0f,0x1f,0x84,0x00,0x00,0x00,0x00,0x00\n"					\
	".byte 0xc3\n"											\
	".byte 0x0f,0x1f,0x40," number "\n" /* a nop with the number as its operand */
#define TXTRACE_REGISTER_1_ "8@%rdi"
#define TXTRACE_REGISTER_2_ "8@%rsi"
#define TXTRACE_REGISTER_3_ "8@%rdx"
#define TXTRACE_REGISTER_4_ "8@%rcx"
#define TXTRACE_REGISTER_5_ "8@%r8"
#else
#define TXTRACE_ASM_SITE_(number)									\
	".inst 0xd503201f\n"										\
	".inst 0xd65f03c0\n"										\
	".inst " number "\n" /* udf #number */
#define TXTRACE_REGISTER_1_ "8@x0"
#define TXTRACE_REGISTER_2_ "8@x1"
#define TXTRACE_REGISTER_3_ "8@x2"
#define TXTRACE_REGISTER_4_ "8@x3"
#define TXTRACE_REGISTER_5_ "8@x4"
#endif

#define TXTRACE_REGISTERS_1_ TXTRACE_REGISTER_1_
#define TXTRACE_REGISTERS_2_ TXTRACE_REGISTERS_1_ " " TXTRACE_REGISTER_2_
#define TXTRACE_REGISTERS_3_ TXTRACE_REGISTERS_2_ " " TXTRACE_REGISTER_3_
#define TXTRACE_REGISTERS_4_ TXTRACE_REGISTERS_3_ " " TXTRACE_REGISTER_4_
#define TXTRACE_REGISTERS_5_ TXTRACE_REGISTERS_4_ " " TXTRACE_REGISTER_5_
#define TXTRACE_REGISTERS_NAME_AND_SIGNED_ TXTRACE_REGISTER_1_ " -" TXTRACE_REGISTER_2_

#define TXTRACE_ASM_NOTE_(name, symbol, semaphore, registers)						\
	".pushsection .note.stapsdt,\"G\",%note," symbol ",comdat\n"					\
	".balign 4\n"											\
	".4byte 8, .Ltxtrace_" name "_end-.Ltxtrace_" name "_note, 3\n"					\
	".asciz \"stapsdt\"\n"										\
	".Ltxtrace_" name "_note:\n"									\
	".8byte " symbol ", _.stapsdt.base, " semaphore "\n"						\
	".asciz \"txtrace\"\n"										\
	".asciz \"" name "\"\n"										\
	".asciz \"" registers "\"\n"									\
	".Ltxtrace_" name "_end:\n"									\
	".balign 4\n"											\
	".popsection\n"

#define TXTRACE_ASM_PROBE_(name, symbol, number, semaphore, registers)					\
	TXTRACE_ASM_ONCE_(symbol,									\
		".pushsection .text." symbol ",\"axG\",%progbits," symbol ",comdat\n"			\
		".balign 16\n"										\
		TXTRACE_ASM_SYMBOL_(symbol, "function", \
			".cfi_startproc\n" TXTRACE_ASM_SITE_(number) ".cfi_endproc\n") \
		".popsection\n"										\
		TXTRACE_ASM_NOTE_(name, symbol, semaphore, registers))

#if defined(__cplusplus)
extern "C" {
#endif

#define TXTRACE_PROBE_(name, number, semaphore, registers, parameters)					\
	TXTRACE_ASM_PROBE_(#name, "txtrace_site_" #name, #number, semaphore, registers);		\
	extern __attribute__((visibility("hidden"), nothrow, cold)) void txtrace_site_##name parameters

#define TXTRACE_ALL_ "txtrace_switches"
#define TXTRACE_RING_ "txtrace_switches+2"

TXTRACE_PROBE_(begin, 1, TXTRACE_ALL_, TXTRACE_REGISTERS_3_,
	       (uint64_t id, const char *label, uint64_t parent));
TXTRACE_PROBE_(begin_detached, 2, TXTRACE_ALL_, TXTRACE_REGISTERS_3_,
	       (uint64_t id, const char *label, uint64_t parent));
TXTRACE_PROBE_(enter, 3, TXTRACE_ALL_, TXTRACE_REGISTERS_1_, (uint64_t id));
TXTRACE_PROBE_(exit, 4, TXTRACE_ALL_, TXTRACE_REGISTERS_1_, (uint64_t id));
TXTRACE_PROBE_(end, 5, TXTRACE_ALL_, TXTRACE_REGISTERS_1_, (uint64_t id));
TXTRACE_PROBE_(tag, 6, TXTRACE_ALL_, TXTRACE_REGISTERS_2_, (uint64_t id, const char *text));
TXTRACE_PROBE_(attr, 7, TXTRACE_ALL_, TXTRACE_REGISTERS_4_,
	       (uint64_t id, const char *name, uint64_t type, uint64_t value));
TXTRACE_PROBE_(event, 8, TXTRACE_ALL_, TXTRACE_REGISTERS_2_, (uint64_t id, const char *name));
TXTRACE_PROBE_(counter, 9, TXTRACE_ALL_, TXTRACE_REGISTERS_NAME_AND_SIGNED_,
	       (const char *name, int64_t value));
TXTRACE_PROBE_(link, 10, TXTRACE_ALL_, TXTRACE_REGISTERS_3_, (uint64_t from, uint64_t to, const char *name));
TXTRACE_PROBE_(key_begin, 11, TXTRACE_ALL_, TXTRACE_REGISTERS_3_,
	       (const char *label, const void *key, uint64_t length));
TXTRACE_PROBE_(key_enter, 12, TXTRACE_ALL_, TXTRACE_REGISTERS_2_, (const void *key, uint64_t length));
TXTRACE_PROBE_(key_exit, 13, TXTRACE_ALL_, TXTRACE_REGISTERS_2_, (const void *key, uint64_t length));
TXTRACE_PROBE_(key_end, 14, TXTRACE_ALL_, TXTRACE_REGISTERS_2_, (const void *key, uint64_t length));
TXTRACE_PROBE_(key_event, 15, TXTRACE_ALL_, TXTRACE_REGISTERS_3_,
	       (const void *key, uint64_t length, const char *name));
TXTRACE_PROBE_(ring, 16, TXTRACE_RING_, TXTRACE_REGISTERS_5_,
	       (uint64_t kind, uint64_t id, const char *name, uint64_t value, uint64_t stamp));

/* How many uprobes of tracers there are, written by the kernel: of `ring`, in the other half of the rest. */
extern __attribute__((visibility("hidden"))) uint32_t txtrace_switches;

#define TXTRACE_RING_SWITCH_ UINT32_C(0x10000) /* both machines are little-endian */
#define TXTRACE_ALL_SWITCHES_ UINT32_C(0xffff)

/* ---- what the macros call: not for use in programs ---- */

/*
 * None of these is static, so that inline functions of the user's may use the
 * macros: C99 forbids statics in them, in C++ they break the one-definition
 * rule. In C, gnu_inline keeps the always-inlined ones out of the object, and
 * weak merges the others; in C++, inline does both.
 */
#if defined(__cplusplus)
#define TXTRACE_INLINE_ \
	inline __attribute__((visibility("hidden"), always_inline, nothrow, no_instrument_function))
#define TXTRACE_ONE_PER_OBJECT_ \
	inline __attribute__((visibility("hidden"), noinline, nothrow, no_instrument_function))
#define TXTRACE_ADDRESS_(pointer) reinterpret_cast<uintptr_t>(pointer)
#else
#define TXTRACE_INLINE_ \
	extern __inline__ __attribute__((gnu_inline, always_inline, nothrow, no_instrument_function))
#define TXTRACE_ONE_PER_OBJECT_ \
	__attribute__((visibility("hidden"), weak, noinline, nothrow, no_instrument_function))
#define TXTRACE_ADDRESS_(pointer) ((uintptr_t)(pointer))
#endif

enum txtrace_attr_type_ {
	TXTRACE_ATTR_BOOL_ = 1,
	TXTRACE_ATTR_INT_ = 2,
	TXTRACE_ATTR_UINT_ = 3,
	TXTRACE_ATTR_DOUBLE_ = 4, /* its bits */
	TXTRACE_ATTR_STRING_ = 5,
	TXTRACE_ATTR_POINTER_ = 6,
	TXTRACE_ATTR_BYTES_ = 7
};

/*
 * Adds 1, returns what was there before. No other thread touches *word, but a
 * signal handler may, at any moment.
 */
TXTRACE_INLINE_ uint64_t txtrace_count_up_(uint64_t *word)
{
#if defined(__x86_64__)
	uint64_t before = 1;

	/* one instruction; needs no lock prefix */
	__asm__ volatile("xadd {%0, %1|%1, %0}" : "+r"(before), "+m"(*word) : : "cc");
	return before;
#else
	return __atomic_fetch_add(word, UINT64_C(1), __ATOMIC_RELAXED);
#endif
}

#if defined(__x86_64__)
struct txtrace_time_ {
	uint64_t seconds;
	uint64_t ns;
};

/* clock_gettime(), under a name of our own: this header needs none of the C library's. */
extern __attribute__((nothrow)) int txtrace_clock_(int clock,
						   struct txtrace_time_ *time) __asm__("clock_gettime");
#endif

/*
 * A number that differs from what an object got that was here before. It does
 * not come from the time stamp counter: reading that kills a program in
 * seccomp's strict mode, and so does a system call. The coarse clock
 * (CLOCK_MONOTONIC_COARSE) needs neither. It is all there is on a CPU without
 * RDRAND (before 2012): two objects that are loaded to the same address within
 * one of its ticks, a few milliseconds, get the same number there.
 */
TXTRACE_INLINE_ uint64_t txtrace_salt_(void)
{
	uint64_t salt = 0;

#if defined(__x86_64__)
	uint32_t eax = 1, ebx, ecx = 0, edx;
	struct txtrace_time_ now;

	__asm__ volatile("cpuid" : "+a"(eax), "=b"(ebx), "+c"(ecx), "=d"(edx));
	if (ecx & (UINT32_C(1) << 30)) /* it has RDRAND, which gives 0 when it fails */
		__asm__ volatile("rdrand %0" : "=r"(salt) : : "cc");
	if (txtrace_clock_(6, &now) == 0)
		salt ^= now.seconds * UINT64_C(1000000000) + now.ns;
#else
	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(salt));
#endif
	return salt;
}

/* Spreads each bit over all of them and loses none (the finaliser of splitmix64). */
TXTRACE_INLINE_ uint64_t txtrace_mix_(uint64_t x)
{
	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

/* Functions of which each object file has one copy. */
#define TXTRACE_DECLARE_(function) extern __attribute__((visibility("hidden"), nothrow)) function

TXTRACE_DECLARE_(uint64_t txtrace_take_block_(uint64_t *blocks));

#define TXTRACE_ID_BLOCK_ UINT64_C(4096)

/*
 * Takes a block of ids: 4096 from the result on. *blocks, the first id of the
 * next block, advances by twice as much: only numbers in which the bit
 * TXTRACE_ID_BLOCK_ is set are ids. It starts from a hash of its address and of
 * a salt, so that objects that know nothing of each other do not meet; below
 * 2^63, so that it never comes to 0, which is "not started".
 */
TXTRACE_ONE_PER_OBJECT_ __attribute__((cold)) uint64_t txtrace_take_block_(uint64_t *blocks)
{
	uint64_t unset = 0;

	if (__atomic_load_n(blocks, __ATOMIC_RELAXED) == unset) {
		const uint64_t hash = txtrace_mix_(txtrace_mix_(TXTRACE_ADDRESS_(blocks)) ^
						   txtrace_mix_(txtrace_salt_())) >>
				      1;
		const uint64_t first = (hash & ~(2 * TXTRACE_ID_BLOCK_ - 1)) | TXTRACE_ID_BLOCK_;

		/* If another thread was quicker, it has started. */
		(void)__atomic_compare_exchange_n(blocks, &unset, first, 0, __ATOMIC_RELAXED,
						  __ATOMIC_RELAXED);
	}
	return __atomic_fetch_add(blocks, 2 * TXTRACE_ID_BLOCK_, __ATOMIC_RELAXED);
}

/*
 * The ring: memory that this process shares with a recorder.
 *
 * Each object file has a pool, made when a recorder asks for it. A thread gets
 * a lane in it, and writes what it marks into the lane's slots, then into one
 * chunk of slots after the other. The recorder reads the same memory, and gives
 * chunks back. A mark takes a slot by adding 1 to the lane's position, reads the
 * time, writes the slot, and last its `commit`: a slot without one is not there
 * yet. So a signal handler may come between any two instructions, and mark; a
 * thread that is killed or jumps away there leaves a slot empty. Nothing waits:
 * where there is no room, what is marked is counted as lost.
 *
 * Until the recorder has accepted the pool, what is marked goes to the probe
 * `ring`. The recorder learns of the pool and of each lane by that probe, too.
 * It trusts nothing that it finds there.
 *
 * The order of stores. On x86-64 they become visible in the order of the
 * program, and an `xadd` of its own is whole for the thread's signal handlers.
 * On aarch64 `commit` is stored with release and read with acquire; `isb` keeps
 * the counter from being read before the slot is taken.
 *
 * dlclose: a shared library gives its pool back when it is unloaded.
 *
 * fork: a child does not have its parent's pool (MADV_DONTFORK), and knows so,
 * as its guard is all zeros (MADV_WIPEONFORK). A child of vfork, which shares
 * everything, marks as its parent.
 *
 * Limits. Threads that share their thread-local storage (clone without
 * CLONE_SETTLS) disturb each other's marks. A process that may not read the time
 * stamp counter, or make memory (strict seccomp mode, PR_SET_TSC), dies at a
 * mark in the ring.
 */
enum txtrace_mark_kind_ {
	TXTRACE_MARK_BEGIN_ = 1,
	TXTRACE_MARK_BEGIN_DETACHED_ = 2,
	TXTRACE_MARK_ENTER_ = 3,
	TXTRACE_MARK_EXIT_ = 4,
	TXTRACE_MARK_END_ = 5,
	TXTRACE_MARK_EVENT_ = 8,
	TXTRACE_MARK_COUNTER_ = 9,
	TXTRACE_MARK_LINK_ = 10,
	TXTRACE_MARK_ATTR_ = 16, /* + enum txtrace_attr_type_, but for strings */
	/* these have a text: instead of a value its address */
	TXTRACE_MARK_ATTR_BYTES_ = 87,
	TXTRACE_MARK_TAG_ = 88,
	TXTRACE_MARK_ATTR_STRING_ = 89,
	TXTRACE_MARK_KEY_BEGIN_ = 90,
	TXTRACE_MARK_KEY_ENTER_ = 91,
	TXTRACE_MARK_KEY_EXIT_ = 92,
	TXTRACE_MARK_KEY_END_ = 93,
	TXTRACE_MARK_KEY_EVENT_ = 94,
	TXTRACE_MARK_PIECE_ = 95, /* 24 bytes of the text of the mark that follows */
	/* of the probe `ring` alone: value is the address of the pool, stamp the lane's place in it */
	TXTRACE_MARK_POOL_ = 96,
	TXTRACE_MARK_LANE_ = 97,
	TXTRACE_MARK_FILLING_ = 98, /* the recorder is to read at once */
	TXTRACE_MARK_GONE_ = 99     /* the object is unloaded: nothing is marked in the pool any more */
};

#define TXTRACE_NO_NAME_ TXTRACE_CAST_(const char *, 0)
#define TXTRACE_ATTR_MARK_(type) (UINT64_C(16) + (type)) /* TXTRACE_MARK_ATTR_ is of another enum */
#define TXTRACE_HAS_TEXT_(kind) (((kind) & 64) != 0)

#define TXTRACE_POOL_MAGIC_ UINT64_C(0x6c6f6f705f787474) /* "ttx_pool" */
#define TXTRACE_POOL_VERSION_ 1
#define TXTRACE_POOL_BYTES_ (UINT64_C(16) << 20)
#define TXTRACE_CHUNK_BYTES_ UINT64_C(4096)
#define TXTRACE_CHUNK_SLOTS_ UINT64_C(128)
#define TXTRACE_CHUNK_COUNT_ (TXTRACE_POOL_BYTES_ / TXTRACE_CHUNK_BYTES_)
#define TXTRACE_PLACE_BYTES_ UINT64_C(256) /* places are counted in these */
#define TXTRACE_LANE_SLOTS_ 3

struct txtrace_slot_ {
	uint64_t id;
	uint64_t name;   /* label, name: an address */
	uint64_t value;  /* parent, value, `to`; of a text: length << 32 | number */
	/*
	 * kind << 56 | the lowest 56 bits of the time stamp counter; PIECE: kind << 56 | number << 32 | which
	 * piece. The number is the same for all that belong together.
	 */
	uint64_t commit;
};

/*
 * position: turn << 44 | end << 24 | how many slots are taken. `end` is the
 * place behind the slots that it is about: a chunk's 128, or the lane's own 3,
 * of which the first 125 are said to be taken from the start. `turn` counts the
 * changes from one to the next. Only its thread writes it, but for a recorder
 * that takes over from another one: it says that all slots are taken.
 */
struct txtrace_lane_ {
	uint64_t position;
	uint32_t next_free;   /* a place: in the list of free lanes */
	uint32_t is_known;    /* the recorder's: it knows which thread has it */
	uint32_t lost[32];    /* by the lowest 5 bits of the kind: there was no room */
	uint32_t is_over;     /* the recorder's, too */
	uint32_t reserved[3];
	struct txtrace_slot_ slots[TXTRACE_LANE_SLOTS_];
};

#define TXTRACE_POSITION_(turn, end, used) \
	(((TXTRACE_CAST_(uint64_t, turn) & 0xfffff) << 44) | (TXTRACE_CAST_(uint64_t, end) << 24) | (used))
#define TXTRACE_USED_(position) ((position) & 0xffffff)
#define TXTRACE_END_PLACE_(position) (((position) >> 24) & 0xfffff)
#define TXTRACE_TURN_(position) ((position) >> 44)

/* What a chunk is; the recorder may say otherwise of one that it does not read any more. */
#define TXTRACE_CHUNK_FREE_ UINT64_C(0)       /* | the next free one; 0: the last */
#define TXTRACE_CHUNK_LANES_ (UINT64_C(1) << 62) /* 16 lanes */
#define TXTRACE_CHUNK_SLOTS_OF_ (UINT64_C(1) << 63) /* | turn << 32 | place of the lane */

struct txtrace_pool_ {
	uint64_t magic;
	uint32_t version;
	uint32_t accepted;    /* the recorder's: marks may be written; 0: they go through the probe `ring` */
	uint64_t bytes;
	uint64_t free_chunks; /* changes << 32 | the first free one; 0: none */
	uint64_t free_lanes;  /* changes << 32 | the place of the first free one; 0: none */
	uint32_t chunk_cnt;   /* the first that was never used: those behind it are as they were mapped */
	uint32_t taken_cnt;   /* chunks of slots that were ever taken, and given back */
	uint32_t given_cnt;
	uint32_t padding[3];
	uint64_t chunks[TXTRACE_CHUNK_COUNT_];
};

/* The chunks that the pool's own head takes. */
#define TXTRACE_HEAD_CHUNKS_ \
	((sizeof(struct txtrace_pool_) + TXTRACE_CHUNK_BYTES_ - 1) / TXTRACE_CHUNK_BYTES_)

TXTRACE_STATIC_ASSERT_(sizeof(struct txtrace_slot_) == 32, "slots lie next to each other");
TXTRACE_STATIC_ASSERT_(sizeof(struct txtrace_lane_) == TXTRACE_PLACE_BYTES_, "a lane fills a place");

/* Of one object file in one process: in memory that is all zeros in a child of fork(). */
struct txtrace_guard_ {
	uint64_t serial;            /* of the pool, never used before; 0: there is none */
	uint32_t state;
	uint32_t asked_cnt; /* how often a mark found the pool not accepted */
	struct txtrace_pool_ *pool;
};

enum txtrace_guard_state_ {
	TXTRACE_GUARD_NEW_ = 0,
	TXTRACE_GUARD_MET_ = 1, /* a mark has been here */
	TXTRACE_GUARD_MAKING_ = 2,
	TXTRACE_GUARD_MADE_ = 3,
	TXTRACE_GUARD_FAILED_ = 4
};

/* Of one object file and thread. */
struct txtrace_thread_ {
	uint64_t next;			    /* id */
	uint64_t serial;		    /* of the pool in which the lane is */
	const struct txtrace_guard_ *guard; /* NULL: it has no lane */
	struct txtrace_lane_ *lane;
	struct txtrace_pool_ *pool;
};

TXTRACE_INLINE_ uint64_t txtrace_count_now_(void)
{
#if defined(__x86_64__)
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high) : : "memory");
	return TXTRACE_CAST_(uint64_t, high) << 32 | low;
#else
	uint64_t time;

	/* without isb, the counter may be read before the slot is taken */
	__asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(time) : : "memory");
	return time;
#endif
}

/* System calls that leave errno alone. Below 0: a negative errno. */
TXTRACE_INLINE_ int64_t txtrace_map_(uint64_t address, uint64_t length, uint64_t flags)
{
#if defined(__x86_64__)
	int64_t result = 9;
	register uint64_t r10 __asm__("r10") = flags;
	register int64_t r8 __asm__("r8") = -1;
	register uint64_t r9 __asm__("r9") = 0;

	__asm__ volatile("syscall"
			 : "+a"(result)
			 : "D"(address), "S"(length), "d"(UINT64_C(3)), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
#else
	register int64_t x0 __asm__("x0") = TXTRACE_CAST_(int64_t, address);
	register uint64_t x1 __asm__("x1") = length;
	register uint64_t x2 __asm__("x2") = 3;
	register uint64_t x3 __asm__("x3") = flags;
	register int64_t x4 __asm__("x4") = -1;
	register uint64_t x5 __asm__("x5") = 0;
	register uint64_t x8 __asm__("x8") = 222;

	__asm__ volatile("svc 0"
			 : "+r"(x0)
			 : "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5), "r"(x8)
			 : "memory");
	return x0;
#endif
}

#define TXTRACE_MAP_SHARED_ UINT64_C(0x4021)  /* MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE */
#define TXTRACE_MAP_PRIVATE_ UINT64_C(0x4022) /* MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE */
#define TXTRACE_MAP_OVER_ UINT64_C(0x4032)    /* MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS | MAP_NORESERVE */

/* madvise(); with UINT64_MAX as the advice, munmap(). */
TXTRACE_INLINE_ int64_t txtrace_advise_(uint64_t address, uint64_t length, uint64_t advice)
{
#if defined(__x86_64__)
	int64_t result = advice == UINT64_MAX ? 11 : 28;

	__asm__ volatile("syscall"
			 : "+a"(result)
			 : "D"(address), "S"(length), "d"(advice)
			 : "rcx", "r11", "memory");
	return result;
#else
	register uint64_t x0 __asm__("x0") = address;
	register uint64_t x1 __asm__("x1") = length;
	register uint64_t x2 __asm__("x2") = advice;
	register uint64_t x8 __asm__("x8") = advice == UINT64_MAX ? 215 : 233;

	__asm__ volatile("svc 0" : "+r"(x0) : "r"(x1), "r"(x2), "r"(x8) : "memory");
	return TXTRACE_CAST_(int64_t, x0);
#endif
}

#define TXTRACE_UNMAP_ UINT64_MAX
#define TXTRACE_DONT_NEED_ UINT64_C(4)
#define TXTRACE_DONT_FORK_ UINT64_C(10)
#define TXTRACE_WIPE_ON_FORK_ UINT64_C(18)
#define TXTRACE_GUARD_BYTES_ UINT64_C(65536) /* a page, however large they are */

/* Memory of these flags, with this advice; 0: there is none. */
TXTRACE_INLINE_ uint64_t txtrace_new_memory_(uint64_t length, uint64_t flags, uint64_t advice)
{
	const int64_t address = txtrace_map_(0, length, flags);

	if (address < 0 && address > -4096)
		return 0;
	if (txtrace_advise_(TXTRACE_CAST_(uint64_t, address), length, advice) == 0)
		return TXTRACE_CAST_(uint64_t, address);
	(void)txtrace_advise_(TXTRACE_CAST_(uint64_t, address), length, TXTRACE_UNMAP_);
	return 0;
}

#if defined(__cplusplus)
#define TXTRACE_AT_(type, address) reinterpret_cast<type *>(address)
#else
#define TXTRACE_AT_(type, address) ((type *)(address))
#endif

TXTRACE_INLINE_ struct txtrace_lane_ *txtrace_lane_at_(struct txtrace_pool_ *pool, uint64_t place)
{
	return TXTRACE_AT_(struct txtrace_lane_, TXTRACE_ADDRESS_(pool) + place * TXTRACE_PLACE_BYTES_);
}

/* The lists of free chunks and lanes: the number in their upper half changes whenever they do. */
#define TXTRACE_NEXT_HEAD_(head, first) ((((head) >> 32) + 1) << 32 | TXTRACE_CAST_(uint32_t, first))

/* A chunk that nobody uses; 0: there is none. */
TXTRACE_INLINE_ uint64_t txtrace_take_chunk_(struct txtrace_pool_ *pool)
{
	uint64_t head = __atomic_load_n(&pool->free_chunks, __ATOMIC_ACQUIRE);
	uint32_t cnt = __atomic_load_n(&pool->chunk_cnt, __ATOMIC_RELAXED);

	while (TXTRACE_CAST_(uint32_t, head) != 0 && TXTRACE_CAST_(uint32_t, head) < TXTRACE_CHUNK_COUNT_) {
		const uint64_t chunk = TXTRACE_CAST_(uint32_t, head);
		const uint64_t next = __atomic_load_n(&pool->chunks[chunk], __ATOMIC_RELAXED);

		if (__atomic_compare_exchange_n(&pool->free_chunks, &head, TXTRACE_NEXT_HEAD_(head, next), 0,
						__ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE))
			return chunk;
	}
	while (cnt < TXTRACE_CHUNK_COUNT_)
		if (__atomic_compare_exchange_n(&pool->chunk_cnt, &cnt, cnt + 1, 0, __ATOMIC_RELAXED,
						__ATOMIC_RELAXED))
			return cnt;
	return 0;
}

TXTRACE_INLINE_ void txtrace_give_chunk_(struct txtrace_pool_ *pool, uint64_t chunk)
{
	uint64_t head = __atomic_load_n(&pool->free_chunks, __ATOMIC_RELAXED);

	do
		__atomic_store_n(&pool->chunks[chunk], TXTRACE_CHUNK_FREE_ | TXTRACE_CAST_(uint32_t, head),
				 __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&pool->free_chunks, &head, TXTRACE_NEXT_HEAD_(head, chunk), 0,
					    __ATOMIC_RELEASE, __ATOMIC_RELAXED));
}

TXTRACE_INLINE_ void txtrace_give_lane_(struct txtrace_pool_ *pool, uint64_t place)
{
	uint64_t head = __atomic_load_n(&pool->free_lanes, __ATOMIC_RELAXED);

	do
		__atomic_store_n(&txtrace_lane_at_(pool, place)->next_free, TXTRACE_CAST_(uint32_t, head),
				 __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&pool->free_lanes, &head, TXTRACE_NEXT_HEAD_(head, place), 0,
					    __ATOMIC_RELEASE, __ATOMIC_RELAXED));
}

/* The place of a lane that nobody has; 0: there is none. */
TXTRACE_INLINE_ uint64_t txtrace_take_lane_(struct txtrace_pool_ *pool)
{
	const uint64_t places = TXTRACE_CHUNK_BYTES_ / TXTRACE_PLACE_BYTES_;
	uint64_t head = __atomic_load_n(&pool->free_lanes, __ATOMIC_ACQUIRE), chunk, i;

	while (TXTRACE_CAST_(uint32_t, head) != 0 &&
	       TXTRACE_CAST_(uint32_t, head) < TXTRACE_CHUNK_COUNT_ * places) {
		const uint64_t place = TXTRACE_CAST_(uint32_t, head);
		const uint32_t next = __atomic_load_n(&txtrace_lane_at_(pool, place)->next_free,
						      __ATOMIC_RELAXED);

		if (__atomic_compare_exchange_n(&pool->free_lanes, &head, TXTRACE_NEXT_HEAD_(head, next), 0,
						__ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE))
			return place;
	}
	chunk = txtrace_take_chunk_(pool);
	if (chunk == 0)
		return 0;
	__atomic_store_n(&pool->chunks[chunk], TXTRACE_CHUNK_LANES_, __ATOMIC_RELEASE);
	for (i = 1; i < places; i++)
		txtrace_give_lane_(pool, chunk * places + i);
	return chunk * places;
}

/* What tells the recorder of the pool may have been lost, so it is said again and again. */
TXTRACE_INLINE_ void txtrace_ask_(struct txtrace_guard_ *guard)
{
	if (__atomic_fetch_add(&guard->asked_cnt, 1, __ATOMIC_RELAXED) % 256 == 0)
		txtrace_site_ring(TXTRACE_MARK_POOL_, 0, TXTRACE_NO_NAME_, TXTRACE_ADDRESS_(guard->pool), 0);
}

enum txtrace_room_ {
	TXTRACE_ROOM_MADE_,   /* look again */
	TXTRACE_ROOM_NONE_,   /* what is marked now is lost */
	TXTRACE_ROOM_NOWHERE_ /* there is no ring: the probe tells it */
};

/* So many more chunks that wait to be read are told each time. */
#define TXTRACE_TOLD_CHUNKS_ UINT32_C(128)

TXTRACE_INLINE_ void txtrace_count_chunk_(struct txtrace_pool_ *pool)
{
	const uint32_t taken = __atomic_add_fetch(&pool->taken_cnt, 1, __ATOMIC_RELAXED);

	if ((taken - __atomic_load_n(&pool->given_cnt, __ATOMIC_RELAXED)) % TXTRACE_TOLD_CHUNKS_ == 0)
		txtrace_site_ring(TXTRACE_MARK_FILLING_, 0, TXTRACE_NO_NAME_, TXTRACE_ADDRESS_(pool), 0);
}

/* All slots are taken: another chunk. */
TXTRACE_INLINE_ enum txtrace_room_ txtrace_next_chunk_(const struct txtrace_thread_ *thread,
						       struct txtrace_guard_ *guard)
{
	struct txtrace_pool_ *pool = thread->pool;
	struct txtrace_lane_ *lane = thread->lane;
	const uint64_t place = (TXTRACE_ADDRESS_(lane) - TXTRACE_ADDRESS_(pool)) / TXTRACE_PLACE_BYTES_;
	const uint32_t accepted = __atomic_load_n(&pool->accepted, __ATOMIC_RELAXED);
	uint64_t old = __atomic_load_n(&lane->position, __ATOMIC_RELAXED), turn, chunk;

	/* a signal handler was here first */
	if (TXTRACE_USED_(old) < TXTRACE_CHUNK_SLOTS_)
		return TXTRACE_ROOM_MADE_;
	turn = TXTRACE_TURN_(old) + 1;
	chunk = accepted != 0 ? txtrace_take_chunk_(pool) : 0;
	if (chunk == 0) {
		/* the count of those that found no room must not grow into what is above it */
		(void)__atomic_compare_exchange_n(&lane->position, &old,
						  (old & ~UINT64_C(0xffffff)) | TXTRACE_CHUNK_SLOTS_, 0,
						  __ATOMIC_RELAXED, __ATOMIC_RELAXED);
		if (accepted != 0)
			return TXTRACE_ROOM_NONE_;
		txtrace_ask_(guard);
		return TXTRACE_ROOM_NOWHERE_;
	}
	__atomic_store_n(&pool->chunks[chunk], TXTRACE_CHUNK_SLOTS_OF_ | (turn & 0xfffff) << 32 | place,
			 __ATOMIC_RELEASE);
	do {
		if (TXTRACE_USED_(old) < TXTRACE_CHUNK_SLOTS_ ||
		    (TXTRACE_TURN_(old) + 1 - turn) % 0x100000 != 0) {
			/* likewise */
			txtrace_give_chunk_(pool, chunk);
			return TXTRACE_ROOM_MADE_;
		}
	} while (!__atomic_compare_exchange_n(
		&lane->position, &old,
		TXTRACE_POSITION_(turn, (chunk + 1) * (TXTRACE_CHUNK_BYTES_ / TXTRACE_PLACE_BYTES_), 0), 0,
		__ATOMIC_RELEASE, __ATOMIC_RELAXED));
	txtrace_count_chunk_(pool);
	if (__atomic_load_n(&lane->is_known, __ATOMIC_RELAXED) == 0)
		txtrace_site_ring(TXTRACE_MARK_LANE_, 0, TXTRACE_NO_NAME_, TXTRACE_ADDRESS_(pool), place);
	return TXTRACE_ROOM_MADE_;
}

/* The thread has no lane: it gets one, if the pool is there and accepted. */
TXTRACE_INLINE_ enum txtrace_room_ txtrace_new_lane_(struct txtrace_thread_ *thread,
						     struct txtrace_guard_ *guard)
{
	struct txtrace_pool_ *pool = guard->pool;
	struct txtrace_lane_ *lane;
	uint64_t place;

	if (__atomic_load_n(&pool->accepted, __ATOMIC_RELAXED) == 0) {
		txtrace_ask_(guard);
		return TXTRACE_ROOM_NOWHERE_;
	}
	place = txtrace_take_lane_(pool);
	if (place == 0)
		return TXTRACE_ROOM_NOWHERE_;
	lane = txtrace_lane_at_(pool, place);
	__atomic_store_n(&lane->position,
			 TXTRACE_POSITION_(0, place + 1, TXTRACE_CHUNK_SLOTS_ - TXTRACE_LANE_SLOTS_),
			 __ATOMIC_RELEASE);
	/* a signal handler may have got one meanwhile: then it is marked in that, and this one stays empty */
	if (thread->guard == guard && thread->serial == guard->serial) {
		txtrace_give_lane_(pool, place);
		return TXTRACE_ROOM_MADE_;
	}
	thread->lane = lane;
	thread->pool = pool;
	__atomic_store_n(&thread->serial, guard->serial, __ATOMIC_RELAXED);
	__asm__ volatile("" : : : "memory");
	thread->guard = guard;
	txtrace_site_ring(TXTRACE_MARK_LANE_, 0, TXTRACE_NO_NAME_, TXTRACE_ADDRESS_(pool), place);
	return TXTRACE_ROOM_MADE_;
}

/* Makes the pool. Who comes while another one does goes on without. */
TXTRACE_INLINE_ void txtrace_make_pool_(struct txtrace_guard_ *guard)
{
	const uint64_t address = txtrace_new_memory_(TXTRACE_POOL_BYTES_, TXTRACE_MAP_SHARED_,
						     TXTRACE_DONT_FORK_);
	struct txtrace_pool_ *pool = TXTRACE_AT_(struct txtrace_pool_, address);

	if (address == 0) {
		__atomic_store_n(&guard->state, TXTRACE_GUARD_FAILED_, __ATOMIC_RELAXED);
		return;
	}
	pool->version = TXTRACE_POOL_VERSION_;
	pool->bytes = TXTRACE_POOL_BYTES_;
	pool->chunk_cnt = TXTRACE_HEAD_CHUNKS_;
	__atomic_store_n(&pool->magic, TXTRACE_POOL_MAGIC_, __ATOMIC_RELEASE);
	guard->pool = pool;
	/* a child has another one than its parent, at whose address it may be: it is made later */
	guard->serial = txtrace_count_now_() | 1;
	__atomic_store_n(&guard->state, TXTRACE_GUARD_MADE_, __ATOMIC_RELEASE);
}

/* What this object file has of it; NO_OBJECT if there is no memory for it, or it is unloaded. */
extern __attribute__((visibility("hidden"))) struct txtrace_guard_ *txtrace_object_;
__attribute__((weak, visibility("hidden"))) struct txtrace_guard_ *txtrace_object_;

#define TXTRACE_NO_OBJECT_ TXTRACE_AT_(struct txtrace_guard_, 1)

#if defined(__PIC__) && !defined(__PIE__)
TXTRACE_ASM_ONCE_("txtrace_closing",
	".pushsection .fini_array,\"awG\",%fini_array,txtrace_closing,comdat\n"
	".balign 8\n"
	TXTRACE_ASM_SYMBOL_("txtrace_closing", "object", ".8byte txtrace_close_\n")
	".popsection\n");

TXTRACE_DECLARE_(void txtrace_close_(void));

/*
 * A shared library is unloaded, or the process exits. The memory goes back, but
 * not its addresses: as the process exits, other threads may still mark. What
 * they mark from now on goes to the probe.
 */
TXTRACE_ONE_PER_OBJECT_ __attribute__((cold, used)) void txtrace_close_(void)
{
	struct txtrace_guard_ *guard = __atomic_exchange_n(&txtrace_object_, TXTRACE_NO_OBJECT_,
							   __ATOMIC_ACQ_REL);
	uint64_t pool;

	if (TXTRACE_ADDRESS_(guard) <= 1)
		return;
	pool = __atomic_load_n(&guard->state, __ATOMIC_ACQUIRE) == TXTRACE_GUARD_MADE_ ?
		       TXTRACE_ADDRESS_(guard->pool) : 0;
	/* all zeros: no thread has a lane any more */
	(void)txtrace_advise_(TXTRACE_ADDRESS_(guard), TXTRACE_GUARD_BYTES_, TXTRACE_DONT_NEED_);
	if (pool == 0)
		return;
	if (__atomic_load_n(&txtrace_switches, __ATOMIC_RELAXED) >= TXTRACE_RING_SWITCH_)
		txtrace_site_ring(TXTRACE_MARK_GONE_, 0, TXTRACE_NO_NAME_, pool, 0);
	(void)txtrace_map_(pool, TXTRACE_POOL_BYTES_, TXTRACE_MAP_OVER_);
}
#endif

/*
 * There is no slot for what is marked now. The first mark of a process goes
 * through the probe, so that in a child that nobody follows the kernel takes the
 * probe away, before any memory is made.
 */
TXTRACE_DECLARE_(enum txtrace_room_ txtrace_make_room_(struct txtrace_thread_ *thread));

TXTRACE_ONE_PER_OBJECT_ __attribute__((cold)) enum txtrace_room_ txtrace_make_room_(
	struct txtrace_thread_ *thread)
{
	struct txtrace_guard_ *guard = __atomic_load_n(&txtrace_object_, __ATOMIC_ACQUIRE), *none = guard;
	uint32_t state = TXTRACE_GUARD_NEW_;

	if (thread->guard && __atomic_load_n(&thread->guard->serial, __ATOMIC_RELAXED) == thread->serial)
		return txtrace_next_chunk_(thread, guard);
	if (guard == TXTRACE_NO_OBJECT_)
		return TXTRACE_ROOM_NOWHERE_;
	if (TXTRACE_ADDRESS_(guard) == 0) {
		const uint64_t memory = txtrace_new_memory_(TXTRACE_GUARD_BYTES_, TXTRACE_MAP_PRIVATE_,
							    TXTRACE_WIPE_ON_FORK_);

		if (memory == 0) {
			/* no further mark tries */
			(void)__atomic_compare_exchange_n(&txtrace_object_, &none, TXTRACE_NO_OBJECT_, 0,
							  __ATOMIC_RELAXED, __ATOMIC_RELAXED);
			return TXTRACE_ROOM_NOWHERE_;
		}
		guard = TXTRACE_AT_(struct txtrace_guard_, memory);
		if (!__atomic_compare_exchange_n(&txtrace_object_, &none, guard, 0, __ATOMIC_ACQ_REL,
						 __ATOMIC_ACQUIRE)) {
			(void)txtrace_advise_(TXTRACE_ADDRESS_(guard), TXTRACE_GUARD_BYTES_, TXTRACE_UNMAP_);
			return TXTRACE_ROOM_NOWHERE_;
		}
	}
	if (__atomic_compare_exchange_n(&guard->state, &state, TXTRACE_GUARD_MET_, 0, __ATOMIC_ACQUIRE,
					__ATOMIC_ACQUIRE))
		return TXTRACE_ROOM_NOWHERE_;
	if (state == TXTRACE_GUARD_MET_ &&
	    __atomic_compare_exchange_n(&guard->state, &state, TXTRACE_GUARD_MAKING_, 0, __ATOMIC_ACQUIRE,
					__ATOMIC_ACQUIRE)) {
		txtrace_make_pool_(guard);
		state = __atomic_load_n(&guard->state, __ATOMIC_ACQUIRE);
	}
	return state == TXTRACE_GUARD_MADE_ ? txtrace_new_lane_(thread, guard) : TXTRACE_ROOM_NOWHERE_;
}

/* The tracer reads both at the probe: where the bytes are, and the bytes. */
TXTRACE_INLINE_ void txtrace_tell_bytes_(uint64_t id, const char *name, const void *data, uint64_t size)
{
	const struct txtrace_piece bytes = { data, size };

	__asm__ volatile("" : : "r"(&bytes) : "memory");
	txtrace_site_attr(id, name, TXTRACE_ATTR_BYTES_, TXTRACE_ADDRESS_(&bytes));
}

/* Somebody else traces, too: what is marked goes to the probe that is made for it. */
TXTRACE_DECLARE_(void txtrace_tell_(uint64_t kind, uint64_t id, const char *name, uint64_t value,
				    uint64_t stamp));

TXTRACE_ONE_PER_OBJECT_ __attribute__((cold)) void txtrace_tell_(uint64_t kind, uint64_t id, const char *name,
								 uint64_t value, uint64_t stamp)
{
	const void *text = TXTRACE_AT_(const void, value);
	const uint64_t length = stamp >> 32;

	switch (kind) {
	case TXTRACE_MARK_BEGIN_:
		txtrace_site_begin(id, name, value);
		break;
	case TXTRACE_MARK_BEGIN_DETACHED_:
		txtrace_site_begin_detached(id, name, value);
		break;
	case TXTRACE_MARK_ENTER_:
		txtrace_site_enter(id);
		break;
	case TXTRACE_MARK_EXIT_:
		txtrace_site_exit(id);
		break;
	case TXTRACE_MARK_END_:
		txtrace_site_end(id);
		break;
	case TXTRACE_MARK_EVENT_:
		txtrace_site_event(id, name);
		break;
	case TXTRACE_MARK_COUNTER_:
		txtrace_site_counter(name, TXTRACE_CAST_(int64_t, value));
		break;
	case TXTRACE_MARK_LINK_:
		txtrace_site_link(id, value, name);
		break;
	case TXTRACE_MARK_TAG_:
		txtrace_site_tag(id, TXTRACE_AT_(const char, value));
		break;
	case TXTRACE_MARK_ATTR_STRING_:
		txtrace_site_attr(id, name, TXTRACE_ATTR_STRING_, value);
		break;
	case TXTRACE_MARK_ATTR_BYTES_:
		txtrace_tell_bytes_(id, name, text, length);
		break;
	case TXTRACE_MARK_KEY_BEGIN_:
		txtrace_site_key_begin(name, text, length);
		break;
	case TXTRACE_MARK_KEY_ENTER_:
		txtrace_site_key_enter(text, length);
		break;
	case TXTRACE_MARK_KEY_EXIT_:
		txtrace_site_key_exit(text, length);
		break;
	case TXTRACE_MARK_KEY_END_:
		txtrace_site_key_end(text, length);
		break;
	case TXTRACE_MARK_KEY_EVENT_:
		txtrace_site_key_event(text, length, name);
		break;
	default:
		txtrace_site_attr(id, name, kind - TXTRACE_MARK_ATTR_, value);
		break;
	}
}

/* A slot of the thread's lane, taken for what is marked now; NULL: there is none. */
TXTRACE_INLINE_ struct txtrace_slot_ *txtrace_take_slot_(const struct txtrace_thread_ *thread)
{
	const struct txtrace_guard_ *guard = thread->guard;
	uint64_t position, end;

	if (TXTRACE_UNLIKELY_(!guard ||
			      __atomic_load_n(&guard->serial, __ATOMIC_RELAXED) != thread->serial))
		return TXTRACE_AT_(struct txtrace_slot_, 0);
	position = txtrace_count_up_(&thread->lane->position);
	if (TXTRACE_UNLIKELY_(TXTRACE_USED_(position) >= TXTRACE_CHUNK_SLOTS_))
		return TXTRACE_AT_(struct txtrace_slot_, 0);
	end = TXTRACE_ADDRESS_(thread->pool) + TXTRACE_END_PLACE_(position) * TXTRACE_PLACE_BYTES_;
	return TXTRACE_AT_(struct txtrace_slot_, end) - TXTRACE_CHUNK_SLOTS_ + TXTRACE_USED_(position);
}

/* The time is read once the slot is taken, and the slot is there once its commit is. */
TXTRACE_INLINE_ void txtrace_fill_(struct txtrace_slot_ *slot, uint64_t kind, uint64_t id, const char *name,
				   uint64_t value, uint64_t stamp)
{
	uint64_t time = txtrace_count_now_() & ((UINT64_C(1) << 56) - 1);

	if (TXTRACE_UNLIKELY_(TXTRACE_HAS_TEXT_(kind))) {
		if (kind == TXTRACE_MARK_PIECE_)
			time = stamp;
		else
			value = stamp;
	}
	slot->id = id;
	slot->name = TXTRACE_ADDRESS_(name);
	slot->value = value;
	__atomic_store_n(&slot->commit, kind << 56 | time, __ATOMIC_RELEASE);
}

#define TXTRACE_NO_RING_ UINT64_C(2)

/*
 * What every macro calls while somebody traces. Returns the id of a span that
 * begins; for other kinds, whether it is in the ring (PIECE: TXTRACE_NO_RING_ if
 * there is none). `name` is a label or name. `value` is the parent, the value,
 * or the address of a text; then `stamp` is its length << 32 | the number that
 * its pieces have. PIECE: its three words, and as the stamp its commit without
 * the kind.
 *
 * Of ids: `next` is this thread's next one; if it lacks the bit
 * TXTRACE_ID_BLOCK_, the thread has no block (any more). A signal handler that
 * comes between two steps finds either an id that nobody has had, or no block,
 * and takes one itself; the rest of that block is skipped when the interrupted
 * step stores its own. No id is given twice.
 *
 * Never inlined, so that a coroutine that has moved to another thread does not
 * go on with what belongs to the first one. Limit: in a dlopened object, a
 * thread's first mark may allocate memory, which glibc forbids signal handlers.
 */
TXTRACE_DECLARE_(uint64_t txtrace_mark_(uint64_t kind, uint64_t id, const char *name, uint64_t value,
					uint64_t stamp));

TXTRACE_ONE_PER_OBJECT_ uint64_t txtrace_mark_(uint64_t kind, uint64_t id, const char *name, uint64_t value,
					       uint64_t stamp)
{
	static uint64_t blocks;
	static __thread struct txtrace_thread_ thread;
	const uint32_t switches = __atomic_load_n(&txtrace_switches, __ATOMIC_RELAXED);
	enum txtrace_room_ room = TXTRACE_ROOM_MADE_;
	struct txtrace_slot_ *slot;
	uint64_t result = 0;

	if (kind <= TXTRACE_MARK_BEGIN_DETACHED_) {
		id = txtrace_count_up_(&thread.next);
		if (TXTRACE_UNLIKELY_(!(id & TXTRACE_ID_BLOCK_))) {
			id = txtrace_take_block_(&blocks);
			__atomic_store_n(&thread.next, id + 1, __ATOMIC_RELAXED);
		}
		result = id;
	}
	while (switches >= TXTRACE_RING_SWITCH_ && room == TXTRACE_ROOM_MADE_) {
		slot = txtrace_take_slot_(&thread);
		if (__builtin_expect(TXTRACE_ADDRESS_(slot) != 0, 1)) {
			txtrace_fill_(slot, kind, id, name, value, stamp);
			result = result != 0 ? result : 1;
			break;
		}
		room = txtrace_make_room_(&thread);
	}
	if (TXTRACE_UNLIKELY_(room == TXTRACE_ROOM_NONE_))
		(void)__atomic_fetch_add(&thread.lane->lost[kind & 31], 1, __ATOMIC_RELAXED);
	if (TXTRACE_UNLIKELY_(room == TXTRACE_ROOM_NOWHERE_)) {
		if (kind == TXTRACE_MARK_PIECE_)
			return TXTRACE_NO_RING_;
		txtrace_site_ring(kind, id, name, value, stamp);
	}
	if ((switches & TXTRACE_ALL_SWITCHES_) != 0 && kind != TXTRACE_MARK_PIECE_)
		txtrace_tell_(kind, id, name, value, stamp);
	return result;
}

#define TXTRACE_TEXT_MAX_ UINT64_C(1048576)  /* what is beyond is cut off */
#define TXTRACE_PROBED_MAX_ UINT64_C(512)    /* likewise, where the probe tells it */
#define TXTRACE_KEY_MAX_ UINT64_C(64)
#define TXTRACE_COPIED_MAX_(kind) ((kind) >= TXTRACE_MARK_KEY_BEGIN_ ? TXTRACE_KEY_MAX_ : TXTRACE_TEXT_MAX_)
#define TXTRACE_TO_NUL_ UINT64_C(0xffffffff) /* the length of a text that is a string */
#define TXTRACE_PIECE_BYTES_ UINT64_C(24)
#define TXTRACE_LESS_(a, b) ((a) < (b) ? (a) : (b))

/* A handler that marks another text stands deeper on a stack. */
#define TXTRACE_NUMBER_OF_TEXT_										\
	((TXTRACE_ADDRESS_(TXTRACE_CAST_(char *, __builtin_frame_address(0))) >> 4) & 0xffffff)

/* 24 bytes at most. 0: there was no room for them; TXTRACE_NO_RING_. */
TXTRACE_INLINE_ uint64_t txtrace_put_piece_(const char *bytes, uint64_t size, uint64_t stamp)
{
	uint64_t words[3] = { 0, 0, 0 };

	__builtin_memcpy(words, bytes, size);
	return txtrace_mark_(TXTRACE_MARK_PIECE_, words[0], TXTRACE_AT_(const char, words[1]), words[2],
			     stamp);
}

/* Behind its pieces. Without a ring for them there may be one now: the probe gets the whole text. */
TXTRACE_INLINE_ void txtrace_mark_text_(uint64_t kind, uint64_t id, const char *name, uint64_t text,
					uint64_t stamp, uint64_t in_ring)
{
	if (TXTRACE_UNLIKELY_(in_ring == TXTRACE_NO_RING_)) {
		txtrace_site_ring(kind, id, name, text, stamp);
		if ((__atomic_load_n(&txtrace_switches, __ATOMIC_RELAXED) & TXTRACE_ALL_SWITCHES_) != 0)
			txtrace_tell_(kind, id, name, text, stamp);
		return;
	}
	(void)txtrace_mark_(kind, id, name, text, stamp);
}

TXTRACE_DECLARE_(void txtrace_text_(uint64_t kind, uint64_t id, const char *name, const void *text,
				    uint64_t length));

/*
 * A mark with a text, which is copied before the mark: nobody reads it where
 * there is no ring. A signal handler may come between the pieces and do the
 * same: its pieces have another number.
 */
TXTRACE_ONE_PER_OBJECT_ void txtrace_text_(uint64_t kind, uint64_t id, const char *name, const void *text,
					   uint64_t length)
{
	const uint64_t number = TXTRACE_NUMBER_OF_TEXT_;
	const char *bytes = TXTRACE_AT_(const char, TXTRACE_ADDRESS_(text));
	uint64_t at, copied = 0, piece = 0, in_ring = 1;

	/* nothing lies in the first page: NULL, or a member of it */
	if (__atomic_load_n(&txtrace_switches, __ATOMIC_RELAXED) >= TXTRACE_RING_SWITCH_ &&
	    TXTRACE_ADDRESS_(bytes) >= 4096) {
		__asm__("" : "+r"(bytes)); /* compilers warn of what they think is no string */
		copied = length == TXTRACE_TO_NUL_ ? __builtin_strlen(bytes) : length;
		length = copied < TXTRACE_TO_NUL_ ? copied : TXTRACE_TO_NUL_;
		if (copied > TXTRACE_COPIED_MAX_(kind))
			copied = TXTRACE_COPIED_MAX_(kind);
	}
	for (at = 0; at < copied && in_ring == 1; at += TXTRACE_PIECE_BYTES_)
		in_ring = txtrace_put_piece_(bytes + at, TXTRACE_LESS_(copied - at, TXTRACE_PIECE_BYTES_),
					     number << 32 | piece++);
	txtrace_mark_text_(kind, id, name, TXTRACE_ADDRESS_(text), length << 32 | number, in_ring);
}

/* Of a key only the first 64 bytes count; so it may be as long as it likes. */
TXTRACE_INLINE_ void txtrace_key_(uint64_t kind, const char *name, const void *key, uint64_t length)
{
	txtrace_text_(kind, 0, name, key, TXTRACE_LESS_(length, TXTRACE_TEXT_MAX_));
}

/* One byte more than fits says that there were more. */
TXTRACE_INLINE_ void txtrace_bytes_(uint64_t id, const char *name, const void *data, uint64_t size)
{
	txtrace_text_(TXTRACE_MARK_ATTR_BYTES_, id, name, data, TXTRACE_LESS_(size, TXTRACE_TEXT_MAX_ + 1));
}

TXTRACE_DECLARE_(void txtrace_pieces_(uint64_t kind, uint64_t id, const char *name,
				      const struct txtrace_piece *pieces, uint64_t cnt));

/* As txtrace_text_, for bytes in several places. The probe gets a copy of the first of them. */
TXTRACE_ONE_PER_OBJECT_ void txtrace_pieces_(uint64_t kind, uint64_t id, const char *name,
					     const struct txtrace_piece *pieces, uint64_t cnt)
{
	char first[TXTRACE_PROBED_MAX_ + 1], part[TXTRACE_PIECE_BYTES_];
	const uint64_t number = TXTRACE_NUMBER_OF_TEXT_;
	uint64_t length = 0, used = 0, piece = 0, i, at, size, step;
	uint64_t in_ring = __atomic_load_n(&txtrace_switches, __ATOMIC_RELAXED) >= TXTRACE_RING_SWITCH_;

	for (i = 0; i < cnt; i++) {
		const char *bytes = TXTRACE_AT_(const char, TXTRACE_ADDRESS_(pieces[i].data));

		size = TXTRACE_LESS_(pieces[i].size, TXTRACE_TEXT_MAX_ + 1 - length);
		if (size != 0 && length < TXTRACE_PROBED_MAX_)
			__builtin_memcpy(first + length, bytes,
					 TXTRACE_LESS_(size, TXTRACE_PROBED_MAX_ - length));
		for (at = 0; in_ring == 1 && at < size; at += step) {
			step = TXTRACE_LESS_(size - at, TXTRACE_PIECE_BYTES_ - used);
			__builtin_memcpy(part + used, bytes + at, step);
			used += step;
			if (used == TXTRACE_PIECE_BYTES_) {
				in_ring = txtrace_put_piece_(part, used, number << 32 | piece++);
				used = 0;
			}
		}
		length += size;
	}
	if (in_ring == 1 && used != 0)
		in_ring = txtrace_put_piece_(part, used, number << 32 | piece);
	first[TXTRACE_LESS_(length, TXTRACE_PROBED_MAX_)] = 0;
	txtrace_mark_text_(kind, id, name, TXTRACE_ADDRESS_(first), length << 32 | number, in_ring);
	__asm__ volatile("" : : "r"(first) : "memory"); /* read at the probe */
}

TXTRACE_INLINE_ void txtrace_string_(uint64_t kind, uint64_t id, const char *name, const char *text)
{
	txtrace_text_(kind, id, name, text, TXTRACE_TO_NUL_);
}

TXTRACE_INLINE_ void txtrace_put_hex_(char *digits, uint64_t value)
{
	int i;

	for (i = 15; i >= 0; i--) {
		digits[i] = "0123456789abcdef"[value & 15];
		value >>= 4;
	}
}

struct txtrace_trace_ {
	uint64_t high; /* of its id */
	uint64_t low;
	uint64_t flags;
};

/* 0: it is not valid by W3C's Trace Context, level 2. Reads no further than the byte that shows it. */
TXTRACE_INLINE_ int txtrace_read_traceparent_(const char *header, struct txtrace_trace_ *trace)
{
	uint64_t high = 0, low = 0, digit, version = 0, span = 0;
	int at;

	for (at = 0; at < TXTRACE_TRACEPARENT_SIZE - 1; at++) {
		const char c = header[at];

		if (at == 2 || at == 35 || at == 52) {
			if (c != '-')
				return 0;
			if (at == 2)
				version = low;
			else if (at == 52)
				span = low;
			if (at == 35) {
				trace->high = high;
				trace->low = low;
			}
			high = low = 0;
			continue;
		}
		if (c >= '0' && c <= '9')
			digit = TXTRACE_CAST_(uint64_t, c - '0');
		else if (c >= 'a' && c <= 'f')
			digit = TXTRACE_CAST_(uint64_t, c - 'a' + 10);
		else
			return 0;
		high = high << 4 | low >> 60;
		low = low << 4 | digit;
	}
	trace->flags = low & 3; /* sampled, random: others are not sent on */
	return version != 255 && (trace->high | trace->low) != 0 && span != 0 &&
	       (header[at] == 0 || (version != 0 && header[at] == '-'));
}

TXTRACE_DECLARE_(void txtrace_send_trace_(uint64_t id, char *header));

/*
 * The log gets what is sent on, and so knows the span by the same id as others
 * do. The id of a new trace is only as random as txtrace_salt_(), so the flag
 * "random" stays 0.
 */
TXTRACE_ONE_PER_OBJECT_ __attribute__((cold)) void txtrace_send_trace_(uint64_t id, char *header)
{
	struct txtrace_trace_ trace = { 0, 0, 0 };
	uint64_t own;

	if (!txtrace_read_traceparent_(header, &trace)) {
		trace.high = txtrace_mix_(txtrace_salt_() ^ txtrace_mix_(id));
		trace.low = txtrace_mix_(txtrace_salt_() ^ txtrace_mix_(trace.high)) | 1;
		trace.flags = 1;
	}
	own = txtrace_mix_(trace.high ^ txtrace_mix_(trace.low ^ txtrace_mix_(id)));
	__builtin_memcpy(header, "00-", 3);
	txtrace_put_hex_(header + 3, trace.high);
	txtrace_put_hex_(header + 19, trace.low);
	header[35] = '-';
	txtrace_put_hex_(header + 36, own != 0 ? own : 1);
	__builtin_memcpy(header + 52, "-00", 4);
	header[54] = TXTRACE_CAST_(char, '0' + TXTRACE_CAST_(int, trace.flags));
	txtrace_string_(TXTRACE_MARK_ATTR_STRING_, id, "traceparent.sent", header);
}

/* The parent of a span that has none: no id, and not 0, which says that none was named. */
#define TXTRACE_ROOT_ UINT64_MAX

TXTRACE_INLINE_ uint64_t txtrace_parent_(uint64_t parent)
{
	return parent != 0 ? parent : TXTRACE_ROOT_;
}

TXTRACE_INLINE_ void txtrace_enter_(uint64_t id)
{
	if (TXTRACE_UNLIKELY_(id != 0))
		txtrace_mark_(TXTRACE_MARK_ENTER_, id, TXTRACE_NO_NAME_, 0, 0);
}

TXTRACE_INLINE_ void txtrace_exit_(uint64_t id)
{
	if (TXTRACE_UNLIKELY_(id != 0))
		txtrace_mark_(TXTRACE_MARK_EXIT_, id, TXTRACE_NO_NAME_, 0, 0);
}

TXTRACE_INLINE_ void txtrace_end_(uint64_t id)
{
	if (TXTRACE_UNLIKELY_(id != 0))
		txtrace_mark_(TXTRACE_MARK_END_, id, TXTRACE_NO_NAME_, 0, 0);
}

TXTRACE_INLINE_ void txtrace_event_(uint64_t id, const char *name)
{
	if (TXTRACE_UNLIKELY_(id != 0))
		txtrace_mark_(TXTRACE_MARK_EVENT_, id, name, 0, 0);
}

TXTRACE_INLINE_ uint64_t txtrace_double_bits_(double value)
{
	uint64_t bits;

	__builtin_memcpy(&bits, &value, sizeof(bits));
	return bits;
}

TXTRACE_INLINE_ void txtrace_counter_(const char *name, int64_t value)
{
	txtrace_mark_(TXTRACE_MARK_COUNTER_, 0, name, TXTRACE_CAST_(uint64_t, value), 0);
}

TXTRACE_INLINE_ void txtrace_link_(uint64_t from, uint64_t to, const char *name)
{
	if (to != 0)
		txtrace_mark_(TXTRACE_MARK_LINK_, from, name, to, 0);
}

#if defined(__cplusplus)

} /* extern "C" */

/* Also when the user includes this file within extern "C". */
extern "C++" {

/*
 * Ends its span when it goes out of scope. Not hidden itself, so that lambdas
 * may capture it; all of it is inlined.
 */
struct txtrace_scope_ {
	TXTRACE_INLINE_ explicit txtrace_scope_(txtrace_span_t span) noexcept : span_(span) {}
	TXTRACE_INLINE_ ~txtrace_scope_() { txtrace_end_(span_); }
	TXTRACE_INLINE_ operator txtrace_span_t() const noexcept { return span_; }
	txtrace_scope_(const txtrace_scope_ &) = delete;
	txtrace_scope_ &operator=(const txtrace_scope_ &) = delete;

private:
	txtrace_span_t span_;
};

#define TXTRACE_SCOPE_(variable, span) const txtrace_scope_ variable(span)

/* TXTRACE_ATTR: one overload for each type that an attribute can have. */
#define TXTRACE_ATTR_OF_(attr_type, type, bits)								\
	TXTRACE_INLINE_ void txtrace_attr_(uint64_t id, const char *name, type value) noexcept		\
	{												\
		txtrace_mark_(TXTRACE_ATTR_MARK_(attr_type), id, name, bits, 0);			\
	}
#define TXTRACE_ATTR_OF_INT_(type)									\
	TXTRACE_ATTR_OF_(static_cast<type>(-1) < static_cast<type>(1) ? TXTRACE_ATTR_INT_		\
								      : TXTRACE_ATTR_UINT_,		\
			 type, static_cast<uint64_t>(value))

TXTRACE_ATTR_OF_(TXTRACE_ATTR_BOOL_, bool, value)
TXTRACE_ATTR_OF_INT_(char)
TXTRACE_ATTR_OF_INT_(signed char)
TXTRACE_ATTR_OF_INT_(unsigned char)
TXTRACE_ATTR_OF_INT_(wchar_t)
TXTRACE_ATTR_OF_INT_(char16_t)
TXTRACE_ATTR_OF_INT_(char32_t)
#if defined(__cpp_char8_t)
TXTRACE_ATTR_OF_INT_(char8_t)
#endif
TXTRACE_ATTR_OF_INT_(short)
TXTRACE_ATTR_OF_INT_(unsigned short)
TXTRACE_ATTR_OF_INT_(int)
TXTRACE_ATTR_OF_INT_(unsigned int)
TXTRACE_ATTR_OF_INT_(long)
TXTRACE_ATTR_OF_INT_(unsigned long)
TXTRACE_ATTR_OF_INT_(long long)
TXTRACE_ATTR_OF_INT_(unsigned long long)
TXTRACE_ATTR_OF_(TXTRACE_ATTR_DOUBLE_, double, txtrace_double_bits_(value))
TXTRACE_ATTR_OF_(TXTRACE_ATTR_DOUBLE_, float, txtrace_double_bits_(static_cast<double>(value)))
TXTRACE_ATTR_OF_(TXTRACE_ATTR_DOUBLE_, long double, txtrace_double_bits_(static_cast<double>(value)))
TXTRACE_ATTR_OF_(TXTRACE_ATTR_POINTER_, decltype(nullptr), (static_cast<void>(value), 0))

TXTRACE_INLINE_ void txtrace_attr_(uint64_t id, const char *name, const char *value) noexcept
{
	txtrace_string_(TXTRACE_MARK_ATTR_STRING_, id, name, value);
}

TXTRACE_INLINE_ void txtrace_attr_(uint64_t id, const char *name, char *value) noexcept
{
	txtrace_string_(TXTRACE_MARK_ATTR_STRING_, id, name, value);
}

template <class T> TXTRACE_INLINE_ void txtrace_attr_(uint64_t id, const char *name, T *value) noexcept
{
	txtrace_mark_(TXTRACE_ATTR_MARK_(TXTRACE_ATTR_POINTER_), id, name, TXTRACE_ADDRESS_(value), 0);
}

template <class T> TXTRACE_INLINE_ void txtrace_attr_(uint64_t id, const char *name, T value) noexcept
{
	static_assert(__is_enum(T),
		      "TXTRACE_ATTR takes bool, integers, enums, floating point, C strings and pointers");
	txtrace_attr_(id, name, static_cast<__underlying_type(T)>(value));
}

} /* extern "C++" */

#else

#define TXTRACE_SCOPE_(variable, span)									\
	const txtrace_span_t variable __attribute__((cleanup(txtrace_end_scope_), unused)) = (span)

TXTRACE_INLINE_ void txtrace_end_scope_(const txtrace_span_t *span)
{
	txtrace_end_(*span);
}

/* TXTRACE_ATTR: one function for each type that an attribute can have. */
#define TXTRACE_ATTR_OF_(suffix, attr_type, type, bits)							\
	TXTRACE_INLINE_ void txtrace_attr_##suffix##_(uint64_t id, const char *name, type value)	\
	{												\
		txtrace_mark_(TXTRACE_ATTR_MARK_(attr_type), id, name, bits, 0);			\
	}

TXTRACE_ATTR_OF_(bool, TXTRACE_ATTR_BOOL_, _Bool, value)
TXTRACE_ATTR_OF_(int, TXTRACE_ATTR_INT_, int64_t, (uint64_t)value)
TXTRACE_ATTR_OF_(uint, TXTRACE_ATTR_UINT_, uint64_t, value)
TXTRACE_ATTR_OF_(double, TXTRACE_ATTR_DOUBLE_, double, txtrace_double_bits_(value))
TXTRACE_ATTR_OF_(float, TXTRACE_ATTR_DOUBLE_, float, txtrace_double_bits_((double)value))
TXTRACE_ATTR_OF_(long_double, TXTRACE_ATTR_DOUBLE_, long double, txtrace_double_bits_((double)value))
TXTRACE_ATTR_OF_(pointer, TXTRACE_ATTR_POINTER_, const volatile void *, TXTRACE_ADDRESS_(value))

TXTRACE_INLINE_ void txtrace_attr_string_(uint64_t id, const char *name, const char *value)
{
	txtrace_string_(TXTRACE_MARK_ATTR_STRING_, id, name, value);
}

#define TXTRACE_ATTR_OF_INTEGER_									\
	char: txtrace_attr_int_, signed char: txtrace_attr_int_, short: txtrace_attr_int_, \
		int: txtrace_attr_int_, \
	long: txtrace_attr_int_, long long: txtrace_attr_int_,						\
	unsigned char: txtrace_attr_uint_, unsigned short: txtrace_attr_uint_, \
		unsigned int: txtrace_attr_uint_, \
	unsigned long: txtrace_attr_uint_, unsigned long long: txtrace_attr_uint_

/* The second choice is for bit-fields: their types match no other, but ?: makes them an int. */
#define txtrace_attr_(id, name, value)									\
	__extension__ _Generic((value),									\
		_Bool: txtrace_attr_bool_,								\
		TXTRACE_ATTR_OF_INTEGER_,								\
		float: txtrace_attr_float_, double: txtrace_attr_double_, \
			long double: txtrace_attr_long_double_, \
		char *: txtrace_attr_string_, const char *: txtrace_attr_string_,			\
		default: _Generic((1 ? (value) : (value)), TXTRACE_ATTR_OF_INTEGER_, \
			default: txtrace_attr_pointer_) \
	)(id, name, value)

#endif

TXTRACE_INLINE_ void txtrace_track_(uint64_t id, const char *name)
{
	txtrace_string_(TXTRACE_MARK_ATTR_STRING_, id, "track", name);
}

/* ---- the macros ---- */

/* Whether somebody traces: for work that only tracing needs. */
#define TXTRACE_ENABLED() (TXTRACE_UNLIKELY_(__atomic_load_n(&txtrace_switches, __ATOMIC_RELAXED) != 0) != 0)

#define TXTRACE_START_(label, parent, kind)							\
	(TXTRACE_ENABLED() ? txtrace_mark_(kind, 0, TXTRACE_LITERAL_(label), parent, 0) :		\
			     TXTRACE_CAST_(txtrace_span_t, 0))

/*
 * Begins a span and enters it on this thread: below the span that the thread
 * entered last and is still in; without a parent; below `parent`, or without
 * one if that is 0. Detached: no thread has entered it yet.
 */
#define TXTRACE_BEGIN(label) TXTRACE_START_(label, 0, TXTRACE_MARK_BEGIN_)
#define TXTRACE_BEGIN_ROOT(label) TXTRACE_START_(label, TXTRACE_ROOT_, TXTRACE_MARK_BEGIN_)
#define TXTRACE_BEGIN_CHILD(label, parent) TXTRACE_START_(label, txtrace_parent_(parent), TXTRACE_MARK_BEGIN_)
#define TXTRACE_BEGIN_DETACHED(label, parent) \
	TXTRACE_START_(label, txtrace_parent_(parent), TXTRACE_MARK_BEGIN_DETACHED_)

/* This thread works for the span from here; no longer; the span is over, whichever thread says so. */
#define TXTRACE_ENTER(span) txtrace_enter_(span)
#define TXTRACE_EXIT(span) txtrace_exit_(span)
#define TXTRACE_END(span) txtrace_end_(span)

/*
 * A span from here to the end of the block. _ROOT: without a parent. _AS:
 * `variable` is the span, a constant; _CHILD_AS: below `parent`.
 */
#define TXTRACE_SPAN(label) \
	TXTRACE_SCOPE_(TXTRACE_NAME_(txtrace_scope_at_, __COUNTER__), TXTRACE_BEGIN(label))
#define TXTRACE_SPAN_ROOT(label) \
	TXTRACE_SCOPE_(TXTRACE_NAME_(txtrace_scope_at_, __COUNTER__), TXTRACE_BEGIN_ROOT(label))
#define TXTRACE_SPAN_AS(variable, label) TXTRACE_SCOPE_(variable, TXTRACE_BEGIN(label))
#define TXTRACE_SPAN_CHILD_AS(variable, label, parent) \
	TXTRACE_SCOPE_(variable, TXTRACE_BEGIN_CHILD(label, parent))

#define TXTRACE_FOR_SPAN_(span, call)									\
	do {												\
		const txtrace_span_t txtrace_id_ = (span);						\
		if (TXTRACE_UNLIKELY_(txtrace_id_ != 0))						\
			call;										\
	} while (0)

/* What is particular to this execution: a string, or a named value of any simple type. */
#define TXTRACE_TAG(span, text) \
	TXTRACE_FOR_SPAN_(span, txtrace_string_(TXTRACE_MARK_TAG_, txtrace_id_, TXTRACE_NO_NAME_, text))
#define TXTRACE_ATTR(span, name, value)									\
	TXTRACE_FOR_SPAN_(span, txtrace_attr_(txtrace_id_, TXTRACE_LITERAL_(name), value))

/* The same of `size` bytes at `data`, or of the bytes of `cnt` pieces, one after the other. */
#define TXTRACE_ATTR_BYTES(span, name, data, size)							\
	TXTRACE_FOR_SPAN_(span, txtrace_bytes_(txtrace_id_, TXTRACE_LITERAL_(name), data,		\
					       TXTRACE_CAST_(uint64_t, size)))
#define TXTRACE_ATTR_PIECES(span, name, pieces, cnt)							\
	TXTRACE_FOR_SPAN_(span, txtrace_pieces_(TXTRACE_MARK_ATTR_BYTES_, txtrace_id_,			\
						TXTRACE_LITERAL_(name), pieces,				\
						TXTRACE_CAST_(uint64_t, cnt)))
#define TXTRACE_TAG_PIECES(span, pieces, cnt)								\
	TXTRACE_FOR_SPAN_(span, txtrace_pieces_(TXTRACE_MARK_TAG_, txtrace_id_, TXTRACE_NO_NAME_,	\
						pieces, TXTRACE_CAST_(uint64_t, cnt)))

/*
 * The lane that the span is shown on, and summed up by, instead of its
 * thread's: a string, "track" among its attributes.
 */
#define TXTRACE_TRACK(span, name) TXTRACE_FOR_SPAN_(span, txtrace_track_(txtrace_id_, name))

/*
 * W3C's Trace Context. SET: strings, the headers of a request that came in.
 * TRACEPARENT: `header` is an array of TXTRACE_TRACEPARENT_SIZE characters with
 * the traceparent that came in, or "". It is replaced by the one to send on: of
 * the same trace, or of a new one, with this span as the parent. Span 0 leaves
 * it as it is.
 */
#define TXTRACE_SET_TRACEPARENT(span, text)								\
	TXTRACE_FOR_SPAN_(span, txtrace_string_(TXTRACE_MARK_ATTR_STRING_, txtrace_id_, "traceparent", text))
#define TXTRACE_SET_TRACESTATE(span, text)								\
	TXTRACE_FOR_SPAN_(span, txtrace_string_(TXTRACE_MARK_ATTR_STRING_, txtrace_id_, "tracestate", text))
#define TXTRACE_TRACEPARENT(span, header) TXTRACE_FOR_SPAN_(span, txtrace_send_trace_(txtrace_id_, header))

/* Something happened in the span; a named number has a new value; `from` is related to `to`. */
#define TXTRACE_EVENT(span, name) txtrace_event_(span, TXTRACE_LITERAL_(name))
#define TXTRACE_COUNTER(name, value)									\
	TXTRACE_IF_ENABLED_(txtrace_counter_(TXTRACE_LITERAL_(name), TXTRACE_CAST_(int64_t, value)))
#define TXTRACE_LINK(from, to, name) \
	TXTRACE_FOR_SPAN_(from, txtrace_link_(txtrace_id_, to, TXTRACE_LITERAL_(name)))

#define TXTRACE_IF_ENABLED_(call) (TXTRACE_ENABLED() ? call : TXTRACE_CAST_(void, 0))

/* Spans that are named by `length` bytes at `key`, from any thread of any process. */
#define TXTRACE_KEY_MARK_(kind, name, key, length) \
	TXTRACE_IF_ENABLED_(txtrace_key_(kind, name, key, TXTRACE_CAST_(uint64_t, length)))
#define TXTRACE_KEY_BEGIN(label, key, length) \
	TXTRACE_KEY_MARK_(TXTRACE_MARK_KEY_BEGIN_, TXTRACE_LITERAL_(label), key, length)
#define TXTRACE_KEY_ENTER(key, length) \
	TXTRACE_KEY_MARK_(TXTRACE_MARK_KEY_ENTER_, TXTRACE_NO_NAME_, key, length)
#define TXTRACE_KEY_EXIT(key, length) \
	TXTRACE_KEY_MARK_(TXTRACE_MARK_KEY_EXIT_, TXTRACE_NO_NAME_, key, length)
#define TXTRACE_KEY_END(key, length) \
	TXTRACE_KEY_MARK_(TXTRACE_MARK_KEY_END_, TXTRACE_NO_NAME_, key, length)
#define TXTRACE_KEY_EVENT(key, length, name) \
	TXTRACE_KEY_MARK_(TXTRACE_MARK_KEY_EVENT_, TXTRACE_LITERAL_(name), key, length)

#else /* !TXTRACE_IS_COMPILED_IN */

/* ---- the macros, where there is nothing to trace with: the arguments are checked and not evaluated ---- */

#define TXTRACE_NOTHING_(a) TXTRACE_CAST_(void, 0 ? (TXTRACE_CAST_(void, a), 0) : 0)
#define TXTRACE_NOTHINGS_(a, b) \
	TXTRACE_CAST_(void, 0 ? (TXTRACE_CAST_(void, a), TXTRACE_CAST_(void, b), 0) : 0)
#define TXTRACE_NOTHINGS_3_(a, b, c) \
	TXTRACE_CAST_(void, 0 ? (TXTRACE_CAST_(void, a), TXTRACE_CAST_(void, b), TXTRACE_CAST_(void, c), \
		0) : 0)
#define TXTRACE_NO_SPAN_(label, parent)									\
	(0 ? TXTRACE_CAST_(txtrace_span_t, parent) : TXTRACE_CAST_(txtrace_span_t, \
		0 * sizeof(TXTRACE_LITERAL_(label))))
#define TXTRACE_NO_SCOPE_(variable, span)       \
	const txtrace_span_t variable = (span); \
	TXTRACE_CAST_(void, variable)

#define TXTRACE_ENABLED() 0
#define TXTRACE_BEGIN(label) TXTRACE_NO_SPAN_(label, 0)
#define TXTRACE_BEGIN_ROOT(label) TXTRACE_NO_SPAN_(label, 0)
#define TXTRACE_BEGIN_CHILD(label, parent) TXTRACE_NO_SPAN_(label, parent)
#define TXTRACE_BEGIN_DETACHED(label, parent) TXTRACE_NO_SPAN_(label, parent)
#define TXTRACE_ENTER(span) TXTRACE_NOTHING_(span)
#define TXTRACE_EXIT(span) TXTRACE_NOTHING_(span)
#define TXTRACE_END(span) TXTRACE_NOTHING_(span)
#define TXTRACE_SPAN(label) TXTRACE_STATIC_ASSERT_(sizeof(TXTRACE_LITERAL_(label)) != 0, "")
#define TXTRACE_SPAN_ROOT(label) TXTRACE_SPAN(label)
#define TXTRACE_SPAN_AS(variable, label) TXTRACE_NO_SCOPE_(variable, TXTRACE_BEGIN(label))
#define TXTRACE_SPAN_CHILD_AS(variable, label, parent) \
	TXTRACE_NO_SCOPE_(variable, TXTRACE_BEGIN_CHILD(label, parent))
#define TXTRACE_TAG(span, text) TXTRACE_NOTHINGS_(span, text)
#define TXTRACE_ATTR(span, name, value) TXTRACE_NOTHINGS_3_(span, TXTRACE_LITERAL_(name), value)
#define TXTRACE_ATTR_BYTES(span, name, data, size)							\
	do {												\
		TXTRACE_NOTHINGS_3_(span, TXTRACE_LITERAL_(name), data);				\
		TXTRACE_NOTHING_(size);									\
	} while (0)
#define TXTRACE_ATTR_PIECES(span, name, pieces, cnt) TXTRACE_ATTR_BYTES(span, name, pieces, cnt)
#define TXTRACE_TAG_PIECES(span, pieces, cnt) TXTRACE_NOTHINGS_3_(span, pieces, cnt)
#define TXTRACE_TRACK(span, name) TXTRACE_NOTHINGS_(span, name)
#define TXTRACE_SET_TRACEPARENT(span, text) TXTRACE_NOTHINGS_(span, text)
#define TXTRACE_SET_TRACESTATE(span, text) TXTRACE_NOTHINGS_(span, text)
#define TXTRACE_TRACEPARENT(span, header) TXTRACE_NOTHINGS_(span, header)
#define TXTRACE_EVENT(span, name) TXTRACE_NOTHINGS_(span, TXTRACE_LITERAL_(name))
#define TXTRACE_COUNTER(name, value) TXTRACE_NOTHINGS_(TXTRACE_LITERAL_(name), value)
#define TXTRACE_LINK(from, to, name) TXTRACE_NOTHINGS_3_(from, to, TXTRACE_LITERAL_(name))
#define TXTRACE_KEY_BEGIN(label, key, length) TXTRACE_NOTHINGS_3_(TXTRACE_LITERAL_(label), key, length)
#define TXTRACE_KEY_ENTER(key, length) TXTRACE_NOTHINGS_(key, length)
#define TXTRACE_KEY_EXIT(key, length) TXTRACE_NOTHINGS_(key, length)
#define TXTRACE_KEY_END(key, length) TXTRACE_NOTHINGS_(key, length)
#define TXTRACE_KEY_EVENT(key, length, name) TXTRACE_NOTHINGS_3_(key, length, TXTRACE_LITERAL_(name))

#endif
#endif
