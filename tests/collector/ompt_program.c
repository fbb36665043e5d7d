/* Two parallel regions of four threads, a critical section each; see ompt_regions.sh. */
#include <omp.h>
#include <stdio.h>

int main(void)
{
	int total = 0, values[100];

	omp_set_num_threads(4);
	for (int turn = 0; turn < 2; turn++) {
#pragma omp parallel
		{
#pragma omp for
			for (int i = 0; i < 100; i++)
				values[i] = i;
#pragma omp critical
			total += values[1];
#pragma omp barrier
		}
	}
	printf("%d\n", total);
	return 7;
}
