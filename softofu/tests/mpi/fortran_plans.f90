! SPDX-License-Identifier: BSD-3-Clause
! Persistent collectives of Fujitsu's MPI among requests of the MPI: each function that takes requests, with and without a
! status, with indices from 1.
program fortran_plans
  use mpi
  use mpi_ext
  implicit none
  integer, parameter :: points = 1000, rounds = 12
  double precision, asynchronous :: part(points), total(points), field(points)
  integer(8), asynchronous :: longs(2)
  integer, asynchronous :: block, blocks(0:63), sent(0:63), got(0:63), token, received
  integer :: rank, ranks, requests(8), statuses(MPI_STATUS_SIZE, 8), status(MPI_STATUS_SIZE), indices(8)
  integer :: round, i, found, left, ierror
  logical :: flag

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  call MPIX_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, requests(1), ierror)
  call check(ierror == MPI_SUCCESS, 'barrier')
  call MPIX_Bcast_init(field, points, MPI_DOUBLE_PRECISION, ranks - 1, MPI_COMM_WORLD, MPI_INFO_NULL, requests(2), ierror)
  call MPIX_Reduce_init(part, total, points, MPI_REAL8, MPI_SUM, 0, MPI_COMM_WORLD, MPI_INFO_NULL, requests(3), ierror)
  call MPIX_Allreduce_init(MPI_IN_PLACE, longs, 2, MPI_INTEGER8, MPI_MAX, MPI_COMM_WORLD, MPI_INFO_NULL, requests(4), ierror)
  call MPIX_Allgather_init(block, 1, MPI_INTEGER, blocks, 1, MPI_INTEGER, MPI_COMM_WORLD, MPI_INFO_NULL, requests(5), ierror)
  call MPIX_Alltoall_init(sent, 1, MPI_INTEGER, got, 1, MPI_INTEGER, MPI_COMM_WORLD, MPI_INFO_NULL, requests(6), ierror)
  call MPI_Send_init(token, 1, MPI_INTEGER, modulo(rank + 1, ranks), 7, MPI_COMM_WORLD, requests(7), ierror)
  call MPI_Recv_init(received, 1, MPI_INTEGER, modulo(rank - 1, ranks), 7, MPI_COMM_WORLD, requests(8), ierror)
  do round = 1, rounds
    part = round + rank
    total = 0
    field = merge(10d0 * round, 0d0, rank == ranks - 1)
    longs = [int(rank, 8) * 2_8**40, int(round - rank, 8)]
    block = 100 * round + rank
    blocks = -1
    sent(0:ranks - 1) = [(1000 * round + 10 * rank + i, i = 0, ranks - 1)]
    got = -1
    token = round + rank
    received = -1
    if (modulo(round, 2) == 0) then
      call MPI_Startall(8, requests, ierror)
    else
      do i = 1, 8
        call MPI_Start(requests(i), ierror)
      end do
    end if
    call complete(modulo(round, 6))
    if (rank == 0) call check(all(total == ranks * round + ranks * (ranks - 1) / 2), 'reduce')
    call check(all(field == 10d0 * round), 'bcast')
    call check(longs(1) == (ranks - 1) * 2_8**40 .and. longs(2) == round, 'allreduce')
    call check(all(blocks(0:ranks - 1) == [(100 * round + i, i = 0, ranks - 1)]), 'allgather')
    call check(all(got(0:ranks - 1) == [(1000 * round + 10 * i + rank, i = 0, ranks - 1)]), 'alltoall')
    call check(received == round + modulo(rank - 1, ranks), 'a request of the MPI')
  end do
  do i = 1, 8
    call MPI_Request_free(requests(i), ierror)
    call check(ierror == MPI_SUCCESS .and. requests(i) == MPI_REQUEST_NULL, 'free')
  end do
  if (rank == 0) print '(i0, a)', ranks, ' ranks'
  call MPI_Finalize(ierror)

contains

  subroutine complete(how)
    integer, intent(in) :: how
    logical :: seen(8)

    seen = .false.
    left = 8
    select case (how)
    case (0)
      statuses = -7
      call MPI_Waitall(8, requests, statuses, ierror)
      call check(statuses(MPI_SOURCE, 8) == modulo(rank - 1, ranks) .and. statuses(MPI_TAG, 8) == 7, 'a status of several')
    case (1)
      do i = 1, 8
        status = -7
        call MPI_Wait(requests(i), status, ierror)
        if (i == 8) call check(status(MPI_TAG) == 7, 'status')
      end do
    case (2)
      do while (left > 0)
        call MPI_Waitany(8, requests, found, status, ierror)
        call check(found >= 1 .and. found <= 8, 'waitany')
        call check(.not. seen(found) .and. (found /= 8 .or. status(MPI_TAG) == 7), 'index of waitany')
        seen(found) = .true.
        left = left - 1
      end do
      call MPI_Waitany(8, requests, found, MPI_STATUS_IGNORE, ierror)
      ! MPICH 4.0 adds one to this, too.
      call check(found == MPI_UNDEFINED .or. found == MPI_UNDEFINED + 1, 'waitany of inactive requests')
    case (3)
      do while (left > 0)
        call MPI_Waitsome(8, requests, found, indices, statuses, ierror)
        do i = 1, found
          call check(.not. seen(indices(i)), 'waitsome')
          if (indices(i) == 8) call check(statuses(MPI_TAG, i) == 7, 'status of waitsome')
          seen(indices(i)) = .true.
        end do
        left = left - found
      end do
      call check(all(seen), 'all of waitsome')
      call MPI_Testsome(8, requests, found, indices, MPI_STATUSES_IGNORE, ierror)
      call check(found == MPI_UNDEFINED, 'testsome of inactive requests')
    case (4)
      do while (left > 0)
        call MPI_Testsome(4, requests(5:8), found, indices, MPI_STATUSES_IGNORE, ierror)
        if (found /= MPI_UNDEFINED) left = left - found
        call MPI_Testany(4, requests(1:4), found, flag, MPI_STATUS_IGNORE, ierror)
        if (flag .and. found > 0) then
          call check(.not. seen(found), 'testany')
          seen(found) = .true.
          left = left - 1
        end if
      end do
      call check(all(seen(1:4)), 'all of testany')
    case (5)
      flag = .false.
      do while (.not. flag)
        call MPI_Request_get_status(requests(4), flag, MPI_STATUS_IGNORE, ierror)
      end do
      flag = .false.
      do while (.not. flag)
        call MPI_Test(requests(2), flag, status, ierror)
      end do
      flag = .false.
      do while (.not. flag)
        call MPI_Testall(8, requests, flag, statuses, ierror)
      end do
      call check(statuses(MPI_TAG, 8) == 7, 'status of testall')
    end select
  end subroutine

  subroutine check(good, what)
    logical, intent(in) :: good
    character(*), intent(in) :: what

    if (good) return
    print '(a, i0, 2a)', 'rank ', rank, ': ', what
    call MPI_Abort(MPI_COMM_WORLD, 1, ierror)
  end subroutine
end program
