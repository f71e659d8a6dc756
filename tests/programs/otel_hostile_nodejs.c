/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * otel_hostile_nodejs MODE: as otel_hostile, of a context as Node.js has it: what leads to the record is
 * spoiled for a third of a second.
 *
 *	nowhere, small, undefined    the present frame
 *	table, counts, buckets, many the map's table
 *	circle, beyond, text         its entries
 *	key, value, place, odd       what the key is, what has the record, and where in it
 */
#include <stdio.h>

#include "otel_nodejs.h"

#define UNMAPPED 4097

static void spoil(const char *mode)
{
	struct nodejs_variable *variable = &otel_thread_ctx_nodejs_v1;
	struct nodejs_table *table = &nodejs_world->table;

	if (!strcmp(mode, "nowhere"))
		nodejs_world->frame_slot = UNMAPPED;
	else if (!strcmp(mode, "small"))
		nodejs_world->frame_slot = NUMBER(7);
	else if (!strcmp(mode, "undefined"))
		nodejs_world->frame_slot = variable->undefined;
	else if (!strcmp(mode, "table"))
		nodejs_world->frame[3] = UNMAPPED;
	else if (!strcmp(mode, "counts"))
		table->there = 5;
	else if (!strcmp(mode, "buckets"))
		table->buckets = NUMBER(3);
	else if (!strcmp(mode, "many"))
		table->buckets = NUMBER(0x40000000);
	else if (!strcmp(mode, "circle"))
		table->entries[4][2] = NUMBER(5);
	else if (!strcmp(mode, "beyond"))
		table->entries[4][2] = NUMBER(1000000000);
	else if (!strcmp(mode, "text"))
		table->entries[4][2] = 0x6f207473616c2061;
	else if (!strcmp(mode, "key"))
		variable->key = UNMAPPED;
	else if (!strcmp(mode, "value"))
		table->entries[1][1] = UNMAPPED;
	else if (!strcmp(mode, "place"))
		variable->record = 0;
	else if (!strcmp(mode, "odd"))
		variable->record = 33;
}

static void repair(const struct nodejs_variable *before)
{
	otel_thread_ctx_nodejs_v1 = *before;
	nodejs_fill_table(nodejs_world);
	nodejs_world->frame[3] = OBJECT(&nodejs_world->table);
	nodejs_world->frame_slot = OBJECT(nodejs_world->frame);
}

int main(int argc, char **argv)
{
	struct otel_header *header = otel_announce(NULL, "the worst", "nodejs_v1_dev");
	static struct otel_record record, other;
	struct nodejs_variable before;

	if (!header)
		return 1;
	otel_set(&record, 0, 0);
	before = otel_thread_ctx_nodejs_v1;
	otel_fill(&other, 5, 6);
	other.valid = 1;
	*otel_variable() = &other;
	spoil(argc > 1 ? argv[1] : "");
	usleep(1500000);
	*otel_variable() = NULL;
	repair(&before);
	otel_show_at_last(&record);
	puts("done");
	return 0;
}
