C SPDX-License-Identifier: BSD-3-Clause
C Fixed form, with the include file in front of the MPI's, as codes of the K computer have it.
      program included
      implicit none
      include 'mpif-ext.h'
      include 'mpif.h'
      integer rank, coords(6), order, count, ranks(4), m, ierr
      integer request, most
      integer word, cq(2), notice
      volatile word
      integer(8) here, there
      call mpi_init(ierr)
      call mpi_comm_rank(mpi_comm_world, rank, ierr)
      call fjmpi_topology_get_coords(mpi_comm_world, rank,
     &     fjmpi_logical, 1, coords, ierr)
      if (ierr .ne. fjmpi_success) call mpi_abort(mpi_comm_world, 1,
     &     ierr)
      call fjmpi_topology_get_ranks(mpi_comm_world, fjmpi_logical,
     &     coords, 4, count, ranks, ierr)
      order = -1
      do m = 1, count
         if (ranks(m) .eq. rank) order = m - 1
      enddo
      if (order .ne. mod(rank, 2) .or. coords(1) .ne. rank / 2)
     &     call mpi_abort(mpi_comm_world, 1, ierr)
C     In place, as the variable of mpif.h says.
      most = rank
      call mpix_allreduce_init(mpi_in_place, most, 1, mpi_integer,
     &     mpi_max, mpi_comm_world, mpi_info_null, request, ierr)
      call mpi_start(request, ierr)
      call mpi_wait(request, mpi_status_ignore, ierr)
      call mpi_comm_size(mpi_comm_world, m, ierr)
      if (most .ne. m - 1) call mpi_abort(mpi_comm_world, 1, ierr)
      call mpi_request_free(request, ierr)
C     RDMA with oneself.
      call fjmpi_rdma_init(ierr)
      word = 5
      call fjmpi_rdma_reg_mem(0, word, 4_8, here, ierr)
      call fjmpi_rdma_get_remote_addr(rank, 0, there, ierr)
      call fjmpi_rdma_put(rank, 1, there, here, 4_8,
     &     fjmpi_rdma_local_nic0 + fjmpi_rdma_remote_nic3, ierr)
      notice = 0
      do while (notice .eq. 0)
         call fjmpi_rdma_poll_cq(fjmpi_rdma_nic0, cq, notice, ierr)
      enddo
      if (there .eq. fjmpi_rdma_error .or. cq(1) .ne. rank .or.
     &     cq(2) .ne. 1 .or. notice .ne. fjmpi_rdma_notice)
     &     call mpi_abort(mpi_comm_world, 1, ierr)
      call fjmpi_rdma_finalize(ierr)
      if (rank .eq. 0) print '(i0, a)', count, ' ranks on a node'
      call mpi_finalize(ierr)
      end
