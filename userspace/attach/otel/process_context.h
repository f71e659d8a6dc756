/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a tracer of OpenTelemetry publishes of its process (OTEP 4719): memory
 * named OTEL_CTX with a header, which leads to a message of protobuf. It says
 * what the service is called, and in what form threads publish what they do
 * (OTEP 4947). All of it is the program's word.
 */
#ifndef PROCESS_CONTEXT_H
#define PROCESS_CONTEXT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct process_reader;

#define PROCESS_CONTEXT_TEXT_MAX 64

enum thread_schema {
	THREAD_SCHEMA_NONE = 0,	  /* it says nothing of threads */
	THREAD_SCHEMA_TLS = 1,	  /* a variable of each thread: ELF_CONTEXT_NAME */
	THREAD_SCHEMA_NODEJS = 2, /* ELF_NODEJS_CONTEXT_NAME */
	THREAD_SCHEMA_OTHER = 3,  /* that we do not read */
};

struct process_context {
	uint64_t published_ns; /* when, by its own clock: another value after each change */
	enum thread_schema schema;
	/* cut off, any bytes but NUL; empty: not told */
	char schema_name[PROCESS_CONTEXT_TEXT_MAX];
	char service[PROCESS_CONTEXT_TEXT_MAX];
};

/*
 * Of the memory at the address. 0; -EAGAIN: it is being changed; -EPROTO: it is
 * no such memory, or damaged; -ENOTSUP: a version that is not known; errors of
 * process_reader_bytes().
 */
int process_context_read(struct process_context *context, struct process_reader *reader, pid_t pid,
			 uint64_t address);

/* When it was published, 0 while it is being changed; or a negative errno. */
int process_context_published(uint64_t *published_ns, struct process_reader *reader, pid_t pid,
			      uint64_t address);

/* The message alone. -EPROTO: it is none. */
int process_context_parse(struct process_context *context, const void *bytes, size_t length);

#endif
