! SPDX-License-Identifier: BSD-3-Clause
! Extensions of torushmem for Fortran, "use shmemx": the torus, grids, exchanges with neighbours and persistent plans. The manual pages
! shmemx_grid(3), shmemx_exchange(3) and shmemx_plan(3) say what they do. Dimensions and edges count from 0, as their numbers in C do;
! sizes are numbers of bytes.
module shmemx
  use, intrinsic :: iso_c_binding
  use shmem
  implicit none
  private

  integer, parameter, public :: SHMEMX_AXES = 6
  integer(c_int), parameter, public :: SHMEMX_EDGE_ONE_SEND_BUFFER = 1, SHMEMX_EDGE_EACH_ITERATION = 2, SHMEMX_ALL_EDGES = -1
  integer(c_int), parameter, public :: SHMEMX_PLAN_AUTO = 0, SHMEMX_PLAN_LIST = 1, SHMEMX_PLAN_THREAD = 2, SHMEMX_PLAN_NIC = 3

  type, bind(c), public :: shmemx_exchange_t
    integer(c_intptr_t) :: handle = 0
  end type
  type, bind(c), public :: shmemx_plan_t
    integer(c_intptr_t) :: handle = 0
  end type

  ! --- The torus and grids ---

  public :: shmemx_torus_shape, shmemx_torus_coordinates, shmemx_torus_hops
  public :: shmemx_grid_create, shmemx_grid_sizes, shmemx_grid_coordinates, shmemx_grid_pe, shmemx_grid_neighbour, shmemx_grid_shift
  interface
    function shmemx_torus_shape(sizes, rings) bind(c, name="shmemx_torus_shape") result(axes)
      import
      integer(c_int), intent(out) :: sizes(SHMEMX_AXES), rings(SHMEMX_AXES)
      integer(c_int) :: axes
    end function
    function shmemx_torus_coordinates(pe, coordinates) bind(c, name="shmemx_torus_coordinates") result(status)
      import
      integer(c_int), value :: pe
      integer(c_int), intent(out) :: coordinates(SHMEMX_AXES)
      integer(c_int) :: status
    end function
    function shmemx_torus_hops(pe, other) bind(c, name="shmemx_torus_hops") result(hops)
      import
      integer(c_int), value :: pe, other
      integer(c_int) :: hops
    end function
    subroutine shmemx_grid_create(parent, sizes, wraps, reorder, grid, stat) bind(c, name="torushmemf_grid_create")
      import
      type(shmem_team_t), value :: parent
      integer(c_int), intent(in) :: sizes(:)
      logical(c_bool), intent(in) :: wraps(:)
      logical(c_bool), value :: reorder
      type(shmem_team_t), intent(out) :: grid
      integer(c_int), intent(out), optional :: stat
    end subroutine
    function shmemx_grid_sizes(grid, sizes, wraps) bind(c, name="torushmemf_grid_sizes") result(dims)
      import
      type(shmem_team_t), value :: grid
      integer(c_int), intent(out) :: sizes(*), wraps(*)
      integer(c_int) :: dims
    end function
    subroutine shmemx_grid_coordinates(grid, pe, coordinates) bind(c, name="torushmemf_grid_coordinates")
      import
      type(shmem_team_t), value :: grid
      integer(c_int), value :: pe
      integer(c_int), intent(out) :: coordinates(*)
    end subroutine
    function shmemx_grid_pe(grid, coordinates) bind(c, name="torushmemf_grid_pe") result(pe)
      import
      type(shmem_team_t), value :: grid
      integer(c_int), intent(in) :: coordinates(*)
      integer(c_int) :: pe
    end function
    function shmemx_grid_neighbour(grid, dim, steps) bind(c, name="torushmemf_grid_neighbour") result(pe)
      import
      type(shmem_team_t), value :: grid
      integer(c_int), value :: dim, steps
      integer(c_int) :: pe
    end function
    subroutine shmemx_grid_shift(grid, dim, steps, source, dest) bind(c, name="torushmemf_grid_shift")
      import
      type(shmem_team_t), value :: grid
      integer(c_int), value :: dim, steps
      integer(c_int), intent(out) :: source, dest
    end subroutine
  end interface

  ! --- Exchanges on a grid: a message to each neighbour, which may be a section of an array ---

  public :: shmemx_edge_up, shmemx_edge_down, shmemx_exchange_create_grid, shmemx_exchange_send, shmemx_exchange_sent
  public :: shmemx_exchange_test, shmemx_exchange_receive, shmemx_exchange_destroy
  interface
    subroutine shmemx_exchange_create_grid(grid, bytes, options, exchange, stat) bind(c, name="torushmemf_exchange_create_grid")
      import
      type(shmem_team_t), value :: grid
      integer(c_int64_t), intent(in) :: bytes(:)
      integer(c_int), value :: options
      type(shmemx_exchange_t), intent(out) :: exchange
      integer(c_int), intent(out), optional :: stat
    end subroutine
    ! Packs source, which may have gaps, into the message and starts it.
    subroutine shmemx_exchange_send(exchange, edge, source) bind(c, name="torushmemf_exchange_send")
      import
      type(shmemx_exchange_t), value :: exchange
      integer(c_int), value :: edge
      type(*), intent(in) :: source(..)
    end subroutine
    subroutine shmemx_exchange_sent(exchange, edge) bind(c, name="torushmemf_exchange_sent")
      import
      type(shmemx_exchange_t), value :: exchange
      integer(c_int), value :: edge
    end subroutine
    function shmemx_exchange_test(exchange, edge) bind(c, name="torushmemf_exchange_test") result(came)
      import
      type(shmemx_exchange_t), value :: exchange
      integer(c_int), value :: edge
      logical(c_bool) :: came
    end function
    ! Waits for the message of an edge, unpacks it to dest and releases its buffer.
    subroutine shmemx_exchange_receive(exchange, edge, dest) bind(c, name="torushmemf_exchange_receive")
      import
      type(shmemx_exchange_t), value :: exchange
      integer(c_int), value :: edge
      type(*), intent(inout) :: dest(..)
    end subroutine
    subroutine shmemx_exchange_destroy(exchange) bind(c, name="torushmemf_exchange_destroy")
      import
      type(shmemx_exchange_t), intent(inout) :: exchange
    end subroutine
  end interface

  ! --- Persistent plans: arrays are contiguous, and stay where they are ---

  public :: shmemx_broadcast_init, shmemx_allgather_init, shmemx_alltoall_init, shmemx_sum_init
  public :: shmemx_plan_start, shmemx_plan_test, shmemx_plan_wait, shmemx_plan_free
  interface
    subroutine shmemx_broadcast_init(team, dest, source, PE_root, executor, plan, stat) bind(c, name="torushmemf_broadcast_init")
      import
      type(shmem_team_t), value :: team
      type(*), intent(inout) :: dest(..)
      type(*), intent(in) :: source(..)
      integer(c_int), value :: PE_root, executor
      type(shmemx_plan_t), intent(out) :: plan
      integer(c_int), intent(out), optional :: stat
    end subroutine
    subroutine shmemx_allgather_init(team, dest, source, executor, plan, stat) bind(c, name="torushmemf_allgather_init")
      import
      type(shmem_team_t), value :: team
      type(*), intent(inout) :: dest(..)
      type(*), intent(in) :: source(..)
      integer(c_int), value :: executor
      type(shmemx_plan_t), intent(out) :: plan
      integer(c_int), intent(out), optional :: stat
    end subroutine
    subroutine shmemx_alltoall_init(team, dest, source, executor, plan, stat) bind(c, name="torushmemf_alltoall_init")
      import
      type(shmem_team_t), value :: team
      type(*), intent(inout) :: dest(..)
      type(*), intent(in) :: source(..)
      integer(c_int), value :: executor
      type(shmemx_plan_t), intent(out) :: plan
      integer(c_int), intent(out), optional :: stat
    end subroutine
    subroutine shmemx_sum_init(team, dest, source, executor, plan, stat) bind(c, name="torushmemf_sum_init")
      import
      type(shmem_team_t), value :: team
      real(c_double), intent(inout) :: dest(..)
      real(c_double), intent(in) :: source(..)
      integer(c_int), value :: executor
      type(shmemx_plan_t), intent(out) :: plan
      integer(c_int), intent(out), optional :: stat
    end subroutine
    subroutine shmemx_plan_start(plan) bind(c, name="torushmemf_plan_start")
      import
      type(shmemx_plan_t), value :: plan
    end subroutine
    function shmemx_plan_test(plan) bind(c, name="torushmemf_plan_test") result(over)
      import
      type(shmemx_plan_t), value :: plan
      logical(c_bool) :: over
    end function
    subroutine shmemx_plan_wait(plan) bind(c, name="torushmemf_plan_wait")
      import
      type(shmemx_plan_t), value :: plan
    end subroutine
    subroutine shmemx_plan_free(plan) bind(c, name="torushmemf_plan_free")
      import
      type(shmemx_plan_t), intent(inout) :: plan
    end subroutine
  end interface

contains

  ! The edges of an exchange on a grid: to the neighbour upwards and downwards along a dimension, which counts from 0.
  elemental function shmemx_edge_up(dim) result(edge)
    integer(c_int), intent(in) :: dim
    integer(c_int) :: edge
    edge = 2 * dim
  end function

  elemental function shmemx_edge_down(dim) result(edge)
    integer(c_int), intent(in) :: dim
    integer(c_int) :: edge
    edge = 2 * dim + 1
  end function
end module shmemx
