! mpif.h: INTEGER, DOUBLE PRECISION, COMPLEX, LOGICAL, 2INTEGER, MPI_IN_PLACE,
! a user op and a derived type.  With an argument it leaves without MPI_Finalize.
program fortran_mpif
    implicit none
    include 'mpif.h'
    integer, parameter :: n = 1000
    integer :: ierror, rank, nranks, ranksum, failures

    failures = 0
    call MPI_Init(ierror)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    call MPI_Comm_size(MPI_COMM_WORLD, nranks, ierror)
    ranksum = nranks * (nranks - 1) / 2
    call test_integer
    call test_real
    call test_complex
    call test_logical
    call test_pair
    call test_user_op
    call test_choice
    call MPI_Comm_set_name(MPI_COMM_WORLD, 'by Fortran', ierror)
    if (command_argument_count() > 0) stop
    call MPI_Finalize(ierror)
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
        call MPI_Allreduce(MPI_IN_PLACE, in, n, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, ierror)
        call expect(all(in == [(nranks - 1 + i, i = 1, n)]), 'INTEGER, MPI_MAX, in place')
    end subroutine

    subroutine test_real
        double precision :: in(n), out(n)
        in = rank + 0.5d0
        call MPI_Allreduce(in, out, n, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierror)
        call expect(all(out == ranksum + nranks * 0.5d0), 'DOUBLE PRECISION, MPI_SUM')
        call MPI_Allreduce(MPI_IN_PLACE, in, n, MPI_REAL8, MPI_MIN, MPI_COMM_WORLD, ierror)
        call expect(all(in == 0.5d0), 'REAL8, MPI_MIN, in place')
    end subroutine

    subroutine test_complex
        complex :: in(n), out(n)
        in = cmplx(rank, -2 * rank)
        call MPI_Allreduce(in, out, n, MPI_COMPLEX, MPI_SUM, MPI_COMM_WORLD, ierror)
        call expect(all(out == cmplx(ranksum, -2 * ranksum)), 'COMPLEX, MPI_SUM')
        call MPI_Allreduce(MPI_IN_PLACE, in, n, MPI_COMPLEX, MPI_SUM, MPI_COMM_WORLD, ierror)
        call expect(all(in == out), 'COMPLEX, MPI_SUM, in place')
    end subroutine

    subroutine test_logical
        logical :: in(2), out(2)
        in = [rank >= 0, rank == 0]
        call MPI_Allreduce(in, out, 2, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD, ierror)
        call expect(out(1) .and. (out(2) .eqv. nranks == 1), 'LOGICAL, MPI_LAND')
        call MPI_Allreduce(MPI_IN_PLACE, in, 2, MPI_LOGICAL, MPI_LOR, MPI_COMM_WORLD, ierror)
        call expect(all(in), 'LOGICAL, MPI_LOR, in place')
    end subroutine

    subroutine test_pair
        integer :: in(2, n), out(2, n)
        in(1, :) = mod(rank + 1, nranks)
        in(2, :) = rank
        call MPI_Allreduce(in, out, n, MPI_2INTEGER, MPI_MINLOC, MPI_COMM_WORLD, ierror)
        call expect(all(out(1, :) == 0) .and. all(out(2, :) == nranks - 1), '2INTEGER, MPI_MINLOC')
    end subroutine

    subroutine test_user_op
        external :: add
        integer :: op, type, in(2, n), out(2, n)
        in = rank
        call MPI_Op_create(add, .true., op, ierror)
        call MPI_Type_contiguous(2, MPI_INTEGER, type, ierror)
        call MPI_Type_commit(type, ierror)
        call MPI_Allreduce(in, out, n, type, op, MPI_COMM_WORLD, ierror)
        call expect(all(out == ranksum), 'derived type, user op')
        call MPI_Allreduce(MPI_IN_PLACE, in, n, type, op, MPI_COMM_WORLD, ierror)
        call expect(all(in == ranksum), 'derived type, user op, in place')
        call MPI_Type_free(type, ierror)
        call MPI_Op_free(op, ierror)
    end subroutine

    ! Without the library no MPI knows this key.
    subroutine test_choice
        integer :: info, one, other
        integer :: in, out
        in = rank
        call MPI_Comm_dup(MPI_COMM_WORLD, one, ierror)
        call MPI_Info_create(info, ierror)
        call MPI_Info_set(info, 'allreduce_algo', 'star', ierror)
        call MPI_Comm_set_info(one, info, ierror)
        call MPI_Allreduce(in, out, 1, MPI_INTEGER, MPI_SUM, one, ierror)
        call expect(out == ranksum, 'a choice by MPI_Comm_set_info')
        call MPI_Info_set(info, 'allreduce_algo', 'ring', ierror)
        call MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, other, ierror)
        call MPI_Allreduce(in, out, 1, MPI_INTEGER, MPI_SUM, other, ierror)
        call expect(out == ranksum, 'a choice by MPI_Comm_dup_with_info')
        call MPI_Info_free(info, ierror)
        call MPI_Comm_free(one, ierror)
        call MPI_Comm_free(other, ierror)
    end subroutine
end program

! Elements of two integers.
subroutine add(in, inout, length, type)
    implicit none
    integer :: length, type
    integer :: in(2, length), inout(2, length)
    if (type /= 0 .or. length >= 0) inout = inout + in
end subroutine
