/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cables that die or become slow while the job runs. Before a large collective on a torus, the
 * members of the team may check their cables and agree on the result, so that all of them choose
 * the same schedule from this call on.
 *
 * check   a maximum over all members of one word, the news of a node's leader: a cable of its node
 *         that differs from the team's view, or one that it suspects. If there is news, all record
 *         it, and reduce again, until there is none
 * test    the leaders at both ends send some data over a suspect cable and over another one. The
 *         others wait in the next reduction, so the team sends nothing else over the cables
 *
 * At the end of a check the members make plans again whose cables have changed
 * (shmem/plans/plans_again.c). Data of plans counts, too, but a start waits for no PE: barriers and
 * syncs of the team check for them.
 *
 * A check is due when the calls since the last one took CHECK_SHARE times as long as a check does,
 * by the rate of the links. After a test that found nothing, there is none for TEST_SHARE times its
 * duration. Each end of a cable has its own view, and the worse one counts. A test may use the
 * team's staging: members in a check have ended all earlier collectives, and begin the next one
 * when there is no more news.
 */
#include "collectives.h"

#include <stdio.h>
#include <string.h>

#include "comms/observe/cables.h"
#include "comms/nodes/job_torus.h"
#include "rte/clock.h"

#define CHECK_SHARE 50
#define TEST_SHARE 20
#define SAMPLE (256UL << 10) /* bytes that a test sends over a cable */
#define SLOW 0.5	     /* of the rate of another cable */
#define CLEAR 0.75
#define WHOLE 1000 /* shares are exchanged in thousandths */

enum news_kind { NEWS_NONE, NEWS_DOUBT, NEWS_SHARE };

struct news {
	enum news_kind kind;
	int place, direction, share;
};

static struct {
	bool wanted;
	void (*follow)(const struct set *set); /* see api_faults_start */
	/*
	 * By direction, for this node's cables: the value in the last line that this PE printed, in
	 * thousandths; 0: none, otherwise plus 1.
	 */
	int printed[TORUS_DIRECTIONS];
	double rate[2]; /* in the last test, of the cable and of the other one, in bytes a second */
	int other;	/* the direction of that one */
} faults;

void api_faults_start(void (*follow)(const struct set *set))
{
	memset(&faults, 0, sizeof faults);
	faults.wanted = true;
	faults.follow = follow;
	setting_bool(SETTING_TORUS_FAULTS, &faults.wanted);
}

static bool leads_node(const struct set *set)
{
	const struct torus_topology *topology = set->team->topology;

	return topology->pe[topology->me] == set_pe(set, set->group->me);
}

/*
 * The leader at the other end of a cable of this node, -1: none, or the team's link is several
 * cables in a row.
 */
static int neighbour_of(const struct torus_topology *topology, int direction)
{
	const struct torus_shape *shape = &topology->sites.shape;
	const struct torus_job *job = comms_ensure_torus();
	int next = direction < 2 * shape->axes && shape->axis[direction / 2].size > 1
			   ? torus_neighbour(shape, topology->me, direction)
			   : -1,
	    pe = next < 0 ? -1 : topology->pe[next];

	if (pe < 0 ||
	    torus_neighbour(&job->sites.shape, torus_job_place(job, comms.pe), direction) != torus_job_place(job, pe))
		return -1;
	return pe;
}

/*
 * The greatest word wins: certain news before suspicions, and the slowest cable first among these.
 */
static uint64_t news_word(struct news news)
{
	int rank = news.kind == NEWS_DOUBT ? WHOLE - news.share : news.share;

	return (uint64_t)news.kind << 60 | (uint64_t)rank << 40 | (uint64_t)news.place << 8 | (uint64_t)news.direction;
}

static struct news news_of_word(uint64_t word)
{
	struct news news = {.kind = (enum news_kind)(word >> 60),
			    .place = (int)(word >> 8 & 0xffffffff),
			    .direction = (int)(word & 0xff),
			    .share = (int)(word >> 40 & 0xfffff)};

	if (news.kind == NEWS_DOUBT)
		news.share = WHOLE - news.share;
	return news;
}

static int in_thousandths(float share)
{
	int thousandths = (int)(share * WHOLE + 0.5F);

	return share > 0 && thousandths == 0 ? 1 : thousandths;
}

static uint64_t my_news(const struct cable_watch *watch, const struct torus_topology *topology)
{
	struct cables_doubt doubt = {-1, -1, 1};

	for (int d = 0; d < TORUS_DIRECTIONS; d++) {
		int share;

		if (neighbour_of(topology, d) < 0)
			continue;
		share = in_thousandths(cables_share(d));
		if (share != in_thousandths(torus_topology_seen(topology, topology->me, d)))
			return news_word((struct news){NEWS_SHARE, topology->me, d, share});
	}
	if (rte_clock_ns() >= watch->next_test)
		doubt = cables_doubted();
	if (doubt.direction < 0 || neighbour_of(topology, doubt.direction) < 0 ||
	    neighbour_of(topology, doubt.other) < 0)
		return 0;
	return news_word((struct news){NEWS_DOUBT, topology->me, doubt.direction, in_thousandths(doubt.share)});
}

static double rate_to(const struct set *set, int pe)
{
	char *staging = team_torus(set->team)->staging;
	int64_t begun = rte_clock_ns();

	comms_put(staging, staging, SAMPLE, pe, set->routine);
	comms_quiet();
	return 1e9 * (double)SAMPLE / (double)(rte_clock_ns() - begun + 1);
}

/*
 * Tries both cables a second time, unless the first result is clear. The end that suspected nothing
 * keeps its patience if it finds no reason.
 */
static void test_cable(const struct set *set, int direction, bool doubted)
{
	const struct torus_topology *topology = set->team->topology;
	int to[2] = {neighbour_of(topology, direction)};
	double share;

	faults.other = cables_fastest_but(direction);
	if (faults.other < 0 || to[0] < 0 || neighbour_of(topology, faults.other) < 0)
		return;
	to[1] = neighbour_of(topology, faults.other);
	faults.rate[0] = faults.rate[1] = 0;
	for (int i = 0; i < 4 && (i != 2 || faults.rate[0] < CLEAR * faults.rate[1]); i++) {
		double rate = rate_to(set, to[i % 2]);

		if (rate > faults.rate[i % 2])
			faults.rate[i % 2] = rate;
	}
	share = faults.rate[0] / faults.rate[1];
	rte_debug("the cable of port %s was suspect and has %.3g MB/s, where port %s has %.3g",
		  comms_ensure_torus()->port[direction], faults.rate[0] * 1e-6,
		  comms_ensure_torus()->port[faults.other], faults.rate[1] * 1e-6);
	if (doubted || share < SLOW)
		cables_judge(direction, share < SLOW ? (float)share : 1);
}

static const char *way_round(struct torus_topology *topology)
{
	const struct torus_disjoint_trees *disjoint = torus_topology_disjoint_trees(topology, topology->me);

	if (!disjoint)
		return "collectives do without the torus, which is too large to search for others";
	return disjoint->share < 1 ? "no others lead there, so it stays in use" : "collectives avoid it";
}

/* Only the first end of a cable that notices prints a line, and of several teams the first. */
static void report_cable(struct torus_topology *topology, int direction, int share)
{
	const char *port = comms_ensure_torus()->port[direction];
	char here[256] = "this host", there[256] = "its neighbour";

	if (faults.printed[direction] == share + 1)
		return;
	faults.printed[direction] = share + 1;
	rte_host(comms.pe, here, sizeof here);
	rte_host(neighbour_of(topology, direction), there, sizeof there);
	if (share == WHOLE)
		rte_report(NULL, "the cable from port %s of %s to %s has a carrier again: collectives use it", port,
			   here, there);
	else if (share == 0)
		rte_report(NULL, "the cable from port %s of %s to %s is dead: no carrier; %s", port, here, there,
			   way_round(topology));
	else
		rte_report(NULL, "the cable from port %s of %s to %s is slow: %.3g MB/s, and port %s has %.3g; %s",
			   port, here, there, faults.rate[0] * 1e-6, comms_ensure_torus()->port[faults.other],
			   faults.rate[1] * 1e-6, way_round(topology));
}

/*
 * Each end of the cable sends separately: if one direction is slow, answers in it would make the
 * other look slow, too.
 */
static void test_end(const struct set *set, struct news news)
{
	const struct torus_topology *topology = set->team->topology;

	if (news.place == topology->me)
		test_cable(set, news.direction, true);
	else if (torus_neighbour(&topology->sites.shape, news.place, news.direction) == topology->me)
		test_cable(set, news.direction ^ 1, false);
}

/* Dead, slow or intact: the other end of a slow cable may find that it is slower still. */
static int health(float share)
{
	return share < 1 ? share > 0 : 2;
}

static void take_news(const struct set *set, struct news news)
{
	struct torus_topology *topology = set->team->topology;
	bool mine = leads_node(set) && news.place == topology->me;
	int before;

	if (news.kind == NEWS_DOUBT) {
		if (leads_node(set))
			test_end(set, news);
		return;
	}
	before = health(torus_topology_share(topology, news.place, news.direction));
	torus_topology_see(topology, news.place, news.direction, (float)news.share / WHOLE);
	if (mine && health(torus_topology_share(topology, news.place, news.direction)) != before)
		report_cable(topology, news.direction, news.share);
	else if (mine && news.share == WHOLE)
		faults.printed[news.direction] = 0;
}

/*
 * The fastest member's time counts, because the others have waited for it. If no port is known,
 * nobody checks again.
 */
static void agree_on_costs(struct cable_watch *watch, const uint64_t *words)
{
	watch->off = words[2] == 0;
	watch->cost = words[1] ? 1e-9 * (double)(UINT64_MAX - words[1]) : 0;
}

static bool watches_cables(const struct torus_topology *topology)
{
	for (int d = 0; d < TORUS_DIRECTIONS; d++)
		if (neighbour_of(topology, d) >= 0 && cables_watched(d))
			return true;
	return false;
}

/*
 * A test that began when this PE learned of the suspicion has just ended; these are the news after
 * it.
 */
static void note_test(struct cable_watch *watch, bool tested, struct news next, int64_t begun)
{
	int64_t now = rte_clock_ns();

	if (tested)
		watch->next_test = next.kind == NEWS_SHARE ? 0 : now + TEST_SHARE * (now - begun);
}

static void check_cables(const struct set *set)
{
	struct torus_topology *topology = set->team->topology;
	struct cable_watch *watch = &set->team->watch;
	bool leads = leads_node(set), first = true;
	struct news news = {.kind = NEWS_NONE};
	int neighbours[TORUS_DIRECTIONS];
	uint64_t words[3];
	int64_t heard = 0;

	for (int d = 0; d < TORUS_DIRECTIONS; d++)
		neighbours[d] = neighbour_of(topology, d);
	if (leads)
		cables_measure(neighbours);
	do {
		int64_t begun = rte_clock_ns();

		words[0] = leads ? my_news(watch, topology) : 0;
		words[1] = watch->took ? UINT64_MAX - watch->took : 0;
		words[2] = leads && watches_cables(topology);
		set_reduce_words(set, words, 3, SET_MOST);
		watch->took = (uint64_t)(rte_clock_ns() - begun);
		if (first)
			agree_on_costs(watch, words);
		first = false;
		note_test(watch, news.kind == NEWS_DOUBT, news_of_word(words[0]), heard);
		heard = rte_clock_ns();
		news = news_of_word(words[0]);
		if (words[0])
			take_news(set, news);
	} while (words[0]);
	faults.follow(set);
}

bool set_watches(const struct set *set)
{
	return faults.wanted && set->team->topology && !set->team->watch.off;
}

bool set_check_cables_after(const struct set *set, size_t bytes, bool at_rest)
{
	const struct torus_topology *topology = set->team->topology;
	struct cable_watch *watch = &set->team->watch;

	watch->moved += (double)bytes / (2 * topology->sites.shape.axes * topology->costs.rate);
	if (watch->moved < CHECK_SHARE * watch->cost || !at_rest)
		return false;
	watch->moved = 0;
	check_cables(set);
	return true;
}

void set_check_cables_before(const struct set *set, size_t bytes)
{
	if (set_watches(set) && !set->team->watch.plans && bytes >= SET_WATCHED_FROM)
		set_check_cables_after(set, bytes, true);
}

static void print_fault(const struct torus_topology *topology, int place, int direction)
{
	float share = torus_topology_share(topology, place, direction);
	int next = torus_neighbour(&topology->sites.shape, place, direction);
	char text[TORUS_TEXT], here[256] = "?", there[256] = "?";

	if (share == 1)
		return;
	rte_host(topology->pe[place], here, sizeof here);
	rte_host(topology->pe[next], there, sizeof there);
	fprintf(stderr, "torushmem: the cable from %s to %s, at %s %s: ", here, there,
		torus_place_text(&topology->sites.shape, place, text), torus_direction_name(direction));
	if (share == 0)
		fputs("dead\n", stderr);
	else
		fprintf(stderr, "%.0f %% of the usual rate\n", 100 * (double)share);
}

void set_print_faults(const struct set *set)
{
	const struct torus_topology *topology = set->team->topology;

	for (int p = 0; topology && topology->seen && p < topology->sites.shape.places; p++)
		for (int d = 0; d < 2 * topology->sites.shape.axes; d += 2)
			if (topology->sites.shape.axis[d / 2].size > 1 &&
			    torus_neighbour(&topology->sites.shape, p, d) >= 0)
				print_fault(topology, p, d);
}
