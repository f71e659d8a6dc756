/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/service/span_traces.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/id_map.h"

struct span_traces {
	struct id_map by_span; /* id, pid -> the id of its trace */
};

struct span_traces *span_traces_new(void)
{
	struct span_traces *traces = calloc(1, sizeof(*traces));

	if (traces)
		id_map_init(&traces->by_span);
	return traces;
}

static void forget_all(struct span_traces *traces)
{
	uint8_t *id;

	for (size_t i = 0; (id = id_map_next(&traces->by_span, &i));)
		free(id);
	id_map_release(&traces->by_span);
	id_map_init(&traces->by_span);
}

void span_traces_free(struct span_traces *traces)
{
	if (!traces)
		return;
	forget_all(traces);
	id_map_release(&traces->by_span);
	free(traces);
}

/* The last one that is valid counts, as in an export. */
int span_traces_see(struct span_traces *traces, const struct txtrace_attribute *attribute)
{
	struct trace_parent parent;
	uint8_t *id;

	if ((!trace_header_is(attribute, TRACEPARENT_NAME) && !trace_header_is(attribute, TRACE_SENT_NAME)) ||
	    !trace_parent_parse(&parent, attribute->string))
		return 0;
	id = id_map_get(&traces->by_span, attribute->span, attribute->pid);
	if (!id) {
		if (traces->by_span.cnt >= SPAN_TRACES_MAX)
			forget_all(traces); /* of spans that were filtered out no end comes */
		id = malloc(TRACE_ID_BYTES);
		if (!id)
			return -ENOMEM;
		if (id_map_put(&traces->by_span, attribute->span, attribute->pid, id)) {
			free(id);
			return -ENOMEM;
		}
	}
	memcpy(id, parent.trace_id, TRACE_ID_BYTES);
	return 0;
}

bool span_traces_take(struct span_traces *traces, const struct txtrace_span *span, uint8_t id[TRACE_ID_BYTES])
{
	uint8_t *own;
	const uint8_t *found;

	if (span->flags & TXTRACE_SPAN_KEYED)
		return false; /* its id is another kind of number */
	own = id_map_remove(&traces->by_span, span->id, span->pid);
	found = own;
	if (!found && span->parent && !(span->flags & TXTRACE_SPAN_PARENT_KEYED))
		found = id_map_get(&traces->by_span, span->parent, span->pid);
	if (found)
		memcpy(id, found, TRACE_ID_BYTES);
	free(own);
	return found != NULL;
}
