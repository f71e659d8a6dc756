/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/elf/elf_reader.h"

#include <elf.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"

#define MEMORY_MAX (UINT64_C(2) << 30)
#define STRINGS_MAX (UINT64_C(1) << 30)
#define PATIENCE_NS UINT64_C(20000000000) /* of a machine that is busy: the process itself has 5 s of a CPU */
#define ERRNO_MAX 4095
#define PATIENCE_MIN_NS UINT64_C(300000000)

struct elf_reader {
	struct outside_process process; /* the first one; whose socket is closed once it has gone */
	struct elf_settle settle;
	uint64_t patience_ns;
	struct elf_reader_news news;
};

/* With the process that has one file. */
struct elf_talk {
	struct elf_reader *reader;
	int socket_fd; /* -1: it has failed */
	int fd;        /* the caller's */
	uint64_t file_size;
};

/* What came, checked as far as its kind does not matter. To be freed: bytes. */
struct received {
	struct elf_answer answer;
	uint8_t *bytes; /* items, then strings */
	const char *strings;
};

int elf_reader_new(struct elf_reader **result, const struct elf_settle *settle)
{
	struct elf_reader *reader = calloc(1, sizeof(*reader));
	struct outside_program program = {
		.name = "txtrace-elf",
		.socket_type = SOCK_SEQPACKET,
		.kept_fd = -1,
		.memory_max = MEMORY_MAX,
		.serve = elf_reader_serve,
	};
	int err;

	if (!reader)
		return -ENOMEM;
	reader->settle = *settle;
	reader->patience_ns = PATIENCE_NS;
	program.context = &reader->settle;
	err = outside_process_start(&reader->process, &program);
	if (err) {
		free(reader);
		return err;
	}
	*result = reader;
	return 0;
}

void elf_reader_free(struct elf_reader *reader)
{
	if (!reader)
		return;
	outside_process_end(&reader->process);
	free(reader);
}

bool elf_reader_take_news(struct elf_reader *reader, struct elf_reader_news *news)
{
	if (!reader || !reader->news.file_cnt)
		return false;
	*news = reader->news;
	reader->news.file_cnt = 0;
	return true;
}

/* ---- conversations ---- */

/* A byte, with the descriptors that belong to it. */
static int tell_first(const struct elf_reader *reader, const int *fds, size_t fd_cnt)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(ELF_FD_CNT * sizeof(int))];
	} control = { .room = { 0 } };
	struct iovec data = { &(char){ 0 }, 1 };
	struct msghdr message = { .msg_iov = &data, .msg_iovlen = 1 };

	if (fd_cnt) {
		message.msg_control = &control;
		message.msg_controllen = CMSG_SPACE(fd_cnt * sizeof(int));
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(fd_cnt * sizeof(int));
		memcpy(CMSG_DATA(&control.header), fds, fd_cnt * sizeof(int));
	}
	return sendmsg(reader->process.socket_fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static int fail(struct elf_reader *reader, int fd, const char *why)
{
	char link[64];
	ssize_t length;

	if (!reader->news.file_cnt++) {
		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		length = readlink(link, reader->news.path, sizeof(reader->news.path) - 1);
		reader->news.path[length > 0 ? length : 0] = '\0';
		reader->news.why = why;
	}
	if (reader->patience_ns > PATIENCE_MIN_NS)
		reader->patience_ns /= 2;
	return -EIO;
}

static int fail_talk(struct elf_talk *talk, const char *why)
{
	close(talk->socket_fd);
	talk->socket_fd = -1;
	tell_first(talk->reader, NULL, 0);
	return fail(talk->reader, talk->fd, why);
}

static int talk_begin(struct elf_talk *talk, struct elf_reader *reader, int fd)
{
	struct stat status;
	int sockets[2], fds[ELF_FD_CNT], err;

	*talk = (struct elf_talk){ .reader = reader, .socket_fd = -1, .fd = fd };
	if (fstat(fd, &status) < 0)
		return -errno;
	if (!S_ISREG(status.st_mode))
		return -ENOEXEC;
	talk->file_size = (uint64_t)status.st_size;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) < 0)
		return -errno;
	fds[0] = fd;
	fds[1] = sockets[1];
	err = tell_first(reader, fds, ELF_FD_CNT);
	close(sockets[1]);
	if (!err) {
		talk->socket_fd = sockets[0];
		return 0;
	}
	close(sockets[0]);
	return fail(reader, fd,
		    err == -EAGAIN ? "the process that has ELF files read does not answer"
				   : "the process that has ELF files read has ended");
}

void elf_talk_end(struct elf_talk *talk)
{
	if (!talk)
		return;
	if (talk->socket_fd >= 0)
		close(talk->socket_fd);
	free(talk);
}

/* NULL, or why it failed. */
static const char *receive(const struct elf_talk *talk, void *to, uint64_t size, uint64_t until_ns)
{
	for (uint64_t done = 0; done < size;) {
		struct pollfd ready = { .fd = talk->socket_fd, .events = POLLIN };
		uint64_t time_ns = clock_now_ns();
		ssize_t got;

		if (time_ns >= until_ns)
			return "the process that reads it took too long";
		if (poll(&ready, 1, (int)((until_ns - time_ns) / 1000000 + 1)) <= 0)
			continue;
		got = recv(talk->socket_fd, (char *)to + done, size - done, MSG_DONTWAIT);
		if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
			return "the process that reads it ended";
		done += got > 0 ? (uint64_t)got : 0;
	}
	return NULL;
}

static bool is_plausible(const struct elf_answer *answer, uint64_t item_size, uint64_t item_max)
{
	bool is_known = answer->machine == EM_X86_64 || answer->machine == EM_AARCH64 || !answer->machine;

	if (answer->err)
		return answer->err < 0 && answer->err >= -ERRNO_MAX && !answer->item_cnt &&
		       !answer->strings_size;
	return is_known && answer->strings_size <= STRINGS_MAX &&
	       (!item_size || answer->item_cnt <= item_max);
}

/* One question, one answer. 0; the answer's error; -EIO: the process failed, and is gone. */
static int ask(struct elf_talk *talk, const struct elf_request *request, uint64_t item_size,
	       uint64_t item_max, struct received *received)
{
	uint64_t until_ns = clock_now_ns() + talk->reader->patience_ns, items_size;
	struct elf_answer *answer = &received->answer;
	const char *why;

	received->bytes = NULL;
	if (talk->socket_fd < 0)
		return -EIO;
	if (send(talk->socket_fd, request, sizeof(*request), MSG_DONTWAIT | MSG_NOSIGNAL) != sizeof(*request))
		return fail_talk(talk, "the process that reads it ended");
	why = receive(talk, answer, sizeof(*answer), until_ns);
	if (!why && !is_plausible(answer, item_size, item_max))
		why = "the process that reads it made no sense";
	if (why)
		return fail_talk(talk, why);
	if (answer->err)
		return answer->err == -ENOMEM ? -EBADMSG : answer->err; /* it has little */
	items_size = answer->item_cnt * item_size;
	received->bytes = malloc(items_size + answer->strings_size + 1);
	if (!received->bytes) {
		close(talk->socket_fd);
		talk->socket_fd = -1;
		return -ENOMEM;
	}
	received->strings = (char *)received->bytes + items_size;
	why = receive(talk, received->bytes, items_size + answer->strings_size, until_ns);
	received->bytes[items_size + answer->strings_size] = '\0';
	if (!why)
		return 0;
	free(received->bytes);
	return fail_talk(talk, why);
}

static int nonsense(struct elf_talk *talk)
{
	return fail_talk(talk, "the process that reads it made no sense");
}

static bool is_inside(const struct elf_talk *talk, uint64_t offset, uint64_t size)
{
	return offset <= talk->file_size && size <= talk->file_size - offset;
}

/* ---- notes ---- */

static bool take_note(const struct elf_talk *talk, const struct received *received,
		      const struct elf_note_item *item, struct elf_note *note)
{
	uint64_t size = received->answer.strings_size;

	if (item->provider >= size || item->name >= size || item->args >= size ||
	    !is_inside(talk, item->offset, 1) || !is_inside(talk, item->semaphore_offset, sizeof(uint16_t)) ||
	    !item->offset)
		return false;
	*note = (struct elf_note){
		.provider = received->strings + item->provider,
		.name = received->strings + item->name,
		.args = received->strings + item->args,
		.offset = item->offset,
		.semaphore_offset = item->semaphore_offset,
	};
	return note->provider[0] && note->name[0];
}

static int take_notes(struct elf_talk *talk, struct received *received, struct elf_notes *notes)
{
	const struct elf_note_item *items = (const void *)received->bytes;
	const struct elf_answer *answer = &received->answer;

	*notes = (struct elf_notes){ .skipped_cnt = answer->skipped_cnt,
				     .machine = answer->machine,
				     .strings = (char *)received->bytes };
	notes->notes = calloc(answer->item_cnt + 1, sizeof(*notes->notes));
	if (!notes->notes || !answer->machine) {
		elf_notes_release(notes);
		return answer->machine ? -ENOMEM : nonsense(talk);
	}
	for (; notes->cnt < answer->item_cnt; notes->cnt++) {
		if (!take_note(talk, received, &items[notes->cnt], &notes->notes[notes->cnt])) {
			elf_notes_release(notes);
			return nonsense(talk);
		}
	}
	return 0;
}

static void talk_close(struct elf_talk *talk)
{
	if (talk->socket_fd >= 0)
		close(talk->socket_fd);
	talk->socket_fd = -1;
}

int elf_reader_notes(struct elf_reader *reader, struct elf_notes *notes, int fd)
{
	const struct elf_request request = { .question = ELF_QUESTION_NOTES };
	struct received received;
	struct elf_talk talk;
	int err;

	if (!reader)
		return elf_notes_read(notes, fd);
	memset(notes, 0, sizeof(*notes));
	err = talk_begin(&talk, reader, fd);
	if (!err)
		err = ask(&talk, &request, sizeof(struct elf_note_item), ELF_NOTE_MAX, &received);
	if (!err)
		err = take_notes(&talk, &received, notes);
	talk_close(&talk);
	return err;
}

int elf_reader_count(struct elf_reader *reader, struct function_count *count, int fd)
{
	const struct elf_request request = { .question = ELF_QUESTION_COUNT };
	struct received received;
	struct elf_talk talk;
	int err;

	if (!reader)
		return function_count_read(count, fd);
	err = talk_begin(&talk, reader, fd);
	if (!err)
		err = ask(&talk, &request, 0, 0, &received);
	if (!err) {
		*count = (struct function_count){ received.answer.item_cnt,
						  received.answer.flags & ELF_ANSWER_IS_EXPORTED_ONLY };
		free(received.bytes);
	}
	talk_close(&talk);
	return err;
}

/* What it says of the file is used to read a process' own memory, and whatever is found there is checked. */
static int take_context(struct elf_talk *talk, const struct received *received, struct elf_tls *tls)
{
	if (received->answer.item_cnt != 1)
		return nonsense(talk);
	memcpy(tls, received->bytes, sizeof(*tls));
	if (tls->way >= ELF_TLS_WAY_COUNT || (tls->machine != EM_X86_64 && tls->machine != EM_AARCH64) ||
	    (tls->way != ELF_TLS_NONE && (!tls->align || tls->align & (tls->align - 1))))
		return nonsense(talk);
	return 0;
}

int elf_reader_context(struct elf_reader *reader, struct elf_tls *tls, int fd)
{
	const struct elf_request request = { .question = ELF_QUESTION_CONTEXT };
	struct received received;
	struct elf_talk talk;
	int err;

	if (!reader)
		return elf_tls_read_context(tls, fd);
	err = talk_begin(&talk, reader, fd);
	if (!err)
		err = ask(&talk, &request, sizeof(*tls), 1, &received);
	if (!err) {
		err = take_context(&talk, &received, tls);
		free(received.bytes);
	}
	talk_close(&talk);
	return err;
}

/* ---- functions ---- */

static int take_functions(struct elf_talk *talk, struct received *received, struct elf_functions *functions)
{
	const struct elf_function_item *items = (const void *)received->bytes;
	const struct elf_answer *answer = &received->answer;

	functions->strings = (char *)received->bytes;
	functions->machine = answer->machine;
	functions->is_go = answer->flags & ELF_ANSWER_IS_GO;
	functions->has_unwinder = answer->flags & ELF_ANSWER_HAS_UNWINDER;
	functions->is_stripped = answer->flags & ELF_ANSWER_IS_STRIPPED;
	functions->needs_others = answer->flags & ELF_ANSWER_NEEDS_OTHERS;
	functions->functions = calloc(answer->item_cnt + 1, sizeof(*functions->functions));
	if (!functions->functions)
		return -ENOMEM;
	for (size_t i = 0; i < answer->item_cnt; i++) {
		const struct elf_function_item *item = &items[i];

		if (!answer->machine || item->name >= answer->strings_size || !item->offset ||
		    (i && item->address < items[i - 1].address))
			return nonsense(talk);
		/* or it is the file that has it elsewhere */
		if (is_inside(talk, item->offset, item->size ? item->size : 1))
			functions->functions[functions->cnt++] = (struct elf_function){
				received->strings + item->name, item->address, item->size,
				item->offset, item->is_chooser != 0
			};
	}
	return 0;
}

int elf_reader_functions(struct elf_reader *reader, struct elf_functions *functions, int fd)
{
	const struct elf_request request = { .question = ELF_QUESTION_FUNCTIONS };
	struct received received;
	struct elf_talk *talk;
	int err;

	if (!reader)
		return elf_functions_read(functions, fd);
	*functions = (struct elf_functions){ .fd = fd, .debug_fd = -1 };
	talk = functions->talk = calloc(1, sizeof(*talk));
	if (!talk)
		return -ENOMEM;
	err = talk_begin(talk, reader, fd);
	if (!err)
		err = ask(talk, &request, sizeof(struct elf_function_item), 2 * (uint64_t)ELF_FUNCTION_MAX,
			  &received);
	if (!err)
		err = take_functions(talk, &received, functions);
	if (err)
		elf_functions_release(functions);
	return err;
}

/* ---- exits ---- */

static int exits_here(const struct elf_functions *functions, const struct elf_function *const *parts,
		      size_t part_cnt, struct function_exits *exits)
{
	struct function_part read[ELF_PART_MAX] = { { 0 } };
	int err = 0;

	for (size_t i = 0; i < part_cnt; i++) {
		read[i] = (struct function_part){ parts[i]->offset, parts[i]->size,
						  elf_function_code(functions, parts[i]) };
		err = read[i].code ? err : -ENOTSUP;
	}
	if (!err)
		err = function_exits_find(exits, read, part_cnt, functions->machine);
	for (size_t i = 0; i < part_cnt; i++)
		free((void *)(uintptr_t)read[i].code);
	return err;
}

static bool is_in_part(const struct elf_request *request, uint64_t offset)
{
	for (size_t i = 0; i < request->part_cnt; i++)
		if (offset >= request->parts[i].offset &&
		    offset - request->parts[i].offset < request->parts[i].size)
			return true;
	return false;
}

int elf_reader_exits(const struct elf_functions *functions, const struct elf_function *const *parts,
		     size_t part_cnt, struct function_exits *exits)
{
	struct elf_request request = {
		.question = ELF_QUESTION_EXITS,
		.machine = functions->machine,
		.part_cnt = (uint16_t)part_cnt,
	};
	struct received received;
	int err;

	if (!functions->talk)
		return exits_here(functions, parts, part_cnt, exits);
	for (size_t i = 0; i < part_cnt; i++)
		request.parts[i] = (struct elf_part){ parts[i]->offset, parts[i]->size };
	err = ask(functions->talk, &request, sizeof(uint64_t), FUNCTION_EXIT_MAX, &received);
	if (err == -EIO || err == -EBADMSG)
		err = -ENOTSUP;
	if (err)
		return err;
	*exits = (struct function_exits){ (uint64_t *)(void *)received.bytes, received.answer.item_cnt };
	for (size_t i = 0; i < exits->cnt; i++) {
		if (!is_in_part(&request, exits->addresses[i])) {
			function_exits_release(exits);
			nonsense(functions->talk);
			return -ENOTSUP;
		}
	}
	return 0;
}
