#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# run: beside
# The Python package: what it does, on every path and without a launcher, and how its jobs end.

setup_file()
{
	. "${BATS_TEST_FILENAME%/*}/../lib/built.bash"
	need_built
	for python in python3 /usr/bin/python3; do
		"$python" -c 'import numpy' 2>/dev/null && export PYTHON=$python && break
	done
	export OSHRUN="${OSHRUN:-$TOP_BUILDDIR/oshrun}" TESTS="${BATS_TEST_FILENAME%/*}/../python" PYTHONDONTWRITEBYTECODE=1
	# Of an installed tree: the package there finds its library by itself.
	if [ -z "${PYTHONPATH:-}" ]; then
		export PYTHONPATH="${BATS_TEST_FILENAME%/*}/../../python" TORUSHMEM_LIBRARY="$TOP_BUILDDIR/.libs/libtorushmem.so.0"
	fi
}

setup()
{
	[ -n "${PYTHON:-}" ] || skip "no python3 with numpy; on Debian: apt-get install python3-numpy"
	cd "$BATS_TEST_TMPDIR" || return
}

python()
{
	timeout -k 2 $((60 * ${TEST_PATIENCE:-1})) "$OSHRUN" -q -n "$1" "$PYTHON" "${@:2}"
}

@test "the package: memory, words, collectives, plans, grids, mistakes, on several paths" {
	for pes in 1 2 4; do
		python "$pes" "$TESTS/package.py"
	done
	SHMEM_NODE_PES=1 python 3 "$TESTS/package.py"
	SHMEM_NODE_PES=2 SHMEM_CHECK=1 python 4 "$TESTS/package.py"
}

@test "a job without a launcher: by the environment, and by an id" {
	for rank in 0 1 2; do
		SHMEM_RANK=$rank SHMEM_SIZE=3 SHMEM_ROOT=127.0.0.1:29571 SHMEM_SECRET=open timeout 60 "$PYTHON" "$TESTS/package.py" &
	done
	for _ in 0 1 2; do
		wait -n
	done
	cat >by_id.py <<-'END'
		import os, sys
		import torushmem as sh
		end, other = os.pipe()
		child = os.fork()
		if child:
		    made = sh.get_unique_id()
		    os.write(other, made)
		    sh.init(rank=0, size=2, unique_id=made)
		else:
		    sh.init(rank=1, size=2, unique_id=os.read(end, 1000))
		assert sh.sum_all(1) == 2
		sh.finalize()
		sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) if child else 0)
	END
	timeout 60 "$PYTHON" by_id.py
}

@test "an exception ends the job, and an interrupt ends a wait" {
	cat >raises.py <<-'END'
		import torushmem as sh
		sh.init()
		if sh.my_pe() == 1:
		    raise RuntimeError('on purpose')
		sh.barrier_all()
	END
	run python 2 raises.py
	[ "$status" -ne 0 ]
	[[ "$output" == *'RuntimeError: on purpose'* ]]
	cat >interrupted.py <<-'END'
		import signal
		import torushmem as sh
		sh.init()
		word = sh.zeros(1, int)
		signal.setitimer(signal.ITIMER_REAL, 0.2)
		signal.signal(signal.SIGALRM, signal.default_int_handler)
		try:
		    sh.wait_until(word, '==', 1)
		except KeyboardInterrupt:
		    print('interrupted')
	END
	run python 1 interrupted.py
	[ "$status" -eq 0 ]
	[ "$output" = interrupted ]
}

# rank N COMMAND...: a PE of two without a launcher
rank()
{
	SHMEM_RANK=$1 SHMEM_SIZE=2 SHMEM_ROOT=127.0.0.1:29573 SHMEM_SECRET=open timeout 60 "${@:2}"
}

@test "a second interrupt in a collective ends a program, and the others say who is missing" {
	cat >stuck.py <<-'END'
		import os, signal, sys, threading
		import torushmem as sh
		sh.init()
		a = sh.zeros(4)
		calls = {'barrier_all': sh.barrier_all, 'sync': lambda: sh.world.reduce(a, a)}
		if sh.my_pe() == 1:
		    signal.pause()
		for seconds in 0.3, 1.2:
		    threading.Timer(seconds, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
		calls[sys.argv[1]]()
	END
	for call in barrier_all sync; do
		rank 1 "$PYTHON" stuck.py "$call" 2>other &
		other=$! status=0
		rank 0 "$PYTHON" stuck.py "$call" 2>mine || status=$?
		cat mine
		[ "$status" -eq 130 ]
		[ "$(cat mine)" = "torushmem: interrupted in $call, which waits for other PEs; interrupt again to end this process" ]
		wait "$other" && return 1
		cat other
		grep -q 'PE 1: PE 0 .* has ended before shmem_finalize' other
	done
}

@test "an interrupt in a collective ends the wait of a session, which goes on" {
	cat >session.py <<-'END'
		import os, signal, threading
		import torushmem as sh
		sh.init()
		a, word = sh.full(4, 1), sh.zeros(1, int)
		def interrupted(call):
		    threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
		    try:
		        call()
		    except KeyboardInterrupt:
		        sh.put(word, 1, 1)
		        print('interrupted', flush=True)


		def follow(call):
		    sh.wait_until(word, '==', 1)
		    word[0] = 0
		    call()


		for call in (sh.barrier_all, lambda: sh.world.reduce(a, a, ready=True)):
		    (follow if sh.my_pe() == 1 else interrupted)(call)
		    sh.barrier_all()


		print(a[0], flush=True)
		sh.finalize()
	END
	rank 1 "$PYTHON" session.py >other &
	rank 0 "$PYTHON" -i -q <session.py >mine 2>said || { cat said; return 1; }
	cat mine said other
	wait $!
	[ "$(sort -u mine)" = "$(printf '2\ninterrupted')" ]
	[ "$(grep -c interrupted mine)" -eq 2 ]
	[ "$(cat other)" = 2 ]
}

@test "the interpreter's global data stays where it is, since threads may use it" {
	cat >moved.py <<-'END'
		import os
		import torushmem as sh
		sh.init()
		with open('/proc/self/maps') as maps:
		    assert not [line for line in maps if 'global' in line and 'memfd' in line]
		assert 'SHMEM_SHARE_GLOBALS' not in os.environ
		sh.barrier_all()
	END
	python 2 moved.py
	SHMEM_INFO=1 run python 2 moved.py
	[[ "$output" == *'Global data: '*'private'* ]]
}

@test "importing it takes no torch, and says where the library is not" {
	"$PYTHON" -c 'import sys, torushmem; sys.exit("torch" in sys.modules)'
	run env TORUSHMEM_LIBRARY=/nowhere "$PYTHON" -c 'import torushmem'
	[[ "${lines[-1]}" == *'ImportError: torushmem: the C library cannot be loaded'*'TORUSHMEM_LIBRARY'* ]]
}

@test "what calls and the import take is measured" {
	python 1 "$TESTS/costs.py" >costs
	cat costs
	for what in import put 'put of a part' put_signal reduce; do
		grep -qE "^$what: [0-9.-]+ (ms|us more than in C)$" costs
	done
}

@test "pip installs it, and its version is that of the library" {
	top=${BATS_TEST_FILENAME%/*}/../..
	[ -e "$top/pyproject.toml" ] || skip "not in a source tree"
	version=$("$PYTHON" -c 'import torushmem; print(torushmem.__version__)')
	grep -qx "version = \"$version\"" "$top/pyproject.toml"
	[ "$("$TOP_BUILDDIR/oshinfo" --parsable | sed -n 's/^version://p')" = "$version" ]
	"$PYTHON" -c 'import pip, setuptools, wheel' 2>/dev/null || skip "no pip; on Debian: apt-get install python3-pip python3-wheel"
	cp -r "$top/pyproject.toml" "$top/python" .
	"$PYTHON" -m pip install -q --no-index --no-build-isolation --no-deps --target there . 2>log || { cat log && return 1; }
	PYTHONPATH=$PWD/there python 2 "$TESTS/package.py"
}

@test "torch.distributed: collectives of all types, messages, groups, training" {
	"$PYTHON" -c 'import torch.distributed' 2>/dev/null || skip "no torch; on Debian: apt-get install python3-torch"
	# Two PEs are below.
	for pes in 1 3; do
		python "$pes" -W ignore "$TESTS/collectives_of_torch.py" "$BATS_TEST_TMPDIR/store-$pes"
	done
	for rank in 0 1; do
		RANK=$rank WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=29573 timeout 120 "$PYTHON" -W ignore "$TESTS/collectives_of_torch.py" &
	done
	for _ in 0 1; do
		wait -n
	done
}

@test "a torch that lacks what the backend needs is refused with a sentence" {
	mkdir -p torch/distributed
	echo '__version__ = "9.9"' >torch/__init__.py
	touch torch/distributed/__init__.py
	PYTHONPATH=$PWD:$PYTHONPATH run "$PYTHON" -c 'import torushmem.torch'
	[ "$status" -ne 0 ]
	[[ "${lines[-1]}" == 'ImportError: torushmem.torch: torch 9.9 lacks what the backend needs '* ]]
}

@test "a trace has the calls of Python, with how long they took" {
	cat >traced.py <<-'END'
		import numpy as np
		import torushmem as sh
		sh.init()
		a = sh.zeros(100)
		sh.put(a[:50], np.ones(50), (sh.my_pe() + 1) % sh.n_pes())
		sh.world.reduce(a, a)
		sh.finalize()
	END
	SHMEM_TRACE=$PWD/trace.json python 2 traced.py
	for call in shmem_putmem shmem_team_sync shmem_double_sum_reduce; do
		[ "$(grep -c "\"name\":\"$call\".*\"dur\":" trace.json)" -eq 2 ]
	done
}

@test "torch.distributed: time limits, errors, groups that end and begin again, the losses of Gloo" {
	"$PYTHON" -c 'import torch.distributed' 2>/dev/null || skip "no torch; on Debian: apt-get install python3-torch"
	python 2 -W ignore "$TESTS/works_of_torch.py" "$BATS_TEST_TMPDIR"
}

@test "torch.distributed: torchrun starts it, with what Debian's versions of torch need for that" {
	"$PYTHON" -c 'import torch.distributed.run' 2>/dev/null || skip "no torch; on Debian: apt-get install python3-torch"
	cat >sums.py <<-'END'
		import torch, torch.distributed as dist
		import torushmem.torch
		dist.init_process_group('torushmem')
		sums = torch.full((3,), dist.get_rank() + 1)
		dist.all_reduce(sums)
		if dist.get_rank() == 0:
		    print('the sums are', sums.tolist())
		dist.destroy_process_group()
		torushmem.finalize()
	END
	options=(--rdzv_backend c10d --rdzv_conf store_type=file --local_addr 127.0.0.1)
	[[ $("$PYTHON" -c 'import torch; print(torch.__version__)') != 1.* ]] || options=(--standalone --redirects 1 --tee 1)
	USE_LIBUV=0 TORCH_DISABLE_SHARE_RDZV_TCP_STORE=1 OMP_NUM_THREADS=1 timeout 60 "$PYTHON" -W ignore -m torch.distributed.run \
		"${options[@]}" --nproc_per_node 2 sums.py >said
	cat said
	grep -qE '^(\[default0\]:)?the sums are \[3, 3, 3\]$' said
}

@test "torch.distributed: a long time limit ends the job when the calling thread waits for longer" {
	"$PYTHON" -c 'import torch.distributed' 2>/dev/null || skip "no torch; on Debian: apt-get install python3-torch"
	cat >late.py <<-'END'
		import sys, time
		import torch, torch.distributed as dist
		import torushmem as sh, torushmem.torch
		sh.init('multiple')
		dist.init_process_group('torushmem', init_method='file://' + sys.argv[1], rank=sh.my_pe(), world_size=2)
		torushmem.torch.PATIENT = dist.group.WORLD.limit = 0.5
		if sh.my_pe() == 0:
		    dist.all_reduce(torch.ones(1))
		time.sleep(30)
	END
	run python 2 -W ignore late.py "$PWD/store"
	[ "$status" -eq 1 ]
	[[ "$output" == *'torushmem: rank 0: a call took longer than 0.5 s, the time limit of its group'* ]]
}

@test "a lost PE is an exception that names it, and the others begin again" {
	cat >loses.py <<-'END'
		import os, signal
		import torushmem as sh
		sh.init(errors='return')
		word = sh.zeros(1, int)
		if sh.my_pe() == 1:
		    os.kill(os.getpid(), signal.SIGKILL)
		for call in (lambda: sh.wait_until(word, '==', 1), sh.barrier_all, lambda: sh.sum_all(1), lambda: sh.get(word, 1),
		             lambda: sh.zeros(3), lambda: sh.atomic.add(word, 1, 1), lambda: sh.test(word, '==', 1)):
		    try:
		        call()
		    except sh.Error as error:
		        assert (error.kind, error.pe) == ('lost', 1) and 'PE 1 ' in str(error), error
		    else:
		        raise AssertionError('nothing was said')
		assert sh.broken().pe == 1
		sh.finalize()
		sh.init(rank=0, size=1, unique_id=sh.get_unique_id())
		assert sh.broken() is None and sh.sum_all(3) == 3
		sh.finalize()
	END
	for rank in 1 0; do
		SHMEM_RANK=$rank SHMEM_SIZE=2 SHMEM_ROOT=127.0.0.1:29572 SHMEM_SECRET=open timeout 60 "$PYTHON" loses.py &
	done
	wait -n && return 1
	wait -n
}

@test "torch.distributed: lost ranks are exceptions that name them, and the others begin again" {
	"$PYTHON" -c 'import torch.distributed' 2>/dev/null || skip "no torch; on Debian: apt-get install python3-torch"
	for rank in 3 2 1 0; do
		RANK=$rank WORLD_SIZE=4 MASTER_ADDR=127.0.0.1 MASTER_PORT=29577 timeout 100 "$PYTHON" -W ignore "$TESTS/lost_ranks.py" \
			"$BATS_TEST_TMPDIR" >"out$rank" 2>&1 &
	done
	wait || true
	cat out?
	[ "$(cat out0)" = 'went on' ]
	[ -z "$(cat out1 out2 out3)" ]
}
