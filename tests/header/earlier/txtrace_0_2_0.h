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
 *   - They work in any thread, after fork, and in signal handlers (there is one
 *     limit, see txtrace_start_).
 *
 * What tracers rely on (ABI: it does not change)
 *   Each object file (executable, shared library, plugin) holds one copy of each
 *   probe, in a section group that the linker merges: a hidden function
 *   txtrace_probe_<name> with a note in .note.stapsdt, whose semaphore is the
 *   object's 16-bit txtrace_semaphore in .probes. The note's address is the
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
 *   A key may be longer than the 64 bytes that count, a string may have any
 *   length. `parent` is an id; all ones (TXTRACE_ROOT_) say that the span has
 *   none; 0 says that none was named, and the rule above finds it
 *   (begin_detached: there is none).
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
 */
#ifndef TXTRACE_H
#define TXTRACE_H

#include <stddef.h>
#include <stdint.h>

#define TXTRACE_HEADER_VERSION 200 /* major * 10000 + minor * 100 + patch */

/*
 * A span: never 0, and unique in its process, over all threads and objects. A
 * forked child counts on where its parent was.
 */
typedef uint64_t txtrace_span_t;

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

/* In the file, not in .bss: the kernel finds it by its offset in the file. */
TXTRACE_ASM_ONCE_("txtrace_semaphore",
	".pushsection .probes,\"awG\",%progbits,txtrace_semaphore,comdat\n"
	".balign 2\n"
	TXTRACE_ASM_SYMBOL_("txtrace_semaphore", "object", ".2byte 0\n")
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
#else
#define TXTRACE_ASM_SITE_(number)									\
	".inst 0xd503201f\n"										\
	".inst 0xd65f03c0\n"										\
	".inst " number "\n" /* udf #number */
#define TXTRACE_REGISTER_1_ "8@x0"
#define TXTRACE_REGISTER_2_ "8@x1"
#define TXTRACE_REGISTER_3_ "8@x2"
#define TXTRACE_REGISTER_4_ "8@x3"
#endif

#define TXTRACE_REGISTERS_1_ TXTRACE_REGISTER_1_
#define TXTRACE_REGISTERS_2_ TXTRACE_REGISTERS_1_ " " TXTRACE_REGISTER_2_
#define TXTRACE_REGISTERS_3_ TXTRACE_REGISTERS_2_ " " TXTRACE_REGISTER_3_
#define TXTRACE_REGISTERS_4_ TXTRACE_REGISTERS_3_ " " TXTRACE_REGISTER_4_
#define TXTRACE_REGISTERS_NAME_AND_SIGNED_ TXTRACE_REGISTER_1_ " -" TXTRACE_REGISTER_2_

#define TXTRACE_ASM_NOTE_(name, symbol, registers)							\
	".pushsection .note.stapsdt,\"G\",%note," symbol ",comdat\n"					\
	".balign 4\n"											\
	".4byte 8, .Ltxtrace_" name "_end-.Ltxtrace_" name "_note, 3\n"					\
	".asciz \"stapsdt\"\n"										\
	".Ltxtrace_" name "_note:\n"									\
	".8byte " symbol ", _.stapsdt.base, txtrace_semaphore\n"					\
	".asciz \"txtrace\"\n"										\
	".asciz \"" name "\"\n"										\
	".asciz \"" registers "\"\n"									\
	".Ltxtrace_" name "_end:\n"									\
	".balign 4\n"											\
	".popsection\n"

#define TXTRACE_ASM_PROBE_(name, symbol, number, registers)						\
	TXTRACE_ASM_ONCE_(symbol,									\
		".pushsection .text." symbol ",\"axG\",%progbits," symbol ",comdat\n"			\
		".balign 16\n"										\
		TXTRACE_ASM_SYMBOL_(symbol, "function", \
			".cfi_startproc\n" TXTRACE_ASM_SITE_(number) ".cfi_endproc\n") \
		".popsection\n"										\
		TXTRACE_ASM_NOTE_(name, symbol, registers))

#if defined(__cplusplus)
extern "C" {
#endif

#define TXTRACE_PROBE_(name, number, registers, parameters)						\
	TXTRACE_ASM_PROBE_(#name, "txtrace_probe_" #name, #number, registers);				\
	extern __attribute__((visibility("hidden"), nothrow, cold)) void txtrace_probe_##name parameters

TXTRACE_PROBE_(begin, 1, TXTRACE_REGISTERS_3_, (uint64_t id, const char *label, uint64_t parent));
TXTRACE_PROBE_(begin_detached, 2, TXTRACE_REGISTERS_3_, (uint64_t id, const char *label, uint64_t parent));
TXTRACE_PROBE_(enter, 3, TXTRACE_REGISTERS_1_, (uint64_t id));
TXTRACE_PROBE_(exit, 4, TXTRACE_REGISTERS_1_, (uint64_t id));
TXTRACE_PROBE_(end, 5, TXTRACE_REGISTERS_1_, (uint64_t id));
TXTRACE_PROBE_(tag, 6, TXTRACE_REGISTERS_2_, (uint64_t id, const char *text));
TXTRACE_PROBE_(attr, 7, TXTRACE_REGISTERS_4_, (uint64_t id, const char *name, uint64_t type, uint64_t value));
TXTRACE_PROBE_(event, 8, TXTRACE_REGISTERS_2_, (uint64_t id, const char *name));
TXTRACE_PROBE_(counter, 9, TXTRACE_REGISTERS_NAME_AND_SIGNED_, (const char *name, int64_t value));
TXTRACE_PROBE_(link, 10, TXTRACE_REGISTERS_3_, (uint64_t from, uint64_t to, const char *name));
TXTRACE_PROBE_(key_begin, 11, TXTRACE_REGISTERS_3_, (const char *label, const void *key, uint64_t length));
TXTRACE_PROBE_(key_enter, 12, TXTRACE_REGISTERS_2_, (const void *key, uint64_t length));
TXTRACE_PROBE_(key_exit, 13, TXTRACE_REGISTERS_2_, (const void *key, uint64_t length));
TXTRACE_PROBE_(key_end, 14, TXTRACE_REGISTERS_2_, (const void *key, uint64_t length));
TXTRACE_PROBE_(key_event, 15, TXTRACE_REGISTERS_3_, (const void *key, uint64_t length, const char *name));

/* How many uprobes of tracers there are: written by the kernel. */
extern __attribute__((visibility("hidden"))) uint16_t txtrace_semaphore;

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
	inline __attribute__((visibility("hidden"), noinline, cold, nothrow, no_instrument_function))
#define TXTRACE_ADDRESS_(pointer) reinterpret_cast<uintptr_t>(pointer)
#else
#define TXTRACE_INLINE_ \
	extern __inline__ __attribute__((gnu_inline, always_inline, nothrow, no_instrument_function))
#define TXTRACE_ONE_PER_OBJECT_ \
	__attribute__((visibility("hidden"), weak, noinline, cold, nothrow, no_instrument_function))
#define TXTRACE_ADDRESS_(pointer) ((uintptr_t)(pointer))
#endif

enum txtrace_attr_type_ {
	TXTRACE_ATTR_BOOL_ = 1,
	TXTRACE_ATTR_INT_ = 2,
	TXTRACE_ATTR_UINT_ = 3,
	TXTRACE_ATTR_DOUBLE_ = 4, /* its bits */
	TXTRACE_ATTR_STRING_ = 5,
	TXTRACE_ATTR_POINTER_ = 6
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

#define TXTRACE_ID_BLOCK_ UINT64_C(4096)

/*
 * Takes a block of ids: 4096 from the result on. *blocks, the first id of the
 * next block, advances by twice as much: only numbers in which the bit
 * TXTRACE_ID_BLOCK_ is set are ids. It starts from a hash of its address and of
 * a salt, so that objects that know nothing of each other do not meet; below
 * 2^63, so that it never comes to 0, which is "not started".
 */
TXTRACE_INLINE_ uint64_t txtrace_take_block_(uint64_t *blocks)
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
 * Begins a span with a new id. Called only while somebody traces.
 *
 * `next` is this thread's next id; if it lacks the bit TXTRACE_ID_BLOCK_, the
 * thread has no block (any more). A signal handler that comes between two steps
 * finds either an id that nobody has had, or no block, and takes one itself;
 * the rest of that block is skipped when the interrupted step stores its own.
 * No id is given twice.
 *
 * Never inlined, so that a coroutine that has moved to another thread does not
 * go on with the `next` of the first one. Limit: in a dlopened object, a
 * thread's first use of `next` may allocate memory, which glibc forbids signal
 * handlers.
 */
extern __attribute__((visibility("hidden"), nothrow)) uint64_t txtrace_start_(const char *label,
									      uint64_t parent,
									      int is_detached);

TXTRACE_ONE_PER_OBJECT_ uint64_t txtrace_start_(const char *label, uint64_t parent, int is_detached)
{
	static uint64_t blocks;
	static __thread uint64_t next;
	uint64_t id = txtrace_count_up_(&next);

	if (!(id & TXTRACE_ID_BLOCK_)) {
		id = txtrace_take_block_(&blocks);
		__atomic_store_n(&next, id + 1, __ATOMIC_RELAXED);
	}
	if (is_detached)
		txtrace_probe_begin_detached(id, label, parent);
	else
		txtrace_probe_begin(id, label, parent);
	return id;
}

#define TXTRACE_UNLIKELY_(condition) __builtin_expect(!!(condition), 0)

/* The parent of a span that has none: no id, and not 0, which says that none was named. */
#define TXTRACE_ROOT_ UINT64_MAX

TXTRACE_INLINE_ uint64_t txtrace_parent_(uint64_t parent)
{
	return parent != 0 ? parent : TXTRACE_ROOT_;
}

TXTRACE_INLINE_ void txtrace_enter_(uint64_t id)
{
	if (TXTRACE_UNLIKELY_(id != 0))
		txtrace_probe_enter(id);
}

TXTRACE_INLINE_ void txtrace_exit_(uint64_t id)
{
	if (TXTRACE_UNLIKELY_(id != 0))
		txtrace_probe_exit(id);
}

TXTRACE_INLINE_ void txtrace_end_(uint64_t id)
{
	if (TXTRACE_UNLIKELY_(id != 0))
		txtrace_probe_end(id);
}

TXTRACE_INLINE_ void txtrace_event_(uint64_t id, const char *name)
{
	if (TXTRACE_UNLIKELY_(id != 0))
		txtrace_probe_event(id, name);
}

TXTRACE_INLINE_ uint64_t txtrace_double_bits_(double value)
{
	uint64_t bits;

	__builtin_memcpy(&bits, &value, sizeof(bits));
	return bits;
}

TXTRACE_INLINE_ void txtrace_link_(uint64_t from, uint64_t to, const char *name)
{
	if (to != 0)
		txtrace_probe_link(from, to, name);
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
		txtrace_probe_attr(id, name, attr_type, bits);						\
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
TXTRACE_ATTR_OF_(TXTRACE_ATTR_STRING_, const char *, TXTRACE_ADDRESS_(value))
TXTRACE_ATTR_OF_(TXTRACE_ATTR_STRING_, char *, TXTRACE_ADDRESS_(value))
TXTRACE_ATTR_OF_(TXTRACE_ATTR_POINTER_, decltype(nullptr), (static_cast<void>(value), 0))

template <class T> TXTRACE_INLINE_ void txtrace_attr_(uint64_t id, const char *name, T *value) noexcept
{
	txtrace_probe_attr(id, name, TXTRACE_ATTR_POINTER_, TXTRACE_ADDRESS_(value));
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
		txtrace_probe_attr(id, name, attr_type, bits);						\
	}

TXTRACE_ATTR_OF_(bool, TXTRACE_ATTR_BOOL_, _Bool, value)
TXTRACE_ATTR_OF_(int, TXTRACE_ATTR_INT_, int64_t, (uint64_t)value)
TXTRACE_ATTR_OF_(uint, TXTRACE_ATTR_UINT_, uint64_t, value)
TXTRACE_ATTR_OF_(double, TXTRACE_ATTR_DOUBLE_, double, txtrace_double_bits_(value))
TXTRACE_ATTR_OF_(float, TXTRACE_ATTR_DOUBLE_, float, txtrace_double_bits_((double)value))
TXTRACE_ATTR_OF_(long_double, TXTRACE_ATTR_DOUBLE_, long double, txtrace_double_bits_((double)value))
TXTRACE_ATTR_OF_(string, TXTRACE_ATTR_STRING_, const char *, TXTRACE_ADDRESS_(value))
TXTRACE_ATTR_OF_(pointer, TXTRACE_ATTR_POINTER_, const volatile void *, TXTRACE_ADDRESS_(value))

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
	txtrace_probe_attr(id, "track", TXTRACE_ATTR_STRING_, TXTRACE_ADDRESS_(name));
}

/* ---- the macros ---- */

/* Whether somebody traces: for work that only tracing needs. */
#define TXTRACE_ENABLED() (TXTRACE_UNLIKELY_(__atomic_load_n(&txtrace_semaphore, __ATOMIC_RELAXED) != 0) != 0)

#define TXTRACE_START_(label, parent, is_detached)							\
	(TXTRACE_ENABLED() ? txtrace_start_(TXTRACE_LITERAL_(label), parent, is_detached) :		\
			     TXTRACE_CAST_(txtrace_span_t, 0))

/*
 * Begins a span and enters it on this thread: below the span that the thread
 * entered last and is still in; without a parent; below `parent`, or without
 * one if that is 0. Detached: no thread has entered it yet.
 */
#define TXTRACE_BEGIN(label) TXTRACE_START_(label, 0, 0)
#define TXTRACE_BEGIN_ROOT(label) TXTRACE_START_(label, TXTRACE_ROOT_, 0)
#define TXTRACE_BEGIN_CHILD(label, parent) TXTRACE_START_(label, txtrace_parent_(parent), 0)
#define TXTRACE_BEGIN_DETACHED(label, parent) TXTRACE_START_(label, txtrace_parent_(parent), 1)

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
#define TXTRACE_TAG(span, text) TXTRACE_FOR_SPAN_(span, txtrace_probe_tag(txtrace_id_, text))
#define TXTRACE_ATTR(span, name, value)									\
	TXTRACE_FOR_SPAN_(span, txtrace_attr_(txtrace_id_, TXTRACE_LITERAL_(name), value))

/*
 * The lane that the span is shown on, and summed up by, instead of its
 * thread's: a string, "track" among its attributes.
 */
#define TXTRACE_TRACK(span, name) TXTRACE_FOR_SPAN_(span, txtrace_track_(txtrace_id_, name))

/* Something happened in the span; a named number has a new value; `from` is related to `to`. */
#define TXTRACE_EVENT(span, name) txtrace_event_(span, TXTRACE_LITERAL_(name))
#define TXTRACE_COUNTER(name, value)									\
	TXTRACE_IF_ENABLED_(txtrace_probe_counter(TXTRACE_LITERAL_(name), TXTRACE_CAST_(int64_t, value)))
#define TXTRACE_LINK(from, to, name) \
	TXTRACE_FOR_SPAN_(from, txtrace_link_(txtrace_id_, to, TXTRACE_LITERAL_(name)))

#define TXTRACE_IF_ENABLED_(call) (TXTRACE_ENABLED() ? call : TXTRACE_CAST_(void, 0))

/* Spans that are named by `length` bytes at `key`, from any thread of any process. */
#define TXTRACE_KEY_BEGIN(label, key, length)								\
	TXTRACE_IF_ENABLED_(txtrace_probe_key_begin(TXTRACE_LITERAL_(label), key, TXTRACE_CAST_(uint64_t, \
		length)))
#define TXTRACE_KEY_ENTER(key, length) \
	TXTRACE_IF_ENABLED_(txtrace_probe_key_enter(key, TXTRACE_CAST_(uint64_t, length)))
#define TXTRACE_KEY_EXIT(key, length) \
	TXTRACE_IF_ENABLED_(txtrace_probe_key_exit(key, TXTRACE_CAST_(uint64_t, length)))
#define TXTRACE_KEY_END(key, length) \
	TXTRACE_IF_ENABLED_(txtrace_probe_key_end(key, TXTRACE_CAST_(uint64_t, length)))
#define TXTRACE_KEY_EVENT(key, length, name)								\
	TXTRACE_IF_ENABLED_(txtrace_probe_key_event(key, TXTRACE_CAST_(uint64_t, length), \
		TXTRACE_LITERAL_(name)))

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
#define TXTRACE_TRACK(span, name) TXTRACE_NOTHINGS_(span, name)
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
