/* SPDX-License-Identifier: BSD-2-Clause */
/* Execution traces of lotus, as JSON: alone, in lists, or in what its commands and its API print. */
#ifndef FVM_JSON_H
#define FVM_JSON_H

#include "import/fvm_story.h"
#include "import/json_source.h"

struct fvm_json {
	struct fvm_story *story;
	struct json_source *json;
	uint64_t trace_cnt;  /* outermost calls */
	uint64_t wrong_cnt;  /* charges without amounts */
	uint64_t unlike_cnt; /* charges whose total is not the sum of its parts */
};

/* 0; -EBADMSG, -ENODATA: it can't be read from the source's place on; -ELOOP: too deep; or another error. */
int fvm_json_read(struct fvm_json *reader);

#endif
