! SPDX-License-Identifier: BSD-3-Clause
! RDMA around a ring of ranks: a put with a flag behind it, a get, two puts with one notice at both sides, and mistakes.
program fortran_rdma
  use mpi_f08
  use mpi_f08_ext
  use, intrinsic :: iso_fortran_env, only: int64
  implicit none
  integer, parameter :: words = 1000, flags = FJMPI_RDMA_LOCAL_NIC1 + FJMPI_RDMA_REMOTE_NIC2 + FJMPI_RDMA_STRONG_ORDER
  integer, volatile :: source(words), target(words)
  integer :: rank, ranks, next, previous, ierror, i
  integer(int64) :: here, there, mine, lengths(2) = [40_int64, 80_int64]

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  next = modulo(rank + 1, ranks)
  previous = modulo(rank - 1, ranks)
  call FJMPI_Rdma_init(ierror)
  call check(ierror == FJMPI_SUCCESS, 'init')
  target = -1
  source = [(1000 * rank + i, i = 1, words)]
  call FJMPI_Rdma_reg_mem(3, source, 4_int64 * words, here, ierror)
  call check(ierror == FJMPI_SUCCESS .and. here /= FJMPI_RDMA_ERROR, 'reg_mem')
  call FJMPI_Rdma_reg_mem(511, target, 4_int64 * words, mine)
  call find(next, 511, there)
  call FJMPI_Rdma_put(next, 14, there, here, 4_int64 * words, flags, ierror)
  call check(ierror == FJMPI_SUCCESS, 'put')
  call expect(FJMPI_RDMA_NIC1, FJMPI_RDMA_NOTICE, next, 14)
  do while (target(words) /= 1000 * previous + words)
  end do
  call check(all(target == [(1000 * previous + i, i = 1, words)]), 'what the put brought')
  call MPI_Barrier(MPI_COMM_WORLD)

  ! Words 11 to 20 of the other rank's target are its previous rank's: this one's.
  source = 0
  call FJMPI_Rdma_get(next, 2, there + 40, here, 40_int64, flags)
  call expect(FJMPI_RDMA_NIC1, FJMPI_RDMA_NOTICE, next, 2)
  call check(all(source(1:11) == [(1000 * rank + i, i = 11, 20), 0]), 'what the get brought')
  call MPI_Barrier(MPI_COMM_WORLD)

  source = 7
  target = 0
  call MPI_Barrier(MPI_COMM_WORLD)
  call FJMPI_Rdma_mput(next, 0, [there, there + 400], [here, here], lengths, 0, 2, &
    flags + FJMPI_RDMA_REMOTE_NOTICE, ierror)
  call check(ierror == FJMPI_SUCCESS, 'mput')
  call expect(FJMPI_RDMA_NIC1, FJMPI_RDMA_NOTICE, next, 0)
  call expect(FJMPI_RDMA_NIC2, FJMPI_RDMA_HALFWAY_NOTICE, previous, 0)
  call check(all(target(1:10) == 7) .and. all(target(101:120) == 7) .and. sum(target) == 210, 'what the puts brought')
  call MPI_Barrier(MPI_COMM_WORLD)

  call FJMPI_Rdma_dereg_mem(3, ierror)
  call check(ierror == FJMPI_SUCCESS, 'dereg_mem')
  call FJMPI_Rdma_put(next, 0, there, here, 8_int64, flags, ierror)
  call check(ierror /= FJMPI_SUCCESS, 'a put from memory that is not registered any more')
  call FJMPI_Rdma_reg_mem(512, target, 8_int64, mine, ierror)
  call check(ierror /= FJMPI_SUCCESS .and. mine == FJMPI_RDMA_ERROR, 'there is no such memory id')
  call FJMPI_Rdma_finalize(ierror)
  call check(ierror == FJMPI_SUCCESS, 'finalize')
  if (rank == 0) print '(i0, a)', ranks, ' ranks'
  call MPI_Finalize()

contains

  subroutine find(pid, memid, address)
    integer, intent(in) :: pid, memid
    integer(int64), intent(out) :: address

    do
      call FJMPI_Rdma_get_remote_addr(pid, memid, address)
      if (address /= FJMPI_RDMA_ERROR) exit
    end do
  end subroutine

  subroutine expect(nic, wanted, pid, tag)
    integer, intent(in) :: nic, wanted, pid, tag
    integer :: cq(2), notice

    cq = -1
    do
      call FJMPI_Rdma_poll_cq(nic, cq, notice)
      if (notice /= 0) exit
    end do
    call check(notice == wanted .and. all(cq == [pid, tag]), 'a notice')
  end subroutine

  subroutine check(good, what)
    logical, intent(in) :: good
    character(*), intent(in) :: what

    if (good) return
    print '(a, i0, 2a)', 'rank ', rank, ' not so: ', what
    call MPI_Abort(MPI_COMM_WORLD, 1)
  end subroutine
end program
