! SPDX-License-Identifier: BSD-3-Clause
! Places of ranks as Fortran programs place their grids by them, in a communicator whose order is the other way.
program fortran_places
  use mpi_ext
  implicit none
  integer :: rank, ranks, part, me, other, dimensions, shape(3), at(6), relative(6), logical_at(3), again(3), six(6)
  integer :: found(48), count, ierror

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  call MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, part, ierror)
  call MPI_Comm_rank(part, me, ierror)
  call FJMPI_Topology_get_dimension(dimensions, ierror)
  call check(ierror == FJMPI_SUCCESS, 'get_dimension')
  call FJMPI_Topology_get_shape(shape(1), shape(2), shape(3), ierror)
  call check(ierror == MPI_SUCCESS .and. all(shape(1:dimensions) > 0), 'get_shape')
  do other = 0, ranks - 1
    call FJMPI_Topology_get_coords(part, other, FJMPI_LOGICAL, dimensions, logical_at, ierror)
    call check(ierror == MPI_SUCCESS, 'logical coordinates')
    call FJMPI_Topology_get_coords(part, other, FJMPI_TOFU_SYS, 6, at, ierror)
    call check(ierror == MPI_SUCCESS, 'coordinates of the machine')
    call FJMPI_Topology_get_coords(part, other, FJMPI_TOFU_REL, 6, relative, ierror)
    call check(ierror == MPI_SUCCESS .and. all(at == relative), 'coordinates of the job')
    call FJMPI_Topology_get_ranks(part, FJMPI_LOGICAL, logical_at, 48, count, found, ierror)
    call check(ierror == MPI_SUCCESS .and. any(found(1:count) == other), 'ranks')
    call FJMPI_Topology_get_ranks(part, FJMPI_TOFU_SYS, at, 1, count, found, ierror)
    call check(ierror == MPI_SUCCESS .and. count == 1, 'at most one rank')
    ! Two of each node: the part counts backwards.
    call check(logical_at(1) == (ranks - 1 - other) / 2, 'the node of a rank')
    call FJMPI_Topology_sys_rank2xyzabc(ranks - 1 - other, six(1), six(2), six(3), six(4), six(5), six(6), ierror)
    call check(ierror == MPI_SUCCESS .and. all(six == at), 'the older names')
    call FJMPI_Topology_rank2x(ranks - 1 - other, again(1), ierror)
    call check(ierror == MPI_SUCCESS .and. again(1) == logical_at(1), 'rank2x')
  end do
  call FJMPI_Topology_get_coords(part, ranks, FJMPI_LOGICAL, 3, logical_at, ierror)
  call check(ierror == MPI_ERR_RANK, 'no such rank')
  call FJMPI_Topology_get_coords(part, 0, 7, 3, logical_at, ierror)
  call check(ierror == MPI_ERR_ARG, 'no such view')
  if (rank == 0) print '(i0, a, i0, a, 3(1x, i0))', ranks, ' ranks in ', dimensions, ' dimensions:', shape
  call MPI_Comm_free(part, ierror)
  call MPI_Finalize(ierror)

contains

  subroutine check(good, what)
    logical, intent(in) :: good
    character(*), intent(in) :: what

    if (good) return
    print '(a, i0, 2a)', 'rank ', rank, ': ', what
    call MPI_Abort(MPI_COMM_WORLD, 1, ierror)
  end subroutine
end program
