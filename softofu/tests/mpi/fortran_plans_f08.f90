! SPDX-License-Identifier: BSD-3-Clause
! Plans and connected requests with the types of mpi_f08, mostly without ierror: each function that takes requests.
program fortran_plans_f08
  use mpi_f08_ext
  implicit none
  integer, parameter :: rounds = 8
  real, asynchronous :: sums(3), sum(3)
  integer, asynchronous :: field(5), mine, theirs, blocks(0:63), sent(0:63), got(0:63)
  integer :: rank, ranks, round, i, found, left, indices(8), ierror, count
  type(MPI_Request) :: requests(8)
  type(MPI_Status) :: status, statuses(8)
  logical :: flag

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call MPIX_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, requests(1))
  call MPIX_Bcast_init(field, 5, MPI_INTEGER, 0, MPI_COMM_WORLD, MPI_INFO_NULL, requests(2), ierror)
  call check(ierror == MPI_SUCCESS, 'bcast_init')
  if (rank == 0) then
    call MPIX_Reduce_init(MPI_IN_PLACE, sums, 3, MPI_REAL, MPI_SUM, 0, MPI_COMM_WORLD, MPI_INFO_NULL, requests(3))
  else
    call MPIX_Reduce_init(sums, sums, 3, MPI_REAL, MPI_SUM, 0, MPI_COMM_WORLD, MPI_INFO_NULL, requests(3))
  end if
  call MPIX_Allreduce_init(MPI_IN_PLACE, sum, 3, MPI_REAL, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, requests(4))
  call MPIX_Allgather_init(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, blocks, 1, MPI_INTEGER, MPI_COMM_WORLD, MPI_INFO_NULL, &
    requests(5))
  call MPIX_Alltoall_init(sent, 1, MPI_INTEGER, got, 1, MPI_INTEGER, MPI_COMM_WORLD, MPI_INFO_NULL, requests(6))
  call FJMPI_Prequest_send_init(mine, 1, MPI_INTEGER, modulo(rank + 1, ranks), 9, MPI_COMM_WORLD, requests(7))
  call FJMPI_Prequest_recv_init(theirs, 1, MPI_INTEGER, modulo(rank - 1, ranks), 9, MPI_COMM_WORLD, requests(8))
  do round = 1, rounds
    if (rank == 0) field = round
    sums = round
    sum = round + rank
    blocks = -1
    blocks(rank) = round * rank
    sent(0:ranks - 1) = [(1000 * round + 10 * rank + i, i = 0, ranks - 1)]
    mine = 50 * round + rank
    if (modulo(round, 2) == 0) then
      call MPI_Startall(8, requests)
    else
      do i = 1, 8
        call MPI_Start(requests(i))
      end do
    end if
    left = 8
    select case (modulo(round, 4))
    case (0)
      call MPI_Waitall(7, requests, MPI_STATUSES_IGNORE)
      call MPI_Wait(requests(8), status)
      call MPI_Get_count(status, MPI_INTEGER, count)
      call check(status%MPI_SOURCE == modulo(rank - 1, ranks) .and. status%MPI_TAG == 9 .and. count == 1, 'wait')
    case (1)
      do while (left > 0)
        call MPI_Waitsome(8, requests, found, indices, statuses)
        do i = 1, found
          if (indices(i) == 8) call check(statuses(i)%MPI_TAG == 9, 'waitsome')
        end do
        left = left - found
      end do
    case (2)
      do while (left > 0)
        call MPI_Testany(8, requests, found, flag, status)
        if (.not. flag .or. found == MPI_UNDEFINED) cycle
        if (found == 8) call check(status%MPI_TAG == 9, 'testany')
        left = left - 1
      end do
      call MPI_Waitany(8, requests, found, MPI_STATUS_IGNORE)
      call check(found == MPI_UNDEFINED, 'waitany')
      call MPI_Testsome(8, requests, found, indices, MPI_STATUSES_IGNORE)
      call check(found == MPI_UNDEFINED, 'testsome')
    case (3)
      flag = .false.
      do while (.not. flag)
        call MPI_Request_get_status(requests(8), flag, status)
      end do
      call check(status%MPI_TAG == 9, 'request_get_status')
      flag = .false.
      do while (.not. flag)
        call MPI_Test(requests(1), flag, MPI_STATUS_IGNORE)
      end do
      flag = .false.
      do while (.not. flag)
        call MPI_Testall(8, requests, flag, statuses)
      end do
      call check(statuses(8)%MPI_SOURCE == modulo(rank - 1, ranks), 'testall')
    end select
    call check(all(field == round), 'bcast')
    if (rank == 0) call check(all(sums == round * ranks), 'reduce')
    call check(all(sum == round * ranks + ranks * (ranks - 1) / 2), 'allreduce')
    call check(all(blocks(0:ranks - 1) == [(round * i, i = 0, ranks - 1)]), 'allgather')
    call check(all(got(0:ranks - 1) == [(1000 * round + 10 * i + rank, i = 0, ranks - 1)]), 'alltoall')
    call check(theirs == 50 * round + modulo(rank - 1, ranks), 'a connected request')
  end do
  ! A receive without a message is cancelled; the requests of the pair stay for MPI_Finalize.
  call MPI_Start(requests(8))
  call MPI_Cancel(requests(8))
  call MPI_Wait(requests(8), status)
  call MPI_Test_cancelled(status, flag)
  call check(flag, 'cancel')
  do i = 1, 6
    call MPI_Request_free(requests(i))
    call check(requests(i) == MPI_REQUEST_NULL, 'free')
  end do
  if (rank == 0) print '(i0, a)', ranks, ' ranks'
  call MPI_Finalize()

contains

  subroutine check(good, what)
    logical, intent(in) :: good
    character(*), intent(in) :: what

    if (good) return
    print '(a, i0, 2a)', 'rank ', rank, ': ', what
    call MPI_Abort(MPI_COMM_WORLD, 1)
  end subroutine
end program
