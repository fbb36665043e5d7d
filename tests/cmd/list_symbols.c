/*
 * list_symbols FILE: what HIP 5.7 to 6.4 does with the code object FILE, without HIP. For each kernel all
 * symbols of the executable are enumerated, and each is asked for its kind. Then each kernel is asked for its
 * object once. Prints the number of symbols.
 */
#include <fcntl.h>
#include <hsa/hsa.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#define OK(call)                                                                                   \
	do {                                                                                       \
		if ((call) != HSA_STATUS_SUCCESS) {                                                \
			fprintf(stderr, "list_symbols: %s failed\n", #call);                       \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

enum { SYMBOLS_MAX = 4096 };
static hsa_executable_symbol_t symbols[SYMBOLS_MAX];
static unsigned n_symbols;

static hsa_status_t find_gpu(hsa_agent_t agent, void *data)
{
	hsa_device_type_t type;

	OK(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type));
	if (type == HSA_DEVICE_TYPE_GPU)
		*(hsa_agent_t *)data = agent;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t keep(hsa_executable_t executable, hsa_agent_t agent,
			 hsa_executable_symbol_t symbol, void *data)
{
	(void)executable, (void)agent, (void)data;
	if (n_symbols < SYMBOLS_MAX)
		symbols[n_symbols++] = symbol;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t look(hsa_executable_t executable, hsa_executable_symbol_t symbol, void *data)
{
	hsa_symbol_kind_t kind;

	(void)executable, (void)data;
	OK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_TYPE, &kind));
	return HSA_STATUS_SUCCESS;
}

int main(int argc, char **argv)
{
	hsa_agent_t gpu = { 0 };
	hsa_code_object_reader_t reader;
	hsa_executable_t executable;
	uint64_t object;
	int fd = argc > 1 ? open(argv[1], O_RDONLY) : -1;

	if (fd < 0)
		return 2;
	OK(hsa_init());
	OK(hsa_iterate_agents(find_gpu, &gpu));
	OK(hsa_code_object_reader_create_from_file(fd, &reader));
	OK(hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT,
				     NULL, &executable));
	OK(hsa_executable_load_agent_code_object(executable, gpu, reader, NULL, NULL));
	OK(hsa_executable_freeze(executable, NULL));
	OK(hsa_executable_iterate_agent_symbols(executable, gpu, keep, NULL));
	for (unsigned i = 0; i < n_symbols; i++)
		OK(hsa_executable_iterate_symbols(executable, look, NULL));
	for (unsigned i = 0; i < n_symbols; i++)
		OK(hsa_executable_symbol_get_info(
			symbols[i], HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &object));
	printf("%u symbols\n", n_symbols);
	OK(hsa_executable_destroy(executable));
	OK(hsa_shut_down());
	return 0;
}
