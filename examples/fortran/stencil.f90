! SPDX-License-Identifier: BSD-3-Clause
! ../stencil.c in Fortran: the same arithmetic in the same order, so the same numbers. ../stencil.c says why no barrier is needed. Rows of
! points lie in one piece here, too: the first index counts columns.
module poisson
  use, intrinsic :: iso_c_binding
  use shmem
  implicit none
  private
  public :: run

  integer, parameter :: north = 1, south = 2, west = 3, east = 4

  type, public :: options
    integer :: size = 64, iterations = 100000
    real(c_double) :: tolerance = 1e-6_c_double
  end type

  ! A PE's place in the grid of PEs, and the block of points that goes with it.
  type place
    integer :: across, down, columns, rows, left, top
    integer :: neighbour(4)
    integer :: north_rows, west_columns ! the blocks of neighbours may differ from mine by one
  end type

  ! Symmetric: two blocks with a frame of ghost points, for even and odd iterations; for these also the columns that came from
  ! west and east, and the last iteration of each kind whose
  ! edge came from each side.
  real(c_double), pointer, asynchronous :: blocks(:, :, :) => null(), columns_in(:, :, :) => null()
  integer(c_int64_t), save, asynchronous :: arrived(4, 2) = 0
  real(c_double), save :: my_change, change ! of all points in one iteration, squared and summed up

contains

  ! n points shared out to so many PEs: where does the share of the i-th begin?
  pure integer function share(n, parts, i)
    integer, intent(in) :: n, parts, i
    share = int(int(n, c_int64_t) * i / parts)
  end function

  pure type(place) function find_place(size, me, n_pes) result(p)
    integer, intent(in) :: size, me, n_pes
    integer :: d, x, y, upper, before
    p%down = 1
    do d = 1, n_pes
      if (d * d <= n_pes .and. mod(n_pes, d) == 0) p%down = d
    end do
    p%across = n_pes / p%down
    x = mod(me, p%across)
    y = me / p%across
    upper = mod(y + p%down - 1, p%down)
    before = mod(x + p%across - 1, p%across)
    p%neighbour(north) = upper * p%across + x
    p%neighbour(south) = mod(y + 1, p%down) * p%across + x
    p%neighbour(west) = y * p%across + before
    p%neighbour(east) = y * p%across + mod(x + 1, p%across)
    p%left = share(size, p%across, x)
    p%top = share(size, p%down, y)
    p%columns = share(size, p%across, x + 1) - p%left
    p%rows = share(size, p%down, y + 1) - p%top
    p%north_rows = share(size, p%down, upper + 1) - share(size, p%down, upper)
    p%west_columns = share(size, p%across, before + 1) - share(size, p%across, before)
  end function

  ! A charge a quarter of the way along the diagonal, its opposite at three quarters.
  pure real(c_double) function charge(size, column, row)
    integer, intent(in) :: size, column, row
    charge = 0
    if (column == size / 4 .and. row == size / 4) charge = 1
    if (column == size / 4 + size / 2 .and. row == size / 4 + size / 2) charge = -1
  end function

  ! One iteration over a block; change is by how much the points changed, squared and summed up.
  pure subroutine relax(now, next, source, columns, rows, change)
    real(c_double), intent(in) :: now(0:, 0:), source(0:, 0:)
    real(c_double), intent(inout) :: next(0:, 0:)
    integer, intent(in) :: columns, rows
    real(c_double), intent(out) :: change
    real(c_double) :: mean, step
    integer :: r, c
    change = 0
    do r = 1, rows
      do c = 1, columns
        mean = 0.25_c_double * (now(c - 1, r) + now(c + 1, r) + now(c, r - 1) + now(c, r + 1) + source(c, r))
        step = 0.8_c_double * (mean - now(c, r))
        next(c, r) = now(c, r) + step
        change = change + step * step
      end do
    end do
  end subroutine

  ! Rows go straight to the ghost points of the neighbour. A column of the block has gaps: the library packs it, and it goes as one message
  ! to a buffer without gaps.
  subroutine send_edges(p, i, k)
    type(place), intent(in) :: p
    integer, intent(in) :: i ! of the block
    integer(c_int64_t), intent(in) :: k
    call shmem_put_signal(blocks(1:p%columns, p%north_rows + 1, i), blocks(1:p%columns, 1, i), &
      arrived(south, i), k, SHMEM_SIGNAL_OP_SET, p%neighbour(north))
    call shmem_put_signal(blocks(1:p%columns, 0, i), blocks(1:p%columns, p%rows, i), &
      arrived(north, i), k, SHMEM_SIGNAL_OP_SET, p%neighbour(south))
    call shmem_put_signal(columns_in(1:p%rows, 2, i), blocks(1, 1:p%rows, i), &
      arrived(east, i), k, SHMEM_SIGNAL_OP_SET, p%neighbour(west))
    call shmem_put_signal(columns_in(1:p%rows, 1, i), blocks(p%columns, 1:p%rows, i), &
      arrived(west, i), k, SHMEM_SIGNAL_OP_SET, p%neighbour(east))
  end subroutine

  subroutine receive_edges(p, i, k)
    type(place), intent(in) :: p
    integer, intent(in) :: i
    integer(c_int64_t), intent(in) :: k
    integer(c_int64_t) :: came
    integer :: side
    do side = north, east
      came = shmem_signal_wait_until(arrived(side, i), SHMEM_CMP_GE, k)
    end do
    blocks(0, 1:p%rows, i) = columns_in(1:p%rows, 1, i)
    blocks(p%columns + 1, 1:p%rows, i) = columns_in(1:p%rows, 2, i)
  end subroutine

  ! Iterates until the residual is small, and says how it falls; k is the number of iterations.
  subroutine solve(p, o, source, k)
    type(place), intent(in) :: p
    type(options), intent(in) :: o
    real(c_double), intent(in) :: source(0:, 0:)
    integer, intent(out) :: k
    integer, parameter :: interval = 50 ! the residual is looked at so often: a reduction costs more than an iteration
    real(c_double) :: first, shown
    integer(c_int64_t) :: began, ended, rate
    character(len=24) :: spent
    integer :: now, next
    first = 0
    shown = 0
    k = 0
    call system_clock(began, rate)
    do while (k < o%iterations)
      now = mod(k, 2) + 1
      next = 3 - now
      call relax(blocks(:, :, now), blocks(:, :, next), source, p%columns, p%rows, my_change)
      k = k + 1
      call send_edges(p, next, int(k, c_int64_t))
      call receive_edges(p, next, int(k, c_int64_t))
      if (k /= 1 .and. mod(k, interval) /= 0) cycle
      call shmem_sum_reduce(SHMEM_TEAM_WORLD, change, my_change)
      if (k == 1) first = sqrt(change)
      if (shmem_my_pe() == 0 .and. (k == 1 .or. sqrt(change) < 0.1_c_double * shown)) then
        shown = sqrt(change)
        print '(i11, 2x, es12.2)', k, shown / first
      end if
      if (sqrt(change) <= o%tolerance * first) exit
    end do
    call system_clock(ended)
    if (shmem_my_pe() /= 0) return
    write (spent, '(f24.1)') 1e6_c_double * real(ended - began, c_double) / real(rate, c_double) / max(k, 1)
    print '(i0, " iterations, ", a, " us each")', k, trim(adjustl(spent))
  end subroutine

  ! What one PE alone computes in as many iterations.
  subroutine solve_serially(size, iterations, now)
    integer, intent(in) :: size, iterations
    real(c_double), allocatable, intent(out) :: now(:, :)
    real(c_double), allocatable :: next(:, :), source(:, :), swap(:, :)
    real(c_double) :: changed
    integer :: c, r, k
    allocate (now(0:size + 1, 0:size + 1), next(0:size + 1, 0:size + 1), source(0:size + 1, 0:size + 1))
    now = 0
    next = 0
    source = 0
    do r = 1, size
      do c = 1, size
        source(c, r) = charge(size, c - 1, r - 1)
      end do
    end do
    do k = 1, iterations
      now(1:size, 0) = now(1:size, size)
      now(1:size, size + 1) = now(1:size, 1)
      now(0, 1:size) = now(size, 1:size)
      now(size + 1, 1:size) = now(1, 1:size)
      call relax(now, next, source, size, size, changed)
      call move_alloc(now, swap)
      call move_alloc(next, now)
      call move_alloc(swap, next)
    end do
  end subroutine

  ! PE 0 fetches everybody's block. Each point is the same arithmetic, so only rounding may differ.
  logical function check(size, n_pes, iterations) result(good)
    integer, intent(in) :: size, n_pes, iterations
    real(c_double), allocatable :: serial(:, :), whole(:, :)
    real(c_double) :: worst, most
    type(place) :: p
    integer :: pe
    allocate (whole(size, size))
    do pe = 0, n_pes - 1
      p = find_place(size, pe, n_pes)
      call shmem_get(whole(p%left + 1:p%left + p%columns, p%top + 1:p%top + p%rows), &
        blocks(1:p%columns, 1:p%rows, mod(iterations, 2) + 1), pe)
    end do
    call solve_serially(size, iterations, serial)
    worst = maxval(abs(whole - serial(1:size, 1:size)))
    most = maxval(abs(serial(1:size, 1:size)))
    good = worst <= 1e-12_c_double * most
    print '("largest difference from the serial answer: ", es7.1)', worst
    print '(a)', merge("PASS", "FAIL", good)
  end function

  ! Returns the exit code.
  integer function run(o, me, n_pes) result(code)
    type(options), intent(in) :: o
    integer, intent(in) :: me, n_pes
    type(place) :: p
    real(c_double), allocatable :: source(:, :)
    integer :: width, height, c, r, k
    p = find_place(o%size, me, n_pes)
    width = o%size / p%across + 3 ! the same on every PE
    height = o%size / p%down + 3
    call shmem_allocate(blocks, [width, height, 2], lower=[0, 0, 1])
    call shmem_allocate(columns_in, [height, 2, 2])
    allocate (source(0:width - 1, 0:height - 1))
    blocks = 0
    source = 0
    do r = 1, p%rows
      do c = 1, p%columns
        source(c, r) = charge(o%size, p%left + c - 1, p%top + r - 1)
      end do
    end do
    call shmem_barrier_all() ! the blocks are 0 before somebody writes to them
    if (me == 0) then
      print '("Poisson on a torus of ", i0, " x ", i0, " points, ", i0, " PEs as ", i0, " x ", i0)', &
        o%size, o%size, n_pes, p%across, p%down
      print '("  iteration      residual")'
    end if
    call solve(p, o, source, k)
    call shmem_barrier_all()
    code = 0
    if (me == 0) code = merge(0, 1, check(o%size, n_pes, k))
    call shmem_barrier_all() ! PE 0 reads what is freed now
    call shmem_deallocate(columns_in)
    call shmem_deallocate(blocks)
  end function
end module

program stencil
  use, intrinsic :: iso_fortran_env, only: error_unit
  use shmem
  use poisson
  implicit none
  type(options) :: o
  integer :: me, n_pes, code

  call shmem_init()
  me = shmem_my_pe()
  n_pes = shmem_n_pes()
  code = read_options()
  if (code == -1 .and. (o%size < n_pes .or. o%size < 4 .or. o%size > 20000)) then
    if (me == 0) write (error_unit, '(a)') "stencil: --size must be at least 4 and the number of PEs, at most 20000"
    code = 2
  end if
  if (code == -1) code = run(o, me, n_pes)
  call shmem_finalize()
  stop code, quiet=.true.

contains

  ! Returns -1 to go on, else the exit code.
  integer function read_options() result(code)
    character(len=64) :: name, value
    integer :: i, wrong
    code = -1
    do i = 1, command_argument_count(), 2
      call get_command_argument(i, name)
      call get_command_argument(i + 1, value)
      wrong = 0
      select case (name)
      case ("--size")
        read (value, *, iostat=wrong) o%size
      case ("--iterations")
        read (value, *, iostat=wrong) o%iterations
      case ("--tolerance")
        read (value, *, iostat=wrong) o%tolerance
      case default
        wrong = 1
      end select
      if (wrong == 0) cycle
      if (me == 0) print '(a)', "usage: oshrun -n PES stencil [--size N] [--iterations K] [--tolerance T]"
      code = merge(0, 2, name == "--help")
      return
    end do
  end function
end program
