! SPDX-License-Identifier: BSD-3-Clause
! Forms of old benchmarks and test suites: broadcasts in place, pSync that is set anew before each use or used again at once, in words of 8
! bytes or from SHPALLOC, functions declared before and after the include file, routines called without it, allocatable arrays.
      module buffers
      integer, parameter :: length = 40
      double precision :: in_buffer(length)
      double precision, save :: out_buffer(length)
      integer*8 disp
      end module

      program oldforms
      implicit none
      integer num_pes, my_pe
      include 'mpp/shmem.fh'
      integer, dimension(SHMEM_BCAST_SYNC_SIZE), save :: psync1
      integer, dimension(SHMEM_BCAST_SYNC_SIZE), save :: psync2
      integer i, me, np
      integer, save :: niter
      double precision dt
      logical timeron
      integer nx(8), level
      common /params/ dt, timeron, nx, level

      call start_pes(0)
      me = my_pe()
      np = num_pes()
      psync1 = SHMEM_SYNC_VALUE
      psync2 = SHMEM_SYNC_VALUE
      level = 3
      if (me .eq. 0) then
         niter = 12
         dt = 0.5d0
         timeron = .true.
         nx = (/ (10 * i, i = 1, 8) /)
      else
         niter = 0
         dt = 0
         timeron = .false.
         nx = 0
      endif
      call shmem_barrier_all()
      call shmem_broadcast4(niter, niter, 1, 0, 0, 0, np, psync1)
      call shmem_broadcast8(dt, dt, 1, 0, 0, 0, np, psync2)
      call shmem_broadcast4(timeron,timeron,1,0,0,0,np,psync1)
      call shmem_broadcast4(nx(level), nx(level), 1, 0, 0, 0, np,
     >                      psync2)
      if (niter .ne. 12 .or. dt .ne. 0.5d0 .or. .not. timeron)
     >   call bad('broadcast in place')
      if (nx(3) .ne. 30) call bad('broadcast of an element')
      if (me .ne. 0 .and. nx(4) .ne. 0) call bad('one element')

      do i = 1, 5
         call norms(np, me, i)
      enddo
      call candidates(np, me)
      call faces(np, me)
      call suite(np, me)
      if (me .eq. 0) print *, 'all is well'
      call shmem_barrier_all()
      end

! pSync is set anew in each call.
      subroutine norms(np, me, i)
      implicit none
      include 'mpp/shmem.fh'
      integer np, me, i
      double precision, save :: s, ss, most
      integer, dimension(SHMEM_BCAST_SYNC_SIZE), save :: psync1
      integer, dimension(SHMEM_BCAST_SYNC_SIZE), save :: psync2
      double precision, dimension(SHMEM_REDUCE_MIN_WRKDATA_SIZE),
     > save :: pwrk1
      double precision, dimension(SHMEM_REDUCE_MIN_WRKDATA_SIZE),
     > save :: pwrk2

      s = me + i
      most = me * i
      psync1 = SHMEM_SYNC_VALUE
      psync2 = SHMEM_SYNC_VALUE
      call shmem_barrier_all();
      call shmem_real8_max_to_all(ss,most,1,0,0,np,pwrk1,psync1)
      most = ss
      call shmem_real8_sum_to_all(ss,s,1,0,0,np,pwrk2,psync2)
      if (most .ne. (np - 1) * i) call bad('a maximum')
      if (ss .ne. np * (np - 1) / 2 + np * i) call bad('a sum')
      end

! Reductions one after the other, some on the same pSync.
      subroutine candidates(np, me)
      implicit none
      include 'mpp/shmem.fh'
      integer np, me, i
      integer, dimension( 0:3, 10, 0:1 ), save :: jg
      integer, save :: jg_temp(4)
      double precision, save :: temp, best
      integer, dimension(SHMEM_BCAST_SYNC_SIZE), save :: psync1
      integer, dimension(SHMEM_BCAST_SYNC_SIZE), save :: psync2
      double precision, dimension(SHMEM_REDUCE_MIN_WRKDATA_SIZE),
     > save :: pwrk1
      integer, dimension(SHMEM_REDUCE_MIN_WRKDATA_SIZE),
     > save :: pwrk2

      psync1 = SHMEM_SYNC_VALUE
      psync2 = SHMEM_SYNC_VALUE
      call shmem_barrier_all()
      do i = 10, 1, -1
         best = mod(i + me, np)
         call shmem_real8_max_to_all(temp,best,1,0,0,np,pwrk1,
     >                               psync1)
         if (temp .ne. np - 1) call bad('real8_max')
         jg(:, i, 1) = 0
         if (best .eq. temp) jg(:, i, 1) = (/ me, i, 2 * i, 3 * i /)
         call shmem_int4_max_to_all(jg_temp,jg(0,i,1),4,0,0,np,
     >                              pwrk2,psync2)
         if (jg_temp(1) .ne. mod(np - 1 + 10 * np - i, np))
     >      call bad('who has the most')
         if (jg_temp(4) .ne. 3 * i) call bad('int4_max')
         call shmem_real8_min_to_all(temp,best,1,0,0,np,pwrk1,
     >                               psync1)
         if (temp .ne. 0) call bad('real8_min')
      enddo
      call shmem_real8_max_to_all(temp,best,1,0,0,np,pwrk1,psync1)
      call shmem_real8_sum_to_all(temp,best,1,0,0,np,pwrk1,psync1)
      if (temp .ne. np * (np - 1) / 2) call bad('the same pSync')
      end

! Without the include file.
      subroutine faces(np, me)
      use buffers
      integer np, me, c
      do c = 1, length
         out_buffer(c) = 100 * me + c
      enddo
      call shmem_barrier_all()
      disp = 7
      call shmem_double_get(in_buffer, out_buffer(disp+1), 11*3,
     >                      mod(me + 1, np))
      call shmem_barrier_all()
      if (in_buffer(33) .ne. 100 * mod(me + 1, np) + 40)
     >   call bad('double_get')
      call shmem_double_put(out_buffer(1), in_buffer(1), 2,
     >                      mod(me + 1, np))
      call shmem_barrier_all()
      if (out_buffer(2) .ne. 100 * me + 9) call bad('double_put')
      end

      subroutine suite(np, me)
      implicit none
      include 'shmem.fh'
      integer np, me, i, errcode, abort
      integer :: shmem_my_pe, shmem_n_pes
      integer*8 :: shmem_int8_cswap
      logical, parameter :: true_val = .TRUE.
      logical, save :: success
      integer*8, save :: psync8(SHMEM_BCAST_SYNC_SIZE)
      integer psync(SHMEM_BARRIER_SYNC_SIZE)
      integer*8 psync_ptr
      pointer (psync_ptr, psync)
      integer*4 flag(1)
      integer*8 flag_ptr
      pointer (flag_ptr, flag)
      integer*8 target(1)
      integer*8 target_ptr
      pointer (target_ptr, target)
      character, save :: from(10), to(10)
      logical, allocatable :: mine(:)
      integer, save :: ints(4), all(32)

      if (me .ne. shmem_my_pe() .or. np .ne. shmem_n_pes())
     >   call bad('my_pe')
      abort = 0
      call shpalloc(target_ptr, 0, errcode, abort)
      if (errcode .ne. -1) call bad('shpalloc of nothing')
      call shpalloc(psync_ptr, SHMEM_BARRIER_SYNC_SIZE, errcode,
     >              abort)
      call shpalloc (flag_ptr, 1, errcode, abort)
      call shpalloc(target_ptr, 2, errcode, abort)
      if (.not. shmem_addr_accessible(target, 0))
     >   call bad('addr_accessible')
      allocate (mine(4))
      if (shmem_addr_accessible(mine, mod(me + 1, np)))
     >   call bad('what is not accessible')
      do i = 1, SHMEM_BARRIER_SYNC_SIZE
         psync(i) = SHMEM_SYNC_VALUE
      end do
      flag(1) = 0
      target(1) = me
      psync8(:) = SHMEM_SYNC_VALUE
      success = .FALSE.
      call shmem_barrier_all()
      if (me .ge. 1) then
         call shmem_barrier(1, 0, np - 1, psync)
         call shmem_barrier(1, 0, np - 1, psync)
         call shmem_int4_inc(flag, 0)
      else
         call shmem_int4_wait_until(flag(1), SHMEM_CMP_EQ, np - 1)
         if (shmem_int8_cswap(target, 1_8, 0_8, 1) .ne. 1)
     >      call bad('int8_cswap')
      endif
      call shmem_barrier_all()
      if (me .eq. 1) then
         if (target(1) .eq. 0)
     >      call shmem_logical_put(success, true_val, 1, 0)
      endif
      from = char(40 + me)
      to = 'z'
      ints = me
      call shmem_barrier_all()
      if (me .eq. 0 .and. .not. success) call bad('logical_put')
      call shmem_character_get(to, from, 0, mod(me + 1, np))
      if (to(1) .ne. 'z') call bad('character_get of nothing')
      call shmem_logical_iput(mine, mine, 1, 2, 0, mod(me + 1, np))
      call shmem_barrier_all()
      call shmem_character_put(to, from, 10, mod(me + 1, np))
      call shmem_barrier_all()
      if (to(10) .ne. char(40 + mod(me + np - 1, np)))
     >   call bad('character_put')
      call shmem_collect4(all, ints, 1 + mod(me, 2), 0, 0, np, psync8)
      if (all(2) .ne. 1 .or. all(3) .ne. 1) call bad('collect4')
      call shpdeallc(target_ptr, errcode, abort)
      call shpdeallc(flag_ptr, errcode, abort)
      call shpdeallc(psync_ptr, errcode, abort)
      end

      subroutine bad(what)
      character*(*) what
      print *, 'not so: ', what
      call flush(6)
      call shmem_global_exit(1)
      end
