"""Configuration of the lit tests: what is a test, and which tools it may name.

Substitutions besides lit's own: the tools of the project by their name, FileCheck,
not, count, split-file, mlir-opt, mlir-runner, and
  %mlir_libs          folder of MLIR's runner libraries
  %sim_includes       flags to compile emitted C++ for the simulation
  %plain_includes     flags to compile it sequentially, beside AMD's headers
  %host_cxx           the C++ compiler of this build
  %src                root of the sources
"""

import os

import lit.formats
from lit.llvm import llvm_config
from lit.llvm.subst import ToolSubst

config.name = "streamtensor"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.streamtensor_obj_root, "test")


def include_flags(*folders):
    """Returns -I flags for folders of the runtime."""
    root = os.path.join(config.streamtensor_src_root, "runtime")
    return " ".join(f"-I{os.path.join(root, folder)}" for folder in folders)


llvm_config.use_default_substitutions()
llvm_config.with_environment("PATH", config.llvm_tools_dir, append_path=True)
llvm_config.with_environment("PATH", config.streamtensor_tools_dir, append_path=True)

config.substitutions += [
    ("%mlir_libs", config.llvm_lib_dir),
    ("%sim_includes", include_flags("include", "include/common")),
    ("%plain_includes", include_flags("include-plain", "include/common")),
    ("%host_cxx", config.host_cxx),
    ("%src", config.streamtensor_src_root),
]

tools = ["mlir-opt", "mlir-runner", "mlir-translate", "split-file"]
tools += [
    ToolSubst(name, unresolved="ignore")
    for name in (
        "streamtensor-opt",
        "streamtensor-compile",
        "streamtensor-run",
        "streamtensor-pack",
        "streamtensor-sim",
        "streamtensor-runtime",
    )
]
llvm_config.add_tool_substitutions(tools, [config.streamtensor_tools_dir, config.llvm_tools_dir])
