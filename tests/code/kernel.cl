/* Compiled for the test of code/: its lines are counted there. */
__kernel void scale(__global float *x, float by)
{
	unsigned i = __builtin_amdgcn_workitem_id_x();

	x[i] = x[i] * by;
}

__kernel void twice(__global int *x)
{
	x[__builtin_amdgcn_workitem_id_x()] *= 2;
}

static inline int square(int x)
{
	return x * x;
}

static inline int square_and_flip(int x)
{
	return square(x) ^ 5;
}

__kernel void nested(__global int *x)
{
	unsigned i = __builtin_amdgcn_workitem_id_x();

	x[i] = square_and_flip(x[i]);
}

__kernel void unassigned(__global int *x)
{
	x[0] = x[1] & 0x12345;
#line 0
	x[2] = x[3] | 0x54321;
}
