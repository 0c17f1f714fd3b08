/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TORUSPLAN_DISCOVER_H
#define TORUSPLAN_DISCOVER_H

#include "comms/torus/cabling/cabling.h"

/*
 * The cables between hosts of the torus, by the number of one port: those of the torus in the order
 * of places and directions, then others. Returns their number, or -1: no memory. The caller frees
 * the list.
 */
int found_cables(const struct torus_found *found, const struct cabling *cabling, int **port);

/*
 * The text of a shape file, which the caller frees; NULL: no memory. known_by: how the cables are
 * known, as text.
 */
char *found_file(const struct torus_found *found, const struct cabling *cabling, const char *known_by);

/*
 * A shape file without comments, with ; at the ends of lines; the caller frees it. Without ports as
 * well, unless it has cables: the lines of large tori would be too long.
 */
char *found_line(const char *text);

#endif
