#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Fortran: oshfort, programs of OpenSHMEM 1.3 on each path, mistakes that the compiler finds, and
# messages that name the routine. Not beside other files: make install in one of them links the
# Fortran library again, in its place.

setup_file()
{
	. "${BATS_TEST_FILENAME%/*}/../lib/built.bash"
	need_built
}

setup()
{
	OSHRUN=${OSHRUN:-$TOP_BUILDDIR/oshrun}
	OSHFORT=$TOP_BUILDDIR/oshfort
	SOURCES=${BATS_TEST_FILENAME%/*}/../fortran
	[ -x "$OSHFORT" ] || skip "this build has no Fortran"
	cd "$BATS_TEST_TMPDIR" || return
}

# on_paths COMMAND...: over load and store, UCX over TCP, both, and a Tofu box where there is one.
on_paths()
{
	"$OSHRUN" -n 2 "$@" || return
	"$OSHRUN" -n 3 "$@" || return
	SHMEM_PATHS=ucx UCX_TLS=tcp,self "$OSHRUN" -n 3 "$@" || return
	SHMEM_NODE_PES=2 "$OSHRUN" -n 4 "$@" || return
	[ ! -e "$TOP_BUILDDIR/.libs/libtofucom.so" ] ||
		SHMEM_PATHS=tofu SOFTOFU_SHAPE=3x1x1x1x1x1 "$OSHRUN" -n 3 "$@"
}

# program LINES...: a program that uses the module, in program.f90.
program()
{
	{
		printf '%s\n' 'program try' 'use shmem' 'implicit none' 'integer, save :: i, n(4)' 'real(8), save :: x(4), y(4)'
		printf '%s\n' "$@" 'end program'
	} >program.f90
}

# refused TEXT: the compiler takes program.f90 for a mistake, and says so.
refused()
{
	run "$OSHFORT" -c program.f90
	[ "$status" -ne 0 ] && [[ "$output" == *"$1"* ]]
}

# stops TEXT: program.f90 compiles, and ends with this message.
stops()
{
	"$OSHFORT" -Wall -std=f2018 program.f90 -o program
	run "$OSHRUN" -n 2 ./program
	echo "$output"
	[ "$status" -ne 0 ] && [[ "$output" == *"$1"* ]]
}

# old_program FILE OPTION...: it compiles without the interfaces of shmem.fh, and with them without
# a warning, and runs on every path
old_program()
{
	"$OSHFORT" "${@:2}" -w "$SOURCES/$1" -o old
	"$OSHRUN" -n 2 ./old
	"$OSHFORT" --interfaces -Wall -Werror "${@:2}" "$SOURCES/$1" -o old
	on_paths ./old
}

@test "a program in fixed form of OpenSHMEM 1.3 runs on every path" {
	old_program old_fixed.f -fcray-pointer
}

@test "a program in free form of OpenSHMEM 1.3 runs on every path" {
	old_program old_free.f90 -std=f2018
}

@test "forms of old benchmarks and test suites run on every path" {
	old_program old_forms.f -fcray-pointer
}

@test "a program with variables called my_pe and num_pes, and routines of the library as arguments, runs on every path" {
	"$OSHFORT" "$SOURCES/old_cray.f90" -o old
	on_paths ./old
	# The interfaces are for programs that have neither.
	run "$OSHFORT" --interfaces "$SOURCES/old_cray.f90" -o old
	[ "$status" -ne 0 ] && [[ "$output" == *"is not a variable"*"is not allowed as an actual argument"* ]]
}

@test "oshfort --interfaces finds a call with too few arguments, or the include file by its folder does" {
	printf '%s\n' "include 'shmem.fh'" 'integer x(4)' 'call shmem_put4(x, x, 4)' end >few.f90
	"$OSHFORT" -c few.f90
	run "$OSHFORT" --interfaces -c few.f90
	[ "$status" -ne 0 ] && [[ "$output" == *"no specific subroutine for the generic"* ]]
	sed -i s,shmem.fh,shmem_interfaces/shmem.fh, few.f90
	run "$OSHFORT" -c few.f90
	[ "$status" -ne 0 ] && [[ "$output" == *"no specific subroutine for the generic"* ]]
}

@test "oshfort --no-interfaces: a block data includes shmem.fh, and functions are arguments" {
	printf '%s\n' 'block data values' "include 'mpp/shmem.fh'" 'integer psync(SHMEM_BCAST_SYNC_SIZE)' 'common /sync/ psync' \
		'data psync /SHMEM_BCAST_SYNC_SIZE*SHMEM_SYNC_VALUE/' end 'program t' "include 'shmem.fh'" 'integer shmem_my_pe' \
		'external shmem_my_pe' 'call start_pes(0)' 'call says(shmem_my_pe)' 'call shmem_finalize' end \
		'subroutine says(pe)' 'integer pe' 'external pe' 'print *, pe()' end >t.f90
	"$OSHFORT" --no-interfaces t.f90 -o t
	run "$OSHRUN" -n 1 ./t
	[ "$status" -eq 0 ] && [ "${output// /}" = 0 ]
	run "$OSHFORT" -c t.f90
	[ "$status" -ne 0 ]
}

@test "a program's own mpp/shmem.fh, found by its -I, comes before the library's" {
	mkdir -p own/mpp
	printf '%s\n' '      integer shmem_my_pe, own_number' '      parameter (own_number = 42)' >own/mpp/shmem.fh
	printf '%s\n' 'program t' 'implicit none' "include 'mpp/shmem.fh'" 'call start_pes(0)' \
		'if (shmem_my_pe() == 0) print *, own_number' 'call shmem_finalize' end >t.f90
	"$OSHFORT" -I own t.f90 -o t
	run "$OSHRUN" -n 2 ./t
	[ "$status" -eq 0 ] && [[ "$output" == *42* ]]
}

@test "a program's own routine by a name that only Cray had takes its place, shared and archive" {
	printf '%s\n' 'subroutine shmem_put(a)' 'integer a' 'a = 7' end 'program t' "include 'shmem.fh'" 'integer a' \
		'call shmem_init' 'call shmem_put(a)' 'if (a /= 7) error stop' 'call shmem_finalize' end >t.f90
	"$OSHFORT" t.f90 -o t && "$OSHRUN" -n 1 ./t
	[ ! -e "$TOP_BUILDDIR/.libs/libtorushmem_fortran.a" ] || { "$OSHFORT" -static-libtorushmem t.f90 -o t && "$OSHRUN" -n 1 ./t; }
}

@test "routines of OpenSHMEM 1.3 have the names that compilers make of them" {
	names=$(nm -D --defined-only "$TOP_BUILDDIR/.libs/libtorushmem_fortran.so" | sed 's/.* //')
	while read -r name _; do
		case $name in
		'' | '#' | weak) continue ;;
		esac
		for form in "${name}_" "${name}__" "${name^^}"; do
			grep -qx "$form" <<<"$names" || { echo "$form is missing" && false; }
		done
	done <"${BATS_TEST_FILENAME%/*}/../../fortran/legacy.def"
	# a program without the include file, whose compiler adds an underscore more or upper-cases
	printf '%s\n' 'program t' 'integer me' 'external num_pes' 'integer num_pes' 'call start_pes(0)' \
		'if (num_pes() /= 2) error stop' 'call shmem_barrier_all()' 'call shmem_finalize()' 'end' >two.f90
	"$OSHFORT" -fsecond-underscore two.f90 -o two
	"$OSHRUN" -n 2 ./two
}

@test "every routine of the C interface that is not deprecated is in the module" {
	all=$(sed -n 's/^  public :: //p' "$TOP_BUILDDIR/fortran/shmem.f90" | tr ',' '\n' | tr -d ' ' | sort -u)
	typed=$(awk '!/^#/ && NF { print $1 }' "${BATS_TEST_FILENAME%/*}/../../include/generics.def")
	# what is in C: without types, without sizes in bits, without deprecated ones
	# a context is an argument in Fortran, not another name
	grep -E '^[^#(]*(shmem_[a-z_0-9]*)\(' "$TOP_BUILDDIR/include/shmem.h" | grep -v -e DEPRECATED -e '^#' |
		sed -E 's/^[^(]*[ *](shmem_[a-z_0-9]*)\(.*/\1/' | grep -vE '[0-9]' | sort -u >c
	for name in $(grep -vE "_($(echo $typed | tr ' ' '|'))$" c); do
		grep -qx "$name" <<<"$all" || grep -qx "${name/shmem_ctx_/shmem_}" <<<"$all" || case $name in
		shmem_alltoallsmem) ;; # strides in bytes: sections have them
		*) echo "$name is not in the module" && false ;;
		esac
	done
	[ "$(wc -l <c)" -gt 300 ]
	all=$(sed -n 's/^  public :: //p' "$TOP_BUILDDIR/fortran/shmemx.f90" | tr ',' '\n' | tr -d ' ')
	sed -n 's/^[a-z].*[ *]\(shmemx_[a-z_]*\)(.*/\1/p' "${BATS_TEST_FILENAME%/*}/../../include/shmemx.h" >c
	# sections do what pack and unpack do; types of C are what atomic_query asks about; heaps
	# take addresses, as those of mmap; teams of lists and names of other libraries are for C;
	# an id and an all-gather are for programs that somebody else starts
	for name in $(grep -vx -e shmemx_get_unique_id -e shmemx_init_attr -e shmemx_pack -e shmemx_unpack -e shmemx_atomic_query -e shmemx_team_of_pes -e 'shmemx_heap_.*' -e 'shmemx_thread_.*' -e shmemx_wtime -e shmemx_putmem_signal c); do
		grep -qx "$name" <<<"$all" || { echo "$name is not in the module" && false; }
	done
	[ "$(wc -l <c)" -gt 40 ]
}

@test "a broken job in Fortran" {
	cat >broken.f90 <<'END'
program broken
  use shmem
  use shmemx
  implicit none
  integer :: pe
  character(len=200) :: message
  call shmem_init()
  if (shmem_my_pe() == 1) call quick_exit(0)
  do while (shmemx_error() == SHMEMX_ERROR_NONE)
    call shmem_barrier_all()
  end do
  print '(2i2)', shmemx_error(pe, message=message), pe
  print '(l1)', index(message, "PE 1") > 0
  call shmem_finalize()
contains
  subroutine quick_exit(code)
    use iso_c_binding
    integer, value :: code
    interface
      subroutine c_exit(code) bind(c, name="_exit")
        import
        integer(c_int), value :: code
      end subroutine
    end interface
    call c_exit(int(code, c_int))
  end subroutine
end program
END
	"$OSHFORT" -Wall -std=f2018 broken.f90 -o broken
	SHMEM_ERRORS=return ROOT=127.0.0.1:$((20000 + BASHPID % 10000)) run timeout 60 "${BATS_TEST_FILENAME%/*}/progs/start" 2 ./broken
	[ "$status" -eq 0 ]
	[ "$output" = $' 1 1\nT' ]
}

@test "the compiler refuses types that differ" {
	program 'call shmem_put(x, n, 1)'
	refused "no specific subroutine for the generic"
}

@test "the compiler refuses an atomic of a type that has none" {
	program 'call shmem_atomic_add(x(1), 1.0d0, 1)'
	refused "no specific subroutine for the generic"
}

@test "the compiler refuses a plan of a sum of texts" {
	program 'use_shmemx' 'type(shmemx_plan_t) :: plan' 'character(len=4), save :: t(2)' \
		'call shmemx_allreduce_init(SHMEM_TEAM_WORLD, t, t, SHMEMX_SUM, SHMEMX_PLAN_AUTO, plan)'
	sed -i -e '/use_shmemx/d' -e 's/^use shmem$/use shmem\nuse shmemx/' program.f90
	refused "no specific subroutine for the generic"
}

@test "the compiler refuses a constant as a destination" {
	program 'call shmem_put(1.0d0, x(1), 1)'
	refused "shmem_put"
}

@test "arrays of different sizes end the job with a message" {
	program 'call shmem_init()' 'call shmem_put(x, y(1:3), 1)' 'call shmem_finalize()'
	stops "shmem_put: dest has 4 elements and source has 3"
}

@test "a shape that does not fit the pointer ends the job with a message" {
	program 'call work()' 'contains' 'subroutine work()' 'real(8), pointer :: p(:, :)' 'call shmem_init()' \
		'call shmem_allocate(p, [4])' 'end subroutine'
	stops "shmem_allocate: shape has 1 elements, and the pointer has rank 2"
}

@test "pointers of types that C does not have: what does not fit ends the job with a message" {
	program 'call work()' 'contains' 'subroutine work()' 'logical, pointer :: p(:, :), q(:)' 'logical, save :: l(6)' \
		'nullify (p)' 'call shmem_init()' 'call shmem_allocate(p, [4])' 'end subroutine'
	stops "shmem_allocate: shape has 1 elements, and the pointer has rank 2"
	sed -i 's/call shmem_allocate(p, .4.)/call shmem_deallocate(p)/' program.f90
	stops "shmem_deallocate: a is not associated"
	sed -i 's/call shmem_deallocate(p)/call shmem_ptr(l, p, 0)/' program.f90
	stops "shmem_ptr: dest has rank 1 and pointer has rank 2"
	sed -i 's/call shmem_ptr(l, p, 0)/call shmem_ptr(l(1:5:2), q, 0)/' program.f90
	stops "shmem_ptr: dest is a section with gaps, in dimension 1"
}

@test "a section with gaps where none may be ends the job with a message" {
	program 'call shmem_init()' 'call shmem_fcollect(SHMEM_TEAM_WORLD, x, y(1:3:2))'
	stops "shmem_fcollect: source is a section with gaps, in dimension 1"
}

@test "a collective on an invalid team names the team, whatever the sizes are" {
	for call in 'fcollect(SHMEM_TEAM_INVALID, x(1:1), y)' 'collect(SHMEM_TEAM_INVALID, x(1:1), y)' \
		'alltoall(SHMEM_TEAM_INVALID, x(1:1), y)' 'broadcast(SHMEM_TEAM_INVALID, x(1:1), y, 0)' \
		'alltoalls(SHMEM_TEAM_INVALID, x(1:1), y, 1, 1, 4)' 'sum_reduce(SHMEM_TEAM_INVALID, x(1:1), y)'; do
		program 'call shmem_init()' "call shmem_$call"
		stops "shmem_${call%%(*}: team is SHMEM_TEAM_INVALID: this PE is not a member of the team"
		[[ "$output" == *"call this routine on members only"* ]]
	done
	for call in 'broadcast_init(SHMEM_TEAM_INVALID, x(1:1), y, 0, 0, plan)' \
		'alltoall_init(SHMEM_TEAM_INVALID, x(1:1), y, 0, plan)' \
		'allreduce_init(SHMEM_TEAM_INVALID, x(1:1), y, SHMEMX_SUM, 0, plan)'; do
		program 'call work()' 'contains' 'subroutine work()' 'use shmemx' 'type(shmemx_plan_t) :: plan' \
			'call shmem_init()' "call shmemx_$call" 'end subroutine'
		stops "shmemx_${call%%(*}: team is SHMEM_TEAM_INVALID: this PE is not a member of the team"
	done
}

@test "an all-to-all of sections without equal shares ends the job with a message" {
	shares="source has 3 elements, which are no equal shares for 2 PEs; pass a multiple of 2 elements"
	program 'call shmem_init()' 'call shmem_alltoall(SHMEM_TEAM_WORLD, x(1:3), y(1:3))' 'call shmem_finalize()'
	stops "shmem_alltoall: $shares"
	program 'call work()' 'contains' 'subroutine work()' 'use shmemx' 'type(shmemx_plan_t) :: plan' 'call shmem_init()' \
		'call shmemx_alltoall_init(SHMEM_TEAM_WORLD, x(1:3), y(1:3), 0, plan)' 'call shmem_finalize()' 'end subroutine'
	stops "shmemx_alltoall_init: $shares"
	program 'call shmem_init()' 'call shmem_alltoalls(SHMEM_TEAM_WORLD, x(1:3), y, 1, 1, 2)' 'call shmem_finalize()'
	stops "shmem_alltoalls: dest has 3 elements, too few for 4"
}

# one_line TEXT: program.f90 ends by one line on two PEs, of PE 0, which has the text; the program
# called no shmem_global_exit.
one_line()
{
	stops "$1"
	[ "$status" -eq 1 ]
	[ "$(grep -c -E '^(torushmem|oshrun): ' <<<"$output")" -eq 1 ]
	[[ "$output" == *"torushmem: PE 0: $1"* ]]
}

@test "allocation without room ends the job by one line, which names shmem_allocate, unless there is stat" {
	for type in 'real(8)' logical; do
		for kind in '' _8; do
			program 'call work()' 'contains' 'subroutine work()' "$type, pointer :: p(:)" 'integer :: stat' 'nullify (p)' \
				'call shmem_init()' "call shmem_allocate(p, [2000000000$kind], stat=stat)" \
				'if (stat == 0) error stop 3' 'call shmem_finalize()' 'end subroutine'
			"$OSHFORT" program.f90 -o program
			run "$OSHRUN" -n 2 ./program
			[ "$status" -eq 0 ]
			[[ "$output" == "torushmem: PE 0: shmem_allocate: the symmetric heap has no room for size="* ]]
			sed -i -e 's/, stat=stat//' -e '/error stop/d' -e '/integer :: stat/d' program.f90
			one_line "shmem_allocate: the symmetric heap has no room for size="
		done
	done
	# a size that was reported before, to a call with stat
	program 'call work()' 'contains' 'subroutine work()' 'real(8), pointer :: p(:)' 'integer :: stat' 'nullify (p)' \
		'call shmem_init()' 'call shmem_allocate(p, [2000000000], stat=stat)' 'call shmem_allocate(p, [2000000000])' \
		'end subroutine'
	stops "shmem_allocate: the symmetric heap has no room for size="
	[ "$(grep -c 'PE 0: shmem_allocate: the symmetric heap has no room' <<<"$output")" -eq 2 ]
	[ "$(grep -c -E '^(torushmem|oshrun): ' <<<"$output")" -eq 2 ]
}

# one_old_line TEXT STATEMENT: as one_line, for a statement of OpenSHMEM 1.3, which
# sets IERR or ends the job.
one_old_line()
{
	for abort in 1 0; do
		printf '      %s\n' 'PROGRAM TRY' "INCLUDE 'shmem.fh'" 'INTEGER IERR' 'INTEGER X(1)' 'POINTER (P, X)' 'CALL SHMEM_INIT()' \
			'CALL SHPALLOC(P, 2, IERR, 1)' "CALL $2, IERR, $abort)" 'CALL SHMEM_FINALIZE()' 'IF (IERR .GE. 0) STOP 3' 'END' >old.f
		"$OSHFORT" -fcray-pointer old.f -o old
		run "$OSHRUN" -n 2 ./old
		echo "$output"
		[ "$status" -eq $abort ]
		[[ $abort -eq 0 || "$output" == "torushmem: PE 0: $1"* ]]
		[ "${#lines[@]}" -le 1 ]
	done
}

@test "SHPALLOC and SHPCLMOVE without room, or without a length, end the job by one line if they are to" {
	one_old_line 'SHPALLOC: the symmetric heap has no room for size=8000000000 ' 'SHPALLOC(P, 2000000000'
	one_old_line 'SHPCLMOVE: the symmetric heap has no room for size=8000000000 ' 'SHPCLMOVE(P, 2000000000'
	one_old_line 'SHPALLOC: LENGTH is not positive' 'SHPALLOC(P, -3'
	one_old_line 'SHPCLMOVE: LENGTH is not positive' 'SHPCLMOVE(P, 0'
}

@test "a mistake that the Fortran library finds ends the job by one line, and no call of shmem_global_exit is reported" {
	program 'call shmem_init()' 'call shmem_put(x, y(1:3), 1)' 'call shmem_finalize()'
	one_line "shmem_put: dest has 4 elements and source has 3"
	program 'call shmem_init()' 'call shmem_global_exit(3)'
	stops "called shmem_global_exit(3)"
}

@test "messages of the library name the routine of Fortran" {
	program 'call shmem_init()' 'call shmem_put(x, y, 7)'
	stops "shmem_put: pe=7"
	program 'call shmem_init()' 'call shmem_put(x(1:3:2), y(1:2), 7)'
	stops "shmem_put: pe=7"
	program 'call shmem_init()' 'call shmem_atomic_inc(n(1), -1)'
	stops "shmem_atomic_inc: pe=-1"
	program 'call work()' 'contains' 'subroutine work()' 'real(8) :: mine(4)' 'call shmem_init()' 'mine = 1' \
		'call shmem_put(mine, y, 1 - shmem_my_pe())' 'end subroutine'
	stops "shmem_put: dest="
}

# finds PATTERN: program.f90 ends on two PEs, with SHMEM_CHECK=1, with a line of the last PE or of
# any that matches; on each path.
finds()
{
	"$OSHFORT" program.f90 -o program
	for path in SHMEM_PATHS=local 'SHMEM_PATHS=ucx UCX_TLS=tcp,self'; do
		# shellcheck disable=SC2086 # settings
		run env $path SHMEM_CHECK=1 "$OSHRUN" -n 2 ./program
		echo "$path: $output"
		[ "$status" -eq 1 ]
		[[ "$output" =~ ^torushmem:\ PE\ [01]:\ $1 ]]
	done
}

# after_end KIND CALLS STATEMENT: a program in which memory p, a context or a team has ended before
# the statement; the last PE makes it
after_end()
{
	program 'call work()' 'contains' 'subroutine work()' 'real(8), pointer :: p(:), q(:)' "type($1) :: it, copy" 'nullify (p)' \
		'call shmem_init()' "${@:2}" 'call shmem_barrier_all()' 'call shmem_finalize()' 'end subroutine'
}

@test "memory that was freed, contexts and teams that were destroyed: messages name the routine of Fortran" {
	freed='=0x[0-9a-f]+ \(offset [0-9]+ of the symmetric heap\): this memory was freed: it is byte 0 of a block of 80 bytes that shmem_deallocate gave back'
	for call in 'put(q, y(1:2), 0) dest' 'get(x(1:2), q, 0) source'; do
		after_end shmem_ctx_t 'call shmem_allocate(p, [10])' 'q => p(1:2)' 'call shmem_deallocate(p)' \
			"if (shmem_my_pe() == 1) call shmem_${call% *}"
		finds "shmem_${call%%(*}: ${call##* }$freed"
	done
	after_end shmem_ctx_t 'call shmem_ctx_create(0, it)' 'copy = it' 'call shmem_ctx_destroy(it)' \
		'if (shmem_my_pe() == 1) call shmem_put(copy, x, y, 0)'
	finds 'shmem_put: ctx=0x[0-9a-f]+: this context was destroyed'
	after_end shmem_team_t 'call shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 2, it)' 'copy = it' \
		'call shmem_team_destroy(it)' 'call shmem_team_sync(copy)'
	finds 'shmem_team_sync: team=0x[0-9a-f]+: this team was destroyed'
}

@test "messages of the library name the routine of OpenSHMEM 1.3" {
	printf '%s\n' "include 'shmem.fh'" 'integer, save :: x(4)' 'call shmem_init()' 'call shmem_put4(x, x, 4, 9)' end >old.f90
	"$OSHFORT" old.f90 -o old
	run "$OSHRUN" -n 2 ./old
	[ "$status" -ne 0 ] && [[ "$output" == *"SHMEM_PUT4: pe=9"* ]]
	printf '%s\n' "include 'shmem.fh'" 'integer, save :: x(4)' 'call shmem_init()' 'call shmem_put4(x, x, -4, 0)' end >old.f90
	"$OSHFORT" old.f90 -o old
	run "$OSHRUN" -n 2 ./old
	[ "$status" -ne 0 ] && [[ "$output" == *"SHMEM_PUT4: nelems=-4 is negative"* ]]
}

@test "oshfort shows what it does" {
	[ "$("$OSHFORT" -showme:libs)" = "torushmem_fortran torushmem" ]
	[[ "$("$OSHFORT" -show a.f90 -o a)" == *" a.f90 -o a "*"-ltorushmem_fortran -ltorushmem" ]]
	[[ "$("$OSHFORT" --showme:version)" == *"language: Fortran"* ]]
	[[ "$(OSHFORT_FC=other "$TOP_BUILDDIR/oshf90" -showme:command)" == other ]]
	[[ "$("$TOP_BUILDDIR/oshf77" --help)" == *"Calls the Fortran compiler"* ]]
}

@test "a section goes to C where it is, or is copied once" {
	"${OSHCC:-$TOP_BUILDDIR/oshcc}" -O0 -fno-builtin -c "$SOURCES/copies.c"
	"$OSHFORT" -O2 -Wall -Werror -std=f2018 "$SOURCES/copies.f90" copies.o -o copies
	"$OSHRUN" -n 1 ./copies
}

@test "a put of a number takes at most ten instructions more than from C" {
	command -v valgrind >/dev/null || skip "no valgrind"
	. "${BATS_TEST_FILENAME%/*}/../lib/cxx.bash"
	"${OSHCC:-$TOP_BUILDDIR/oshcc}" -O2 "$SOURCES/putter.c" -o from-c
	"$OSHFORT" -O2 "$SOURCES/putter.f90" -o from-fortran
	counts_of_putter from-c from-fortran
	echo "$(cat count.from-c) $(cat count.from-fortran)"
	[ "$(cat count.from-fortran)" -le $(($(cat count.from-c) + 10000)) ]
}

# alike PES PROGRAM OPTIONS...: the program prints in Fortran what it prints in C, but for times
# and how numbers are written
alike()
{
	for language in c fortran; do
		folder=.
		[ $language = fortran ] || folder=$TOP_BUILDDIR/examples
		timeout -k 2 $((60 * ${TEST_PATIENCE:-1})) "$OSHRUN" -q -n "$1" "$folder/$2" "${@:3}" >out || { cat out && return 1; }
		sed -e '/^microseconds\|^communication takes\|^an iteration:\|iterations in/d' -e 's/, [0-9.]* us each//' \
			-e 's/\([0-9]\)E\([+-][0-9]\)/\1e\2/g' out |
			awk '/^sum of all points/ { printf "sum %.17g\n", $NF; next } { print }' >out.$language
	done
	grep -qx PASS out.fortran
	grep -q "$numbers" out.fortran
	diff out.c out.fortran
}

@test "the examples print the numbers of those in C, to the last bit" {
	unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES "${!SHMEM_@}"
	cp "${BATS_TEST_FILENAME%/*}"/../../examples/fortran/* .
	PATH="$TOP_BUILDDIR:$PATH" make -s FFLAGS='-O2 -std=f2018 -Wall -Wextra -pedantic -Werror'
	for settings in SHMEM_PATHS=local SHMEM_NODE_PES=2; do
		export "${settings?}"
		for pes in 1 3 4; do
			numbers='^ *450 ' alike $pes stencil --size 37 --tolerance 1e-3
			numbers='^sum [0-9]' alike $pes heat --side 6 --iterations 40
			numbers='^sum [0-9]' alike $pes lattice --side 4 --iterations 20
			numbers='^[1-9][0-9]* iterations' alike $pes solver --side 2
		done
		numbers='1mx2mx2m' alike 4 heat --side 5 --iterations 30 --open --grid 1,2,2
		numbers='m' alike 3 lattice --side 3 --iterations 20 --open
		numbers='PASS' alike 4 heat --side 1 --iterations 10
		unset "${settings%%=*}"
	done
	run "$OSHRUN" -q -n 2 ./lattice --side 3 --grid 1,1,1,2
	[ "$status" -eq 2 ]
	[[ "$output" == *"lattice: where it wraps, 3 points make two even ones neighbours; give an even --side"* ]]
	for program in stencil heat lattice solver; do
		run "$OSHRUN" -q -n 2 ./$program --help
		[ "$status" -eq 0 ] && [ "$(grep -c '^usage:' <<<"$output")" -eq 1 ]
		run "$OSHRUN" -q -n 2 ./$program --nonsense
		[ "$status" -eq 2 ]
	done
}

@test "a face that is larger than its edge ends the job with a message, as does one that does not fit" {
	program 'call work()' 'contains' 'subroutine work()' 'use shmemx' 'use iso_c_binding' 'type(shmem_team_t) :: grid' \
		'type(shmemx_exchange_t) :: e' 'call shmem_init()' \
		'call shmemx_grid_create(SHMEM_TEAM_WORLD, [2], [.true._c_bool], .false._c_bool, grid)' \
		'call shmemx_exchange_create_grid(grid, [16_c_int64_t, 16_c_int64_t], 0, e)' 'call shmemx_exchange_send(e, 0, x)' \
		'end subroutine'
	stops "shmemx_exchange_send: edge=0: source has 32 bytes, and the edge carries 16 at most"
	sed -i 's/send(e, 0, x)/pack(e, 0, x(1:3))/' program.f90
	stops "shmemx_exchange_pack: edge=0: source has 24 bytes, and the edge carries 16 at most"
	sed -i 's/call shmemx_exchange_pack(e, 0, x(1:3))/call shmemx_exchange_send(e, 0, x(1:2))\ncall shmemx_exchange_receive(e, 1, y)/' \
		program.f90
	stops "shmemx_exchange_receive: edge=1: the message has 16 bytes, and dest has room for 32"
}

@test "the Fortran library is a file of its own; the C library knows nothing of Fortran" {
	libraries=$TOP_BUILDDIR/.libs
	run grep -c . <(nm -D --defined-only "$libraries/libtorushmem.so" | grep -i -e fortran -e torushmemf -e 'shmem_[a-z_0-9]*_$')
	[ "$output" = 0 ]
	[ "$(nm -D --defined-only "$libraries/libtorushmem_fortran.so" | grep -c ' torushmemf_')" -gt 500 ]
	! nm -D --defined-only "$libraries/libtorushmem_fortran.so" | grep -E ' shmemx?_[a-z0-9_]*[a-z0-9]$' || false # C has these
	! readelf -d "$libraries/libtorushmem.so" | grep -i fortran || false
	readelf -d "$libraries/libtorushmem_fortran.so" | grep -q 'NEEDED.*libtorushmem\.so'
}

@test "a build for C needs no Fortran compiler" {
	[ "${TEST_LONG:-no}" = yes ] || skip "takes half a minute: make check-long"
	mkdir bin build
	for file in /usr/bin/* /bin/* /usr/local/bin/*; do
		case ${file##*/} in
		*fortran* | *flang* | *f77 | *f90 | *f95) ;;
		*) [ -e "bin/${file##*/}" ] || ln -s "$file" bin/ ;;
		esac
	done
	cd build
	unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES FC
	PATH=$BATS_TEST_TMPDIR/bin "${BATS_TEST_FILENAME%/*}/../../configure" -q >log 2>&1 || { cat log && false; }
	PATH=$BATS_TEST_TMPDIR/bin make -n all >commands
	grep -q 'libtorushmem\.la' commands
	run grep -c -e 'libtorushmem_fortran\.la' -e 'modules\.f90' -e 'GEN *" oshfort' commands
	echo "$output"
	[ "$output" = 0 ]
	PATH=$BATS_TEST_TMPDIR/bin run "${BATS_TEST_FILENAME%/*}/../../configure" -q --with-fortran
	[ "$status" -ne 0 ]
	[[ "$output" == *"--with-fortran: there is no Fortran compiler that has assumed-rank arguments"*"apt-get install gfortran"* ]]
}
