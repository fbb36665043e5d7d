/* Exceptions through instrumented functions, and what they clean up. */
#include <cstdio>
#include <exception>
#include <functional>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#define KEPT __attribute__((noinline))

static int n_destroyed;
static unsigned long n_thrower, n_middle, n_catcher, n_rethrower;

struct Cleanup {
	std::string text;
	KEPT ~Cleanup() { n_destroyed++; }
};

KEPT static int thrower(int n)
{
	n_thrower++;
	if (n % 3 == 0)
		throw std::runtime_error("thrown " + std::to_string(n));
	if (n % 3 == 1)
		throw n;
	return n;
}

KEPT static int middle(int n)
{
	Cleanup cleanup{ std::to_string(n) };

	n_middle++;
	return thrower(n) + (int)cleanup.text.size();
}

KEPT static int rethrower(int n)
{
	n_rethrower++;
	try {
		return middle(n);
	} catch (const std::exception &) {
		throw;
	}
}

KEPT static int catcher(int n)
{
	n_catcher++;
	try {
		return rethrower(n);
	} catch (const std::exception &e) {
		return (int)std::string(e.what()).size();
	} catch (int thrown) {
		return -thrown;
	}
}

template <typename T> KEPT static T twice(T value)
{
	return value + value;
}

struct Shape {
	virtual ~Shape() = default;
	virtual double area() const = 0;
};
struct Square : Shape {
	double side;
	explicit Square(double s) : side(s) {}
	KEPT double area() const override { return side * side; }
};

int main()
{
	std::vector<std::thread> threads;
	int sum = 0;

	for (int i = 0; i < 30; i++)
		sum += catcher(i);
	std::printf("sum %d destroyed %d\n", sum, n_destroyed);
	for (int t = 0; t < 4; t++)
		threads.emplace_back([] {
			for (int i = 0; i < 100; i++)
				try {
					throw std::string("in a thread");
				} catch (const std::string &) {
				}
		});
	for (auto &thread : threads)
		thread.join();
	auto future = std::async(std::launch::async, [] { return thrower(3); });
	try {
		future.get();
	} catch (const std::runtime_error &e) {
		std::printf("future: %s\n", e.what());
	}
	std::function<double(const Shape &)> area = [](const Shape &s) { return s.area(); };
	std::printf("%s %.1f %.1f\n", twice(std::string("ab")).c_str(), twice(1.5), area(Square(3)));
	std::printf("count thrower %lu\ncount middle %lu\ncount catcher %lu\ncount rethrower %lu\n",
		    n_thrower, n_middle, n_catcher, n_rethrower);
	return 7;
}
