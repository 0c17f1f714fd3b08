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

enum { FILE_NAME = TOFU_PROBLEM + 32 };

static struct {
	bool loaded;
	char own_folder[TOFU_PROBLEM], utofu_file[FILE_NAME];
} tofu_libraries;

static const char *const folders_given[] = {TOFU_FOLDER "/lib64/", TOFU_FOLDER "/lib/"};
static const char *const folders_beside[] = {"", ".libs/", "../lib/"};

static void find_own_folder(void)
{
	Dl_info info;
	const char *end = dladdr((void *)(uintptr_t)tofu_library_load, &info) ? strrchr(info.dli_fname, '/') : NULL;

	if (end)
		snprintf(tofu_libraries.own_folder, sizeof tofu_libraries.own_folder, "%.*s",
			 (int)(end + 1 - info.dli_fname), info.dli_fname);
}

static void *open_in(const char *folder, const char *inner, const char *name, char file[FILE_NAME])
{
	snprintf(file, FILE_NAME, "%s%s%s", folder, inner, name);
	return dlopen(file, RTLD_NOW | RTLD_GLOBAL);
}

static void *open_tofu_library(const char *name, char file[FILE_NAME])
{
	void *library = NULL;

	if (TOFU_FOLDER[0]) {
		for (size_t i = 0; !library && i < sizeof folders_given / sizeof folders_given[0]; i++)
			library = open_in(folders_given[i], "", name, file);
		return library;
	}
	for (size_t i = 0;
	     !library && tofu_libraries.own_folder[0] && i < sizeof folders_beside / sizeof folders_beside[0]; i++)
		library = open_in(tofu_libraries.own_folder, folders_beside[i], name, file);
	if (!library)
		library = open_in(TOFU_LIBDIR, "/", name, file);
	return library ? library : open_in("", "", name, file);
}

struct wanted {
	const char *name;
	void *to;
};
#define TOFU_WANTED(library, name) {#library "_" #name, &library.name},
static const struct wanted utofu_symbols[] = {UTOFU_FUNCTIONS(TOFU_WANTED)},
			   jtofu_symbols[] = {JTOFU_FUNCTIONS(TOFU_WANTED)};

static const struct wanted settings_symbol = {"jtofu_create_mapinfo_by_envvars", &softofu.create_map};
static const struct wanted softofu_symbols[] = {
	{"softofu_record_when_needed", &softofu.record_when_needed},
	{"softofu_record_needed", &softofu.record_needed},
};

/* Pointers to functions and to data are alike where there is dlsym. */
static bool find_symbol(void *library, const struct wanted *wanted)
{
	void *function = dlsym(library, wanted->name);

	if (function)
		memcpy(wanted->to, &function, sizeof function);
	return function != NULL;
}

static bool find_symbols(void *library, const struct wanted *wanted, size_t count, const char *file,
			 char problem[TOFU_PROBLEM])
{
	for (size_t i = 0; i < count; i++) {
		if (!find_symbol(library, &wanted[i])) {
			snprintf(problem, TOFU_PROBLEM, "%.400s has no %s", file, wanted[i].name);
			return false;
		}
	}
	return true;
}

static void *load_tofu_library(const char *name, const struct wanted *wanted, size_t count, char file[FILE_NAME],
			       char problem[TOFU_PROBLEM])
{
	void *library = open_tofu_library(name, file);

	if (!library)
		snprintf(problem, TOFU_PROBLEM, "%s", dlerror());
	return library && find_symbols(library, wanted, count, file, problem) ? library : NULL;
}

bool tofu_library_load(char problem[TOFU_PROBLEM])
{
	char jtofu_file[FILE_NAME];
	void *tofucom, *jtofu_library;

	if (tofu_libraries.loaded)
		return true;
	find_own_folder();
	tofucom = load_tofu_library("libtofucom.so", utofu_symbols, sizeof utofu_symbols / sizeof utofu_symbols[0],
				    tofu_libraries.utofu_file, problem);
	for (size_t i = 0; tofucom && i < sizeof softofu_symbols / sizeof softofu_symbols[0]; i++)
		find_symbol(tofucom, &softofu_symbols[i]);
	jtofu_library = tofucom ? load_tofu_library("libjtofu.so", jtofu_symbols,
						    sizeof jtofu_symbols / sizeof jtofu_symbols[0], jtofu_file, problem)
				: NULL;
	if (jtofu_library)
		find_symbol(jtofu_library, &settings_symbol);
	tofu_libraries.loaded = jtofu_library != NULL;
	return tofu_libraries.loaded;
}

const char *tofu_library_file(void)
{
	return tofu_libraries.utofu_file;
}
