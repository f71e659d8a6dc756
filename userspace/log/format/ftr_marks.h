/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * FTR (Fast Transaction Recording): the numbers of the format, and how a log
 * holds it, for the import and the export.
 *
 * A stream is a thread of its name. Its spans have the attribute "track" as
 * well, unless its kind is "thread". A transaction is a span with the id that
 * it has in the file; its label is the name of its generator. What the file
 * says and no record has a place for are instants without a span of FTR_TID:
 *
 *	ftr info EXPONENT [SECONDS]       of the info chunk
 *	ftr stream TID ID KIND            the thread TID is the stream ID
 *	ftr generator TID ID NAME         spans of that label of that thread are of this generator
 *	ftr attribute CLASS TYPE NAME     attributes of that name have this class and this type
 *
 * The latter two hold from there on, until one for the same name says
 * something else. Numbers are decimal, and NAME and KIND go to the end.
 *
 * A time is in ns. What is cut off of a span's times is the attribute FTR_PS:
 * 1000 times the ps of the begin, and those of the end.
 *
 * A transaction of a generator NAME.events is an instant of the span that is
 * its parent. In front of it stands a link NAME.events from that span to the id
 * of the transaction.
 */
#ifndef FTR_MARKS_H
#define FTR_MARKS_H

#include <float.h>

#define FTR_PID 1 /* the format has neither pid nor tid */
#define FTR_TID 1
#define FTR_STREAM_TID 2 /* of the first stream; the others follow */
#define FTR_THREAD "ftr"
#define FTR_INFO "ftr info "
#define FTR_STREAM "ftr stream "
#define FTR_GENERATOR "ftr generator "
#define FTR_ATTRIBUTE "ftr attribute "
#define FTR_PS "ftr.ps"
#define FTR_KIND_THREAD "thread"
#define FTR_EVENTS ".events"
#define FTR_EVENT_NAME "name"	    /* the attribute that an event has */
#define FTR_PARENT "parent_of"	    /* the relation from a parent to its child */
#define FTR_EXACT ".exact"	    /* the attribute NAME.exact: what NAME is, in all its digits */
#define FTR_LOSSES "txtrace.losses" /* the stream of losses, with the generator "loss", */
#define FTR_LOSS "loss"
#define FTR_LOSS_CPU "cpu" /* whose transactions have these */
#define FTR_LOSS_SPAN_EVENTS "span_events"
#define FTR_LOSS_SCHED_EVENTS "sched_events"
#define FTR_LOSS_PID "pid" /* these two only if the thread is known */
#define FTR_LOSS_TID "tid"
#define FTR_ID_OF_ZERO (1ull << 63) /* the span id of the transaction 0; a span's id is never 0 */

#define FTR_EXPONENT -12 /* times are in ps, whatever the info chunk says */
#define FTR_PS_PER_NS 1000u

enum ftr_tag { /* of a chunk; + 1: it is compressed */
	       FTR_TAG_INFO = 6,
	       FTR_TAG_DICTIONARY = 8,
	       FTR_TAG_DIRECTORY = 10,
	       FTR_TAG_TRANSACTIONS = 12,
	       FTR_TAG_RELATIONS = 14,
};

#define FTR_TAG_FILE 55799u
#define FTR_TAG_TIME 1u	   /* in the info chunk */
#define FTR_TAG_STREAM 16u /* in the directory */
#define FTR_TAG_GENERATOR 17u
#define FTR_TAG_TRANSACTION 6u /* in a transaction */
#define FTR_TAG_CLASS 7u       /* + enum ftr_class */

enum ftr_class { /* when an attribute was recorded */
		 FTR_BEGIN = 0,
		 FTR_DURING = 1,
		 FTR_END = 2,
		 FTR_CLASS_CNT = 3,
};

enum ftr_type {
	FTR_BOOLEAN = 0,
	FTR_ENUMERATION = 1,
	FTR_INTEGER = 2,
	FTR_UNSIGNED = 3,
	FTR_FLOATING_POINT_NUMBER = 4,
	FTR_BIT_VECTOR = 5,
	FTR_LOGIC_VECTOR = 6,
	FTR_FIXED_POINT_INTEGER = 7,
	FTR_UNSIGNED_FIXED_POINT_INTEGER = 8,
	FTR_POINTER = 9,
	FTR_STRING = 10,
	FTR_TIME = 11, /* in units of the info chunk */
	FTR_TYPE_CNT = 12,
};

/* In single precision; what is finite stays so. */
static inline float ftr_single(double real)
{
	if (real > (double)FLT_MAX && real <= DBL_MAX)
		return FLT_MAX;
	if (real < -(double)FLT_MAX && real >= -DBL_MAX)
		return -FLT_MAX;
	return (float)real;
}

#endif
