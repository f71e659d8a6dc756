/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/span_marks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct span_key {
	uint64_t span;
	uint64_t pid; /* as wide, so that there is no padding to be hashed */
};

static void release_mark(void *value)
{
	struct span_mark *mark = value;

	for (struct marked_attribute *attribute = mark->attributes, *next; attribute; attribute = next) {
		next = attribute->next;
		free(attribute);
	}
	for (struct marked_link *link = mark->links, *next; link; link = next) {
		next = link->next;
		free(link);
	}
	for (struct marked_piece *piece = mark->pieces, *next; piece; piece = next) {
		next = piece->next;
		free(piece);
	}
	free(mark->open);
}

void span_marks_init(struct span_marks *marks, size_t bytes_max,
		     int (*drop)(void *context, const struct span_mark *mark), void *context)
{
	*marks = (struct span_marks){ .bytes_max = bytes_max, .drop = drop, .context = context };
	key_map_init(&marks->by_span, sizeof(struct span_mark), release_mark);
}

void span_marks_release(struct span_marks *marks)
{
	key_map_release(&marks->by_span);
	*marks = (struct span_marks){ 0 };
}

static struct span_key key_of(uint32_t pid, uint64_t span)
{
	return (struct span_key){ .span = span, .pid = pid };
}

/* ---- the order of age ---- */

static void append(struct span_marks *marks, struct span_mark *mark)
{
	mark->older = marks->newest;
	*(marks->newest ? &marks->newest->newer : &marks->oldest) = mark;
	marks->newest = mark;
}

static void take_out(struct span_marks *marks, struct span_mark *mark)
{
	*(mark->older ? &mark->older->newer : &marks->oldest) = mark->newer;
	*(mark->newer ? &mark->newer->older : &marks->newest) = mark->older;
	marks->bytes -= mark->bytes;
}

void span_marks_forget(struct span_marks *marks, uint32_t pid, uint64_t span)
{
	struct span_key key = key_of(pid, span);
	struct span_mark *mark = key_map_find(&marks->by_span, &key, sizeof(key));

	if (!mark)
		return;
	take_out(marks, mark);
	key_map_remove(&marks->by_span, &key, sizeof(key));
}

static int drop_oldest(struct span_marks *marks)
{
	struct span_mark *mark = marks->oldest;
	int err = marks->drop(marks->context, mark);

	span_marks_forget(marks, mark->pid, mark->span);
	return err;
}

int span_marks_drop_all(struct span_marks *marks)
{
	int err = 0;

	while (!err && marks->oldest)
		err = drop_oldest(marks);
	return err;
}

/* ---- adding ---- */

static struct span_mark *mark_of(struct span_marks *marks, uint32_t pid, uint64_t span)
{
	struct span_key key = key_of(pid, span);
	bool is_new;
	struct span_mark *mark = key_map_add(&marks->by_span, &key, sizeof(key), &is_new);

	if (mark && is_new) {
		mark->pid = pid;
		mark->span = span;
		mark->attributes_end = &mark->attributes;
		mark->links_end = &mark->links;
		mark->pieces_end = &mark->pieces;
		mark->bytes = sizeof(*mark);
		marks->bytes += mark->bytes;
		append(marks, mark);
	}
	return mark;
}

/* The one that was added to goes too, if there is no other. */
static int charge(struct span_marks *marks, struct span_mark *mark, size_t bytes)
{
	int err = 0;

	mark->bytes += bytes;
	marks->bytes += bytes;
	while (!err && marks->bytes > marks->bytes_max)
		err = drop_oldest(marks);
	return err;
}

/* Copies the bytes to *room, moves it behind them, and points the string there. */
static void move_string(struct txtrace_string *string, char **room)
{
	if (string->length > 0)
		memcpy(*room, string->bytes, string->length);
	string->bytes = *room;
	*room += string->length;
}

int span_marks_add_attribute(struct span_marks *marks, const struct txtrace_attribute *attribute)
{
	size_t bytes = sizeof(struct marked_attribute) + attribute->name.length + attribute->string.length;
	struct span_mark *mark = mark_of(marks, attribute->pid, attribute->span);
	struct marked_attribute *copy = mark ? malloc(bytes) : NULL;
	char *room;

	if (!copy)
		return -ENOMEM;
	copy->next = NULL;
	copy->attribute = *attribute;
	room = (char *)(copy + 1);
	move_string(&copy->attribute.name, &room);
	move_string(&copy->attribute.string, &room);
	*mark->attributes_end = copy;
	mark->attributes_end = &copy->next;
	return charge(marks, mark, bytes);
}

int span_marks_add_link(struct span_marks *marks, uint32_t pid, uint64_t span, uint64_t number)
{
	struct span_mark *mark = mark_of(marks, pid, span);
	struct marked_link *link = mark ? calloc(1, sizeof(*link)) : NULL;

	if (!link)
		return -ENOMEM;
	link->number = number;
	*mark->links_end = link;
	mark->links_end = &link->next;
	return charge(marks, mark, sizeof(*link));
}

int span_marks_add_piece(struct span_marks *marks, uint32_t pid, uint64_t span, unsigned int list,
			 uint32_t cnt_max, const char *bytes, size_t length)
{
	struct span_mark *mark = mark_of(marks, pid, span);
	struct marked_piece *piece;

	if (mark && mark->piece_cnt[list] >= cnt_max) {
		mark->left_out_cnt[list]++;
		return 0;
	}
	piece = mark ? malloc(sizeof(*piece) + length) : NULL;
	if (!piece)
		return -ENOMEM;
	piece->next = NULL;
	piece->list = list;
	piece->length = length;
	if (length > 0)
		memcpy(piece->bytes, bytes, length);
	*mark->pieces_end = piece;
	mark->pieces_end = &piece->next;
	mark->piece_cnt[list]++;
	return charge(marks, mark, sizeof(*piece) + length);
}

int span_marks_add_open(struct span_marks *marks, const struct txtrace_open_span *open)
{
	size_t bytes = sizeof(*open) + open->label.length + open->key.length;
	struct span_mark *mark = mark_of(marks, open->pid, open->id);
	struct txtrace_open_span *copy;
	char *room;

	if (mark && mark->open)
		return 0; /* checkpoints say the same each time */
	copy = mark ? malloc(bytes) : NULL;
	if (!copy)
		return -ENOMEM;
	*copy = *open;
	room = (char *)(copy + 1);
	move_string(&copy->label, &room);
	move_string(&copy->key, &room);
	mark->open = copy;
	return charge(marks, mark, bytes);
}

const struct span_mark *span_marks_find(const struct span_marks *marks, uint32_t pid, uint64_t span)
{
	struct span_key key = key_of(pid, span);

	return key_map_find(&marks->by_span, &key, sizeof(key));
}
