! SPDX-License-Identifier: BSD-3-Clause
! Extensions of Fujitsu's MPI for programs that include mpif.h, in fixed and free form.
! The bodies are in fjmpi.f90 and fjmpi_fortran.c.
      integer FJMPI_SUCCESS, FJMPI_LOGICAL, FJMPI_TOFU_SYS
      integer FJMPI_TOFU_REL
      parameter (FJMPI_SUCCESS = 0, FJMPI_LOGICAL = 0)
      parameter (FJMPI_TOFU_SYS = 1, FJMPI_TOFU_REL = 2)
