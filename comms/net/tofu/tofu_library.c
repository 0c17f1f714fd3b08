/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the libraries are searched: where configure --with-tofu=DIR said; else beside this library, as software Tofu is
 * installed; in a build tree; where this library was to be installed; and the search path of the system.
 */
#include "tofu_library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

struct utofu_library utofu;
struct jtofu_library jtofu;
struct softofu_library softofu;

static char own_folder[TOFU_PROBLEM], utofu_file[TOFU_PROBLEM + 32];
static bool loaded;

static const char *const given[] = {TOFU_FOLDER "/lib64/", TOFU_FOLDER "/lib/"};
static const char *const beside[] = {"", ".libs/", "../lib/"};

static void find_own_folder(void)
{
	Dl_info info;
	const char *end = dladdr((void *)(uintptr_t)tofu_library_load, &info) ? strrchr(info.dli_fname, '/') : NULL;

	if (end)
		snprintf(own_folder, sizeof own_folder, "%.*s", (int)(end + 1 - info.dli_fname), info.dli_fname);
}

static void *open_in(const char *folder, const char *inner, const char *name, char file[sizeof utofu_file])
{
	snprintf(file, sizeof utofu_file, "%s%s%s", folder, inner, name);
	return dlopen(file, RTLD_NOW | RTLD_GLOBAL);
}

static void *open_library(const char *name, char file[sizeof utofu_file])
{
	void *library = NULL;

	if (TOFU_FOLDER[0]) {
		for (size_t i = 0; !library && i < sizeof given / sizeof given[0]; i++)
			library = open_in(given[i], "", name, file);
		return library;
	}
	for (size_t i = 0; !library && own_folder[0] && i < sizeof beside / sizeof beside[0]; i++)
		library = open_in(own_folder, beside[i], name, file);
	if (!library)
		library = open_in(TOFU_LIBDIR, "/", name, file);
	return library ? library : open_in("", "", name, file);
}

struct wanted {
	const char *name;
	void *to;
};
#define TOFU_WANTED(library, name) {#library "_" #name, &library.name},
static const struct wanted of_utofu[] = {UTOFU_FUNCTIONS(TOFU_WANTED)}, of_jtofu[] = {JTOFU_FUNCTIONS(TOFU_WANTED)};

static const struct wanted of_settings = {"jtofu_create_mapinfo_by_envvars", &softofu.create_map};
static const struct wanted of_softofu[] = {
	{"softofu_record_when_needed", &softofu.record_when_needed},
	{"softofu_record_needed", &softofu.record_needed},
};

/* Pointers to functions and to data are alike where there is dlsym. */
static bool find(void *library, const struct wanted *wanted)
{
	void *function = dlsym(library, wanted->name);

	if (function)
		memcpy(wanted->to, &function, sizeof function);
	return function != NULL;
}

static bool find_all(void *library, const struct wanted *wanted, size_t count, const char *file, char problem[TOFU_PROBLEM])
{
	for (size_t i = 0; i < count; i++) {
		if (!find(library, &wanted[i])) {
			snprintf(problem, TOFU_PROBLEM, "%.400s has no %s", file, wanted[i].name);
			return false;
		}
	}
	return true;
}

static void *load(const char *name, const struct wanted *wanted, size_t count, char file[sizeof utofu_file], char problem[TOFU_PROBLEM])
{
	void *library = open_library(name, file);

	if (!library)
		snprintf(problem, TOFU_PROBLEM, "%s", dlerror());
	return library && find_all(library, wanted, count, file, problem) ? library : NULL;
}

bool tofu_library_load(char problem[TOFU_PROBLEM])
{
	char jtofu_file[sizeof utofu_file];
	void *tofucom, *jtofu_library;

	if (loaded)
		return true;
	find_own_folder();
	tofucom = load("libtofucom.so", of_utofu, sizeof of_utofu / sizeof of_utofu[0], utofu_file, problem);
	for (size_t i = 0; tofucom && i < sizeof of_softofu / sizeof of_softofu[0]; i++)
		find(tofucom, &of_softofu[i]);
	jtofu_library = tofucom ? load("libjtofu.so", of_jtofu, sizeof of_jtofu / sizeof of_jtofu[0], jtofu_file, problem) : NULL;
	if (jtofu_library)
		find(jtofu_library, &of_settings);
	loaded = jtofu_library != NULL;
	return loaded;
}

const char *tofu_library_file(void)
{
	return utofu_file;
}
