# SPDX-License-Identifier: BSD-3-Clause
"""Recipe for Spack: see docs/packages.md of the source tree that it is in."""

from pathlib import Path

from spack.package import *

try:  # Spack 1.0 and later
    from spack_repo.builtin.build_systems.autotools import AutotoolsPackage
except ImportError:  # before, spack.package has it
    pass

SOURCE = Path(__file__).resolve().parents[4]


class Torushmem(AutotoolsPackage):
    """OpenSHMEM 1.6 for nodes, clusters and torus networks."""

    # The source tree with this recipe. For an unpacked archive: spack develop
    # --path FOLDER torushmem@=0.2.0
    git = "file://" + str(SOURCE)
    homepage = "http://openshmem.org"

    license("BSD-3-Clause")

    version("main", branch="main")
    version("0.2.0", tag="v0.2.0")

    variant("fortran", default=True, description="The modules shmem and shmemx, shmem.fh, and oshfort")
    variant("ofi", default=False, description="Networks by libfabric, such as Slingshot, EFA and Omni-Path")
    variant("verbs", default=False, description="RDMA over cables between hosts without a switch")
    variant("softofu", default=True, description="A Tofu network in software, with uTofu and jTofu")
    variant("static", default=True, description="Also install libtorushmem.a")
    variant("checks", default=True, description="Check the arguments of puts and gets within a node")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("fortran", type="build", when="+fortran")

    depends_on("autoconf@2.69:", type="build")
    depends_on("automake@1.16:", type="build")
    depends_on("libtool", type="build")
    depends_on("m4", type="build")
    depends_on("pkgconfig", type="build")

    depends_on("ucx@1.10:+thread_multiple")
    depends_on("pmix@4:")
    depends_on("hwloc@2:")
    depends_on("libfabric@1.11:", when="+ofi")
    depends_on("rdma-core@34:", when="+verbs")
    depends_on("zlib-api", when="+softofu")

    # Spack's compiler wrappers work in Spack alone: oshcc calls the compiler itself. oshcxx
    # and oshfort are links to it.
    filter_compiler_wrappers("oshcc", relative_root="bin")

    def autoreconf(self, spec, prefix):
        if not Path(self.configure_abs_path).exists():
            Executable("./autogen.sh")()

    def configure_args(self):
        spec = self.spec
        args = ["--with-%s=%s" % (name, spec[name].prefix) for name in ("ucx", "pmix", "hwloc")]
        if spec.satisfies("+ofi"):
            args.append("--with-ofi=" + str(spec["libfabric"].prefix))
        else:
            args.append("--without-ofi")
        if spec.satisfies("+verbs"):
            args.append("--with-verbs=" + str(spec["rdma-core"].prefix))
        else:
            args.append("--without-verbs")
        if spec.satisfies("+softofu"):
            args.append("--with-zlib=" + str(spec["zlib-api"].prefix))
        args += self.with_or_without("fortran")
        args += self.enable_or_disable("softofu")
        args += self.enable_or_disable("static")
        args += self.enable_or_disable("argument-checks", variant="checks")
        return args

    def setup_dependent_build_environment(self, env, dependent_spec):
        env.set("OSHCC", str(self.prefix.bin.oshcc))
        env.set("OSHCXX", str(self.prefix.bin.oshcxx))
        if self.spec.satisfies("+fortran"):
            env.set("OSHFORT", str(self.prefix.bin.oshfort))
        env.set("OSHRUN", str(self.prefix.bin.oshrun))

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_hello(self):
        """A program of two PEs, compiled and started by what was installed."""
        Executable(str(self.prefix.bin.oshcc))("-o", "hello", "examples/hello.c")
        Executable(str(self.prefix.bin.oshrun))("-n", "2", "./hello")
