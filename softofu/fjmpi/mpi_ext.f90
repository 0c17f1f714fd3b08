! SPDX-License-Identifier: BSD-3-Clause
!
! The extensions of Fujitsu's MPI for programs that use the module mpi. fjmpi.f90 and fjmpi_fortran.c have the bodies;
! compile fjmpi.f90 first.

module mpi_ext
  use mpi
  use fjmpi_common
  implicit none

  interface
    subroutine FJMPI_Topology_get_shape(x, y, z, ierror)
      integer, intent(out) :: x, y, z, ierror
    end subroutine

    subroutine FJMPI_Topology_get_dimension(dimensions, ierror)
      integer, intent(out) :: dimensions, ierror
    end subroutine

    subroutine FJMPI_Topology_get_coords(comm, rank, view, most, coords, ierror)
      integer, intent(in) :: comm, rank, view, most
      integer, intent(inout) :: coords(*)
      integer, intent(out) :: ierror
    end subroutine

    subroutine FJMPI_Topology_get_ranks(comm, view, coords, most, count, ranks, ierror)
      integer, intent(in) :: comm, view, coords(*), most
      integer, intent(out) :: count, ierror
      integer, intent(inout) :: ranks(*)
    end subroutine

    subroutine FJMPI_Topology_rank2x(rank, x, ierror)
      integer, intent(in) :: rank
      integer, intent(out) :: x, ierror
    end subroutine

    subroutine FJMPI_Topology_rank2xy(rank, x, y, ierror)
      integer, intent(in) :: rank
      integer, intent(out) :: x, y, ierror
    end subroutine

    subroutine FJMPI_Topology_rank2xyz(rank, x, y, z, ierror)
      integer, intent(in) :: rank
      integer, intent(out) :: x, y, z, ierror
    end subroutine

    subroutine FJMPI_Topology_sys_rank2xyzabc(rank, x, y, z, a, b, c, ierror)
      integer, intent(in) :: rank
      integer, intent(out) :: x, y, z, a, b, c, ierror
    end subroutine

    subroutine FJMPI_Topology_rel_rank2xyzabc(rank, x, y, z, a, b, c, ierror)
      integer, intent(in) :: rank
      integer, intent(out) :: x, y, z, a, b, c, ierror
    end subroutine

    subroutine FJMPI_Prequest_send_init(buf, count, datatype, dest, tag, comm, request, ierror)
      !DEC$ ATTRIBUTES NO_ARG_CHECK :: buf
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: buf
      !DIR$ IGNORE_TKR buf
      integer :: buf(*)
      integer, intent(in) :: count, datatype, dest, tag, comm
      integer, intent(out) :: request, ierror
    end subroutine

    subroutine FJMPI_Prequest_recv_init(buf, count, datatype, source, tag, comm, request, ierror)
      !DEC$ ATTRIBUTES NO_ARG_CHECK :: buf
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: buf
      !DIR$ IGNORE_TKR buf
      integer :: buf(*)
      integer, intent(in) :: count, datatype, source, tag, comm
      integer, intent(out) :: request, ierror
    end subroutine

    subroutine FJMPI_Prequest_start(request, ierror)
      integer, intent(inout) :: request
      integer, intent(out) :: ierror
    end subroutine

    subroutine FJMPI_Prequest_startall(count, requests, ierror)
      integer, intent(in) :: count
      integer, intent(inout) :: requests(*)
      integer, intent(out) :: ierror
    end subroutine

    subroutine MPIX_Barrier_init(comm, info, request, ierror)
      integer, intent(in) :: comm, info
      integer, intent(out) :: request, ierror
    end subroutine

    subroutine MPIX_Bcast_init(buf, count, datatype, root, comm, info, request, ierror)
      !DEC$ ATTRIBUTES NO_ARG_CHECK :: buf
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: buf
      !DIR$ IGNORE_TKR buf
      integer :: buf(*)
      integer, intent(in) :: count, datatype, root, comm, info
      integer, intent(out) :: request, ierror
    end subroutine

    subroutine MPIX_Reduce_init(sendbuf, recvbuf, count, datatype, op, root, comm, info, request, ierror)
      !DEC$ ATTRIBUTES NO_ARG_CHECK :: sendbuf
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: sendbuf
      !DIR$ IGNORE_TKR sendbuf
      !DEC$ ATTRIBUTES NO_ARG_CHECK :: recvbuf
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: recvbuf
      !DIR$ IGNORE_TKR recvbuf
      integer :: sendbuf(*), recvbuf(*)
      integer, intent(in) :: count, datatype, op, root, comm, info
      integer, intent(out) :: request, ierror
    end subroutine

    subroutine MPIX_Allreduce_init(sendbuf, recvbuf, count, datatype, op, comm, info, request, ierror)
      !DEC$ ATTRIBUTES NO_ARG_CHECK :: sendbuf
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: sendbuf
      !DIR$ IGNORE_TKR sendbuf
      !DEC$ ATTRIBUTES NO_ARG_CHECK :: recvbuf
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: recvbuf
      !DIR$ IGNORE_TKR recvbuf
      integer :: sendbuf(*), recvbuf(*)
      integer, intent(in) :: count, datatype, op, comm, info
      integer, intent(out) :: request, ierror
    end subroutine

    subroutine MPIX_Allgather_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, request, ierror)
      !DEC$ ATTRIBUTES NO_ARG_CHECK :: sendbuf
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: sendbuf
      !DIR$ IGNORE_TKR sendbuf
      !DEC$ ATTRIBUTES NO_ARG_CHECK :: recvbuf
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: recvbuf
      !DIR$ IGNORE_TKR recvbuf
      integer :: sendbuf(*), recvbuf(*)
      integer, intent(in) :: sendcount, sendtype, recvcount, recvtype, comm, info
      integer, intent(out) :: request, ierror
    end subroutine

    subroutine MPIX_Alltoall_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, request, ierror)
      !DEC$ ATTRIBUTES NO_ARG_CHECK :: sendbuf
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: sendbuf
      !DIR$ IGNORE_TKR sendbuf
      !DEC$ ATTRIBUTES NO_ARG_CHECK :: recvbuf
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: recvbuf
      !DIR$ IGNORE_TKR recvbuf
      integer :: sendbuf(*), recvbuf(*)
      integer, intent(in) :: sendcount, sendtype, recvcount, recvtype, comm, info
      integer, intent(out) :: request, ierror
    end subroutine
  end interface
end module
