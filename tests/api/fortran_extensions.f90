! SPDX-License-Identifier: BSD-3-Clause
! run: local=2,4
! The extensions: a ring of PEs as a grid, an exchange of faces that are sections, and plans.
program fortran_extensions
  use shmemx
  use fortran_check
  implicit none
  type(shmem_team_t) :: grid
  type(shmemx_exchange_t) :: exchange
  type(shmemx_plan_t) :: plan
  integer :: sizes(1), wraps(1), at(1), mine, up, down, round, axes(SHMEMX_AXES), rings(SHMEMX_AXES)
  real(c_double) :: field(0:5, 4)
  real(c_double), save :: part(3), total(3)

  call begin_test()
  call check(shmemx_torus_shape(axes, rings) >= 0 .and. shmemx_torus_hops(me, me) == 0, "the torus")
  call shmemx_grid_create(SHMEM_TEAM_WORLD, [npes], [.true._c_bool], .false._c_bool, grid)
  call check(shmemx_grid_sizes(grid, sizes, wraps) == 1 .and. sizes(1) == npes .and. wraps(1) == 1, "grid_sizes")
  mine = shmem_team_my_pe(grid)
  call shmemx_grid_coordinates(grid, mine, at)
  call check(shmemx_grid_pe(grid, at) == mine, "coordinates and back")
  call shmemx_grid_shift(grid, 0, 1, down, up)
  call check(shmemx_grid_neighbour(grid, 0, 1) == up .and. shmemx_grid_neighbour(grid, 0, -1) == down, "neighbours")

  ! Rows of an array, which have gaps, go up and down.
  call shmemx_exchange_create_grid(grid, [32_c_int64_t, 32_c_int64_t], 0, exchange)
  do round = 1, 5
    field = 100 * mine + round
    call shmemx_exchange_send(exchange, shmemx_edge_up(0), field(4, :))
    call shmemx_exchange_send(exchange, shmemx_edge_down(0), field(1, :))
    call shmemx_exchange_receive(exchange, shmemx_edge_down(0), field(0, :))
    call shmemx_exchange_receive(exchange, shmemx_edge_up(0), field(5, :))
    call check(all(abs(field(0, :) - (100 * down + round)) < 0.5), "what came from below")
    call check(all(abs(field(5, :) - (100 * up + round)) < 0.5), "what came from above")
    call check(all(abs(field(1:4, :) - (100 * mine + round)) < 0.5), "what stays")
  end do
  call shmem_barrier_all()
  call shmemx_exchange_destroy(exchange)
  call shmem_team_destroy(grid)

  call shmemx_sum_init(SHMEM_TEAM_WORLD, total, part, SHMEMX_PLAN_AUTO, plan)
  do round = 1, 3
    part = me + round
    call shmemx_plan_start(plan)
    call shmemx_plan_wait(plan)
    call check(all(abs(total - (npes * (npes - 1) / 2 + npes * round)) < 0.5), "a sum by a plan")
    call shmem_barrier_all()
  end do
  call shmemx_plan_free(plan)
  call shmem_finalize()
end program
