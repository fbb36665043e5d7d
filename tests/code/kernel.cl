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
