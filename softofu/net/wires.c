/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames on the connections between hosts. A sender has credit for each packet, so the other host
 * always has room, and a connection that several links share never blocks for one of them.
 */
#include "softofu/net/wires.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "softofu/net/wires_inside.h"

/* Nanoseconds without an answer after which an end repeats its message: at first, and at most. */
#define PATIENCE 20000000
#define MOST_PATIENCE 1000000000

static int64_t nanoseconds_now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* --- Out --- */

static int lose_links(struct net_wires *wires, int host, const char *why)
{
	return net_fail(wires->net, "the links to host %d are lost: %s", host, why);
}

/* Reserves bytes at the end of the output. Returns NULL if there is no room yet. */
static unsigned char *buffer_room(struct net_buffer *buffer, size_t bytes)
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
	unsigned char *at = buffer_room(&wires->wire[end->host]->out, sizeof frame + length);

	if (!at)
		return false;
	memcpy(at, &frame, sizeof frame);
	if (length > 0)
		memcpy(at + sizeof frame, data, length);
	return true;
}

/* Returns false if there is no room. A packet that an injected fault loses counts as sent. */
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

static int64_t answer_timeout(const struct net_link *link)
{
	return link->failures > 5 ? MOST_PATIENCE : PATIENCE << link->failures;
}

/* Writes the frames of the sending end. After a timeout it repeats packets, or asks for credit. */
static int write_sender_frames(struct net_wires *wires, struct net_end *end, int64_t time)
{
	struct net_link *link = net_link(wires->net, end->link);
	const struct net_port *port = net_port(wires->net, net_port_number(wires->net, link->from, link->direction));
	int frames = 0;

	if (wires->wire[end->host]->left) {
		if (link->acknowledged != link->next || net_wants(port))
			lose_links(wires, end->host, "it has ended, and there are packets for it");
		return 0;
	}

	if (link->acknowledged != link->next && link->resend == link->next &&
	    time - end->last_time > answer_timeout(link))
		net_go_back(wires->net, link, 0);
	while (link->resend != link->next && write_packet(wires, end, link)) {
		end->last_time = time;
		frames++;
	}
	if (link->acknowledged == link->next && net_wants(port) && time - end->last_time > PATIENCE &&
	    write_frame(wires, end, NET_ASK, NULL, 0)) {
		end->last_time = time;
		frames++;
	}
	return frames;
}

static struct net_acknowledgement acknowledgement(const struct net_wires *wires, const struct net_end *end)
{
	const struct net_link *link = net_link(wires->net, end->link);
	struct net_acknowledgement ack = {.expected = link->expected, .refused = end->refused};

	for (int c = 0; c < NET_CHANNELS; c++)
		ack.freed[c] = net_input(wires->net, link->to, net_input_of_link(link->enters, c))->freed;
	return ack;
}

/* Writes an acknowledgement if a packet was received or buffers were freed since the last one. */
static int write_receiver_frame(struct net_wires *wires, struct net_end *end)
{
	struct net_link *link = net_link(wires->net, end->link);
	struct net_acknowledgement ack = acknowledgement(wires, end);
	bool due = end->due || memcmp(end->reported, ack.freed, sizeof end->reported) != 0;

	if (!due || wires->wire[end->host]->left)
		return 0;
	/* An acknowledgement that an injected fault loses counts as sent. */
	if (net_fate(wires->net, link, sizeof ack) == NET_GOOD &&
	    !write_frame(wires, end, NET_ACKNOWLEDGEMENT, &ack, sizeof ack))
		return 0;
	memcpy(end->reported, ack.freed, sizeof end->reported);
	end->due = end->refused = false;
	return 1;
}

/* --- In --- */

static void receive_packet(struct net_wires *wires, struct net_end *end, const unsigned char *data, size_t length)
{
	struct net_link *link = net_link(wires->net, end->link);
	struct net_slot slot;
	enum net_answer answer;

	memset(&slot, 0, sizeof slot.packet);
	memcpy(&slot, data, length);
	answer = net_receive(wires->net, link, &slot);
	end->due = end->due || answer != NET_NO_ANSWER;
	end->refused = answer == NET_REFUSED;
}

static void receive_acknowledgement(struct net_wires *wires, struct net_end *end, const unsigned char *data,
				    int64_t time)
{
	struct net_link *link = net_link(wires->net, end->link);
	struct net_acknowledgement ack;

	memcpy(&ack, data, sizeof ack);
	end->last_time = time;
	for (int c = 0; c < NET_CHANNELS; c++)
		link->limit[c] = ack.freed[c] + (uint32_t)wires->net->settings.buffers;
	net_handle_answer(wires->net, link, ack.refused ? NET_REFUSED : NET_ACCEPTED, ack.expected, 0);
}

/* Reads one frame. Returns 0 if the buffer has no whole frame, -1 if it is no frame. */
static int read_frame(struct net_wires *wires, int host, int64_t time)
{
	struct net_buffer *in = &wires->wire[host]->in;
	struct net_frame frame;
	struct net_end *end;
	const unsigned char *data = in->bytes + in->start + sizeof frame;
	uint32_t links = (uint32_t)(wires->net->settings.shape.places * wires->net->directions);

	if (in->end - in->start < sizeof frame)
		return 0;
	memcpy(&frame, in->bytes + in->start, sizeof frame);
	if (frame.length > sizeof(struct net_slot) || frame.link >= links || wires->end_of[frame.link] < 0)
		return lose_links(wires, host, "what comes from there is no frame");
	if (in->end - in->start < sizeof frame + frame.length)
		return 0;
	in->start += sizeof frame + frame.length;
	end = &wires->end[wires->end_of[frame.link]];
	if (frame.kind == NET_DATA && !end->sends && frame.length >= NET_ENVELOPE)
		receive_packet(wires, end, data, frame.length);
	else if (frame.kind == NET_ACKNOWLEDGEMENT && end->sends && frame.length == sizeof(struct net_acknowledgement))
		receive_acknowledgement(wires, end, data, time);
	else if (frame.kind == NET_ASK && !end->sends)
		end->due = true;
	else if (frame.kind == NET_BYE)
		wires->wire[host]->left = true;
	else
		return lose_links(wires, host, "what comes from there is no frame");
	return 1;
}

/* --- The connection --- */

static int receive_bytes(struct net_wires *wires, int host)
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
	if (got > 0)
		in->end += (size_t)got;
	if (got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR)))
		return 0;
	if (!wires->wire[host]->left)
		return lose_links(wires, host, got == 0 ? "it closed the connection" : strerror(errno));
	close(wires->wire[host]->file);
	wires->wire[host]->file = -1;
	return 0;
}

static int send_bytes(struct net_wires *wires, int host)
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
			       : lose_links(wires, host, strerror(errno));
	out->start += (size_t)gone;
	return 0;
}

static int read_frames(struct net_wires *wires, int64_t time)
{
	int frames = 0;

	for (int host = 0; host < wires->hosts; host++)
		for (int one = 1; wires->wire[host] && one > 0; frames += one)
			if ((one = read_frame(wires, host, time)) < 0)
				return -1;
	return frames;
}

static int write_frames(struct net_wires *wires, int64_t time)
{
	int frames = 0;

	for (int e = 0; e < wires->ends; e++)
		frames += wires->end[e].sends ? write_sender_frames(wires, &wires->end[e], time)
					      : write_receiver_frame(wires, &wires->end[e]);
	return frames;
}

int net_wires_move(struct net_wires *wires)
{
	int64_t time = nanoseconds_now();
	int received, frames;

	for (int host = 0; host < wires->hosts; host++)
		if (wires->wire[host] && receive_bytes(wires, host) < 0)
			return -1;
	if (!net_lock(wires->net))
		return -1;
	received = read_frames(wires, time);
	frames = received + write_frames(wires, time);
	net_unlock(wires->net);
	for (int host = 0; host < wires->hosts; host++)
		if (wires->wire[host] && send_bytes(wires, host) < 0)
			return -1;
	return received < 0 || net_is_broken(wires->net) ? -1 : frames;
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

/*
 * Sends what is pending, last acknowledgements, which injected faults must not lose, as nobody is
 * left to repeat them, and the goodbye, if the other host reads them within a second.
 */
static void send_bye(struct net_wires *wires, int host)
{
	const struct net_end *one = NULL;

	for (int e = 0; e < wires->ends; e++) {
		const struct net_end *end = &wires->end[e];
		struct net_acknowledgement ack = acknowledgement(wires, end);

		if (end->host != host)
			continue;
		one = end;
		if (!end->sends)
			write_frame(wires, end, NET_ACKNOWLEDGEMENT, &ack, sizeof ack);
	}
	if (one)
		write_frame(wires, one, NET_BYE, NULL, 0);
	for (int tries = 0; tries < 100; tries++) {
		const struct net_wire *wire = wires->wire[host];
		struct pollfd entry = {wire->file, POLLOUT, 0};

		if (wire->file < 0 || wire->out.start == wire->out.end || send_bytes(wires, host) < 0)
			break;
		poll(&entry, 1, 10);
	}
}

void net_wires_close(struct net_wires *wires)
{
	bool good = net_wires_move(wires) >= 0;

	for (int host = 0; good && host < wires->hosts; host++)
		if (wires->wire[host])
			send_bye(wires, host);
	net_wires_free(wires);
}
