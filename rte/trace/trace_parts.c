/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parts of a trace: FILE.PEn, the ring of PE n at the PE's end. A part may be shorter than its head
 * says, if the disk was full or a copy was interrupted: its complete events count.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace_events.h"

/* The parts of a job, by PE; NULL if a part cannot be read. */
struct parts {
	const char *file;
	int count;
	struct trace_ring **ring;
	bool *cut;
};

void trace_part_name(char name[TRACE_PART_NAME], const char *file, int pe)
{
	snprintf(name, TRACE_PART_NAME, "%s.PE%d", file, pe);
}

/* --- Finding parts --- */

/* The PE whose part has this name, -1: none. */
static int pe_of_name(const char *name, const char *file)
{
	const char *base = strrchr(file, '/') ? strrchr(file, '/') + 1 : file;
	size_t length = strlen(base);
	char *end;
	long pe;

	if (strncmp(name, base, length) || strncmp(name + length, ".PE", 3) || name[length + 3] < '0' ||
	    name[length + 3] > '9')
		return -1;
	pe = strtol(name + length + 3, &end, 10);
	return *end || pe > 100000000 ? -1 : (int)pe;
}

/* Calls the function for the PE of each part. */
static void for_each_part(const char *file, void (*function)(int pe, void *argument), void *argument)
{
	char folder[TRACE_PART_NAME];
	size_t length = strrchr(file, '/') ? (size_t)(strrchr(file, '/') - file) + 1 : 0;
	struct dirent *entry;
	DIR *dir;

	if (length >= sizeof folder)
		return;
	memcpy(folder, file, length);
	folder[length] = '\0';
	dir = opendir(length ? folder : ".");
	while (dir && (entry = readdir(dir)))
		if (pe_of_name(entry->d_name, file) >= 0)
			function(pe_of_name(entry->d_name, file), argument);
	if (dir)
		closedir(dir);
}

struct removal {
	const char *file;
	int from_pe;
};

static void remove_one(int pe, void *argument)
{
	const struct removal *removal = argument;
	char name[TRACE_PART_NAME];

	if (pe < removal->from_pe)
		return;
	trace_part_name(name, removal->file, pe);
	unlink(name);
}

void trace_remove_parts(const char *file, int from_pe)
{
	struct removal removal = {file, from_pe};

	for_each_part(file, remove_one, &removal);
}

/* --- Reading --- */

/* Reads a whole file; NULL: it does not exist, or there is no memory. */
static void *read_whole(const char *name, size_t *bytes)
{
	int file = open(name, O_RDONLY | O_CLOEXEC);
	struct stat status;
	char *text = NULL;
	size_t used = 0;
	ssize_t more = 1;

	if (file >= 0 && !fstat(file, &status) && S_ISREG(status.st_mode))
		text = malloc((size_t)status.st_size + 1);
	while (text && used < (size_t)status.st_size && more > 0) {
		more = read(file, text + used, (size_t)status.st_size - used);
		used += more > 0 ? (size_t)more : 0;
	}
	if (file >= 0)
		close(file);
	*bytes = used;
	return text;
}

static void end_names(struct trace_ring *ring)
{
	for (int i = 0; i < TRACE_NAMES; i++) {
		ring->name[i].routine[sizeof ring->name[i].routine - 1] = '\0';
		ring->name[i].category[sizeof ring->name[i].category - 1] = '\0';
		/*
		 * Routine names have only these characters; any other one could end a JSON string.
		 */
		for (char *c = ring->name[i].routine; *c; c++)
			*c = *c < ' ' || *c > '~' || *c == '"' || *c == '\\' ? '?' : *c;
		for (char *c = ring->name[i].category; *c; c++)
			*c = *c < ' ' || *c > '~' || *c == '"' || *c == '\\' ? '?' : *c;
	}
}

/*
 * Events behind the end of the file become empty. An event that was being overwritten when its PE
 * ended is incomplete.
 */
static struct trace_ring *whole_ring(struct trace_ring *ring, size_t bytes, bool *cut)
{
	uint64_t events = (bytes - sizeof *ring) / sizeof ring->event[0], recorded = trace_recorded(ring);
	struct trace_ring *whole;

	*cut = recorded > events && events < ring->capacity;
	if (!*cut) {
		if (recorded > ring->capacity)
			ring->event[recorded % ring->capacity].kind = TRACE_NONE;
		return ring;
	}
	whole = calloc(1, trace_ring_bytes(ring->capacity));
	if (whole)
		memcpy(whole, ring, trace_ring_bytes(events));
	free(ring);
	return whole;
}

static bool is_of_job(const struct trace_ring *ring, size_t bytes, int pe)
{
	return bytes >= sizeof *ring && ring->magic == TRACE_MAGIC && ring->pe == pe && ring->n_pes > pe &&
	       ring->capacity > 0 && ring->capacity < UINT64_MAX / 2 / sizeof ring->event[0];
}

static struct trace_ring *read_part(const char *file, int pe, bool *cut)
{
	char name[TRACE_PART_NAME];
	struct trace_ring *ring;
	size_t bytes;

	*cut = false;
	trace_part_name(name, file, pe);
	ring = read_whole(name, &bytes);
	if (!ring || !is_of_job(ring, bytes, pe)) {
		free(ring);
		return NULL;
	}
	end_names(ring);
	return whole_ring(ring, bytes, cut);
}

static void count_pes(int pe, void *argument)
{
	struct parts *parts = argument;
	bool cut;
	struct trace_ring *ring = read_part(parts->file, pe, &cut);

	if (ring && ring->n_pes > parts->count)
		parts->count = ring->n_pes;
	free(ring);
}

static bool read_parts(struct parts *parts)
{
	for_each_part(parts->file, count_pes, parts);
	parts->ring = calloc((size_t)parts->count + 1, sizeof(struct trace_ring *));
	parts->cut = calloc((size_t)parts->count + 1, sizeof *parts->cut);
	for (int pe = 0; parts->ring && parts->cut && pe < parts->count; pe++)
		parts->ring[pe] = read_part(parts->file, pe, &parts->cut[pe]);
	return parts->ring && parts->cut;
}

static void free_parts(struct parts *parts)
{
	for (int pe = 0; parts->ring && pe < parts->count; pe++)
		free(parts->ring[pe]);
	free(parts->ring);
	free(parts->cut);
}

/* --- Joining --- */

/* Adds "1-3, 7" to the text, as far as it fits. */
static void name_pes(char *text, size_t size, const struct parts *parts, bool cut)
{
	const char *comma = "";

	for (int pe = 0, last; pe < parts->count; pe = last + 1) {
		size_t used = strlen(text);

		last = pe;
		if (cut ? !parts->cut[pe] : parts->ring[pe] != NULL)
			continue;
		while (last + 1 < parts->count && (cut ? parts->cut[last + 1] : !parts->ring[last + 1]))
			last++;
		if (used + 32 > size) {
			snprintf(text + used, size - used, ", ...");
			return;
		}
		if (last > pe)
			snprintf(text + used, size - used, "%s%d-%d", comma, pe, last);
		else
			snprintf(text + used, size - used, "%s%d", comma, pe);
		comma = ", ";
	}
}

static void describe_missing(struct trace_joined *joined, const struct parts *parts)
{
	char *text = joined->which;
	size_t size = sizeof joined->which;

	for (int pe = 0; pe < parts->count; pe++) {
		joined->absent += parts->ring[pe] == NULL && !parts->cut[pe];
		joined->cut += parts->cut[pe];
	}
	if (joined->absent) {
		snprintf(text, size, "; there is no part of PE%s ", joined->absent > 1 ? "s" : "");
		name_pes(text, size / 2, parts, false);
	}
	if (joined->cut) {
		size_t used = strlen(text);

		snprintf(text + used, size - used, "; the part%s of PE%s ", joined->cut > 1 ? "s" : "",
			 joined->cut > 1 ? "s" : "");
		name_pes(text, size - 32, parts, true);
		used = strlen(text);
		snprintf(text + used, size - used, " %s cut off", joined->cut > 1 ? "are" : "is");
	}
}

/* Returns false if there was no memory; arrows of the PE are then missing. */
static bool resolve_part(struct parts *parts, int pe)
{
	for (int other = 0; other < parts->count; other++)
		if (parts->ring[other] && !trace_resolve(parts->ring[pe], parts->ring[other]))
			return false;
	return true;
}

static void write_part(struct plain_text *text, const struct trace_ring *ring)
{
	uint64_t recorded = trace_recorded(ring);

	trace_write_names(text, ring->pe);
	for (uint64_t i = trace_first(ring); i < recorded; i++) {
		const struct trace_event *e = &ring->event[i % ring->capacity];

		if (e->pe >= -1 && e->pe < ring->n_pes)
			trace_write_event(text, ring, e, (int64_t)i);
	}
	trace_write_unfinished(text, ring);
}

static int write_trace(const struct parts *parts, int file)
{
	struct plain_text text = {.file = file};

	plain_put(&text, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
	for (int pe = 0; pe < parts->count; pe++)
		if (parts->ring[pe])
			write_part(&text, parts->ring[pe]);
	plain_put(&text, "\n{\"ph\":\"M\",\"name\":\"joined\",\"pid\":0,\"args\":{\"pes\":%d}}\n]}\n", parts->count);
	plain_flush(&text);
	return text.failed;
}

static bool join_parts(struct parts *parts, struct trace_joined *joined)
{
	int file, failed;

	for (int pe = 0; pe < parts->count; pe++)
		if (parts->ring[pe] && !resolve_part(parts, pe)) {
			snprintf(joined->problem, sizeof joined->problem, "no memory");
			return false;
		}
	file = open(parts->file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	failed = file < 0 ? errno : write_trace(parts, file);
	if (file >= 0 && close(file) && !failed)
		failed = errno;
	if (failed)
		snprintf(joined->problem, sizeof joined->problem, "%s", strerror(failed));
	else
		trace_remove_parts(parts->file, 0);
	return !failed;
}

bool trace_join(const char *file, struct trace_joined *joined)
{
	struct parts parts = {.file = file};
	bool done = true;

	*joined = (struct trace_joined){0};
	if (strlen(file) + 16 > TRACE_PART_NAME) {
		snprintf(joined->problem, sizeof joined->problem, "the name is too long");
		return false;
	}
	if (!read_parts(&parts)) {
		snprintf(joined->problem, sizeof joined->problem, "no memory");
		done = false;
	} else if (parts.count > 0) {
		joined->pes = parts.count;
		describe_missing(joined, &parts);
		done = join_parts(&parts, joined);
	}
	free_parts(&parts);
	return done;
}
