#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The examples of docs/ci.md, as they stand there.
# takes long: 11 s of a CPU
# shellcheck source=tests/cli/cli.sh
. tests/cli/cli.sh || exit

# example HEADING: the first indented block below it
example() {
	awk -v heading="## $1" '$0 == heading { below = 1; next } below && /^    / { print substr($0, 5); begun = 1; next } begun && $0 == "" { print ""; next } begun { exit }' docs/ci.md
}

# In the place of the recorder: txtrace-bpf -q --repeat N -o DIR [--base './server-base …'] -- ./server…; what a run of the new server is like stands in the file `changes`.
mkdir "$tmp/bin"
cat >"$tmp/bin/txtrace-bpf" <<-END
	#!/bin/bash
	[ "\$1 \$2 \$4" = "-q --repeat -o" ] || exit 2
	if [ "\$6" = --base ]; then [[ \$7 = ./server-base* && "\$8 \$9" = "-- ./server-new" ]] || exit 2; else [ "\$6 \$7" = "-- ./server" ] || exit 2; fi
	mkdir -p "\$5"
	for ((i = 1; i <= \$3; i++)); do
		[ "\$6" != --base ] || python3 "$PWD/tests/cli/make_run.py" --noise 0.002 --spans 80 --run \$i | "$make_log" "\$5/base-\$i.txtrace"
		python3 "$PWD/tests/cli/make_run.py" --noise 0.002 --spans 80 --run \$(grep -c seed changes)1\$i \$(cat changes) | "$make_log" "\$5/new-\$i.txtrace"
	done
END
chmod +x "$tmp/bin/txtrace-bpf"
ln -s "$txtrace" "$tmp/bin/txtrace"
example "A plain shell" >"$tmp/example.sh"
echo 'commit.on_cpu < +5%; tx.wall.p50 < +10%' >"$tmp/rules.txt.inline"
tr ';' '\n' <"$tmp/rules.txt.inline" >"$tmp/rules.txt"

shell_says() { # shell_says STATUS CHANGES WORDS
	echo "$2" >"$tmp/changes"
	(cd "$tmp" && PATH=$tmp/bin:$PATH bash example.sh) >"$tmp/said.sh" 2>&1
	[ $? = "$1" ] && tail -n 1 "$tmp/said.sh" | grep -qxF "$3" && [ -s "$tmp/report.html" ] || fail "$(tail -n 20 "$tmp/said.sh")"
}

# What the workflows call besides: sudo runs it, gh and curl fetch the runs of the main branch (`stored`), as an artifact has them.
cat >"$tmp/bin/sudo" <<-END
	#!/bin/sh
	exec "\$@"
END
cat >"$tmp/bin/gh" <<-END
	#!/bin/sh
	case "\$1 \$2" in
	"run list") [ "\$4 \$6" = "main performance" ] && echo 42 ;;
	"run download") [ "\$3 \$4 \$5 \$6" = "42 --name runs --dir" ] && mkdir -p "\$7" && cp ../stored/runs/* "\$7" ;;
	*) exit 2 ;;
	esac
END
cat >"$tmp/bin/curl" <<-END
	#!/bin/sh
	cp ../stored/runs.zip base.zip
END
cat >"$tmp/bin/unzip" <<-END
	#!/bin/sh
	[ "\$1 \$2 \$3" = "-o base.zip -d" ] && exec python3 -m zipfile -e base.zip "\$4"
END
chmod +x "$tmp"/bin/*
# workflow NAME: the commands of a workflow, as the CI's shell has them, without what builds the server
workflow() {
	example "$1" | python3 -c '
import sys, yaml
page = yaml.safe_load(sys.stdin)
if "jobs" in page:
	steps = [step["run"] for step in page["jobs"]["compare"]["steps"] if "run" in step]
	assert steps[0] == "make", steps
	steps = steps[1:]
else:
	steps = page["compare"]["script"]
print("set -e")
print("\n".join(steps))'
}

# runs_as NAME STATUS CHANGES REPORT...: a workflow in which the new server is so, and the reports that it leaves
runs_as() {
	local name=$1 wanted=$2 changes=$3 status
	shift 3
	rm -rf "$tmp/job" && mkdir "$tmp/job" && echo "$changes" >"$tmp/job/changes" && cp "$tmp/rules.txt" "$tmp/job/" && workflow "$name" >"$tmp/job.sh" || return
	(cd "$tmp/job" && PATH=$tmp/bin:$PATH GITHUB_BASE_REF=main GITHUB_STEP_SUMMARY=page.md GH_TOKEN=x CI_JOB_TOKEN=x CI_API_V4_URL=x CI_PROJECT_ID=1 CI_DEFAULT_BRANCH=main \
		bash -e ../job.sh) >"$tmp/said.job" 2>&1
	status=$?
	cat "$tmp/said.job"
	[ $status = "$wanted" ] || fail "the status is $status, not $wanted" || return
	(cd "$tmp/job" && ls "$@") || return
}

store_base() {
	mkdir -p "$tmp/stored/runs" "$tmp/job" && echo >"$tmp/job/changes" && (cd "$tmp/job" && PATH=$tmp/bin:$PATH txtrace-bpf -q --repeat 6 -o ../stored/runs -- ./server) &&
		(cd "$tmp/stored" && python3 -m zipfile -c runs.zip runs/)
}

github() {
	runs_as "GitHub Actions" 0 "seed=1" report.xml summary.md page.md runs/new-1.txtrace && ! grep '^::error' "$tmp/said.job" || return
	runs_as "GitHub Actions" 1 "seed=1 commit=1.2" report.xml page.md && grep -q '^::error title=rules::regressed: commit.on_cpu < +5%25' "$tmp/said.job"
}

gitlab() {
	runs_as "GitLab CI" 0 "seed=1" report.xml report.html && runs_as "GitLab CI" 1 "seed=1 commit=1.2" report.xml report.html || return
	# The first time there is no base: nothing is compared.
	mv "$tmp/stored/runs.zip" "$tmp/stored/kept.zip" && runs_as "GitLab CI" 0 "seed=1" runs/new-1.txtrace && [ ! -e "$tmp/job/report.xml" ]
}

# Every txtrace command in them parses: --help ends each after its options were understood.
options_are_known() {
	local line
	grep -oE 'txtrace (diff|check) [^|;&]*' docs/ci.md | grep -E ' -[a-z]' | sed -E 's/ (base|runs|server|--|[a-z]+\.txtrace).*//; s/ \|\| .*//' >"$tmp/commands"
	[ "$(wc -l <"$tmp/commands")" -ge 4 ] || fail "$(cat "$tmp/commands")" || return
	while read -r line; do
		(cd "$tmp" && eval "\"$txtrace\" ${line#txtrace } --help") >"$tmp/out" 2>"$tmp/err" || fail "$line: $(cat "$tmp/err")" || return
	done <"$tmp/commands"
}

rules_of_the_page() {
	sed -n '/^    commit.on_cpu.p50/,/^    lower_bounds/p' docs/ci.md >"$tmp/page.rules"
	[ "$(wc -l <"$tmp/page.rules")" = 6 ] || return
	python3 tests/cli/make_run.py --run 1 | "$make_log" "$tmp/one.txtrace" && python3 tests/cli/make_run.py --run 2 extra=1 | "$make_log" "$tmp/two.txtrace"
	run 0 diff -g page.rules two.txtrace -- two.txtrace || [ $? = 3 ] || return
	grep -q 'tx.calls.fsync <= 1' "$tmp/out"
}

check "the shell script: a program that did not change" shell_says 0 "" "it holds"
check "the shell script: a program that became slower" shell_says 1 "commit=1.2" "it regressed"
check "options of all commands on the page" options_are_known
if python3 -c 'import yaml' 2>"$tmp/no"; then
	check "the base of the main branch" store_base
	check "GitHub Actions: the steps, as they stand" github
	check "GitLab CI: the script, as it stands" gitlab
else
	skip "the workflows, as they stand" "there is no python3-yaml here"
fi
check "the rules of the page" rules_of_the_page
finish
