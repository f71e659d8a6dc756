/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * otel_hostile MODE: publishes contexts that are none, for a third of a second, then one that is (trace 7,
 * span 9, in which it sleeps for 20 ms), and prints "done".
 *
 *	nowhere, odd, kernel, self, half, long, invalid   what the variable leads to
 *	torn         the process' header is always being changed
 *	flicker      it changes all the time
 *	huge, unmapped, garbage, version, signature       what the header says, or leads to
 */
#include <pthread.h>
#include <stdio.h>

#include "otel_context.h"

__attribute__((visibility("default"))) __thread struct otel_record *otel_thread_ctx_v1;

struct otel_record **otel_variable(void)
{
	return &otel_thread_ctx_v1;
}

static struct otel_record record;
static struct otel_header *header;

static void *thread_pointer(void)
{
	return (void *)pthread_self();
}

static void spoil_variable(const char *mode)
{
	otel_fill(&record, 5, 6);
	record.valid = 1;
	otel_thread_ctx_v1 = &record;
	if (!strcmp(mode, "nowhere"))
		otel_thread_ctx_v1 = (void *)16;
	else if (!strcmp(mode, "odd"))
		otel_thread_ctx_v1 = (void *)((char *)&record + 1);
	else if (!strcmp(mode, "kernel"))
		otel_thread_ctx_v1 = (void *)0xffff888000000000;
	else if (!strcmp(mode, "self"))
		otel_thread_ctx_v1 = thread_pointer();
	else if (!strcmp(mode, "half"))
		memset(record.span, 0, sizeof(record.span));
	else if (!strcmp(mode, "long"))
		record.attribute_bytes = 60000;
	else if (!strcmp(mode, "invalid"))
		record.valid = 2;
	else
		otel_thread_ctx_v1 = NULL;
}

static void spoil_header(const char *mode)
{
	static uint8_t garbage[4096];

	memset(garbage, 0xff, sizeof(garbage));
	if (!strcmp(mode, "torn"))
		header->published_ns = 0;
	else if (!strcmp(mode, "huge"))
		header->message_bytes = 0xffffffff;
	else if (!strcmp(mode, "unmapped"))
		header->message = (void *)4096;
	else if (!strcmp(mode, "garbage"))
		header->message = garbage;
	else if (!strcmp(mode, "version"))
		header->version = 99;
	else if (!strcmp(mode, "signature"))
		memcpy(header->signature, "OTEL_CTY", 8);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";

	header = otel_announce(NULL, "the \x1b[31mworst", "tlsdesc_v1_dev");
	if (!header)
		return 1;
	spoil_variable(mode);
	spoil_header(mode);
	for (int i = 0; i < 300; i++) {
		usleep(1000);
		if (!strcmp(mode, "flicker"))
			header->published_ns++;
	}
	otel_announce(header, "the best", "tlsdesc_v1_dev");
	usleep(1500000);
	otel_set(&record, 7, 9);
	usleep(20000);
	otel_set(&record, 0, 0);
	usleep(1000);
	record.attribute_bytes = 0;
	otel_show_at_last(&record);
	puts("done");
	return 0;
}
