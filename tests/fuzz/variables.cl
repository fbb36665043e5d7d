/* Compiled for the fuzzer of collector/hsa/image.c: a code object with variables that kernels can write. */
__global int counter = 1;
__global int table[100];

__kernel void count(__global int *x)
{
	unsigned i = __builtin_amdgcn_workitem_id_x();

	counter += x[i];
	table[i % 100] = counter;
}
