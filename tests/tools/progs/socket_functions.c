/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * LD_PRELOAD: what a UCX with packaging/patches/ucx-socket-functions.patch does. It takes functions
 * by ucp_set_socket_functions, and calls them instead of listen, accept and connect. Here all
 * libraries of the process call them.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/socket.h>

static int (*set_listen)(int, int);
static int (*set_accept)(int, struct sockaddr *, socklen_t *);
static int (*set_connect)(int, const struct sockaddr *, socklen_t);
static _Thread_local int inside; /* a function that was set calls the C library's */

void ucp_set_socket_functions(int (*new_listen)(int, int), int (*new_accept)(int, struct sockaddr *, socklen_t *),
			      int (*new_connect)(int, const struct sockaddr *, socklen_t))
{
	set_listen = new_listen;
	set_accept = new_accept;
	set_connect = new_connect;
}

#define CALL(name, ...)                                                                \
	({                                                                             \
		__typeof__(set_##name) next;                                           \
		int result;                                                            \
                                                                                       \
		*(void **)&next = dlsym(RTLD_NEXT, #name);                             \
		inside++;                                                              \
		result = (inside == 1 && set_##name ? set_##name : next)(__VA_ARGS__); \
		inside--;                                                              \
		result;                                                                \
	})

int listen(int fd, int backlog)
{
	return CALL(listen, fd, backlog);
}

int accept(int fd, struct sockaddr *address, socklen_t *length)
{
	return CALL(accept, fd, address, length);
}

int connect(int fd, const struct sockaddr *address, socklen_t length)
{
	return CALL(connect, fd, address, length);
}
