/* SPDX-License-Identifier: BSD-2-Clause */
/* What LTTng-UST is to record for tests/bench/mark_peers.c: as much as a begin and an end of ours. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER txtrace_peer
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./peer_lttng.h"

#if !defined(PEER_LTTNG_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define PEER_LTTNG_H

#include <lttng/tracepoint.h>
#include <stdint.h>

LTTNG_UST_TRACEPOINT_EVENT(txtrace_peer, begin,
	LTTNG_UST_TP_ARGS(uint64_t, id, const char *, label, uint64_t, parent),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint64_t, id, id)
			    lttng_ust_field_string(label, label)
			    lttng_ust_field_integer(uint64_t, parent, parent)))

LTTNG_UST_TRACEPOINT_EVENT(txtrace_peer, end,
	LTTNG_UST_TP_ARGS(uint64_t, id),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint64_t, id, id)))

#endif

#include <lttng/tracepoint-event.h>
