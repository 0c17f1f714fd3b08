! SPDX-License-Identifier: BSD-3-Clause
! A program as Cray's users wrote them: variables called my_pe and num_pes, routines of the library as arguments, one routine for arrays
! of several types, functions with and without a declaration, and names that Cray alone had.
program old_cray
  implicit none
  include 'mpp/shmem.fh'
  integer, parameter :: n = 12
  integer :: my_pe, num_pes, next, last, i
  integer(kind=4) :: ints(n), came(n), count, ticket, box
  integer(kind=8) :: longs(n), came8(n), long, count8
  real(kind=4) :: reals(n), real_box
  real(kind=8) :: doubles(n), double_box
  complex :: pairs(n)
  common /symmetric/ longs, came8, doubles, double_box, long, count8, ints, came, reals, pairs, count, ticket, box, real_box
  integer, save :: psync(SHMEM_BCAST_SYNC_SIZE) = SHMEM_SYNC_VALUE
  integer(kind=4) shmem_int4_fadd
  integer(kind=8), external :: shmem_int8_cswap
  external shmem_put4, shmem_get32, shmem_put, shmem_getmem, shmem_integer_put

  call start_pes(0)
  my_pe = shmem_my_pe()
  num_pes = shmem_n_pes()
  next = mod(my_pe + 1, num_pes)
  last = mod(my_pe + num_pes - 1, num_pes)

  call moves(shmem_put4, n, .true., 1)
  call moves(shmem_integer_put, n, .true., 2)
  call moves(shmem_put, n, .true., 3)
  call moves(shmem_get32, n, .false., 4)
  call moves(shmem_getmem, 4 * n, .false., 5)

  ! one routine, several types
  reals = my_pe
  ints = my_pe
  pairs = cmplx(my_pe, -my_pe)
  call shmem_barrier_all()
  if (my_pe == 0) then
    call shmem_put4(reals, reals, n, num_pes - 1)
    call shmem_put4(ints, ints, n, num_pes - 1)
    call shmem_put4(pairs, pairs, 2 * n, num_pes - 1)
  end if
  call shmem_barrier_all()
  if (my_pe == num_pes - 1) then
    if (any(reals /= 0.0) .or. any(ints /= 0) .or. any(pairs /= (0, 0))) call bad('arrays of several types')
  end if

  ! results of functions without a declaration, with one, and external
  real_box = 0.25
  double_box = 0.125d0
  long = 2_8**40
  count = 0
  count8 = 2_8**33
  call shmem_barrier_all()
  if (shmem_real4_swap(real_box, 0.75, my_pe) /= 0.25 .or. real_box /= 0.75) call bad('shmem_real4_swap')
  if (shmem_real8_swap(double_box, 1.5d0, my_pe) /= 0.125d0) call bad('shmem_real8_swap')
  if (shmem_int8_swap(long, 2_8**41, my_pe) /= 2_8**40 .or. long /= 2_8**41) call bad('shmem_int8_swap')
  if (shmem_int8_finc(count8, my_pe) /= 2_8**33) call bad('shmem_int8_finc')
  if (shmem_int8_cswap(long, 2_8**41, 7_8, my_pe) /= 2_8**41 .or. long /= 7) call bad('shmem_int8_cswap')
  call shmem_barrier_all()
  ticket = shmem_int4_fadd(count, 1, 0)
  call shmem_barrier_all()
  if (ticket < 0 .or. ticket >= num_pes) call bad('shmem_int4_fadd')
  if (my_pe == 0 .and. count /= num_pes) call bad('the sum of shmem_int4_fadd')

  ! Cray's generic names
  count = 5
  call shmem_barrier_all()
  if (shmem_finc(count, my_pe) /= 5 .or. shmem_fadd(count, 4, my_pe) /= 6) call bad('shmem_finc')
  if (shmem_cswap(count, 10, 20, my_pe) /= 10 .or. shmem_swap(count, 30, my_pe) /= 20) call bad('shmem_cswap')
  call shmem_inc(count, my_pe)
  call shmem_add(count, 9, my_pe)
  call shmem_quiet()
  if (count /= 40) call bad('shmem_add')
  ints = [(i + my_pe, i = 1, n)]
  call shmem_barrier_all()
  call shmem_get(came, ints, n, next)
  if (any(came /= [(i + next, i = 1, n)])) call bad('shmem_get')
  call shmem_iget(came, ints, 2, 1, n / 2, next)
  if (any(came(1::2) /= [(i + next, i = 1, n / 2)])) call bad('shmem_iget')
  call shmem_barrier_all()
  call shmem_broadcast(came, ints, n, 0, 0, 0, num_pes, psync)
  call shmem_barrier_all()
  if (my_pe /= 0 .and. any(came /= [(i, i = 1, n)])) call bad('shmem_broadcast')

contains

  subroutine moves(routine, length, put, number)
    external routine
    integer, intent(in) :: length, number
    logical, intent(in) :: put

    ints = [(100 * my_pe + i, i = 1, n)]
    came = -1
    call shmem_barrier_all()
    call routine(came, ints, length, next)
    call shmem_barrier_all()
    if (any(came /= [(100 * merge(last, next, put) + i, i = 1, n)])) print *, 'routine', number, 'moved', came
    if (any(came /= [(100 * merge(last, next, put) + i, i = 1, n)])) call bad('a routine as an argument')
    call shmem_barrier_all()
  end subroutine

  subroutine bad(what)
    character(len=*), intent(in) :: what

    print *, 'PE', my_pe, ': ', what
    call shmem_global_exit(1)
  end subroutine
end program
