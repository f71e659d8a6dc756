/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every mark that is not a span's edge, with known values, the nasty ones too: strings that are too long, end
 * where the page ends, never end, or are not there at all; control characters, bytes that are no text. What a
 * bad pointer may do: nothing.
 *
 * Prints one line of JSON for each fact that the log has to hold. Bytes are in hex:
 *
 *	{"type":"tag","span":"7","bytes":"…"}                       exactly this; with "least_bytes", a
 *	                                                            beginning of it that is at least so long
 *	{"type":"attribute","span":"7","name":"…","value_type":"int","value":…}      strings: "bytes"
 *	{"type":"instant","span":"7","name":"…","cnt":2}
 *	{"type":"counter","name":"…","values":[…]}                  in this order
 *	{"type":"link","from":"7","to":"8","name":"…"}
 *	{"type":"keyed","label":"…","key":"…","instants":["…"]}     one span with this key
 *	{"type":"count","label":"…","pid":7,"cnt":1}                so many spans with this label
 */
#include <limits.h>
#include <math.h>
#include <sys/mman.h>

#include "truth.h"

#define LONG_BYTES 5000
#define LONG_LEAST_BYTES 500

static void print_hex(const char *name, const void *bytes, size_t length)
{
	printf(",\"%s\":\"", name);
	for (size_t i = 0; i < length; i++)
		printf("%02x", ((const unsigned char *)bytes)[i]);
	printf("\"");
}

static unsigned long long as_number(txtrace_span_t span)
{
	return (unsigned long long)span;
}

/* The last page before one that cannot be read. */
static char *map_guarded_page(size_t page_bytes)
{
	char *pages = mmap(NULL, 2 * page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	must(pages != MAP_FAILED && !mprotect(pages + page_bytes, page_bytes, PROT_NONE),
	     "cannot map a page");
	return pages;
}

/* ---- tags ---- */

struct tag {
	txtrace_span_t span;
	const char *text;
	size_t length;
	bool may_be_cut;
	size_t least_bytes;
};

static void make_tag(struct tag *tag)
{
	tag->span = TXTRACE_BEGIN("tagged");
	TXTRACE_TAG(tag->span, tag->text);
	TXTRACE_END(tag->span);
}

static void print_tag(const struct tag *tag)
{
	printf("{\"type\":\"tag\",\"span\":\"%llu\"", as_number(tag->span));
	print_hex("bytes", tag->text, tag->length);
	if (tag->may_be_cut)
		printf(",\"least_bytes\":%zu", tag->least_bytes);
	printf("}\n");
}

/* In the ring, texts are copied by the program: those that it cannot read are not for it. */
static bool reads_texts_itself(void)
{
	const char *marks = getenv("TXTRACE_MARKS");

	return marks && !strcmp(marks, "ring");
}

static void do_tags(char *guarded_page, size_t page_bytes)
{
	static const char plain[] = "shard=3,kind=write",
			  controls[] = "bell\a esc\033[31m tab\t line\nfeed \"quoted\" back\\slash \177";
	static const char not_text[] = "\377\376\300\200 half of a sign: \342\202",
			  signs[] = "Überweisung → 5 €";
	char *long_text = malloc(LONG_BYTES + 1), *page_end = guarded_page + page_bytes;
	char at_63[64], at_64[65];

	must(long_text, "no memory");
	memset(long_text, 'x', LONG_BYTES);
	long_text[LONG_BYTES] = 0;
	memset(guarded_page, 'y', page_bytes);
	memset(at_63, 'a', sizeof(at_63));
	memset(at_64, 'b', sizeof(at_64));
	at_63[63] = at_64[64] = 0;
	memcpy(page_end - 200, "ends with the page", 19);
	memmove(page_end - 19, page_end - 200, 19);
	struct tag tags[] = {
		{ .text = plain, .length = sizeof(plain) - 1 },
		{ .text = controls, .length = sizeof(controls) - 1 },
		{ .text = not_text, .length = sizeof(not_text) - 1 },
		{ .text = signs, .length = sizeof(signs) - 1 },
		{ .text = "", .length = 0 },
		{ .text = at_63, .length = 63 },
		{ .text = at_64, .length = 64 },
		{ .text = long_text,
		  .length = LONG_BYTES,
		  .may_be_cut = true,
		  .least_bytes = LONG_LEAST_BYTES },
		{ .text = page_end - 19, .length = 18 },
		{ .text = NULL, .length = 0 },
		{ .text = (const char *)16, .length = 0 },
		{ .text = page_end, .length = 0 },			    /* mapped, not readable */
		{ .text = (const char *)(UINT64_C(1) << 63), .length = 0 }, /* the kernel's half */
		{ .text = (const char *)UINT64_MAX, .length = 0 },
	};
	size_t cnt = sizeof(tags) / sizeof(tags[0]) - (reads_texts_itself() ? 3 : 0);

	for (size_t i = 0; i < cnt; i++)
		make_tag(&tags[i]);
	for (size_t i = 0; i < cnt; i++)
		print_tag(&tags[i]);
	if (reads_texts_itself()) {
		free(long_text);
		return;
	}

	/* Without an end before the page's: nothing of it, or what there is. */
	page_end[-1] = 'z';
	struct tag endless = { .text = page_end - 10, .length = 10, .may_be_cut = true };
	make_tag(&endless);
	print_tag(&endless);
	free(long_text);
}

/* ---- attributes ---- */

static void print_attribute(txtrace_span_t span, const char *name, const char *value_type)
{
	printf("{\"type\":\"attribute\",\"span\":\"%llu\",\"name\":\"%s\",\"value_type\":\"%s\"",
	       as_number(span), name, value_type);
}

/* Of each length at which something else copies them, alone and in pieces. */
static void do_bytes(txtrace_span_t span)
{
	static const size_t sizes[] = { 0, 1, 23, 24, 25, 62, 63, 64, 65, 511 };
	char bytes[511];
	txtrace_span_t tagged;

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)(i * 7);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		size_t size = sizes[i], third = size / 3;
		const struct txtrace_piece pieces[] = { { bytes, third },
							{ NULL, 0 },
							{ bytes + third, size - 2 * third },
							{ bytes + size - third, third } };

		tagged = TXTRACE_BEGIN_CHILD("bytes", span);
		TXTRACE_ATTR_BYTES(tagged, "whole", bytes, size);
		TXTRACE_ATTR_PIECES(tagged, "pieces", pieces, 4);
		TXTRACE_END(tagged);
		print_attribute(tagged, "whole", "bytes"), print_hex("bytes", bytes, size), printf("}\n");
		print_attribute(tagged, "pieces", "bytes"), print_hex("bytes", bytes, size), printf("}\n");
	}
	TXTRACE_ATTR_BYTES(span, "bad bytes", (const void *)16, 3);
	print_attribute(span, "bad bytes", "bytes"), print_hex("bytes", "", 0), printf("}\n");
	tagged = TXTRACE_BEGIN("tagged");
	TXTRACE_TAG_PIECES(tagged, ((const struct txtrace_piece[]){ { "shard=", 6 }, { "3", 1 } }), 2);
	TXTRACE_END(tagged);
	print_tag(&(struct tag){ .span = tagged, .text = "shard=3", .length = 7 });
}

static void do_attributes(void)
{
	txtrace_span_t span = TXTRACE_BEGIN("attributed");
	char changing[] = "before";
	int8_t small = -8;
	uint16_t medium = 65535;

	TXTRACE_ATTR(span, "true", (bool)true);
	TXTRACE_ATTR(span, "false", (bool)false);
	TXTRACE_ATTR(span, "zero", 0);
	TXTRACE_ATTR(span, "small", small);
	TXTRACE_ATTR(span, "least", INT64_MIN);
	TXTRACE_ATTR(span, "medium", medium);
	TXTRACE_ATTR(span, "most", UINT64_MAX);
	TXTRACE_ATTR(span, "pi", 3.141592653589793);
	TXTRACE_ATTR(span, "quarter", 0.25f);
	TXTRACE_ATTR(span, "infinite", -INFINITY);
	TXTRACE_ATTR(span, "string", changing);
	memcpy(changing, "after ", 7); /* it was copied */
	TXTRACE_ATTR(span, "pointer", (void *)0x1234abcd);
	TXTRACE_ATTR(span, "bad string", (const char *)16);
	do_bytes(span);
	TXTRACE_END(span);

	print_attribute(span, "true", "bool"), printf(",\"value\":true}\n");
	print_attribute(span, "false", "bool"), printf(",\"value\":false}\n");
	print_attribute(span, "zero", "int"), printf(",\"value\":0}\n");
	print_attribute(span, "small", "int"), printf(",\"value\":-8}\n");
	print_attribute(span, "least", "int"), printf(",\"value\":-9223372036854775808}\n");
	print_attribute(span, "medium", "uint"), printf(",\"value\":65535}\n");
	print_attribute(span, "most", "uint"), printf(",\"value\":18446744073709551615}\n");
	print_attribute(span, "pi", "double"), printf(",\"value\":3.141592653589793}\n");
	print_attribute(span, "quarter", "double"), printf(",\"value\":0.25}\n");
	print_attribute(span, "infinite", "double"), printf(",\"value\":\"-Infinity\"}\n");
	print_attribute(span, "string", "string"), print_hex("bytes", "before", 6), printf("}\n");
	print_attribute(span, "pointer", "pointer"), printf(",\"value\":\"0x1234abcd\"}\n");
	print_attribute(span, "bad string", "string"), print_hex("bytes", "", 0), printf("}\n");
}

/* ---- instants, counters, links ---- */

static void do_marks(void)
{
	txtrace_span_t cause = TXTRACE_BEGIN("cause"), effect = TXTRACE_BEGIN_DETACHED("effect", 0);

	TXTRACE_EVENT(cause, "retry");
	TXTRACE_EVENT(cause, "retry");
	TXTRACE_EVENT(effect, "given \"up\"\n");
	TXTRACE_COUNTER("extremes", 0);
	TXTRACE_COUNTER("extremes", INT64_MAX);
	TXTRACE_COUNTER("extremes", INT64_MIN);
	TXTRACE_COUNTER("extremes", -1);
	TXTRACE_COUNTER("other", 42u);
	TXTRACE_LINK(cause, effect, "leads-to");
	TXTRACE_END(cause);
	TXTRACE_END(effect);

	/* Of no span: nothing. */
	txtrace_span_t none = 0;
	TXTRACE_EVENT(none, "of nobody");
	TXTRACE_TAG(none, "of nobody");
	TXTRACE_LINK(none, none, "of nobody");
	TXTRACE_END(none);

	printf("{\"type\":\"instant\",\"span\":\"%llu\",\"name\":\"retry\",\"cnt\":2}\n", as_number(cause));
	printf("{\"type\":\"instant\",\"span\":\"%llu\",\"name\":\"given \\\"up\\\"\\n\",\"cnt\":1}\n",
	       as_number(effect));
	printf("{\"type\":\"instant\",\"span\":\"0\",\"name\":\"of nobody\",\"cnt\":0}\n");
	printf("{\"type\":\"counter\",\"name\":\"extremes\",\"values\":[0,%lld,%lld,-1]}\n", LLONG_MAX,
	       LLONG_MIN);
	printf("{\"type\":\"counter\",\"name\":\"other\",\"values\":[42]}\n");
	printf("{\"type\":\"link\",\"from\":\"%llu\",\"to\":\"%llu\",\"name\":\"leads-to\"}\n",
	       as_number(cause), as_number(effect));
	printf("{\"type\":\"count\",\"label\":\"cause\",\"pid\":%d,\"cnt\":1}\n", getpid());
	printf("{\"type\":\"count\",\"label\":\"effect\",\"pid\":%d,\"cnt\":1}\n", getpid());
}

/* ---- labels ---- */

static void do_labels(void)
{
	txtrace_span_t span = TXTRACE_BEGIN("label with \"quotes\", \033[31mcolour\n and €");
	txtrace_span_t empty = TXTRACE_BEGIN("");

	TXTRACE_END(empty);
	TXTRACE_END(span);
	printf("{\"type\":\"count\",\"label\":\"label with \\\"quotes\\\", \\u001b[31mcolour\\n and "
	       "€\",\"pid\":%d,\"cnt\":1}\n",
	       getpid());
}

/* ---- keyed spans ---- */

static void do_key(const void *key, size_t length, size_t length_that_counts)
{
	TXTRACE_KEY_BEGIN("keyed", key, length);
	TXTRACE_KEY_ENTER(key, length);
	TXTRACE_KEY_EVENT(key, length, "seen");
	TXTRACE_KEY_EXIT(key, length);
	TXTRACE_KEY_END(key, length);
	printf("{\"type\":\"keyed\",\"label\":\"keyed\"");
	print_hex("key", key, length_that_counts);
	printf(",\"instants\":[\"seen\"]}\n");
}

static void do_keys(const char *guarded_page, size_t page_bytes)
{
	static const char digest[32] = "\0\1\2binary\0\377\n\"", text[] = "request-42";
	char long_key[100];

	memset(long_key, 'k', sizeof(long_key));
	do_key(text, strlen(text), strlen(text));
	do_key(digest, sizeof(digest), sizeof(digest));
	do_key(long_key, sizeof(long_key), 64);
	do_key(guarded_page + page_bytes - 8, 8, 8);
	do_key("k", 1, 1);

	/* A key that cannot be read names nothing; whatever happens, it happens to nobody else. */
	TXTRACE_KEY_BEGIN("bad key", (const void *)16, 8);
	TXTRACE_KEY_END((const void *)16, 8);
	if (!reads_texts_itself()) {
		TXTRACE_KEY_BEGIN("bad key", guarded_page + page_bytes - 4, SIZE_MAX);
		TXTRACE_KEY_END(guarded_page + page_bytes - 4, SIZE_MAX);
	}
	printf("{\"type\":\"count\",\"label\":\"keyed\",\"pid\":%d,\"cnt\":5}\n", getpid());
}

int main(int argc, char **argv)
{
	struct truth_options options = TRUTH_OPTIONS_DEFAULT;
	const struct option_spec table[] = { TRUTH_WAIT_SPEC(&options) };
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	char *guarded_page = map_guarded_page(page_bytes);

	options_parse(table, sizeof(table) / sizeof(table[0]),
		      "marks: tags, attributes, instants, counters, links, keys", argc, argv);
	truth_start(&options);
	do_tags(guarded_page, page_bytes);
	do_attributes();
	do_marks();
	do_labels();
	do_keys(guarded_page, page_bytes);
	return 0;
}
