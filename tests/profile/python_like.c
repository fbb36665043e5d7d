/*
 * A library with the names of CPython's functions, for test_frames.c. Nothing in it runs; each
 * function is eight bytes long or more, so that an address four bytes into it is inside.
 */
#define SHOWN __attribute__((visibility("default"), noinline, used))

volatile int python_like_sink;

#define FUNCTION(name, symbol)                                                                     \
	SHOWN void name(int x) __asm__(symbol);                                                    \
	void name(int x)                                                                           \
	{                                                                                          \
		python_like_sink = x;                                                              \
		python_like_sink += x;                                                             \
	}

FUNCTION(eval, "_PyEval_EvalFrameDefault")
FUNCTION(eval_cold, "_PyEval_EvalFrameDefault.cold")
FUNCTION(vectorcall, "_PyFunction_Vectorcall")
FUNCTION(vectorcall_part, "PyObject_Vectorcall.part.0")
FUNCTION(method, "cfunction_vectorcall_FASTCALL")
FUNCTION(sort, "list_sort")
FUNCTION(run_main, "Py_RunMain")

static inline __attribute__((always_inline)) void inlined_part(int x)
{
	python_like_sink = x * 3;
}

SHOWN void with_inlined(int x)
{
	inlined_part(x);
}

/* A function whose last instruction is a call: its return address is in the next function. */
__asm__(".pushsection .text\n"
	".globl ends_with_call, after_it\n"
	".type ends_with_call, @function\n"
	".type after_it, @function\n"
	"ends_with_call:\n"
	".skip 8, 0x90\n"
	".size ends_with_call, 8\n"
	"after_it:\n"
	".skip 8, 0x90\n"
	".size after_it, 8\n"
	".popsection\n");
