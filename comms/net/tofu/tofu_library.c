/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Search order: only the folder of configure --with-tofu=DIR, if given. Otherwise the system's
 * folders, for a machine with Fujitsu's libraries, and then the places of software Tofu: the folder
 * softofu/ beside this library, in a build tree, and where it was to be installed. SOFTOFU_SHAPE
 * asks for software Tofu, which is then searched first. Both libraries come from one place.
 */
#include "tofu_library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct utofu_library utofu;
struct jtofu_library jtofu;
struct softofu_library softofu;

enum { FILE_NAME = TOFU_PROBLEM + 32 };

static struct {
	bool loaded;
	char utofu_file[FILE_NAME];
} tofu_libraries;

/* A prefix of both libraries' file names. */
struct tofu_place {
	char text[TOFU_PROBLEM];
};

static const char *const folders_given[] = {TOFU_FOLDER "/lib64/", TOFU_FOLDER "/lib/"};
static const char *const folders_beside[] = {"softofu/", "", ".libs/", "../lib/softofu/"};
#define LENGTH_OF(list) (sizeof(list) / sizeof((list)[0]))
enum { MOST_PLACES = 8 };

static size_t add_system(struct tofu_place *places)
{
	places[0].text[0] = 0;
	return 1;
}

/*
 * The file that contains this code. For a program found in PATH only the kernel knows the full
 * name.
 */
static void find_own_file(char file[TOFU_PROBLEM])
{
	Dl_info info;
	ssize_t length;

	if (dladdr((void *)(uintptr_t)tofu_library_load, &info) && strchr(info.dli_fname, '/')) {
		snprintf(file, TOFU_PROBLEM, "%s", info.dli_fname);
		return;
	}
	length = readlink("/proc/self/exe", file, TOFU_PROBLEM - 1);
	file[length > 0 ? length : 0] = 0;
}

/* Places of software Tofu: beside this library, and where both were to be installed. */
static size_t add_software(struct tofu_place *places)
{
	char own_file[TOFU_PROBLEM], *end;
	size_t count = 0;

	find_own_file(own_file);
	end = strrchr(own_file, '/');
	for (size_t i = 0; end && i < LENGTH_OF(folders_beside); i++)
		snprintf(places[count++].text, sizeof places->text, "%.*s/%.20s", (int)(end - own_file), own_file,
			 folders_beside[i]);
	snprintf(places[count++].text, sizeof places->text, "%s/", TOFU_LIBDIR);
	return count;
}

static size_t find_places(struct tofu_place places[MOST_PLACES])
{
	const char *shape = getenv("SOFTOFU_SHAPE");
	size_t count = 0;

	for (; TOFU_FOLDER[0] && count < LENGTH_OF(folders_given); count++)
		snprintf(places[count].text, sizeof places->text, "%s", folders_given[count]);
	if (count)
		return count;
	if (shape && *shape) {
		count = add_software(places);
		return count + add_system(places + count);
	}
	count = add_system(places);
	return count + add_software(places + count);
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

/* With dlsym, pointers to functions and to data have the same representation. */
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

static void *open_tofu_library(const struct tofu_place *place, const char *name, char file[FILE_NAME],
			       char problem[TOFU_PROBLEM])
{
	void *library;

	snprintf(file, FILE_NAME, "%.*s%.31s", TOFU_PROBLEM - 1, place->text, name);
	library = dlopen(file, RTLD_NOW | RTLD_GLOBAL);
	if (!library)
		snprintf(problem, TOFU_PROBLEM, "%s", dlerror());
	return library;
}

/*
 * The second library must come from the same place as the first: Fujitsu's and software Tofu's do
 * not work together.
 */
static bool load_from(const struct tofu_place *place, bool *here, char problem[TOFU_PROBLEM])
{
	char jtofu_file[FILE_NAME];
	void *tofucom = open_tofu_library(place, "libtofucom.so", tofu_libraries.utofu_file, problem), *jtofu_library;

	*here = tofucom != NULL;
	if (!tofucom ||
	    !find_symbols(tofucom, utofu_symbols, LENGTH_OF(utofu_symbols), tofu_libraries.utofu_file, problem))
		return false;
	jtofu_library = open_tofu_library(place, "libjtofu.so", jtofu_file, problem);
	if (!jtofu_library ||
	    !find_symbols(jtofu_library, jtofu_symbols, LENGTH_OF(jtofu_symbols), jtofu_file, problem))
		return false;
	for (size_t i = 0; i < LENGTH_OF(softofu_symbols); i++)
		find_symbol(tofucom, &softofu_symbols[i]);
	find_symbol(jtofu_library, &settings_symbol);
	return true;
}

bool tofu_library_load(char problem[TOFU_PROBLEM])
{
	struct tofu_place places[MOST_PLACES];
	size_t count = tofu_libraries.loaded ? 0 : find_places(places);
	bool here = false;

	for (size_t i = 0; i < count && !here; i++)
		tofu_libraries.loaded = load_from(&places[i], &here, problem);
	return tofu_libraries.loaded;
}

const char *tofu_library_file(void)
{
	return tofu_libraries.utofu_file;
}
