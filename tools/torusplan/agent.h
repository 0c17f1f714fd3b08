/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TORUSPLAN_AGENT_H
#define TORUSPLAN_AGENT_H

/*
 * The protocol of torusplan discover and its agents. discover starts an agent on each host, which
 * runs until its standard input ends. It prints lines; each begins with AGENT_MARK, the session and
 * discover's name of the host:
 *
 *   state NUMBER                     ports_state
 *   port NAME HARDWARE CARRIER CAN_PROBE NETWORK SPEED INFINIBAND ADDRESS
 *   address A.B.C.D                  an address of this host
 *   link PORT ADDRESS                a link-local address of the port
 *   neighbour PORT A.B.C.D HARDWARE  from the kernel's table
 *   route PORT A.B.C.D               a gateway that is reached over the port
 *   lldp PORT HOST ITS-PORT          what lldpd says
 *   forwards NUMBER                  1: the kernel forwards IPv4 packets
 *   gateway PORT DEFAULT             a route with a gateway leads over the port; 1: the default
 *                                    route does
 *   rdma PORT DEVICE GID             its RDMA device, and the index of a GID
 *   ready                            all of these have been printed, and it sends probes from now
 *                                    on
 *   done                             for a newline that discover has sent: since then it has sent
 *                                    probes through each port, and looked for those of others
 *   heard PORT HOST ITS-PORT         a probe came in
 *   answer PORT ADDRESS              a host at the port's link has answered an echo request, which
 *                                    is sent for the line AGENT_OTHERS
 *
 * A probe is a datagram to all nodes of the link, over IPv6: AGENT_MARK, session, host and port of
 * the sender.
 */
#define AGENT_MARK "torusplan-agent"
#define AGENT_OTHERS "others"

enum { AGENT_UDP_PORT = 27182, AGENT_LINE = 512, AGENT_NAME = 256 };

/* Returns an exit code. host: discover's name; NULL: the name from Slurm or the kernel. */
int agent_run(const char *session, const char *host);

#endif
