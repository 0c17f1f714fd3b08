/* SPDX-License-Identifier: BSD-3-Clause */
#include "lists.h"

struct wait_lists wait_lists;
