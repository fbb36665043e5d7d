/*
 * lookup: finds HIP's functions in every way a program may, late and by name. The library is
 * argv[1]. Prints what differs between ways; exits 1 when the loader's own promises are broken.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int bad;

static void expect(int ok, const char *text)
{
	if (!ok) {
		printf("wrong: %s\n", text);
		bad = 1;
	}
}

int main(int argc, char **argv)
{
	int (*get_device)(int *), (*inner)(int *), (*set_device)(int);
	int (*proc)(const char *, void **, int, unsigned long, void *);
	int device = 7;
	const char *text;
	void *library;

	dlerror();
	expect(!dlsym(RTLD_DEFAULT, "hipMalloc"), "hipMalloc before HIP is loaded");
	text = dlerror();
	expect(text && strstr(text, "hipMalloc"), "the loader's message names what was missed");
	expect(dlsym(RTLD_DEFAULT, "printf") == (void *)printf, "other names are left alone");
	expect(dlsym(RTLD_NEXT, "malloc") != NULL, "RTLD_NEXT works for the caller");
	expect(!dlsym(RTLD_NEXT, "main"), "RTLD_NEXT begins behind the caller");

	for (int round = 0; round < 3; round++) {
		library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
		expect(library != NULL, "dlopen");
		if (!library)
			return 1;
		get_device = (int (*)(int *))dlsym(library, "hipGetDevice");
		expect(get_device && get_device(&device) == 0 && device == 0,
		       "hipGetDevice by handle");
		dlerror();
		expect(!dlsym(library, "hipNoSuchFunction"), "a function nobody has");
		text = dlerror();
		expect(text && strstr(text, "hipNoSuchFunction"), "its message");
		/* known to wrappers, and not to this library */
		expect(!dlsym(library, "hipMalloc3D"), "a function this library does not have");
		text = dlerror();
		expect(text && strstr(text, "hipMalloc3D"), "its message, too");
		expect(!dlerror(), "nothing is left behind");
		set_device = (int (*)(int))dlsym(library, "hipSetDevice");
		expect(set_device(5) == 101, "an error comes through");
		proc = (int (*)(const char *, void **, int, unsigned long,
				void *))dlsym(library, "hipGetProcAddress");
		inner = NULL;
		expect(!proc("hipGetDevice", (void **)&inner, 60000000, 0, NULL) && inner,
		       "proc address");
		device = 7;
		expect(inner && inner(&device) == 0 && device == 0,
		       "hipGetDevice by HIP's own table");
		dlclose(library);
	}
	printf("%s\n", bad ? "bad" : "good");
	return bad;
}
