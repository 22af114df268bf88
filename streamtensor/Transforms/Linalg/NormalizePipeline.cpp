//===- NormalizePipeline.cpp - From imported to normalized Linalg ---------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The order of the normalization passes, with the reason for each place.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Transforms/Linalg/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace streamtensor {

/// The canonicalizer, bounded like the greedy rewrites of the passes.
static std::unique_ptr<Pass> createBoundedCanonicalizer() {
  GreedyRewriteConfig config;
  config.setMaxNumRewrites(200000);
  return createCanonicalizerPass(config);
}

void buildNormalizePipeline(OpPassManager &pm,
                            const NormalizeOptions &options) {
  // torch-mlir leaves an unused global (the random seed) in some modules.
  pm.addPass(createSymbolDCEPass());
  OpPassManager &func = pm.nest<func::FuncOp>();
  // Before anything goes: what reads a value decides.
  func.addPass(createKeepValueNames());

  if (!options.sizes.empty()) {
    SpecializeSizesOptions sizes;
    sizes.values = options.sizes;
    func.addPass(createSpecializeSizes(sizes));
  }
  // Right after what folds away by itself (casts to unknown sizes and back,
  // assertions about them): names and locations are those that the user knows.
  func.addPass(createBoundedCanonicalizer());
  func.addPass(createSimplifyConcats());
  func.addPass(createRefuseUnsupported({options.demoteF64}));

  // Constants have to be visible before anything folds or looks for splats.
  func.addPass(createInlineResources());
  // Before any fusion: with one float type, the f64 and the f32 computation of
  // a layer norm's mean become equal and the next CSE merges them.
  if (options.demoteF64)
    func.addPass(createDemoteF64());
  // Everything below counts on one result per generic.
  func.addPass(createEraseDeadResults());
  // Slices and concatenations are what everything below knows.
  func.addPass(createConcatenateParts());
  func.addPass(createGeneralizeNamedOps());
  func.addPass(createBoundedCanonicalizer());
  func.addPass(createCSEPass());

  // Before unit dimensions go, because a start value that is a tensor has to
  // become an input first; afterwards again, because a reduction over one
  // element has lost its loop and now reads its start value like an input.
  func.addPass(createNormalizeInits());
  // Sums start from a fill now. Before powers and rare functions are written
  // out, so that their parts are not rounded one by one.
  func.addPass(createWidenHalfFloats());
  // After f64 is gone: exponents are f64 constants as often as not.
  func.addPass(createExpandMath());
  // Before unit dimensions go: it makes new ones.
  func.addPass(createUnstrideSlices());
  func.addPass(createDropUnitDims());
  func.addPass(createNormalizeInits());

  // Copies go before fusion: composed maps show which producer is read element
  // by element. Slices move up before reshapes do, so that the heads of a joint
  // query, key and value product end in its parts. Then reshapes, which bring
  // new copies next to consumers.
  func.addPass(createAbsorbCopies());
  func.addPass(createFuseElementwise());
  if (options.splitSlicedGenerics)
    func.addPass(createSplitSlicedGenerics());
  func.addPass(createPropagateReshapes());
  func.addPass(createAbsorbCopies());
  func.addPass(createPropagateReshapes());
  // Again: expansion made the reshapes between element-wise generics vanish.
  func.addPass(createFuseElementwise());
  // The narrow operands of sums are in their bodies now. What reads a sum takes
  // in the extension that this leaves behind.
  func.addPass(createNarrowIntegers());
  func.addPass(createFuseElementwise());
  func.addPass(createBoundedCanonicalizer());
  func.addPass(createCSEPass());

  // After the last pass that composes maps: it would compose these again.
  func.addPass(createExtractWindows());
  // After the last pass that transposes results.
  func.addPass(createOrderLoops());
  func.addPass(createCSEPass());
  // The identity generics of this pass would not survive canonicalization.
  func.addPass(createMaterializeResults());
  // Once more: rewrites have put slices and the like before an operation, at
  // its location.
  func.addPass(createKeepValueNames());
  // Sizes that are tried say nothing about the longest sums.
  if (options.sizes.empty())
    func.addPass(createBoundReductions());
  func.addPass(createNameOperations());
  func.addPass(createVerifyNormalized());
}

void buildNormalizePipeline(OpPassManager &pm) {
  NormalizeOptions options;
  buildNormalizePipeline(pm, options);
}

void registerNormalizePipeline() {
  PassPipelineRegistration<NormalizeOptions>(
      "st-normalize", "From imported Linalg to the normalized form",
      [](OpPassManager &pm, const NormalizeOptions &options) {
        buildNormalizePipeline(pm, options);
      });
}

} // namespace streamtensor
