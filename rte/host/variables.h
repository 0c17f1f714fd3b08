/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RTE_VARIABLES_H
#define RTE_VARIABLES_H

/*
 * setenv and unsetenv for variables that another library reads in this process. Other threads of
 * the program may call getenv meanwhile, and those of the C library free or change the list that
 * getenv reads. Value NULL removes the variable. Without memory nothing changes.
 */
void rte_variable_set(const char *name, const char *value);

#endif
