/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * thrower FOLDER ROUNDS: throws one exception after the other until FOLDER/go is there, so that its tracer
 * can say when it has arrived; then, on a second thread, ROUNDS of its own, each through ten calls, and each
 * third one again from where it was caught.
 */
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
#include <unistd.h>

struct Counted {
	explicit Counted(int &cnt) : cnt(cnt) {}
	~Counted() { cnt++; }
	int &cnt;
};

__attribute__((noinline)) static int fall(int depth, int &destroyed)
{
	Counted counted(destroyed);

	if (!depth)
		throw std::runtime_error("as it should");
	return fall(depth - 1, destroyed) + 1;
}

static void throw_rounds(int rounds)
{
	int destroyed = 0, caught = 0, again = 0;

	for (int i = 0; i < rounds; i++) {
		try {
			try {
				fall(9, destroyed);
			} catch (const std::exception &) {
				caught++;
				if (i % 3 == 0)
					throw;
			}
		} catch (const std::runtime_error &) {
			again++;
		}
	}
	printf("destroyed=%d caught=%d again=%d\n", destroyed, caught, again);
}

int main(int argc, char **argv)
{
	std::string go = std::string(argc > 2 ? argv[1] : ".") + "/go";
	int rounds = argc > 2 ? atoi(argv[2]) : 1;

	while (access(go.c_str(), F_OK) != 0) {
		try {
			throw 1;
		} catch (int) {
			usleep(10000);
		}
	}
	std::thread(throw_rounds, rounds).join();
}
