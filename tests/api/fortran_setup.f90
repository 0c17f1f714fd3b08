! SPDX-License-Identifier: BSD-3-Clause
! run: local=1,2,4
! Routines without a type: set-up, query, teams, contexts, memory, locks, derived types.
program fortran_setup
  use fortran_check
  implicit none

  type :: particle
    real(c_double) :: where(3)
    integer(c_int) :: kind
  end type
  type(particle), save :: mine(4), got(4)
  integer(c_long), save :: lock = 0
  integer, save :: counter = 0, flag = 0
  integer(c_int64_t), save :: signal = 0

  call try_setup()
  call try_teams()
  call try_contexts()
  call try_memory()
  call try_locks()
  call try_derived_types()
  call try_signals()
  call shmem_finalize()

contains

  subroutine try_setup()
    integer :: provided, major, minor
    logical(c_bool) :: up
    character(len=SHMEM_MAX_NAME_LEN) :: name
    call shmem_query_initialized(up)
    call check(.not. up, "not initialized yet")
    call shmem_init_thread(SHMEM_THREAD_SERIALIZED, provided)
    call check(provided >= SHMEM_THREAD_SERIALIZED, "threads")
    call begin_test() ! counts another one
    call shmem_finalize()
    call shmem_query_initialized(up)
    call check(up, "initialized")
    call shmem_query_thread(provided)
    call check(provided >= SHMEM_THREAD_SERIALIZED, "threads, asked for")
    call check(me >= 0 .and. me < npes, "numbers of PEs")
    call check(shmem_pe_accessible(npes - 1) .and. .not. shmem_pe_accessible(npes), "pe_accessible")
    call check(shmem_addr_accessible(counter, right), "addr_accessible")
    call shmem_info_get_version(major, minor)
    call check(major == SHMEM_MAJOR_VERSION .and. minor == SHMEM_MINOR_VERSION, "version")
    call shmem_info_get_name(name)
    call check(name == SHMEM_VENDOR_STRING, "name")
    call shmem_pcontrol(1)
    call shmem_sync_all()
  end subroutine

  subroutine try_teams()
    type(shmem_team_t) :: even, x, y
    type(shmem_team_config_t) :: config
    integer :: stat
    call check(SHMEM_TEAM_WORLD /= SHMEM_TEAM_SHARED .and. SHMEM_TEAM_WORLD == SHMEM_TEAM_WORLD, "equality of teams")
    config%num_contexts = 1
    call shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 2, (npes + 1) / 2, even, config, SHMEM_TEAM_NUM_CONTEXTS, stat)
    call check(stat == 0, "the status of split_strided")
    call check((even == SHMEM_TEAM_INVALID) .eqv. mod(me, 2) == 1, "who is in the team")
    if (mod(me, 2) == 0) then
      call check(shmem_team_my_pe(even) == me / 2 .and. shmem_team_n_pes(even) == (npes + 1) / 2, "numbers in a team")
      call check(shmem_team_translate_pe(even, shmem_team_my_pe(even), SHMEM_TEAM_WORLD) == me, "translate_pe")
      call shmem_team_get_config(even, SHMEM_TEAM_NUM_CONTEXTS, config)
      call check(config%num_contexts == 1, "get_config")
      call shmem_team_sync(even)
      call shmem_sync(even)
    end if
    call shmem_team_split_2d(SHMEM_TEAM_WORLD, 2, x, y)
    call check(shmem_team_n_pes(x) <= 2, "split_2d")
    call shmem_team_destroy(x)
    call shmem_team_destroy(y)
    call check(x == SHMEM_TEAM_INVALID, "a team that is no more")
    call shmem_team_destroy(even)
    call shmem_barrier_all()
  end subroutine

  subroutine try_contexts()
    type(shmem_ctx_t) :: ctx
    type(shmem_team_t) :: team
    integer :: stat
    call shmem_team_create_ctx(SHMEM_TEAM_WORLD, SHMEM_CTX_PRIVATE, ctx, stat)
    call check(stat == 0 .and. ctx /= SHMEM_CTX_INVALID .and. .not. ctx == SHMEM_CTX_DEFAULT, "create_ctx")
    call shmem_ctx_get_team(ctx, team)
    call check(team == SHMEM_TEAM_WORLD, "get_team")
    call shmem_ctx_session_start(ctx, 0)
    call shmem_put(ctx, counter, 7, right)
    call shmem_fence(ctx)
    call shmem_put(ctx, flag, 1, right)
    call shmem_quiet(ctx)
    call shmem_pe_quiet(ctx, [right])
    call shmem_pe_quiet([right])
    call shmem_fence()
    call shmem_ctx_session_stop(ctx)
    call shmem_wait_until(flag, SHMEM_CMP_EQ, 1)
    call check(counter == 7, "order by a fence")
    call shmem_ctx_destroy(ctx)
    call check(ctx == SHMEM_CTX_INVALID, "a context that is no more")
    call shmem_barrier_all()
    counter = 0
  end subroutine

  subroutine try_memory()
    type(c_ptr) :: memory
    integer, pointer :: words(:)
    memory = shmem_malloc(400_c_size_t)
    call c_f_pointer(memory, words, [100])
    words = me
    call shmem_barrier_all()
    call check(shmem_g(words(100), right) == right, "words of shmem_malloc")
    call check(c_associated(shmem_team_ptr(SHMEM_TEAM_WORLD, words, me)), "team_ptr")
    call shmem_free(memory)
    memory = shmem_calloc(10_c_size_t, 4_c_size_t)
    call c_f_pointer(memory, words, [10])
    call check(all(words == 0), "calloc")
    memory = shmem_realloc(memory, 4000_c_size_t)
    call shmem_free(memory)
    memory = shmem_align(4096_c_size_t, 10_c_size_t)
    call check(mod(transfer(memory, 0_c_intptr_t), 4096_c_intptr_t) == 0, "align")
    call shmem_free(memory)
    memory = shmem_malloc_with_hints(8_c_size_t, SHMEM_MALLOC_SIGNAL_REMOTE)
    call shmem_free(memory)
  end subroutine

  subroutine try_locks()
    integer :: i
    counter = 0
    call shmem_barrier_all()
    do i = 1, 20
      call shmem_set_lock(lock)
      call shmem_p(counter, shmem_g(counter, 0) + 1, 0)
      call shmem_quiet()
      call shmem_clear_lock(lock)
    end do
    call shmem_barrier_all()
    if (me == 0) call check(counter == 20 * npes, "what PEs counted under a lock")
    if (shmem_test_lock(lock) == 0) call shmem_clear_lock(lock)
    call shmem_barrier_all()
  end subroutine

  subroutine try_derived_types()
    integer :: i
    do i = 1, 4
      mine(i) = particle(real([me, i, 0], c_double), 100 * me + i)
    end do
    got%kind = -1
    call shmem_barrier_all()
    call shmem_putmem(got(1:3:2), mine(2:4:2), right)
    call shmem_barrier_all()
    call check(all(got%kind == [100 * left + 2, -1, 100 * left + 4, -1]), "putmem of every other element")
    call shmem_getmem(got%where(2), mine%where(1), left)
    call check(all(got%where(2) == left), "getmem of a component")
    call shmem_barrier_all()
  end subroutine

  subroutine try_signals()
    call shmem_signal_set(signal, 5_c_int64_t, right)
    call check(shmem_signal_wait_until(signal, SHMEM_CMP_EQ, 5_c_int64_t) == 5, "signal_set")
    call shmem_barrier_all()
    call shmem_signal_add(SHMEM_CTX_DEFAULT, signal, 2_c_int64_t, right)
    call check(shmem_signal_wait_until(signal, SHMEM_CMP_NE, 5_c_int64_t) == 7, "signal_add")
    call check(shmem_signal_fetch(signal) == 7, "signal_fetch")
    call shmem_barrier_all()
  end subroutine
end program
