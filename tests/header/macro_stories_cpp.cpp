/* SPDX-License-Identifier: BSD-2-Clause */
/* What a tracer sees of the macros where only C++ can put them. */
#include <string>
#include <utility>

#include "macro_inline.h"
#include "story.h"

namespace
{

void fail(int n)
{
	TXTRACE_SPAN("failing");
	if (n > 0)
		throw n;
}

void exceptions()
{
	try {
		TXTRACE_SPAN("trying");
		fail(1);
	} catch (int n) {
		TXTRACE_COUNTER("caught", n);
	}
}

void lambdas()
{
	txtrace_span_t s = TXTRACE_BEGIN("captured");
	auto work = [s](auto value) {
		TXTRACE_SPAN_AS(inner, "in a lambda");
		TXTRACE_ATTR(s, "value", value);
		TXTRACE_ATTR(inner, "value", [&] { return counted(value) + value; }());
	};

	work(1);
	work(2.5);
	TXTRACE_END(s);

	TXTRACE_SPAN_AS(outer, "captured by reference");
	[&] { TXTRACE_TAG(outer, "seen"); }();
}

template <class T> bool is_marked(T value)
{
	TXTRACE_SPAN("in a template");
	if constexpr (sizeof(T) > 4) {
		TXTRACE_COUNTER("wide", value);
		return true;
	} else {
		TXTRACE_COUNTER("narrow", value);
		return false;
	}
}

void templates()
{
	(void)is_marked(1);
	(void)is_marked(2L);
	(void)is_marked(static_cast<char>(3));
}

class server
{
public:
	explicit server(const std::string &name) : span_(TXTRACE_BEGIN("server"))
	{
		TXTRACE_TAG(span_, counted(name.c_str()));
	}
	~server() { TXTRACE_END(span_); }
	server(const server &) = delete;
	server &operator=(const server &) = delete;

	int serve() const
	{
		TXTRACE_SPAN_CHILD_AS(s, "serve", counted(span_));
		return static_cast<int>(s != 0);
	}

private:
	txtrace_span_t span_;
};

void classes()
{
	server one("one");

	(void)one.serve();
}

enum class scoped : unsigned char { last = 200 };
enum class negative : long { lowest = -1 };

void attribute_types()
{
	txtrace_span_t s = TXTRACE_BEGIN("types");
	int number = 4;
	int &reference = number;
	const auto [first, second] = std::pair<int, const char *>(5, "second");

	TXTRACE_ATTR(s, "true", true);
	TXTRACE_ATTR(s, "false", counted(false));
	TXTRACE_ATTR(s, "char", 'A');
	TXTRACE_ATTR(s, "char16_t", u'B');
	TXTRACE_ATTR(s, "wchar_t", L'C');
	TXTRACE_ATTR(s, "enum class", scoped::last);
	TXTRACE_ATTR(s, "negative enum class", negative::lowest);
	TXTRACE_ATTR(s, "reference", reference);
	TXTRACE_ATTR(s, "first", first);
	TXTRACE_ATTR(s, "second", second);
	TXTRACE_ATTR(s, "nullptr", nullptr);
	TXTRACE_ATTR(s, "function", reinterpret_cast<void (*)(int)>(0x4000));
	TXTRACE_ATTR(s, "unsigned char *", reinterpret_cast<unsigned char *>(0x5000));
	TXTRACE_END(s);
}

const struct story stories[] = {
	{"an exception ends the scoped spans that it leaves", exceptions,
	 "begin(#1, \"trying\", 0)\n"
	 "begin(#2, \"failing\", 0)\n"
	 "end(#2)\n"
	 "end(#1)\n"
	 "counter(\"caught\", 1)\n",
	 0},
	{"macros in lambdas, and lambdas in macros", lambdas,
	 "begin(#1, \"captured\", 0)\n"
	 "begin(#2, \"in a lambda\", 0)\n"
	 "attr(#1, \"value\", int 1)\n"
	 "attr(#2, \"value\", int 2)\n"
	 "end(#2)\n"
	 "begin(#3, \"in a lambda\", 0)\n"
	 "attr(#1, \"value\", double 2.5)\n"
	 "attr(#3, \"value\", double 5)\n"
	 "end(#3)\n"
	 "end(#1)\n"
	 "begin(#4, \"captured by reference\", 0)\n"
	 "tag(#4, \"seen\")\n"
	 "end(#4)\n",
	 2},
	{"macros in templates and behind if constexpr", templates,
	 "begin(#1, \"in a template\", 0)\n"
	 "counter(\"narrow\", 1)\n"
	 "end(#1)\n"
	 "begin(#2, \"in a template\", 0)\n"
	 "counter(\"wide\", 2)\n"
	 "end(#2)\n"
	 "begin(#3, \"in a template\", 0)\n"
	 "counter(\"narrow\", 3)\n"
	 "end(#3)\n",
	 0},
	{"a span is a member of an object", classes,
	 "begin(#1, \"server\", 0)\n"
	 "tag(#1, \"one\")\n"
	 "begin(#2, \"serve\", #1)\n"
	 "end(#2)\n"
	 "end(#1)\n",
	 2},
	{"attributes of the types of C++", attribute_types,
	 "begin(#1, \"types\", 0)\n"
	 "attr(#1, \"true\", bool true)\n"
	 "attr(#1, \"false\", bool false)\n"
#if defined(__CHAR_UNSIGNED__)
	 "attr(#1, \"char\", uint 65)\n"
#else
	 "attr(#1, \"char\", int 65)\n"
#endif
	 "attr(#1, \"char16_t\", uint 66)\n"
#if defined(__WCHAR_UNSIGNED__)
	 "attr(#1, \"wchar_t\", uint 67)\n"
#else
	 "attr(#1, \"wchar_t\", int 67)\n"
#endif
	 "attr(#1, \"enum class\", uint 200)\n"
	 "attr(#1, \"negative enum class\", int -1)\n"
	 "attr(#1, \"reference\", int 4)\n"
	 "attr(#1, \"first\", int 5)\n"
	 "attr(#1, \"second\", string \"second\")\n"
	 "attr(#1, \"nullptr\", pointer 0x0)\n"
	 "attr(#1, \"function\", pointer 0x4000)\n"
	 "attr(#1, \"unsigned char *\", pointer 0x5000)\n"
	 "end(#1)\n",
	 1},
};

} // namespace

int check_cpp_stories();

int check_cpp_stories()
{
	return check_stories(stories, sizeof(stories) / sizeof(stories[0]));
}
