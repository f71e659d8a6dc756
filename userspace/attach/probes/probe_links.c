/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/probes/probe_links.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach/probes/label_files.h"
#include "attach/probes/link_opener.h"
#include "attach/probes/probe_path.h"
#include "attach/probes/uprobe_multi.h"
#include "base/array.h"

#define UPROBE_BYTES_MAX 16 /* of an instruction on x86; that of the kernel */
#define CLOSE_THREAD_MAX 64

/* One of the kernel's links: an fd (uprobe_multi), or libbpf's (perf uprobe). */
struct probe_link {
	int fd; /* -1: perf uprobe */
	struct bpf_link *perf;
};

struct probe_links {
	struct probe_link *links;
	size_t cnt;
	size_t capacity;
	bool are_fast;
};

/* What one attempt works with. */
struct attempt {
	const struct probe_links_options *options;
	const struct probe_sites *sites;
	const char *path; /* that leads to the object, whatever its name is now */
	int fd;           /* of the object */
	struct probe_links *links;
	bool is_fast;
};

int probe_program_prepare(struct bpf_program *prog, const struct kernel_features *features)
{
	if (!features->has_uprobe_multi)
		return 0;
	return bpf_program__set_expected_attach_type(prog, (enum bpf_attach_type)UPROBE_MULTI_ATTACH_TYPE);
}

static uint64_t site_offset(const struct attempt *attempt, const struct probe_site *site)
{
	return attempt->is_fast ? site->fast_offset : site->offset;
}

static uint64_t site_cookie(const struct attempt *attempt, const struct probe_program *program,
			    const struct probe_site *site)
{
	const struct label_file *file = attempt->options->label_file;

	return file ? label_file_cookie(file, site_offset(attempt, site)) : program->cookie;
}

/* The sites of one probe follow one another: the first of them, and how many. */
static const struct probe_site *sites_of(const struct probe_sites *sites, const char *probe, size_t *cnt)
{
	const struct probe_site *first = NULL;

	*cnt = 0;
	for (size_t i = 0; i < sites->cnt; i++) {
		if (strcmp(sites->sites[i].probe, probe) != 0)
			continue;
		if (!first)
			first = &sites->sites[i];
		(*cnt)++;
	}
	return first;
}

static struct probe_link *links_reserve(struct probe_links *links)
{
	struct probe_link *grown = array_grow(links->links, &links->capacity, links->cnt, sizeof(*grown));

	if (!grown)
		return NULL;
	links->links = grown;
	return &links->links[links->cnt];
}

/* The sites of all probes that one BPF program handles, as the kernel wants them. */
struct site_arrays {
	uint64_t *offsets;
	uint64_t *semaphore_offsets;
	uint64_t *cookies;
	size_t cnt;
};

static int arrays_fill(struct site_arrays *arrays, const struct attempt *attempt, int prog_fd)
{
	const struct probe_links_options *options = attempt->options;
	size_t room = attempt->sites->cnt * options->program_cnt;

	arrays->cnt = 0;
	arrays->offsets = calloc(3 * room + 1, sizeof(*arrays->offsets));
	if (!arrays->offsets)
		return -ENOMEM;
	arrays->semaphore_offsets = arrays->offsets + room;
	arrays->cookies = arrays->offsets + 2 * room;
	for (size_t i = 0; i < options->program_cnt; i++) {
		const struct probe_program *program = &options->programs[i];
		const struct probe_site *sites;
		size_t cnt;

		if (program->prog_fd != prog_fd)
			continue;
		sites = sites_of(attempt->sites, program->probe, &cnt);
		for (size_t site = 0; site < cnt; site++, arrays->cnt++) {
			arrays->offsets[arrays->cnt] = site_offset(attempt, &sites[site]);
			arrays->semaphore_offsets[arrays->cnt] = sites[site].semaphore_offset;
			arrays->cookies[arrays->cnt] = site_cookie(attempt, program, &sites[site]);
		}
	}
	return 0;
}

/*
 * 0 is every process; the programs look, too. The kernel knows a process by the memory of its first thread,
 * which has none any more once it has ended, though others live on: then nothing would match.
 */
static uint32_t filter_pid(const struct probe_links_options *options)
{
	char path[64], exe[2];

	snprintf(path, sizeof(path), "/proc/%d/exe", options->pid);
	if (!options->features->has_uprobe_multi_pid ||
	    (readlink(path, exe, sizeof(exe)) < 0 && errno == ENOENT))
		return 0;
	return (uint32_t)options->pid;
}

/*
 * Into the page cache, right before the kernel looks at it there: what it has
 * to read from the disk itself, it reads in a way that ext4 warns of once per
 * boot (6.18: ext4_check_map_extents_env below uprobe_register), and such a
 * warning stops a machine that has panic_on_warn. An instruction may go over
 * the end of a page. What cannot be read is the kernel's to refuse.
 */
static void read_code(const struct attempt *attempt, uint64_t offset)
{
	char code[UPROBE_BYTES_MAX];
	ssize_t ignored = pread(attempt->fd, code, sizeof(code), (off_t)offset);

	(void)ignored;
}

static int attach_multi(const struct attempt *attempt, int prog_fd)
{
	struct probe_link *link = links_reserve(attempt->links);
	struct site_arrays arrays;
	int fd = link ? arrays_fill(&arrays, attempt, prog_fd) : -ENOMEM;

	if (fd)
		return fd;
	if (arrays.cnt) {
		const struct uprobe_multi multi = {
			.path = attempt->path,
			.offsets = arrays.offsets,
			.semaphore_offsets = arrays.semaphore_offsets,
			.cookies = arrays.cookies,
			.cnt = (uint32_t)arrays.cnt,
			.pid = filter_pid(attempt->options),
		};

		for (size_t i = 0; i < arrays.cnt; i++)
			read_code(attempt, arrays.offsets[i]);
		fd = link_opener_link(attempt->options->opener, prog_fd, &multi, attempt->fd);
		if (fd >= 0) {
			*link = (struct probe_link){ .fd = fd };
			attempt->links->cnt++;
		}
	}
	free(arrays.offsets);
	return fd < 0 ? fd : 0;
}

static int attach_perf(const struct attempt *attempt, const struct probe_program *program,
		       const struct probe_site *site)
{
	LIBBPF_OPTS(bpf_uprobe_opts, options, .ref_ctr_offset = site->semaphore_offset,
		    .bpf_cookie = site_cookie(attempt, program, site));
	struct probe_link *link = links_reserve(attempt->links);
	struct bpf_link *perf;

	if (!link)
		return -ENOMEM;
	read_code(attempt, site_offset(attempt, site));
	perf = bpf_program__attach_uprobe_opts(program->prog, -1, attempt->path, site_offset(attempt, site),
					       &options);
	if (!perf)
		return -errno;
	*link = (struct probe_link){ .fd = -1, .perf = perf };
	attempt->links->cnt++;
	return 0;
}

static bool is_first_of_its_fd(const struct probe_links_options *options, size_t idx)
{
	for (size_t i = 0; i < idx; i++)
		if (options->programs[i].prog_fd == options->programs[idx].prog_fd)
			return false;
	return true;
}

static int attach_program(const struct attempt *attempt, size_t idx)
{
	const struct probe_links_options *options = attempt->options;
	const struct probe_program *program = &options->programs[idx];
	const struct probe_site *sites;
	size_t cnt;
	int err = 0;

	if (options->features->has_uprobe_multi)
		return is_first_of_its_fd(options, idx) ? attach_multi(attempt, program->prog_fd) : 0;
	sites = sites_of(attempt->sites, program->probe, &cnt);
	for (size_t i = 0; i < cnt && !err; i++)
		err = attach_perf(attempt, program, &sites[i]);
	return err;
}

/* What the threads that close links share. */
struct closing {
	struct probe_link *links;
	size_t cnt;
	size_t next; /* atomic */
};

static void *close_links(void *argument)
{
	struct closing *closing = argument;
	size_t idx;

	while ((idx = __atomic_fetch_add(&closing->next, 1, __ATOMIC_RELAXED)) < closing->cnt) {
		struct probe_link *link = &closing->links[idx];

		if (link->fd >= 0)
			close(link->fd);
		else
			bpf_link__destroy(link->perf);
	}
	return NULL;
}

/*
 * The kernel waits for a grace period at each link that is closed, some 50 ms. Threads wait for theirs
 * together: measured, 15 links of one object take 65 ms instead of 800 (6.18, two CPUs).
 */
static void close_all(struct probe_link *links, size_t cnt)
{
	struct closing closing = { .links = links, .cnt = cnt };
	pthread_t threads[CLOSE_THREAD_MAX];
	size_t thread_cnt = 0;
	sigset_t all, before;

	sigfillset(&all);
	sigdelset(&all, SIGSYS); /* of the thread that causes it */
	pthread_sigmask(SIG_BLOCK, &all, &before); /* signals are for the thread that called us */
	while (thread_cnt + 1 < cnt && thread_cnt < CLOSE_THREAD_MAX &&
	       pthread_create(&threads[thread_cnt], NULL, close_links, &closing) == 0)
		thread_cnt++;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	close_links(&closing);
	while (thread_cnt > 0)
		pthread_join(threads[--thread_cnt], NULL);
}

/* The links from the index on. While the kernel is held up, to close one takes as long as to make one. */
static void undo(const struct attempt *attempt, size_t from)
{
	struct probe_links *links = attempt->links;
	size_t kept = from;

	for (size_t i = from; i < links->cnt; i++) {
		bool is_later = links->links[i].fd >= 0 && link_opener_is_held(attempt->options->opener) &&
				link_opener_close_later(attempt->options->opener, links->links[i].fd);

		if (!is_later)
			links->links[kept++] = links->links[i];
	}
	close_all(links->links + from, kept - from);
	links->cnt = from;
}

/* All programs or none. */
static int attach_all(const struct attempt *attempt)
{
	const struct probe_links_options *options = attempt->options;

	for (size_t i = 0; i < options->program_cnt; i++) {
		int err = attach_program(attempt, i);

		if (err) {
			undo(attempt, 0);
			return err;
		}
	}
	return 0;
}

static bool have_fast_site(const struct probe_sites *sites)
{
	for (size_t i = 0; i < sites->cnt; i++)
		if (sites->sites[i].fast_offset != sites->sites[i].offset)
			return true;
	return false;
}

static int count_handled(const struct probe_links_options *options, const struct probe_sites *sites)
{
	int cnt = 0;

	for (size_t i = 0; i < sites->cnt; i++) {
		for (size_t p = 0; p < options->program_cnt; p++) {
			if (strcmp(options->programs[p].probe, sites->sites[i].probe) == 0) {
				cnt++;
				break;
			}
		}
	}
	return cnt;
}

static void explain(struct error *error, const struct attempt *attempt, int err)
{
	const struct kernel_features *features = attempt->options->features;

	if (err == -ESRCH)
		error_set(error, "process %d has ended", attempt->options->pid);
	else if ((err == -EACCES || err == -EPERM) && !features->has_uprobe_multi)
		error_set(error,
			  "kernel %s does not let us attach probes (%s): run as root or with the capability "
			  "CAP_SYS_ADMIN",
			  features->release, strerror(-err));
	else if (err == -EACCES || err == -EPERM)
		error_set(error,
			  "the kernel does not let us attach probes (%s): run as root or with the "
			  "capabilities CAP_BPF and CAP_PERFMON",
			  strerror(-err));
	else if (err == -EMFILE || err == -ENFILE)
		error_set(error, "no file descriptor is left for the probes: raise the limit with ulimit -n");
	else if (err == -ETIMEDOUT)
		error_set(error, "the kernel waits for a process that holds the lock of its memory");
	else
		error_set(error, "the kernel refuses the probes: %s", strerror(-err));
}

/*
 * Whether the error may come from where the probes sit, rather than from the process, the privilege or the
 * memory.
 */
static bool is_about_the_site(int err)
{
	return err != -ESRCH && err != -EPERM && err != -EACCES && err != -ENOMEM && err != -EMFILE &&
	       err != -ENFILE && err != -ETIMEDOUT;
}

int probe_links_attach(struct probe_links **links, const struct probe_links_options *options, int fd,
		       const struct probe_sites *sites, struct error *error)
{
	char path[64];
	struct attempt attempt = {
		.options = options,
		.sites = sites,
		.path = path,
		.fd = fd,
		.links = calloc(1, sizeof(**links)),
		.is_fast = have_fast_site(sites),
	};
	int err;

	*links = NULL;
	if (!attempt.links) {
		explain(error, &attempt, -ENOMEM);
		return -ENOMEM;
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	err = attach_all(&attempt);
	if (err && attempt.is_fast && is_about_the_site(err)) {
		attempt.is_fast = false;
		err = attach_all(&attempt);
	}
	if (err) {
		explain(error, &attempt, err);
		probe_links_close(attempt.links);
		return err;
	}
	attempt.links->are_fast = attempt.is_fast;
	*links = attempt.links;
	return count_handled(options, sites);
}

/* ---- spots ---- */

static int spots_multi(const struct attempt *attempt, const struct probe_spot_program *program, size_t idx,
		       const struct probe_spot *spots, size_t cnt)
{
	struct probe_link *link = links_reserve(attempt->links);
	uint64_t *arrays = calloc(3 * cnt + 1, sizeof(*arrays));
	struct uprobe_multi multi = {
		.path = attempt->path,
		.offsets = arrays,
		.semaphore_offsets = arrays + cnt,
		.cookies = arrays + 2 * cnt,
		.pid = filter_pid(attempt->options),
		.is_return = program->is_return,
	};
	int fd = link && arrays ? 0 : -ENOMEM;

	for (size_t i = 0; !fd && i < cnt; i++) {
		if (spots[i].program != idx)
			continue;
		read_code(attempt, spots[i].offset);
		arrays[multi.cnt] = spots[i].offset;
		arrays[cnt + multi.cnt] = spots[i].semaphore_offset;
		arrays[2 * cnt + multi.cnt++] = spots[i].cookie;
	}
	if (!fd && multi.cnt) {
		fd = link_opener_link(attempt->options->opener, program->prog_fd, &multi,
				      attempt->fd);
		if (fd >= 0) {
			*link = (struct probe_link){ .fd = fd };
			attempt->links->cnt++;
		}
	}
	free(arrays);
	return fd < 0 ? fd : 0;
}

static int spot_perf(const struct attempt *attempt, const struct probe_spot_program *program,
		     const struct probe_spot *spot)
{
	bool has_cookies = attempt->options->features->has_cookies;
	LIBBPF_OPTS(bpf_uprobe_opts, options, .ref_ctr_offset = spot->semaphore_offset,
		    .bpf_cookie = has_cookies ? spot->cookie : 0, .retprobe = program->is_return);
	struct probe_link *link = links_reserve(attempt->links);
	char path[PROBE_PATH_SIZE];
	struct bpf_link *perf;

	if (!link)
		return -ENOMEM;
	read_code(attempt, spot->offset);
	perf = bpf_program__attach_uprobe_opts(program->prog, -1,
					       has_cookies
						       ? attempt->path
						       : probe_path_format(path, attempt->fd, spot->cookie),
					       spot->offset, &options);
	if (!perf)
		return -errno;
	*link = (struct probe_link){ .fd = -1, .perf = perf };
	attempt->links->cnt++;
	return 0;
}

static int attach_spots(const struct attempt *attempt, const struct probe_spot_program *programs,
			size_t program_cnt, const struct probe_spot *spots, size_t cnt)
{
	int err = 0;

	for (size_t program = 0; program < program_cnt && !err; program++) {
		if (attempt->options->features->has_uprobe_multi) {
			err = spots_multi(attempt, &programs[program], program, spots, cnt);
			continue;
		}
		for (size_t i = 0; i < cnt && !err; i++)
			if (spots[i].program == program)
				err = spot_perf(attempt, &programs[program], &spots[i]);
	}
	return err;
}

int probe_links_add(struct probe_links **links, const struct probe_links_options *options,
		    const struct probe_spot_program *programs, size_t program_cnt, int fd,
		    const struct probe_spot *spots, size_t spot_cnt, struct error *error)
{
	char path[64];
	struct attempt attempt = { .options = options,
				   .path = path,
				   .fd = fd,
				   .links = *links ? *links : calloc(1, sizeof(**links)) };
	size_t before = *links ? (*links)->cnt : 0;
	int err;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	err = attempt.links ? attach_spots(&attempt, programs, program_cnt, spots, spot_cnt) : -ENOMEM;
	if (!err) {
		*links = attempt.links;
		return 0;
	}
	explain(error, &attempt, err);
	if (attempt.links)
		undo(&attempt, before);
	if (!*links)
		probe_links_close(attempt.links);
	return err;
}

size_t probe_links_cnt(const struct probe_links *links)
{
	return links->cnt;
}

bool probe_links_are_fast(const struct probe_links *links)
{
	return links->are_fast;
}

/* All of them together, whichever object they belong to. */
void probe_links_close_several(struct probe_links **links, size_t cnt)
{
	struct probe_link *all;
	size_t total = 0, used = 0;

	for (size_t i = 0; i < cnt; i++)
		total += links[i]->cnt;
	all = calloc(total + 1, sizeof(*all));
	for (size_t i = 0; i < cnt; i++) {
		if (all && links[i]->cnt)
			memcpy(&all[used], links[i]->links, links[i]->cnt * sizeof(*all));
		else
			close_all(links[i]->links, links[i]->cnt);
		used += links[i]->cnt;
		free(links[i]->links);
		free(links[i]);
	}
	if (all)
		close_all(all, used);
	free(all);
}

void probe_links_close(struct probe_links *links)
{
	if (links)
		probe_links_close_several(&links, 1);
}
