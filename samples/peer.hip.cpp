/*
 * peer: data on its way around all GPUs of the machine.
 *
 * Device 0 fills a buffer; each device passes it on to the next by a peer copy
 * and adds its mark, until it is back at device 0. Then every device that may
 * reads its neighbour's memory directly from a kernel. With one GPU the ring
 * is a copy within the device, and the program says so.
 */
#include "check.h"

enum { BLOCK = 256 };

__global__ void mark(unsigned *x, unsigned device, int n)
{
	int i = blockIdx.x * BLOCK + threadIdx.x;

	if (i < n)
		x[i] = x[i] * 3 + device + 1;
}

__global__ void read_neighbour(const unsigned *theirs, unsigned *mine, int n)
{
	int i = blockIdx.x * BLOCK + threadIdx.x;

	if (i < n)
		mine[i] = theirs[i] ^ 0x5a5a5a5au;
}

int main(int argc, char **argv)
{
	long n = 50000;
	const option_row rows[] = { { 'n', &n, 1, "elements" } };
	options(argc, argv, "peer copies around a ring of all GPUs", rows);

	int n_devices, grid = (n + BLOCK - 1) / BLOCK;
	HIP_OK(hipGetDeviceCount(&n_devices));
	if (n_devices == 1)
		printf("one device: the ring is a copy within it\n");

	std::vector<unsigned> host(n), want;
	for (long i = 0; i < n; i++)
		host[i] = (unsigned)i;
	want = host;

	/* a buffer per device, and one more on device 0 where the ring closes */
	std::vector<unsigned *> buffer(n_devices + 1);
	for (int d = 0; d <= n_devices; d++) {
		HIP_OK(hipSetDevice(d % n_devices));
		HIP_OK(hipMalloc(&buffer[d], n * sizeof(unsigned)));
	}
	HIP_OK(hipSetDevice(0));
	HIP_OK(hipMemcpy(buffer[0], host.data(), n * sizeof(unsigned), hipMemcpyHostToDevice));
	for (int d = 0; d < n_devices; d++) {
		HIP_OK(hipSetDevice(d));
		mark<<<grid, BLOCK>>>(buffer[d], (unsigned)d, (int)n);
		LAUNCH_OK();
		HIP_OK(hipMemcpyPeer(buffer[d + 1], (d + 1) % n_devices, buffer[d], d,
				     n * sizeof(unsigned)));
		HIP_OK(hipDeviceSynchronize());
		for (unsigned &w : want)
			w = w * 3 + (unsigned)d + 1;
	}
	HIP_OK(hipSetDevice(0));
	HIP_OK(hipMemcpy(host.data(), buffer[n_devices], n * sizeof(unsigned),
			 hipMemcpyDeviceToHost));
	bool pass = !count_wrong("ring", host, want, 0.0);
	printf("ring over %d device%s: %s\n", n_devices, n_devices == 1 ? "" : "s",
	       pass ? "ok" : "wrong");

	for (int d = 0; d < n_devices; d++) {
		int next = (d + 1) % n_devices, can = 0;

		if (next == d)
			break;
		HIP_OK(hipDeviceCanAccessPeer(&can, d, next));
		if (!can) {
			printf("device %d cannot read device %d directly\n", d, next);
			continue;
		}
		HIP_OK(hipSetDevice(d));
		HIP_OK(hipDeviceEnablePeerAccess(next, 0));
		device_buffer<unsigned> mine(n), theirs_copy(n);
		read_neighbour<<<grid, BLOCK>>>(buffer[next], mine.ptr, (int)n);
		LAUNCH_OK();
		HIP_OK(hipMemcpyPeer(theirs_copy.ptr, d, buffer[next], next, n * sizeof(unsigned)));
		std::vector<unsigned> expected = theirs_copy.download();
		for (unsigned &e : expected)
			e ^= 0x5a5a5a5au;
		bool ok = !count_wrong("direct read", mine.download(), expected, 0.0);
		printf("device %d reads device %d: %s\n", d, next, ok ? "ok" : "wrong");
		pass &= ok;
		HIP_OK(hipDeviceDisablePeerAccess(next));
	}
	for (int d = 0; d <= n_devices; d++)
		HIP_OK(hipFree(buffer[d]));
	return verdict(pass);
}
