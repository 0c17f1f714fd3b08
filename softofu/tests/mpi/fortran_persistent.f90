! SPDX-License-Identifier: BSD-3-Clause
! Halos of two-dimensional arrays by persistent requests, as a weather code has them: receives first, then sends, all started
! together; columns travel as whole arrays or from their first element.
module halos
  implicit none
  integer, parameter :: points = 17, rounds = 30

contains

  subroutine prepare(field, up, down, comm, requests)
    use mpi, only: MPI_DOUBLE_PRECISION
    use mpi_ext, only: FJMPI_prequest_send_init, FJMPI_prequest_recv_init
    double precision, intent(inout) :: field(points, 0:points + 1)
    integer, intent(in) :: up, down, comm
    integer, intent(inout) :: requests(:)
    integer :: ierror

    call FJMPI_prequest_recv_init(field(:, 0), points, MPI_DOUBLE_PRECISION, down, 1, comm, requests(1), ierror)
    call FJMPI_prequest_recv_init(field(:, points + 1), points, MPI_DOUBLE_PRECISION, up, 2, comm, requests(2), ierror)
    call FJMPI_prequest_send_init(field(:, points), points, MPI_DOUBLE_PRECISION, up, 1, comm, requests(3), ierror)
    call FJMPI_prequest_send_init(field(1, 1), points, MPI_DOUBLE_PRECISION, down, 2, comm, requests(4), ierror)
  end subroutine
end module

program fortran_persistent
  use mpi
  use mpi_ext, only: FJMPI_prequest_start, FJMPI_prequest_startall
  use halos
  implicit none
  double precision, asynchronous :: field(points, 0:points + 1)
  integer :: rank, ranks, up, down, requests(4), statuses(MPI_STATUS_SIZE, 4), round, i, ierror

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  up = modulo(rank + 1, ranks)
  down = modulo(rank - 1, ranks)
  call prepare(field, up, down, MPI_COMM_WORLD, requests)
  do round = 1, rounds
    field = -1
    field(:, 1:points) = 1000d0 * round + rank
    if (modulo(round, 2) == 0) then
      call FJMPI_prequest_startall(4, requests(1:4), ierror)
    else
      do i = 1, 4
        call FJMPI_prequest_start(requests(i), ierror)
      end do
    end if
    call MPI_Waitall(4, requests(1:4), statuses, ierror)
    if (any(field(:, 0) /= 1000d0 * round + down) .or. any(field(:, points + 1) /= 1000d0 * round + up)) then
      print '(a, i0, a, i0)', 'rank ', rank, ': wrong halo in round ', round
      call MPI_Abort(MPI_COMM_WORLD, 1, ierror)
    end if
  end do
  do i = 1, 4
    call MPI_Request_free(requests(i), ierror)
  end do
  if (rank == 0) print '(i0, a)', ranks, ' ranks'
  call MPI_Finalize(ierror)
end program
