/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "probe_trap.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "txtrace.h"
#include "txtrace/event.h"

#if TXTRACE_IS_COMPILED_IN

_Static_assert((int)TXTRACE_ATTR_BOOL_ == ATTR_BOOL && (int)TXTRACE_ATTR_INT_ == ATTR_INT,
	       "the header numbers the types as the wire does");
_Static_assert((int)TXTRACE_ATTR_UINT_ == ATTR_UINT && (int)TXTRACE_ATTR_DOUBLE_ == ATTR_DOUBLE, "the same");
_Static_assert((int)TXTRACE_ATTR_STRING_ == ATTR_STRING && (int)TXTRACE_ATTR_POINTER_ == ATTR_POINTER,
	       "the same");

#define PROBE_CNT 16
#define ID_CNT 256
#define KEY_MAX 64 /* bytes of a key that count */

static struct trap {
	struct trap_probe {
		const char *name;
		/*
		 * i: an id, s: a string, d: a signed number, k: a key and its length, a: an attribute's type
		 * and value, r: what is marked, by the probe that tells a ring's reader
		 */
		const char *arguments;
		uintptr_t site;
	} probes[PROBE_CNT];
	uint64_t ids[ID_CNT];
	size_t id_cnt;
	char text[16384];
	size_t length;
	struct txtrace_pool_ *pool;
	enum probe_trap_way way;
	int accepts;          /* the pool, once it is told */
	uint64_t turn;        /* the next slot that is read: of what the lane has had so many before */
	uint64_t used;
} trap;

#define PROBE(name, arguments) { #name, arguments, (uintptr_t)txtrace_site_##name }

static void find_probes(void)
{
	const struct trap_probe probes[PROBE_CNT] = {
		PROBE(begin, "isi"),	PROBE(begin_detached, "isi"),
		PROBE(enter, "i"),	PROBE(exit, "i"),
		PROBE(end, "i"),	PROBE(tag, "is"),
		PROBE(attr, "isa"),	PROBE(event, "is"),
		PROBE(counter, "sd"),	PROBE(link, "iis"),
		PROBE(key_begin, "sk"), PROBE(key_enter, "k"),
		PROBE(key_exit, "k"),	PROBE(key_end, "k"),
		PROBE(key_event, "ks"), PROBE(ring, "r"),
	};

	memcpy(trap.probes, probes, sizeof(probes));
}

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void say(const char *format, ...)
{
	va_list arguments;
	size_t room = sizeof(trap.text) - trap.length;
	int length;

	va_start(arguments, format);
	length = vsnprintf(trap.text + trap.length, room, format, arguments);
	va_end(arguments);
	if (length < 0 || (size_t)length >= room)
		abort();
	trap.length += (size_t)length;
}

static void say_id(uint64_t id)
{
	size_t i = 0;

	if (id == 0 || id == UINT64_MAX) {
		say(id == 0 ? "0" : "root");
		return;
	}
	while (i < trap.id_cnt && trap.ids[i] != id)
		i++;
	if (i == ID_CNT)
		abort();
	if (i == trap.id_cnt)
		trap.ids[trap.id_cnt++] = id;
	say("#%zu", i + 1);
}

static void say_attribute(uint64_t type, uint64_t value)
{
	double number;

	memcpy(&number, &value, sizeof(number));
	switch (type) {
	case ATTR_BOOL:
		say(value == 0 ? "bool false" : value == 1 ? "bool true" : "bool of another value");
		break;
	case ATTR_INT:
		say("int %lld", (long long)value);
		break;
	case ATTR_UINT:
		say("uint %llu", (unsigned long long)value);
		break;
	case ATTR_DOUBLE:
		say("double %g", number);
		break;
	case ATTR_STRING:
		say("string \"%s\"", (const char *)(uintptr_t)value);
		break;
	case ATTR_POINTER:
		say("pointer 0x%llx", (unsigned long long)value);
		break;
	default:
		say("type %llu", (unsigned long long)type);
	}
}

static void say_call(const struct trap_probe *probe, const uint64_t *registers)
{
	const char *argument;

	say("%s(", probe->name);
	for (argument = probe->arguments; *argument; argument++) {
		uint64_t value = *registers++;

		if (argument != probe->arguments)
			say(", ");
		switch (*argument) {
		case 'i':
			say_id(value);
			break;
		case 's':
			say("\"%s\"", (const char *)(uintptr_t)value);
			break;
		case 'd':
			say("%lld", (long long)value);
			break;
		case 'k':
			say("\"%.*s\", %llu", (int)(*registers < KEY_MAX ? *registers : KEY_MAX),
			    (const char *)(uintptr_t)value,
			    (unsigned long long)*registers);
			registers++;
			break;
		case 'a':
			say_attribute(value, *registers);
			break;
		case 'r':
			break; /* not said by itself */
		}
	}
	say(")\n");
}

static void say_named(const char *probe, const uint64_t *registers)
{
	size_t i = 0;

	while (i < PROBE_CNT && strcmp(trap.probes[i].name, probe) != 0)
		i++;
	if (i == PROBE_CNT)
		abort();
	say_call(&trap.probes[i], registers);
}

/* A mark as the ring has it, or the probe that stands for it, as a call of the mark's own probe. */
static void say_mark(uint64_t kind, uint64_t id, uint64_t name, uint64_t value, uint64_t length)
{
	const uint64_t span[] = { id, name, value }, named[] = { id, name }, counter[] = { name, value },
		       link[] = { id, value, name }, tag[] = { id, value },
		       string[] = { id, name, ATTR_STRING, value },
		       attribute[] = { id, name, kind - TXTRACE_MARK_ATTR_, value },
		       key_begin[] = { name, value, length }, key[] = { value, length, name };

	switch (kind) {
	case TXTRACE_MARK_BEGIN_:
		say_named("begin", span);
		break;
	case TXTRACE_MARK_BEGIN_DETACHED_:
		say_named("begin_detached", span);
		break;
	case TXTRACE_MARK_ENTER_:
		say_named("enter", span);
		break;
	case TXTRACE_MARK_EXIT_:
		say_named("exit", span);
		break;
	case TXTRACE_MARK_END_:
		say_named("end", span);
		break;
	case TXTRACE_MARK_EVENT_:
		say_named("event", named);
		break;
	case TXTRACE_MARK_COUNTER_:
		say_named("counter", counter);
		break;
	case TXTRACE_MARK_LINK_:
		say_named("link", link);
		break;
	case TXTRACE_MARK_TAG_:
		say_named("tag", tag);
		break;
	case TXTRACE_MARK_ATTR_STRING_:
		say_named("attr", string);
		break;
	case TXTRACE_MARK_KEY_BEGIN_:
		say_named("key_begin", key_begin);
		break;
	case TXTRACE_MARK_KEY_ENTER_:
		say_named("key_enter", key);
		break;
	case TXTRACE_MARK_KEY_EXIT_:
		say_named("key_exit", key);
		break;
	case TXTRACE_MARK_KEY_END_:
		say_named("key_end", key);
		break;
	case TXTRACE_MARK_KEY_EVENT_:
		say_named("key_event", key);
		break;
	default:
		if (kind <= TXTRACE_MARK_ATTR_ || kind > TXTRACE_MARK_ATTR_ + (uint64_t)TXTRACE_ATTR_POINTER_)
			abort();
		say_named("attr", attribute);
	}
}

static void on_ring(const uint64_t *registers)
{
	if (registers[0] == TXTRACE_MARK_POOL_) {
		trap.pool = (struct txtrace_pool_ *)(uintptr_t)registers[3];
		if (trap.accepts)
			__atomic_store_n(&trap.pool->accepted, 1, __ATOMIC_RELAXED);
	} else if (registers[0] < TXTRACE_MARK_POOL_) {
		say_mark(registers[0], registers[1], registers[2], registers[3], registers[4] >> 32);
	}
}

/* ---- the ring's reader, for one thread ---- */

#define TEXT_MAX 1024

static const struct txtrace_slot_ *slot_at(uint64_t end_place, uint64_t used)
{
	return (const struct txtrace_slot_ *)((uintptr_t)trap.pool + end_place * TXTRACE_PLACE_BYTES_) -
	       TXTRACE_CHUNK_SLOTS_ + used;
}

/* The next slot of the only lane; NULL: where it is going to be is not known yet. */
static const struct txtrace_slot_ *next_slot(void)
{
	uint64_t chunk, place = TXTRACE_HEAD_CHUNKS_ * (TXTRACE_CHUNK_BYTES_ / TXTRACE_PLACE_BYTES_);

	if (trap.used == TXTRACE_CHUNK_SLOTS_) {
		trap.turn++;
		trap.used = 0;
	}
	if (trap.turn == 0)
		return slot_at(place + 1, trap.used);
	for (chunk = 0; chunk < TXTRACE_CHUNK_COUNT_; chunk++)
		if (trap.pool->chunks[chunk] == (TXTRACE_CHUNK_SLOTS_OF_ | trap.turn << 32 | place))
			return slot_at((chunk + 1) * (TXTRACE_CHUNK_BYTES_ / TXTRACE_PLACE_BYTES_),
				       trap.used);
	return NULL;
}

/* The thread that has the lane looks for another place before it marks again. */
static void end_lane(void)
{
	struct txtrace_lane_ *lane = (struct txtrace_lane_ *)((uintptr_t)trap.pool +
							      TXTRACE_HEAD_CHUNKS_ * TXTRACE_CHUNK_BYTES_);

	__atomic_store_n(&trap.pool->accepted, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&lane->position, lane->position | TXTRACE_CHUNK_SLOTS_, __ATOMIC_RELAXED);
	trap.used = TXTRACE_CHUNK_SLOTS_;
}

/* Says what was written since the last call; or passes over it. */
static void read_ring(int says)
{
	static uint64_t text[TEXT_MAX / 8 + 1];
	size_t word_cnt = 0;
	const struct txtrace_slot_ *slot;

	while ((slot = next_slot()) != NULL && slot->commit != 0) {
		uint64_t kind = slot->commit >> 56;

		trap.used++;
		if (kind == TXTRACE_MARK_PIECE_) {
			if (word_cnt * 8 + 24 > TEXT_MAX)
				abort();
			text[word_cnt++] = slot->id;
			text[word_cnt++] = slot->name;
			text[word_cnt++] = slot->value;
			continue;
		}
		text[word_cnt] = 0;
		word_cnt = 0;
		if (says)
			say_mark(kind, slot->id, slot->name,
				 TXTRACE_HAS_TEXT_(kind) ? (uint64_t)(uintptr_t)text : slot->value,
				 slot->value >> 32);
	}
}

#if defined(__x86_64__)
static const uint8_t trap_code[] = {0xcc};
static const uint8_t nop_code[] = {0x90};

static uintptr_t read_registers(ucontext_t *context, uint64_t *registers)
{
	registers[0] = (uint64_t)context->uc_mcontext.gregs[REG_RDI];
	registers[1] = (uint64_t)context->uc_mcontext.gregs[REG_RSI];
	registers[2] = (uint64_t)context->uc_mcontext.gregs[REG_RDX];
	registers[3] = (uint64_t)context->uc_mcontext.gregs[REG_RCX];
	registers[4] = (uint64_t)context->uc_mcontext.gregs[REG_R8];
	return (uintptr_t)context->uc_mcontext.gregs[REG_RIP] - sizeof(trap_code);
}
#else
static const uint8_t trap_code[] = {0x00, 0x00, 0x20, 0xd4};
static const uint8_t nop_code[] = {0x1f, 0x20, 0x03, 0xd5};

static uintptr_t read_registers(ucontext_t *context, uint64_t *registers)
{
	uintptr_t site = context->uc_mcontext.pc;

	memcpy(registers, context->uc_mcontext.regs, 5 * sizeof(*registers));
	/* this machine stops at the breakpoint, the other one behind it */
	context->uc_mcontext.pc += sizeof(trap_code);
	return site;
}
#endif

static void on_trap(int number, siginfo_t *info, void *context)
{
	uint64_t registers[5];
	uintptr_t site = read_registers((ucontext_t *)context, registers);
	size_t i;

	(void)number;
	(void)info;
	for (i = 0; i < PROBE_CNT; i++) {
		if (trap.probes[i].site == site) {
			if (i == PROBE_CNT - 1)
				on_ring(registers);
			else
				say_call(&trap.probes[i], registers);
			return;
		}
	}
	abort();
}

static void patch_sites(const uint8_t *code, size_t size)
{
	uintptr_t page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
	size_t i;

	for (i = 0; i < PROBE_CNT; i++) {
		uintptr_t site = trap.probes[i].site;
		uintptr_t page = site & ~(page_bytes - 1);

		if (mprotect((void *)page, page_bytes, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) {
			perror("mprotect");
			exit(2);
		}
		memcpy((void *)site, code, size);
		__builtin___clear_cache((char *)site, (char *)site + size);
	}
}

/* The ring's half of the word that marks look at. */
static void set_switches(enum probe_trap_way way)
{
	uint32_t set = 0;

	if (way == PROBE_TRAP_PROBES)
		set = 1;
	else if (way != PROBE_TRAP_NOT)
		set = TXTRACE_RING_SWITCH_;
	__atomic_store_n(&txtrace_switches, set, __ATOMIC_RELAXED);
}

static void forget_calls(void)
{
	trap.length = trap.id_cnt = 0;
	trap.text[0] = '\0';
}

void probe_trap_attach(enum probe_trap_way way)
{
	struct sigaction action;
	int i;

	memset(&action, 0, sizeof(action));
	action.sa_sigaction = on_trap;
	action.sa_flags = SA_SIGINFO;
	sigaction(SIGTRAP, &action, NULL);
	find_probes();
	if (!trap.pool)
		trap.used = TXTRACE_CHUNK_SLOTS_ - TXTRACE_LANE_SLOTS_;
	patch_sites(trap_code, sizeof(trap_code));
	set_switches(way);
	trap.way = way;
	trap.accepts = way == PROBE_TRAP_RING;
	if (trap.accepts) {
		/* the first goes to the probe, the second makes the pool and asks, the third has a lane */
		if (trap.pool)
			__atomic_store_n(&trap.pool->accepted, 1, __ATOMIC_RELAXED);
		for (i = 0; i < 3; i++)
			TXTRACE_END(UINT64_MAX);
		if (!trap.pool || !trap.pool->accepted)
			abort();
		read_ring(0);
	}
	forget_calls();
}

void probe_trap_detach(void)
{
	if (trap.accepts) {
		read_ring(1);
		end_lane();
	}
	set_switches(PROBE_TRAP_NOT);
	patch_sites(nop_code, sizeof(nop_code));
}

void probe_trap_attach_again(void)
{
	probe_trap_attach(trap.way);
}

const char *probe_trap_calls(void)
{
	return trap.text;
}

#else

void probe_trap_attach(enum probe_trap_way way)
{
	(void)way;
}

void probe_trap_detach(void)
{
}

void probe_trap_attach_again(void)
{
}

const char *probe_trap_calls(void)
{
	return "";
}

#endif
