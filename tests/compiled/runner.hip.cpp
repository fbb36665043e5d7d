/*
 * runner: runs generated programs on the host and on the GPUs and compares every byte.
 *
 * Reads commands from stdin, one a line, so that one process, whose start takes longer than many
 * programs, serves a whole run; fuzz.py is at the other end:
 *
 *   batch HOST_LIBRARY CODE_OBJECT...	every program of the library on every code object; each
 *					code object is named ARCH:PATH
 *
 * and answers with lines:
 *
 *   at PROGRAM CODE_OBJECT		what runs next, for whoever finds this process dead
 *   bad PROGRAM CODE_OBJECT WHERE EXPECTED GOT COUNT
 *   done N				N comparisons were made
 *   error TEXT				nothing more can be expected of this batch
 */
#include <hip/hip_runtime_api.h>

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <string>
#include <ucontext.h>
#include <vector>

struct program {
	const char *name;
	void (*run)(const uint8_t *in, uint8_t *out, uint32_t *acc, uint32_t k0, uint64_t k1,
		    int8_t k2, uint16_t k3, float k4, double k5);
	uint32_t seed, n_groups, nx, ny, n_slots;

	uint32_t n_items() const
	{
		return nx * ny;
	}
};
enum {
	IN_BYTES = 4096,
	ACC_WORDS = 128,
	MAX_ITEMS = 256,
	STACK_BYTES = 256 << 10,
	N_ROUNDS = 2, /* inputs per program: compiling costs far more than running */
};

/* what a kernel gets and leaves, in the order of its parameters */
struct memory {
	std::vector<uint8_t> in, out;
	std::vector<uint32_t> acc;
};
struct scalars {
	uint32_t k0;
	uint64_t k1;
	int8_t k2;
	uint16_t k3;
	float k4;
	double k5;
};

static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

static void fill(const struct program *p, uint32_t round, struct memory *m, struct scalars *s)
{
	uint64_t state = (uint64_t)round << 32 | p->seed;

	m->in.resize(IN_BYTES);
	for (size_t i = 0; i < IN_BYTES; i += 8) {
		uint64_t r = next_random(&state);
		/* some small numbers among the random bits: they make conditions equal */
		if (i % 64 == 0)
			r &= 0x0000000f0000000fu;
		memcpy(&m->in[i], &r, 8);
	}
	m->out.assign((size_t)p->n_groups * p->n_items() * p->n_slots * 8, 0x5a);
	m->acc.assign(ACC_WORDS, 0);
	for (size_t i = 0; i < ACC_WORDS - 24; i++) /* counters at the end begin at 0 */
		m->acc[i] = (uint32_t)next_random(&state);
	*s = { (uint32_t)next_random(&state) & 0xffff,
	       next_random(&state),
	       (int8_t)next_random(&state),
	       (uint16_t)next_random(&state),
	       (float)(int32_t)next_random(&state) / 65536,
	       (double)(int64_t)next_random(&state) / 4294967296 };
}

/* The host: a work-item is a coroutine, a barrier the end of its turn. */
static struct {
	ucontext_t scheduler, item[MAX_ITEMS];
	std::vector<char> stacks;
	bool ended[MAX_ITEMS];
	uint32_t current, group, nx;
	uint32_t lanes[2][MAX_ITEMS + 64], n_waves_seen[MAX_ITEMS];
	const struct program *program;
	struct memory *memory;
	const struct scalars *scalars;
} host;

extern "C" __attribute__((visibility("default"))) uint32_t fz_item(int what)
{
	uint32_t i = host.current;

	return what == 0 ? i % host.nx : what == 1 ? i / host.nx : what == 2 ? host.group : i;
}

extern "C" __attribute__((visibility("default"))) void fz_turn(void)
{
	swapcontext(&host.item[host.current], &host.scheduler);
}

/* Two arrays in turn: a lane that is one exchange ahead must not disturb those that still read. */
extern "C" __attribute__((visibility("default"))) uint32_t *fz_wave(uint32_t mine)
{
	uint32_t i = host.current, *lanes = host.lanes[host.n_waves_seen[i]++ & 1];

	lanes[i] = mine;
	fz_turn();
	return lanes + (i & ~63u);
}

static void item_main(void)
{
	const struct scalars *s = host.scalars;

	host.program->run(host.memory->in.data(), host.memory->out.data(), host.memory->acc.data(),
			  s->k0, s->k1, s->k2, s->k3, s->k4, s->k5);
	host.ended[host.current] = true;
	setcontext(&host.scheduler);
}

static void run_on_host(const struct program *p, struct memory *m, const struct scalars *s)
{
	uint32_t n = p->n_items();

	host.program = p;
	host.memory = m;
	host.scalars = s;
	host.nx = p->nx;
	host.stacks.resize((size_t)MAX_ITEMS * STACK_BYTES);
	for (host.group = 0; host.group < p->n_groups; host.group++) {
		for (uint32_t i = 0; i < n; i++) {
			getcontext(&host.item[i]);
			host.item[i].uc_stack.ss_sp = &host.stacks[(size_t)i * STACK_BYTES];
			host.item[i].uc_stack.ss_size = STACK_BYTES;
			host.item[i].uc_link = &host.scheduler;
			host.ended[i] = false;
			host.n_waves_seen[i] = 0;
			makecontext(&host.item[i], item_main, 0);
		}
		for (uint32_t n_ended = 0; n_ended < n;)
			for (host.current = 0; host.current < n; host.current++) {
				if (host.ended[host.current])
					continue;
				swapcontext(&host.scheduler, &host.item[host.current]);
				n_ended += host.ended[host.current];
			}
	}
}

/* The GPU */
static bool failed(hipError_t e, const char *what)
{
	if (e != hipSuccess)
		printf("error %s: %s\n", what, hipGetErrorString(e));
	return e != hipSuccess;
}

struct gpu {
	int device;
	uint8_t *in, *out;
	uint32_t *acc;
};
static const size_t OUT_BYTES = 16 << 20;
static std::vector<std::pair<std::string, struct gpu>> gpus;

static bool open_gpus(void)
{
	int n = 0;

	if (failed(hipGetDeviceCount(&n), "hipGetDeviceCount"))
		return false;
	for (int i = 0; i < n; i++) {
		hipDeviceProp_t props;
		struct gpu g = { i, nullptr, nullptr, nullptr };

		if (failed(hipSetDevice(i), "hipSetDevice") ||
		    failed(hipGetDeviceProperties(&props, i), "hipGetDeviceProperties") ||
		    failed(hipMalloc((void **)&g.in, IN_BYTES), "hipMalloc") ||
		    failed(hipMalloc((void **)&g.out, OUT_BYTES), "hipMalloc") ||
		    failed(hipMalloc((void **)&g.acc, ACC_WORDS * 4), "hipMalloc"))
			return false;
		gpus.push_back({ std::string(props.gcnArchName).substr(0, 6), g });
	}
	return true;
}

static bool run_on_gpu(const struct gpu *g, hipModule_t module, const struct program *p,
		       struct memory *m, struct scalars s)
{
	hipFunction_t f;
	void *in = g->in, *out = g->out, *acc = g->acc;
	void *args[] = { &in, &out, &acc, &s.k0, &s.k1, &s.k2, &s.k3, &s.k4, &s.k5 };

	if (m->out.size() > OUT_BYTES) {
		printf("error %s leaves more than %zu bytes\n", p->name, OUT_BYTES);
		return false;
	}
	return !failed(hipModuleGetFunction(&f, module, p->name), "hipModuleGetFunction") &&
	       !failed(hipMemcpy(in, m->in.data(), m->in.size(), hipMemcpyHostToDevice), "copy") &&
	       !failed(hipMemcpy(out, m->out.data(), m->out.size(), hipMemcpyHostToDevice),
		       "copy") &&
	       !failed(hipMemcpy(acc, m->acc.data(), ACC_WORDS * 4, hipMemcpyHostToDevice),
		       "copy") &&
	       !failed(hipModuleLaunchKernel(f, p->n_groups, 1, 1, p->nx, p->ny, 1, 0, 0, args,
					     nullptr),
		       "launch") &&
	       !failed(hipDeviceSynchronize(), "kernel") &&
	       !failed(hipMemcpy(m->out.data(), out, m->out.size(), hipMemcpyDeviceToHost),
		       "copy") &&
	       !failed(hipMemcpy(m->acc.data(), acc, ACC_WORDS * 4, hipMemcpyDeviceToHost), "copy");
}

static bool compare(const struct program *p, const char *where, const struct memory *want,
		    const struct memory *got)
{
	size_t n = want->out.size() / 8, first = 0, count = 0;
	const uint64_t *w = (const uint64_t *)want->out.data(),
		       *g = (const uint64_t *)got->out.data();

	for (size_t i = 0; i < n; i++)
		if (w[i] != g[i] && !count++)
			first = i;
	if (count) {
		printf("bad %s %s item%zu.slot%zu 0x%lx 0x%lx %zu\n", p->name, where,
		       first / p->n_slots, first % p->n_slots, w[first], g[first], count);
		return false;
	}
	for (size_t i = 0; i < ACC_WORDS; i++)
		if (want->acc[i] != got->acc[i] && !count++)
			first = i;
	if (count)
		printf("bad %s %s acc%zu 0x%x 0x%x %zu\n", p->name, where, first, want->acc[first],
		       got->acc[first], count);
	return !count;
}

static void batch(const char *library, char **objects, int n_objects)
{
	void *so = dlopen(library, RTLD_NOW | RTLD_LOCAL);
	const struct program *programs =
		so ? (const struct program *)dlsym(so, "fz_programs") : nullptr;
	std::vector<struct memory> expected;
	unsigned n_done = 0;

	if (!programs) {
		printf("error %s\n", dlerror());
		return;
	}
	for (const struct program *p = programs; p->name; p++) {
		printf("at %s host\n", p->name);
		for (uint32_t round = 0; round < N_ROUNDS; round++) {
			struct memory m;
			struct scalars s;

			fill(p, round, &m, &s);
			run_on_host(p, &m, &s);
			expected.push_back(m);
		}
	}
	for (int i = 0; i < n_objects; i++) {
		const char *path = strchr(objects[i], ':') + 1;
		std::string arch(objects[i], path - 1 - objects[i]);
		const struct gpu *g = nullptr;
		hipModule_t module;

		for (auto &each : gpus)
			if (each.first == arch)
				g = &each.second;
		if (!g) {
			printf("error no GPU is a %s\n", arch.c_str());
			break;
		}
		if (failed(hipSetDevice(g->device), "hipSetDevice") ||
		    failed(hipModuleLoad(&module, path), path))
			break;
		for (size_t k = 0; programs[k].name; k++) {
			bool equal = true;

			printf("at %s %s\n", programs[k].name, objects[i]);
			for (uint32_t round = 0; round < N_ROUNDS && equal; round++) {
				struct memory m;
				struct scalars s;

				fill(&programs[k], round, &m, &s);
				if (!run_on_gpu(g, module, &programs[k], &m, s))
					goto out;
				equal = compare(&programs[k], objects[i],
						&expected[k * N_ROUNDS + round], &m);
			}
			n_done++;
		}
		failed(hipModuleUnload(module), "hipModuleUnload");
	}
out:
	dlclose(so);
	printf("done %u\n", n_done);
}

int main(void)
{
	char line[16384];

	setvbuf(stdout, nullptr, _IOLBF, 1 << 16);
	if (!open_gpus())
		return 1;
	while (fgets(line, sizeof(line), stdin)) {
		char *words[66], *save;
		int n = 0;

		for (char *w = strtok_r(line, " \n", &save); w && n < 66;
		     w = strtok_r(nullptr, " \n", &save))
			words[n++] = w;
		if (n >= 2 && !strcmp(words[0], "batch"))
			batch(words[1], words + 2, n - 2);
		else
			printf("error unknown command\n");
	}
	return 0;
}
