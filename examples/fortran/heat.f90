! SPDX-License-Identifier: BSD-3-Clause
! ../heat.c in Fortran: a hot ball in a cube cools down. The cube wraps, or with --open its outside stays at 0. The faces of a block are
! sections of its array; while they travel the bulk is computed.
program heat
  use, intrinsic :: iso_c_binding
  use shmemx
  use shmem
  use halo
  implicit none
  type(halo_t) :: h = halo_t(dims=3, side=24, iterations=200)
  real(c_double), pointer :: field(:, :, :, :) => null() ! symmetric: before and after a sweep
  integer :: n, i, differ

  call halo_begin(h, "heat")
  call shmem_allocate(field, [h%side + 2, h%side + 2, h%side + 2, 2], lower=[0, 0, 0, 1])
  field = 0
  call set_first(field(:, :, :, 1), halo_corner(h, shmem_team_my_pe(h%team)), h%side * h%grid(:3))
  i = 1
  do n = 1, h%iterations
    call sweep(field(:, :, :, 3 - i), field(:, :, :, i))
    i = 3 - i
  end do
  call shmem_barrier_all()
  differ = 0
  if (shmem_my_pe() == 0) call compare(i)
  call shmem_barrier_all()
  call shmem_deallocate(field)
  call halo_end(h, differ == 0)

contains

  ! A ball in the middle of the lattice.
  subroutine set_first(now, corner, sides)
    real(c_double), intent(inout) :: now(0:, 0:, 0:)
    integer, intent(in) :: corner(3), sides(3)
    real(c_double) :: away(3)
    integer :: x, y, z
    do z = 1, ubound(now, 3) - 1
      do y = 1, ubound(now, 2) - 1
        do x = 1, ubound(now, 1) - 1
          away = real(corner + [x, y, z] - 1, c_double) / real(sides, c_double) - 0.5_c_double
          if (away(1) * away(1) + away(2) * away(2) + away(3) * away(3) < 0.1_c_double) now(x, y, z) = 100
        end do
      end do
    end do
  end subroutine

  ! The points of a box move towards the mean of their six neighbours.
  pure subroutine diffuse(next, now, first, last)
    real(c_double), intent(inout) :: next(0:, 0:, 0:)
    real(c_double), intent(in) :: now(0:, 0:, 0:)
    integer, intent(in) :: first(3), last(3)
    integer :: x, y, z
    do z = first(3), last(3)
      do y = first(2), last(2)
        do x = first(1), last(1)
          next(x, y, z) = now(x, y, z) + 0.1_c_double * (now(x, y, z - 1) + now(x, y, z + 1) + now(x, y - 1, z) + &
            now(x, y + 1, z) + now(x - 1, y, z) + now(x + 1, y, z) - 6 * now(x, y, z))
        end do
      end do
    end do
  end subroutine

  subroutine sweep(next, now)
    real(c_double), intent(inout) :: next(0:, 0:, 0:), now(0:, 0:, 0:)
    integer :: n
    n = h%side
    call send_face(shmemx_edge_up(0), now(n, 1:n, 1:n))
    call send_face(shmemx_edge_down(0), now(1, 1:n, 1:n))
    call send_face(shmemx_edge_up(1), now(1:n, n, 1:n))
    call send_face(shmemx_edge_down(1), now(1:n, 1, 1:n))
    call send_face(shmemx_edge_up(2), now(1:n, 1:n, n))
    call send_face(shmemx_edge_down(2), now(1:n, 1:n, 1))
    call shmemx_exchange_start(h%exchange, SHMEMX_ALL_EDGES)
    call diffuse(next, now, [2, 2, 2], [n - 1, n - 1, n - 1])
    call shmemx_exchange_wait(h%exchange, SHMEMX_ALL_EDGES)
    call take_face(shmemx_edge_up(0), now(n + 1, 1:n, 1:n))
    call take_face(shmemx_edge_down(0), now(0, 1:n, 1:n))
    call take_face(shmemx_edge_up(1), now(1:n, n + 1, 1:n))
    call take_face(shmemx_edge_down(1), now(1:n, 0, 1:n))
    call take_face(shmemx_edge_up(2), now(1:n, 1:n, n + 1))
    call take_face(shmemx_edge_down(2), now(1:n, 1:n, 0))
    call shmemx_exchange_release(h%exchange, SHMEMX_ALL_EDGES)
    call boundary(next, now)
  end subroutine

  subroutine send_face(edge, face)
    integer, intent(in) :: edge
    real(c_double), intent(in) :: face(:, :)
    if (halo_has(h, edge)) call shmemx_exchange_pack(h%exchange, edge, face)
  end subroutine

  subroutine take_face(edge, face)
    integer, intent(in) :: edge
    real(c_double), intent(inout) :: face(:, :)
    if (halo_has(h, edge)) call shmemx_exchange_unpack(h%exchange, edge, face)
  end subroutine

  ! Along each dimension the two outermost layers, without the points that were in one before.
  subroutine boundary(next, now)
    real(c_double), intent(inout) :: next(0:, 0:, 0:)
    real(c_double), intent(in) :: now(0:, 0:, 0:)
    integer :: d, first(3), last(3)
    do d = 1, 3
      first = merge(2, 1, [1, 2, 3] < d)
      last = merge(h%side - 1, h%side, [1, 2, 3] < d)
      last(d) = 1
      call diffuse(next, now, first, last)
      if (h%side == 1) cycle
      first(d) = h%side
      last(d) = h%side
      call diffuse(next, now, first, last)
    end do
  end subroutine

  ! The same on one PE.
  subroutine solve_alone(sides, now)
    integer, intent(in) :: sides(3)
    real(c_double), allocatable, intent(out) :: now(:, :, :)
    real(c_double), allocatable :: next(:, :, :), swap(:, :, :)
    integer :: n
    allocate (now(0:sides(1) + 1, 0:sides(2) + 1, 0:sides(3) + 1))
    now = 0
    call set_first(now, [0, 0, 0], sides)
    next = now
    do n = 1, h%iterations
      if (h%wraps) then
        now(0, :, :) = now(sides(1), :, :)
        now(sides(1) + 1, :, :) = now(1, :, :)
        now(:, 0, :) = now(:, sides(2), :)
        now(:, sides(2) + 1, :) = now(:, 1, :)
        now(:, :, 0) = now(:, :, sides(3))
        now(:, :, sides(3) + 1) = now(:, :, 1)
      end if
      call diffuse(next, now, [1, 1, 1], sides)
      call move_alloc(now, swap)
      call move_alloc(next, now)
      call move_alloc(swap, next)
    end do
  end subroutine

  ! PE 0 gets everybody's block and counts those that differ.
  subroutine compare(i)
    integer, intent(in) :: i
    real(c_double), allocatable :: alone(:, :, :), theirs(:, :, :)
    integer :: n, pe, at(3), x, y, z, sides(3)
    real(c_double) :: total
    n = h%side
    sides = n * h%grid(:3)
    call solve_alone(sides, alone)
    allocate (theirs(n, n, n))
    do pe = 0, shmem_team_n_pes(h%team) - 1
      at = halo_corner(h, pe)
      call shmem_get(theirs, field(1:n, 1:n, 1:n, i), shmem_team_translate_pe(h%team, pe, SHMEM_TEAM_WORLD))
      if (any(abs(theirs - alone(at(1) + 1:at(1) + n, at(2) + 1:at(2) + n, at(3) + 1:at(3) + n)) > 0)) differ = differ + 1
    end do
    total = 0
    do x = 1, sides(1)
      do y = 1, sides(2)
        do z = 1, sides(3)
          total = total + alone(x, y, z)
        end do
      end do
    end do
    print '("sum of all points: ", g0)', total
    print '("blocks that differ from the serial answer: ", i0)', differ
  end subroutine
end program
