#include "softgpu/device/symbols.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "softgpu/device/lines.h"
#include "softgpu/device/peek.h"

#define KERNEL_SUFFIX ".kd"
#define MAX_OBJECTS 65536
#define MAX_BYTES (1ull << 30)
#define PAGE 4096ull
#define PATIENCE_S 2

static const struct r_debug *_Atomic list;

void sg_symbols_set_list(const void *r_debug)
{
	atomic_store(&list, r_debug);
}

/* --- the runtime's list: other threads change it, so it is copied, never followed by pointer --- */

struct object {
	uint64_t base;
	char uri[4200];
};

/* Code objects do not overlap: the one that starts last before the address is the one. */
static bool find_object(uint64_t address, struct object *out)
{
	const struct r_debug *from = atomic_load(&list);
	struct r_debug debug;
	struct link_map map;
	const char *name = NULL;

	out->base = 0;
	if (!from || !sg_peek_bytes(from, &debug, sizeof(debug)))
		return false;
	for (unsigned n = 0; debug.r_map && n < MAX_OBJECTS; n++) {
		if (!sg_peek_bytes(debug.r_map, &map, sizeof(map)))
			break;
		if (map.l_addr <= address && map.l_addr >= out->base && map.l_name) {
			out->base = map.l_addr;
			name = map.l_name;
		}
		debug.r_map = map.l_next;
	}
	if (!name)
		return false;
	sg_peek_text(name, out->uri, sizeof(out->uri));
	return true;
}

/* --- the ELF file --- */

struct image {
	void *map; /* to unmap */
	size_t map_bytes;
	const uint8_t *bytes;
	size_t n_bytes;
};

static uint64_t number_behind(const char *uri, const char *key)
{
	const char *at = strstr(uri, key);

	return at ? strtoull(at + strlen(key), NULL, 0) : 0;
}

static void decode_path(const char *from, char *to)
{
	for (; *from && *from != '#'; from++) {
		unsigned code;

		if (*from == '%' && sscanf(from + 1, "%2x", &code) == 1) {
			*to++ = (char)code;
			from += 2;
		} else {
			*to++ = *from;
		}
	}
	*to = '\0';
}

static bool map_file(const char *uri, uint64_t offset, uint64_t size, struct image *out)
{
	char path[4200];
	struct stat about;
	int fd;

	decode_path(uri + strlen("file://"), path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	if (!fstat(fd, &about)) {
		uint64_t end = (uint64_t)about.st_size;

		size = size ? size : end - offset;
		if (offset < end && size <= end - offset && size <= MAX_BYTES) {
			out->map_bytes = size + offset % PAGE;
			out->map = mmap(NULL, out->map_bytes, PROT_READ, MAP_PRIVATE, fd,
					(off_t)(offset - offset % PAGE));
		}
	}
	close(fd);
	if (out->map == MAP_FAILED)
		return false;
	out->bytes = (const uint8_t *)out->map + offset % PAGE;
	out->n_bytes = size;
	return true;
}

static bool map_memory(uint64_t address, uint64_t size, struct image *out)
{
	if (!size || size > MAX_BYTES)
		return false;
	out->map_bytes = size;
	out->map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (out->map == MAP_FAILED ||
	    !sg_peek_bytes((const void *)(uintptr_t)address, out->map, size))
		return false;
	out->bytes = out->map;
	out->n_bytes = size;
	return true;
}

static void unmap_image(struct image *image)
{
	if (image->map != MAP_FAILED)
		munmap(image->map, image->map_bytes);
}

/* Whatever it returns, unmap_image() afterwards. */
static bool map_image(const char *uri, struct image *out)
{
	uint64_t offset = number_behind(uri, "offset="), size = number_behind(uri, "size=");
	const Elf64_Ehdr *header;

	*out = (struct image){ .map = MAP_FAILED };
	if (!strncmp(uri, "file://", 7)
		    ? !map_file(uri, offset, size, out)
		    : strncmp(uri, "memory://", 9) || !map_memory(offset, size, out))
		return false;
	header = (const void *)out->bytes;
	return out->n_bytes >= sizeof(*header) && !memcmp(header->e_ident, ELFMAG, SELFMAG) &&
	       header->e_ident[EI_CLASS] == ELFCLASS64 && (uintptr_t)out->bytes % 8 == 0 &&
	       header->e_shoff % 8 == 0 && header->e_shentsize == sizeof(Elf64_Shdr) &&
	       header->e_shoff <= out->n_bytes &&
	       header->e_shnum <= (out->n_bytes - header->e_shoff) / sizeof(Elf64_Shdr);
}

static bool inside(const struct image *image, const Elf64_Shdr *s)
{
	return s->sh_offset % 8 == 0 ? s->sh_offset <= image->n_bytes &&
					       s->sh_size <= image->n_bytes - s->sh_offset
				     : false;
}

struct wanted {
	uint64_t value;   /* in the object */
	bool kernel;      /* a descriptor: its very address, and the name ends in .kd */
	const char *name; /* found, in the image */
	uint64_t offset;
};

static bool is_wanted(const Elf64_Sym *symbol, const char *name, const struct wanted *w)
{
	size_t n = strlen(name), tail = strlen(KERNEL_SUFFIX);

	if (w->kernel)
		return symbol->st_value == w->value && n > tail &&
		       !strcmp(name + n - tail, KERNEL_SUFFIX);
	return ELF64_ST_TYPE(symbol->st_info) == STT_FUNC &&
	       w->value - symbol->st_value < symbol->st_size;
}

static void search_table(const struct image *image, const Elf64_Shdr *table,
			 const Elf64_Shdr *strings, struct wanted *w)
{
	const Elf64_Sym *symbols = (const void *)(image->bytes + table->sh_offset);
	const char *names = (const char *)image->bytes + strings->sh_offset;

	if (!strings->sh_size || names[strings->sh_size - 1])
		return;
	for (uint64_t n = 0; n < table->sh_size / sizeof(*symbols) && !w->name; n++) {
		if (symbols[n].st_name >= strings->sh_size ||
		    !is_wanted(&symbols[n], names + symbols[n].st_name, w))
			continue;
		w->name = names + symbols[n].st_name;
		w->offset = w->value - symbols[n].st_value;
	}
}

static void search(const struct image *image, struct wanted *w)
{
	const Elf64_Ehdr *header = (const void *)image->bytes;
	const Elf64_Shdr *sections = (const void *)(image->bytes + header->e_shoff);

	for (unsigned n = 0; n < header->e_shnum && !w->name; n++) {
		const Elf64_Shdr *s = &sections[n], *strings;

		if ((s->sh_type != SHT_SYMTAB && s->sh_type != SHT_DYNSYM) ||
		    s->sh_link >= header->e_shnum)
			continue;
		strings = &sections[s->sh_link];
		if (inside(image, s) && strings->sh_offset <= image->n_bytes &&
		    strings->sh_size <= image->n_bytes - strings->sh_offset)
			search_table(image, s, strings, w);
	}
}

/* --- names --- */

typedef char *demangler(const char *mangled, char *buffer, size_t *n, int *status);

/* Any program of AMD's runtime has the C++ library; this one does without. */
static demangler *find_demangler(void)
{
	void *library, *found = dlsym(RTLD_DEFAULT, "__cxa_demangle");

	if (!found) {
		library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
		found = library ? dlsym(library, "__cxa_demangle") : NULL;
	}
	return (demangler *)found;
}

static void put_name(const char *symbol, bool kernel, char *out, size_t size)
{
	size_t n = strlen(symbol) - (kernel ? strlen(KERNEL_SUFFIX) : 0);
	demangler *demangle = find_demangler();
	char *mangled = strndup(symbol, n), *plain = NULL;
	int status = 0;

	if (mangled && demangle && !strncmp(mangled, "_Z", 2))
		plain = demangle(mangled, NULL, NULL, &status);
	snprintf(out, size, "%s", plain ? plain : mangled ? mangled : "");
	for (char *c = out; *c; c++) /* it goes to a terminal */
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
	free(plain);
	free(mangled);
}

static void find_kernel(uint64_t descriptor, struct sg_symbol *out)
{
	struct object *object = malloc(sizeof(*object));
	struct wanted w = { .kernel = true };
	struct image image;

	if (object && find_object(descriptor, object)) {
		w.value = descriptor - object->base;
		if (map_image(object->uri, &image))
			search(&image, &w);
		if (w.name)
			put_name(w.name, true, out->name, sizeof(out->name));
		unmap_image(&image);
	}
	free(object);
}

static void find_code(uint64_t pc, struct sg_symbol *out)
{
	struct object *object = malloc(sizeof(*object));
	struct wanted w = { .kernel = false };
	struct image image;

	if (object && find_object(pc, object)) {
		w.value = pc - object->base;
		if (map_image(object->uri, &image)) {
			search(&image, &w);
			/* an address behind the object's end has no line either */
			if (w.name)
				sg_lines_find(image.bytes, image.n_bytes, w.value, out->source,
					      sizeof(out->source));
		}
		if (w.name) {
			put_name(w.name, false, out->name, sizeof(out->name));
			out->offset = w.offset;
		}
		unmap_image(&image);
	}
	free(object);
}

/*
 * --- on a thread of its own ---
 *
 * Demangler and libdw are found by the dynamic linker, which may be locked for long: by a library whose
 * constructor waits for a kernel. Who asks is the device itself, and must not wait for that.
 */

struct lookup {
	uint64_t address;
	void (*find)(uint64_t address, struct sg_symbol *out);
	struct sg_symbol result;
	pthread_mutex_t lock;
	pthread_cond_t done;
	bool is_done;
	_Atomic int n_users;
};

static _Atomic int n_late; /* lookups that nobody waits for any more */

static void put_lookup(struct lookup *l)
{
	if (atomic_fetch_sub(&l->n_users, 1) != 1)
		return;
	pthread_cond_destroy(&l->done);
	pthread_mutex_destroy(&l->lock);
	free(l);
}

static void *run_lookup(void *arg)
{
	struct lookup *l = arg;
	bool late;

	l->find(l->address, &l->result);
	pthread_mutex_lock(&l->lock);
	l->is_done = true;
	late = atomic_load(&l->n_users) == 1;
	pthread_cond_signal(&l->done);
	pthread_mutex_unlock(&l->lock);
	if (late)
		atomic_fetch_sub(&n_late, 1);
	put_lookup(l);
	return NULL;
}

static struct lookup *start_lookup(uint64_t address, void (*find)(uint64_t, struct sg_symbol *))
{
	struct lookup *l = calloc(1, sizeof(*l));
	sigset_t blocked, before;
	pthread_condattr_t clock;
	pthread_attr_t detached;
	pthread_t thread;
	int error;

	if (!l)
		return NULL;
	l->address = address;
	l->find = find;
	atomic_init(&l->n_users, 2);
	pthread_mutex_init(&l->lock, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&l->done, &clock);
	pthread_condattr_destroy(&clock);
	pthread_attr_init(&detached);
	pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
	sigfillset(&blocked); /* the program's signals are for its own threads */
	pthread_sigmask(SIG_SETMASK, &blocked, &before);
	error = pthread_create(&thread, &detached, run_lookup, l);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&detached);
	if (error) {
		put_lookup(l);
		put_lookup(l);
		return NULL;
	}
	return l;
}

static void look_up(uint64_t address, void (*find)(uint64_t, struct sg_symbol *),
		    struct sg_symbol *out)
{
	struct timespec until;
	struct lookup *l;

	*out = (struct sg_symbol){ 0 };
	l = atomic_load(&n_late) ? NULL : start_lookup(address, find);
	if (!l)
		return;
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += PATIENCE_S;
	pthread_mutex_lock(&l->lock);
	while (!l->is_done && !pthread_cond_timedwait(&l->done, &l->lock, &until))
		;
	if (l->is_done) {
		*out = l->result;
	} else {
		atomic_fetch_add(&n_late, 1);
		atomic_fetch_sub(&l->n_users, 1);
		pthread_mutex_unlock(&l->lock);
		return; /* the other one frees it */
	}
	pthread_mutex_unlock(&l->lock);
	put_lookup(l);
}

bool sg_symbols_kernel(uint64_t descriptor, char *name, size_t size)
{
	struct sg_symbol symbol;

	look_up(descriptor, find_kernel, &symbol);
	if (*symbol.name)
		snprintf(name, size, "%s", symbol.name);
	else
		snprintf(name, size, "kernel at 0x%llx", (unsigned long long)descriptor);
	return *symbol.name != '\0';
}

void sg_symbols_code(uint64_t pc, struct sg_symbol *out)
{
	look_up(pc, find_code, out);
}
