# A recipe for Spack: put this file into packages/liballreduce/ of a repository of yours (spack repo create), and build
# this source tree: spack dev-build -d . liballreduce@main
from spack.package import *

try:
    from spack_repo.builtin.build_systems.autotools import AutotoolsPackage
except ImportError:  # before Spack 1.0, spack.package had it
    pass


class Liballreduce(AutotoolsPackage):
    """Runs MPI_Allreduce by an algorithm of your choice in unmodified MPI programs, by a library that is preloaded."""

    license("BSD-3-Clause")

    # A released version gets a line of its own, with the checksum of its archive: version("1.0.0", sha256="...")
    version("main")

    variant("jansson", default=True, description="allreduce report and bisect, --json of bench and doctor")
    variant("libdw", default=True, description="lines of the source in allreduce report")

    depends_on("c", type="build")
    depends_on("autoconf", type="build")
    depends_on("automake@1.16:", type="build")
    depends_on("libtool", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("mpi")
    depends_on("jansson", when="+jansson")
    depends_on("elfutils", when="+libdw")
    depends_on("cmocka", type="test")

    conflicts("platform=darwin", msg="liballreduce is for Linux")
    conflicts("platform=windows", msg="liballreduce is for Linux")

    def autoreconf(self, spec, prefix):
        Executable("./autogen.sh")()

    def configure_args(self):
        # One engine, for the MPI of the spec; it serves all MPI libraries of the same ABI.
        return [f"MPICC={self.spec['mpi'].mpicc}"] + self.with_or_without("jansson") + self.with_or_without("libdw")

    def setup_run_environment(self, env):
        env.set("LIBALLREDUCE", join_path(self.prefix.lib, "liballreduce.so"))
