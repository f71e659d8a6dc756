/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * orders [FILE]: naps 20 times in shop::Cart::pay(long), called by the template shop::order<int>; then waits
 * until the file is there.
 */
#include <time.h>
#include <unistd.h>

#define FUNCTION __attribute__((noinline))

namespace shop {
class Cart {
public:
	FUNCTION long pay(long ms);
};

long Cart::pay(long ms)
{
	const timespec nap = { 0, ms * 1000000 };

	nanosleep(&nap, nullptr);
	asm volatile("");
	return ms;
}

template <typename T> FUNCTION T order(Cart &cart, T ms)
{
	T paid = T(cart.pay(ms));

	asm volatile("");
	return paid;
}
}

int main(int argc, char **argv)
{
	shop::Cart cart;
	int sum = 0;

	for (int i = 0; i < 20; i++)
		sum += shop::order<int>(cart, 2);
	while (argc > 1 && access(argv[1], F_OK))
		usleep(10000);
	return sum != 40;
}
