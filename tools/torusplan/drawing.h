/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TORUSPLAN_DRAWING_H
#define TORUSPLAN_DRAWING_H

#include "torusplan.h"

#define DRAWING_XML "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"

struct drawing {
	FILE *file;
	const struct machine *machine;
	double gap;			       /* between nodes */
	double dx[TORUS_AXES], dy[TORUS_AXES]; /* of one step along an axis */
	double left, top, width, height;
	bool pale; /* cables are only a background */
};

/*
 * Opens the file; refuses shapes with more places than the limit. Both return 0, or an exit code
 * after one line.
 */
int drawing_open(struct drawing *drawing, enum option_id id, const char *path, int most);
int drawing_close(struct drawing *drawing, enum option_id id, const char *path);

void drawing_lay_out(struct drawing *drawing);
void drawing_locate(const struct drawing *drawing, int place, double *x, double *y);
void drawing_begin(const struct drawing *drawing, double width, double height);
void drawing_cables(const struct drawing *drawing);
void drawing_nodes(const struct drawing *drawing);

#endif
