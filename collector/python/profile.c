#include "collector/python/python.h"

#include "collector/collector_priv.h"
#include "collector/regions.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>

/* what: the interpreter's numbers, the same in all versions */
enum {
	EVENT_CALL = 0,
	EVENT_RETURN = 3,
	EVENT_C_CALL = 4,
	EVENT_C_EXCEPTION = 5,
	EVENT_C_RETURN = 6
};

/* ---- the interpreter ---- */

/* clang-format off */
#define API_TABLE(X)                                                                   \
	X(void *,        PyFrame_GetCode,              (void *frame))                  \
	X(int,           PyFrame_GetLineNumber,        (void *frame))                  \
	X(void *,        PyCFunction_GetFunction,      (void *function))               \
	X(void *,        PyObject_CallFunctionObjArgs, (void *callable, ...))          \
	X(void *,        PyObject_GetAttrString,       (void *object, const char *))   \
	X(const char *,  PyUnicode_AsUTF8,             (void *text))                   \
	X(long,          PyLong_AsLong,                (void *number))                 \
	X(unsigned long, PyLong_AsUnsignedLongMask,    (void *number))                 \
	X(void *,        PyErr_Occurred,               (void))                         \
	X(void,          PyErr_Clear,                  (void))                         \
	X(void,          PyErr_WriteUnraisable,        (void *object))                 \
	X(void,          Py_IncRef,                    (void *object))                 \
	X(void,          Py_DecRef,                    (void *object))
/* clang-format on */

static struct {
#define API_FIELD(type, name, args) type(*name) args;
	API_TABLE(API_FIELD)
#undef API_FIELD
	bool found;
} api;

static bool find_api(void)
{
	int saved_errno = errno;
	bool all = true;

	if (__atomic_load_n(&api.found, __ATOMIC_ACQUIRE))
		return true;
#define API_FIND(type, name, args)                                                                 \
	all &= (*(void **)&api.name = dlsym(RTLD_DEFAULT, #name)) != NULL;
	API_TABLE(API_FIND)
#undef API_FIND
	__atomic_store_n(&api.found, all, __ATOMIC_RELEASE);
	errno = saved_errno;
	return all;
}

/* ---- answers of the package ---- */

#define ANSWERS 262144u /* a power of 2; half of them are used */

struct answer {
	void *key; /* code object, which is kept; C function. NULL: free */
	uint32_t id;
	uint32_t generation; /* of the configuration that it was asked for */
	uint32_t argcount, nlocals, stacksize;
	char *file; /* of the interpreter, which keeps it as long as the code */
};

static struct {
	struct col_lock lock;
	struct answer *at;
	uint32_t n;
	uint32_t flags;
	uint32_t generation;
} answers = { .generation = 1 };

static struct answer *find_answer(void *key)
{
	struct answer *at = __atomic_load_n(&answers.at, __ATOMIC_ACQUIRE);
	/* objects are 16 bytes apart, at least */
	uint64_t i = ((uintptr_t)key >> 4) * 0x9e3779b97f4a7c15u >> 40;

	for (; at; i++) {
		struct answer *a = &at[i % ANSWERS];
		void *there = __atomic_load_n(&a->key, __ATOMIC_ACQUIRE);

		if (there == key || !there)
			return a;
	}
	return NULL;
}

static uint32_t number_of(void *object, const char *name)
{
	void *value = api.PyObject_GetAttrString(object, name);
	long number = value ? api.PyLong_AsLong(value) : 0;

	if (value)
		api.Py_DecRef(value);
	if (api.PyErr_Occurred())
		api.PyErr_Clear();
	return (uint32_t)number;
}

static void describe(struct answer *a, void *code)
{
	void *file = api.PyObject_GetAttrString(code, "co_filename");

	a->argcount = number_of(code, "co_argcount");
	a->nlocals = number_of(code, "co_nlocals");
	a->stacksize = number_of(code, "co_stacksize");
	a->file = file ? (char *)api.PyUnicode_AsUTF8(file) : NULL;
	if (file)
		api.Py_DecRef(file); /* the code has it still */
	if (api.PyErr_Occurred())
		api.PyErr_Clear();
}

static uint32_t ask(void *resolver, void *object)
{
	void *answer = api.PyObject_CallFunctionObjArgs(resolver, object, NULL);
	uint32_t id = answer ? (uint32_t)api.PyLong_AsUnsignedLongMask(answer) : COL_PYTHON_SKIP;

	if (answer)
		api.Py_DecRef(answer);
	if (api.PyErr_Occurred()) {
		api.PyErr_WriteUnraisable(resolver);
		id = COL_PYTHON_SKIP;
	}
	return id;
}

static bool is_recorded(uint32_t id)
{
	return id != COL_PYTHON_SKIP && id < COL_PYTHON_SKIP_OWN;
}

static bool is_current(const struct answer *a)
{
	return a && a->key &&
	       __atomic_load_n(&a->generation, __ATOMIC_ACQUIRE) == answers.generation;
}

/* What is known of @key; asked and kept when nothing is. A full table keeps no more. */
static struct answer answer_for(void *resolver, void *key, void *object, bool is_code)
{
	struct answer *a = find_answer(key), fresh = { .key = key };
	int saved_errno = errno;

	if (is_current(a))
		return *a;
	fresh.generation = answers.generation;
	fresh.id = ask(resolver, object);
	if (is_code && answers.flags & COL_PYTHON_ANNOTATE)
		describe(&fresh, object);
	col_lock(&answers.lock);
	if (!answers.at)
		__atomic_store_n(&answers.at, col_pages(ANSWERS * sizeof(*answers.at)),
				 __ATOMIC_RELEASE);
	a = find_answer(key);
	if (a && !is_current(a) && (a->key || answers.n < ANSWERS / 2)) {
		if (!a->key) {
			answers.n++;
			if (is_code)
				api.Py_IncRef(
					object); /* its address is nobody else's from now on */
		}
		a->id = fresh.id;
		a->argcount = fresh.argcount;
		a->nlocals = fresh.nlocals;
		a->stacksize = fresh.stacksize;
		a->file = fresh.file;
		__atomic_store_n(&a->generation, fresh.generation, __ATOMIC_RELEASE);
		__atomic_store_n(&a->key, key, __ATOMIC_RELEASE);
	}
	col_unlock(&answers.lock);
	errno = saved_errno;
	return fresh;
}

/* ---- frames of a thread ---- */

/*
 * The frames whose calls were seen, so that ends match beginnings: the name of a call may depend on
 * its arguments, and functions that were running when profiling began return, too.
 */
struct open_call {
	void *frame;
	uint32_t id;
	uint32_t hidden; /* what it calls is not recorded */
};

struct calls {
	struct open_call *at;
	uint32_t n, max;
	uint32_t hidden; /* inside how many functions of which nothing is recorded */
	int paused;
};

static __thread struct calls *calls_self __attribute__((tls_model("initial-exec")));
static pthread_key_t calls_key;
static pthread_once_t calls_once = PTHREAD_ONCE_INIT;

static void free_calls(void *arg)
{
	struct calls *calls = arg;

	col_pages_free(calls->at, calls->max * sizeof(*calls->at));
	col_pages_free(calls, sizeof(*calls));
}

static void make_key(void)
{
	pthread_key_create(&calls_key, free_calls);
}

static struct calls *calls_of_thread(void)
{
	if (!calls_self) {
		pthread_once(&calls_once, make_key);
		calls_self = col_pages(sizeof(*calls_self));
		if (calls_self)
			pthread_setspecific(calls_key, calls_self);
	}
	return calls_self;
}

static bool grow(struct calls *calls)
{
	uint32_t max = calls->max ? calls->max * 2 : 256;
	struct open_call *at = col_pages(max * sizeof(*at));

	if (!at)
		return false;
	if (calls->n)
		memcpy(at, calls->at, calls->n * sizeof(*at));
	col_pages_free(calls->at, calls->max * sizeof(*calls->at));
	calls->at = at;
	calls->max = max;
	return true;
}

static void annotate(const struct answer *a, void *frame)
{
	void *lasti = api.PyObject_GetAttrString(frame, "f_lasti");
	long at = lasti ? api.PyLong_AsLong(lasti) : -1;

	if (lasti)
		api.Py_DecRef(lasti);
	col_region_annotate_text("file", a->file);
	col_region_annotate("line", CAP_ARG_I64, (uint64_t)api.PyFrame_GetLineNumber(frame));
	col_region_annotate("lasti", CAP_ARG_I64, (uint64_t)at);
	col_region_annotate("argcount", CAP_ARG_I64, a->argcount);
	col_region_annotate("nlocals", CAP_ARG_I64, a->nlocals);
	col_region_annotate("stacksize", CAP_ARG_I64, a->stacksize);
}

static void begin(struct calls *calls, void *resolver, void *frame)
{
	void *code = api.PyFrame_GetCode(frame);
	struct answer a = { 0 };

	if (calls->n == calls->max && !grow(calls)) {
		api.Py_DecRef(code);
		return;
	}
	if (!calls->hidden) {
		a = answer_for(resolver, code, code, true);
		if (is_recorded(a.id) && answers.flags & COL_PYTHON_EACH)
			a.id = ask(resolver, frame);
	}
	api.Py_DecRef(code); /* the frame has it */
	calls->at[calls->n++] = (struct open_call){ frame, is_recorded(a.id) ? a.id : 0,
						    a.id == COL_PYTHON_SKIP_ALL };
	calls->hidden += a.id == COL_PYTHON_SKIP_ALL;
	if (!is_recorded(a.id))
		return;
	col_region_enter(a.id);
	if (answers.flags & COL_PYTHON_ANNOTATE)
		annotate(&a, frame);
}

/* Ends what is open until @n calls are left. */
static void end_until(struct calls *calls, uint32_t n)
{
	while (calls->n > n) {
		struct open_call *call = &calls->at[--calls->n];

		calls->hidden -= call->hidden;
		if (call->id)
			col_region_leave(call->id);
	}
}

static void end(struct calls *calls, void *frame)
{
	uint32_t at = calls->n;

	while (at && calls->at[at - 1].frame != frame)
		at--;
	if (at)                           /* else it was called before profiling began */
		end_until(calls, at - 1); /* those above it returned while events were ignored */
}

/* Functions written in C have no frame: @frame is their caller's. */
static void c_event(const struct calls *calls, void *resolver, void *frame, bool begins,
		    void *function)
{
	void *key = api.PyCFunction_GetFunction(function), *code;
	struct answer a;

	if (!key)
		api.PyErr_Clear(); /* not a C function: a type that is called, for example */
	if (!key || calls->hidden)
		return;
	code = api.PyFrame_GetCode(frame);
	a = answer_for(resolver, code, code, true);
	api.Py_DecRef(code);
	if (a.id == COL_PYTHON_SKIP_OWN)
		return;
	a = answer_for(resolver, key, function, false);
	if (!is_recorded(a.id))
		return;
	if (begins)
		col_region_enter(a.id);
	else
		col_region_leave(a.id);
}

/* ---- the interface ---- */

int col_python_event(void *resolver, void *frame, int what, void *arg)
{
	struct calls *calls = calls_of_thread();

	if (!calls || calls->paused > 0)
		return 0;
	switch (what) {
	case EVENT_CALL:
		begin(calls, resolver, frame);
		break;
	case EVENT_RETURN:
		end(calls, frame);
		break;
	case EVENT_C_CALL:
	case EVENT_C_EXCEPTION:
	case EVENT_C_RETURN:
		if (answers.flags & COL_PYTHON_C_CALLS)
			c_event(calls, resolver, frame, what == EVENT_C_CALL, arg);
		break;
	default:
		break;
	}
	return 0;
}

int col_python_configure(uint32_t flags)
{
	if (!find_api() || !col_region_wanted())
		return 0;
	col_lock(&answers.lock);
	answers.flags = flags;
	answers.generation++;
	col_unlock(&answers.lock);
	return 1;
}

uint32_t col_python_mark(void)
{
	struct calls *calls = calls_of_thread();

	return calls ? calls->n : 0;
}

void col_python_rewind(uint32_t mark)
{
	struct calls *calls = calls_of_thread();

	if (calls)
		end_until(calls, mark);
}

void col_python_pause(int change)
{
	struct calls *calls = calls_of_thread();

	if (calls)
		calls->paused += change;
}
