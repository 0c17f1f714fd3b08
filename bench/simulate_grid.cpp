// SPDX-License-Identifier: BSD-3-Clause
// A schedule in SimGrid: a graph of communications on a torus, which start when those that they wait for are over.
#include "simulate.h"

#include <simgrid/s4u.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace sg4 = simgrid::s4u;

// SimGrid's routes take the first axis first, as ours do. But it counts the first axis of a torus fastest, we the last.
static std::vector<unsigned long> sizes_of(const torus_shape &shape)
{
	std::vector<unsigned long> sizes;

	for (int a = 0; a < shape.axes; a++)
		if (shape.axis[a].size > 1)
			sizes.push_back(static_cast<unsigned long>(shape.axis[a].size));
	return sizes;
}

static int number_of(const torus_shape &shape, int place)
{
	int number = 0;

	for (int a = shape.axes - 1; a >= 0; a--)
		number = number * shape.axis[a].size + torus_coordinate(&shape, place, a);
	return number;
}

static void check_shape(const torus_shape &shape)
{
	for (int a = 0; a < shape.axes; a++)
		if (shape.axis[a].size != 1 && (shape.axis[a].size < 3 || !shape.axis[a].ring)) {
			fprintf(stderr, "simulate: SimGrid's tori have rings of three and more\n");
			exit(2);
		}
}

static void make_torus(const torus_shape &shape, const network &network)
{
	using Ends = std::pair<simgrid::kernel::routing::NetPoint *, simgrid::kernel::routing::NetPoint *>;
	const sg4::ClusterCallbacks hosts([](sg4::NetZone *in, const std::vector<unsigned long> &, unsigned long id) -> Ends {
		return {in->create_host("node" + std::to_string(id), 1e9)->get_netpoint(), nullptr};
	});
	sg4::NetZone *zone = sg4::create_torus_zone("torus", nullptr, sizes_of(shape), hosts, network.rate, network.latency,
					    sg4::Link::SharingPolicy::SPLITDUPLEX);

	zone->seal();
}

// The most communications that were at once between two neighbours in one direction.
static int most_at_once(const schedule *schedule, const std::vector<sg4::CommPtr> &comms)
{
	std::map<std::pair<int, int>, std::vector<std::pair<double, int>>> changes;
	int most = 0;

	for (size_t i = 0; i < schedule->count; i++) {
		auto &link = changes[{schedule->transfer[i].from, schedule->transfer[i].to}];

		if (torus_hops(&schedule->shape, schedule->transfer[i].from, schedule->transfer[i].to) != 1)
			return 0;
		link.push_back({comms[i]->get_start_time(), 1});
		link.push_back({comms[i]->get_finish_time(), -1});
	}
	for (auto &[link, when] : changes) {
		int now = 0;

		// Of what happens at the same time the end comes first.
		std::sort(when.begin(), when.end());
		for (const auto &[time, change] : when)
			most = std::max(most, now += change);
	}
	return most;
}

outcome replay_in_simgrid(const schedule *schedule, const network *network)
{
	std::vector<std::string> options = {"simulate", "--cfg=network/model:CM02", "--cfg=network/crosstraffic:0",
					    "--cfg=network/TCP-gamma:0", "--log=root.thresh:error"};
	std::vector<char *> arguments;
	std::vector<sg4::CommPtr> comms;

	for (auto &option : options)
		arguments.push_back(option.data());
	int count = static_cast<int>(arguments.size());
	sg4::Engine engine(&count, arguments.data());
	check_shape(schedule->shape);
	make_torus(schedule->shape, *network);
	std::vector<sg4::Host *> hosts(static_cast<size_t>(schedule->shape.places));
	for (size_t h = 0; h < hosts.size(); h++)
		hosts[h] = engine.host_by_name("node" + std::to_string(number_of(schedule->shape, static_cast<int>(h))));

	for (size_t i = 0; i < schedule->count; i++) {
		const transfer &transfer = schedule->transfer[i];

		comms.push_back(sg4::Comm::sendto_init());
		comms[i]->set_payload_size(static_cast<uint64_t>(transfer.bytes));
		for (int before : transfer.after)
			if (before >= 0)
				comms[static_cast<size_t>(before)]->add_successor(comms[i]);
	}
	for (size_t i = 0; i < schedule->n_more; i++)
		comms[static_cast<size_t>(schedule->more[i].before)]->add_successor(comms[static_cast<size_t>(schedule->more[i].then)]);
	for (size_t i = 0; i < schedule->count; i++) {
		comms[i]->set_source(hosts[static_cast<size_t>(schedule->transfer[i].from)]);
		comms[i]->set_destination(hosts[static_cast<size_t>(schedule->transfer[i].to)]); // it starts when all is known
	}
	engine.run();
	return {sg4::Engine::get_clock(), most_at_once(schedule, comms)};
}
