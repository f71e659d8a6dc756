# SPDX-License-Identifier: BSD-2-Clause
"""view_colors.py NAMES.js: any two colours of its states can be told apart, also by people who do not see red, green or blue. Simulated as Machado, Oliveira and
Fernandes (2009) have it, in full; the distance is that of CIE 1976 in L*a*b*, of which 2.3 is just noticeable."""
import itertools
import re
import sys

LEAST = 12
VISIONS = {
	"all colours": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
	"no red": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
	"no green": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
	"no blue": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}


def linear(byte):
	value = byte / 255
	return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4


def seen(color, vision):
	channels = [linear(int(color[at:at + 2], 16)) for at in (1, 3, 5)]
	return [min(max(sum(weight * channel for weight, channel in zip(row, channels)), 0), 1) for row in vision]


def lab(red, green, blue):
	def curve(value):
		return value ** (1 / 3) if value > 0.008856 else 7.787 * value + 16 / 116
	x = curve((0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.95047)
	y = curve(0.2126 * red + 0.7152 * green + 0.0722 * blue)
	z = curve((0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.08883)
	return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def distance(left, right):
	return sum((a - b) ** 2 for a, b in zip(left, right)) ** 0.5


with open(sys.argv[1], encoding="utf-8") as file:
	colors = dict(re.findall(r'^\t"?([\w-]+)"?: "(#[0-9a-f]{6})",$', file.read(), re.M))
if len(colors) < 17:
	sys.exit(f"only {len(colors)} colours are there")
distances = []
for name, vision in VISIONS.items():
	labs = {state: lab(*seen(color, vision)) for state, color in colors.items()}
	distances += [(distance(labs[a], labs[b]), a, b, name) for a, b in itertools.combinations(labs, 2) if colors[a] != colors[b]]
least = min(distances)
print("the nearest two: %s and %s, for who sees %s: %.1f" % (least[1], least[2], least[3], least[0]))
sys.exit(least[0] < LEAST)
