/* SPDX-License-Identifier: BSD-3-Clause */
/* GPUs: whether the driver can be loaded as a job would do it, and which GPUs it finds. */
#include "report.h"

#include <stdio.h>

#include "comms/gpu/driver.h"
#include "rte/text/text.h"

/* The driver tells the memory of a device without a context on it, which would take some of it. */
static void report_device(struct report *report, const struct gpu_driver *driver, int number)
{
	int device, integrated = 0;
	char name[96] = "a GPU", key[32], size[32];
	size_t bytes = 0;

	if (driver->device_get(&device, number) != GPU_OK)
		return;
	driver->device_name(name, sizeof name, device);
	driver->device_memory(&bytes, device);
	driver->device_attribute(&integrated, GPU_ATTRIBUTE_INTEGRATED, device);
	snprintf(key, sizeof key, "gpu.%d", number);
	report_fact(report, key, "GPU", "%s, %s%s", name, text_size(bytes, size),
		    integrated ? ", shares the host's memory" : "");
}

void report_gpu(struct report *report)
{
	const char *problem;
	const struct gpu_driver *driver = gpu_driver_load(&problem);
	int version = 0, devices = 0;

	report_section(report, "gpu", "GPUs");
	if (!driver) {
		report_fact(report, "memory", "memory", "no: %s", problem);
		return;
	}
	driver->version(&version);
	driver->device_count(&devices);
	report_fact(report, "memory", "memory", "yes, if a program asks for it: see shmemg(3)");
	report_fact(report, "driver", "driver", "for CUDA %d.%d", version / 1000, version % 1000 / 10);
	for (int i = 0; i < devices; i++)
		report_device(report, driver, i);
}
