/*
 * frames_python: Python frames in the place of the interpreter's own.
 *
 * The interpreter executes Python code in one C function. Each call of that function is a native frame
 * and executes one group of Python frames: the group ends with the frame that is marked
 * CAP_FRAME_ENTRY. To 3.10 a group is one frame; from 3.11 on calls between Python
 * functions stay in the same C function. So the k-th native frame of the function belongs to the
 * k-th group.
 *
 * The numbers may differ by what the sampler met:
 *
 *	more groups        outer native frames were cut off or could not be unwound
 *	more native ones   the innermost one has not entered its frame yet, or has left it
 *	no native ones     the interpreter is stripped of its symbols
 *
 * Whatever has no partner stays where it is nearest to the truth; no frame is lost.
 */
#include "profile/frames_priv.h"

#include "base/str.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>

static const char eval_function[] = "_PyEval_EvalFrameDefault";

/*
 * What CPython 3.9 to 3.13 does between one Python function and the next, or between the start
 * of a thread and its first function. It is the same for every call, so nobody looks for it
 * in a profile. In the order of strcmp().
 */
static const char *const plumbing[] = {
	"PyCFunction_Call",
	"PyEval_CallObjectWithKeywords",
	"PyEval_EvalCode",
	"PyEval_EvalCodeEx",
	"PyEval_EvalFrame",
	"PyEval_EvalFrameEx",
	"PyObject_Call",
	"PyObject_CallFunction",
	"PyObject_CallFunctionObjArgs",
	"PyObject_CallMethod",
	"PyObject_CallMethodObjArgs",
	"PyObject_CallNoArgs",
	"PyObject_CallObject",
	"PyObject_CallOneArg",
	"PyObject_Vectorcall",
	"PyObject_VectorcallDict",
	"PyObject_VectorcallMethod",
	"PyRun_AnyFileExFlags",
	"PyRun_FileExFlags",
	"PyRun_SimpleFileExFlags",
	"PyRun_StringFlags",
	"PyVectorcall_Call",
	"_PyCFunctionWithKeywords_TrampolineCall",
	"_PyEval_EvalCode",
	"_PyEval_EvalCodeWithName",
	"_PyEval_EvalFrame",
	"_PyEval_Vector",
	"_PyFunction_Vectorcall",
	"_PyObject_Call",
	"_PyObject_CallFunctionVa",
	"_PyObject_CallMethod",
	"_PyObject_CallMethodIdObjArgs",
	"_PyObject_CallNoArgs",
	"_PyObject_CallNoArgsTstate",
	"_PyObject_Call_Prepend",
	"_PyObject_FastCall",
	"_PyObject_FastCallDict",
	"_PyObject_FastCallDictTstate",
	"_PyObject_MakeTpCall",
	"_PyObject_Vectorcall",
	"_PyObject_VectorcallTstate",
	"_PyRun_AnyFileObject",
	"_PyRun_SimpleFileObject",
	"_PyVectorcall_Call",
	"call_function",
	"call_method",
	"cfunction_call",
	"cfunction_vectorcall_FASTCALL",
	"cfunction_vectorcall_FASTCALL_KEYWORDS",
	"cfunction_vectorcall_FASTCALL_KEYWORDS_METHOD",
	"cfunction_vectorcall_NOARGS",
	"cfunction_vectorcall_O",
	"do_call_core",
	"function_code_fastcall",
	"gen_iternext",
	"gen_send_ex",
	"gen_send_ex2",
	"method_call",
	"method_vectorcall",
	"method_vectorcall_FASTCALL",
	"method_vectorcall_FASTCALL_KEYWORDS",
	"method_vectorcall_FASTCALL_KEYWORDS_METHOD",
	"method_vectorcall_NOARGS",
	"method_vectorcall_O",
	"method_vectorcall_VARARGS",
	"method_vectorcall_VARARGS_KEYWORDS",
	"object_vacall",
	"pymain_run_command",
	"pymain_run_file",
	"pymain_run_file_obj",
	"pymain_run_module",
	"pymain_run_python",
	"pyrun_file",
	"pythread_wrapper",
	"run_eval_code_obj",
	"run_mod",
	"slot_tp_call",
	"slot_tp_init",
	"thread_run",
	"trace_call_function",
	"type_call",
	"vectorcall_maybe",
	"vectorcall_method",
	"vectorcall_unbound",
	"wrap_call",
	"wrapper_call",
};

/* Programs and libraries that contain the interpreter: "python3.11", "libpython3.11.so.1.0". */
static const char *const interpreters[] = { "python", "libpython" };

/* ---- names ---- */

/* The compiler splits functions and copies them: "name.cold", "name.part.0", "name.constprop.1". */
#define PIECE "."
#define STUB "@" /* "name@plt" is a part of the call */

static struct ws_str without_suffix(const char *name, const char *separators)
{
	return (struct ws_str){ name, strcspn(name, separators) };
}

bool prof_is_eval(const char *name)
{
	return ws_str_is(without_suffix(name, PIECE), eval_function);
}

static int by_name(const void *key, const void *row)
{
	const struct ws_str *name = key;
	const char *other = *(const char *const *)row;
	int order = strncmp(name->at, other, name->n);

	return order ? order : -(other[name->n] != 0);
}

bool prof_is_plumbing(const char *name)
{
	struct ws_str key = without_suffix(name, PIECE STUB);

	return bsearch(&key, plumbing, WS_ARRAY_LEN(plumbing), sizeof(*plumbing), by_name);
}

bool prof_is_interpreter(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	for (size_t i = 0; i < WS_ARRAY_LEN(interpreters); i++)
		if (strncmp(name, interpreters[i], strlen(interpreters[i])) == 0)
			return true;
	return false;
}

/* ---- merging ---- */

struct merge {
	const struct trc_stack *stack;
	const struct prof_chain *const *chains;
	const struct prof_frame *const *python;
	uint32_t n_native, n_python;
	uint32_t next; /* Python frame */
	bool drop_internal;
	struct prof_frame *out;
	size_t n_out;
};

static uint32_t n_evals(const struct merge *m)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < m->n_native; i++)
		n += m->chains[i]->eval;
	return n;
}

static bool is_entry(const struct merge *m, uint32_t i)
{
	return m->stack->frames[m->n_native + i] & CAP_FRAME_ENTRY;
}

/* What is left after the last entry is a group of which the outer part was cut off. */
static uint32_t n_groups(const struct merge *m)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < m->n_python; i++)
		n += is_entry(m, i) || i + 1 == m->n_python;
	return n;
}

static void put_group(struct merge *m)
{
	while (m->next < m->n_python) {
		m->out[m->n_out++] = *m->python[m->next];
		if (is_entry(m, m->next++))
			break;
	}
}

static void put_groups(struct merge *m)
{
	while (m->next < m->n_python)
		put_group(m);
}

static void put_chain(struct merge *m, const struct prof_chain *chain)
{
	bool python = m->n_python && chain->module && chain->module->interpreter;

	if (m->drop_internal && chain->module && chain->module->internal)
		return;
	/* The function itself is the last; what was inlined into plumbing is plumbing, too. */
	if (python && chain->plumbing >> (chain->n - 1) & 1)
		return;
	for (uint32_t i = 0; i < chain->n; i++)
		if (!python || !(chain->plumbing >> i & 1))
			m->out[m->n_out++] = chain->at[i];
}

/* Where Python frames go when nothing says which native frame executes them. */
static uint32_t innermost_of_interpreter(const struct merge *m)
{
	uint32_t i = 0;

	while (i < m->n_native && !(m->chains[i]->module && m->chains[i]->module->interpreter))
		i++;
	return i;
}

static void merge_by_module(struct merge *m)
{
	uint32_t at = innermost_of_interpreter(m);

	for (uint32_t i = 0; i < m->n_native; i++) {
		if (i == at)
			put_groups(m);
		put_chain(m, m->chains[i]);
	}
	put_groups(m);
}

static void merge_by_evals(struct merge *m, uint32_t evals)
{
	/* The outermost Python frame of all is an entry; else frames outside of it are missing. */
	bool whole = !(m->stack->flags & (CAP_STACK_CUT | CAP_STACK_BROKEN)) && m->n_python &&
		     is_entry(m, m->n_python - 1);
	uint32_t groups = n_groups(m);
	/* Both ends of a whole stack are there: what is too much has not begun, or has ended. */
	uint32_t skip = whole && evals > groups ? evals - groups : 0;

	for (uint32_t i = 0, eval = 0; i < m->n_native; i++) {
		if (!m->chains[i]->eval || m->next == m->n_python || eval++ < skip) {
			put_chain(m, m->chains[i]);
			continue;
		}
		put_group(m);
		if (whole && eval == evals)
			put_groups(m);
	}
	put_groups(m);
}

size_t prof_merge(const struct trc_stack *stack, const struct prof_chain *const *chains,
		  const struct prof_frame *const *python, bool drop_internal,
		  struct prof_frame *out)
{
	struct merge m = {
		.stack = stack,
		.chains = chains,
		.python = python,
		.n_native = stack->n_native,
		.n_python = stack->n_frames - stack->n_native,
		.drop_internal = drop_internal,
		.out = out,
	};
	uint32_t evals = n_evals(&m);

	if (evals)
		merge_by_evals(&m, evals);
	else
		merge_by_module(&m);
	return m.n_out;
}
