/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Methods, templates and overloads that are left by exceptions. Prints what is true of them, as
 * tests/programs/calls.c does.
 */
#include <cstdio>
#include <stdexcept>

#define FUNCTION __attribute__((noinline))

namespace bank {
class Account {
public:
	FUNCTION long withdraw(long amount);
	FUNCTION long check(long amount, const char *why);
	FUNCTION long check(double amount);
	long caught = 0;
};

long Account::check(long amount, const char *why)
{
	if (amount % 3 == 0)
		throw std::runtime_error(why);
	asm volatile("");
	return amount;
}

long Account::check(double amount)
{
	asm volatile("");
	return long(amount);
}

long Account::withdraw(long amount)
{
	long result = check(amount, "a third") + check(amount / 2.0);

	asm volatile("");
	return result;
}

template <typename T> FUNCTION T move(Account &account, T amount)
{
	try {
		return account.withdraw(amount);
	} catch (const std::exception &) {
		account.caught++;
		return -1;
	}
}
}

int main()
{
	bank::Account account;
	long sum = 0;

	for (long i = 0; i < 30; i++)
		sum += bank::move<long>(account, i);
	if (account.caught != 10 || sum != -10 + 300 + 145) {
		std::fprintf(stderr, "caught %ld, sum %ld\n", account.caught, sum);
		return 1;
	}
	std::printf("{\"label\":\"bank::move<long>\",\"calls\":30,\"skipped\":0}\n"
		    "{\"label\":\"bank::Account::withdraw\",\"calls\":30,\"skipped\":10}\n"
		    "{\"label\":\"bank::Account::check\",\"calls\":50,\"skipped\":10}\n");
}
