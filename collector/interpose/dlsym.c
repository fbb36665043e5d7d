/*
 * dlsym: wrappers for programs that look functions up by name in a library's handle.
 *
 * A preloaded definition takes precedence where the loader binds symbols, but Python's ctypes and
 * plug-in systems call dlsym(handle, "hipMalloc"), which searches that library only. So this
 * library intercepts dlsym: if the real result is in a wrapped library, and a preloaded wrapper of
 * that name exists, the wrapper is returned. Conversely, if no library defines the function, the
 * wrapper is not returned either.
 *
 * Other calls are forwarded by a jump, not a call: the C library uses the return address to
 * identify the caller, and RTLD_NEXT means "after the caller".
 *
 * HIP's callback interface is not used: it covers 333 of 399 functions, supports one client at a
 * time, enables HIP's profiling, and costs far more per call.
 *
 * Preloaded only together with a wrapper library. Not covered: objects opened with
 * RTLD_DEEPBIND, which by design prefer their own dependencies.
 */
#include "base/util.h"
#include "collector/interpose/resolve.h"
#include "collector/interpose/wrapped.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

/* For the assembly: where to jump. Set before the first jump. */
__attribute__((visibility("hidden"))) void *col_dlsym_target;
__attribute__((visibility("hidden"))) int col_dlsym_ours(void *handle, const char *name,
							 void **out);

static const char *file_name(const void *address, Dl_info *info)
{
	const char *slash;

	if (!dladdr(address, info) || !info->dli_fname)
		return "";
	slash = strrchr(info->dli_fname, '/');
	return slash ? slash + 1 : info->dli_fname;
}

/* The preloaded wrapper of @name; NULL: none. */
static void *wrapper_of(const struct col_wrapped *w, const char *name)
{
	Dl_info info;
	void *fn = col_dlsym_real(RTLD_DEFAULT, name);

	return fn && col_begins(file_name(fn, &info), w->wrappers) ? fn : NULL;
}

/* Does a library that is wrapped have this function? */
static bool exists_behind(const struct col_wrapped *w, const char *name)
{
	const char *const names[] = { w->library, w->library2 };
	bool found = col_dlsym_real(RTLD_NEXT, name) != NULL;

	for (size_t i = 0; !found && i < 2 && names[i]; i++) {
		void *library = col_loaded_library(names[i]);

		if (library) {
			found = col_dlsym_real(library, name) != NULL;
			dlclose(library);
		}
	}
	return found;
}

/* True: *out is the answer. False: ask the C library. */
int col_dlsym_ours(void *handle, const char *name, void **out)
{
	const struct col_wrapped *w;
	int saved_errno = errno;
	void *fn, *wrapper;
	const char *file;
	Dl_info info;

	/* Several threads may be first; they find the same. */
	if (!__atomic_load_n(&col_dlsym_target, __ATOMIC_RELAXED))
		__atomic_store_n(&col_dlsym_target, col_dlsym_libc(), __ATOMIC_RELAXED);
	if (!name || handle == RTLD_NEXT)
		return 0;
	w = col_wrapped_function(name);
	if (!w)
		return 0;
	wrapper = wrapper_of(w, name);
	if (!wrapper)
		goto pass;
	fn = handle == RTLD_DEFAULT ? wrapper : col_dlsym_real(handle, name);
	if (!fn)
		goto pass;
	if (fn == wrapper) { /* everything is searched, also by the handle of dlopen(NULL) */
		if (w->optional || exists_behind(w, name))
			goto pass;
		/* the C library says it in its own words, about a name that is not there either */
		*out = col_dlsym_real(RTLD_NEXT, name);
		errno = saved_errno;
		return 1;
	}
	file = file_name(fn, &info);
	if (!col_wrapped_is_file(w, file))
		goto pass;
	*out = wrapper;
	errno = saved_errno;
	return 1;
pass:
	dlerror();
	errno = saved_errno;
	return 0;
}

#if defined(__x86_64__)
__asm__(".text\n"
	".globl dlsym\n"
	".type dlsym, @function\n"
	"dlsym:\n"
	"	.cfi_startproc\n"
	"	endbr64\n"
	"	subq $24, %rsp\n"
	"	.cfi_adjust_cfa_offset 24\n"
	"	movq %rdi, (%rsp)\n"
	"	movq %rsi, 8(%rsp)\n"
	"	leaq 16(%rsp), %rdx\n"
	"	call col_dlsym_ours\n"
	"	movq (%rsp), %rdi\n"
	"	movq 8(%rsp), %rsi\n"
	"	movq 16(%rsp), %rdx\n"
	"	addq $24, %rsp\n"
	"	.cfi_adjust_cfa_offset -24\n"
	"	testl %eax, %eax\n"
	"	jnz 1f\n"
	"	jmp *col_dlsym_target(%rip)\n"
	"1:	movq %rdx, %rax\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size dlsym, .-dlsym\n");
#else
/* A sibling call where the compiler makes one, which all do with optimisation on. */
WS_PUBLIC void *dlsym(void *restrict handle, const char *restrict name)
{
	void *out;

	if (col_dlsym_ours(handle, name, &out))
		return out;
	return ((void *(*)(void *, const char *))col_dlsym_target)(handle, name);
}
#endif
