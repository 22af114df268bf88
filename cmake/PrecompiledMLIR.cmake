# The headers of MLIR that most files of the compiler include, parsed once.
# Each file still includes what it uses: without this file all builds too.
#
# Only headers of the installed LLVM stand here, so that for the compiler cache
# a precompiled header is known by their version and this list, written to a
# .sum file beside it (ccache: pch_external_checksum). The header itself is
# built in each clone: it holds absolute paths.
set(CMAKE_PCH_INSTANTIATE_TEMPLATES ON)
set(headers
  <mlir/Dialect/Affine/IR/AffineOps.h>
  <mlir/Dialect/Arith/IR/Arith.h>
  <mlir/Dialect/Bufferization/IR/Bufferization.h>
  <mlir/Dialect/Func/IR/FuncOps.h>
  <mlir/Dialect/Linalg/IR/Linalg.h>
  <mlir/Dialect/Math/IR/Math.h>
  <mlir/Dialect/MemRef/IR/MemRef.h>
  <mlir/Dialect/SCF/IR/SCF.h>
  <mlir/Dialect/Tensor/IR/Tensor.h>
  <mlir/IR/Builders.h>
  <mlir/IR/BuiltinOps.h>
  <mlir/IR/DialectImplementation.h>
  <mlir/IR/IRMapping.h>
  <mlir/IR/Matchers.h>
  <mlir/IR/OpImplementation.h>
  <mlir/IR/SymbolTable.h>
  <mlir/Pass/Pass.h>
  <llvm/ADT/MapVector.h>
  <llvm/ADT/STLExtras.h>
  <llvm/ADT/StringExtras.h>
  <llvm/ADT/StringMap.h>
  <llvm/ADT/TypeSwitch.h>
  <llvm/Support/JSON.h>)

# Time stamps of headers would make equal inputs different ones.
add_library(STPrecompiledMLIR OBJECT cmake/PrecompiledMLIR.cpp)
llvm_update_compile_flags(STPrecompiledMLIR)
target_compile_options(STPrecompiledMLIR PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
target_precompile_headers(STPrecompiledMLIR PRIVATE ${headers})
set_target_properties(STPrecompiledMLIR PROPERTIES CXX_COMPILER_LAUNCHER "")

get_directory_property(options COMPILE_OPTIONS)
set(identity "${LLVM_PACKAGE_VERSION} ${CMAKE_CXX_COMPILER_VERSION} ${options} ${headers}")
file(CONFIGURE @ONLY
  OUTPUT ${CMAKE_BINARY_DIR}/CMakeFiles/STPrecompiledMLIR.dir/cmake_pch.hxx.pch.sum
  CONTENT "@identity@")

foreach(library STAnalysis STConversion STDataflow STDataflowTransforms STHLS
                STInterpreter STITensor STLinalgTransforms STMemoryTransforms
                STPipelines STStream STStreamTransforms STTargetConnectivity
                STTargetHLSCpp STTargetReport)
  foreach(target ${library} obj.${library})
    if(TARGET ${target})
      target_compile_options(${target} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
      target_precompile_headers(${target} REUSE_FROM STPrecompiledMLIR)
    endif()
  endforeach()
endforeach()
