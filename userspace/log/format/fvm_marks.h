/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Traces of the Filecoin virtual machine: how a log holds them, for the import,
 * the export, and txtrace gas.
 *
 * The clock of such a log is gas: 1 ns of it is 1 milligas that was charged. The
 * header's options say so (FVM_CLOCK).
 *
 * Each event is an instant, in the words of the workbench's text, of the call
 * that was innermost: "GasCharge { name: "OnSyscall", compute_milli: 1, other_milli: 0 }".
 *
 * A trace in text has a span FVM_ROOT, with the id 1; a trace in JSON has none.
 * A call is a span FVM_SEND with its number in the order of the opening, + 1, as
 * its id, and the attributes from, to, method. Any other span is one of log lines.
 * What was charged to a span itself is its attributes "gas.NAME", in milligas;
 * their sum is FVM_SELF, and with what its callees were charged FVM_TOTAL.
 *
 * Spans of the events SpanBegin and SpanEnd are of the process FVM_SPANS_PID. What
 * their own clock said is FVM_BEGIN_NS and FVM_END_NS.
 */
#ifndef FVM_MARKS_H
#define FVM_MARKS_H

#include <string.h>

#define FVM_CLOCK "clock=gas"
#define FVM_CLOCK_JSON "clock=gas json" /* the order within a call is not known, and amounts are whole gas */
#define FVM_PID 1
#define FVM_TID 1
#define FVM_SPANS_PID 2
#define FVM_ROOT "Root"
#define FVM_SEND "Send"
#define FVM_GAS "gas."
#define FVM_SELF "gas self"
#define FVM_TOTAL "gas total"
#define FVM_FROM "from"
#define FVM_TO "to"
#define FVM_METHOD "method"
#define FVM_EXIT "exit_code"
#define FVM_ELAPSED "elapsed_ns"
#define FVM_BEGIN_NS "begin_ns"
#define FVM_END_NS "end_ns"

/* Whether the options of a log's header say that its clock is gas. */
static inline int fvm_is_gas(const char *options)
{
	return strncmp(options, FVM_CLOCK, strlen(FVM_CLOCK)) == 0;
}

#endif
