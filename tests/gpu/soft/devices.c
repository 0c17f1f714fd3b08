/* SPDX-License-Identifier: BSD-3-Clause */
/* Devices, contexts, settings and errors of the stand-in for CUDA's driver. */
#include "soft.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_DEVICES 16
#define DEEPEST 8

static struct {
	atomic_bool initialized;
	int count;		   /* of visible devices */
	int numbers[MOST_DEVICES]; /* on the machine */
	struct soft_context primary[MOST_DEVICES];
	pthread_mutex_t lock;
	atomic_int broken;
	atomic_int calls_to_failing;
} devices = {.lock = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local struct {
	struct soft_context *context[DEEPEST];
	int depth; /* of the stack; the current context is at [depth] */
} stack;

long long soft_setting(const char *name, long long otherwise)
{
	const char *value = getenv(name);

	return value && *value ? atoll(value) : otherwise;
}

/* SOFT_CUDA_FAIL: NAME, NAME:NTH, NAME=ERROR or NAME:NTH=ERROR. */
static int find_fault(const char *name)
{
	const char *fault = getenv("SOFT_CUDA_FAIL");
	size_t length = strlen(name);
	int nth = 1, error = SOFT_UNKNOWN;

	if (!fault || strncmp(fault, name, length) != 0)
		return SOFT_OK;
	fault += length;
	if (*fault && *fault != ':' && *fault != '=')
		return SOFT_OK;
	if (*fault == ':')
		nth = (int)strtol(fault + 1, (char **)(uintptr_t)&fault, 10);
	if (*fault == '=')
		error = atoi(fault + 1);
	return atomic_fetch_add(&devices.calls_to_failing, 1) + 1 >= nth ? error : SOFT_OK;
}

int soft_enter(const char *name)
{
	int error = find_fault(name);

	if (error)
		return error;
	if (!devices.initialized)
		return SOFT_NOT_INITIALIZED;
	return devices.broken;
}

int soft_enter_context(const char *name)
{
	int error = soft_enter(name);

	if (error)
		return error;
	if (!soft_context())
		return SOFT_INVALID_CONTEXT;
	return soft_context()->retained > 0 ? SOFT_OK : SOFT_CONTEXT_DESTROYED;
}

void soft_break(int error)
{
	int none = SOFT_OK;

	atomic_compare_exchange_strong(&devices.broken, &none, error);
}

int soft_broken(void)
{
	return devices.broken;
}

bool soft_is_device(int device)
{
	return device >= 0 && device < devices.count;
}

int soft_device_number(int device)
{
	return devices.numbers[device];
}

int soft_device_of_number(int number)
{
	for (int i = 0; i < devices.count; i++)
		if (devices.numbers[i] == number)
			return i;
	return -1;
}

struct soft_context *soft_context(void)
{
	return stack.context[stack.depth];
}

/* As the driver does, the first number that is no device ends CUDA_VISIBLE_DEVICES. */
static void find_devices(void)
{
	int there = (int)soft_setting("SOFT_CUDA_DEVICES", 1);
	const char *visible = getenv("CUDA_VISIBLE_DEVICES");
	char *end;

	if (there > MOST_DEVICES)
		there = MOST_DEVICES;
	if (!visible) {
		for (int i = 0; i < there; i++)
			devices.numbers[devices.count++] = i;
		return;
	}
	while (*visible && devices.count < MOST_DEVICES) {
		long number = strtol(visible, &end, 10);

		if (end == visible || number < 0 || number >= there)
			return;
		devices.numbers[devices.count++] = (int)number;
		visible = *end == ',' ? end + 1 : end;
	}
}

EXPORT int cuInit(unsigned flags)
{
	int error = find_fault(__func__);

	if (error)
		return error;
	if (flags)
		return SOFT_INVALID_VALUE;
	pthread_mutex_lock(&devices.lock);
	if (!devices.initialized) {
		find_devices();
		for (int i = 0; i < devices.count; i++)
			devices.primary[i].device = i;
		devices.initialized = devices.count > 0;
	}
	pthread_mutex_unlock(&devices.lock);
	return devices.initialized ? SOFT_OK : SOFT_NO_DEVICE;
}

EXPORT int cuDriverGetVersion(int *version)
{
	*version = 12000;
	return SOFT_OK;
}

EXPORT int cuDeviceGetCount(int *count)
{
	ENTER();
	*count = devices.count;
	return SOFT_OK;
}

EXPORT int cuDeviceGet(int *device, int ordinal)
{
	ENTER();
	if (!soft_is_device(ordinal))
		return SOFT_INVALID_DEVICE;
	*device = ordinal;
	return SOFT_OK;
}

EXPORT int cuDeviceGetName(char *name, int length, int device)
{
	ENTER();
	if (!soft_is_device(device))
		return SOFT_INVALID_DEVICE;
	snprintf(name, (size_t)length, "Software GPU");
	return SOFT_OK;
}

EXPORT int cuDeviceGetPCIBusId(char *id, int length, int device)
{
	ENTER();
	if (!soft_is_device(device))
		return SOFT_INVALID_DEVICE;
	snprintf(id, (size_t)length, "0000:%02x:00.0", devices.numbers[device] + 1);
	return SOFT_OK;
}

EXPORT int cuDeviceGetUuid_v2(char uuid[16], int device)
{
	ENTER();
	if (!soft_is_device(device))
		return SOFT_INVALID_DEVICE;
	memcpy(uuid, "software-gpu-000", 16);
	uuid[15] = (char)('0' + devices.numbers[device]);
	return SOFT_OK;
}

EXPORT int cuDeviceTotalMem_v2(size_t *bytes, int device)
{
	ENTER();
	if (!soft_is_device(device))
		return SOFT_INVALID_DEVICE;
	*bytes = (size_t)soft_setting("SOFT_CUDA_MEMORY", 1 << 30);
	return SOFT_OK;
}

EXPORT int cuDeviceCanAccessPeer(int *can, int device, int peer)
{
	ENTER();
	if (!soft_is_device(device) || !soft_is_device(peer))
		return SOFT_INVALID_DEVICE;
	*can = device != peer && soft_setting("SOFT_CUDA_PEER", 1);
	return SOFT_OK;
}

/* Attributes that nobody asked for yet are an error, so that one is not taken for 0. */
EXPORT int cuDeviceGetAttribute(int *value, int attribute, int device)
{
	int integrated = (int)soft_setting("SOFT_CUDA_INTEGRATED", 0);

	ENTER();
	if (!soft_is_device(device))
		return SOFT_INVALID_DEVICE;
	switch (attribute) {
	case 1: *value = 1024; break;			      /* threads of a block */
	case 16: *value = 4; break;			      /* multiprocessors */
	case 18: *value = integrated; break;		      /* shares the processor's memory */
	case 19: *value = 1; break;			      /* maps host memory */
	case 33: *value = devices.numbers[device] + 1; break; /* PCI bus */
	case 34:
	case 50: *value = 0; break; /* PCI device, domain */
	case 40: *value = 2; break; /* engines for copies */
	case 41: *value = 1; break; /* one space of addresses */
	case 75: *value = 7; break; /* compute capability 7.5 */
	case 76: *value = 5; break;
	case 83:
	case 86:
	case 88:
	case 89:
	case 101: *value = 0; break; /* managed and pageable memory, host atomics */
	case 91: *value = 1; break;  /* registered memory has one address */
	case 99: *value = soft_setting("SOFT_CUDA_REGISTER", 1) != 0; break;
	case 116:
	case 124: *value = 0; break; /* direct access of NICs, DMA buffers */
	case 125: *value = 0; break; /* events between processes */
	default: return SOFT_INVALID_VALUE;
	}
	return SOFT_OK;
}

EXPORT int cuDevicePrimaryCtxRetain(struct soft_context **context, int device)
{
	ENTER();
	if (!soft_is_device(device))
		return SOFT_INVALID_DEVICE;
	pthread_mutex_lock(&devices.lock);
	devices.primary[device].retained++;
	pthread_mutex_unlock(&devices.lock);
	*context = &devices.primary[device];
	return SOFT_OK;
}

EXPORT int cuDevicePrimaryCtxRelease_v2(int device)
{
	ENTER();
	if (!soft_is_device(device))
		return SOFT_INVALID_DEVICE;
	pthread_mutex_lock(&devices.lock);
	if (devices.primary[device].retained == 0) {
		pthread_mutex_unlock(&devices.lock);
		return SOFT_INVALID_CONTEXT;
	}
	devices.primary[device].retained--;
	pthread_mutex_unlock(&devices.lock);
	return SOFT_OK;
}

EXPORT int cuCtxGetCurrent(struct soft_context **context)
{
	ENTER();
	*context = soft_context();
	return SOFT_OK;
}

EXPORT int cuCtxSetCurrent(struct soft_context *context)
{
	ENTER();
	stack.context[stack.depth] = context;
	return SOFT_OK;
}

EXPORT int cuCtxPushCurrent_v2(struct soft_context *context)
{
	ENTER();
	if (!context || stack.depth + 1 == DEEPEST)
		return SOFT_INVALID_CONTEXT;
	stack.context[++stack.depth] = context;
	return SOFT_OK;
}

EXPORT int cuCtxPopCurrent_v2(struct soft_context **context)
{
	ENTER();
	if (!soft_context())
		return SOFT_INVALID_CONTEXT;
	if (context)
		*context = soft_context();
	stack.context[stack.depth] = NULL;
	if (stack.depth > 0)
		stack.depth--;
	return SOFT_OK;
}

EXPORT int cuCtxGetDevice(int *device)
{
	ENTER_CONTEXT();
	*device = soft_context()->device;
	return SOFT_OK;
}

static const struct {
	int error;
	const char *name, *text;
} errors[] = {
	{SOFT_OK, "CUDA_SUCCESS", "no error"},
	{SOFT_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
	{SOFT_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
	{SOFT_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
	{SOFT_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
	{SOFT_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
	{SOFT_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
	{SOFT_MAP_FAILED, "CUDA_ERROR_MAP_FAILED", "mapping of buffer object failed"},
	{SOFT_PEER_UNSUPPORTED, "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED", "peer access is not supported"},
	{SOFT_INVALID_PTX, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
	{SOFT_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
	{SOFT_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
	{SOFT_NOT_READY, "CUDA_ERROR_NOT_READY", "device not ready"},
	{SOFT_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
	{SOFT_CONTEXT_DESTROYED, "CUDA_ERROR_CONTEXT_IS_DESTROYED", "context is destroyed"},
	{SOFT_ALREADY_REGISTERED, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED", "memory is already registered"},
	{SOFT_NOT_REGISTERED, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED", "memory is not registered"},
	{SOFT_MISALIGNED, "CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"},
	{SOFT_NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
	{SOFT_UNKNOWN, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

static int find_error(int error)
{
	for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
		if (errors[i].error == error)
			return (int)i;
	return -1;
}

EXPORT int cuGetErrorName(int error, const char **name)
{
	int at = find_error(error);

	*name = at < 0 ? NULL : errors[at].name;
	return at < 0 ? SOFT_INVALID_VALUE : SOFT_OK;
}

EXPORT int cuGetErrorString(int error, const char **text)
{
	int at = find_error(error);

	*text = at < 0 ? NULL : errors[at].text;
	return at < 0 ? SOFT_INVALID_VALUE : SOFT_OK;
}
