# SPDX-License-Identifier: BSD-2-Clause
"""bpf_stacks.py OBJECT: BPF programs whose calls need more stack than kernels give them.

A chain of calls has 512 bytes. Kernels up to 6.7 round each frame up to 32 bytes, later ones to 16: a
program that loads here may be refused there. Prints each such program with its frames.

Also prints programs that must lie on the stack of whoever calls them, and do not: from 6.13 on a frame of
64 bytes or more may lie elsewhere (bpf/waker.h).
"""
import re
import subprocess
import sys

STACK_MAX = 512
ROUND = 32
FRAME_POINTER = 10
ON_CALLERS_STACK = ["on_sched_waking"]
OWN_STACK_MIN, OWN_STACK_ROUND = 64, 16


def lines_of(*command):
	return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def read_functions(path):
	"""{section: [(begin, end, name)]}"""
	numbers, functions = {}, {}
	for line in lines_of("llvm-readelf", "-SW", path):
		section = re.match(r"\s*\[\s*(\d+)\]\s+(\S+)", line)
		if section:
			numbers[section[1]] = section[2]
	for line in lines_of("llvm-readelf", "-sW", path):
		fields = line.split()
		if len(fields) == 8 and fields[3] == "FUNC":
			begin = int(fields[1], 16)
			functions.setdefault(numbers[fields[6]], []).append((begin, begin + int(fields[2]), fields[7]))
	return functions


class Frames:
	def __init__(self, path):
		self.functions = read_functions(path)
		self.bytes, self.calls, self.known = {}, {}, {}
		self.read(lines_of("llvm-objdump", "-dr", path))

	def name_at(self, section, address):
		for begin, end, name in self.functions.get(section, []):
			if begin <= address < end:
				return name
		return None

	def read(self, lines):
		section, copies = None, set()
		for number, line in enumerate(lines):
			title = re.match(r"Disassembly of section (.*):", line)
			if title:
				section = title[1]
			instruction = re.match(r"\s+(\d+):\s+((?:[0-9a-f]{2}[ \t]){8,16})", line)
			name = self.name_at(section, int(instruction[1]) * 8) if instruction else None
			if name is None:
				continue
			if name not in self.bytes:
				self.bytes[name], self.calls[name], copies = 0, set(), set()
			code = bytes.fromhex("".join(instruction[2].split()))
			self.look(name, code, copies)
			if code[0] == 0x85 and code[1] >> 4 == 1:
				behind = lines[number + 1] if number + 1 < len(lines) else ""
				self.calls[name].add(self.called(section, int(instruction[1]) * 8, code, behind))

	def look(self, name, code, copies):
		"""How far below the frame pointer it goes; copies: registers that hold that."""
		target, source = code[1] & 15, code[1] >> 4
		offset = int.from_bytes(code[2:4], "little", signed=True)
		immediate = int.from_bytes(code[4:8], "little", signed=True)
		kind = code[0] & 7
		depth = 0
		if kind in (2, 3) and target == FRAME_POINTER or kind == 1 and source == FRAME_POINTER:
			depth = -offset
		elif code[0] == 0x07 and target in copies:
			depth = -immediate
		if kind in (0, 1, 4, 7):
			copies.discard(target)
		if code[0] == 0xBF and source == FRAME_POINTER:
			copies.add(target)
		self.bytes[name] = max(self.bytes[name], depth)

	def called(self, section, address, code, behind):
		immediate = int.from_bytes(code[4:8], "little", signed=True)
		place = re.search(r"R_BPF_64_32\s+(\S+)", behind)
		if not place:
			return self.name_at(section, address + (immediate + 1) * 8)
		return self.name_at(place[1], (immediate + 1) * 8) if place[1] in self.functions else place[1]

	def deepest(self, name):
		"""(bytes, names) of the chain of calls below it that needs most."""
		if name not in self.known:
			own = (max(self.bytes[name], 1) + ROUND - 1) // ROUND * ROUND
			below = max((self.deepest(called) for called in self.calls[name]), default=(0, []))
			self.known[name] = (own + below[0], [f"{name} {own}"] + below[1])
		return self.known[name]


def main():
	frames = Frames(sys.argv[1])
	if not frames.bytes:
		sys.exit(f"{sys.argv[1]}: no functions were found in it")
	for name in sorted(frames.bytes):
		size, chain = frames.deepest(name)
		if size > STACK_MAX:
			print(f"{name}: {size} bytes of stack, at most {STACK_MAX}: {', '.join(chain)}")
	for name in ON_CALLERS_STACK:
		most = OWN_STACK_MIN - OWN_STACK_ROUND
		if frames.bytes.get(name, 0) > most:
			print(f"{name}: a frame of {frames.bytes[name]} bytes, at most {most}: it has to be on its caller's stack")


main()
