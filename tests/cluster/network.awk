# SPDX-License-Identifier: BSD-3-Clause
#
# The network of a cluster as files for tests/cluster/inside, all below the folder "run":
#   names         "ADDRESS HOST", one for each        map      the same with ports and neighbours, for people
#   hostfile      for launchers
#   cables        "HOST PORT INDEX HARDWARE-ADDRESS" of the one end and of the other, whose host may be the switch
#   links/HOST    commands for ip on that host        links/HOST.rate   for tc; and links/switch, links/switch.rate
#   shape         where each cable is a network of its own: the cables as a shape file (comms/torus/file.h)
#
# "cables" says how hosts reach each other where there is no switch between them:
#   routed        hosts have one address each and forward packets
#   addressed     the same, and each port has an address as well
#   own           each cable is a network of two addresses; nothing is forwarded
#   link-local    the same, and ports have the link-local addresses of IPv6 alone
# In the last two, a switch joins all hosts beside the cables, for management: eth0.
#
# In a torus that is routed, a host has one address, on node0. Its ports need none: a route names the port and the neighbour's own
# address (onlink), for which the neighbour answers at every port. A packet goes along the first axis on which it is not
# at home yet, the shorter direction round; half-way round, in the + direction.

function address(host) { return "10.60." int((host + 1) / 256) "." (host + 1) % 256 }

function say(file, text) { print text > (run "/" file) }

# A cable, whose ends get indexes of their own because the kernel is slow, up to a second, to call a port running that has the
# index of its other end.
function lay_cable(host, port, other, its_port,   index_of) {
	index_of = 100 + 2 * cable_count++
	say("cables", host " " port " " index_of " " hardware(index_of) " " \
		other " " its_port " " (index_of + 1) " " hardware(index_of + 1))
	hardware_of[host, port] = hardware(index_of)
	hardware_of[other, its_port] = hardware(index_of + 1)
}

function hardware(number) { return sprintf("02:60:00:00:%02x:%02x", int(number / 256), number % 256) }

# Set, not asked for: the kernel keeps a thousand learnt neighbours for all its namespaces together.
function set_neighbour(host, port, other, its_port) {
	say("links/h" host, "neighbour replace " address(other) " lladdr " hardware_of["h" other, its_port] " dev " port " nud permanent")
}

# Packets that TCP sends as one must fit well into what a port may send at once: the kernel cuts larger ones at the port, and then wakes
# up for each piece of 1500 bytes. With many cables at their rate that takes most of two processors.
function shape_port(host, port, its_rate) {
	if (its_rate == "")
		return
	say("links/" host, "link set " port " gso_max_size 16384")
	say("links/" host ".rate", "qdisc add dev " port " root tbf rate " its_rate " burst 64kb limit 4mb")
}

function name_hosts(   k) {
	for (k = 0; k < n; k++) {
		say("names", address(k) " h" k)
		say("hostfile", "h" k " slots=" slots)
	}
}

# Joins all hosts, port eth0, at this rate in each direction.
function make_switch(its_rate,   k, other) {
	say("links/switch", "link add switch type bridge")
	for (k = 0; k < n; k++) {
		lay_cable("h" k, "eth0", "switch", "p" k)
		say("links/switch", "link set p" k " master switch up")
		shape_port("switch", "p" k, its_rate)
		say("links/h" k, "address replace " address(k) "/16 dev eth0")
		say("links/h" k, "link set eth0 up")
		shape_port("h" k, "eth0", its_rate)
	}
	for (k = 0; k < n; k++)
		for (other = 0; other < n; other++)
			if (other != k)
				set_neighbour(k, "eth0", other, "eth0")
	say("links/switch", "link set switch up")
}

function make_hosts_at_switch(   k) {
	n = shape + 0
	name_hosts()
	make_switch(rate)
	for (k = 0; k < n; k++)
		say("map", "h" k " " address(k) " eth0=switch")
}

function read_shape(   i) {
	axes = split(shape, size, "x")
	n = 1
	for (i = axes; i >= 1; i--) {
		mesh[i] = size[i] ~ /m$/ || size[i] == "2" # two hosts have one cable, unless they are to have two
		size[i] += 0
		stride[i] = n
		n *= size[i]
	}
}

function coordinate(host, i) { return int(host / stride[i]) % size[i] }

# The neighbour on axis i, one step in direction +1 or -1; -1 where a mesh ends.
function neighbour(host, i, step,   at, to) {
	at = coordinate(host, i)
	to = at + step
	if (size[i] == 1 || (mesh[i] && (to < 0 || to >= size[i])))
		return -1
	to = (to + size[i]) % size[i]
	return host + (to - at) * stride[i]
}

function port(i, step) { return substr("xyza", i, 1) (step > 0 ? "+" : "-") }

function direction(i, from, to,   forward) {
	if (mesh[i])
		return to > from ? 1 : -1
	forward = (to - from + size[i]) % size[i]
	return forward * 2 <= size[i] ? 1 : -1
}

function cable_address(number) { return "10.61." int(number / 256) "." number % 256 }

# A cable between two hosts, and the addresses of its ends if they have some.
function join_hosts(one, its_port, other, other_port,   first) {
	lay_cable("h" one, its_port, "h" other, other_port)
	if (own)
		say("shape", "cable h" one " " its_port " h" other " " other_port)
	if (cables == "routed" || cables == "link-local")
		return
	first = cables == "own" ? 4 * links++ + 1 : 2 * links++
	ends[one, its_port] = cable_address(first)
	ends[other, other_port] = cable_address(first + 1)
}

function make_cables(   k, i, other) {
	for (k = 0; k < n; k++)
		for (i = 1; i <= axes; i++) {
			other = neighbour(k, i, 1)
			if (other >= 0)
				join_hosts(k, port(i, 1), other, port(i, -1))
		}
}

# Returns the port and its neighbour for the map.
function make_port(k, its_port, other, other_port) {
	if ((k, its_port) in ends)
		say("links/h" k, "address replace " ends[k, its_port] (own ? "/30" : "/31") " dev " its_port)
	say("links/h" k, "link set " its_port " up")
	if (!own)
		set_neighbour(k, its_port, other, other_port)
	shape_port("h" k, its_port, rate)
	return " " its_port "=h" other
}

function make_ports(k,   i, step, other, line) {
	for (i = 1; i <= axes; i++)
		for (step = 1; step >= -1; step -= 2) {
			other = neighbour(k, i, step)
			if (other >= 0)
				line = line make_port(k, port(i, step), other, port(i, -step))
		}
	return line
}

# Where ports have addresses, a packet to one goes as to the host that has it.
function route(k, target, via, i, step,   axis, direct, end) {
	say("links/h" k, "route replace " address(target) "/32 via " address(via) " dev " port(i, step) " onlink src " address(k))
	for (axis = 1; axis <= axes; axis++)
		for (direct = 1; direct >= -1; direct -= 2) {
			end = port(axis, direct)
			if ((target, end) in ends && !(via == target && axis == i && direct == -step))
				say("links/h" k, "route replace " ends[target, end] "/32 via " address(via) " dev " \
					port(i, step) " onlink src " address(k))
		}
}

# To a host that two cables lead to, packets of this type of service take the second one, downwards.
function second_route(k, target, via, i) {
	if (size[i] == 2 && !mesh[i])
		say("links/h" k, "route replace " address(target) "/32 tos 0x08 via " address(via) " dev " port(i, -1) " onlink src " address(k))
}

function make_routes(k,   target, i, step) {
	for (target = 0; target < n; target++)
		for (i = 1; i <= axes; i++)
			if (coordinate(k, i) != coordinate(target, i)) {
				step = direction(i, coordinate(k, i), coordinate(target, i))
				route(k, target, neighbour(k, i, step), i, step)
				second_route(k, target, neighbour(k, i, step), i)
				break
			}
}

function coordinates(k,   i, text) {
	for (i = 1; i <= axes; i++)
		text = text (i > 1 ? "," : "") coordinate(k, i)
	return text
}

function make_torus(   k) {
	read_shape()
	name_hosts()
	say_places()
	make_cables()
	for (k = 0; k < n; k++) {
		if (!own) {
			say("links/h" k, "link add node0 type veth peer name node0p")
			say("links/h" k, "address replace " address(k) "/32 dev node0")
			say("links/h" k, "link set node0p up")
			say("links/h" k, "link set node0 up")
		}
		say("map", "h" k " " address(k) " at " coordinates(k) make_ports(k) (own ? " eth0=switch" : ""))
		if (!own)
			make_routes(k)
	}
}

# The beginning of the shape file; join_hosts writes the cables behind it.
function say_places(   k) {
	if (!own)
		return
	say("shape", "shape " shape)
	for (k = 0; k < n; k++)
		say("shape", "host h" k " " coordinates(k))
}

# A cable between each two hosts. The port is named for the host that it leads to: c3 leads to h3.
function make_full_mesh(   k, other, line) {
	read_shape()
	name_hosts()
	say_places()
	for (k = 0; k < n; k++)
		for (other = k + 1; other < n; other++)
			join_hosts(k, "c" other, other, "c" k)
	for (k = 0; k < n; k++) {
		line = ""
		for (other = 0; other < n; other++)
			if (other != k)
				line = line make_port(k, "c" other, other, "c" k)
		say("map", "h" k " " address(k) " at " k line " eth0=switch")
	}
}

BEGIN {
	own = cables == "own" || cables == "link-local"
	if (kind == "switch")
		make_hosts_at_switch()
	else if (kind == "torus")
		make_torus()
	else
		make_full_mesh()
	if (own)
		make_switch(management_rate)
}
