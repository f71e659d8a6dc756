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

#define PROBE_CNT 15
#define ID_CNT 256

static struct trap {
	struct trap_probe {
		const char *name;
		/*
		 * i: an id, s: a string, d: a signed number, k: a key and its length, a: an attribute's type
		 * and value
		 */
		const char *arguments;
		uintptr_t site;
	} probes[PROBE_CNT];
	uint64_t ids[ID_CNT];
	size_t id_cnt;
	char text[16384];
	size_t length;
} trap;

#define PROBE(name, arguments) { #name, arguments, (uintptr_t)txtrace_probe_##name }

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
		PROBE(key_event, "ks"),
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
			say("\"%.*s\", %llu", (int)*registers, (const char *)(uintptr_t)value,
			    (unsigned long long)*registers);
			registers++;
			break;
		case 'a':
			say_attribute(value, *registers);
			break;
		}
	}
	say(")\n");
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
	return (uintptr_t)context->uc_mcontext.gregs[REG_RIP] - sizeof(trap_code);
}
#else
static const uint8_t trap_code[] = {0x00, 0x00, 0x20, 0xd4};
static const uint8_t nop_code[] = {0x1f, 0x20, 0x03, 0xd5};

static uintptr_t read_registers(ucontext_t *context, uint64_t *registers)
{
	uintptr_t site = context->uc_mcontext.pc;

	memcpy(registers, context->uc_mcontext.regs, 4 * sizeof(*registers));
	/* this machine stops at the breakpoint, the other one behind it */
	context->uc_mcontext.pc += sizeof(trap_code);
	return site;
}
#endif

static void on_trap(int number, siginfo_t *info, void *context)
{
	uint64_t registers[4];
	uintptr_t site = read_registers((ucontext_t *)context, registers);
	size_t i;

	(void)number;
	(void)info;
	for (i = 0; i < PROBE_CNT; i++) {
		if (trap.probes[i].site == site) {
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

void probe_trap_attach(void)
{
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_sigaction = on_trap;
	action.sa_flags = SA_SIGINFO;
	sigaction(SIGTRAP, &action, NULL);
	memset(&trap, 0, sizeof(trap));
	find_probes();
	patch_sites(trap_code, sizeof(trap_code));
	__atomic_add_fetch(&txtrace_semaphore, 1, __ATOMIC_RELAXED);
}

void probe_trap_detach(void)
{
	__atomic_sub_fetch(&txtrace_semaphore, 1, __ATOMIC_RELAXED);
	patch_sites(nop_code, sizeof(nop_code));
}

const char *probe_trap_calls(void)
{
	return trap.text;
}

#else

void probe_trap_attach(void)
{
}

void probe_trap_detach(void)
{
}

const char *probe_trap_calls(void)
{
	return "";
}

#endif
