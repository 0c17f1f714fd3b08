! SPDX-License-Identifier: BSD-3-Clause
! What heat.f90, lattice.f90 and solver.f90 share: the command line, the grid of PEs with its exchange, and what they print. Each computes on a
! lattice of points that is cut in blocks, one for each PE. Around its block a PE has ghost points, copies of the outermost points of
! its neighbours' blocks. Dimension 1 of an array is dimension 0 of the grid.
module halo
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: error_unit
  use shmemx
  use shmem
  implicit none
  private
  public :: halo_begin, halo_stop, halo_has, halo_corner, halo_end

  type, public :: halo_t
    integer :: dims, side, iterations ! a block has side points along each dimension
    integer :: point = 8 ! bytes that a message has of each point of a face
    logical(c_bool) :: wraps = .true.
    integer :: grid(SHMEMX_AXES) = 0 ! PEs along each dimension; 0: as it fits
    type(shmem_team_t) :: team = SHMEM_TEAM_INVALID
    type(shmemx_exchange_t) :: exchange = SHMEMX_EXCHANGE_INVALID
  end type

contains

  ! Starts the library; the command line changes what the caller filled in.
  subroutine halo_begin(h, name)
    type(halo_t), intent(inout) :: h
    character(len=*), intent(in) :: name
    integer :: code, wraps(SHMEMX_AXES), dims
    logical(c_bool) :: all_wrap(SHMEMX_AXES)
    call shmem_init()
    code = read_options(h, name)
    if (code >= 0) call halo_stop(code)
    all_wrap = h%wraps
    call shmemx_grid_create(SHMEM_TEAM_WORLD, h%grid(:h%dims), all_wrap(:h%dims), .true._c_bool, h%team)
    dims = shmemx_grid_sizes(h%team, h%grid, wraps)
    call shmemx_exchange_create_grid(h%team, spread(int(h%point, c_int64_t) * h%side**(dims - 1), 1, 2 * dims), &
      SHMEMX_EDGE_EACH_ITERATION, h%exchange)
    if (shmem_my_pe() == 0) call print_report(h, name)
  end subroutine

  subroutine print_report(h, name)
    type(halo_t), intent(in) :: h
    character(len=*), intent(in) :: name
    type(shmemx_grid_report_t) :: report
    integer :: d
    call shmemx_grid_report(h%team, report)
    write (*, '(a, ": blocks of ", i0, " points along each of ", i0, " dimensions, ", i0, " PEs as ")', advance="no") &
      name, h%side, h%dims, shmem_n_pes()
    write (*, '(*(i0, a, :, "x"))') (h%grid(d), trim(merge(" ", "m", logical(h%wraps))), d=1, h%dims)
    print '(7a, i0, a)', "placed ", trim(report%how), ": ", fixed(report%after%mean_hops), " hops between neighbours, ", &
      fixed(report%before%mean_hops), " in rank order; messages of ", h%point * h%side**(h%dims - 1), " bytes"
  end subroutine

  ! With two digits behind the point, as short as it can be.
  function fixed(number) result(text)
    real(c_double), intent(in) :: number
    character(len=:), allocatable :: text
    character(len=24) :: digits
    write (digits, '(f24.2)') number
    text = trim(adjustl(digits))
  end function

  ! Returns -1 to go on, else the exit code.
  integer function read_options(h, name) result(code)
    type(halo_t), intent(inout) :: h
    character(len=*), intent(in) :: name
    character(len=64) :: option, value
    integer :: i, wrong
    code = -1
    i = 1
    do while (i <= command_argument_count())
      call get_command_argument(i, option)
      call get_command_argument(i + 1, value)
      i = i + 2
      wrong = 0
      select case (option)
      case ("--open")
        h%wraps = .false.
        i = i - 1
      case ("--side")
        read (value, *, iostat=wrong) h%side
      case ("--iterations")
        read (value, *, iostat=wrong) h%iterations
      case ("--grid")
        read (value, *, iostat=wrong) h%grid(:h%dims)
      case default
        wrong = 1
      end select
      if (wrong == 0 .and. h%side >= 1 .and. h%iterations >= 1) cycle
      if (shmem_my_pe() == 0) &
        print '("usage: oshrun -n PES ", a, " [--side N] [--grid N,N,...] [--iterations N] [--open]")', name
      code = merge(0, 2, option == "--help")
      return
    end do
  end function

  subroutine halo_stop(code)
    integer, intent(in) :: code
    call shmem_finalize()
    stop code, quiet=.true.
  end subroutine

  ! Does an edge lead to a neighbour? A grid that does not wrap has ends.
  logical function halo_has(h, edge)
    type(halo_t), intent(in) :: h
    integer, intent(in) :: edge
    halo_has = shmemx_grid_neighbour(h%team, edge / 2, merge(1, -1, mod(edge, 2) == 0)) >= 0
  end function

  ! The point of the lattice, which begins with 0, at which the block of a PE of the grid begins.
  function halo_corner(h, pe) result(corner)
    type(halo_t), intent(in) :: h
    integer, intent(in) :: pe
    integer :: corner(h%dims)
    call shmemx_grid_coordinates(h%team, pe, corner)
    corner = corner * h%side
  end function

  ! PE 0 knows whether all is as the serial answer.
  subroutine halo_end(h, right)
    type(halo_t), intent(inout) :: h
    logical, intent(in) :: right
    if (shmem_my_pe() == 0) print '(a)', merge("PASS", "FAIL", right)
    call shmem_barrier_all()
    call shmemx_exchange_destroy(h%exchange)
    call shmem_team_destroy(h%team)
    call halo_stop(merge(0, 1, right))
  end subroutine
end module
