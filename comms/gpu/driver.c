/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads CUDA's driver. */
#include "driver.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#if HAVE_CUDA

static struct gpu_driver driver;
static char missing[160];

static bool find_functions(void *library)
{
	static const struct {
		const char *name;
		void *to;
	} wanted[] = {
#define FUNCTION(field, name, arguments) {#name, &driver.field},
#include "driver.def"
#undef FUNCTION
	};

	for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
		void *function = dlsym(library, wanted[i].name);

		if (!function) {
			snprintf(missing, sizeof missing, "libcuda.so.1 lacks %s; update the GPU's driver",
				 wanted[i].name);
			return false;
		}
		memcpy(wanted[i].to, &function, sizeof function);
	}
	return true;
}

const struct gpu_driver *gpu_driver_load(const char **problem)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW);
	int error, devices = 0;

	*problem = missing;
	if (!library) {
		*problem = "libcuda.so.1 cannot be loaded: no driver of a GPU is installed";
		return NULL;
	}
	if (!find_functions(library))
		return NULL;
	error = driver.init(0);
	if (error == GPU_OK)
		error = driver.device_count(&devices);
	if (error != GPU_OK) {
		snprintf(missing, sizeof missing, "the GPU's driver fails: %s", gpu_driver_error(&driver, error));
		return NULL;
	}
	if (devices == 0) {
		*problem = "the driver finds no GPU";
		return NULL;
	}
	return &driver;
}

#else

const struct gpu_driver *gpu_driver_load(const char **problem)
{
	*problem = "this library was configured --without-cuda";
	return NULL;
}

#endif

const char *gpu_driver_error(const struct gpu_driver *from, int error)
{
	static _Thread_local char number[32];
	const char *text = NULL;

	if (from->error_string(error, &text) == GPU_OK && text)
		return text;
	snprintf(number, sizeof number, "error %d", error);
	return number;
}
