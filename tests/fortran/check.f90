! SPDX-License-Identifier: BSD-3-Clause
! What the tests of the Fortran interface share: checks, neighbours, and the numbers of the cases of tests/fortran/type.f90.in.
module fortran_check
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: error_unit
  use shmem
  implicit none
  public

  ! The kinds of integers under the names of the type table.
  integer, parameter :: c_integer4 = c_int32_t, c_integer8 = c_int64_t

  integer, parameter :: op_put = 1
  integer, parameter :: op_put_nbi = 2
  integer, parameter :: op_get = 3
  integer, parameter :: op_get_nbi = 4
  integer, parameter :: op_put_signal = 5
  integer, parameter :: op_put_signal_nbi = 6
  integer, parameter :: op_broadcast = 7
  integer, parameter :: op_put_ctx = 8
  integer, parameter :: op_get_ctx = 9
  integer, parameter :: op_put_nbi_ctx = 10
  integer, parameter :: op_get_nbi_ctx = 11
  integer, parameter :: op_putmem = 12
  integer, parameter :: op_getmem = 13
  integer, parameter :: op_put_signal_ctx = 14
  integer, parameter :: op_broadcastmem = 15
  integer, parameter :: op_sum_reduce = 16
  integer, parameter :: op_prod_reduce = 17
  integer, parameter :: op_max_reduce = 18
  integer, parameter :: op_min_reduce = 19
  integer, parameter :: op_and_reduce = 20
  integer, parameter :: op_or_reduce = 21
  integer, parameter :: op_xor_reduce = 22
  integer, parameter :: op_sum_inscan = 23
  integer, parameter :: op_sum_exscan = 24
  integer, parameter :: first_reduction = op_sum_reduce, last_op = op_sum_exscan
  integer, private :: place
  integer, parameter :: positions(2000) = [(place, place = 1, 2000)]

  integer, protected :: me, npes, left, right

  interface check
    procedure :: check_logical, check_bool
  end interface
  interface bits_and
    procedure :: and_1, and_2, and_4, and_8, and_logical, and_bool
  end interface
  interface bits_or
    procedure :: or_1, or_2, or_4, or_8, or_logical, or_bool
  end interface
  interface bits_xor
    procedure :: xor_1, xor_2, xor_4, xor_8, xor_logical, xor_bool
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

  function name_of(op) result(name)
    integer, intent(in) :: op
    character(len=:), allocatable :: name
    select case (op)
    case (op_put)
      name = "put"
    case (op_put_nbi)
      name = "put_nbi"
    case (op_get)
      name = "get"
    case (op_get_nbi)
      name = "get_nbi"
    case (op_put_signal)
      name = "put_signal"
    case (op_put_signal_nbi)
      name = "put_signal_nbi"
    case (op_broadcast)
      name = "broadcast"
    case (op_put_ctx)
      name = "put_ctx"
    case (op_get_ctx)
      name = "get_ctx"
    case (op_put_nbi_ctx)
      name = "put_nbi_ctx"
    case (op_get_nbi_ctx)
      name = "get_nbi_ctx"
    case (op_putmem)
      name = "putmem"
    case (op_getmem)
      name = "getmem"
    case (op_put_signal_ctx)
      name = "put_signal_ctx"
    case (op_broadcastmem)
      name = "broadcastmem"
    case (op_sum_reduce)
      name = "sum_reduce"
    case (op_prod_reduce)
      name = "prod_reduce"
    case (op_max_reduce)
      name = "max_reduce"
    case (op_min_reduce)
      name = "min_reduce"
    case (op_and_reduce)
      name = "and_reduce"
    case (op_or_reduce)
      name = "or_reduce"
    case (op_xor_reduce)
      name = "xor_reduce"
    case (op_sum_inscan)
      name = "sum_inscan"
    case (op_sum_exscan)
      name = "sum_exscan"
    case default
      name = "?"
    end select
  end function

  elemental function and_1(a, b) result(c)
    integer(c_int8_t), intent(in) :: a, b
    integer(c_int8_t) :: c
    c = iand(a, b)
  end function

  elemental function and_2(a, b) result(c)
    integer(c_int16_t), intent(in) :: a, b
    integer(c_int16_t) :: c
    c = iand(a, b)
  end function

  elemental function and_4(a, b) result(c)
    integer(c_int32_t), intent(in) :: a, b
    integer(c_int32_t) :: c
    c = iand(a, b)
  end function

  elemental function and_8(a, b) result(c)
    integer(c_int64_t), intent(in) :: a, b
    integer(c_int64_t) :: c
    c = iand(a, b)
  end function

  elemental function and_logical(a, b) result(c)
    logical, intent(in) :: a, b
    logical :: c
    c = a .and. b
  end function

  elemental function and_bool(a, b) result(c)
    logical(c_bool), intent(in) :: a, b
    logical(c_bool) :: c
    c = a .and. b
  end function

  elemental function or_1(a, b) result(c)
    integer(c_int8_t), intent(in) :: a, b
    integer(c_int8_t) :: c
    c = ior(a, b)
  end function

  elemental function or_2(a, b) result(c)
    integer(c_int16_t), intent(in) :: a, b
    integer(c_int16_t) :: c
    c = ior(a, b)
  end function

  elemental function or_4(a, b) result(c)
    integer(c_int32_t), intent(in) :: a, b
    integer(c_int32_t) :: c
    c = ior(a, b)
  end function

  elemental function or_8(a, b) result(c)
    integer(c_int64_t), intent(in) :: a, b
    integer(c_int64_t) :: c
    c = ior(a, b)
  end function

  elemental function or_logical(a, b) result(c)
    logical, intent(in) :: a, b
    logical :: c
    c = a .or. b
  end function

  elemental function or_bool(a, b) result(c)
    logical(c_bool), intent(in) :: a, b
    logical(c_bool) :: c
    c = a .or. b
  end function

  elemental function xor_1(a, b) result(c)
    integer(c_int8_t), intent(in) :: a, b
    integer(c_int8_t) :: c
    c = ieor(a, b)
  end function

  elemental function xor_2(a, b) result(c)
    integer(c_int16_t), intent(in) :: a, b
    integer(c_int16_t) :: c
    c = ieor(a, b)
  end function

  elemental function xor_4(a, b) result(c)
    integer(c_int32_t), intent(in) :: a, b
    integer(c_int32_t) :: c
    c = ieor(a, b)
  end function

  elemental function xor_8(a, b) result(c)
    integer(c_int64_t), intent(in) :: a, b
    integer(c_int64_t) :: c
    c = ieor(a, b)
  end function

  elemental function xor_logical(a, b) result(c)
    logical, intent(in) :: a, b
    logical :: c
    c = a .neqv. b
  end function

  elemental function xor_bool(a, b) result(c)
    logical(c_bool), intent(in) :: a, b
    logical(c_bool) :: c
    c = a .neqv. b
  end function
end module
