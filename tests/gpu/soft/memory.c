/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of the stand-in for CUDA's driver: what there is, and where. */
#include "soft.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define ARENA ((size_t)16 << 30)
#define PAGE ((size_t)65536) /* an area begins at one, and an unused one is behind it */

/* All addresses of memory of GPUs are in here. */
static struct {
	pthread_mutex_t lock;
	char *arena;
	struct soft_area *first; /* by address */
	size_t used;
	unsigned long long ids;
} memory = {.lock = PTHREAD_MUTEX_INITIALIZER};

static char *pointer(soft_address address)
{
	return (char *)(uintptr_t)address;
}

void soft_areas_lock(void)
{
	pthread_mutex_lock(&memory.lock);
}

void soft_areas_unlock(void)
{
	pthread_mutex_unlock(&memory.lock);
}

struct soft_area *soft_areas_first(void)
{
	return memory.first;
}

struct soft_area *soft_area_at(soft_address address)
{
	for (struct soft_area *area = memory.first; area; area = area->next)
		if ((uintptr_t)address - (uintptr_t)area->shown < area->size)
			return area;
	return NULL;
}

static bool is_in_arena(soft_address address)
{
	return memory.arena && (uintptr_t)address - (uintptr_t)memory.arena < ARENA;
}

char *soft_find_bytes(soft_address address, size_t bytes, enum soft_place *place)
{
	struct soft_area *area;
	char *found = pointer(address);

	soft_areas_lock();
	area = soft_area_at(address);
	*place = SOFT_PAGEABLE;
	if (area) {
		size_t at = (uintptr_t)address - (uintptr_t)area->shown;

		*place = area->kind == SOFT_HOST || area->kind == SOFT_REGISTERED ? SOFT_PINNED : SOFT_ON_DEVICE;
		found = bytes <= area->size - at ? area->bytes + at : NULL;
	} else if (is_in_arena(address)) {
		found = NULL;
	}
	soft_areas_unlock();
	return found;
}

static void insert_area(struct soft_area *area)
{
	struct soft_area **to = &memory.first;

	while (*to && (uintptr_t)(*to)->shown < (uintptr_t)area->shown)
		to = &(*to)->next;
	area->next = *to;
	*to = area;
	area->id = ++memory.ids;
}

void soft_area_remove(struct soft_area *area)
{
	struct soft_area **from = &memory.first;

	while (*from != area)
		from = &(*from)->next;
	*from = area->next;
	if (area->kind == SOFT_DEVICE)
		memory.used -= area->size;
	if (area->fd >= 0 || area->kind == SOFT_HOST) {
		munmap(area->bytes, area->reserved);
		close(area->fd);
	}
	free(area);
}

/* The first gap of the arena that is large enough. */
static char *find_gap(size_t reserved)
{
	char *gap = memory.arena;

	for (struct soft_area *area = memory.first; area; area = area->next) {
		if (!is_in_arena((uintptr_t)area->shown))
			continue;
		if ((size_t)(area->shown - gap) >= reserved + PAGE)
			return gap;
		gap = area->shown + area->reserved + PAGE;
	}
	return (size_t)(gap - memory.arena) + reserved <= ARENA ? gap : NULL;
}

static bool make_arena(void)
{
	if (!memory.arena)
		memory.arena = mmap(NULL, ARENA, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory.arena == MAP_FAILED)
		memory.arena = NULL;
	return memory.arena;
}

struct soft_area *soft_area_map(enum soft_kind kind, int fd, size_t size, int device)
{
	size_t reserved = (size + PAGE - 1) / PAGE * PAGE;
	struct soft_area *area = calloc(1, sizeof *area);
	char *bytes = mmap(NULL, reserved, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (!area || bytes == MAP_FAILED) {
		free(area);
		return NULL;
	}
	*area = (struct soft_area){.kind = kind, .fd = fd, .size = size, .reserved = reserved, .device = device};
	area->bytes = bytes;
	if (kind == SOFT_HOST)
		area->shown = bytes;
	else if (make_arena())
		area->shown = find_gap(reserved);
	if (!area->shown) {
		munmap(bytes, reserved);
		free(area);
		return NULL;
	}
	insert_area(area);
	return area;
}

static struct soft_area *create_area(enum soft_kind kind, size_t size)
{
	int device = soft_device_number(soft_context()->device);
	int fd = memfd_create("software GPU", MFD_CLOEXEC);
	struct soft_area *area = NULL;

	if (fd < 0)
		return NULL;
	if (ftruncate(fd, (off_t)((size + PAGE - 1) / PAGE * PAGE)) == 0)
		area = soft_area_map(kind, fd, size, device);
	if (!area)
		close(fd);
	return area;
}

EXPORT int cuMemGetInfo_v2(size_t *free_bytes, size_t *total)
{
	ENTER_CONTEXT();
	*total = (size_t)soft_setting("SOFT_CUDA_MEMORY", 1 << 30);
	soft_areas_lock();
	*free_bytes = *total > memory.used ? *total - memory.used : 0;
	soft_areas_unlock();
	return SOFT_OK;
}

/* The memory is filled with noise: the driver does not clear it. */
EXPORT int cuMemAlloc_v2(soft_address *address, size_t size)
{
	size_t total = (size_t)soft_setting("SOFT_CUDA_MEMORY", 1 << 30);
	struct soft_area *area = NULL;

	ENTER_CONTEXT();
	if (size == 0)
		return SOFT_INVALID_VALUE;
	soft_areas_lock();
	if (memory.used + size <= total)
		area = create_area(SOFT_DEVICE, size);
	if (area) {
		memory.used += size;
		*address = (uintptr_t)area->shown;
		memset(area->bytes, 0xa5, size < PAGE ? size : PAGE);
	}
	soft_areas_unlock();
	return area ? SOFT_OK : SOFT_OUT_OF_MEMORY;
}

static int free_area(soft_address address, enum soft_kind kind)
{
	struct soft_area *area;
	int error = SOFT_INVALID_VALUE;

	soft_drain();
	soft_areas_lock();
	area = soft_area_at(address);
	if (area && area->kind == kind && area->shown == pointer(address)) {
		soft_area_remove(area);
		error = SOFT_OK;
	}
	soft_areas_unlock();
	return error;
}

EXPORT int cuMemFree_v2(soft_address address)
{
	ENTER_CONTEXT();
	return address ? free_area(address, SOFT_DEVICE) : SOFT_OK;
}

EXPORT int cuMemGetAddressRange_v2(soft_address *base, size_t *size, soft_address address)
{
	struct soft_area *area;

	ENTER_CONTEXT();
	soft_areas_lock();
	area = soft_area_at(address);
	if (area && base)
		*base = (uintptr_t)area->shown;
	if (area && size)
		*size = area->size;
	soft_areas_unlock();
	return area ? SOFT_OK : SOFT_NOT_FOUND;
}

EXPORT int cuMemHostAlloc(void **address, size_t size, unsigned flags)
{
	struct soft_area *area;

	ENTER_CONTEXT();
	if (size == 0 || flags > 7)
		return SOFT_INVALID_VALUE;
	soft_areas_lock();
	area = create_area(SOFT_HOST, size);
	if (area)
		*address = area->shown;
	soft_areas_unlock();
	return area ? SOFT_OK : SOFT_OUT_OF_MEMORY;
}

EXPORT int cuMemFreeHost(void *address)
{
	ENTER_CONTEXT();
	return free_area((uintptr_t)address, SOFT_HOST);
}

/* Does any area that is no registration of its own overlap? */
static bool is_known(uintptr_t start, size_t size)
{
	for (struct soft_area *area = memory.first; area; area = area->next)
		if ((uintptr_t)area->shown < start + size && start < (uintptr_t)area->shown + area->size)
			return true;
	return false;
}

static bool is_mapped(uintptr_t start, size_t size)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t from = start / page * page;
	unsigned char *pages = malloc((start + size - from) / page + 1);
	bool mapped = pages && mincore((void *)from, start + size - from, pages) == 0;

	free(pages);
	return mapped;
}

EXPORT int cuMemHostRegister_v2(void *start, size_t size, unsigned flags)
{
	struct soft_area *area = NULL;

	ENTER_CONTEXT();
	if (!start || size == 0 || flags > 15 || !is_mapped((uintptr_t)start, size))
		return SOFT_INVALID_VALUE;
	if (!soft_setting("SOFT_CUDA_REGISTER", 1))
		return SOFT_NOT_SUPPORTED;
	soft_areas_lock();
	if (is_known((uintptr_t)start, size)) {
		soft_areas_unlock();
		return SOFT_ALREADY_REGISTERED;
	}
	area = calloc(1, sizeof *area);
	if (area) {
		*area = (struct soft_area){.kind = SOFT_REGISTERED, .fd = -1, .size = size, .reserved = size};
		area->shown = area->bytes = start;
		area->device = soft_device_number(soft_context()->device);
		insert_area(area);
	}
	soft_areas_unlock();
	return area ? SOFT_OK : SOFT_OUT_OF_MEMORY;
}

EXPORT int cuMemHostUnregister(void *start)
{
	int error;

	ENTER_CONTEXT();
	error = free_area((uintptr_t)start, SOFT_REGISTERED);
	return error ? SOFT_NOT_REGISTERED : SOFT_OK;
}

EXPORT int cuMemHostGetDevicePointer_v2(soft_address *address, void *memory_of_host, unsigned flags)
{
	enum soft_place place;

	ENTER_CONTEXT();
	soft_find_bytes((uintptr_t)memory_of_host, 1, &place);
	if (flags || place != SOFT_PINNED)
		return SOFT_INVALID_VALUE;
	*address = (uintptr_t)memory_of_host;
	return SOFT_OK;
}

static bool is_of_host(const struct soft_area *area)
{
	return area->kind == SOFT_HOST || area->kind == SOFT_REGISTERED;
}

/* One attribute; of memory that the driver does not know, area is NULL and most are 0. */
static int find_attribute(const struct soft_area *area, int attribute, soft_address address, void *value)
{
	switch (attribute) {
	case 1: *(void **)value = area ? soft_context() : NULL; break;
	case 2: *(unsigned *)value = !area ? 0 : is_of_host(area) ? 1 : 2; break;
	case 3: *(soft_address *)value = area ? address : 0; break;
	case 4:
		if (area && !is_of_host(area))
			return SOFT_INVALID_VALUE;
		*(void **)value = area ? pointer(address) : NULL;
		break;
	case 7: *(unsigned long long *)value = area ? area->id : 0; break;
	case 8: *(bool *)value = false; break; /* managed */
	case 9: *(int *)value = area ? soft_device_of_number(area->device) : -2; break;
	case 10: *(bool *)value = area && area->kind == SOFT_DEVICE; break; /* for IPC */
	case 11: *(soft_address *)value = area ? (uintptr_t)area->shown : 0; break;
	case 12: *(size_t *)value = area ? area->size : 0; break;
	case 13: *(bool *)value = area; break;
	default: return SOFT_INVALID_VALUE;
	}
	return SOFT_OK;
}

EXPORT int cuPointerGetAttribute(void *value, int attribute, soft_address address)
{
	struct soft_area *area;
	int error = SOFT_INVALID_VALUE;

	ENTER();
	soft_areas_lock();
	area = soft_area_at(address);
	if (area)
		error = find_attribute(area, attribute, address, value);
	soft_areas_unlock();
	return error;
}

/* Unlike the one above it gives zeros for memory that the driver does not know. */
EXPORT int cuPointerGetAttributes(unsigned count, const int *attributes, void **values, soft_address address)
{
	struct soft_area *area;

	ENTER();
	soft_areas_lock();
	area = soft_area_at(address);
	for (unsigned i = 0; i < count; i++) {
		if (find_attribute(area, attributes[i], address, values[i]) != SOFT_OK && attributes[i] == 4)
			*(void **)values[i] = NULL;
	}
	soft_areas_unlock();
	return SOFT_OK;
}
