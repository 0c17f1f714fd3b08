/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the measured layers of paths come to: shares, the model's prediction beside the measured value, what-if. Reads the
 * lines that layers.c printed.
 */
#include "layers_report.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const quantity_names[QUANTITIES] = {"post", "progress", "total", "half", "sent", "came", "satisfied"};

enum { MOST_LAYERS = 8, MOST_PATHS = 10, PATH_NAME = 64, REMARK = 256, MOST_PARTS = 3 * MOST_LAYERS + 4 };

struct number {
	double middle, low, high;
};

struct layer {
	char name[16];
	struct number of[QUANTITIES];
};

struct path {
	char name[PATH_NAME];
	char remark[REMARK]; /* how it was measured */
	int layers;	     /* outermost first; the last does nothing */
	struct layer layer[MOST_LAYERS];
};

/* One bar: its parts, what they add up to, and what was measured. */
struct part {
	char name[32];
	double ns;
};
struct bar {
	const char *what;
	int parts;
	struct part part[MOST_PARTS];
	double predicted, measured, low, high;
};

static struct path paths[MOST_PATHS];
static int n_paths;

/* --- Reading --- */

static struct path *path_of(const char *name)
{
	int p = 0;

	while (p < n_paths && strcmp(paths[p].name, name))
		p++;
	if (p == MOST_PATHS)
		return NULL;
	if (p == n_paths)
		snprintf(paths[n_paths++].name, sizeof paths[p].name, "%s", name);
	return &paths[p];
}

static struct layer *layer_of(struct path *path, const char *name)
{
	int l = 0;

	while (path && l < path->layers && strcmp(path->layer[l].name, name))
		l++;
	if (!path || l == MOST_LAYERS)
		return NULL;
	if (l == path->layers)
		snprintf(path->layer[path->layers++].name, sizeof path->layer[l].name, "%s", name);
	return &path->layer[l];
}

/* "# PATH: how it was measured" */
static bool read_remark(const char *line)
{
	char name[PATH_NAME], remark[REMARK];
	struct path *path;

	if (sscanf(line, "# %63[^:]: %255[^\n]", name, remark) != 2)
		return false;
	path = path_of(name);
	if (path)
		memcpy(path->remark, remark, sizeof remark);
	return path != NULL;
}

static bool read_line(const char *line)
{
	char path[PATH_NAME], name[16], quantity[16];
	struct number n;
	struct layer *layer;

	if (line[0] == '#')
		return read_remark(line);
	if (sscanf(line, "%63[^\t]\t%15[^\t]\t%15[^\t]\t%lf\t%lf\t%lf", path, name, quantity, &n.middle, &n.low,
		   &n.high) != 6)
		return false;
	layer = layer_of(path_of(path), name);
	for (int q = 0; layer && q < QUANTITIES; q++)
		if (!strcmp(quantity, quantity_names[q])) {
			layer->of[q] = n;
			return true;
		}
	return false;
}

static bool read_file(const char *name)
{
	FILE *file = fopen(name, "r");
	char line[512];
	bool good = file != NULL;

	while (good && fgets(line, sizeof line, file))
		good = read_line(line);
	if (!good)
		fprintf(stderr, "breakdown: %s is no file of measured layers\n", name);
	if (file)
		fclose(file);
	return good;
}

/* --- The model --- */

static double middle(const struct path *path, int layer, enum quantity quantity)
{
	return path->layer[layer].of[quantity].middle;
}

static void add(struct bar *bar, double ns, const char *what, const char *layer)
{
	struct part *part = &bar->part[bar->parts++];

	snprintf(part->name, sizeof part->name, "%s%s%s", what, layer[0] ? "." : "", layer);
	part->ns = ns;
	bar->predicted += ns;
}

/* What a layer adds to the one below it. */
static void add_own(struct bar *bar, const struct path *path, enum quantity quantity, const char *what, double off)
{
	int last = path->layers - 2;

	for (int l = 0; l <= last; l++)
		add(bar, middle(path, l, quantity) - (l == last ? off : middle(path, l + 1, quantity)), what,
		    path->layer[l].name);
}

/* overhead = Post + Progress + Misc */
static struct bar injection_of(const struct path *path)
{
	const struct number total = path->layer[0].of[TOTAL];
	struct bar bar = {.what = "injection", .measured = total.middle, .low = total.low, .high = total.high};
	double misc = middle(path, path->layers - 1, POST);

	add_own(&bar, path, POST, "put-post", misc);
	add_own(&bar, path, PROGRESS, "progress", 0);
	add(&bar, misc, "misc", "");
	return bar;
}

static bool is_local(const struct path *path)
{
	return !strncmp(path->name, "local", strlen("local"));
}

/* What half of there and back leaves when its post and the poll that finds the message are taken off. */
static double transfer(const struct path *path, int layer)
{
	return middle(path, layer, HALF) - middle(path, layer, SENT) - middle(path, layer, CAME);
}

/*
 * On a node the transfer is what bare there and back leaves; what the layers above take is what each sees its own message later by than the
 * one below.
 */
static void add_local_latency(struct bar *bar, const struct path *path)
{
	int floor = path->layers - 2;
	double misc = middle(path, floor + 1, POST);

	for (int l = 0; l < floor; l++)
		add(bar, middle(path, l, SENT) - middle(path, l + 1, SENT), "put-post", path->layer[l].name);
	add(bar, middle(path, floor, POST) - misc, "put-post", "floor");
	add(bar, middle(path, floor, HALF) - middle(path, floor, POST) - middle(path, floor, SATISFIED), "transfer",
	    "floor");
	add(bar, middle(path, 0, SATISFIED), "progress", "shmem");
	add(bar, misc, "misc", "");
}

/*
 * Over a network posts and polls of each layer are stamped, down from the one that the program's call calls; what that call adds to
 * Post, a nanosecond or two, is known from the injection, and to Progress, from waits for what is there.
 */
static void add_network_latency(struct bar *bar, const struct path *path)
{
	int floor = path->layers - 2;
	double misc = middle(path, floor + 1, POST);

	add(bar, middle(path, 0, POST) - middle(path, 1, POST), "put-post", "shmem");
	for (int l = 1; l <= floor; l++)
		add(bar, middle(path, l, SENT) - (l < floor ? middle(path, l + 1, SENT) : misc), "put-post",
		    path->layer[l].name);
	for (int l = floor; l >= 1; l--)
		add(bar, transfer(path, l) - (l < floor ? transfer(path, l + 1) : 0), "transfer", path->layer[l].name);
	for (int l = 1; l <= floor; l++)
		add(bar, middle(path, l, CAME) - (l < floor ? middle(path, l + 1, CAME) : 0), "progress",
		    path->layer[l].name);
	add(bar, middle(path, 0, SATISFIED) - middle(path, 1, SATISFIED), "progress", "shmem");
	add(bar, misc, "misc", "");
}

/* latency = Post + transfer + Progress */
static struct bar latency_of(const struct path *path)
{
	const struct number half = path->layer[0].of[HALF];
	struct bar bar = {.what = "latency", .measured = half.middle, .low = half.low, .high = half.high};

	if (is_local(path))
		add_local_latency(&bar, path);
	else
		add_network_latency(&bar, path);
	return bar;
}

/* --- What if --- */

struct change {
	char name[32];
	double share, ns; /* added to the part: of it, and besides */
};

/* "put-post=-50%", "put-post.ucp=+20ns". A name without a layer is of all of them. */
static bool read_change(const char *text, struct change *change)
{
	char unit[8];
	double amount;

	*change = (struct change){0};
	if (sscanf(text, "%31[a-z.-]=%lf%7s", change->name, &amount, unit) != 3)
		return false;
	if (!strcmp(unit, "%"))
		change->share = amount / 100;
	else if (!strcmp(unit, "ns"))
		change->ns = amount;
	else
		return false;
	return true;
}

static bool concerns(const struct change *change, const struct part *part)
{
	size_t length = strlen(change->name);

	return !strncmp(part->name, change->name, length) && (part->name[length] == '\0' || part->name[length] == '.');
}

/* By how much the whole changes. Nanoseconds are meant once, not for each layer. */
static double effect(const struct bar *bar, const struct change *change)
{
	double sum = 0;
	int found = 0;

	for (int i = 0; i < bar->parts; i++)
		if (concerns(change, &bar->part[i])) {
			sum += change->share * bar->part[i].ns;
			found++;
		}
	return found ? sum + change->ns : 0;
}

/* --- Showing --- */

static double part_of(double ns, double whole)
{
	return whole > 0 ? 100 * ns / whole : 0;
}

static void show_table(const struct path *path, const struct bar *bar, const struct change *change)
{
	double now = effect(bar, change);

	printf("%s, %s of 8 bytes\n", path->name, bar->what);
	if (path->remark[0])
		printf("  (%s)\n", path->remark);
	for (int i = 0; i < bar->parts; i++)
		printf("  %-18s %12.1f ns %7.2f %%\n", bar->part[i].name, bar->part[i].ns,
		       part_of(bar->part[i].ns, bar->measured));
	printf("  %-18s %12.1f ns %7.2f %%\n", "residual", bar->measured - bar->predicted,
	       part_of(bar->measured - bar->predicted, bar->measured));
	printf("  %-18s %12.1f ns\n  %-18s %12.1f ns  (quartiles %.1f .. %.1f)\n", "model", bar->predicted, "measured",
	       bar->measured, bar->low, bar->high);
	if (change->name[0])
		printf("  what if %s%+g%s: %.1f ns, %+.2f %%\n", change->name,
		       change->share ? 100 * change->share : change->ns, change->share ? " %" : " ns",
		       bar->measured + now, part_of(now, bar->measured));
	putchar('\n');
}

/* Beside the same path with one layer slowed down, which was measured in the same rounds: what that changed. */
static void show_changes(const struct path *slowed, const struct bar *plain, const struct bar *slow)
{
	printf("%s, %s of 8 bytes: what that changes\n", slowed->name, plain->what);
	for (int i = 0; i < plain->parts; i++)
		printf("  %-18s %12.1f ns -> %10.1f ns %+10.1f ns\n", plain->part[i].name, plain->part[i].ns,
		       slow->part[i].ns, slow->part[i].ns - plain->part[i].ns);
	printf("  %-18s %12.1f ns -> %10.1f ns %+10.1f ns\n\n", "measured", plain->measured, slow->measured,
	       slow->measured - plain->measured);
}

static const struct path *plain_path_of(const struct path *slowed)
{
	size_t length = strcspn(slowed->name, ",");

	for (int p = 0; slowed->name[length] && p < n_paths; p++)
		if (strlen(paths[p].name) == length && !strncmp(paths[p].name, slowed->name, length))
			return &paths[p];
	return NULL;
}

static void show_json(const struct path *path, const struct bar *bar, const struct change *change, bool first)
{
	printf("%s\n{\"path\": \"%s\", \"what\": \"%s\", \"measured\": %.3f, \"low\": %.3f, \"high\": %.3f, \"model\": %.3f, "
	       "\"residual\": %.3f, \"parts\": [",
	       first ? "" : ",", path->name, bar->what, bar->measured, bar->low, bar->high, bar->predicted,
	       bar->measured - bar->predicted);
	for (int i = 0; i < bar->parts; i++)
		printf("%s{\"name\": \"%s\", \"ns\": %.3f}", i ? ", " : "", bar->part[i].name, bar->part[i].ns);
	printf("], \"rounds\": \"%s\"", path->remark);
	if (change->name[0])
		printf(", \"what_if\": %.3f", bar->measured + effect(bar, change));
	printf("}");
}

/* One bar, each part as long as its share; what is negative is left out. */
static void show_svg(const struct path *path, const struct bar *bar, int row)
{
	static const char *const colours[] = {"#4477aa", "#66ccee", "#228833", "#ccbb44", "#ee6677",
					      "#aa3377", "#bbbbbb", "#44aa99", "#999933", "#882255"};
	double at = 150, sum = 0, residual = fmax(bar->measured - bar->predicted, 0);
	int y = 40 + row * 70;

	for (int i = 0; i < bar->parts; i++)
		sum += fmax(bar->part[i].ns, 0);
	sum += residual;
	printf("<text x=\"10\" y=\"%d\">%s</text><text x=\"10\" y=\"%d\">%s, %.0f ns</text>\n", y + 14, path->name,
	       y + 30, bar->what, bar->measured);
	for (int i = 0; i <= bar->parts; i++) {
		double ns = i < bar->parts ? fmax(bar->part[i].ns, 0) : residual, width = sum > 0 ? 800 * ns / sum : 0;
		const char *name = i < bar->parts ? bar->part[i].name : "residual";

		printf("<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"34\" fill=\"%s\"><title>%s: %.1f ns, %.2f %%</title></rect>\n",
		       at, y, width, i < bar->parts ? colours[i % 10] : "#dddddd", name, ns,
		       part_of(ns, bar->measured));
		if (width > 60)
			printf("<text x=\"%.1f\" y=\"%d\" font-size=\"10\">%s %.1f %%</text>\n", at + 3, y + 48, name,
			       part_of(ns, bar->measured));
		at += width;
	}
}

enum form { TABLE, JSON, SVG };

static void show(enum form form, const struct change *change)
{
	int rows = 0;

	if (form == JSON)
		printf("[");
	if (form == SVG)
		printf("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"970\" height=\"%d\" font-family=\"sans-serif\" "
		       "font-size=\"13\">\n<text x=\"10\" y=\"20\">Where the time of an 8-byte put goes</text>\n",
		       60 + 2 * n_paths * 70);
	for (int p = 0; p < n_paths; p++) {
		const struct path *plain = plain_path_of(&paths[p]);
		struct bar bars[] = {injection_of(&paths[p]), latency_of(&paths[p])};
		struct bar before[] = {plain ? injection_of(plain) : bars[0], plain ? latency_of(plain) : bars[1]};

		for (int b = 0; b < 2; b++, rows++) {
			if (form == TABLE && plain)
				show_changes(&paths[p], &before[b], &bars[b]);
			else if (form == TABLE)
				show_table(&paths[p], &bars[b], change);
			else if (form == JSON)
				show_json(&paths[p], &bars[b], change, rows == 0);
			else
				show_svg(&paths[p], &bars[b], rows);
		}
	}
	if (form == JSON)
		printf("\n]\n");
	if (form == SVG)
		printf("</svg>\n");
}

int layers_report(int argc, char *argv[])
{
	enum form form = TABLE;
	struct change change = {0};
	int i = 1;

	for (; i < argc && argv[i][0] == '-'; i++) {
		if (!strcmp(argv[i], "--json"))
			form = JSON;
		else if (!strcmp(argv[i], "--svg"))
			form = SVG;
		else if (strcmp(argv[i], "--what-if") || i + 1 >= argc || !read_change(argv[++i], &change)) {
			fprintf(stderr,
				"breakdown: --what-if wants a change such as put-post=-50%% or progress.ucp=+20ns\n");
			return 2;
		}
	}
	for (; i < argc; i++)
		if (!read_file(argv[i]))
			return 1;
	for (int p = 0; p < n_paths; p++)
		if (paths[p].layers < 3 || strcmp(paths[p].layer[paths[p].layers - 1].name, "empty")) {
			fprintf(stderr, "breakdown: layers of the path %s are missing\n", paths[p].name);
			return 1;
		}
	show(form, &change);
	return 0;
}
