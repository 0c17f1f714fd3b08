! SPDX-License-Identifier: BSD-3-Clause
! ../lattice.c in Fortran: a field on a lattice of four dimensions, whose even points are computed from the odd ones and the other way
! round. Half of the points change in place, and faces go before each half.
program lattice
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: error_unit
  use shmemx
  use shmem
  use halo
  implicit none
  type(halo_t) :: h = halo_t(dims=4, side=8, iterations=100)
  real(c_double), pointer :: field(:, :, :, :) => null() ! symmetric
  integer :: n, differ, corner(4), sides(4)

  call halo_begin(h, "lattice")
  sides = h%side * h%grid(:4)
  if (h%wraps .and. any(mod(sides, 2) /= 0)) then
    if (shmem_my_pe() == 0) write (error_unit, '(a, i0, a)') "lattice: where it wraps, ", maxval(sides, mod(sides, 2) /= 0), &
      " points make two even ones neighbours; give an even --side"
    call halo_stop(2)
  end if
  corner = halo_corner(h, shmem_team_my_pe(h%team))
  call shmem_allocate(field, spread(h%side + 2, 1, 4), lower=[0, 0, 0, 0])
  field = 0
  call set_first(field, corner)
  do n = 0, 2 * h%iterations - 1
    call sweep(field, mod(n, 2))
  end do
  call shmem_barrier_all()
  differ = 0
  if (shmem_my_pe() == 0) call compare()
  call shmem_barrier_all()
  call shmem_deallocate(field)
  call halo_end(h, differ == 0)

contains

  ! Any number that follows from where a point is.
  subroutine set_first(points, corner)
    real(c_double), intent(inout) :: points(0:, 0:, 0:, 0:)
    integer, intent(in) :: corner(4)
    integer(c_int64_t) :: place
    integer :: x, y, z, t
    do t = 1, ubound(points, 4) - 1
      do z = 1, ubound(points, 3) - 1
        do y = 1, ubound(points, 2) - 1
          do x = 1, ubound(points, 1) - 1
            place = 31 + corner(1) + x - 1
            place = 31 * place + corner(2) + y - 1
            place = 31 * place + corner(3) + z - 1
            place = 31 * place + corner(4) + t - 1
            points(x, y, z, t) = real(mod(place * 2654435761_c_int64_t, 1000_c_int64_t), c_double) / 1000
          end do
        end do
      end do
    end do
  end subroutine

  ! The points of one parity in a box.
  pure subroutine relax(points, corner, parity, first, last)
    real(c_double), intent(inout) :: points(0:, 0:, 0:, 0:)
    integer, intent(in) :: corner(4), parity, first(4), last(4)
    real(c_double) :: near
    integer :: x, y, z, t, begin
    do t = first(4), last(4)
      do z = first(3), last(3)
        do y = first(2), last(2)
          begin = first(1) + mod(sum(corner) + first(1) + y + z + t + parity, 2)
          do x = begin, last(1), 2
            near = points(x + 1, y, z, t) + points(x - 1, y, z, t)
            near = near + (points(x, y + 1, z, t) + points(x, y - 1, z, t))
            near = near + (points(x, y, z + 1, t) + points(x, y, z - 1, t))
            near = near + (points(x, y, z, t + 1) + points(x, y, z, t - 1))
            points(x, y, z, t) = 0.25_c_double * points(x, y, z, t) + 0.09_c_double * near
          end do
        end do
      end do
    end do
  end subroutine

  subroutine sweep(points, parity)
    real(c_double), intent(inout) :: points(0:, 0:, 0:, 0:)
    integer, intent(in) :: parity
    integer :: n
    n = h%side
    call send_face(shmemx_edge_up(0), points(n, 1:n, 1:n, 1:n))
    call send_face(shmemx_edge_down(0), points(1, 1:n, 1:n, 1:n))
    call send_face(shmemx_edge_up(1), points(1:n, n, 1:n, 1:n))
    call send_face(shmemx_edge_down(1), points(1:n, 1, 1:n, 1:n))
    call send_face(shmemx_edge_up(2), points(1:n, 1:n, n, 1:n))
    call send_face(shmemx_edge_down(2), points(1:n, 1:n, 1, 1:n))
    call send_face(shmemx_edge_up(3), points(1:n, 1:n, 1:n, n))
    call send_face(shmemx_edge_down(3), points(1:n, 1:n, 1:n, 1))
    call shmemx_exchange_start(h%exchange, SHMEMX_ALL_EDGES)
    call relax(points, corner, parity, [2, 2, 2, 2], [n - 1, n - 1, n - 1, n - 1])
    call shmemx_exchange_wait(h%exchange, SHMEMX_ALL_EDGES)
    call take_face(shmemx_edge_up(0), points(n + 1, 1:n, 1:n, 1:n))
    call take_face(shmemx_edge_down(0), points(0, 1:n, 1:n, 1:n))
    call take_face(shmemx_edge_up(1), points(1:n, n + 1, 1:n, 1:n))
    call take_face(shmemx_edge_down(1), points(1:n, 0, 1:n, 1:n))
    call take_face(shmemx_edge_up(2), points(1:n, 1:n, n + 1, 1:n))
    call take_face(shmemx_edge_down(2), points(1:n, 1:n, 0, 1:n))
    call take_face(shmemx_edge_up(3), points(1:n, 1:n, 1:n, n + 1))
    call take_face(shmemx_edge_down(3), points(1:n, 1:n, 1:n, 0))
    call shmemx_exchange_release(h%exchange, SHMEMX_ALL_EDGES)
    call boundary(points, parity)
  end subroutine

  subroutine send_face(edge, face)
    integer, intent(in) :: edge
    real(c_double), intent(in) :: face(:, :, :)
    if (halo_has(h, edge)) call shmemx_exchange_pack(h%exchange, edge, face)
  end subroutine

  subroutine take_face(edge, face)
    integer, intent(in) :: edge
    real(c_double), intent(inout) :: face(:, :, :)
    if (halo_has(h, edge)) call shmemx_exchange_unpack(h%exchange, edge, face)
  end subroutine

  ! Along each dimension the two outermost layers, without the points that were in one before.
  subroutine boundary(points, parity)
    real(c_double), intent(inout) :: points(0:, 0:, 0:, 0:)
    integer, intent(in) :: parity
    integer :: d, first(4), last(4)
    do d = 1, 4
      first = merge(2, 1, [1, 2, 3, 4] < d)
      last = merge(h%side - 1, h%side, [1, 2, 3, 4] < d)
      last(d) = 1
      call relax(points, corner, parity, first, last)
      if (h%side == 1) cycle
      first(d) = h%side
      last(d) = h%side
      call relax(points, corner, parity, first, last)
    end do
  end subroutine

  ! The same on one PE.
  subroutine solve_alone(points)
    real(c_double), allocatable, intent(out) :: points(:, :, :, :)
    integer :: n
    allocate (points(0:sides(1) + 1, 0:sides(2) + 1, 0:sides(3) + 1, 0:sides(4) + 1))
    points = 0
    call set_first(points, [0, 0, 0, 0])
    do n = 0, 2 * h%iterations - 1
      if (h%wraps) then
        points(0, :, :, :) = points(sides(1), :, :, :)
        points(sides(1) + 1, :, :, :) = points(1, :, :, :)
        points(:, 0, :, :) = points(:, sides(2), :, :)
        points(:, sides(2) + 1, :, :) = points(:, 1, :, :)
        points(:, :, 0, :) = points(:, :, sides(3), :)
        points(:, :, sides(3) + 1, :) = points(:, :, 1, :)
        points(:, :, :, 0) = points(:, :, :, sides(4))
        points(:, :, :, sides(4) + 1) = points(:, :, :, 1)
      end if
      call relax(points, [0, 0, 0, 0], mod(n, 2), [1, 1, 1, 1], sides)
    end do
  end subroutine

  ! PE 0 gets everybody's block and counts those that differ.
  subroutine compare()
    real(c_double), allocatable :: alone(:, :, :, :), theirs(:, :, :, :)
    integer :: n, pe, a(4), b(4), x, y, z, t
    real(c_double) :: total
    n = h%side
    call solve_alone(alone)
    allocate (theirs(n, n, n, n))
    do pe = 0, shmem_team_n_pes(h%team) - 1
      a = halo_corner(h, pe) + 1
      b = a + n - 1
      call shmem_get(theirs, field(1:n, 1:n, 1:n, 1:n), shmem_team_translate_pe(h%team, pe, SHMEM_TEAM_WORLD))
      if (any(abs(theirs - alone(a(1):b(1), a(2):b(2), a(3):b(3), a(4):b(4))) > 0)) differ = differ + 1
    end do
    total = 0
    do x = 1, sides(1)
      do y = 1, sides(2)
        do z = 1, sides(3)
          do t = 1, sides(4)
            total = total + alone(x, y, z, t)
          end do
        end do
      end do
    end do
    print '("sum of all points: ", g0)', total
    print '("blocks that differ from the serial answer: ", i0)', differ
  end subroutine
end program
