/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The stand-in for CUDA's driver is as strict as the driver: what the tests of the library rely on.
 * LD_LIBRARY_PATH names its folder.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device.h"

#define CHECK(condition)                                                                        \
	do {                                                                                    \
		if (!(condition)) {                                                             \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
			exit(1);                                                                \
		}                                                                               \
	} while (0)

struct shared {
	char bytes[64];
};
static int (*ipc_get)(struct shared *handle, device_address address);
static int (*ipc_open)(device_address *address, struct shared handle, unsigned flags);
static int (*ipc_close)(device_address address);
static int (*pin)(void *memory, size_t bytes, unsigned flags);
static int (*unpin)(void *memory);
static int (*stream_query)(void *stream);
static int (*module_load)(void **module, const void *image);
static int (*module_unload)(void *module);
static int (*module_function)(void **function, void *module, const char *name);
static int (*launch)(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
		     unsigned shared, void *stream, void **arguments, void **extra);

static void find_functions(void)
{
	const struct {
		const char *name;
		void *to;
	} wanted[] = {{"cuIpcGetMemHandle", &ipc_get},		 {"cuIpcOpenMemHandle_v2", &ipc_open},
		      {"cuIpcCloseMemHandle", &ipc_close},	 {"cuMemHostRegister_v2", &pin},
		      {"cuMemHostUnregister", &unpin},		 {"cuStreamQuery", &stream_query},
		      {"cuModuleLoadData", &module_load},	 {"cuModuleUnload", &module_unload},
		      {"cuModuleGetFunction", &module_function}, {"cuLaunchKernel", &launch}};

	for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
		void *symbol = device_symbol(wanted[i].name);

		memcpy(wanted[i].to, &symbol, sizeof symbol);
	}
}

static sigjmp_buf back;

static void jump(int signal)
{
	(void)signal;
	siglongjmp(back, 1);
}

/* The processor cannot touch memory of the GPU. */
static void check_stray_store(char *memory)
{
	struct sigaction action = {.sa_handler = jump}, before;
	volatile bool stored = false;

	sigaction(SIGSEGV, &action, &before);
	if (sigsetjmp(back, 1) == 0) {
		*(volatile char *)memory = 1;
		stored = true;
	}
	sigaction(SIGSEGV, &before, NULL);
	CHECK(!stored);
}

/* A copy in a stream is not there yet when the call returns, at least once in many. */
static void check_asynchronous(char *memory)
{
	void *stream, *pinned;
	bool late = false;

	DEVICE(cuStreamCreate(&stream, 1));
	DEVICE(cuMemHostAlloc(&pinned, 4096, 0));
	for (char i = 1; i < 100; i++) {
		memset(pinned, i, 4096);
		DEVICE(cuMemcpyAsync(device_of(memory), device_of(pinned), 4096, stream));
		late = late || stream_query(stream) == 600;
		DEVICE(cuMemcpyAsync(device_of((char *)pinned + 2048), device_of(memory), 8, stream));
		DEVICE(cuStreamSynchronize(stream));
		CHECK(stream_query(stream) == 0 && ((char *)pinned)[2048] == i);
	}
	CHECK(late);
	/* Of pageable memory the source may change at once. */
	for (char i = 1; i < 100; i++) {
		char source[64], got[64];

		memset(source, i, sizeof source);
		DEVICE(cuMemcpyAsync(device_of(memory), device_of(source), sizeof source, stream));
		memset(source, 0, sizeof source);
		DEVICE(cuMemcpyAsync(device_of(got), device_of(memory), sizeof got, stream));
		CHECK(got[0] == i && got[63] == i);
	}
	DEVICE(cuMemFreeHost(pinned));
}

static void check_limits(char *memory, size_t bytes)
{
	static char pages[8192];
	char small[8];

	CHECK(device.cuMemcpy(device_of(memory + bytes - 4), device_of(small), 8) == 1);
	CHECK(device.cuMemcpy(device_of(memory + bytes + 4096), device_of(small), 8) == 1);
	CHECK(pin(pages, sizeof pages, 0) == 0);
	CHECK(pin(pages + 4096, 64, 0) == 712);
	CHECK(unpin(pages) == 0);
	CHECK(unpin(pages) == 713);
	CHECK(device_owns(memory) && device_owns(memory + bytes - 1) && !device_owns(memory + bytes));
	CHECK(!device_owns(pages));
}

/* Runs this program again to do this, with the handle as its input. Returns its exit code. */
static int run_again(const char *what, const struct shared *handle)
{
	int input[2], status;
	pid_t child;

	CHECK(pipe(input) == 0 && write(input[1], handle, sizeof *handle) == sizeof *handle);
	child = fork();
	if (child == 0) {
		dup2(input[0], 0);
		execl("/proc/self/exe", "stand_in", what, (char *)NULL);
		_exit(1);
	}
	close(input[0]);
	close(input[1]);
	CHECK(waitpid(child, &status, 0) == child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Another process sees the same bytes; this one cannot open its own handle. */
static void check_ipc(char *memory)
{
	struct shared handle;
	device_address address;
	char byte;

	CHECK(ipc_get(&handle, device_of(memory + 100)) == 0);
	CHECK(ipc_open(&address, handle, 1) == 201);
	device_fill(memory, 7, 4096);
	CHECK(run_again("open", &handle) == 0);
	device_copy(&byte, memory, 1);
	CHECK(byte == 9);
	setenv("SOFT_CUDA_IPC", "0", 1);
	CHECK(ipc_get(&handle, device_of(memory)) == 801);
	unsetenv("SOFT_CUDA_IPC");
	setenv("SOFT_CUDA_FAIL", "cuIpcOpenMemHandle_v2=217", 1);
	CHECK(run_again("open", &handle) == 17);
	unsetenv("SOFT_CUDA_FAIL");
}

/* In the other process. */
static int open_handle(void)
{
	struct shared handle;
	device_address address, again;
	char bytes[2];
	int error;

	CHECK(read(0, &handle, sizeof handle) == sizeof handle);
	error = ipc_open(&address, handle, 1);
	if (error)
		return error % 100;
	CHECK(ipc_open(&again, handle, 1) == 0 && again == address);
	check_stray_store((char *)(uintptr_t)address);
	device_copy(bytes, (void *)(uintptr_t)address, 2);
	CHECK(bytes[0] == 7 && bytes[1] == 7);
	device_fill((void *)(uintptr_t)address, 9, 1);
	CHECK(ipc_close(again) == 0 && device_owns((void *)(uintptr_t)address));
	CHECK(ipc_close(address) == 0 && !device_owns((void *)(uintptr_t)address));
	return 0;
}

static const char text[] = ".version 7.0\n.target sm_60\n.visible .entry combine_sum_u32(.param .u64 dest)\n{\n}\n";

/* A kernel reaches pinned memory, and no other of the host: a mistake breaks all later calls. */
static int launch_kernel(bool pinned)
{
	static unsigned numbers[3][64];
	unsigned *dest = numbers[0], *low = numbers[1], *high = numbers[2];
	unsigned long long count = 64;
	static void *module; /* stays loaded after a fault, which no call mends */
	void *function, *arguments[] = {&dest, &low, &high, &count};

	for (unsigned i = 0; i < 64; i++) {
		low[i] = i;
		high[i] = 1000 * i;
	}
	CHECK(module_load(&module, "no text") == 218);
	CHECK(module_load(&module, text) == 0);
	CHECK(module_function(&function, module, "combine_sum_s8") == 500);
	CHECK(module_function(&function, module, "combine_sum_u32") == 0);
	if (pinned)
		CHECK(pin(numbers, sizeof numbers, 0) == 0);
	CHECK(launch(function, 1, 1, 1, 64, 1, 1, 0, NULL, arguments, NULL) == 0);
	if (!pinned) {
		CHECK(device.cuStreamSynchronize(NULL) == 700);
		CHECK(device.cuMemcpy(device_of(dest), device_of(low), 4) == 700);
		return 0;
	}
	DEVICE(cuStreamSynchronize(NULL));
	for (unsigned i = 0; i < 64; i++)
		CHECK(dest[i] == 1001 * i);
	CHECK(unpin(numbers) == 0);
	CHECK(module_unload(module) == 0);
	return 0;
}

static void check_faults(void)
{
	device_address address;

	setenv("SOFT_CUDA_FAIL", "cuMemAlloc_v2:2=2", 1);
	CHECK(device.cuMemAlloc_v2(&address, 8) == 0);
	CHECK(device.cuMemFree_v2(address) == 0);
	CHECK(device.cuMemAlloc_v2(&address, 8) == 2);
	unsetenv("SOFT_CUDA_FAIL");
	CHECK(device.cuMemAlloc_v2(&address, (size_t)2 << 30) == 2);
}

int main(int count, char **arguments)
{
	size_t bytes = 1 << 20;
	struct shared none = {""};
	char *memory;

	device_start();
	find_functions();
	if (count > 1)
		return !strcmp(arguments[1], "open") ? open_handle() : launch_kernel(false);
	memory = device_alloc(bytes);
	check_stray_store(memory);
	check_asynchronous(memory);
	check_limits(memory, bytes);
	check_ipc(memory);
	launch_kernel(true);
	CHECK(run_again("launch", &none) == 0);
	device_free(memory);
	CHECK(!device_owns(memory));
	check_faults();
	return 0;
}
