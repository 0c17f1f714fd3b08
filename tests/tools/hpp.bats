#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# run: beside
# shmem.hpp: owners, arrays and collectives in C++, what its errors say, and how programs end
# that leave by an exception.

setup_file()
{
	. "${BATS_TEST_FILENAME%/*}/../lib/cxx.bash"
	begin_cxx_file '-Wall -Wextra -Wshadow -pedantic -Werror'
}

setup()
{
	. "$TOP/tests/lib/cxx.bash"
	cd "$BATS_TEST_TMPDIR" || return
}

@test "owners, moves of any type, containers, collectives: in every standard, on every path" {
	for standard in c++11 c++14 c++17 c++20; do
		compilers $standard | while read -r with; do
			compile "$with" -fsyntax-only "$TOP/tests/tools/progs/owners.cc"
			compile "$with" -DCOMPLEX_FIRST "$TOP/tests/tools/progs/owners.cc" -o owners
			runs_by_standard $standard owners 'owners: right on' SHMEM_SYMMETRIC_SIZE=32M
		done
	done
}

@test "each header alone" {
	for header in shmem.hpp shmem_arrays.hpp shmem_owners.hpp; do
		printf '%s\n' "#include <$header>" "#include <$header>" 'int main() { return 0; }' >alone.cc
		passes alone.cc
	done
}

@test "the example of the manual page" {
	sed -n '/^\.Sh EXAMPLES/,/^\.Ed/p' "$TOP/docs/man/shmem.hpp.3" | sed -e '1,/^\.Bd/d' -e '/^\.Ed/d' -e 's/\\\\/\\/g' >example.cc
	passes example.cc
	"$OSHCXX" -std=c++11 -O2 -o example example.cc
	runs_everywhere example 'sum ('
	run "$OSHRUN" -q -n 3 ./example
	[ "$output" = 'sum (10.5,9)' ]
}

# prints PES PROGRAM OPTIONS...: what the program prints that is no time, in C and in
# C++, and that is the same
prints()
{
	for folder in "$BATS_FILE_TMPDIR/c" "$BATS_FILE_TMPDIR/c/cxx"; do
		timeout -k 2 $((60 * ${TEST_PATIENCE:-1})) "$OSHRUN" -q -n "$1" "$folder/$2" "${@:3}" >"out.${folder##*/}" || return
		sed -i -e '/^microseconds\|^communication takes\|^an iteration:\|iterations in/d' -e 's/, [0-9.]* us each//' "out.${folder##*/}"
	done
	grep -qx PASS out.cxx
	grep -q "$numbers" out.cxx
	diff out.c out.cxx
}

@test "stencil, heat, lattice and solver print the numbers of those in C, to the last bit" {
	unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
	cp -r "$TOP/examples" "$BATS_FILE_TMPDIR/c"
	PATH="${OSHCC%/*}:$PATH" make -s -C "$BATS_FILE_TMPDIR/c" OSHCC="${OSHCC##*/}" stencil heat lattice solver
	PATH="${OSHCC%/*}:$PATH" make -s -C "$BATS_FILE_TMPDIR/c/cxx" OSHCXX="${OSHCXX##*/}" CXXFLAGS="-std=c++11 -O2 $STRICT"
	for with in $(compilers 'c++14 c++20' | tr ' ' ,); do
		for program in stencil heat lattice solver; do
			compile "${with//,/ }" -fsyntax-only "$TOP/examples/cxx/$program.cc"
		done
	done
	for settings in SHMEM_PATHS=local SHMEM_NODE_PES=2; do
		export "${settings?}"
		for pes in 1 3 4; do
			numbers='^ *450 ' prints $pes stencil --size 37 --tolerance 1e-3
			numbers='^sum of all points: [0-9.]*$' prints $pes heat --side 6 --iterations 40
			numbers='^sum of all points: [0-9.]*$' prints $pes lattice --side 4 --iterations 20
			numbers='^[1-9][0-9]* iterations, which leave [0-9.]*e-11 of b$' prints $pes solver --side 2
		done
		numbers='1mx2mx2m' prints 4 heat --side 5 --iterations 30 --open --grid 1,2,2
		numbers='m' prints 3 lattice --side 3 --iterations 20 --open
		numbers='PASS' prints 4 heat --side 1 --iterations 10
		unset "${settings%%=*}"
	done
	run "$OSHRUN" -q -n 2 "$BATS_FILE_TMPDIR/c/cxx/lattice" --side 3 --grid 1,1,1,2
	[ "$status" -eq 2 ]
	[[ "$output" == *"lattice: where it wraps, 3 points make two even ones neighbours; give an even --side"* ]]
	for options in '--side 3' --open; do
		# shellcheck disable=SC2086 # a list of options
		run "$OSHRUN" -q -n 2 "$BATS_FILE_TMPDIR/c/cxx/solver" $options
		[ "$status" -eq 2 ]
		[[ "$output" == *"solver: the lattice wraps in blocks that begin with an even site; give an even --side and no --open"* ]]
	done
	for program in stencil heat lattice solver; do
		run "$OSHRUN" -q -n 2 "$BATS_FILE_TMPDIR/c/cxx/$program" --help
		[ "$status" -eq 0 ] && [ "$(grep -c '^usage:' <<<"$output")" -eq 1 ]
		run "$OSHRUN" -q -n 2 "$BATS_FILE_TMPDIR/c/cxx/$program" --nonsense
		[ "$status" -eq 2 ]
	done
}

@test "what one PE leaves by an exception does not hang the others" {
	cat >throws.cc <<'END_OF_FILE'
#include <shmem.hpp>
#include <cstdio>
#include <memory>
#include <string>

static std::unique_ptr<shmem::array<int>> kept;

static void work(shmem::job &job)
{
	shmem::array<int> a(3);
	shmem::team part = shmem::team::world().split_strided(0, 1, job.n_pes());

	if (job.my_pe() == 0)
		throw std::string("reason");
	shmem_barrier_all();
}
int main(int, char **argv)
{
	const std::string how = argv[1];

	if (how == "outside")
		try {
			shmem::job job;
			work(job);
		} catch (const std::string &) {
			return 0;
		}
	shmem::job job;
	if (how == "inside")
		try {
			work(job);
		} catch (const std::string &why) {
			std::fprintf(stderr, "caught: %s\n", why.c_str());
			shmem_global_exit(7);
		}
	kept.reset(new shmem::array<int>(3)); // ends after the job
	if (how == "exit")
		job.my_pe() == 0 ? shmem_global_exit(5) : shmem_barrier_all();
	return 0;
}
END_OF_FILE
	"$OSHCXX" -std=c++11 -o throws throws.cc
	for case in 'outside 1 shmem::job: PE 0 leaves the job by an exception; catch it inside of the job' \
		'inside 7 caught: reason' 'exit 5 oshrun: PE 0 called shmem_global_exit(5)' 'static 0 '; do
		read -r how code text <<<"$case"
		run timeout -k 2 $((20 * ${TEST_PATIENCE:-1})) "$OSHRUN" -q -n 2 ./throws "$how"
		printf '%s\n' "$case: $status" "$output"
		[ "$status" -eq "$code" ]
		[[ "$output" == *"$text"* ]]
	done
}

# refuses: lines of "DECLARATIONS // STATEMENT // TEXT" each are an error that says
# TEXT. A file has all of them.
refuses()
{
	sed 's| // |\t|g' >calls
	{
		printf '%s\n' '#include <shmem.hpp>' '#include <string>' 'struct pair { int a, b; };'
		awk -F '\t' '{ print "namespace n" NR " { " $1 " void wrong(); void wrong() { " $2 "; } }" }' calls
	} >wrong.cc
	compilers 'c++11 c++20' >with
	while read -r with; do
		echo "with $with"
		run compile "$with" -fsyntax-only wrong.cc
		echo "$output"
		[ "$status" -ne 0 ]
		at=3
		while IFS=$'\t' read -r _ _ text; do
			at=$((at + 1))
			grep -q "wrong\.cc:$at:" <<<"$output"
			grep 'error: ' <<<"$output" | grep -q "$text"
		done <calls
	done <with
}

@test "a broken job throws, ends by the exception, and another one follows" {
	cat >survivor.cc <<'END'
#include <shmem.hpp>
#include <iostream>
#include <unistd.h>
static void serve()
{
	shmemx_init_attr_t attr = shmemx_init_attr_t();
	attr.errors = SHMEMX_ERRORS_RETURN;
	shmem::job job(attr);
	shmem::array<long> all(job.n_pes()), mine(1);
	for (int i = 0;; i++) {
		if (i == 3 && job.my_pe() == 1)
			_exit(0);
		if (job.my_pe() == 0)
			shmem::fcollect(all, mine, SHMEM_TEAM_WORLD);
		else
			shmem_fcollectmem(SHMEM_TEAM_WORLD, all.data(), mine.data(), sizeof(long));
	}
}
int main()
{
	try {
		serve();
	} catch (const shmem::broken &why) {
		std::cout << why.kind() << ' ' << why.pe() << ' ' << (std::string(why.what()).find("PE 1") != std::string::npos) << std::endl;
	}
	shmemx_unique_id_t id;
	shmemx_init_attr_t attr = shmemx_init_attr_t();
	if (shmemx_get_unique_id(&id))
		return 1;
	attr.id = &id;
	attr.size = 1;
	shmem::job job(attr);
	shmem::throw_if_broken();
	std::cout << "goes on with " << job.n_pes() << std::endl;
}
END
	"$OSHCXX" -std=c++11 -O1 -Wall -Wextra -Wshadow -pedantic -Werror -o survivor survivor.cc
	ROOT=127.0.0.1:$((20000 + BASHPID % 10000)) run timeout 60 "$TOP/tests/tools/progs/start" 2 ./survivor
	[ "$status" -eq 0 ]
	[ "$output" = $'1 1 1\ngoes on with 1' ]
}

@test "what cannot be is an error that says what can" {
	bytes='types that may be copied as bytes (std::is_trivially_copyable), such as numbers, std::complex, enums, and structures'
	refuses <<END
; // shmem::array<std::string> a(3) // shmem::array holds $bytes
; // shmem::array<const int> a(3) // shmem::array holds elements that are neither const nor volatile
std::string s; // shmem::put(&s, &s, 1, 0) // shmem.hpp moves $bytes
std::wstring s; // shmem::fcollect(&s, &s, 1) // shmem.hpp moves $bytes
shmem::array<pair> *a; // shmem::sum_reduce(*a) // shmem_sum_reduce is for pointers to float,
shmem::array<double> *a; // shmem::or_reduce(*a) // shmem_or_reduce is for pointers to unsigned char,
shmem::array<int> *a; // shmem::array<int> b(*a) // deleted.*array
shmem::team *a; // shmem::team b(*a) // deleted.*team
END
	printf '%s\n' '#include <shmem.hpp>' >alone.cc
	run "$OSHCXX" -std=c++98 -fsyntax-only alone.cc
	[ "$status" -ne 0 ]
	[[ "$output" == *"shmem.hpp needs C++11 or later"* ]]
	run "$OSHCXX" -std=c++11 -DSHMEMX_NO_OVERLOADS -fsyntax-only alone.cc
	[[ "$output" == *"shmem.hpp needs the overloads of shmem.h, which SHMEMX_NO_OVERLOADS leaves out"* ]]
}

@test "a collective of arrays on an invalid team names the team, whatever the sizes are" {
	cat >team.cc <<'END_OF_FILE'
#include <shmem.hpp>
#include <string>
int main(int, char **argv)
{
	shmem::job job;
	shmem::array<long> small(3), large(10);
	const std::string how = argv[1];
	shmem::team none;

	if (how == "fcollect")
		shmem::fcollect(large, large, none);
	if (how == "alltoall")
		shmem::alltoall(small, large, none);
	if (how == "broadcast")
		shmem::broadcast(small, large, 0, none);
	if (how == "sum_reduce")
		shmem::sum_reduce(small, large, none);
}
END_OF_FILE
	"$OSHCXX" -std=c++11 -o team team.cc
	for routine in fcollect alltoall broadcast sum_reduce; do
		run timeout -k 2 $((20 * ${TEST_PATIENCE:-1})) "$OSHRUN" -q -n 1 ./team $routine
		printf '%s\n' "$routine: $status" "$output"
		[ "$status" -eq 1 ]
		[[ "$output" == "torushmem: PE 0: shmem_"*"$routine"*": team is SHMEM_TEAM_INVALID: "*"call this routine on members only" ]]
	done
}

@test "contexts may end after their team; what was destroyed or freed is named" {
	cat >order.cc <<'END_OF_FILE'
#include <shmem.hpp>
#include <array>
#include <memory>
#include <string>
#include <vector>

static long value;

/* Members end in reverse: the team before its contexts. */
struct work {
	shmem::context alone;
	std::vector<shmem::context> contexts;
	shmem::team team = shmem::team::world().split_strided(0, 1, shmem_n_pes());

	work()
	{
		for (int i = 0; i < 300; i++)
			contexts.emplace_back(static_cast<shmem_team_t>(team), i % 2 ? SHMEM_CTX_PRIVATE : 0);
		alone = shmem::context(static_cast<shmem_team_t>(team));
		shmem::p(&value, 1, 0, alone);
	}
};

int main(int, char **argv)
{
	const std::string how = argv[1];
	shmem::job job;
	const bool last = job.my_pe() == job.n_pes() - 1;
	std::unique_ptr<shmem::array<long>> a(new shmem::array<long>(10));
	std::unique_ptr<shmem::array<std::array<char, 3>>> b(new shmem::array<std::array<char, 3>>(10));
	long *freed = a->data();
	std::array<char, 3> *bytes = b->data();
	shmem_ctx_t ctx;
	shmem_team_t team;

	a.reset();
	b.reset();
	{
		work w;

		ctx = w.alone;
		team = w.team;
	}
	if (last && how == "put")
		shmem::put(freed, &value, 1, 0);
	if (last && how == "g")
		value = shmem::g(freed, 0);
	if (last && how == "bytes")
		shmem::p(bytes, std::array<char, 3>(), 0);
	if (last && how == "ctx")
		shmem::p(&value, 1, 0, ctx);
	if (how == "team")
		shmem::broadcast(&value, &value, 1, 0, team);
	shmem_barrier_all();
}
END_OF_FILE
	"$OSHCXX" -std=c++11 -o order order.cc
	paths=(SHMEM_PATHS=local 'SHMEM_PATHS=ucx UCX_TLS=tcp,self')
	! grep -q 'HAVE_OFI 1' "$TOP_BUILDDIR/config.h" || paths+=('SHMEM_PATHS=ofi FI_PROVIDER=tcp')
	for path in "${paths[@]}"; do
		while read -r how code text; do
			[[ $path == *local || $how =~ ^(none|put|ctx)$ ]] || continue
			# shellcheck disable=SC2086 # settings
			run env $path SHMEM_CHECK=1 timeout -k 2 $((20 * ${TEST_PATIENCE:-1})) "$OSHRUN" -q -n 2 ./order "$how"
			printf '%s\n' "$path $how: $status" "$output"
			[ "$status" -eq "$code" ]
			[[ "$output" =~ ^$text ]]
		done <<'END'
none 0 $
put 1 torushmem: PE 1: shmem_ctx_long_put: dest=0x[0-9a-f]+ .*: this memory was freed: it is byte 0 of a block of 80 bytes that shmem_free gave back
g 1 torushmem: PE 1: shmem_ctx_long_g: source=0x[0-9a-f]+ .*: this memory was freed
bytes 1 torushmem: PE 1: shmem_ctx_putmem: dest=0x[0-9a-f]+ .*: this memory was freed
ctx 1 torushmem: PE 1: shmem_ctx_long_p: ctx=0x[0-9a-f]+: this context was destroyed
team 1 torushmem: PE [01]: shmem_[a-z_]*broadcast[a-z_]*: team=0x[0-9a-f]+: this team was destroyed
END
	done
}

@test "a thread level that does not exist is an error, a lower one than wanted ends the job in one line" {
	cat >level.cc <<'END_OF_FILE'
#include <shmem.hpp>
#include <cstdio>
int main()
{
	try {
		shmem::job job(static_cast<shmem::thread>(9));
	} catch (const shmem::error &e) {
		std::puts(e.what());
	}
	shmem::job job(shmem::thread::multiple);
}
END_OF_FILE
	"$OSHCXX" -std=c++11 -o level level.cc
	run timeout -k 2 $((20 * ${TEST_PATIENCE:-1})) "$OSHRUN" -q -n 1 ./level
	[ "$status" -eq 0 ]
	[[ "$output" == "shmem_init_thread returned "* ]]
	cat >lower.c <<'END_OF_FILE'
#include <pshmem.h>
int shmem_init_thread(int requested, int *provided)
{
	int status = pshmem_init_thread(SHMEM_THREAD_SINGLE, provided);
	*provided = requested - 1;
	return status;
}
END_OF_FILE
	"$OSHCC" -c lower.c
	sed -i 's/static_cast<shmem::thread>(9)/shmem::thread::multiple/' level.cc
	"$OSHCXX" -std=c++11 -o level level.cc lower.o
	run timeout -k 2 $((20 * ${TEST_PATIENCE:-1})) "$OSHRUN" -q -n 1 ./level
	[ "$status" -eq 1 ]
	[ "${lines[0]}" = 'shmem::job: thread level 3 is wanted, 2 is there; ask for a lower one' ]
}

@test "a put of shmem.hpp takes the instructions of the same put from C" {
	command -v valgrind >/dev/null || skip "no valgrind"
	cat >putter.c <<'END_OF_FILE'
#include <shmem.h>
#ifdef __cplusplus
#include <shmem.hpp>
#define PUT(d, s, n, pe) shmem::put(d, s, n, pe)
#define P(d, v, pe) shmem::p(d, v, pe)
extern "C"
#else
#define PUT(d, s, n, pe) shmem_put(SHMEM_CTX_DEFAULT, d, s, n, pe)
#define P(d, v, pe) shmem_p(SHMEM_CTX_DEFAULT, d, v, pe)
#endif
void putter(int pe);
static long word, value = 3;
__attribute__((noinline)) void putter(int pe)
{
	int i;
	for (i = 0; i < 1000; i++) {
		PUT(&word, &value, 1, pe);
		P(&word, 4, pe);
	}
}
int main(void)
{
	shmem_init();
	putter((shmem_my_pe() + 1) % shmem_n_pes());
	shmem_barrier_all();
	shmem_finalize();
	return 0;
}
END_OF_FILE
	cp putter.c putter.cc
	"$OSHCC" -std=gnu11 -O2 -o from-c putter.c
	"$OSHCXX" -std=c++11 -O2 -o from-c++ putter.cc
	counts_of_putter from-c from-c++
	diff count.from-c count.from-c++
}
