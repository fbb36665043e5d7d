/* Opened by program.c: instrumented before its constructor runs. */
static int started;

__attribute__((noinline, noclone)) static int library_inner(int n)
{
	return n * n + started;
}

__attribute__((noinline, noclone)) static void library_start(void)
{
	started = library_inner(10);
}

__attribute__((constructor)) static void load(void)
{
	library_start();
}

int library_call(int n)
{
	return library_inner(n) + 1;
}
