// sample_exceptions: exceptions that pass through functions with destructors, for SECONDS of CPU
// time. "ok" and exit code 7 show that each was caught once, and everything destroyed.
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <stdexcept>
#include <string>

static double seconds()
{
	timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static long n_alive, n_caught, n_thrown;

struct counted {
	std::string text = std::string(100, 'x');
	counted() { n_alive++; }
	~counted() { n_alive--; }
};

__attribute__((noinline)) void descend(int depth)
{
	counted here;

	if (depth == 0) {
		n_thrown++;
		throw std::runtime_error(here.text);
	}
	descend(depth - 1);
}

__attribute__((noinline)) void catch_one()
{
	try {
		descend(20);
	} catch (const std::exception &) {
		n_caught++;
	}
}

int main(int argc, char **argv)
{
	double end = seconds() + (argc > 1 ? atof(argv[1]) : 1);

	while (seconds() < end)
		catch_one();
	if (n_alive != 0 || n_caught != n_thrown || n_caught == 0)
		return 1;
	puts("ok");
	return 7;
}
