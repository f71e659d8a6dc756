/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/otel/process_context.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "attach/process/process_reader.h"
#include "base/protobuf_reader.h"

#define SIGNATURE "OTEL_CTX"
#define VERSION_MAX 2 /* 1: before the specification was done, with the same header */
#define TRIES 3

struct header {
	char signature[8];
	uint32_t version;
	uint32_t message_bytes;
	uint64_t published_ns; /* 0: it is being changed */
	uint64_t message;      /* its address */
};

/* opentelemetry.proto.processcontext.v1development, opentelemetry.proto.common.v1 */
enum {
	CONTEXT_RESOURCE = 1,
	CONTEXT_ATTRIBUTES = 2,
	RESOURCE_ATTRIBUTES = 1,
	KEY_VALUE_KEY = 1,
	KEY_VALUE_VALUE = 2,
	VALUE_STRING = 1,
};

struct words {
	const char *bytes;
	size_t length;
};

static struct protobuf_reader within(const struct protobuf_field *field)
{
	return (struct protobuf_reader){ field->bytes, field->bytes + field->length };
}

static void copy_text(char *to, const struct words *from)
{
	size_t length = from->length < PROCESS_CONTEXT_TEXT_MAX - 1 ? from->length
								    : PROCESS_CONTEXT_TEXT_MAX - 1;
	const char *nul = length ? memchr(from->bytes, '\0', length) : NULL;

	if (nul)
		length = (size_t)(nul - from->bytes);
	if (length)
		memcpy(to, from->bytes, length);
	to[length] = '\0';
}

static bool is_word(const struct words *words, const char *text)
{
	return words->length == strlen(text) && memcmp(words->bytes, text, words->length) == 0;
}

/* The names that the form has had. */
static enum thread_schema schema_of(const struct words *name)
{
	static const struct {
		const char *name;
		enum thread_schema schema;
	} known[] = {
		{ "tlsdesc_v1_dev", THREAD_SCHEMA_TLS }, { "tlsdesc_v1", THREAD_SCHEMA_TLS },
		{ "tls_v1", THREAD_SCHEMA_TLS },	 { "nodejs_v1_dev", THREAD_SCHEMA_NODEJS },
		{ "nodejs_v1", THREAD_SCHEMA_NODEJS },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (is_word(name, known[i].name))
			return known[i].schema;
	return name->length ? THREAD_SCHEMA_OTHER : THREAD_SCHEMA_NONE;
}

static bool take_value(const struct protobuf_field *value, struct words *string)
{
	struct protobuf_reader reader = within(value);
	struct protobuf_field field;

	while (protobuf_next(&reader, &field))
		if (field.number == VALUE_STRING && field.type == PROTOBUF_BYTES)
			*string = (struct words){ field.bytes, field.length };
	return reader.at == reader.end;
}

static bool take_attribute(struct process_context *context, const struct protobuf_field *attribute)
{
	struct protobuf_reader reader = within(attribute);
	struct words key = { "", 0 }, value = { "", 0 };
	struct protobuf_field field;

	while (protobuf_next(&reader, &field)) {
		if (field.type != PROTOBUF_BYTES)
			continue;
		if (field.number == KEY_VALUE_KEY)
			key = (struct words){ field.bytes, field.length };
		else if (field.number == KEY_VALUE_VALUE && !take_value(&field, &value))
			return false;
	}
	if (is_word(&key, "service.name"))
		copy_text(context->service, &value);
	if (is_word(&key, "threadlocal.schema_version")) {
		copy_text(context->schema_name, &value);
		context->schema = schema_of(&value);
	}
	return reader.at == reader.end;
}

static bool take_resource(struct process_context *context, const struct protobuf_field *resource)
{
	struct protobuf_reader reader = within(resource);
	struct protobuf_field field;

	while (protobuf_next(&reader, &field))
		if (field.number == RESOURCE_ATTRIBUTES && field.type == PROTOBUF_BYTES &&
		    !take_attribute(context, &field))
			return false;
	return reader.at == reader.end;
}

int process_context_parse(struct process_context *context, const void *bytes, size_t length)
{
	struct protobuf_reader reader = { bytes, (const char *)bytes + length };
	struct protobuf_field field;
	bool is_whole = true;

	*context = (struct process_context){ 0 };
	while (is_whole && protobuf_next(&reader, &field)) {
		if (field.type != PROTOBUF_BYTES)
			continue;
		if (field.number == CONTEXT_RESOURCE)
			is_whole = take_resource(context, &field);
		else if (field.number == CONTEXT_ATTRIBUTES)
			is_whole = take_attribute(context, &field);
	}
	return is_whole && reader.at == reader.end ? 0 : -EPROTO;
}

int process_context_published(uint64_t *published_ns, struct process_reader *reader, pid_t pid,
			      uint64_t address)
{
	return process_reader_bytes(reader, published_ns, sizeof(*published_ns), pid,
				    address + offsetof(struct header, published_ns));
}

/* Once; -EAGAIN: it changed meanwhile. */
static int read_once(struct process_context *context, struct process_reader *reader, pid_t pid,
		     uint64_t address)
{
	struct header header;
	uint64_t after_ns;
	char *bytes;
	int err = process_reader_bytes(reader, &header, sizeof(header), pid, address);

	if (err)
		return err;
	if (memcmp(header.signature, SIGNATURE, sizeof(header.signature)) != 0)
		return -EPROTO;
	if (header.version < 1 || header.version > VERSION_MAX)
		return -ENOTSUP;
	if (!header.published_ns)
		return -EAGAIN;
	if (header.message_bytes > PROCESS_READER_BYTES_MAX)
		return -EPROTO;
	bytes = malloc((size_t)header.message_bytes + 1);
	if (!bytes)
		return -ENOMEM;
	err = process_reader_bytes(reader, bytes, header.message_bytes, pid, header.message);
	if (!err)
		err = process_context_published(&after_ns, reader, pid, address);
	if (!err && after_ns != header.published_ns)
		err = -EAGAIN;
	if (!err)
		err = process_context_parse(context, bytes, header.message_bytes);
	context->published_ns = header.published_ns;
	free(bytes);
	return err;
}

int process_context_read(struct process_context *context, struct process_reader *reader, pid_t pid,
			 uint64_t address)
{
	int err = -EAGAIN;

	*context = (struct process_context){ 0 };
	for (int i = 0; err == -EAGAIN && i < TRIES; i++)
		err = read_once(context, reader, pid, address);
	return err;
}
