/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The plan within, and one object while its probes are looked for: what is
 * found, and what could not be, is put here.
 */
#ifndef FOREIGN_SEARCH_H
#define FOREIGN_SEARCH_H

#include "attach/elf/elf_functions.h"
#include "attach/unmodified/foreign_plan.h"
#include "attach/unmodified/name_guess.h"
#include "attach/unmodified/span_spec.h"

#define FOREIGN_WARNING_MAX 64
#define FOREIGN_LABEL_MAX 65536
_Static_assert(FOREIGN_LABEL_MAX <= 1 << PROBE_PATH_COOKIE_BITS, "a label's index is a cookie");

/* The file in which a function is to be. */
struct func_binary {
	bool is_mapped;
	struct name_guess guess; /* where none is: what may have been meant */
};

struct foreign_plan {
	struct span_spec *spans;
	size_t span_cnt;
	struct func_spec *funcs;
	size_t func_cnt;
	size_t function_limit;
	enum foreign_returns returns;
	size_t (*point_hits)[2][SPAN_POINT_MAX]; /* per span, begins and ends: sites found */
	/*
	 * per span: something that is mapped has probes of the provider of its first begin, whatever their
	 * names
	 */
	bool *has_provider;
	size_t (*func_hits)[SPAN_POINT_MAX];
	bool (*func_is_refused)[SPAN_POINT_MAX]; /* it means too many functions, which has been said */
	/* where there are no hits: what may have been meant */
	struct name_guess (*point_guesses)[2][SPAN_POINT_MAX];
	struct name_guess (*func_guesses)[SPAN_POINT_MAX];
	struct func_binary *func_binaries; /* per function */

	char **labels;
	size_t label_cnt;
	uint32_t *function_labels; /* of the functions that are traced: indexes of labels, each once */
	size_t function_label_cnt;

	/* by label, and by span: one of its probes is on an instruction that the kernel single-steps */
	bool *is_stepped_label;
	bool is_stepped_span[FOREIGN_SPAN_MAX];
	size_t stepped_cnt;
	const char *stepped_example; /* one of them */

	struct foreign_site sites[FOREIGN_SITE_MAX]; /* as they are in the map */
	size_t site_cnt;
	int sites_fd;
	struct probe_spot_program programs[FOREIGN_PROGRAM_CNT];

	struct error warnings[FOREIGN_WARNING_MAX];
	size_t warning_cnt;
	size_t told_cnt;
};

/* One object while its probes are collected. */
struct foreign_search {
	struct foreign_plan *plan;
	const struct foreign_object *object;
	struct probe_spot *spots;
	size_t spot_cnt;
	struct elf_functions functions; /* read when the first one is asked for */
	bool have_functions;
	char **cxx_names; /* likewise: of each of them, or NULL */
	int may_unwind;   /* -1: not looked at yet */
};

__attribute__((format(printf, 2, 3))) void foreign_warn(struct foreign_plan *plan, const char *format, ...);

/* The address of a label, which is added if it is new; 0: no memory, or too many. */
uint64_t foreign_label_address(struct foreign_plan *plan, const char *label);

int foreign_add_spot(struct foreign_search *search, const struct probe_spot *spot);

#endif
