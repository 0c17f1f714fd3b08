/* SPDX-License-Identifier: BSD-3-Clause */
#include "cables.h"

#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "comms/core/network.h"
#include "comms/nodes/job_torus.h"

#define SAMPLE (1UL << 20) /* bytes; in smaller samples the cost per message distorts the rate */
#define PATIENCE 2	   /* samples in a row that are too slow */
#define MOST_PATIENCE 16

struct cable {
	bool known, watched;
	float share;
	struct network_sent begun; /* at the start of the sample */
	double rate;		   /* of the last sample, bytes a second; 0: none */
	int slow, patience;	   /* samples */
};

static struct cable cables[TORUS_DIRECTIONS];

static bool read_flags(const char *port, short *flags)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq request = {0};
	bool good;

	if (fd < 0)
		return false;
	memcpy(request.ifr_name, port, strnlen(port, IFNAMSIZ - 1));
	good = ioctl(fd, SIOCGIFFLAGS, &request) == 0;
	close(fd);
	if (good)
		*flags = request.ifr_flags;
	return good;
}

bool cables_watched(int direction)
{
	struct cable *cable = &cables[direction];
	const char *port = comms_ensure_torus()->port[direction];
	short flags;

	if (!cable->known) {
		*cable = (struct cable){.known = true, .share = 1, .patience = PATIENCE};
		cable->watched = port[0] && read_flags(port, &flags);
	}
	return cable->watched;
}

/*
 * A port that has disappeared has no carrier either. A cable that was unplugged may be replaced by
 * another one: it is judged again.
 */
float cables_share(int direction)
{
	struct cable *cable = &cables[direction];
	short flags = 0;

	if (!cables_watched(direction))
		return 1;
	read_flags(comms_ensure_torus()->port[direction], &flags);
	if ((flags & IFF_UP) && (flags & IFF_RUNNING))
		cable->share = cable->share > 0 ? cable->share : 1;
	else
		cable->share = 0;
	return cable->share;
}

/*
 * The normal rate of this node's cables: the second best of several, because the best may be an
 * outlier.
 */
static double usual_rate(void)
{
	double best = 0, second = 0;
	int count = 0;

	for (int d = 0; d < TORUS_DIRECTIONS; d++) {
		double rate = cables[d].rate;

		count += rate > 0;
		if (rate > best) {
			second = best;
			best = rate;
		} else if (rate > second) {
			second = rate;
		}
	}
	return count > 2 ? second : best;
}

/* Returns true if a sample is complete. Sums that have decreased are those of other connections. */
static bool end_sample(struct cable *cable, const struct network_sent *now)
{
	struct network_sent begun = cable->begun;

	if (now->bytes >= begun.bytes && now->microseconds >= begun.microseconds && now->bytes - begun.bytes < SAMPLE)
		return false;
	cable->begun = *now;
	if (now->bytes < begun.bytes || now->microseconds <= begun.microseconds)
		return false;
	cable->rate = 1e6 * (double)(now->bytes - begun.bytes) / (double)(now->microseconds - begun.microseconds);
	return true;
}

void cables_measure(const int neighbour[TORUS_DIRECTIONS])
{
	int pes[TORUS_DIRECTIONS], direction[TORUS_DIRECTIONS], n = 0;
	struct network_sent sent[TORUS_DIRECTIONS];
	bool complete[TORUS_DIRECTIONS];

	for (int d = 0; d < TORUS_DIRECTIONS; d++) {
		if (neighbour[d] < 0 || !cables_watched(d))
			continue;
		direction[n] = d;
		pes[n++] = neighbour[d];
	}
	if (n == 0 || !comms.network || !comms.network->sent_to)
		return;
	comms.network->sent_to(pes, n, sent);
	for (int i = 0; i < n; i++)
		complete[i] = end_sample(&cables[direction[i]], &sent[i]);
	for (int i = 0; i < n; i++) {
		struct cable *cable = &cables[direction[i]];

		if (complete[i])
			cable->slow = cable->rate < usual_rate() / 2 ? cable->slow + 1 : 0;
	}
}

static bool is_doubted(const struct cable *cable)
{
	return cable->watched && cable->share == 1 && cable->slow >= cable->patience;
}

int cables_fastest_but(int direction)
{
	int fastest = -1;

	for (int d = 0; d < TORUS_DIRECTIONS; d++)
		if (d != direction && cables[d].share == 1 && cables[d].rate > 0 &&
		    (fastest < 0 || cables[d].rate > cables[fastest].rate))
			fastest = d;
	return fastest;
}

struct cables_doubt cables_doubted(void)
{
	struct cables_doubt doubt = {-1, -1, 1};

	for (int d = 0; d < TORUS_DIRECTIONS; d++)
		if (is_doubted(&cables[d]) && (doubt.direction < 0 || cables[d].rate < cables[doubt.direction].rate))
			doubt.direction = d;
	doubt.other = cables_fastest_but(doubt.direction);
	if (doubt.other < 0)
		doubt.direction = -1;
	if (doubt.direction >= 0)
		doubt.share = (float)(cables[doubt.direction].rate / cables[doubt.other].rate);
	return doubt;
}

void cables_judge(int direction, float share)
{
	struct cable *cable = &cables[direction];

	cable->share = share;
	cable->slow = 0;
	if (share < 1)
		cable->rate = 0;
	else if (cable->patience < MOST_PATIENCE)
		cable->patience *= 2;
}

void cables_stop(void)
{
	memset(cables, 0, sizeof cables);
}
