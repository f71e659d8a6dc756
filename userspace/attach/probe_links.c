/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/probe_links.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach/uprobe_multi.h"

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
	if (links->cnt == links->capacity) {
		size_t capacity = links->capacity ? links->capacity * 2 : 16;
		struct probe_link *grown = reallocarray(links->links, capacity, sizeof(*grown));

		if (!grown)
			return NULL;
		links->links = grown;
		links->capacity = capacity;
	}
	return &links->links[links->cnt];
}

static int attach_multi(const struct attempt *attempt, const struct probe_program *program, const struct probe_site *sites, size_t cnt)
{
	uint64_t *offsets = calloc(3 * cnt, sizeof(*offsets));
	struct probe_link *link = links_reserve(attempt->links);
	struct uprobe_multi multi = {
		.path = attempt->path,
		.offsets = offsets,
		.semaphore_offsets = offsets + cnt,
		.cookies = offsets + 2 * cnt,
		.cnt = (uint32_t)cnt,
		.pid = (uint32_t)attempt->options->pid,
	};
	int fd;

	if (!offsets || !link) {
		free(offsets);
		return -ENOMEM;
	}
	for (size_t i = 0; i < cnt; i++) {
		offsets[i] = site_offset(attempt, &sites[i]);
		offsets[cnt + i] = sites[i].semaphore_offset;
		offsets[2 * cnt + i] = program->cookie;
	}
	if (!attempt->options->features->has_uprobe_multi_pid)
		multi.pid = 0;
	fd = uprobe_multi_link(program->prog_fd, &multi);
	free(offsets);
	if (fd < 0)
		return fd;
	*link = (struct probe_link){ .fd = fd };
	attempt->links->cnt++;
	return 0;
}

static int attach_perf(const struct attempt *attempt, const struct probe_program *program, const struct probe_site *site)
{
	LIBBPF_OPTS(bpf_uprobe_opts, options, .ref_ctr_offset = site->semaphore_offset, .bpf_cookie = program->cookie);
	struct probe_link *link = links_reserve(attempt->links);
	struct bpf_link *perf;

	if (!link)
		return -ENOMEM;
	perf = bpf_program__attach_uprobe_opts(program->prog, -1, attempt->path, site_offset(attempt, site), &options);
	if (!perf)
		return -errno;
	*link = (struct probe_link){ .fd = -1, .perf = perf };
	attempt->links->cnt++;
	return 0;
}

static int attach_program(const struct attempt *attempt, const struct probe_program *program)
{
	size_t cnt;
	const struct probe_site *sites = sites_of(attempt->sites, program->probe, &cnt);
	int err = 0;

	if (cnt == 0)
		return 0;
	if (attempt->options->features->has_uprobe_multi)
		return attach_multi(attempt, program, sites, cnt);
	for (size_t i = 0; i < cnt && !err; i++)
		err = attach_perf(attempt, program, &sites[i]);
	return err;
}

static void close_all(struct probe_links *links)
{
	for (size_t i = links->cnt; i-- > 0;) {
		if (links->links[i].fd >= 0)
			close(links->links[i].fd);
		else
			bpf_link__destroy(links->links[i].perf);
	}
	links->cnt = 0;
}

/* All programs or none. */
static int attach_all(const struct attempt *attempt)
{
	const struct probe_links_options *options = attempt->options;

	for (size_t i = 0; i < options->program_cnt; i++) {
		int err = attach_program(attempt, &options->programs[i]);

		if (err) {
			close_all(attempt->links);
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
		error_set(error, "kernel %s does not let us attach probes (%s): run as root or with the capability CAP_SYS_ADMIN", features->release,
			  strerror(-err));
	else if (err == -EACCES || err == -EPERM)
		error_set(error, "the kernel does not let us attach probes (%s): run as root or with the capabilities CAP_BPF and CAP_PERFMON",
			  strerror(-err));
	else if (err == -EMFILE || err == -ENFILE)
		error_set(error, "no file descriptor is left for the probes: raise the limit with ulimit -n");
	else
		error_set(error, "the kernel refuses the probes: %s", strerror(-err));
}

/* Whether the error may come from where the probes sit, rather than from the process, the privilege or the memory. */
static bool is_about_the_site(int err)
{
	return err != -ESRCH && err != -EPERM && err != -EACCES && err != -ENOMEM && err != -EMFILE && err != -ENFILE;
}

int probe_links_attach(struct probe_links **links, const struct probe_links_options *options, int fd, const struct probe_sites *sites,
		       struct error *error)
{
	char path[64];
	struct attempt attempt = {
		.options = options,
		.sites = sites,
		.path = path,
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

size_t probe_links_cnt(const struct probe_links *links)
{
	return links->cnt;
}

bool probe_links_are_fast(const struct probe_links *links)
{
	return links->are_fast;
}

void probe_links_close(struct probe_links *links)
{
	if (!links)
		return;
	close_all(links);
	free(links->links);
	free(links);
}
