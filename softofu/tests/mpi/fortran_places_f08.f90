! SPDX-License-Identifier: BSD-3-Clause
! The same questions and a ring of persistent requests, with the types of mpi_f08.
program fortran_places_f08
  use mpi_f08_ext
  implicit none
  integer :: rank, ranks, dimensions, shape(3), at(6), found(48), count, round
  integer, asynchronous :: mine, theirs
  type(MPI_Request) :: requests(2)

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call FJMPI_Topology_get_dimension(dimensions)
  call FJMPI_Topology_get_shape(shape(1), shape(2), shape(3))
  call FJMPI_Topology_get_coords(MPI_COMM_WORLD, rank, FJMPI_LOGICAL, 3, at)
  call FJMPI_Topology_get_ranks(MPI_COMM_WORLD, FJMPI_LOGICAL, at, 48, count, found)
  if (at(1) /= rank / 2 .or. .not. any(found(1:count) == rank)) call MPI_Abort(MPI_COMM_WORLD, 1)
  call FJMPI_Prequest_send_init(mine, 1, MPI_INTEGER, modulo(rank + 1, ranks), 5, MPI_COMM_WORLD, requests(1))
  call FJMPI_Prequest_recv_init(theirs, 1, MPI_INTEGER, modulo(rank - 1, ranks), 5, MPI_COMM_WORLD, requests(2))
  do round = 1, 20
    mine = 100 * round + rank
    if (modulo(round, 2) == 0) then
      call FJMPI_Prequest_startall(2, requests)
    else
      call FJMPI_Prequest_start(requests(1))
      call FJMPI_Prequest_start(requests(2))
    end if
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    if (theirs /= 100 * round + modulo(rank - 1, ranks)) call MPI_Abort(MPI_COMM_WORLD, 2)
  end do
  call MPI_Request_free(requests(1))
  call MPI_Request_free(requests(2))
  if (rank == 0) print '(i0, a, i0, a, 3(1x, i0))', ranks, ' ranks in ', dimensions, ' dimensions:', shape
  call MPI_Finalize()
end program
