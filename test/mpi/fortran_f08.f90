! use mpi_f08: INTEGER, REAL(8), COMPLEX, LOGICAL, 2INTEGER, MPI_IN_PLACE, with and
! without ierror, a user op and a derived type.  With the argument "leave" it leaves without
! MPI_Finalize.
module ops
    use mpi_f08
    use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
    implicit none

contains

    ! Elements of two integers.
    subroutine add(in, inout, length, type)
        type(c_ptr), value :: in, inout
        integer :: length
        type(MPI_Datatype) :: type
        integer, pointer :: a(:), b(:)
        call c_f_pointer(in, a, [2 * length])
        call c_f_pointer(inout, b, [2 * length])
        if (type == MPI_INTEGER) b = -1
        b = b + a
    end subroutine
end module

program fortran_f08
    use mpi_f08
    use ops
    implicit none
    integer, parameter :: n = 1000
    integer :: ierror, rank, nranks, ranksum, failures
    character(8) :: how

    call get_command_argument(1, how)
    failures = 0
    ierror = MPI_SUCCESS
    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, nranks)
    ranksum = nranks * (nranks - 1) / 2
    call test_integer
    call test_real
    call test_complex
    call test_logical
    call test_pair
    call test_user_op
    call test_choice
    call MPI_Comm_set_name(MPI_COMM_WORLD, 'by Fortran', ierror)
    if (how == 'leave') stop
    call MPI_Finalize()
    if (failures > 0) stop 1

contains

    subroutine expect(condition, what)
        logical, intent(in) :: condition
        character(*), intent(in) :: what
        if (condition .and. ierror == MPI_SUCCESS) return
        failures = failures + 1
        write (0, '(a, i0, 2a)') 'rank ', rank, ': wrong: ', what
    end subroutine

    subroutine test_integer
        integer :: in(n), out(n), i
        in = [(rank + i, i = 1, n)]
        call MPI_Allreduce(in, out, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
        call expect(all(out == [(ranksum + nranks * i, i = 1, n)]), 'INTEGER, MPI_SUM')
        call MPI_Allreduce(MPI_IN_PLACE, in, n, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD)
        call expect(all(in == [(nranks - 1 + i, i = 1, n)]), 'INTEGER, MPI_MAX, in place')
    end subroutine

    subroutine test_real
        real(8) :: in(n), out(n)
        in = rank + 0.5d0
        call MPI_Allreduce(in, out, n, MPI_REAL8, MPI_SUM, MPI_COMM_WORLD)
        call expect(all(out == ranksum + nranks * 0.5d0), 'REAL8, MPI_SUM')
        call MPI_Allreduce(MPI_IN_PLACE, in, n, MPI_DOUBLE_PRECISION, MPI_MIN, MPI_COMM_WORLD)
        call expect(all(in == 0.5d0), 'DOUBLE PRECISION, MPI_MIN, in place')
    end subroutine

    subroutine test_complex
        complex(8) :: in(n), out(n)
        in = cmplx(rank, -2 * rank, 8)
        call MPI_Allreduce(in, out, n, MPI_DOUBLE_COMPLEX, MPI_SUM, MPI_COMM_WORLD)
        call expect(all(out == cmplx(ranksum, -2 * ranksum, 8)), 'DOUBLE COMPLEX, MPI_SUM')
        call MPI_Allreduce(MPI_IN_PLACE, in, n, MPI_DOUBLE_COMPLEX, MPI_SUM, MPI_COMM_WORLD)
        call expect(all(in == out), 'DOUBLE COMPLEX, MPI_SUM, in place')
    end subroutine

    subroutine test_logical
        logical :: in(2), out(2)
        in = [rank >= 0, rank == 0]
        call MPI_Allreduce(in, out, 2, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD)
        call expect(out(1) .and. (out(2) .eqv. nranks == 1), 'LOGICAL, MPI_LAND')
        call MPI_Allreduce(MPI_IN_PLACE, in, 2, MPI_LOGICAL, MPI_LOR, MPI_COMM_WORLD)
        call expect(all(in), 'LOGICAL, MPI_LOR, in place')
    end subroutine

    subroutine test_pair
        integer :: in(2, n), out(2, n)
        in(1, :) = mod(rank + 1, nranks)
        in(2, :) = rank
        call MPI_Allreduce(in, out, n, MPI_2INTEGER, MPI_MINLOC, MPI_COMM_WORLD)
        call expect(all(out(1, :) == 0) .and. all(out(2, :) == nranks - 1), '2INTEGER, MPI_MINLOC')
    end subroutine

    subroutine test_user_op
        type(MPI_Op) :: op
        type(MPI_Datatype) :: type
        integer :: in(2, n), out(2, n)
        in = rank
        call MPI_Op_create(add, .true., op)
        call MPI_Type_contiguous(2, MPI_INTEGER, type)
        call MPI_Type_commit(type)
        call MPI_Allreduce(in, out, n, type, op, MPI_COMM_WORLD)
        call expect(all(out == ranksum), 'derived type, user op')
        call MPI_Allreduce(MPI_IN_PLACE, in, n, type, op, MPI_COMM_WORLD)
        call expect(all(in == ranksum), 'derived type, user op, in place')
        call MPI_Type_free(type)
        call MPI_Op_free(op)
    end subroutine

    ! Without the library no MPI knows this key.
    subroutine test_choice
        type(MPI_Info) :: info
        type(MPI_Comm) :: one, other
        integer :: in, out
        in = rank
        call MPI_Comm_dup(MPI_COMM_WORLD, one)
        call MPI_Info_create(info)
        call MPI_Info_set(info, 'allreduce_algo', 'star')
        call MPI_Comm_set_info(one, info)
        call MPI_Allreduce(in, out, 1, MPI_INTEGER, MPI_SUM, one)
        call expect(out == ranksum, 'a choice by MPI_Comm_set_info')
        call MPI_Info_set(info, 'allreduce_algo', 'ring')
        call MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, other)
        call MPI_Allreduce(in, out, 1, MPI_INTEGER, MPI_SUM, other)
        call expect(out == ranksum, 'a choice by MPI_Comm_dup_with_info')
        call MPI_Info_free(info)
        call MPI_Comm_free(one)
        call MPI_Comm_free(other)
    end subroutine
end program
