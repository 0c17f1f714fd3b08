/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of other processes' GPUs: the stand-in opens their memory files through /proc. */
#include "soft.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC 0x74666f73U

struct soft_ipc { /* CUipcMemHandle */
	unsigned magic;
	int process, fd, device;
	unsigned long long size, file;
	char unused[32];
};
_Static_assert(sizeof(struct soft_ipc) == 64, "as large as the driver's");

static bool has_ipc(void)
{
	return soft_setting("SOFT_CUDA_IPC", 1) && !soft_setting("SOFT_CUDA_INTEGRATED", 0);
}

static unsigned long long file_of(int fd)
{
	struct stat about;

	return fstat(fd, &about) == 0 ? about.st_ino : 0;
}

/* The handle is that of the whole allocation, whichever address in it is given. */
EXPORT int cuIpcGetMemHandle(struct soft_ipc *handle, soft_address address)
{
	struct soft_area *area;
	int error = SOFT_INVALID_VALUE;

	ENTER_CONTEXT();
	if (!has_ipc())
		return SOFT_NOT_SUPPORTED;
	soft_areas_lock();
	area = soft_area_at(address);
	if (area && area->kind == SOFT_DEVICE) {
		*handle = (struct soft_ipc){.magic = MAGIC, .process = getpid(), .fd = area->fd};
		handle->device = area->device;
		handle->size = area->size;
		handle->file = file_of(area->fd);
		error = SOFT_OK;
	}
	soft_areas_unlock();
	return error;
}

/* Opened a second time: it is the same mapping. */
static struct soft_area *find_opened(const struct soft_ipc *handle)
{
	for (struct soft_area *area = soft_areas_first(); area; area = area->next)
		if (area->kind == SOFT_IMPORTED && area->owner == handle->process && area->file == handle->file)
			return area;
	return NULL;
}

static int open_area(const struct soft_ipc *handle, struct soft_area **area)
{
	char path[64];
	int fd;

	snprintf(path, sizeof path, "/proc/%d/fd/%d", handle->process, handle->fd);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return SOFT_MAP_FAILED;
	if (file_of(fd) == handle->file)
		*area = soft_area_map(SOFT_IMPORTED, fd, handle->size, handle->device);
	if (!*area) {
		close(fd);
		return SOFT_MAP_FAILED;
	}
	(*area)->owner = handle->process;
	(*area)->file = handle->file;
	return SOFT_OK;
}

EXPORT int cuIpcOpenMemHandle_v2(soft_address *address, struct soft_ipc handle, unsigned flags)
{
	struct soft_area *area;
	int error = SOFT_OK;

	ENTER_CONTEXT();
	if (!has_ipc())
		return SOFT_NOT_SUPPORTED;
	if (flags != 1)
		return SOFT_INVALID_VALUE;
	if (handle.magic != MAGIC)
		return SOFT_INVALID_HANDLE;
	if (handle.process == getpid())
		return SOFT_INVALID_CONTEXT;
	if (handle.device != soft_device_number(soft_context()->device) && !soft_setting("SOFT_CUDA_PEER", 1))
		return SOFT_PEER_UNSUPPORTED;
	soft_areas_lock();
	area = find_opened(&handle);
	if (!area)
		error = open_area(&handle, &area);
	if (area) {
		area->opened++;
		*address = (uintptr_t)area->shown;
	}
	soft_areas_unlock();
	return error;
}

EXPORT int cuIpcCloseMemHandle(soft_address address)
{
	struct soft_area *area;
	int error = SOFT_INVALID_VALUE;

	ENTER_CONTEXT();
	soft_drain();
	soft_areas_lock();
	area = soft_area_at(address);
	if (area && area->kind == SOFT_IMPORTED && (uintptr_t)area->shown == (uintptr_t)address) {
		if (--area->opened == 0)
			soft_area_remove(area);
		error = SOFT_OK;
	}
	soft_areas_unlock();
	return error;
}
