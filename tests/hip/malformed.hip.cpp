/*
 * Code objects that are broken: not one at all, and one whose instructions were overwritten. HIP
 * refuses it, the kernel faults and ROCr ends the process with its message, or the kernel happens to
 * end; a crash of the device itself (SIGSEGV and the like) or a hang is what this test looks for.
 */
#include "hiptest.h"

#include <cstring>
#include <elf.h>

static std::vector<char> image;

static int load_only()
{
	hipModule_t module;
	hipError_t e = hipModuleLoadData(&module, image.data());

	printf("load: %s\n", hipGetErrorString(e));
	return e == hipSuccess ? 1 : 0;
}

static int load_and_run()
{
	hipModule_t module;
	hipFunction_t f;
	unsigned *x;

	if (hipModuleLoadData(&module, image.data()) != hipSuccess)
		return 0;
	HIP_OK(hipModuleGetFunction(&f, module, "reverse"));
	HIP_OK(hipMalloc((void **)&x, 4096));
	void *args[] = { &x };
	HIP_OK(hipModuleLaunchKernel(f, 1, 1, 1, 64, 1, 1, 256, nullptr, args, nullptr));
	printf("end: %s\n", hipGetErrorString(hipDeviceSynchronize()));
	return 0;
}

/* Overwrites the instructions of every ELF image inside the bundle, from their second on. */
static unsigned garble(std::vector<char> &bytes, uint32_t seed)
{
	unsigned n_sections = 0;

	for (size_t at = 0; at + sizeof(Elf64_Ehdr) < bytes.size(); at++) {
		if (memcmp(&bytes[at], ELFMAG, SELFMAG))
			continue;
		Elf64_Ehdr head;
		memcpy(&head, &bytes[at], sizeof(head));
		for (unsigned s = 0; s < head.e_shnum; s++) {
			Elf64_Shdr section;
			size_t where = at + head.e_shoff + s * sizeof(section);
			if (where + sizeof(section) > bytes.size())
				break;
			memcpy(&section, &bytes[where], sizeof(section));
			if (!(section.sh_flags & SHF_EXECINSTR) ||
			    at + section.sh_offset + section.sh_size > bytes.size())
				continue;
			n_sections++;
			for (uint64_t k = 4; k < section.sh_size; k++) {
				seed = seed * 1664525u + 1013904223u;
				if (seed >> 28 == 0) /* one byte in sixteen */
					bytes[at + section.sh_offset + k] ^= (char)(seed >> 16);
			}
		}
	}
	return n_sections;
}

static void ends_in_order(const char *what, const child_result &r)
{
	bool in_order = WIFEXITED(r.status) || (WIFSIGNALED(r.status) && WTERMSIG(r.status) == SIGABRT);

	CHECK(in_order, "%s: %s %d\n%s", what, WIFSIGNALED(r.status) ? "signal" : "status",
	      WIFSIGNALED(r.status) ? WTERMSIG(r.status) : r.status, r.text.c_str());
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		fprintf(stderr, "usage: malformed CODE_OBJECT\n");
		return 1;
	}
	const std::vector<char> whole = read_all(argv[1]);

	image.assign(65536, 'x');
	child_result r = run_child(load_only);
	CHECK(WIFEXITED(r.status) && WEXITSTATUS(r.status) == 0, "no code object: %s", r.text.c_str());

	for (uint32_t seed = 1; seed <= 12; seed++) {
		char name[32];

		image = whole;
		CHECK(garble(image, seed) >= 1, "no instructions found to overwrite");
		snprintf(name, sizeof(name), "garbled, seed %u", seed);
		ends_in_order(name, run_child(load_and_run, 20));
	}
	return finish();
}
