/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PMIX_FJEXT_H
#define PMIX_FJEXT_H

/* The PMIx key under which a launcher publishes what jtofu_initialize reads. */
#define FJPMIX_RANKMAP "fjpmix.rankmap"

#endif
