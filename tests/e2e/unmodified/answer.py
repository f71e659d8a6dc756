# SPDX-License-Identifier: BSD-2-Clause
"""answer.py FOLDER ROUNDS: imports modules and collects garbage, once FOLDER/go is there; says how often."""
import gc
import os
import sys
import time

folder, rounds = sys.argv[1], int(sys.argv[2])
gc.disable()
sys.dont_write_bytecode = True
sys.path.insert(0, folder)
for i in range(rounds):
    with open(f"{folder}/outer{i}.py", "w") as file:
        file.write(f"import inner{i}\n")
    with open(f"{folder}/inner{i}.py", "w") as file:
        file.write("import sys\n")

print("ready", flush=True)
while not os.path.exists(f"{folder}/go"):
    time.sleep(0.01)

for i in range(rounds):
    __import__(f"outer{i}")
    __import__(f"outer{i}")  # it is there already
try:
    import nowhere_to_be_found
except ImportError:
    pass
gc.collect()  # of what came before
freed = 0
for i in range(rounds):
    for _ in range(i):
        cycle = []
        cycle.append(cycle)
        del cycle
    freed += gc.collect(i % 3)
print(f"freed={freed}")
