! SPDX-License-Identifier: BSD-3-Clause
! What the tests of the Fortran interface share: checks, and neighbours.
module fortran_check
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: error_unit
  use shmem
  implicit none
  public

  ! The kinds of integers under the names of the type table.
  integer, parameter :: c_integer4 = c_int32_t, c_integer8 = c_int64_t, c_real4 = c_float, c_real8 = c_double

  integer, private :: place
  integer, parameter :: positions(2000) = [(place, place = 1, 2000)]

  integer, protected :: me, npes, left, right

  interface check
    procedure :: check_logical, check_bool
  end interface

contains

  subroutine begin_test()
    call shmem_init()
    me = shmem_my_pe()
    npes = shmem_n_pes()
    right = mod(me + 1, npes)
    left = mod(me + npes - 1, npes)
  end subroutine

  subroutine check_bool(condition, what)
    logical(c_bool), intent(in) :: condition
    character(len=*), intent(in) :: what
    call check_logical(logical(condition), what)
  end subroutine

  subroutine check_logical(condition, what)
    logical, intent(in) :: condition
    character(len=*), intent(in) :: what
    if (condition) return
    write (error_unit, '("PE ", i0, ": not so: ", a)') me, what
    flush (error_unit)
    call shmem_global_exit(1)
  end subroutine
end module
