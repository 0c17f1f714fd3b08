! SPDX-License-Identifier: BSD-3-Clause
! A thousand puts of a number, whose instructions are counted and compared with those of putter.c.
module puts
  use, intrinsic :: iso_c_binding
  use shmem
  implicit none
  real(c_double), save :: word, number = 3
contains
  subroutine putter(pe) bind(c)
    integer(c_int), value :: pe
    integer :: i
    do i = 1, 1000
      call shmem_put(word, number, pe)
    end do
  end subroutine
end module

program main
  use puts
  call shmem_init()
  call putter(mod(shmem_my_pe() + 1, shmem_n_pes()))
  call shmem_barrier_all()
  call shmem_finalize()
end program
