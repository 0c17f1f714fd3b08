C SPDX-License-Identifier: BSD-3-Clause
C Fixed form, with the include file in front of the MPI's, as codes of the K computer have it.
      program included
      implicit none
      include 'mpif-ext.h'
      include 'mpif.h'
      integer rank, coords(6), order, count, ranks(4), m, ierr
      integer request, most
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
      if (rank .eq. 0) print '(i0, a)', count, ' ranks on a node'
      call mpi_finalize(ierr)
      end
