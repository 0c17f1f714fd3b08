! SPDX-License-Identifier: BSD-3-Clause
! ../solver.c in Fortran, where the formulas are: Wilson's operator and conjugate gradients. An exchange hides the faces behind the bulk, and a
! plan carries the global sums. Faces are written to the buffers of the exchange and read from them in place.
module lattice
  use, intrinsic :: iso_c_binding
  use shmemx
  use shmem
  use halo
  use wilson
  implicit none
  private
  public :: make_lattice, operate, solve, compare, end_lattice

  integer, parameter, public :: even = 0, odd = 1
  real(c_double), parameter :: kappa = 0.13_c_double, tolerance = 1e-10_c_double

  type :: site_list
    integer, allocatable :: sites(:)
    integer :: n = 0
  end type
  type :: message
    complex(complex_kind), pointer :: half(:, :, :) => null()
  end type

  ! All of it for one parity of the sites, or for either.
  type, public :: lattice_t
    integer :: side(0:3), grid(0:3), corner(0:3), sites, iterations
    logical :: alone = .false. ! the whole lattice on one PE
    type(shmem_team_t) :: team
    type(shmemx_exchange_t) :: exchange
    type(shmemx_plan_t) :: sum
    complex(complex_kind), allocatable :: links(:, :, :, :, :) ! of a site and a dimension
    integer, allocatable :: source(:, :, :) ! for each edge and site: the neighbour, or minus its place in the message
    type(site_list) :: faces(0:7, 0:1) ! the sites whose half spinors leave along an edge, as the message has them
    type(site_list) :: bulk(0:1), boundary(0:1) ! the sites that need no message, and the others
    type(message) :: arrived(0:7)
    complex(complex_kind), allocatable :: between(:, :, :), at_odd(:, :, :)
  end type

  real(c_double), save :: partial, total ! symmetric, for the plan

contains

  ! What a site sends along an edge, upwards (even numbers) or downwards.
  pure function leave(l, in, parity, site, edge) result(half)
    type(lattice_t), intent(in) :: l
    complex(complex_kind), intent(in) :: in(:, :, :)
    integer, intent(in) :: parity, site, edge
    complex(complex_kind) :: half(3, 2)
    if (mod(edge, 2) == 1) then
      half = project(in(:, :, site), edge / 2, -1.0_c_double)
    else
      half = multiply(l%links(:, :, edge / 2, site, parity), .true., project(in(:, :, site), edge / 2, 1.0_c_double))
    end if
  end function

  ! Wilson's hopping term at some sites: what comes along the eight edges, in their order wherever it comes from.
  subroutine hop_sites(l, out, in, parity, list)
    type(lattice_t), intent(in) :: l
    complex(complex_kind), intent(inout) :: out(:, :, :)
    complex(complex_kind), intent(in) :: in(:, :, :)
    integer, intent(in) :: parity
    type(site_list), intent(in) :: list
    complex(complex_kind) :: half(3, 2)
    integer :: i, site, edge, from
    do i = 1, list%n
      site = list%sites(i)
      out(:, :, site) = 0
      do edge = 0, 7
        from = l%source(edge, site, parity)
        if (from > 0) then
          half = leave(l, in, 1 - parity, from, ieor(edge, 1))
        else
          half = l%arrived(edge)%half(:, :, -from)
        end if
        if (mod(edge, 2) == 0) half = multiply(l%links(:, :, edge / 2, site, parity), .false., half)
        call add_whole(out(:, :, site), half, edge / 2, merge(1.0_c_double, -1.0_c_double, mod(edge, 2) == 1))
      end do
    end do
  end subroutine

  ! From one parity to the other.
  subroutine hop(l, out, in, parity)
    type(lattice_t), intent(inout) :: l
    complex(complex_kind), intent(inout) :: out(:, :, :)
    complex(complex_kind), intent(in) :: in(:, :, :)
    integer, intent(in) :: parity
    complex(complex_kind), pointer :: face(:, :, :)
    integer :: edge, i
    if (.not. l%alone) then
      do edge = 0, 7
        associate (leaving => l%faces(edge, 1 - parity))
          call c_f_pointer(shmemx_exchange_buffer(l%exchange, edge), face, [3, 2, leaving%n])
          do i = 1, leaving%n
            face(:, :, i) = leave(l, in, 1 - parity, leaving%sites(i), edge)
          end do
        end associate
      end do
      call shmemx_exchange_start(l%exchange, SHMEMX_ALL_EDGES)
    end if
    call hop_sites(l, out, in, parity, l%bulk(parity))
    if (l%alone) return
    call shmemx_exchange_wait(l%exchange, SHMEMX_ALL_EDGES)
    do edge = 0, 7
      call c_f_pointer(shmemx_exchange_received(l%exchange, edge), l%arrived(edge)%half, [3, 2, l%faces(edge, parity)%n])
    end do
    call hop_sites(l, out, in, parity, l%boundary(parity))
    call shmemx_exchange_release(l%exchange, SHMEMX_ALL_EDGES)
  end subroutine

  ! gamma_5 M: the lower two spins change their sign. M^+ M is this twice.
  subroutine operate_once(l, out, in)
    type(lattice_t), intent(inout) :: l
    complex(complex_kind), intent(inout) :: out(:, :, :)
    complex(complex_kind), intent(in) :: in(:, :, :)
    call hop(l, l%at_odd, in, odd)
    call hop(l, out, l%at_odd, even)
    out = in - kappa * kappa * out
    out(:, 3:4, :) = -out(:, 3:4, :)
  end subroutine

  subroutine operate(l, out, in)
    type(lattice_t), intent(inout) :: l
    complex(complex_kind), intent(inout) :: out(:, :, :)
    complex(complex_kind), intent(in) :: in(:, :, :)
    complex(complex_kind), allocatable :: between(:, :, :)
    call move_alloc(l%between, between)
    call operate_once(l, between, in)
    call operate_once(l, out, between)
    call move_alloc(between, l%between)
  end subroutine

  ! The sum over all PEs of a product; between start and finish there is time to do something else.
  subroutine start_product(l, a, b)
    type(lattice_t), intent(in) :: l
    complex(complex_kind), intent(in) :: a(:, :, :), b(:, :, :)
    real(c_double) :: of_site
    integer :: site, spin, colour
    partial = 0
    do site = 1, l%sites
      of_site = 0
      do spin = 1, 4
        do colour = 1, 3
          of_site = of_site + real(a(colour, spin, site)) * real(b(colour, spin, site))
          of_site = of_site + aimag(a(colour, spin, site)) * aimag(b(colour, spin, site))
        end do
      end do
      partial = partial + of_site
    end do
    if (.not. l%alone) call shmemx_plan_start(l%sum)
  end subroutine

  real(c_double) function finish_product(l) result(product)
    type(lattice_t), intent(in) :: l
    product = partial
    if (l%alone) return
    call shmemx_plan_wait(l%sum)
    product = total
  end function

  ! Conjugate gradients. n is the number of iterations, residual what is left of b, as a part of it.
  subroutine solve(l, x, b, n, residual)
    type(lattice_t), intent(inout) :: l
    complex(complex_kind), intent(inout) :: x(:, :, :)
    complex(complex_kind), intent(in) :: b(:, :, :)
    integer, intent(out) :: n
    real(c_double), intent(out) :: residual
    complex(complex_kind), allocatable :: r(:, :, :), p(:, :, :), q(:, :, :)
    real(c_double) :: whole, left, before, step
    allocate (r, source=b)
    allocate (p, source=b)
    allocate (q, source=b)
    n = 0
    call start_product(l, r, r)
    whole = finish_product(l)
    left = whole
    do while (n < l%iterations .and. left > tolerance * tolerance * whole)
      before = left
      call operate(l, q, p)
      call start_product(l, p, q)
      step = left / finish_product(l)
      r = r - step * q
      call start_product(l, r, r)
      x = x + step * p ! while the sum is under way
      left = finish_product(l)
      p = r + left / before * p
      n = n + 1
    end do
    residual = sqrt(left / whole)
  end subroutine

  ! Sites of a parity are numbered in the order of their coordinates, the last of which counts fastest; place is that in the whole lattice.
  pure subroutine find_site(l, site, parity, at, place)
    type(lattice_t), intent(in) :: l
    integer, intent(in) :: site, parity
    integer, intent(out) :: at(0:3)
    integer(c_int64_t), intent(out) :: place
    integer :: n, d
    n = 2 * (site - 1)
    do d = 3, 0, -1
      at(d) = mod(n, l%side(d))
      n = n / l%side(d)
    end do
    at(3) = at(3) + mod(sum(at) + parity, 2)
    place = 0
    do d = 0, 3
      place = place * l%side(d) * l%grid(d) + l%corner(d) + at(d)
    end do
  end subroutine

  pure integer function number_of(l, at) result(n)
    type(lattice_t), intent(in) :: l
    integer, intent(in) :: at(0:3)
    integer :: d
    n = 0
    do d = 0, 3
      n = n * l%side(d) + at(d)
    end do
    n = n / 2 + 1
  end function

  pure subroutine append(list, site)
    type(site_list), intent(inout) :: list
    integer, intent(in) :: site
    list%n = list%n + 1
    list%sites(list%n) = site
  end subroutine

  ! Where the neighbour along an edge is. Faces are in the order of their sites at both ends.
  subroutine find_neighbour(l, parity, site, at, edge)
    type(lattice_t), intent(inout) :: l
    integer, intent(in) :: parity, site, at(0:3), edge
    integer :: there(0:3), d
    d = edge / 2
    there = at
    there(d) = at(d) + merge(1, -1, mod(edge, 2) == 0)
    if (.not. l%alone .and. (there(d) < 0 .or. there(d) == l%side(d))) then
      call append(l%faces(edge, parity), site)
      l%source(edge, site, parity) = -l%faces(edge, parity)%n
    else
      there(d) = modulo(there(d), l%side(d))
      l%source(edge, site, parity) = number_of(l, there)
    end if
  end subroutine

  ! side, grid, corner and alone are set; b is what to solve for.
  subroutine make_lattice(l, b)
    type(lattice_t), intent(inout) :: l
    complex(complex_kind), allocatable, intent(out) :: b(:, :, :)
    integer(c_int64_t) :: place
    integer :: parity, site, edge, d, at(0:3), spin, colour, i
    l%sites = product(l%side) / 2
    allocate (l%links(3, 3, 0:3, l%sites, 0:1), l%source(0:7, l%sites, 0:1), b(3, 4, l%sites))
    do parity = even, odd
      allocate (l%bulk(parity)%sites(l%sites), l%boundary(parity)%sites(l%sites))
      do d = 0, 3
        allocate (l%faces(2 * d, parity)%sites(l%sites / l%side(d)), l%faces(2 * d + 1, parity)%sites(l%sites / l%side(d)))
      end do
      do site = 1, l%sites
        call find_site(l, site, parity, at, place)
        do d = 0, 3
          l%links(:, :, d, site, parity) = make_link(place, d)
        end do
        do edge = 0, 7
          call find_neighbour(l, parity, site, at, edge)
        end do
        if (all(l%source(:, site, parity) > 0)) then
          call append(l%bulk(parity), site)
        else
          call append(l%boundary(parity), site)
        end if
        if (parity == odd) cycle
        i = 0
        do spin = 1, 4
          do colour = 1, 3
            b(colour, spin, site) = cmplx(hashed(place, i), hashed(place, i + 1), complex_kind)
            i = i + 2
          end do
        end do
      end do
    end do
    l%at_odd = b
    l%between = b
    if (.not. l%alone) call shmemx_allreduce_init(l%team, total, partial, SHMEMX_SUM, SHMEMX_PLAN_AUTO, l%sum)
  end subroutine

  ! How many sites differ between a field of the whole job and the serial one, and how far, as a part of its size. PE 0 gets everybody's.
  subroutine compare(l, h, mine, alone, differ, part)
    type(lattice_t), intent(in) :: l
    type(halo_t), intent(in) :: h
    complex(complex_kind), intent(in) :: mine(:, :, :), alone(:, :, :)
    integer, intent(out) :: differ
    real(c_double), intent(out) :: part
    complex(complex_kind), allocatable :: theirs(:, :, :)
    type(lattice_t) :: there
    real(c_double) :: far, size
    integer(c_int64_t) :: place
    integer :: pe, site, at(0:3)
    there%side = l%side
    there%grid = l%grid
    allocate (theirs(3, 4, l%sites))
    differ = 0
    far = 0
    size = 0
    do pe = 0, shmem_team_n_pes(l%team) - 1
      call shmem_get(theirs, mine, shmem_team_translate_pe(l%team, pe, SHMEM_TEAM_WORLD))
      there%corner = halo_corner(h, pe)
      do site = 1, l%sites
        call find_site(there, site, even, at, place)
        associate (same => alone(:, :, place / 2 + 1))
          if (any(abs(theirs(:, :, site) - same) > 0)) differ = differ + 1
          far = far + sum(abs(theirs(:, :, site) - same)**2)
          size = size + sum(abs(same)**2)
        end associate
      end do
    end do
    part = sqrt(far / size)
  end subroutine

  subroutine end_lattice(l)
    type(lattice_t), intent(inout) :: l
    call shmemx_plan_free(l%sum)
  end subroutine
end module

program solver
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: error_unit
  use shmemx
  use shmem
  use halo
  use wilson, only: complex_kind
  use lattice
  implicit none
  type(halo_t) :: h = halo_t(dims=4, side=8, iterations=200, point=48) ! bytes of half of a half spinor: every other point sends
  type(lattice_t) :: l
  complex(complex_kind), allocatable :: b(:, :, :)
  complex(complex_kind), pointer :: x(:, :, :) => null(), once(:, :, :) => null() ! symmetric
  real(c_double) :: residual
  integer :: n
  logical :: right

  call halo_begin(h, "solver")
  if (mod(h%side, 2) /= 0 .or. .not. h%wraps) then
    if (shmem_my_pe() == 0) write (error_unit, '(a)') &
      "solver: the lattice wraps in blocks that begin with an even site; give an even --side and no --open"
    call halo_stop(2)
  end if
  l%side = h%side
  l%grid = h%grid(:4)
  l%corner = halo_corner(h, shmem_team_my_pe(h%team))
  l%iterations = h%iterations
  l%team = h%team
  l%exchange = h%exchange
  call make_lattice(l, b)
  call shmem_allocate(x, [3, 4, l%sites])
  call shmem_allocate(once, [3, 4, l%sites])
  x = 0
  once = 0
  call operate(l, once, b)
  call solve(l, x, b, n, residual)
  call shmem_barrier_all()
  right = .true.
  if (shmem_my_pe() == 0) then
    print '(i0, " iterations, which leave ", es7.1, " of b")', n, residual
    right = is_right()
  end if
  call shmem_barrier_all() ! PE 0 reads what is freed now
  call shmem_deallocate(once)
  call shmem_deallocate(x)
  call end_lattice(l)
  call halo_end(h, right)

contains

  ! On PE 0 alone, with the fields of all.
  logical function is_right()
    type(lattice_t) :: whole
    complex(complex_kind), allocatable :: all_of_b(:, :, :), serial(:, :, :)
    real(c_double) :: part, left
    integer :: differ, differ_later, steps
    whole%side = l%side * l%grid
    whole%grid = 1
    whole%corner = 0
    whole%alone = .true.
    whole%iterations = n
    call make_lattice(whole, all_of_b)
    serial = all_of_b
    call operate(whole, serial, all_of_b)
    call compare(l, h, once, serial, differ, part)
    print '("M^+ M once: ", i0, " of ", i0, " sites differ from the serial answer")', differ, whole%sites
    serial = 0
    call solve(whole, serial, all_of_b, steps, left)
    call compare(l, h, x, serial, differ_later, part)
    print '("the solution differs from the serial one by ", es7.1, " of its size")', part
    is_right = differ == 0 .and. part <= 1e-12_c_double
  end function
end program
