! SPDX-License-Identifier: BSD-3-Clause
! run: local=2,4 ucx-tcp=3 mixed=4 env=SHMEM_STATS=yes
! The extensions: a ring of PEs as a grid, exchanges of faces that are sections, plans, RDMA with events, counters.
program fortran_extensions
  use shmemx
  use fortran_check
  implicit none
  real(c_double), save :: part(3), total(3)
  integer(c_int), save, target :: from_below(4), from_above(4), to_below(4), to_above(4)
  type(shmemx_rdma_buffer_t), save :: buffer

  call begin_test()
  call try_grid()
  call try_irregular()
  call try_plans()
  call try_requests()
  call try_words()
  call try_blocks()
  call try_neighbours()
  call try_rdma()
  call try_messages()
  call try_stats()
  call shmem_finalize()

contains

  subroutine try_grid()
    type(shmem_team_t) :: grid
    type(shmemx_grid_report_t) :: report
    integer :: sizes(1), wraps(1), at(1), mine, up, down, stat, axes(SHMEMX_AXES), rings(SHMEMX_AXES)
    character(len=80) :: source
    call check(shmemx_torus_shape(axes, rings) >= 0 .and. shmemx_torus_hops(me, me) == 0, "the torus")
    call shmemx_torus_source(source)
    call check(len_trim(source) > 0, "torus_source")
    call shmemx_grid_create(SHMEM_TEAM_WORLD, [npes], [.true._c_bool], .false._c_bool, grid, stat)
    call check(stat == 0, "the status of grid_create")
    call check(shmemx_grid_sizes(grid, sizes, wraps) == 1 .and. sizes(1) == npes .and. wraps(1) == 1, "grid_sizes")
    mine = shmem_team_my_pe(grid)
    call shmemx_grid_coordinates(grid, mine, at)
    call check(shmemx_grid_pe(grid, at) == mine, "coordinates and back")
    call shmemx_grid_shift(grid, 0, 1, down, up)
    call check(shmemx_grid_neighbour(grid, 0, 1) == up .and. shmemx_grid_neighbour(grid, 0, -1) == down, "neighbours")
    call shmemx_grid_report(grid, report)
    call check(len_trim(report%how) > 0 .and. report%after%mean_hops <= report%before%mean_hops, "grid_report")
    call try_grid_exchange(grid, mine, up, down)
    call shmem_team_destroy(grid)
  end subroutine

  ! Rows of an array, which have gaps, go up and down: edge by edge, and all together.
  subroutine try_grid_exchange(grid, mine, up, down)
    type(shmem_team_t), intent(in) :: grid
    integer, intent(in) :: mine, up, down
    type(shmemx_exchange_t) :: exchange
    real(c_double) :: field(0:5, 4)
    integer(c_size_t) :: bytes
    integer :: round
    call shmemx_exchange_create_grid(grid, [32_c_int64_t, 32_c_int64_t], 0, exchange)
    do round = 1, 6
      field = 100 * mine + round
      if (mod(round, 2) == 0) then
        call shmemx_exchange_send(exchange, shmemx_edge_up(0), field(4, :))
        call shmemx_exchange_send(exchange, shmemx_edge_down(0), field(1, :))
        call shmemx_exchange_sent(exchange, shmemx_edge_up(0))
        call shmemx_exchange_receive(exchange, shmemx_edge_down(0), field(0, :))
        call shmemx_exchange_receive(exchange, shmemx_edge_up(0), field(5, :))
      else
        call shmemx_exchange_pack(exchange, shmemx_edge_up(0), field(4, :))
        call shmemx_exchange_pack(exchange, shmemx_edge_down(0), field(1, :))
        call shmemx_exchange_start(exchange, SHMEMX_ALL_EDGES)
        call shmemx_exchange_wait(exchange, shmemx_edge_up(0), bytes)
        call check(bytes == 32, "the length of a message")
        call shmemx_exchange_wait(exchange, shmemx_edge_down(0))
        call shmemx_exchange_unpack(exchange, shmemx_edge_down(0), field(0, :))
        call shmemx_exchange_unpack(exchange, shmemx_edge_up(0), field(5, :))
        call shmemx_exchange_release(exchange, SHMEMX_ALL_EDGES)
      end if
      call check(all(abs(field(0, :) - (100 * down + round)) < 0.5), "what came from below")
      call check(all(abs(field(5, :) - (100 * up + round)) < 0.5), "what came from above")
      call check(all(abs(field(1:4, :) - (100 * mine + round)) < 0.5), "what stays")
    end do
    call shmem_barrier_all()
    call shmemx_exchange_destroy(exchange)
    call check(exchange%handle == SHMEMX_EXCHANGE_INVALID%handle, "an exchange that is no more")
  end subroutine

  ! Messages of different lengths go to the right only, and are written and read in place.
  subroutine try_irregular()
    type(shmemx_exchange_t) :: exchange
    type(shmemx_edge_t) :: edges(2)
    integer(c_size_t) :: bytes
    integer(c_int), pointer :: words(:)
    integer :: round, stat
    edges(1) = shmemx_edge_t(pe=right, edge=1, send_bytes=4 * (me + 1))
    edges(2) = shmemx_edge_t(pe=left, edge=0, receive_bytes=4 * (left + 1))
    call shmemx_exchange_create(SHMEM_TEAM_WORLD, edges, exchange, stat)
    call check(stat == 0, "the status of exchange_create")
    do round = 1, 4
      call c_f_pointer(shmemx_exchange_buffer(exchange, 0), words, [me + 1])
      words = 10 * me + round
      call shmemx_exchange_start(exchange, 0, int(4 * (me + 1), c_size_t))
      do while (.not. shmemx_exchange_test(exchange, 1))
      end do
      call shmemx_exchange_wait(exchange, 1)
      call c_f_pointer(shmemx_exchange_received(exchange, 1, bytes), words, [left + 1])
      call check(bytes == 4 * (left + 1) .and. all(words == 10 * left + round), "an irregular message")
      call shmemx_exchange_release(exchange, 1)
    end do
    call shmem_barrier_all()
    call shmemx_exchange_destroy(exchange)
  end subroutine

  subroutine try_plans()
    type(shmemx_plan_t) :: plan
    integer, pointer :: all_of(:), mine(:)
    integer :: round, pe
    call shmemx_allreduce_init(SHMEM_TEAM_WORLD, total, part, SHMEMX_SUM, SHMEMX_PLAN_AUTO, plan)
    do round = 1, 3
      part = me + round
      call shmemx_plan_start(plan)
      do while (.not. shmemx_plan_test(plan))
      end do
      call check(all(abs(total - (npes * (npes - 1) / 2 + npes * round)) < 0.5), "a sum by a plan")
      call shmem_barrier_all()
    end do
    call shmemx_plan_free(plan)
    call check(plan%handle == SHMEMX_PLAN_INVALID%handle, "a plan that is no more")
    call shmem_allocate(all_of, [2 * npes])
    call shmem_allocate(mine, [2 * npes])
    mine = [(100 * me + pe, pe = 1, 2 * npes)]
    call shmemx_allgather_init(SHMEM_TEAM_WORLD, all_of, mine(1:2), SHMEMX_PLAN_LIST, plan)
    call run_plan(plan)
    call check(all([(all_of(2 * pe + 1) == 100 * pe + 1 .and. all_of(2 * pe + 2) == 100 * pe + 2, pe = 0, npes - 1)]), "allgather")
    call shmemx_alltoall_init(SHMEM_TEAM_WORLD, all_of, mine, SHMEMX_PLAN_THREAD, plan)
    call run_plan(plan)
    call check(all([(all_of(2 * pe + 2) == 100 * pe + 2 * me + 2, pe = 0, npes - 1)]), "alltoall")
    call shmemx_broadcast_init(SHMEM_TEAM_WORLD, all_of, mine, npes - 1, SHMEMX_PLAN_AUTO, plan)
    call run_plan(plan)
    call check(all_of(3) == 100 * (npes - 1) + 3, "broadcast")
    call shmem_deallocate(mine)
    call shmem_deallocate(all_of)
  end subroutine

  ! A plan that a word starts.
  subroutine try_words()
    type(shmemx_plan_t) :: plan
    integer(c_int64_t), pointer :: start, done
    integer, pointer :: total(:), part(:)
    integer(c_int64_t) :: round
    call shmem_allocate(total, [1])
    call shmem_allocate(part, [1])
    call shmem_allocate(start)
    call shmem_allocate(done)
    start = 0
    call shmemx_allreduce_init(SHMEM_TEAM_WORLD, total, part, SHMEMX_SUM, SHMEMX_PLAN_AUTO, plan)
    call shmemx_plan_start_on(plan, start, done)
    do round = 1, 3
      part = me + int(round)
      call shmem_barrier_all()
      call shmem_put(start, round, me)
      call shmem_wait_until(done, SHMEM_CMP_EQ, round)
      call check(total(1) == npes * (npes - 1) / 2 + npes * int(round), "a sum that a word starts")
    end do
    call shmemx_plan_start_on(plan)
    call run_plan(plan)
    call shmem_deallocate(done)
    call shmem_deallocate(start)
    call shmem_deallocate(part)
    call shmem_deallocate(total)
  end subroutine

  ! Requests and plans for what try_blocks calls, for scans and for reductions.
  subroutine try_requests()
    type(shmemx_req_h) :: request, others(3)
    type(shmemx_plan_t) :: plan
    integer, pointer :: all_of(:), mine(:)
    real(c_double), pointer :: total(:), part(:)
    integer :: pe, at, i
    integer(c_size_t) :: counts(0:npes - 1), same(0:npes - 1)
    call shmem_allocate(all_of, [2 * npes * npes + 2 * npes])
    call shmem_allocate(mine, [2 * npes * npes])
    call shmem_allocate(total, [4])
    call shmem_allocate(part, [4 * npes])
    mine = [(100 * me + pe, pe = 1, 2 * npes * npes)]
    part = me + 1
    call shmem_barrier_all()
    call shmemx_gather_nb(SHMEM_TEAM_WORLD, all_of, mine(1:2), 0, request)
    call finish(request)
    if (me == 0) call check(all([(all_of(2 * pe + 2) == 100 * pe + 2, pe = 0, npes - 1)]), "gather_nb")
    call shmemx_scatter_nb(SHMEM_TEAM_WORLD, all_of(1:2), mine(1:2 * npes), npes - 1, request)
    call finish(request)
    call check(all_of(2) == 100 * (npes - 1) + 2 * me + 2, "scatter_nb")
    call shmemx_collect_nb(SHMEM_TEAM_WORLD, all_of, mine(1:me + 1), request)
    call finish(request)
    call check(all([(all_of(pe * (pe + 1) / 2 + 1) == 100 * pe + 1, pe = 0, npes - 1)]), "collect_nb")
    call shmemx_fcollect_nb(SHMEM_TEAM_WORLD, all_of, mine(1:2), request)
    call finish(request)
    call check(all([(all_of(2 * pe + 1) == 100 * pe + 1, pe = 0, npes - 1)]), "fcollect_nb")
    call shmemx_alltoalls_nb(SHMEM_TEAM_WORLD, all_of, mine, 2, 1, 1, request)
    call finish(request)
    call check(all([(all_of(2 * pe + 1) == 100 * pe + me + 1, pe = 0, npes - 1)]), "alltoalls_nb")
    call shmemx_alltoall_nb(SHMEM_TEAM_WORLD, all_of(1:npes), mine(1:npes), request)
    call finish(request)
    call check(all([(all_of(pe + 1) == 100 * pe + me + 1, pe = 0, npes - 1)]), "alltoall_nb")
    call shmemx_broadcast_nb(SHMEM_TEAM_WORLD, all_of(1:2), mine(1:2), npes - 1, request)
    call finish(request)
    call check(all_of(2) == 100 * (npes - 1) + 2, "broadcast_nb")
    counts = [(int(pe + 1, c_size_t), pe = 0, npes - 1)]
    same = me + 1
    call shmemx_allgatherv_nb(SHMEM_TEAM_WORLD, all_of, mine(1:me + 1), counts, request=request)
    call finish(request)
    call check(all([(all_of(pe * (pe + 1) / 2 + 1) == 100 * pe + 1, pe = 0, npes - 1)]), "allgatherv_nb")
    call shmemx_alltoallv_nb(SHMEM_TEAM_WORLD, all_of, mine, dest_counts=counts, source_counts=same, request=request)
    call finish(request)
    at = 0
    do pe = 0, npes - 1
      call check(all_of(at + 1) == 100 * pe + me * (pe + 1) + 1, "alltoallv_nb")
      at = at + pe + 1
    end do
    call shmemx_sum_inscan_nb(SHMEM_TEAM_WORLD, total, part(1:4), others(1))
    call shmemx_max_reduce_nb(SHMEM_TEAM_WORLD, all_of(1:2), mine(1:2), others(2))
    call shmemx_sync_all_nb(others(3))
    do i = 3, 1, -1
      call shmemx_req_wait(others(i))
    end do
    call check(all(abs(total - (me + 1) * (me + 2) / 2) < 0.5), "sum_inscan_nb")
    call check(all_of(2) == 100 * (npes - 1) + 2, "max_reduce_nb")
    call shmem_barrier_all()
    call shmemx_avg_reduce_nb(SHMEM_TEAM_WORLD, total, part(1:4), request)
    call finish(request)
    call check(all(abs(2 * total - (npes + 1)) < 0.1), "avg_reduce_nb")
    call shmemx_reduce_scatter_nb(SHMEM_TEAM_WORLD, total, part, SHMEMX_SUM, request)
    call finish(request)
    call check(all(abs(total - npes * (npes + 1) / 2) < 0.5), "reduce_scatter_nb")
    call shmemx_xor_reduce_nb(SHMEM_TEAM_WORLD, all_of(1:1), mine(1:1), request)
    call finish(request)
    at = 1
    do pe = 1, npes - 1
      at = ieor(at, 100 * pe + 1)
    end do
    call check(all_of(1) == at, "xor_reduce_nb")
    call shmemx_reduce_scatter_init(SHMEM_TEAM_WORLD, total, part, SHMEMX_SUM, SHMEMX_PLAN_AUTO, plan)
    call run_plan(plan)
    call check(all(abs(total - npes * (npes + 1) / 2) < 0.5), "reduce_scatter_init")
    call shmemx_sum_exscan_init(SHMEM_TEAM_WORLD, total, part(1:4), SHMEMX_PLAN_AUTO, plan)
    call run_plan(plan)
    call check(all(abs(total - me * (me + 1) / 2) < 0.5), "sum_exscan_init")
    call shmemx_allgatherv_init(SHMEM_TEAM_WORLD, all_of, mine(1:me + 1), counts, executor=SHMEMX_PLAN_LIST, plan=plan)
    call run_plan(plan)
    call check(all([(all_of(pe * (pe + 1) / 2 + 1) == 100 * pe + 1, pe = 0, npes - 1)]), "allgatherv_init")
    call shmemx_alltoalls_init(SHMEM_TEAM_WORLD, all_of, mine, 2, 1, 1, SHMEMX_PLAN_AUTO, plan)
    call run_plan(plan)
    call check(all([(all_of(2 * pe + 1) == 100 * pe + me + 1, pe = 0, npes - 1)]), "alltoalls_init")
    call shmemx_scatter_init(SHMEM_TEAM_WORLD, all_of(1:2), mine(1:2 * npes), 0, SHMEMX_PLAN_AUTO, plan)
    call run_plan(plan)
    call check(all_of(2) == 2 * me + 2, "scatter_init")
    call shmem_deallocate(part)
    call shmem_deallocate(total)
    call shmem_deallocate(mine)
    call shmem_deallocate(all_of)
  end subroutine

  ! All PEs have their results before the next call writes others.
  subroutine finish(request)
    type(shmemx_req_h), intent(inout) :: request
    do while (shmemx_req_test(request) /= 0)
    end do
    call check(request%handle == SHMEMX_REQ_INVALID%handle, "a request that is no more")
    call shmem_barrier_all()
  end subroutine

  ! PE i has i + 1 elements for each other PE, and brings as many to all.
  subroutine try_blocks()
    integer, pointer :: all_of(:), mine(:)
    integer :: pe, stat, at
    integer(c_size_t) :: counts(0:npes - 1), displs(0:npes - 1), same(0:npes - 1)
    call shmem_allocate(all_of, [2 * npes * npes + 2 * npes])
    call shmem_allocate(mine, [2 * npes * npes])
    mine = [(100 * me + pe, pe = 1, 2 * npes * npes)]
    call shmemx_gather(SHMEM_TEAM_WORLD, all_of, mine(1:2), npes - 1, stat)
    if (me == npes - 1) then
      call check(stat == 0 .and. all([(all_of(2 * pe + 2) == 100 * pe + 2, pe = 0, npes - 1)]), "gather")
    end if
    call shmemx_scatter(SHMEM_TEAM_WORLD, all_of(1:2), mine(1:2 * npes), 0)
    call check(all_of(2) == 2 * me + 2, "scatter")
    call shmem_barrier_all()
    counts = [(int(pe + 1, c_size_t), pe = 0, npes - 1)]
    displs = [(int(pe * (npes + 1), c_size_t), pe = 0, npes - 1)]
    call shmemx_allgatherv(SHMEM_TEAM_WORLD, all_of, mine(1:me + 1), counts, displs, stat)
    call check(all([(all_of(pe * (npes + 1) + pe + 1) == 100 * pe + pe + 1, pe = 0, npes - 1)]), "allgatherv")
    call shmem_barrier_all()
    same = me + 1
    call shmemx_alltoallv(SHMEM_TEAM_WORLD, all_of, mine, dest_counts=counts, source_counts=same)
    at = 0
    do pe = 0, npes - 1
      call check(all_of(at + 1) == 100 * pe + me * (pe + 1) + 1, "alltoallv")
      at = at + pe + 1
    end do
    call shmem_deallocate(mine)
    call shmem_deallocate(all_of)
  end subroutine

  subroutine run_plan(plan)
    type(shmemx_plan_t), intent(inout) :: plan
    call shmemx_plan_start(plan)
    call shmemx_plan_wait(plan)
    call shmem_barrier_all()
    call shmemx_plan_free(plan)
  end subroutine

  ! A ring whose messages differ in length and lie where the program has them.
  subroutine try_neighbours()
    type(shmemx_plan_t) :: plan
    type(shmemx_neighbour_t) :: edges(2)
    integer :: round, stat
    edges(1) = shmemx_neighbour_t(right, 1, c_loc(to_above), 16, c_loc(from_above), 8)
    edges(2) = shmemx_neighbour_t(left, 0, c_loc(to_below), 8, c_loc(from_below), 16)
    call shmemx_neighbours_init(SHMEM_TEAM_WORLD, edges, SHMEMX_PLAN_AUTO, plan, stat)
    call check(stat == 0, "the status of neighbours_init")
    do round = 1, 3
      to_above = 100 * me + round
      to_below = -100 * me - round
      from_above = 1
      call shmemx_plan_start(plan)
      call shmemx_plan_wait(plan)
      call check(all(from_below == 100 * left + round), "from the left neighbour")
      call check(all(from_above(1:2) == -100 * right - round) .and. all(from_above(3:4) == 1), "from the right neighbour")
      call shmem_barrier_all()
    end do
    call shmemx_plan_free(plan)
  end subroutine

  ! PEs put to memory of their right neighbours that is not symmetric, and read it back.
  subroutine try_rdma()
    real(c_double), allocatable, target, asynchronous :: memory(:), mine(:)
    type(shmemx_rdma_event_t) :: event
    type(shmemx_rdma_buffer_t) :: own
    type(c_ptr) :: place
    integer :: stat, i
    logical :: sent, arrived
    allocate (memory(10), mine(4))
    memory = -1
    mine = me
    call shmemx_rdma_register(memory, own, stat)
    call check(stat == 0, "the status of rdma_register")
    call shmem_putmem(buffer, own, left)
    call shmem_barrier_all()
    call shmemx_rdma_put(buffer, 16_c_size_t, mine, .true._c_bool, 42_c_int64_t)
    sent = .false.
    arrived = .false.
    do i = 1, 2
      call shmemx_rdma_wait(event)
      sent = sent .or. event%kind == SHMEMX_RDMA_SENT
      if (event%kind /= SHMEMX_RDMA_ARRIVED) cycle
      arrived = .true.
      call check(event%pe == left .and. event%word == 42 .and. event%bytes == 32, "what an event says")
      place = c_loc(memory(3))
      call check(c_associated(event%address, place), "where the data of an event is")
    end do
    call check(sent .and. arrived, "the events of a put")
    call check(all(abs(memory(3:6) - left) < 0.5) .and. memory(2) < 0 .and. memory(7) < 0, "what a put brought")
    call shmem_barrier_all()
    call shmemx_rdma_get(mine(1:2), buffer, 24_c_size_t, 7_c_int64_t)
    do while (.not. shmemx_rdma_test(event))
    end do
    call check(event%kind == SHMEMX_RDMA_GOT .and. event%word == 7 .and. all(abs(mine(1:2) - me) < 0.5), "a get")
    call shmem_barrier_all()
    call shmemx_rdma_unregister(own)
  end subroutine

  subroutine try_messages()
    integer, target, asynchronous :: memory(20)
    type(shmemx_rdma_event_t) :: event
    type(shmemx_rdma_buffer_t) :: own
    integer :: i
    memory(:10) = me
    call shmemx_rdma_register(memory, own)
    call shmemx_rdma_receive(own, 40_c_size_t, 40_c_size_t)
    call shmemx_rdma_send(right, own, 0_c_size_t, 12_c_size_t, 5_c_int64_t)
    do i = 1, 2
      call shmemx_rdma_wait(event)
      if (event%kind == SHMEMX_RDMA_RECEIVED) call check(event%bytes == 12 .and. event%word == 5, "a message")
    end do
    call check(all(memory(11:13) == left), "what a message brought")
    call shmem_barrier_all()
    call shmemx_rdma_unregister(own)
  end subroutine

  subroutine try_stats()
    type(shmemx_stats_t) :: stats
    character(len=24) :: name
    integer :: row, stat
    logical :: found
    call check(shmemx_stats_enabled(), "stats_enabled")
    call shmemx_stats_reset()
    call shmem_put(part, total, right)
    call shmemx_stats_read("put", stats, stat)
    call check(stat == 0 .and. stats%calls == 1 .and. stats%bytes == 24, "stats of a put")
    call shmemx_stats_read("no such row", stats, stat)
    call check(stat /= 0, "a row that does not exist")
    found = .false.
    do row = 1, shmemx_stats_count()
      call shmemx_stats_name(row, name)
      found = found .or. name == "put"
      call check(len_trim(name) > 0, "stats_name")
    end do
    call check(found, "the row of puts")
    call shmem_barrier_all()
  end subroutine
end program
