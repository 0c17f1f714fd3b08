# SPDX-License-Identifier: BSD-3-Clause
# For the tests of tools: one line instead of a failure for each test where there is nothing built that they could try.

# need_built: to be called in setup_file.
need_built()
{
	TOP_BUILDDIR=${TOP_BUILDDIR:-$PWD}
	if [ ! -x "$TOP_BUILDDIR/oshrun" ] || [ ! -e "$TOP_BUILDDIR/libtorushmem.la" ]; then
		echo "nothing is built in TOP_BUILDDIR=$TOP_BUILDDIR; run make there, or start tests by make check or tests/run" >&2
		return 1
	fi
	export TOP_BUILDDIR
}

# need_softofu: the same for those of software Tofu, which need a launcher beside it and nothing else of the tree.
need_softofu()
{
	TOP_BUILDDIR=${TOP_BUILDDIR:-$PWD}
	if [ ! -x "$TOP_BUILDDIR/oshrun" ] || [ ! -e "$TOP_BUILDDIR/libtofucom.la" ]; then
		echo "there is no software Tofu in TOP_BUILDDIR=$TOP_BUILDDIR; run make check-softofu there, without --disable-softofu" >&2
		return 1
	fi
	export TOP_BUILDDIR
}
