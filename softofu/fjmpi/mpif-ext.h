! SPDX-License-Identifier: BSD-3-Clause
! Extensions of Fujitsu's MPI for programs that include mpif.h, in fixed and free form.
! The bodies are in fjmpi.f90 and fjmpi_fortran.c.
      integer FJMPI_SUCCESS, FJMPI_LOGICAL, FJMPI_TOFU_SYS
      integer FJMPI_TOFU_REL
      parameter (FJMPI_SUCCESS = 0, FJMPI_LOGICAL = 0)
      parameter (FJMPI_TOFU_SYS = 1, FJMPI_TOFU_REL = 2)
      integer FJMPI_RDMA_NIC0, FJMPI_RDMA_NIC1
      parameter (FJMPI_RDMA_NIC0 = 0)
      parameter (FJMPI_RDMA_NIC1 = 1)
      integer FJMPI_RDMA_NIC2, FJMPI_RDMA_NIC3
      parameter (FJMPI_RDMA_NIC2 = 2)
      parameter (FJMPI_RDMA_NIC3 = 3)
      integer FJMPI_RDMA_LOCAL_NIC0, FJMPI_RDMA_LOCAL_NIC1
      parameter (FJMPI_RDMA_LOCAL_NIC0 = 0)
      parameter (FJMPI_RDMA_LOCAL_NIC1 = 1)
      integer FJMPI_RDMA_LOCAL_NIC2, FJMPI_RDMA_LOCAL_NIC3
      parameter (FJMPI_RDMA_LOCAL_NIC2 = 2)
      parameter (FJMPI_RDMA_LOCAL_NIC3 = 3)
      integer FJMPI_RDMA_REMOTE_NIC0, FJMPI_RDMA_REMOTE_NIC1
      parameter (FJMPI_RDMA_REMOTE_NIC0 = 0)
      parameter (FJMPI_RDMA_REMOTE_NIC1 = 16)
      integer FJMPI_RDMA_REMOTE_NIC2, FJMPI_RDMA_REMOTE_NIC3
      parameter (FJMPI_RDMA_REMOTE_NIC2 = 32)
      parameter (FJMPI_RDMA_REMOTE_NIC3 = 48)
      integer FJMPI_RDMA_PATH0, FJMPI_RDMA_PATH1
      parameter (FJMPI_RDMA_PATH0 = 0)
      parameter (FJMPI_RDMA_PATH1 = 256)
      integer FJMPI_RDMA_PATH2, FJMPI_RDMA_PATH3
      parameter (FJMPI_RDMA_PATH2 = 512)
      parameter (FJMPI_RDMA_PATH3 = 768)
      integer FJMPI_RDMA_REMOTE_NOTICE
      parameter (FJMPI_RDMA_REMOTE_NOTICE = 4096)
      integer FJMPI_RDMA_STRONG_ORDER
      parameter (FJMPI_RDMA_STRONG_ORDER = 8192)
      integer FJMPI_RDMA_IMMEDIATE_RETURN
      parameter (FJMPI_RDMA_IMMEDIATE_RETURN = 16384)
      integer FJMPI_RDMA_NOTICE
      parameter (FJMPI_RDMA_NOTICE = 1)
      integer FJMPI_RDMA_HALFWAY_NOTICE
      parameter (FJMPI_RDMA_HALFWAY_NOTICE = 2)
! Instead of an address.
      integer(8) FJMPI_RDMA_ERROR
      parameter (FJMPI_RDMA_ERROR = -1_8)
