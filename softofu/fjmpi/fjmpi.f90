! SPDX-License-Identifier: BSD-3-Clause
!
! Extensions of Fujitsu's MPI in Fortran, for any MPI: places of ranks, RDMA, persistent requests and collectives. Compile
! fjmpi_fortran.c with the program's mpicc and this file, then mpi_ext.f90 and mpi_f08_ext.f90 as the program uses them, with
! its mpifort: they fit one compiler and one MPI only. Link -lfjmpi. Programs that include mpif-ext.h need the first two alone.
!
! Names and arguments are Fujitsu's, as programs have them; those of RDMA follow C's, as no program was found that has them.

! What mpi_ext and mpi_f08_ext have in common: constants, and RDMA, whose bodies are in fjmpi_fortran.c.
module fjmpi_common
  use, intrinsic :: iso_fortran_env, only: int64
  implicit none
  include 'mpif-ext.h'
  private :: int64

  interface
    subroutine FJMPI_Rdma_init(ierror)
      integer, intent(out), optional :: ierror
    end subroutine

    subroutine FJMPI_Rdma_finalize(ierror)
      integer, intent(out), optional :: ierror
    end subroutine

    subroutine FJMPI_Rdma_reg_mem(memid, buf, length, address, ierror)
      import :: int64
      !DEC$ ATTRIBUTES NO_ARG_CHECK :: buf
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: buf
      !DIR$ IGNORE_TKR buf
      integer, intent(in) :: memid
      integer, asynchronous :: buf(*)
      integer(int64), intent(in) :: length
      integer(int64), intent(out) :: address
      integer, intent(out), optional :: ierror
    end subroutine

    subroutine FJMPI_Rdma_dereg_mem(memid, ierror)
      integer, intent(in) :: memid
      integer, intent(out), optional :: ierror
    end subroutine

    subroutine FJMPI_Rdma_get_remote_addr(pid, memid, address, ierror)
      import :: int64
      integer, intent(in) :: pid, memid
      integer(int64), intent(out) :: address
      integer, intent(out), optional :: ierror
    end subroutine

    subroutine FJMPI_Rdma_put(pid, tag, raddr, laddr, length, flags, ierror)
      import :: int64
      integer, intent(in) :: pid, tag, flags
      integer(int64), intent(in) :: raddr, laddr, length
      integer, intent(out), optional :: ierror
    end subroutine

    subroutine FJMPI_Rdma_get(pid, tag, raddr, laddr, length, flags, ierror)
      import :: int64
      integer, intent(in) :: pid, tag, flags
      integer(int64), intent(in) :: raddr, laddr, length
      integer, intent(out), optional :: ierror
    end subroutine

    subroutine FJMPI_Rdma_mput(pid, tag, raddrs, laddrs, lengths, stride, count, flags, ierror)
      import :: int64
      integer, intent(in) :: pid, tag, stride, count, flags
      integer(int64), intent(in) :: raddrs(*), laddrs(*), lengths(*)
      integer, intent(out), optional :: ierror
    end subroutine

    subroutine FJMPI_Rdma_poll_cq(nic, cq, notice, ierror)
      integer, intent(in) :: nic
      integer, intent(inout) :: cq(2)
      integer, intent(out) :: notice
      integer, intent(out), optional :: ierror
    end subroutine
  end interface
end module

module fjmpi_library
  use, intrinsic :: iso_c_binding, only: c_int
  use fjmpi_common
  implicit none
  integer, parameter :: fjmpi_axes = 6, fjmpi_ranks_per_node = 48

  interface
    integer(c_int) function fjmpi_topology_shape(me, size) bind(C)
      import :: c_int
      integer(c_int), value :: me
      integer(c_int), intent(out) :: size(3)
    end function

    integer(c_int) function fjmpi_topology_place(me, rank, view, most, coords) bind(C)
      import :: c_int
      integer(c_int), value :: me, rank, view, most
      integer(c_int), intent(inout) :: coords(*)
    end function

    integer(c_int) function fjmpi_topology_ranks(me, view, coords, ranks) bind(C)
      import :: c_int
      integer(c_int), value :: me, view
      integer(c_int), intent(in) :: coords(*)
      integer(c_int), intent(out) :: ranks(*)
    end function

    ! The addresses of variables by which the MPI recognises them. binding: 0 or, for mpi_f08, 1.
    subroutine fjmpi_fortran_constants(binding, bottom, in_place) bind(C)
      import :: c_int
      integer(c_int), value :: binding
      integer(c_int), intent(in) :: bottom, in_place
    end subroutine
  end interface

contains

  ! The same process in another communicator, or MPI_UNDEFINED.
  integer function fjmpi_translate(from, rank, to) result(there)
    use mpi
    integer, intent(in) :: from, rank, to
    integer :: size, here_group, there_group, one(1), translated(1), ierror

    there = MPI_UNDEFINED
    call MPI_Comm_size(from, size, ierror)
    if (ierror /= MPI_SUCCESS .or. rank < 0 .or. rank >= size) return
    one(1) = rank
    call MPI_Comm_group(from, here_group, ierror)
    call MPI_Comm_group(to, there_group, ierror)
    call MPI_Group_translate_ranks(here_group, 1, one, there_group, translated, ierror)
    call MPI_Group_free(here_group, ierror)
    call MPI_Group_free(there_group, ierror)
    there = translated(1)
  end function

  integer function fjmpi_me()
    use mpi
    integer :: ierror

    call MPI_Comm_rank(MPI_COMM_WORLD, fjmpi_me, ierror)
  end function
end module

! --- Places of ranks ---

subroutine FJMPI_Topology_get_shape(x, y, z, ierror)
  use mpi
  use fjmpi_library
  implicit none
  integer, intent(out) :: x, y, z, ierror
  integer :: size(3)

  ierror = MPI_ERR_OTHER
  if (fjmpi_topology_shape(fjmpi_me(), size) < 0) return
  x = size(1)
  y = size(2)
  z = size(3)
  ierror = MPI_SUCCESS
end subroutine

subroutine FJMPI_Topology_get_dimension(dimensions, ierror)
  use mpi
  use fjmpi_library
  implicit none
  integer, intent(out) :: dimensions, ierror
  integer :: size(3), axes

  ierror = MPI_ERR_OTHER
  axes = fjmpi_topology_shape(fjmpi_me(), size)
  if (axes < 0) return
  dimensions = axes
  ierror = MPI_SUCCESS
end subroutine

subroutine FJMPI_Topology_get_coords(comm, rank, view, most, coords, ierror)
  use mpi
  use fjmpi_library
  implicit none
  integer, intent(in) :: comm, rank, view, most
  integer, intent(inout) :: coords(*)
  integer, intent(out) :: ierror
  integer :: world

  world = fjmpi_translate(comm, rank, MPI_COMM_WORLD)
  if (world == MPI_UNDEFINED) then
    ierror = MPI_ERR_RANK
  else if (view < FJMPI_LOGICAL .or. view > FJMPI_TOFU_REL .or. most < 1) then
    ierror = MPI_ERR_ARG
  else if (fjmpi_topology_place(fjmpi_me(), world, view, most, coords) < 0) then
    ierror = MPI_ERR_OTHER
  else
    ierror = MPI_SUCCESS
  end if
end subroutine

! Ranks of the communicator on a node, at most so many.
subroutine FJMPI_Topology_get_ranks(comm, view, coords, most, count, ranks, ierror)
  use mpi
  use fjmpi_library
  implicit none
  integer, intent(in) :: comm, view, coords(*), most
  integer, intent(out) :: count, ierror
  integer, intent(inout) :: ranks(*)
  integer :: there(fjmpi_ranks_per_node), found, rank, i

  ierror = MPI_ERR_ARG
  if (view < FJMPI_LOGICAL .or. view > FJMPI_TOFU_REL .or. most < 1) return
  found = fjmpi_topology_ranks(fjmpi_me(), view, coords, there)
  if (found < 0) return
  count = 0
  do i = 1, found
    rank = fjmpi_translate(MPI_COMM_WORLD, there(i), comm)
    if (rank == MPI_UNDEFINED .or. count == most) cycle
    count = count + 1
    ranks(count) = rank
  end do
  ierror = MPI_SUCCESS
end subroutine

! The names of the K computer's days, for ranks of the world.

subroutine FJMPI_Topology_rank2x(rank, x, ierror)
  use mpi
  use fjmpi_library
  implicit none
  integer, intent(in) :: rank
  integer, intent(out) :: x, ierror
  integer :: at(1)

  call FJMPI_Topology_get_coords(MPI_COMM_WORLD, rank, FJMPI_LOGICAL, 1, at, ierror)
  if (ierror /= MPI_SUCCESS) return
  x = at(1)
end subroutine

subroutine FJMPI_Topology_rank2xy(rank, x, y, ierror)
  use mpi
  use fjmpi_library
  implicit none
  integer, intent(in) :: rank
  integer, intent(out) :: x, y, ierror
  integer :: at(2)

  call FJMPI_Topology_get_coords(MPI_COMM_WORLD, rank, FJMPI_LOGICAL, 2, at, ierror)
  if (ierror /= MPI_SUCCESS) return
  x = at(1)
  y = at(2)
end subroutine

subroutine FJMPI_Topology_rank2xyz(rank, x, y, z, ierror)
  use mpi
  use fjmpi_library
  implicit none
  integer, intent(in) :: rank
  integer, intent(out) :: x, y, z, ierror
  integer :: at(3)

  call FJMPI_Topology_get_coords(MPI_COMM_WORLD, rank, FJMPI_LOGICAL, 3, at, ierror)
  if (ierror /= MPI_SUCCESS) return
  x = at(1)
  y = at(2)
  z = at(3)
end subroutine

subroutine FJMPI_Topology_sys_rank2xyzabc(rank, x, y, z, a, b, c, ierror)
  use mpi
  use fjmpi_library
  implicit none
  integer, intent(in) :: rank
  integer, intent(out) :: x, y, z, a, b, c, ierror
  integer :: at(6)

  call FJMPI_Topology_get_coords(MPI_COMM_WORLD, rank, FJMPI_TOFU_SYS, 6, at, ierror)
  if (ierror /= MPI_SUCCESS) return
  x = at(1)
  y = at(2)
  z = at(3)
  a = at(4)
  b = at(5)
  c = at(6)
end subroutine

subroutine FJMPI_Topology_rel_rank2xyzabc(rank, x, y, z, a, b, c, ierror)
  use mpi
  use fjmpi_library
  implicit none
  integer, intent(in) :: rank
  integer, intent(out) :: x, y, z, a, b, c, ierror
  integer :: at(6)

  call FJMPI_Topology_get_coords(MPI_COMM_WORLD, rank, FJMPI_TOFU_REL, 6, at, ierror)
  if (ierror /= MPI_SUCCESS) return
  x = at(1)
  y = at(2)
  z = at(3)
  a = at(4)
  b = at(5)
  c = at(6)
end subroutine

! --- Persistent requests and collectives ---

! fjmpi_fortran.c has their bodies, and calls this to recognise these variables.
subroutine fjmpi_pass_constants() bind(C)
  use mpi, only: MPI_BOTTOM, MPI_IN_PLACE
  use fjmpi_library, only: fjmpi_fortran_constants
  implicit none

  call fjmpi_fortran_constants(0, MPI_BOTTOM, MPI_IN_PLACE)
end subroutine
