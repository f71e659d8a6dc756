/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who waited, for what, and who ended it, as it is shown: in tables, in
 * sentences, in JSON. Shared by the commands about waits.
 */
#ifndef PARTY_PRINT_H
#define PARTY_PRINT_H

#include "analyze/wait/wait_sums.h"
#include "base/json.h"
#include "base/text.h"

/*
 * "checkout", "thread worker-1", "an interrupt", "nobody known": fit for a
 * terminal, the name at most max_columns wide.
 */
void party_append(struct text *text, const struct party *party);

/* {"kind":"span","name":"checkout"}; "name" is null where there is none. */
void party_json(struct json *json, const char *member, const struct party *party);
/* the two, into the object that is open */
void party_members_json(struct json *json, const struct party *party);

/* "lock", … "page_fault", "reason unknown". */
const char *wait_reason_name(unsigned int reason);

/* "futex 0x7f12", "fd 7", "nanosleep", "a page", "not known". */
void wait_object_append(struct text *text, const struct wait_object *object);

/* The same with its reason: "lock, futex 0x7f12", "sleep of 5.00 ms", "stopped". */
void wait_what_append(struct text *text, const struct wait_object *object);

/*
 * Members of the object that is open: "pid", "reason", "kind", "object"
 * (address in hexadecimal, fd), "syscall".
 */
void wait_object_json(struct json *json, const struct wait_object *object);

/* {"lock":ns, …}: those that are not 0. */
void wait_reasons_json(struct json *json, const char *member, const uint64_t reason_ns[WAIT_REASON_COUNT]);

/* "lock 4.10 ms, disk 12.0 µs": the largest first, at most three; then "…". */
void wait_reasons_append(struct text *text, const uint64_t reason_ns[WAIT_REASON_COUNT]);

/* The lines about all waits of a log: rows of a table of two columns. */
struct table;
void wait_totals_add(struct table *table, const struct wait_sums *sums);
void wait_totals_json(struct json *json, const struct wait_sums *sums); /* "waits":{…} */

#endif
