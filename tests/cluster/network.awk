# SPDX-License-Identifier: BSD-3-Clause
#
# The network of a cluster as files for tests/cluster/inside, all below the folder "run":
#   names         "ADDRESS HOST", one for each        map      the same with ports and neighbours, for people
#   hostfile      for launchers
#   cables        "HOST PORT INDEX HARDWARE-ADDRESS" of the one end and of the other, whose host may be the switch
#   links/HOST    commands for ip on that host        links/HOST.rate   for tc; and links/switch, links/switch.rate
#
# In a torus a host has one address, on node0. Its ports need none: a route names the port and the neighbour's own
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
function shape_port(host, port) {
	if (rate != "")
		say("links/" host, "link set " port " gso_max_size 16384")
	if (rate != "")
		say("links/" host ".rate", "qdisc add dev " port " root tbf rate " rate " burst 64kb limit 4mb")
}

function name_hosts(   k) {
	for (k = 0; k < n; k++) {
		say("names", address(k) " h" k)
		say("hostfile", "h" k " slots=" slots)
	}
}

function make_switch(   k, other) {
	n = shape + 0
	name_hosts()
	say("links/switch", "link add switch type bridge")
	for (k = 0; k < n; k++) {
		lay_cable("h" k, "eth0", "switch", "p" k)
		say("links/switch", "link set p" k " master switch up")
		shape_port("switch", "p" k)
		say("links/h" k, "address replace " address(k) "/16 dev eth0")
		say("links/h" k, "link set eth0 up")
		shape_port("h" k, "eth0")
		say("map", "h" k " " address(k) " eth0=switch")
	}
	for (k = 0; k < n; k++)
		for (other = 0; other < n; other++)
			if (other != k)
				set_neighbour(k, "eth0", other, "eth0")
	say("links/switch", "link set switch up")
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

function make_cables(   k, i, other, link) {
	for (k = 0; k < n; k++)
		for (i = 1; i <= axes; i++) {
			other = neighbour(k, i, 1)
			if (other < 0)
				continue
			lay_cable("h" k, port(i, 1), "h" other, port(i, -1))
			if (addressed == "yes") {
				ends[k, i, 1] = "10.61." int(link / 128) "." (link * 2) % 256
				ends[other, i, -1] = "10.61." int(link / 128) "." (link * 2) % 256 + 1
				link++
			}
		}
}

function make_ports(k,   i, step, other, line) {
	for (i = 1; i <= axes; i++)
		for (step = 1; step >= -1; step -= 2) {
			other = neighbour(k, i, step)
			if (other < 0)
				continue
			if (addressed == "yes")
				say("links/h" k, "address replace " ends[k, i, step] "/31 dev " port(i, step))
			say("links/h" k, "link set " port(i, step) " up")
			set_neighbour(k, port(i, step), other, port(i, -step))
			shape_port("h" k, port(i, step))
			line = line " " port(i, step) "=h" other
		}
	return line
}

# Where ports have addresses, a packet to one goes as to the host that has it.
function route(k, target, via, i, step,   axis, direct) {
	say("links/h" k, "route replace " address(target) "/32 via " address(via) " dev " port(i, step) " onlink src " address(k))
	for (axis = 1; axis <= axes && addressed == "yes"; axis++)
		for (direct = 1; direct >= -1; direct -= 2)
			if ((target, axis, direct) in ends && !(via == target && axis == i && direct == -step))
				say("links/h" k, "route replace " ends[target, axis, direct] "/32 via " address(via) " dev " \
					port(i, step) " onlink src " address(k))
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
	make_cables()
	for (k = 0; k < n; k++) {
		say("links/h" k, "link add node0 type veth peer name node0p")
		say("links/h" k, "address replace " address(k) "/32 dev node0")
		say("links/h" k, "link set node0p up")
		say("links/h" k, "link set node0 up")
		say("map", "h" k " " address(k) " at " coordinates(k) make_ports(k))
		make_routes(k)
	}
}

BEGIN {
	if (kind == "switch")
		make_switch()
	else
		make_torus()
}
