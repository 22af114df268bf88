//===- ValueNames.cpp - Values of the model in locations ------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads names of values off locations.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Dialect/Dataflow/IR/ValueNames.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

using namespace mlir;
using namespace streamtensor;

/// The name of a value that `loc` gives to what is inside; null for none.
static StringAttr ownName(Location loc) {
  auto name = dyn_cast<NameLoc>(loc);
  if (!name || !name.getName().getValue().starts_with("%"))
    return nullptr;
  return StringAttr::get(loc.getContext(),
                         name.getName().getValue().drop_front());
}

SmallVector<StringAttr> dataflow::valueNames(Location loc) {
  SmallVector<StringAttr> names;
  loc->walk([&](Location inner) {
    if (StringAttr name = ownName(inner);
        name && !llvm::is_contained(names, name))
      names.push_back(name);
    return WalkResult::advance();
  });
  return names;
}

Location dataflow::withoutValueNames(Location loc, ArrayRef<StringAttr> names) {
  if (StringAttr name = ownName(loc); name && llvm::is_contained(names, name))
    return withoutValueNames(cast<NameLoc>(loc).getChildLoc(), names);
  if (auto fused = dyn_cast<FusedLoc>(loc)) {
    SmallVector<Location> parts;
    for (Location part : fused.getLocations())
      parts.push_back(withoutValueNames(part, names));
    return FusedLoc::get(parts, fused.getMetadata(), loc.getContext());
  }
  return loc;
}
