/* SPDX-License-Identifier: BSD-2-Clause */
/* The strings of a record that go into the dictionary of a batch. */
#ifndef RECORD_STRINGS_H
#define RECORD_STRINGS_H

#include "txtrace/log.h"

struct record_strings {
	const struct txtrace_string *names;    /* one of few (a label, a command), or NULL */
	const struct txtrace_string *texts[2]; /* one of many, as the record has them; NULL: no more */
};

/* They are the record's. */
struct record_strings record_strings_of(const struct txtrace_record *record);

#endif
