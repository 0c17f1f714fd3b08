! SPDX-License-Identifier: BSD-3-Clause
! With copies.c: a section goes to C where it is, or is copied once into one message; the compiler copies nothing.
program copies
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: error_unit
  use shmem
  implicit none
  interface
    subroutine copies_begin() bind(c)
    end subroutine
    subroutine copies_result(copied, calls, moved, from, length, inside) bind(c)
      import
      integer(c_size_t), intent(out) :: copied, calls, moved
      type(c_ptr), value :: from
      integer(c_size_t), value :: length
      logical(c_bool), intent(out) :: inside
    end subroutine
  end interface
  real(c_double), save, target :: mine(300, 8), theirs(300, 8)

  call shmem_init()
  call copies_begin()
  call shmem_put(theirs(:, 3), mine(:, 2), 0)
  call expect("whole columns", 0, 1, 2400, .true.)
  call shmem_put(theirs(:, 2:3), mine(:, 5:6), 0)
  call expect("two columns", 0, 1, 4800, .true.)
  call shmem_put(theirs(1:8, 1), mine(4, :), 0)
  call expect("a row to a column", 64, 1, 64, .false.)
  call shmem_put(theirs(4, :), mine(1:8, 1), 0)
  call expect("a column to a row", 0, 8, 64, .true.)
  call shmem_put(theirs(1:10:3, 1:2), mine(2:8:2, 3:8:5), 0)
  call expect("gaps on both sides", 0, 8, 64, .true.)
  call shmem_put(theirs(:, 1:2), mine(1:200, 1:3), 0)
  call expect("long pieces, which go one by one", 0, 3, 4800, .true.)
  call shmem_get(mine(:, 2), theirs(:, 3), 0)
  call expect("whole columns, by a get", 0, 1, 2400, .true.)
  call shmem_get(mine(4, :), theirs(1:8, 1), 0)
  call expect("a column to a row, by a get", 64, 1, 64, .false.)
  call shmem_get(mine(1:8, 1), theirs(4, :), 0)
  call expect("a row to a column, by a get", 0, 8, 64, .true.)
  call shmem_finalize()

contains

  ! Bytes that are copied, calls of C and bytes that these move; whether these are of the array itself.
  subroutine expect(what, copied, calls, moved, inside)
    character(len=*), intent(in) :: what
    integer, intent(in) :: copied, calls, moved
    logical, intent(in) :: inside
    integer(c_size_t) :: is_copied, is_calls, is_moved
    logical(c_bool) :: is_inside
    call copies_result(is_copied, is_calls, is_moved, c_loc(mine), int(size(mine) * 8, c_size_t), is_inside)
    if (is_copied /= copied .or. is_calls /= calls .or. is_moved /= moved .or. (is_inside .neqv. inside)) then
      write (error_unit, *) what, ": ", is_copied, is_calls, is_moved, is_inside
      flush (error_unit)
      call shmem_global_exit(1)
    end if
    call copies_begin()
  end subroutine
end program
