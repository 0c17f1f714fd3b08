/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_COMPANY_H
#define COMMS_COMPANY_H

#include "comms/core/comms.h"

/* How many times waiting PEs look (comms.spin) where others may want the processors; at most so many times. */
void company_start(unsigned most);
void company_stop(void);

/* Every so many looks of a wait: takes how many are left, and returns it or less. */
#define COMPANY_LOOKS 64
unsigned company_look(unsigned looks);

/* A look has been taken: how many are left. */
static inline unsigned company_fewer(unsigned looks)
{
	if (COMMS_UNLIKELY(looks % COMPANY_LOOKS == 0) && comms.minds_company)
		looks = company_look(looks);
	return looks - 1;
}
/* After a sleep. */
void company_sample(void);
/* Do waiting PEs look as few times as they may? */
bool company_is_there(void);

#endif
