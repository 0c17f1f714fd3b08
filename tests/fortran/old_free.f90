! SPDX-License-Identifier: BSD-3-Clause
! A program of OpenSHMEM 1.3 in free form: implicit none, functions that it declares or not, SAVE data, real*16.
program old_free
  implicit none
  include 'shmem.fh'
  integer, parameter :: n = 5
  integer, save :: psync(SHMEM_REDUCE_SYNC_SIZE) = SHMEM_SYNC_VALUE
  integer, save :: source(n), target(n), work(n)
  integer(kind=8), save :: blocks(8), came(8)
  real(kind=16), save :: q(2), r(2), qwork(2)
  character(len=20) :: name
  integer :: me, npes, i, expect, major, minor
  integer, external :: my_pe, num_pes

  call shmem_init()
  me = shmem_my_pe()
  npes = shmem_n_pes()
  call shmem_info_get_version(major, minor)
  call shmem_info_get_name(name)
  if (name(1:9) /= 'torushmem') call bad('shmem_info_get_name')
  if (me /= my_pe() .or. npes /= num_pes()) call bad('my_pe')
  source = [(2**i, i = 1, n)] + me
  q = [real(kind=16) :: 1, me + 1] / 3
  call shmem_barrier_all()

  call shmem_int4_xor_to_all(target, source, n, 0, 0, npes, work, psync)
  expect = 0
  do i = 0, npes - 1
    expect = ieor(expect, 8 + i)
  end do
  if (target(3) /= expect) call bad('shmem_int4_xor_to_all')
  call shmem_barrier_all()
  call shmem_real16_sum_to_all(r, q, 2, 0, 0, npes, qwork, psync)
  if (abs(r(2) - real(npes * (npes + 1) / 2, 16) / 3) > 1e-30_16) call bad('shmem_real16_sum_to_all')
  call shmem_real16_max_to_all(r, q, 2, 0, 0, npes, qwork, psync)
  if (abs(r(2) - real(npes, 16) / 3) > 1e-30_16) call bad('shmem_real16_max_to_all')
  blocks = 10 * me + [(int(i, 8), i = 0, 7)]
  call shmem_barrier_all()
  call shmem_alltoall64(came, blocks, 1, 0, 0, npes, psync)
  if (any(came(:npes) /= [(int(10 * i + me, 8), i = 0, npes - 1)])) call bad('shmem_alltoall64')
  call shmem_barrier_all()
  call shmem_put(target, source)
  if (me == 0) print *, 'all is well'
  call shmem_finalize()

contains

  ! Programs may have routines of their own by names that are not of the interface.
  subroutine shmem_put(a, b)
    integer, intent(inout) :: a(:)
    integer, intent(in) :: b(:)
    a = b
  end subroutine

  subroutine bad(what)
    character(len=*), intent(in) :: what
    print *, 'not so: ', what
    flush (6)
    call shmem_global_exit(1)
  end subroutine
end program
