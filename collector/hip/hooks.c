#include "collector/hip/hooks.h"

#include "base/util.h"
#include "collector/hip/streams.h"
#include "collector/provider.h"

#include <pthread.h>
#include <string.h>

/* ---- streams ---- */

static __thread uint32_t creating __attribute__((tls_model("initial-exec")));

WS_PUBLIC uint64_t col_hip_creating_(void)
{
	return creating++;
}

WS_PUBLIC void col_hip_created_priority(int32_t ret, uint64_t token, void *stream, uint32_t flags,
					int32_t priority)
{
	creating--;
	if (ret == 0 && stream && token == 0)
		col_hip_stream_add(*(void **)stream, flags, priority);
}

WS_PUBLIC void col_hip_created_flags(int32_t ret, uint64_t token, void *stream, uint32_t flags)
{
	col_hip_created_priority(ret, token, stream, flags, 0);
}

WS_PUBLIC void col_hip_created(int32_t ret, uint64_t token, void *stream)
{
	col_hip_created_priority(ret, token, stream, 0, 0);
}

WS_PUBLIC void col_hip_created_context(int32_t ret, uint64_t token, void *stream, void *context,
				       uint32_t flags, int32_t priority)
{
	col_hip_created_priority(ret, token, stream, flags, priority);
}

WS_PUBLIC void col_hip_created_mask(int32_t ret, uint64_t token, void *stream, uint32_t n_words,
				    void *mask)
{
	col_hip_created_priority(ret, token, stream, 0, 0);
}

WS_PUBLIC uint64_t col_hip_destroying(void *stream)
{
	return col_hip_stream_remove(stream);
}

WS_PUBLIC void col_hip_destroyed(int32_t ret, uint64_t id, void *stream)
{
	if (ret != 0)
		col_hip_stream_restore(stream, (uint32_t)id);
}

/* ---- host functions ---- */

struct host_function {
	void *modules; /* NULL: gone */
	void *host_function;
	const char *name;
	void *thread_id, *block_id, *block_dim, *grid_dim, *workgroup_size;
	uint32_t thread_limit;
	uint32_t id;
};

/* Blocks in a list: PyTorch registers some hundred thousand, and nothing moves. */
#define BLOCK_BYTES (256u << 10)
struct block {
	struct block *next;
	uint32_t n;
	struct host_function functions[];
};
#define BLOCK_FUNCTIONS ((BLOCK_BYTES - sizeof(struct block)) / sizeof(struct host_function))

static struct block *blocks; /* the newest first */
static uint32_t last_id;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void write_host_function(struct cap_writer *writer, const struct host_function *f)
{
	struct cap_rec_host_function rec = {
		.host_function = (uintptr_t)f->host_function,
		.modules = (uintptr_t)f->modules,
		.thread_ids = (uintptr_t)f->thread_id,
		.block_ids = (uintptr_t)f->block_id,
		.block_dims = (uintptr_t)f->block_dim,
		.grid_dims = (uintptr_t)f->grid_dim,
		.workgroup_size = (uintptr_t)f->workgroup_size,
		.thread_limit = f->thread_limit,
	};

	rec.h.tag = CAP_REC_FIXED_TAG(HOST_FUNCTION, struct cap_rec_host_function);
	rec.h.what = f->id;
	rec.h.time = cap_ticks();
	rec.device_function_str = cap_writer_intern(writer, f->name, strlen(f->name));
	cap_writer_meta(writer, &rec.h);
}

WS_PUBLIC void col_hip_host_function(uint64_t token, void *modules, void *host_function,
				     void *device_function, const char *device_name,
				     uint32_t thread_limit, void *thread_id, void *block_id,
				     void *block_dim, void *grid_dim, void *workgroup_size)
{
	struct host_function f = {
		modules,   host_function, device_name,    thread_id,    block_id,
		block_dim, grid_dim,      workgroup_size, thread_limit, 0,
	};
	struct cap_writer *writer;
	struct block *b;

	if (!modules || !device_name)
		return;
	/* Before the lock: opening the capture calls our state(), which takes it. */
	writer = col_capture();
	pthread_mutex_lock(&lock);
	b = blocks;
	if (!b || b->n == BLOCK_FUNCTIONS) {
		b = col_pages(BLOCK_BYTES);
		if (b) {
			b->next = blocks;
			blocks = b;
		}
	}
	f.id = ++last_id;
	if (b)
		b->functions[b->n++] = f;
	pthread_mutex_unlock(&lock);
	if (writer)
		write_host_function(writer, &f);
}

WS_PUBLIC uint64_t col_hip_module_gone(void *modules)
{
	pthread_mutex_lock(&lock);
	for (struct block *b = blocks; b; b = b->next)
		for (uint32_t i = 0; i < b->n; i++)
			if (b->functions[i].modules == modules)
				b->functions[i].modules = NULL;
	pthread_mutex_unlock(&lock);
	return 0;
}

void col_hip_host_functions_state(struct cap_writer *writer)
{
	pthread_mutex_lock(&lock);
	for (struct block *b = blocks; b; b = b->next)
		for (uint32_t i = 0; i < b->n; i++)
			if (b->functions[i].modules)
				write_host_function(writer, &b->functions[i]);
	pthread_mutex_unlock(&lock);
}

void col_hip_host_functions_forked(void)
{
	pthread_mutex_init(&lock, NULL);
}
