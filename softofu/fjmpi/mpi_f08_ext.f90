! SPDX-License-Identifier: BSD-3-Clause
!
! The extensions of Fujitsu's MPI for programs that use the module mpi_f08: communicators, datatypes and requests have their
! types, and ierror is optional. Compile fjmpi.f90 and mpi_ext.f90 first.

module mpi_f08_ext
  use mpi_f08
  use fjmpi_common
  implicit none
  private :: give_error
  private :: get_shape, get_dimension, get_coords, get_ranks, send_init, recv_init, start, startall
  private :: pass_constants, barrier_init, bcast_init, reduce_init, allreduce_init, allgather_init, alltoall_init

  interface FJMPI_Topology_get_shape
    procedure :: get_shape
  end interface
  interface FJMPI_Topology_get_dimension
    procedure :: get_dimension
  end interface
  interface FJMPI_Topology_get_coords
    procedure :: get_coords
  end interface
  interface FJMPI_Topology_get_ranks
    procedure :: get_ranks
  end interface
  interface FJMPI_Prequest_send_init
    procedure :: send_init
  end interface
  interface FJMPI_Prequest_recv_init
    procedure :: recv_init
  end interface
  interface FJMPI_Prequest_start
    procedure :: start
  end interface
  interface FJMPI_Prequest_startall
    procedure :: startall
  end interface
  interface MPIX_Barrier_init
    procedure :: barrier_init
  end interface
  interface MPIX_Bcast_init
    procedure :: bcast_init
  end interface
  interface MPIX_Reduce_init
    procedure :: reduce_init
  end interface
  interface MPIX_Allreduce_init
    procedure :: allreduce_init
  end interface
  interface MPIX_Allgather_init
    procedure :: allgather_init
  end interface
  interface MPIX_Alltoall_init
    procedure :: alltoall_init
  end interface

contains

  subroutine give_error(code, ierror)
    integer, intent(in) :: code
    integer, intent(out), optional :: ierror

    if (present(ierror)) ierror = code
  end subroutine

  subroutine get_shape(x, y, z, ierror)
    use mpi_ext, only: older => FJMPI_Topology_get_shape
    integer, intent(out) :: x, y, z
    integer, intent(out), optional :: ierror
    integer :: code

    call older(x, y, z, code)
    call give_error(code, ierror)
  end subroutine

  subroutine get_dimension(dimensions, ierror)
    use mpi_ext, only: older => FJMPI_Topology_get_dimension
    integer, intent(out) :: dimensions
    integer, intent(out), optional :: ierror
    integer :: code

    call older(dimensions, code)
    call give_error(code, ierror)
  end subroutine

  subroutine get_coords(comm, rank, view, most, coords, ierror)
    use mpi_ext, only: older => FJMPI_Topology_get_coords
    type(MPI_Comm), intent(in) :: comm
    integer, intent(in) :: rank, view, most
    integer, intent(inout) :: coords(*)
    integer, intent(out), optional :: ierror
    integer :: code

    call older(comm%MPI_VAL, rank, view, most, coords, code)
    call give_error(code, ierror)
  end subroutine

  subroutine get_ranks(comm, view, coords, most, count, ranks, ierror)
    use mpi_ext, only: older => FJMPI_Topology_get_ranks
    type(MPI_Comm), intent(in) :: comm
    integer, intent(in) :: view, coords(*), most
    integer, intent(out) :: count
    integer, intent(inout) :: ranks(*)
    integer, intent(out), optional :: ierror
    integer :: code

    call older(comm%MPI_VAL, view, coords, most, count, ranks, code)
    call give_error(code, ierror)
  end subroutine

  subroutine send_init(buf, count, datatype, dest, tag, comm, request, ierror)
    use mpi_ext, only: older => FJMPI_Prequest_send_init
    !DEC$ ATTRIBUTES NO_ARG_CHECK :: buf
    !GCC$ ATTRIBUTES NO_ARG_CHECK :: buf
    !DIR$ IGNORE_TKR buf
    integer, asynchronous :: buf(*)
    integer, intent(in) :: count, dest, tag
    type(MPI_Datatype), intent(in) :: datatype
    type(MPI_Comm), intent(in) :: comm
    type(MPI_Request), intent(out) :: request
    integer, intent(out), optional :: ierror
    integer :: code

    call pass_constants()
    call older(buf, count, datatype%MPI_VAL, dest, tag, comm%MPI_VAL, request%MPI_VAL, code)
    call give_error(code, ierror)
  end subroutine

  subroutine recv_init(buf, count, datatype, source, tag, comm, request, ierror)
    use mpi_ext, only: older => FJMPI_Prequest_recv_init
    !DEC$ ATTRIBUTES NO_ARG_CHECK :: buf
    !GCC$ ATTRIBUTES NO_ARG_CHECK :: buf
    !DIR$ IGNORE_TKR buf
    integer, asynchronous :: buf(*)
    integer, intent(in) :: count, source, tag
    type(MPI_Datatype), intent(in) :: datatype
    type(MPI_Comm), intent(in) :: comm
    type(MPI_Request), intent(out) :: request
    integer, intent(out), optional :: ierror
    integer :: code

    call pass_constants()
    call older(buf, count, datatype%MPI_VAL, source, tag, comm%MPI_VAL, request%MPI_VAL, code)
    call give_error(code, ierror)
  end subroutine

  subroutine start(request, ierror)
    use mpi_ext, only: older => FJMPI_Prequest_start
    type(MPI_Request), intent(inout) :: request
    integer, intent(out), optional :: ierror
    integer :: code

    call older(request%MPI_VAL, code)
    call give_error(code, ierror)
  end subroutine

  subroutine startall(count, requests, ierror)
    use mpi_ext, only: older => FJMPI_Prequest_startall
    integer, intent(in) :: count
    type(MPI_Request), intent(inout) :: requests(count)
    integer, intent(out), optional :: ierror
    integer :: code, handles(count)

    handles = requests%MPI_VAL
    call older(count, handles, code)
    requests%MPI_VAL = handles
    call give_error(code, ierror)
  end subroutine

  ! MPI_BOTTOM and MPI_IN_PLACE of this module are other variables than those of the module mpi. fjmpi_fortran.c also learns
  ! that the next call comes from here.
  subroutine pass_constants()
    use fjmpi_library, only: fjmpi_fortran_constants

    call fjmpi_fortran_constants(1, MPI_BOTTOM, MPI_IN_PLACE)
  end subroutine

  subroutine barrier_init(comm, info, request, ierror)
    use mpi_ext, only: older => MPIX_Barrier_init
    type(MPI_Comm), intent(in) :: comm
    type(MPI_Info), intent(in) :: info
    type(MPI_Request), intent(out) :: request
    integer, intent(out), optional :: ierror
    integer :: code

    call pass_constants()
    call older(comm%MPI_VAL, info%MPI_VAL, request%MPI_VAL, code)
    call give_error(code, ierror)
  end subroutine

  subroutine bcast_init(buf, count, datatype, root, comm, info, request, ierror)
    use mpi_ext, only: older => MPIX_Bcast_init
    !DEC$ ATTRIBUTES NO_ARG_CHECK :: buf
    !GCC$ ATTRIBUTES NO_ARG_CHECK :: buf
    !DIR$ IGNORE_TKR buf
    integer, asynchronous :: buf(*)
    integer, intent(in) :: count, root
    type(MPI_Datatype), intent(in) :: datatype
    type(MPI_Comm), intent(in) :: comm
    type(MPI_Info), intent(in) :: info
    type(MPI_Request), intent(out) :: request
    integer, intent(out), optional :: ierror
    integer :: code

    call pass_constants()
    call older(buf, count, datatype%MPI_VAL, root, comm%MPI_VAL, info%MPI_VAL, request%MPI_VAL, code)
    call give_error(code, ierror)
  end subroutine

  subroutine reduce_init(sendbuf, recvbuf, count, datatype, op, root, comm, info, request, ierror)
    use mpi_ext, only: older => MPIX_Reduce_init
    !DEC$ ATTRIBUTES NO_ARG_CHECK :: sendbuf
    !GCC$ ATTRIBUTES NO_ARG_CHECK :: sendbuf
    !DIR$ IGNORE_TKR sendbuf
    !DEC$ ATTRIBUTES NO_ARG_CHECK :: recvbuf
    !GCC$ ATTRIBUTES NO_ARG_CHECK :: recvbuf
    !DIR$ IGNORE_TKR recvbuf
    integer, asynchronous :: sendbuf(*), recvbuf(*)
    integer, intent(in) :: count, root
    type(MPI_Datatype), intent(in) :: datatype
    type(MPI_Op), intent(in) :: op
    type(MPI_Comm), intent(in) :: comm
    type(MPI_Info), intent(in) :: info
    type(MPI_Request), intent(out) :: request
    integer, intent(out), optional :: ierror
    integer :: code

    call pass_constants()
    call older(sendbuf, recvbuf, count, datatype%MPI_VAL, op%MPI_VAL, root, comm%MPI_VAL, info%MPI_VAL, &
      request%MPI_VAL, code)
    call give_error(code, ierror)
  end subroutine

  subroutine allreduce_init(sendbuf, recvbuf, count, datatype, op, comm, info, request, ierror)
    use mpi_ext, only: older => MPIX_Allreduce_init
    !DEC$ ATTRIBUTES NO_ARG_CHECK :: sendbuf
    !GCC$ ATTRIBUTES NO_ARG_CHECK :: sendbuf
    !DIR$ IGNORE_TKR sendbuf
    !DEC$ ATTRIBUTES NO_ARG_CHECK :: recvbuf
    !GCC$ ATTRIBUTES NO_ARG_CHECK :: recvbuf
    !DIR$ IGNORE_TKR recvbuf
    integer, asynchronous :: sendbuf(*), recvbuf(*)
    integer, intent(in) :: count
    type(MPI_Datatype), intent(in) :: datatype
    type(MPI_Op), intent(in) :: op
    type(MPI_Comm), intent(in) :: comm
    type(MPI_Info), intent(in) :: info
    type(MPI_Request), intent(out) :: request
    integer, intent(out), optional :: ierror
    integer :: code

    call pass_constants()
    call older(sendbuf, recvbuf, count, datatype%MPI_VAL, op%MPI_VAL, comm%MPI_VAL, info%MPI_VAL, request%MPI_VAL, code)
    call give_error(code, ierror)
  end subroutine

  subroutine allgather_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, request, ierror)
    use mpi_ext, only: older => MPIX_Allgather_init
    !DEC$ ATTRIBUTES NO_ARG_CHECK :: sendbuf
    !GCC$ ATTRIBUTES NO_ARG_CHECK :: sendbuf
    !DIR$ IGNORE_TKR sendbuf
    !DEC$ ATTRIBUTES NO_ARG_CHECK :: recvbuf
    !GCC$ ATTRIBUTES NO_ARG_CHECK :: recvbuf
    !DIR$ IGNORE_TKR recvbuf
    integer, asynchronous :: sendbuf(*), recvbuf(*)
    integer, intent(in) :: sendcount, recvcount
    type(MPI_Datatype), intent(in) :: sendtype, recvtype
    type(MPI_Comm), intent(in) :: comm
    type(MPI_Info), intent(in) :: info
    type(MPI_Request), intent(out) :: request
    integer, intent(out), optional :: ierror
    integer :: code

    call pass_constants()
    call older(sendbuf, sendcount, sendtype%MPI_VAL, recvbuf, recvcount, recvtype%MPI_VAL, comm%MPI_VAL, &
      info%MPI_VAL, request%MPI_VAL, code)
    call give_error(code, ierror)
  end subroutine

  subroutine alltoall_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, request, ierror)
    use mpi_ext, only: older => MPIX_Alltoall_init
    !DEC$ ATTRIBUTES NO_ARG_CHECK :: sendbuf
    !GCC$ ATTRIBUTES NO_ARG_CHECK :: sendbuf
    !DIR$ IGNORE_TKR sendbuf
    !DEC$ ATTRIBUTES NO_ARG_CHECK :: recvbuf
    !GCC$ ATTRIBUTES NO_ARG_CHECK :: recvbuf
    !DIR$ IGNORE_TKR recvbuf
    integer, asynchronous :: sendbuf(*), recvbuf(*)
    integer, intent(in) :: sendcount, recvcount
    type(MPI_Datatype), intent(in) :: sendtype, recvtype
    type(MPI_Comm), intent(in) :: comm
    type(MPI_Info), intent(in) :: info
    type(MPI_Request), intent(out) :: request
    integer, intent(out), optional :: ierror
    integer :: code

    call pass_constants()
    call older(sendbuf, sendcount, sendtype%MPI_VAL, recvbuf, recvcount, recvtype%MPI_VAL, comm%MPI_VAL, &
      info%MPI_VAL, request%MPI_VAL, code)
    call give_error(code, ierror)
  end subroutine
end module
