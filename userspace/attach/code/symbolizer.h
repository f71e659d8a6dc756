/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of the functions at addresses of files: from DWARF, with what was
 * inlined there, and from symbol tables; also from separate debug files
 * (/usr/lib/debug/.build-id), never from the network.
 *
 * ELF and DWARF of traced programs may be anything, and the library that reads
 * them (libdw) may fall over it. So this is done by a process of its own,
 * without privilege, without the recorder's descriptors, and with limits; it is
 * asked and answers when it can. If it dies, what it was not able to say stays
 * unknown, and nothing else happens. Where we are root it has a uid and gid of
 * its own, so that no other process can stop or kill it.
 *
 *	symbolizer_new(&symbolizer, &settle);  before anything is opened that nobody else may hold
 *	symbolizer_ask(symbolizer, &query);    for each address once
 *	symbolizer_poll(symbolizer, take, context, 0);
 *	symbolizer_free(symbolizer);
 */
#ifndef SYMBOLIZER_H
#define SYMBOLIZER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attach/process/outside_process.h"

#define SYMBOL_TEXT_MAX 4096 /* bytes of an answer's names; what is inlined deeper is left out */

struct symbolizer;

/* Negative errno: of socketpair, fork. */
int symbolizer_new(struct symbolizer **symbolizer, const struct outside_settle *settle);
void symbolizer_free(struct symbolizer *symbolizer); /* NULL is allowed; ends the process */

struct symbol_query {
	uint64_t cookie; /* comes back with the answer */
	uint32_t file;   /* a number that means this file */
	int fd;
	uint64_t address; /* as the file has it */
};

/* Keeps the query until it can be sent. 0, -ENOMEM, -EPIPE: the process has ended. */
int symbolizer_ask(struct symbolizer *symbolizer, const struct symbol_query *query);

/*
 * Functions by name, the outermost first: one that is there, and then what was
 * inlined into it, separated by newlines. Names may be any bytes.
 */
struct symbol_answer {
	uint64_t cookie;
	const char *names; /* not terminated; length 0: not known */
	size_t names_length;
	uint64_t offset;   /* of the address in the function that is there */
	const char *source; /* the file of the innermost, without its folder, terminated; "": not known */
	uint32_t line;
};

typedef int (*symbol_take)(void *context, const struct symbol_answer *answer);

/*
 * Sends what can be sent, and gives what has been answered, for up to wait_ns;
 * returns as soon as nothing is outstanding. 0, or what take returned. When the
 * process has ended, each outstanding query is answered without names.
 */
int symbolizer_poll(struct symbolizer *symbolizer, symbol_take take, void *context, uint64_t wait_ns);

size_t symbolizer_outstanding_cnt(const struct symbolizer *symbolizer);
/* the process ended before it was asked to */
bool symbolizer_has_failed(const struct symbolizer *symbolizer);

/* ---- between the two processes ---- */

struct symbol_request {
	uint64_t address;
	uint32_t file;
	uint32_t has_fd; /* it comes along; once for each file */
};

struct symbol_reply {
	uint64_t offset;
	uint32_t line;
	uint16_t names_length;
	uint16_t source_length;
	/* names, source */
};

#define SYMBOL_REPLY_MAX (sizeof(struct symbol_reply) + SYMBOL_TEXT_MAX + 256)

/* The other process: answers until the socket is closed. context: its outside_settle. */
void symbolizer_serve(void *context);

#endif
