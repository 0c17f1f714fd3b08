! SPDX-License-Identifier: BSD-3-Clause
! The arithmetic of solver.f90 at one site and one link, as in ../wilson.h; nothing here communicates. A spinor has 3 colours for each of 4
! spins; a half spinor has the upper two spins. Spins are those of the chiral basis, in which gamma_5 is 1 for the upper two and -1
! for the lower two.
module wilson
  use, intrinsic :: iso_c_binding
  implicit none
  private
  public :: project, add_whole, multiply, hashed, make_link

  integer, parameter, public :: complex_kind = c_double_complex

  ! gamma_d takes the lower two spins to the upper ones by this matrix, and the upper to the lower by its adjoint. Row a has one entry: its
  ! column, whether it is imaginary, its sign.
  integer, parameter :: column(2, 0:3) = reshape([2, 1, 2, 1, 1, 2, 1, 2], [2, 4])
  logical, parameter :: imaginary(2, 0:3) = reshape([.true., .true., .false., .false., .true., .true., .false., .false.], [2, 4])
  real(c_double), parameter :: signs(2, 0:3) = reshape(real([-1, -1, -1, 1, -1, 1, 1, 1], c_double), [2, 4])

contains

  ! Colours times 1 or i and a sign.
  elemental complex(complex_kind) function turned(from, by_i, sign)
    complex(complex_kind), intent(in) :: from
    logical, intent(in) :: by_i
    real(c_double), intent(in) :: sign
    if (by_i) then
      turned = cmplx(-sign * aimag(from), sign * real(from), complex_kind)
    else
      turned = cmplx(sign * real(from), sign * aimag(from), complex_kind)
    end if
  end function

  ! The upper half of (1 + sign gamma_d) psi; the lower one follows from it.
  pure function project(psi, d, sign) result(half)
    complex(complex_kind), intent(in) :: psi(3, 4)
    integer, intent(in) :: d
    real(c_double), intent(in) :: sign
    complex(complex_kind) :: half(3, 2)
    integer :: a
    do a = 1, 2
      half(:, a) = psi(:, a) + turned(psi(:, 2 + column(a, d)), imaginary(a, d), sign * signs(a, d))
    end do
  end function

  pure subroutine add_whole(psi, half, d, sign)
    complex(complex_kind), intent(inout) :: psi(3, 4)
    complex(complex_kind), intent(in) :: half(3, 2)
    integer, intent(in) :: d
    real(c_double), intent(in) :: sign
    integer :: a
    do a = 1, 2
      psi(:, a) = psi(:, a) + half(:, a)
      psi(:, 2 + column(a, d)) = psi(:, 2 + column(a, d)) + &
        turned(half(:, a), imaginary(a, d), merge(-sign, sign, imaginary(a, d)) * signs(a, d))
    end do
  end subroutine

  ! By the matrix of a link, or by its adjoint.
  pure function multiply(link, adjoint, half) result(product)
    complex(complex_kind), intent(in) :: link(3, 3), half(3, 2)
    logical, intent(in) :: adjoint
    complex(complex_kind) :: product(3, 2)
    integer :: a, i, j
    product = 0
    do a = 1, 2
      do i = 1, 3
        do j = 1, 3
          if (adjoint) then
            product(i, a) = product(i, a) + conjg(link(j, i)) * half(j, a)
          else
            product(i, a) = product(i, a) + link(i, j) * half(j, a)
          end if
        end do
      end do
    end do
  end function

  ! Modulo 2**64, by pieces of 16 bits: integers of Fortran must not overflow.
  pure integer(c_int64_t) function times(a, b)
    integer(c_int64_t), intent(in) :: a, b
    integer(c_int64_t) :: piece(0:3), carry
    integer :: i, j
    piece = 0
    do i = 0, 3
      carry = 0
      do j = 0, 3 - i
        carry = carry + piece(i + j) + ibits(a, 16 * i, 16) * ibits(b, 16 * j, 16)
        piece(i + j) = ibits(carry, 0, 16)
        carry = shiftr(carry, 16)
      end do
    end do
    times = ior(ior(piece(0), shiftl(piece(1), 16)), ior(shiftl(piece(2), 32), shiftl(piece(3), 48)))
  end function

  ! Numbers from -1 to 1 that follow from a site's place in the whole lattice.
  pure real(c_double) function hashed(place, n)
    integer(c_int64_t), intent(in) :: place
    integer, intent(in) :: n
    integer(c_int64_t) :: z
    z = times(place * 128 + n + 1, int(z"9e3779b97f4a7c15", c_int64_t))
    z = times(ieor(z, shiftr(z, 30)), int(z"bf58476d1ce4e5b9", c_int64_t))
    z = times(ieor(z, shiftr(z, 27)), int(z"94d049bb133111eb", c_int64_t))
    hashed = real(shiftr(ieor(z, shiftr(z, 31)), 11), c_double) * 2.0_c_double**(-52) - 1
  end function

  ! Two rows at random, made orthogonal and of length 1; the third is the conjugate of their cross product.
  pure function make_link(place, d) result(u)
    integer(c_int64_t), intent(in) :: place
    integer, intent(in) :: d
    complex(complex_kind) :: u(3, 3), overlap
    real(c_double) :: length
    integer :: row, c, n
    do row = 1, 2
      overlap = 0
      length = 0
      do c = 1, 3
        n = 24 + 12 * d + 6 * (row - 1) + 2 * (c - 1)
        u(row, c) = cmplx(hashed(place, n), hashed(place, n + 1), complex_kind)
        if (row == 2) overlap = overlap + conjg(u(1, c)) * u(2, c)
      end do
      do c = 1, 3
        if (row == 2) u(row, c) = u(row, c) - overlap * u(1, c)
        length = length + real(u(row, c) * conjg(u(row, c)))
      end do
      do c = 1, 3
        u(row, c) = cmplx(real(u(row, c)) / sqrt(length), aimag(u(row, c)) / sqrt(length), complex_kind)
      end do
    end do
    do c = 1, 3
      u(3, c) = conjg(u(1, mod(c, 3) + 1) * u(2, mod(c + 1, 3) + 1) - u(1, mod(c + 1, 3) + 1) * u(2, mod(c, 3) + 1))
    end do
  end function
end module
