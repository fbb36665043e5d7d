/*
 * check: what every HIP sample and test needs, in one small header.
 *
 * HIP_OK() ends the program when a runtime call fails: a sample has nothing
 * sensible to do after that, and a profiler's user wants to see which call it
 * was. device_buffer owns device memory for one scope. options() reads the
 * size options from a table. verdict() prints PASS or FAIL and gives the exit
 * code.
 *
 * Only the light headers are included here: each sample is compiled once per
 * target, and heavy ones would be most of the build time.
 */
#ifndef WS_SAMPLES_CHECK_H
#define WS_SAMPLES_CHECK_H

#include <hip/hip_runtime.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>
#include <vector>

#define HIP_OK(call)                                                                               \
	do {                                                                                       \
		hipError_t hip_ok_status = (call);                                                 \
		if (hip_ok_status != hipSuccess) {                                                 \
			fprintf(stderr, "%s:%d: %s: %s (%s)\n", __FILE__, __LINE__, #call,         \
				hipGetErrorString(hip_ok_status), hipGetErrorName(hip_ok_status)); \
			fflush(stdout);                                                            \
			_exit(1); /* no exit handlers: the runtime may be in a bad state */        \
		}                                                                                  \
	} while (0)

/* After a launch: the launch itself, then everything queued so far. */
#define LAUNCH_OK()                                                                                \
	do {                                                                                       \
		HIP_OK(hipGetLastError());                                                         \
		HIP_OK(hipDeviceSynchronize());                                                    \
	} while (0)

/* Device memory for one scope; not copyable, like the memory it stands for. */
template <class T> struct device_buffer {
	T *ptr = nullptr;
	size_t n;

	explicit device_buffer(size_t n_elements) : n(n_elements)
	{
		HIP_OK(hipMalloc(&ptr, n * sizeof(T)));
	}
	explicit device_buffer(const std::vector<T> &host) : device_buffer(host.size())
	{
		upload(host);
	}
	~device_buffer()
	{
		(void)hipFree(ptr);
	}
	device_buffer(const device_buffer &) = delete;
	device_buffer &operator=(const device_buffer &) = delete;

	void upload(const std::vector<T> &host)
	{
		HIP_OK(hipMemcpy(ptr, host.data(), n * sizeof(T), hipMemcpyHostToDevice));
	}
	std::vector<T> download() const
	{
		std::vector<T> host(n);
		HIP_OK(hipMemcpy(host.data(), ptr, n * sizeof(T), hipMemcpyDeviceToHost));
		return host;
	}
	void clear(int byte = 0)
	{
		HIP_OK(hipMemset(ptr, byte, n * sizeof(T)));
	}
};

/* One numeric option: "-n COUNT". lowest keeps out sizes that make no sense. */
struct option_row {
	char key;
	long *value;
	long lowest;
	const char *text;
};

static inline void usage(FILE *to, const char *program, const char *what, const option_row *rows,
			 size_t n_rows)
{
	fprintf(to, "%s: %s\n", program, what);
	for (size_t i = 0; i < n_rows; i++)
		fprintf(to, "  -%c %-8ld %s\n", rows[i].key, *rows[i].value, rows[i].text);
	fprintf(to, "  -h          print this help; the numbers above are the defaults\n");
}

template <size_t N>
static void options(int argc, char **argv, const char *what, const option_row (&rows)[N])
{
	const char *slash = strrchr(argv[0], '/');
	const char *program = slash ? slash + 1 : argv[0];

	for (int i = 1; i < argc; i += 2) {
		const option_row *row = nullptr;
		char *end = nullptr;
		long value = 0;

		if (!strcmp(argv[i], "-h") || !strcmp(argv[i], "--help")) {
			usage(stdout, program, what, rows, N);
			exit(0);
		}
		for (size_t k = 0; k < N; k++)
			if (argv[i][0] == '-' && argv[i][1] == rows[k].key && !argv[i][2])
				row = &rows[k];
		if (row && i + 1 < argc)
			value = strtol(argv[i + 1], &end, 0);
		if (!row || !end || end == argv[i + 1] || *end || value < row->lowest) {
			fprintf(stderr, "%s: cannot use '%s%s%s'\n", program, argv[i],
				row && i + 1 < argc ? " " : "",
				row && i + 1 < argc ? argv[i + 1] : "");
			usage(stderr, program, what, rows, N);
			exit(2);
		}
		*row->value = value;
	}
}

/* Reproducible input: the same numbers on every machine and every run (xorshift32). */
struct number_source {
	uint32_t state = 2463534242u;

	uint32_t next()
	{
		state ^= state << 13;
		state ^= state >> 17;
		state ^= state << 5;
		return state;
	}
	/* In [-1, 1), with 24 significant bits: the value is exact in float. */
	float unit()
	{
		return (int32_t)(next() >> 8) * 0x1p-23f - 1.0f;
	}
};

/* Number of elements that differ by more than tolerance, relative to max(1, |want|). */
template <class T, class U>
static size_t count_wrong(const char *what, const std::vector<T> &got, const std::vector<U> &want,
			  double tolerance)
{
	size_t n_wrong = got.size() == want.size() ? 0 : 1;

	for (size_t i = 0; i < got.size() && i < want.size(); i++) {
		double g = (double)got[i], w = (double)want[i];
		double scale = fabs(w) > 1.0 ? fabs(w) : 1.0;

		if (fabs(g - w) <= tolerance * scale)
			continue; /* a NaN compares false and so counts as wrong */
		if (n_wrong++ < 4)
			fprintf(stderr, "%s: [%zu] is %.9g, expected %.9g\n", what, i, g, w);
	}
	if (n_wrong)
		fprintf(stderr, "%s: %zu of %zu wrong\n", what, n_wrong, want.size());
	return n_wrong;
}

static inline int verdict(bool pass)
{
	puts(pass ? "PASS" : "FAIL");
	return pass ? 0 : 1;
}

#endif
