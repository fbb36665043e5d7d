/*
 * main: the program's main() as a region, named after the executable.
 *
 * The C library's start-up code calls __libc_start_main() with the address of main(). This
 * definition takes precedence because the collector is preloaded. It replaces main() only if
 * regions are recorded. A program that ends with exit() leaves the region open, which readers
 * close at the end of the process. With WAVESCOPE_PYTHON=1 in the environment there is none:
 * rocprof-sys-python sets it, because its user asks for functions of a script, not for the
 * interpreter.
 */
#include "collector/regions.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int (*main_fn)(int argc, char **argv, char **envp);
typedef int (*start_fn)(main_fn main, int argc, char **argv, void (*init)(void), void (*fini)(void),
			void (*rtld_fini)(void), void *stack_end);

static main_fn program_main;

static int main_region(int argc, char **argv, char **envp)
{
	const char *name = argc > 0 && argv[0] ? argv[0] : "";
	const char *slash = strrchr(name, '/');
	const char *python = getenv("WAVESCOPE_PYTHON");
	uint32_t id = 0;
	int status;

	if (col_region_wanted() && (!python || strcmp(python, "1") != 0))
		id = col_region_intern(CAP_REGION_HOST, slash ? slash + 1 : name, NULL, 0);
	if (id)
		col_region_enter(id);
	status = program_main(argc, argv, envp);
	if (id)
		col_region_leave(id);
	return status;
}

WS_PUBLIC int __libc_start_main(main_fn main, int argc, char **argv, void (*init)(void),
				void (*fini)(void), void (*rtld_fini)(void), void *stack_end);
int __libc_start_main(main_fn main, int argc, char **argv, void (*init)(void), void (*fini)(void),
		      void (*rtld_fini)(void), void *stack_end)
{
	static const char text[] = "wavescope: cannot start: the C library has no start function\n";
	start_fn real;

	*(void **)&real = dlsym(RTLD_NEXT, "__libc_start_main");
	if (!real) {
		/* Not with exit(): the C library is not initialised. */
		_exit(write(STDERR_FILENO, text, sizeof(text) - 1) < 0 ? 126 : 127);
	}
	program_main = main;
	return real(col_asked(COL_SERVICE_REGIONS) ? main_region : main, argc, argv, init, fini,
		    rtld_fini, stack_end);
}
