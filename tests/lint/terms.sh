#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Documents, help texts and messages are plain English in the terms of docs/terms.md.
# shellcheck source=tests/lint/lint.sh
. tests/lint/lint.sh || exit

# Each line: a pattern of whole words (Python), a tab, and what to write instead. Case does not matter.
terms() {
	cat <<-'END'
		tells?|told|telling|untold	say, report, show or record; 'can't tell' is the name of a verdict
		hears?|heard	receive, or the name of the event
		foreign	unmodified (program)
		the house|keeps? house	name the function
		lands?|landed|landing	stop, arrive
		fly|flies|flew	run, record
		whoever|whomever|anybody|everybody|somebody	name the thread, process, program or user
		nobody(?! known)	no thread, no process, no user; idle (CPU)
		goe?s? on|went on	continue
		(?:was|were) never changed	unmodified (program)
		those to come|still to come	later, now and later
		is said|are said|was said|said once	a message says, is reported
		as it stands|as they stand|stands? there	exactly as it is here
		cries wolf|moods?	name the cause
		account is incomplete	lower bound
		what is there	an existing file
		taken? as it is needed|taken as needed	allocated as needed
		party	waker, other side
	END
}

# Words for documents alone: messages of imports and exports count what they have left out.
document_terms() {
	terms
	cat <<-'END'
		left out|leaves? out|leaving out	filtered (by the user), lost, dropped, skipped, not included
		recognised|optimisation|colour of	American spelling, as in the macros: recognized, optimization
	END
}

# find_terms TERMS: reads lines "FILE:LINE:TEXT"; prints those with a word of TERMS, and what to write instead.
find_terms() {
	python3 -c '
import re, sys
terms = [line.rstrip("\n").split("\t") for line in open(sys.argv[1], encoding="utf-8")]
terms = [(re.compile(r"(?<![\w-])(?:" + words + r")(?![\w-])", re.I), instead) for words, instead in terms]
for line in sys.stdin:
	place, text = re.fullmatch(r"([^:]+:\d+):(.*)", line.rstrip("\n")).groups()
	text = re.sub(r"can.t tell", "", text)
	for pattern, instead in terms:
		for found in pattern.finditer(text):
			print(f"{place}: \"{found[0]}\": write instead: {instead}")' <($1)
}

# The prose of documents: no code, no link targets, no tables' rulers; of man pages the lines of text.
prose() {
	files '*.md' 'docs/*.1' | python3 -c '
import re, sys
for name in sys.stdin.read().splitlines():
	is_fenced = is_code = False
	was_blank = True
	for number, line in enumerate(open(name, encoding="utf-8"), 1):
		line = line.rstrip("\n")
		if name.endswith(".1"):
			if not line.startswith(".") or re.match(r"\.(Nd|Sh|Ss) ", line):
				print(f"{name}:{number}:{line}")
			continue
		if line.startswith("```"):
			is_fenced = not is_fenced
		is_code = bool(re.match(r"    |\t", line)) and (was_blank or is_code)
		was_blank = not line.strip()
		if not is_fenced and not is_code:
			text = re.sub(r"\]\([^)]*\)", "]", re.sub(r"`[^`]*`", "``", line))
			print(f"{name}:{number}:{text}")'
}

# The phrases of the programs: string literals with a blank in them.
phrases() {
	files 'userspace/*.c' 'userspace/*.h' | python3 -c '
import re, sys
tokens = re.compile(r"""/\*.*?\*/|//[^\n]*|\x27(?:[^\x27\\\n]|\\.)*\x27|"((?:[^"\\\n]|\\.)*)\"""", re.S)
for name in sys.stdin.read().splitlines():
	source = open(name, encoding="utf-8").read()
	for token in tokens.finditer(source):
		if token[1] and " " in token[1]:
			print(f"{name}:{source.count(chr(10), 0, token.start()) + 1}:{token[1]}")'
}

# Tables and code cannot be wrapped; nor can headings, and lines that are one long word.
wide_prose() {
	files '*.md' | python3 -c '
import re, sys
for name in sys.stdin.read().splitlines():
	is_fenced = is_code = False
	was_blank = True
	for number, line in enumerate(open(name, encoding="utf-8"), 1):
		line = line.rstrip("\n")
		if line.startswith("```"):
			is_fenced = not is_fenced
		is_code = bool(re.match(r"    |\t", line)) and (was_blank or is_code)
		was_blank = not line.strip()
		if len(line) > 80 and not is_fenced and not is_code and line[0] not in "|#" and " " in line.strip():
			print(f"{name}:{number}: {len(line)} columns, at most 80")'
}

documents_use_terms() {
	prose | find_terms document_terms
}

messages_use_terms() {
	phrases | find_terms terms
}

rule "documents use the standard terms" documents_use_terms
rule "help texts and messages use the standard terms" messages_use_terms
rule "documents have at most 80 columns outside tables and code" wide_prose
finish
