/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How spans of a program that was never changed are written, on the command
 * line and in presets; docs/unmodified.md is for its users.
 *
 *	span    LABEL=POINT[|POINT…]..POINT[|POINT…][,key=KEY][,tag=TAG][,end-tag=TAG][,parent=PARENT]
 *		[,again=inside][,blocked=REASON]
 *	point   [usdt:]PROVIDER:PROBE[(NAME,…)]    uprobe:BINARY:SYMBOL    uretprobe:BINARY:SYMBOL
 *	key     TERM[+TERM] or TERM[+TERM]/TERM[+TERM] (at the begin / at the end); default tid
 *	tag     [NAME:]TERM[+[NAME:]TERM…]
 *	parent  thread, none, LABEL (that the thread has open, or that has the same key), or
 *	        LABEL(TERM[+TERM])
 *	again   inside: a begin while the span is open is one within it, and has an end of its own; restart,
 *	        the default: it begins anew
 *	blocked what polls (poll, select, epoll, io_uring) wait for in the span: lock, disk, network, …
 *	term    tid, arg0 … arg11, retval, or a NAME that the point gives to its argument; str(TERM): the
 *	        string at this address, up to its NUL; in tags
 *	        str(TERM,TERM), too: so many bytes of it
 *	func    BINARY:SYMBOL[,SYMBOL…]; BINARY: may stand before each symbol
 *
 * Commas and bars within brackets belong to a symbol. Pure: nothing is looked
 * up here.
 */
#ifndef SPAN_SPEC_H
#define SPAN_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "txtrace/foreign.h"

#define SPAN_SPEC_BYTES_MAX 4096
#define SPAN_POINT_MAX 8     /* begins, ends, patterns of a func */
#define SPAN_ARGUMENT_MAX 12 /* of a USDT probe, as systemtap has it */
#define SPAN_LABEL_BYTES_MAX 255

enum span_point_kind {
	SPAN_POINT_USDT,
	SPAN_POINT_ENTRY,
	SPAN_POINT_RETURN,
};

struct span_point {
	enum span_point_kind kind;
	const char *object; /* provider, or pattern of the binary */
	const char *name;   /* probe, or pattern of the symbol */
	const char *arguments[SPAN_ARGUMENT_MAX]; /* their names */
	size_t argument_cnt;
};

enum span_term_kind {
	SPAN_TERM_TID,
	SPAN_TERM_ARGUMENT,
	SPAN_TERM_RETVAL,
};

struct span_term {
	enum span_term_kind kind;
	bool is_string;
	unsigned int idx;     /* ARGUMENT without a name */
	const char *argument; /* ARGUMENT: its name in the points; NULL: idx counts */
	/* a string, and an argument says how many bytes it has; else it ends with a NUL */
	bool has_length;
	unsigned int length_idx; /* likewise */
	const char *length_argument;
	const char *name;     /* of a tag */
};

struct span_terms {
	struct span_term terms[FOREIGN_TAG_MAX];
	size_t cnt;
};

struct span_spec {
	const char *label;
	struct span_point begins[SPAN_POINT_MAX];
	struct span_point ends[SPAN_POINT_MAX];
	size_t begin_cnt;
	size_t end_cnt;
	struct span_terms key; /* cnt 0: the thread */
	struct span_terms end_key;
	struct span_terms tags;
	struct span_terms end_tags;
	bool counts_again;
	uint32_t told_reason; /* enum block_reason + 1; 0: none */
	enum foreign_parent parent;
	const char *parent_label; /* FOREIGN_PARENT_SPAN */
	struct span_terms parent_key;
	char *strings; /* all of the above */
};

/*
 * 0; -EINVAL and a sentence that quotes the text and points at the place;
 * -ENOMEM. After an error there is nothing to release.
 */
int span_spec_parse(struct span_spec *spec, const char *text, struct error *error);
void span_spec_release(struct span_spec *spec);

/* The argument that a term means at this point: its index, or -1: the point has none of that name. */
int span_term_argument(const struct span_term *term, const struct span_point *point);
int span_term_length_argument(const struct span_term *term, const struct span_point *point);

struct func_spec {
	const char *binary;
	const char *symbols[SPAN_POINT_MAX];
	size_t symbol_cnt;
	char *strings;
};

int func_spec_parse(struct func_spec *spec, const char *text, struct error *error);
void func_spec_release(struct func_spec *spec);

#endif
