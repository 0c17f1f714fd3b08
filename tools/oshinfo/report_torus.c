/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The torus that settings would give to jobs started here. Only the job knows which of its nodes it
 * gets.
 */
#include <stdlib.h>
#include <string.h>

#include "comms/torus/file.h"
#include "comms/torus/job_places.h"
#include "report.h"
#include "rte/settings.h"
#include "rte/text/text.h"

static void report_sites(struct report *report, enum torus_source source, const struct torus_shape *machine,
			 const struct torus_sites *sites)
{
	char text[TORUS_TEXT], hops[TORUS_SPREAD_TEXT];
	struct torus_spread spread;

	report_fact(report, "source", "from", "%s", torus_source_text(source));
	report_fact(report, "shape", "shape", "%s", torus_shape_text(&sites->shape, text));
	if (machine->places != sites->shape.places)
		report_fact(report, "machine", "of a machine", "%s", torus_shape_text(machine, text));
	report_fact(report, "nodes", "nodes", "%d", sites->nodes);
	if (sites->nodes > 1 && torus_spread_find(&spread, sites)) {
		report_fact(report, "mean_hops", "mean hops", "%.2f", spread.mean);
		report_fact(report, "hops", "hops", "%s", torus_spread_text(&spread, hops));
		torus_spread_free(&spread);
	}
}

static void report_flaws(struct report *report, const struct torus_file *file)
{
	if (file->dead)
		report_fact(report, "dead_hosts", "dead hosts", "%d", file->dead);
	if (file->flaws)
		report_fact(report, "flaws", "dead and slow cables", "%d", file->flaws);
}

static void report_file(struct report *report, const char *path)
{
	char problem[TORUS_PROBLEM], *text = text_of_file(path, problem, sizeof problem);
	struct torus_sites sites;
	struct torus_file file;
	struct torus_box box;

	if (!text || !torus_file_read(&file, text, problem)) {
		report_fact(report, "problem", "problem", "SHMEM_TORUS_FILE=%s: %s", path, problem);
	} else {
		if (torus_sites_some(&sites, &box, &file.shape, file.place, file.hosts))
			report_sites(report, TORUS_FROM_FILE, &file.shape, &sites);
		report_flaws(report, &file);
		torus_sites_free(&sites);
		torus_file_free(&file);
	}
	free(text);
}

static void report_text(struct report *report, const char *text)
{
	char problem[TORUS_PROBLEM];
	struct torus_shape shape;
	struct torus_sites sites;

	if (!torus_shape_read(&shape, text, problem)) {
		report_fact(report, "problem", "problem", "SHMEM_TORUS=%s", problem);
		return;
	}
	if (torus_sites_all(&sites, &shape))
		report_sites(report, TORUS_FROM_SETTING, &shape, &sites);
	torus_sites_free(&sites);
}

void report_torus(struct report *report)
{
	const char *path = setting_text(SETTING_TORUS_FILE), *text = setting_text(SETTING_TORUS);

	report_section(report, "torus", "Torus");
	if (path[0])
		report_file(report, path);
	else if (text[0])
		report_text(report, text);
	else
		report_fact(report, "source", "from", "%s (logical: their cabling is unknown)",
			    torus_source_text(TORUS_LOGICAL));
	report_fact(report, "vendor", "vendor's library", "%s",
		    HAVE_TOFU ? "jTofu goes before all settings, in jobs that go over Tofu" : "not built in");
	report_note(report, "launcher", "a launcher that gives PMIx fabric coordinates goes before all settings");
}
