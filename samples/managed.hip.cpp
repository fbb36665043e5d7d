/*
 * managed: memory that host and device address alike.
 *
 * A linked list is built by the host in managed memory and walked by the
 * device through the same pointers; a vector goes back and forth between the
 * two several times without a single copy call.
 */
#include "check.h"

#include <numeric>

enum { BLOCK = 256 };

struct node {
	node *next;
	unsigned value;
};

__managed__ unsigned n_launches; /* both sides count in it */

__global__ void walk(const node *head, unsigned *sum)
{
	unsigned s = 0;

	for (const node *p = head; p; p = p->next)
		s = s * 31 + p->value;
	*sum = s;
	n_launches++;
}

__global__ void bump(unsigned *x, int n)
{
	int i = blockIdx.x * BLOCK + threadIdx.x;

	if (i < n)
		x[i] = x[i] * 5 + 1;
	if (i == 0)
		n_launches++;
}

int main(int argc, char **argv)
{
	long n = 10000, rounds = 4, length = 200;
	const option_row rows[] = {
		{ 'n', &n, 1, "elements of the vector" },
		{ 'r', &rounds, 1, "times it goes back and forth" },
		{ 'l', &length, 1, "nodes of the list" },
	};
	options(argc, argv, "managed memory", rows);

	node *nodes;
	unsigned *sum, *x, want_sum = 0;
	HIP_OK(hipMallocManaged(&nodes, length * sizeof(node)));
	HIP_OK(hipMallocManaged(&sum, sizeof(*sum)));
	HIP_OK(hipMallocManaged(&x, n * sizeof(*x)));
	n_launches = 1000;

	/* the list visits its nodes in jumps, so only the pointers can lead the way */
	long step = length / 2 + 1;
	while (std::gcd(step, length) != 1)
		step++;
	for (long i = 0; i < length; i++) {
		node &nd = nodes[i * step % length];

		nd.value = (unsigned)(i * i + 7);
		nd.next = i + 1 < length ? &nodes[(i + 1) * step % length] : nullptr;
		want_sum = want_sum * 31 + nd.value;
	}
	walk<<<1, 1>>>(&nodes[0], sum);
	LAUNCH_OK();
	bool list_ok = *sum == want_sum;
	printf("list    %s\n", list_ok ? "ok" : "wrong");

	std::vector<unsigned> want(n);
	for (long i = 0; i < n; i++)
		want[i] = x[i] = (unsigned)i;
	for (long r = 0; r < rounds; r++) {
		bump<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(x, (int)n);
		LAUNCH_OK();
		for (long i = 0; i < n; i++) {
			x[i] += 3; /* the host's turn */
			want[i] = want[i] * 5 + 1 + 3;
		}
	}
	bool vector_ok = !count_wrong("vector", std::vector<unsigned>(x, x + n), want, 0.0);
	printf("vector  %s\n", vector_ok ? "ok" : "wrong");

	bool counter_ok = n_launches == 1000 + 1 + (unsigned)rounds;
	printf("counter %s\n", counter_ok ? "ok" : "wrong");

	HIP_OK(hipFree(nodes));
	HIP_OK(hipFree(sum));
	HIP_OK(hipFree(x));
	return verdict(list_ok && vector_ok && counter_ok);
}
