! SPDX-License-Identifier: BSD-3-Clause
! run: pes=2 mixed=3 paths=local,ucx-tcp,mixed,tofu time=120 not=valgrind
! Every type-generic name with every type, arrays of rank 0 to 3 and pairs of sections: whole, contiguous, with gaps, backwards. The
! cases are made of tests/fortran/type.f90.in.
program fortran_types
  use fortran_check
  use fortran_cases
  implicit none
  call begin_test()
  call try_all_types()
  call shmem_finalize()
end program
