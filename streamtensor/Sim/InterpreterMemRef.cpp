//===- InterpreterMemRef.cpp - Memory operations ------------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The memref and bufferization dialects on memory of static shape and strides.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Sim/InterpreterCompiler.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace streamtensor;
using namespace streamtensor::interp;

/// Checks that every shaped operand and result has a static layout.
static LogicalResult checkLayouts(Operation *op) {
  auto isBad = [](Type type) {
    return isa<ShapedType>(type) && failed(getLayout(type));
  };
  return failure(llvm::any_of(op->getOperandTypes(), isBad) ||
                 llvm::any_of(op->getResultTypes(), isBad));
}

LogicalResult FunctionCompiler::compileMemRef(Operation *op, Steps &steps) {
  if (failed(checkLayouts(op)))
    return refuse(op, "expected static shapes and strides");
  auto layout = [&](Value value) { return *getLayout(value.getType()); };
  auto elementOffset = [&](Value memref, ValueRange at) {
    Layout l = layout(memref);
    SmallVector<int64_t> ones(l.shape.size(), 1);
    return sliceOffset(op, getAsOpFoldResult(at), ones, ones, l);
  };

  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<memref::AllocOp, memref::AllocaOp>([&](auto alloc) {
        const unsigned r = buffer(alloc);
        steps.push_back([r, l = layout(alloc)](Frame &f) {
          f.buffers[r] = allocateBuffer(l);
        });
        return success();
      })
      .Case([&](memref::DeallocOp dealloc) {
        steps.push_back([r = buffer(dealloc.getMemref())](Frame &f) {
          f.buffers[r] = Buffer();
        });
        return success();
      })
      .Case([&](memref::LoadOp load) {
        Layout l = layout(load.getMemref());
        SliceOffset offset = elementOffset(load.getMemref(), load.getIndices());
        const unsigned a = buffer(load.getMemref()), r = scalar(load);
        steps.push_back([=, kind = l.kind, bytes = l.elementBytes](Frame &f) {
          f.scalars[r] =
              loadElement(kind, f.buffers[a].at(offset.get(f), bytes));
        });
        return success();
      })
      .Case([&](memref::StoreOp store) {
        Layout l = layout(store.getMemref());
        SliceOffset offset =
            elementOffset(store.getMemref(), store.getIndices());
        const unsigned a = scalar(store.getValue()),
                       r = buffer(store.getMemref());
        steps.push_back([=, kind = l.kind, bytes = l.elementBytes](Frame &f) {
          storeElement(kind, f.scalars[a],
                       f.buffers[r].at(offset.get(f), bytes));
        });
        return success();
      })
      .Case([&](memref::SubViewOp view) {
        SmallVector<int64_t> sizes(view.getStaticSizes()),
            strides(view.getStaticStrides());
        if (ShapedType::isDynamicShape(sizes) ||
            ShapedType::isDynamicShape(strides))
          return refuse(op, "expected static sizes and strides");
        SliceOffset offset = sliceOffset(op, view.getMixedOffsets(), sizes,
                                         strides, layout(view.getSource()));
        const unsigned a = buffer(view.getSource()), r = buffer(view);
        steps.push_back([=](Frame &f) {
          int64_t first = offset.get(f);
          f.buffers[r] = f.buffers[a];
          f.buffers[r].offset += first;
        });
        return success();
      })
      // The elements stay where they are; the strides are in the type.
      .Case<memref::CastOp, memref::ExpandShapeOp, memref::CollapseShapeOp,
            memref::MemorySpaceCastOp>([&](auto view) {
        const unsigned a = buffer(op->getOperand(0)), r = buffer(view);
        steps.push_back([=](Frame &f) { f.buffers[r] = f.buffers[a]; });
        return success();
      })
      .Case([&](memref::CopyOp copyOp) {
        Layout from = layout(copyOp.getSource()),
               to = layout(copyOp.getTarget());
        BoxCopy copy(from.shape, from.strides, to.strides, from.elementBytes);
        const unsigned a = buffer(copyOp.getSource()),
                       r = buffer(copyOp.getTarget());
        steps.push_back([=, bytes = from.elementBytes](Frame &f) {
          copy.run(f.buffers[a].at(0, bytes), f.buffers[r].at(0, bytes));
        });
        return success();
      })
      .Case([&](memref::DimOp dim) {
        std::optional<int64_t> index = dim.getConstantIndex();
        Layout l = layout(dim.getSource());
        if (!index || *index < 0 || *index >= int64_t(l.shape.size()))
          return refuse(op, "expected a constant dimension");
        out.scalars[scalar(dim)].i = l.shape[*index];
        return success();
      })
      .Case([&](memref::GetGlobalOp get) {
        auto global = SymbolTable::lookupNearestSymbolFrom<memref::GlobalOp>(
            op, get.getNameAttr());
        auto value = global ? dyn_cast_or_null<DenseElementsAttr>(
                                  global.getInitialValueAttr())
                            : DenseElementsAttr();
        if (!value || !global.getConstant())
          return refuse(op, "expected a constant global with a dense value");
        Layout l = layout(get);
        Buffer constant{Storage::allocate(l.bytes()), 0};
        char *to = constant.storage->data();
        for (Attribute element : value.getValues<Attribute>()) {
          Scalar scalar;
          if (auto number = dyn_cast<FloatAttr>(element)) {
            if (l.kind == ElementKind::F64)
              scalar.d = number.getValueAsDouble();
            else
              scalar.f = static_cast<float>(number.getValueAsDouble());
          } else {
            scalar.i = cast<IntegerAttr>(element).getValue().getSExtValue();
          }
          storeElement(l.kind, scalar, to);
          to += l.elementBytes;
        }
        out.buffers[buffer(get)] = std::move(constant);
        return success();
      })
      .Default([&](Operation *) {
        return refuse(op, "the operation is not known to the interpreter");
      });
}

LogicalResult FunctionCompiler::compileBufferization(Operation *op,
                                                     Steps &steps) {
  if (failed(checkLayouts(op)))
    return refuse(op, "expected static shapes and strides");
  auto layout = [&](Value value) { return *getLayout(value.getType()); };
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      // A tensor is a value: what is written to the memory later must not show.
      .Case([&](bufferization::ToTensorOp toTensor) {
        Layout from = layout(toTensor.getBuffer());
        BoxCopy copy(from.shape, from.strides, rowMajorStrides(from.shape),
                     from.elementBytes);
        const unsigned a = buffer(toTensor.getBuffer()), r = buffer(toTensor);
        steps.push_back(
            [=, bytes = from.bytes(), element = from.elementBytes](Frame &f) {
              Buffer result{Storage::allocate(bytes), 0};
              copy.run(f.buffers[a].at(0, element), result.storage->data());
              f.buffers[r] = std::move(result);
            });
        return success();
      })
      .Case([&](bufferization::MaterializeInDestinationOp materialize) {
        if (op->getNumResults())
          return refuse(op, "expected a memref destination");
        Layout to = layout(materialize.getDest());
        BoxCopy copy(to.shape, rowMajorStrides(to.shape), to.strides,
                     to.elementBytes);
        const unsigned a = buffer(materialize.getSource()),
                       r = buffer(materialize.getDest());
        steps.push_back([=, element = to.elementBytes](Frame &f) {
          copy.run(f.buffers[a].storage->data(), f.buffers[r].at(0, element));
        });
        return success();
      })
      .Case([&](bufferization::AllocTensorOp alloc) {
        if (alloc.getCopy())
          return refuse(op, "expected no copy operand");
        const unsigned r = buffer(alloc);
        steps.push_back([r, l = layout(alloc)](Frame &f) {
          f.buffers[r] = allocateBuffer(l);
        });
        return success();
      })
      .Default([&](Operation *) {
        return refuse(op, "the operation is not known to the interpreter");
      });
}
