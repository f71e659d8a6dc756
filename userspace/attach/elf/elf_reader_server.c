/* SPDX-License-Identifier: BSD-2-Clause */
/* The processes that read ELF files: the first one, and its child for each file. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/elf/elf_functions.h"
#include "attach/elf/elf_notes.h"
#include "attach/elf/elf_request.h"
#include "attach/elf/elf_tls.h"
#include "attach/elf/function_count.h"
#include "attach/elf/function_exits.h"
#include "base/text.h"

#define CPU_SECONDS_MAX 5 /* of one file */

/* ---- one file ---- */

struct reply {
	struct elf_answer answer;
	struct text items;
	struct text strings;
};

static uint64_t add_string(struct reply *reply, const char *string)
{
	uint64_t place = reply->strings.length;

	text_append_bytes(&reply->strings, string, strlen(string) + 1);
	return place;
}

static void add_item(struct reply *reply, const void *item, size_t size)
{
	text_append_bytes(&reply->items, item, size);
	reply->answer.item_cnt++;
}

static void tell_notes(struct reply *reply)
{
	struct elf_notes notes;

	reply->answer.err = elf_notes_read(&notes, OUTSIDE_KEPT_FD);
	if (reply->answer.err)
		return;
	reply->answer.machine = notes.machine;
	reply->answer.skipped_cnt = notes.skipped_cnt;
	for (size_t i = 0; i < notes.cnt; i++) {
		const struct elf_note *note = &notes.notes[i];
		struct elf_note_item item = { .offset = note->offset,
					      .semaphore_offset = note->semaphore_offset };

		item.provider = (uint32_t)add_string(reply, note->provider);
		item.name = (uint32_t)add_string(reply, note->name);
		item.args = (uint32_t)add_string(reply, note->args);
		add_item(reply, &item, sizeof(item));
	}
	elf_notes_release(&notes);
}

static void tell_functions(struct reply *reply)
{
	struct elf_functions functions;

	reply->answer.err = elf_functions_read(&functions, OUTSIDE_KEPT_FD);
	if (reply->answer.err)
		return;
	reply->answer.machine = functions.machine;
	reply->answer.flags = (functions.is_go ? ELF_ANSWER_IS_GO : 0) |
			      (functions.has_unwinder ? ELF_ANSWER_HAS_UNWINDER : 0) |
			      (functions.is_stripped ? ELF_ANSWER_IS_STRIPPED : 0) |
			      (functions.needs_others ? ELF_ANSWER_NEEDS_OTHERS : 0);
	for (size_t i = 0; i < functions.cnt; i++) {
		const struct elf_function *function = &functions.functions[i];
		struct elf_function_item item = { .address = function->address,
						  .size = function->size,
						  .offset = function->offset,
						  .is_chooser = function->is_chooser };

		item.name = add_string(reply, function->name);
		add_item(reply, &item, sizeof(item));
	}
	elf_functions_release(&functions);
}

static int read_part(struct function_part *part, const struct elf_part *wanted)
{
	const struct elf_functions file = { .fd = OUTSIDE_KEPT_FD };
	const struct elf_function function = { .size = wanted->size, .offset = wanted->offset };

	*part = (struct function_part){ wanted->offset, wanted->size, elf_function_code(&file, &function) };
	return part->code ? 0 : -ENOTSUP;
}

static void tell_exits(struct reply *reply, const struct elf_request *request)
{
	struct function_part parts[ELF_PART_MAX] = { { 0 } };
	struct function_exits exits;
	int err = request->part_cnt && request->part_cnt <= ELF_PART_MAX ? 0 : -ENOTSUP;

	for (size_t i = 0; !err && i < request->part_cnt; i++)
		err = read_part(&parts[i], &request->parts[i]);
	if (!err)
		err = function_exits_find(&exits, parts, request->part_cnt, request->machine);
	if (!err) {
		for (size_t i = 0; i < exits.cnt; i++)
			add_item(reply, &exits.addresses[i], sizeof(exits.addresses[i]));
		function_exits_release(&exits);
	}
	for (size_t i = 0; i < ELF_PART_MAX; i++)
		free((void *)(uintptr_t)parts[i].code);
	reply->answer.err = err;
}

static void tell_count(struct reply *reply)
{
	struct function_count count;

	reply->answer.err = function_count_read(&count, OUTSIDE_KEPT_FD);
	if (reply->answer.err)
		return;
	reply->answer.item_cnt = count.cnt;
	reply->answer.flags = count.is_exported_only ? ELF_ANSWER_IS_EXPORTED_ONLY : 0;
}

static void tell_context(struct reply *reply)
{
	struct elf_tls tls;

	reply->answer.err = elf_tls_read_context(&tls, OUTSIDE_KEPT_FD);
	if (!reply->answer.err)
		add_item(reply, &tls, sizeof(tls));
}

static void send_all(const void *bytes, size_t size)
{
	for (size_t done = 0; done < size;) {
		ssize_t sent = send(OUTSIDE_SOCKET_FD, (const char *)bytes + done, size - done, MSG_NOSIGNAL);

		if (sent < 0 && errno != EINTR)
			_exit(0);
		done += sent > 0 ? (size_t)sent : 0;
	}
}

static void answer(const struct elf_request *request)
{
	struct reply reply = { .answer = { .err = 0 } };

	if (request->question == ELF_QUESTION_NOTES)
		tell_notes(&reply);
	else if (request->question == ELF_QUESTION_FUNCTIONS)
		tell_functions(&reply);
	else if (request->question == ELF_QUESTION_EXITS)
		tell_exits(&reply, request);
	else if (request->question == ELF_QUESTION_COUNT)
		tell_count(&reply);
	else if (request->question == ELF_QUESTION_CONTEXT)
		tell_context(&reply);
	if (reply.items.err || reply.strings.err)
		reply.answer.err = -ENOMEM;
	if (reply.answer.err)
		reply.answer = (struct elf_answer){ .err = reply.answer.err };
	else
		reply.answer.strings_size = reply.strings.length;
	send_all(&reply.answer, sizeof(reply.answer));
	if (!reply.answer.err) {
		send_all(text_string(&reply.items), reply.items.length);
		send_all(text_string(&reply.strings), reply.strings.length);
	}
	text_release(&reply.items);
	text_release(&reply.strings);
}

/*
 * The time that the file may take is the kernel's to watch: whoever took this process over cannot change it.
 */
static void read_file(const struct elf_settle *settle, const int fds[ELF_FD_CNT], pid_t first)
{
	const struct rlimit time = { CPU_SECONDS_MAX, CPU_SECONDS_MAX };
	struct elf_request request;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != first || setrlimit(RLIMIT_CPU, &time))
		_exit(1);
	dup2(fds[1], OUTSIDE_SOCKET_FD);
	dup2(fds[0], OUTSIDE_KEPT_FD);
	syscall(SYS_close_range, OUTSIDE_LIFE_FD + 1, ~0u, 0);
	if (settle->enter)
		settle->enter(settle->context);
	while (read(OUTSIDE_SOCKET_FD, &request, sizeof(request)) == sizeof(request))
		answer(&request);
	_exit(0);
}

/* ---- the first process ---- */

/* How many descriptors came; -1: the recorder has gone. */
static int hear(int fds[ELF_FD_CNT])
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(ELF_FD_CNT * sizeof(int))];
	} control;
	struct iovec data = { &(char){ 0 }, 1 };
	struct msghdr message = {
		.msg_iov = &data, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)
	};
	struct cmsghdr *header;
	ssize_t got;

	do {
		got = recvmsg(OUTSIDE_SOCKET_FD, &message, MSG_CMSG_CLOEXEC);
	} while (got < 0 && errno == EINTR);
	if (got <= 0)
		return -1;
	header = CMSG_FIRSTHDR(&message);
	if (!header || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS ||
	    header->cmsg_len != CMSG_LEN(sizeof(int[ELF_FD_CNT])))
		return 0;
	memcpy(fds, CMSG_DATA(header), sizeof(int[ELF_FD_CNT]));
	return ELF_FD_CNT;
}

/* One that is in the middle of a read that does not return is left alone: it ends when that does. */
static void end_child(pid_t child)
{
	if (child > 0) {
		kill(child, SIGKILL);
		waitpid(child, NULL, WNOHANG);
	}
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
}

void elf_reader_serve(void *context)
{
	const struct elf_settle *settle = context;
	pid_t first = getpid(), child = -1;
	int fds[ELF_FD_CNT], cnt;

	if (settle->settle)
		settle->settle(settle->context);
	while ((cnt = hear(fds)) >= 0) {
		end_child(child);
		child = cnt ? fork() : -1;
		if (child == 0)
			read_file(settle, fds, first);
		for (int i = 0; i < cnt; i++)
			close(fds[i]);
	}
}
