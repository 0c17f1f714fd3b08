/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What goes over the connections between hosts. Who sends over a link has credit for it, so the other host always has room
 * for what comes, and a connection that several links share never stands still for one of them.
 */
#include "softofu/net/wires.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "softofu/net/wires_inside.h"

/* Nanoseconds after which an end that heard nothing says something again: at first, and at most. */
#define PATIENCE 20000000
#define MOST_PATIENCE 1000000000

static int64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* --- Out --- */

static int lose(struct net_wires *wires, int host, const char *why)
{
	return net_fail(wires->net, "the links to host %d are lost: %s", host, why);
}

/* Room for so many bytes at the end of what is to go out, NULL: not yet. */
static unsigned char *room(struct net_buffer *buffer, size_t bytes)
{
	if (buffer->end + bytes > NET_BUFFER) {
		memmove(buffer->bytes, buffer->bytes + buffer->start, buffer->end - buffer->start);
		buffer->end -= buffer->start;
		buffer->start = 0;
	}
	if (buffer->end + bytes > NET_BUFFER)
		return NULL;
	buffer->end += bytes;
	return buffer->bytes + buffer->end - bytes;
}

static bool write_frame(struct net_wires *wires, const struct net_end *end, enum net_frame_kind kind, const void *data,
			size_t length)
{
	struct net_frame frame = {(uint32_t)end->link, (uint16_t)kind, (uint16_t)length};
	unsigned char *at = room(&wires->wire[end->host]->out, sizeof frame + length);

	if (!at)
		return false;
	memcpy(at, &frame, sizeof frame);
	if (length > 0)
		memcpy(at + sizeof frame, data, length);
	return true;
}

/* False: no room. A packet that an injected fault loses has been sent as far as this end knows. */
static bool write_packet(struct net_wires *wires, struct net_end *end, struct net_link *link)
{
	struct net_slot *slot = net_window(wires->net, end->link, link->resend), damaged;
	size_t length = (size_t)net_wire_bytes(&slot->packet);

	if (NET_BUFFER - (wires->wire[end->host]->out.end - wires->wire[end->host]->out.start) <
	    sizeof(struct net_frame) + length)
		return false;
	link->resend++;
	net_add(&link->count.sent, 1);
	switch (net_fate(wires->net, link, (int)length)) {
	case NET_GOOD: return write_frame(wires, end, NET_DATA, slot, length);
	case NET_VANISHED: break;
	case NET_DAMAGED:
		net_copy(&damaged, slot);
		net_damage(wires->net, &damaged);
		return write_frame(wires, end, NET_DATA, &damaged, length);
	}
	return true;
}

static int64_t patience(const struct net_link *link)
{
	return link->failures > 5 ? MOST_PATIENCE : PATIENCE << link->failures;
}

/* What the sending end has to say. Where nothing was heard for long, packets are sent again, or credit is asked for. */
static int speak_sender(struct net_wires *wires, struct net_end *end, int64_t time)
{
	struct net_link *link = net_link(wires->net, end->link);
	const struct net_port *port = net_port(wires->net, net_port_number(wires->net, link->from, link->way));
	int frames = 0;

	if (wires->wire[end->host]->left) {
		if (link->acknowledged != link->next || net_wants(port))
			lose(wires, end->host, "it has ended, and there are packets for it");
		return 0;
	}

	if (link->acknowledged != link->next && link->resend == link->next && time - end->heard > patience(link))
		net_go_back(wires->net, link, 0);
	while (link->resend != link->next && write_packet(wires, end, link)) {
		end->heard = time;
		frames++;
	}
	if (link->acknowledged == link->next && net_wants(port) && time - end->heard > PATIENCE &&
	    write_frame(wires, end, NET_ASK, NULL, 0)) {
		end->heard = time;
		frames++;
	}
	return frames;
}

/* What the receiving end has to say: what came, and what was freed since it last said so. */
static int speak_receiver(struct net_wires *wires, struct net_end *end)
{
	struct net_link *link = net_link(wires->net, end->link);
	struct net_word word = {.expected = link->expected, .refused = end->refused};
	bool due = end->due;

	for (int c = 0; c < NET_CHANNELS; c++) {
		word.freed[c] = net_input(wires->net, link->to, net_from_way(link->enters, c))->freed;
		due = due || word.freed[c] != end->told[c];
	}
	if (!due || wires->wire[end->host]->left)
		return 0;
	/* An answer that a fault loses was given, as far as this end knows. */
	if (net_fate(wires->net, link, sizeof word) == NET_GOOD &&
	    !write_frame(wires, end, NET_WORD, &word, sizeof word))
		return 0;
	memcpy(end->told, word.freed, sizeof end->told);
	end->due = end->refused = false;
	return 1;
}

/* --- In --- */

static void hear_packet(struct net_wires *wires, struct net_end *end, const unsigned char *data, size_t length)
{
	struct net_link *link = net_link(wires->net, end->link);
	struct net_slot slot;
	enum net_answer answer;

	memset(&slot, 0, sizeof slot.packet);
	memcpy(&slot, data, length);
	answer = net_receive(wires->net, link, &slot);
	end->due = end->due || answer != NET_SILENCE;
	end->refused = answer == NET_REFUSED;
}

static void hear_word(struct net_wires *wires, struct net_end *end, const unsigned char *data, int64_t time)
{
	struct net_link *link = net_link(wires->net, end->link);
	struct net_word word;

	memcpy(&word, data, sizeof word);
	end->heard = time;
	for (int c = 0; c < NET_CHANNELS; c++)
		link->limit[c] = word.freed[c] + (uint32_t)wires->net->settings.buffers;
	net_hear(wires->net, link, word.refused ? NET_REFUSED : NET_ACCEPTED, word.expected, 0);
}

/* One frame off the buffer. Returns 0: there is no whole one, -1: what comes is none. */
static int read_frame(struct net_wires *wires, int host, int64_t time)
{
	struct net_buffer *in = &wires->wire[host]->in;
	struct net_frame frame;
	struct net_end *end;
	const unsigned char *data = in->bytes + in->start + sizeof frame;
	uint32_t links = (uint32_t)(wires->net->settings.shape.places * wires->net->ways);

	if (in->end - in->start < sizeof frame)
		return 0;
	memcpy(&frame, in->bytes + in->start, sizeof frame);
	if (frame.length > sizeof(struct net_slot) || frame.link >= links || wires->end_of[frame.link] < 0)
		return lose(wires, host, "what comes from there is no frame");
	if (in->end - in->start < sizeof frame + frame.length)
		return 0;
	in->start += sizeof frame + frame.length;
	end = &wires->end[wires->end_of[frame.link]];
	if (frame.kind == NET_DATA && !end->sends && frame.length >= NET_ENVELOPE)
		hear_packet(wires, end, data, frame.length);
	else if (frame.kind == NET_WORD && end->sends && frame.length == sizeof(struct net_word))
		hear_word(wires, end, data, time);
	else if (frame.kind == NET_ASK && !end->sends)
		end->due = true;
	else if (frame.kind == NET_BYE)
		wires->wire[host]->left = true;
	else
		return lose(wires, host, "what comes from there is no frame");
	return 1;
}

/* --- The connection --- */

static int pull(struct net_wires *wires, int host)
{
	struct net_buffer *in = &wires->wire[host]->in;
	ssize_t got;

	if (wires->wire[host]->file < 0)
		return 0;

	if (in->start > 0) {
		memmove(in->bytes, in->bytes + in->start, in->end - in->start);
		in->end -= in->start;
		in->start = 0;
	}
	got = recv(wires->wire[host]->file, in->bytes + in->end, NET_BUFFER - in->end, 0);
	if (got == 0) {
		if (!wires->wire[host]->left)
			return lose(wires, host, "it closed the connection");
		close(wires->wire[host]->file);
		wires->wire[host]->file = -1;
		return 0;
	}
	if (got < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : lose(wires, host, strerror(errno));
	in->end += (size_t)got;
	return 0;
}

static int push(struct net_wires *wires, int host)
{
	struct net_buffer *out = &wires->wire[host]->out;
	ssize_t gone;

	if (out->start == out->end || wires->wire[host]->file < 0)
		return 0;
	gone = send(wires->wire[host]->file, out->bytes + out->start, out->end - out->start, MSG_NOSIGNAL);
	if (gone < 0 && wires->wire[host]->left)
		out->start = out->end;
	if (gone < 0)
		return errno == EAGAIN || errno == EINTR || wires->wire[host]->left
			       ? 0
			       : lose(wires, host, strerror(errno));
	out->start += (size_t)gone;
	return 0;
}

static int hear_all(struct net_wires *wires, int64_t time)
{
	int frames = 0;

	for (int host = 0; host < wires->hosts; host++)
		for (int one = 1; wires->wire[host] && one > 0; frames += one)
			if ((one = read_frame(wires, host, time)) < 0)
				return -1;
	return frames;
}

static int speak_all(struct net_wires *wires, int64_t time)
{
	int frames = 0;

	for (int e = 0; e < wires->ends; e++)
		frames += wires->end[e].sends ? speak_sender(wires, &wires->end[e], time)
					      : speak_receiver(wires, &wires->end[e]);
	return frames;
}

int net_wires_move(struct net_wires *wires)
{
	int64_t time = now();
	int heard, frames;

	for (int host = 0; host < wires->hosts; host++)
		if (wires->wire[host] && pull(wires, host) < 0)
			return -1;
	if (!net_lock(wires->net))
		return -1;
	heard = hear_all(wires, time);
	frames = heard + speak_all(wires, time);
	net_unlock(wires->net);
	for (int host = 0; host < wires->hosts; host++)
		if (wires->wire[host] && push(wires, host) < 0)
			return -1;
	return heard < 0 || net_is_broken(wires->net) ? -1 : frames;
}

void net_wires_sleep(struct net_wires *wires, int milliseconds)
{
	struct pollfd entries[64];
	nfds_t count = 0;

	for (int host = 0; host < wires->hosts && count < 64; host++)
		if (wires->wire[host] && wires->wire[host]->file >= 0)
			entries[count++] = (struct pollfd){wires->wire[host]->file, POLLIN, 0};
	poll(entries, count, milliseconds);
}

/* The last words go out with the goodbye, if the other host reads them within a second. */
static void say_goodbye(struct net_wires *wires, int host)
{
	for (int e = 0; e < wires->ends; e++)
		if (wires->end[e].host == host) {
			write_frame(wires, &wires->end[e], NET_BYE, NULL, 0);
			break;
		}
	for (int tries = 0; tries < 100; tries++) {
		const struct net_wire *wire = wires->wire[host];
		struct pollfd entry = {wire->file, POLLOUT, 0};

		if (wire->file < 0 || wire->out.start == wire->out.end || push(wires, host) < 0)
			break;
		poll(&entry, 1, 10);
	}
}

void net_wires_close(struct net_wires *wires)
{
	bool good = net_wires_move(wires) >= 0;

	for (int host = 0; good && host < wires->hosts; host++)
		if (wires->wire[host])
			say_goodbye(wires, host);
	net_wires_free(wires);
}
