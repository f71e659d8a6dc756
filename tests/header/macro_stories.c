/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a tracer sees of each macro. Valid C11 and valid C++17, and compiled as both. Exit status 0: all
 * stories are true.
 */
#include "macro_inline.h"
#include "story.h"

static void begin_and_end(void)
{
	txtrace_span_t s = TXTRACE_BEGIN("commit");

	TXTRACE_END(s);
}

static void children(void)
{
	txtrace_span_t s = TXTRACE_BEGIN("parent");
	txtrace_span_t c = TXTRACE_BEGIN_CHILD("child", counted(s));
	txtrace_span_t root = TXTRACE_BEGIN_CHILD("of nobody", 0);

	TXTRACE_END(root);
	TXTRACE_END(c);
	TXTRACE_END(s);
}

static void detached(void)
{
	txtrace_span_t s = TXTRACE_BEGIN("request");
	txtrace_span_t d = TXTRACE_BEGIN_DETACHED("queued", counted(s));
	txtrace_span_t root = TXTRACE_BEGIN_DETACHED("queued by nobody", 0);

	TXTRACE_ENTER(d);
	TXTRACE_EXIT(d);
	TXTRACE_ENTER(d);
	TXTRACE_END(d);
	TXTRACE_END(root);
	TXTRACE_EXIT(s);
	TXTRACE_END(s);
}

static void scopes(void)
{
	TXTRACE_SPAN("outer");
	{
		TXTRACE_SPAN("first"); TXTRACE_SPAN("second of a line");
		TXTRACE_SPAN("third");
	}
	TXTRACE_SPAN("last");
}

static int return_early(int n)
{
	TXTRACE_SPAN("returning");
	if (n > 1) {
		TXTRACE_SPAN("deeper");
		return n;
	}
	return 0;
}

static void ways_out(void)
{
	int i;

	(void)return_early(2);
	for (i = 0; i < 3; i++) {
		TXTRACE_SPAN("turn");
		if (i == 0)
			continue;
		if (i == 1)
			break;
	}
	{
		TXTRACE_SPAN("left by goto");
		goto out;
	}
out:
	TXTRACE_COUNTER("after", 1);
}

static void named_scopes(void)
{
	TXTRACE_SPAN_AS(s, "outer");
	{
		TXTRACE_SPAN_CHILD_AS(c, "inner", counted(s));
		TXTRACE_TAG(c, "step=1");
	}
	TXTRACE_TAG(s, "step=2");
	TXTRACE_SPAN_AS(unused, "unused");
}

static void tags(void)
{
	txtrace_span_t s = TXTRACE_BEGIN("write");
	char text[] = "shard=0,kind=write";

	text[6] = '3';
	TXTRACE_TAG(s, counted(text));
	TXTRACE_TAG(s, "a literal");
	TXTRACE_TAG(s, "");
	TXTRACE_END(s);
}

enum colour { RED, GREEN = 7 };
enum level { LOW = -1, HIGH = 1 };

static void integers(void)
{
	txtrace_span_t s = TXTRACE_BEGIN("integers");
	const long constant = -6;
	volatile unsigned short changing = 7;
	enum colour green = GREEN;
	enum level low = LOW;

	TXTRACE_ATTR(s, "signed char", (signed char)-1);
	TXTRACE_ATTR(s, "short", (short)-2);
	TXTRACE_ATTR(s, "int", counted(-3));
	TXTRACE_ATTR(s, "long long", (-9223372036854775807LL - 1));
	TXTRACE_ATTR(s, "const long", constant);
	TXTRACE_ATTR(s, "unsigned char", (unsigned char)255);
	TXTRACE_ATTR(s, "volatile unsigned short", changing);
	TXTRACE_ATTR(s, "unsigned", 4294967295U);
	TXTRACE_ATTR(s, "unsigned long", 8UL);
	TXTRACE_ATTR(s, "size", sizeof(uint64_t));
	TXTRACE_ATTR(s, "unsigned long long", counted(18446744073709551615ULL));
	TXTRACE_ATTR(s, "enum", green);
	TXTRACE_ATTR(s, "signed enum", low);
	TXTRACE_END(s);
}

#ifdef __cplusplus
typedef bool boolean;
#else
typedef _Bool boolean;
#endif

struct flags {
	unsigned mode : 3;
	int delta : 4;
	boolean is_new : 1;
};

static void other_types(void)
{
	txtrace_span_t s = TXTRACE_BEGIN("types");
	struct flags flags = {5, -3, 1};
	char buffer[8] = "buffer";
	const char *text = "text";
	void *pointer = (void *)0x1000;
	const int *integers_ = (const int *)0x2000;
	volatile struct flags *changing = (volatile struct flags *)0x3000;
	float quarter = 0.25F;
	boolean is_true = 1;

	TXTRACE_ATTR(s, "bool", is_true);
	TXTRACE_ATTR(s, "float", quarter);
	TXTRACE_ATTR(s, "double", counted(-1.5));
	TXTRACE_ATTR(s, "long double", 2.5L);
	TXTRACE_ATTR(s, "const char *", counted(text));
	TXTRACE_ATTR(s, "char array", buffer);
	TXTRACE_ATTR(s, "literal", "literal");
	TXTRACE_ATTR(s, "void *", pointer);
	TXTRACE_ATTR(s, "const int *", integers_);
	TXTRACE_ATTR(s, "volatile struct *", changing);
	TXTRACE_ATTR(s, "bit-field", flags.mode);
	TXTRACE_ATTR(s, "signed bit-field", flags.delta);
	TXTRACE_ATTR(s, "bool bit-field", flags.is_new);
	TXTRACE_END(s);
}

static void marks(void)
{
	txtrace_span_t s = TXTRACE_BEGIN("a");
	txtrace_span_t t = TXTRACE_BEGIN("b");
	size_t size = 3;
	char lane[] = "lane";

	TXTRACE_EVENT(s, "retry");
	TXTRACE_COUNTER("queue", counted(-5));
	TXTRACE_COUNTER("size", size);
	TXTRACE_COUNTER("largest", 9223372036854775807LL);
	TXTRACE_COUNTER("seconds", 2.75);
	TXTRACE_LINK(s, counted(t), "caused-by");
	TXTRACE_TRACK(t, counted(lane));
	TXTRACE_END(t);
	TXTRACE_END(s);
}

static void trace_context(void)
{
	txtrace_span_t s = TXTRACE_BEGIN("request");
	const txtrace_span_t none = 0;
	char header[TXTRACE_TRACEPARENT_SIZE] = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

	TXTRACE_SET_TRACEPARENT(s, counted(header));
	TXTRACE_SET_TRACESTATE(s, counted("vendor=value"));
	TXTRACE_TRACEPARENT(none, counted(header));
	TXTRACE_SET_TRACEPARENT(none, counted(header));
	TXTRACE_SET_TRACESTATE(none, counted(header));
	TXTRACE_END(s);
}

static void keys(void)
{
	char digest[] = "digest";
	unsigned char bytes[3] = {'x', 'y', 'z'};
	int length = 6;

	TXTRACE_KEY_BEGIN("transaction", counted(digest), counted(length));
	TXTRACE_KEY_ENTER(counted(digest), counted(length));
	TXTRACE_KEY_EXIT(counted(digest), counted(length));
	TXTRACE_KEY_EVENT(counted(digest), counted(length), "enqueued");
	TXTRACE_KEY_END(counted(digest), counted(length));
	TXTRACE_KEY_ENTER(bytes, sizeof(bytes));
	TXTRACE_KEY_END("a key of more than sixty-four bytes, which is passed on as it is here", 69);
}

static void nobody(void)
{
	const txtrace_span_t none = 0;
	txtrace_span_t s = TXTRACE_BEGIN("somebody");

	TXTRACE_ENTER(none);
	TXTRACE_EXIT(none);
	TXTRACE_TAG(none, counted("text"));
	TXTRACE_ATTR(none, "n", counted(1));
	TXTRACE_TRACK(none, counted("lane"));
	TXTRACE_EVENT(none, "event");
	TXTRACE_LINK(none, counted(s), "link");
	TXTRACE_LINK(s, none, "link");
	TXTRACE_END(none);
	TXTRACE_END(s);
}

static void expressions(void)
{
	txtrace_span_t s = counted(0) ? 0 : TXTRACE_BEGIN("a" " label" " in pieces");
	int is_enabled;

	story_evaluation_cnt = 0;
	if (s)
		TXTRACE_TAG(s, "no braces");
	else
		TXTRACE_TAG(s, "untraced");
	s ? TXTRACE_EVENT(s, "of an operator") : (void)0;
	TXTRACE_COUNTER("left", 1), TXTRACE_COUNTER("right", 2);
	is_enabled = TXTRACE_ENABLED();
	if (is_enabled && TXTRACE_ENABLED())
		story_evaluation_cnt++;
	TXTRACE_END(s);
}

static void inline_functions(void)
{
	(void)marked_twice(1);
	(void)marked_elsewhere(2);
	TXTRACE_END(begin_elsewhere());
}

static void span_that_outlives_its_tracer(void)
{
	txtrace_span_t s = TXTRACE_BEGIN("left alone");

	if (s)
		probe_trap_detach();
	TXTRACE_EVENT(s, "unseen");
	TXTRACE_END(s);
	if (s)
		probe_trap_attach_again();
	TXTRACE_COUNTER("seen", 1);
}

static const struct story stories[] = {
	{"a span begins and ends", begin_and_end,
	 "begin(#1, \"commit\", 0)\n"
	 "end(#1)\n",
	 0},
	{"a child names its parent, and no parent makes a root", children,
	 "begin(#1, \"parent\", 0)\n"
	 "begin(#2, \"child\", #1)\n"
	 "begin(#3, \"of nobody\", root)\n"
	 "end(#3)\n"
	 "end(#2)\n"
	 "end(#1)\n",
	 1},
	{"a detached span is entered and left by those who work for it", detached,
	 "begin(#1, \"request\", 0)\n"
	 "begin_detached(#2, \"queued\", #1)\n"
	 "begin_detached(#3, \"queued by nobody\", root)\n"
	 "enter(#2)\n"
	 "exit(#2)\n"
	 "enter(#2)\n"
	 "end(#2)\n"
	 "end(#3)\n"
	 "exit(#1)\n"
	 "end(#1)\n",
	 1},
	{"scoped spans end with their block, the last first", scopes,
	 "begin(#1, \"outer\", 0)\n"
	 "begin(#2, \"first\", 0)\n"
	 "begin(#3, \"second of a line\", 0)\n"
	 "begin(#4, \"third\", 0)\n"
	 "end(#4)\n"
	 "end(#3)\n"
	 "end(#2)\n"
	 "begin(#5, \"last\", 0)\n"
	 "end(#5)\n"
	 "end(#1)\n",
	 0},
	{"scoped spans end however the block is left", ways_out,
	 "begin(#1, \"returning\", 0)\n"
	 "begin(#2, \"deeper\", 0)\n"
	 "end(#2)\n"
	 "end(#1)\n"
	 "begin(#3, \"turn\", 0)\n"
	 "end(#3)\n"
	 "begin(#4, \"turn\", 0)\n"
	 "end(#4)\n"
	 "begin(#5, \"left by goto\", 0)\n"
	 "end(#5)\n"
	 "counter(\"after\", 1)\n",
	 0},
	{"a scoped span can have a name and a parent", named_scopes,
	 "begin(#1, \"outer\", 0)\n"
	 "begin(#2, \"inner\", #1)\n"
	 "tag(#2, \"step=1\")\n"
	 "end(#2)\n"
	 "tag(#1, \"step=2\")\n"
	 "begin(#3, \"unused\", 0)\n"
	 "end(#3)\n"
	 "end(#1)\n",
	 1},
	{"a tag is a string of this execution", tags,
	 "begin(#1, \"write\", 0)\n"
	 "tag(#1, \"shard=3,kind=write\")\n"
	 "tag(#1, \"a literal\")\n"
	 "tag(#1, \"\")\n"
	 "end(#1)\n",
	 1},
	{"attributes of integers keep sign and width", integers,
	 "begin(#1, \"integers\", 0)\n"
	 "attr(#1, \"signed char\", int -1)\n"
	 "attr(#1, \"short\", int -2)\n"
	 "attr(#1, \"int\", int -3)\n"
	 "attr(#1, \"long long\", int -9223372036854775808)\n"
	 "attr(#1, \"const long\", int -6)\n"
	 "attr(#1, \"unsigned char\", uint 255)\n"
	 "attr(#1, \"volatile unsigned short\", uint 7)\n"
	 "attr(#1, \"unsigned\", uint 4294967295)\n"
	 "attr(#1, \"unsigned long\", uint 8)\n"
	 "attr(#1, \"size\", uint 8)\n"
	 "attr(#1, \"unsigned long long\", uint 18446744073709551615)\n"
	 "attr(#1, \"enum\", uint 7)\n"
	 "attr(#1, \"signed enum\", int -1)\n"
	 "end(#1)\n",
	 2},
	{"attributes of other types", other_types,
	 "begin(#1, \"types\", 0)\n"
	 "attr(#1, \"bool\", bool true)\n"
	 "attr(#1, \"float\", double 0.25)\n"
	 "attr(#1, \"double\", double -1.5)\n"
	 "attr(#1, \"long double\", double 2.5)\n"
	 "attr(#1, \"const char *\", string \"text\")\n"
	 "attr(#1, \"char array\", string \"buffer\")\n"
	 "attr(#1, \"literal\", string \"literal\")\n"
	 "attr(#1, \"void *\", pointer 0x1000)\n"
	 "attr(#1, \"const int *\", pointer 0x2000)\n"
	 "attr(#1, \"volatile struct *\", pointer 0x3000)\n"
#if defined(__cplusplus) || defined(__clang__)
	 "attr(#1, \"bit-field\", uint 5)\n"
#else
	 "attr(#1, \"bit-field\", int 5)\n"
#endif
	 "attr(#1, \"signed bit-field\", int -3)\n"
	 "attr(#1, \"bool bit-field\", bool true)\n"
	 "end(#1)\n",
	 2},
	{"events, counters and links", marks,
	 "begin(#1, \"a\", 0)\n"
	 "begin(#2, \"b\", 0)\n"
	 "event(#1, \"retry\")\n"
	 "counter(\"queue\", -5)\n"
	 "counter(\"size\", 3)\n"
	 "counter(\"largest\", 9223372036854775807)\n"
	 "counter(\"seconds\", 2)\n"
	 "link(#1, #2, \"caused-by\")\n"
	 "attr(#2, \"track\", string \"lane\")\n"
	 "end(#2)\n"
	 "end(#1)\n",
	 3},
	{"headers of a trace that came in", trace_context,
	 "begin(#1, \"request\", 0)\n"
	 "attr(#1, \"traceparent\", string \"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\")\n"
	 "attr(#1, \"tracestate\", string \"vendor=value\")\n"
	 "end(#1)\n",
	 2},
	{"keys are bytes and a length", keys,
	 "key_begin(\"transaction\", \"digest\", 6)\n"
	 "key_enter(\"digest\", 6)\n"
	 "key_exit(\"digest\", 6)\n"
	 "key_event(\"digest\", 6, \"enqueued\")\n"
	 "key_end(\"digest\", 6)\n"
	 "key_enter(\"xyz\", 3)\n"
	 "key_end(\"a key of more than sixty-four bytes, which is passed on as it is\", 69)\n",
	 10},
	{"span 0 does nothing", nobody,
	 "begin(#1, \"somebody\", 0)\n"
	 "end(#1)\n",
	 0},
	{"macros are expressions and single statements", expressions,
	 "begin(#1, \"a label in pieces\", 0)\n"
	 "tag(#1, \"no braces\")\n"
	 "event(#1, \"of an operator\")\n"
	 "counter(\"left\", 1)\n"
	 "counter(\"right\", 2)\n"
	 "end(#1)\n",
	 1},
	{"inline functions of several files call the same probes", inline_functions,
	 "begin(#1, \"twice\", 0)\n"
	 "counter(\"n\", 1)\n"
	 "end(#1)\n"
	 "begin(#2, \"twice\", 0)\n"
	 "counter(\"n\", 2)\n"
	 "end(#2)\n"
	 "begin(#3, \"elsewhere\", 0)\n"
	 "end(#3)\n",
	 0},
	{"a span outlives its tracer and is unknown to the next", span_that_outlives_its_tracer,
	 "counter(\"seen\", 1)\n",
	 0},
};

#ifdef __cplusplus
int check_cpp_stories(); /* macro_stories_cpp.cpp */
#else
static int check_cpp_stories(void)
{
	return 0;
}
#endif

int main(void)
{
	return check_stories(stories, sizeof(stories) / sizeof(stories[0])) + check_cpp_stories() != 0;
}
