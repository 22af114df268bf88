"""Linear layers of quantized weights and activations, as a module that exports.

Weights are those of `GroupedWeight`: groups of 32 along the reduction, each with a scale and
perhaps a minimum, in the bytes of GGUF. Activations are quantized to 8 bits when the layer is
called, with one scale for each group of 32 or for each token. With w = d * q + m in group g,

    y[n] = sum over g of s[g] * (d[n, g] * dot[n, g] + m[n, g] * sum of x8 in g),

where dot is the sum of products of integers, which is exact, and s is the scale of the
activations. Exported, or seen by torch.compile, it multiplies integers, as an accelerator does.
Called as usual, the module has the products from a matrix product of floats, which is as exact: whole numbers
below 2^24 in any order. All other operations are the same.
"""

from __future__ import annotations

import torch

from streamtensor.models.quantized_weights import GROUP, GroupedWeight

# The largest code of an activation; -128 is not used.
LARGEST = 127.0
# Below this an activation counts as zero: its scale must not be a subnormal.
SMALLEST = 1e-30
# Rows beyond this many are filled up to a multiple of it, so that tokens of a stream come out
# even; the product of the additional rows is cut off.
ROWS = 64
# Floats that a usual call holds for the terms of the sum: 256 MB.
MOST_TERMS = 1 << 26


class GroupedLinear(torch.nn.Module):
    """y = x W^T + b of a quantized weight: [..., columns] -> [..., rows], float32.

    `columns` may be fewer than the weight has: it is filled with zeros up to whole groups, and
    so are the activations. `per_token` asks for one scale of the activations per token instead
    of one per group.
    """

    def __init__(
        self,
        weight: GroupedWeight,
        columns: int,
        bias: torch.Tensor | None = None,
        per_token: bool = False,
    ) -> None:
        super().__init__()
        self.rows, self.groups = weight.codes.shape[:2]
        self.columns = columns
        self.bits = weight.bits
        self.offset = weight.offset
        self.per_token = per_token
        self.register_buffer("codes", fill_rows(weight.codes))
        self.register_buffer("scale", fill_rows(weight.scale))
        self.register_buffer("minimum", fill_rows(weight.minimum))
        self.register_buffer("bias", None if bias is None else bias.detach())
        # The codes [groups, 32, rows] as floats, once they are needed.
        self._factors: torch.Tensor | None = None

    def extra_repr(self) -> str:
        scales = "token" if self.per_token else f"group of {GROUP}"
        return (
            f"rows={self.rows}, columns={self.columns}, bits={self.bits}, "
            f"activations=int8 per {scales}"
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        codes, scale = self.quantize(x)
        y = self.by_integers(codes, scale)
        if self.rows != self.codes.shape[0]:
            y = y[..., : self.rows]
        return y if self.bias is None else y + self.bias

    def quantize(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Returns codes [..., groups, 32] (whole numbers, float) and scales [..., groups or 1]."""
        missing = self.groups * GROUP - self.columns
        if missing:
            x = torch.nn.functional.pad(x, (0, missing))
        grouped = x.reshape(*x.shape[:-1], self.groups, GROUP)
        largest = grouped.abs().amax(-1)
        if self.per_token:
            largest = largest.amax(-1, keepdim=True)
        scale = torch.clamp(largest, min=SMALLEST) / LARGEST
        codes = torch.round(grouped / scale[..., None])
        return torch.clamp(codes, -LARGEST, LARGEST), scale

    def by_integers(self, codes: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
        """The product [..., all rows] of quantized activations."""
        if torch.compiler.is_compiling():
            x8 = codes.to(torch.int8)
            total = x8.to(torch.int32).sum(-1, dtype=torch.int32).to(torch.float32)
            return self.scaled(self.dot(x8).to(torch.float32), total, scale)
        lead = codes.shape[:-2]
        codes = codes.reshape(-1, self.groups, GROUP)
        scale = scale.reshape(-1, scale.shape[-1])
        count = max(1, MOST_TERMS // (self.codes.shape[0] * self.groups))
        parts = [
            self.scaled(self.dot_of_floats(part), part.sum(-1), scales)
            for part, scales in zip(codes.split(count), scale.split(count), strict=True)
        ]
        return torch.cat(parts).reshape(*lead, self.codes.shape[0])

    def dot(self, x8: torch.Tensor) -> torch.Tensor:
        """Sums of products within each group: [..., groups, 32] -> [..., rows, groups], int32."""
        lead, rows = x8.shape[:-2], self.codes.shape[0]
        if self.bits == 8:
            weights = self.codes.to(torch.int32)
            return (x8[..., None, :, :].to(torch.int32) * weights).sum(-1, dtype=torch.int32)
        # Byte j of a group holds element j in its low half, j + 16 in its high one.
        half = torch.arange(2).reshape(2, 1)
        packed = self.codes.reshape(rows, self.groups, 1, GROUP // 2)
        weights = torch.where(half == 0, packed & 15, (packed >> 4) & 15).to(torch.int32)
        x8 = x8.reshape(*lead, 1, self.groups, 2, GROUP // 2)
        return (x8.to(torch.int32) * weights).sum((-1, -2), dtype=torch.int32)

    def dot_of_floats(self, codes: torch.Tensor) -> torch.Tensor:
        """The same for whole numbers in floats: [tokens, groups, 32] -> [tokens, rows, groups]."""
        if self._factors is None:
            low = self.codes.to(torch.float32)
            if self.bits == 4:
                low, high = (self.codes & 15).to(torch.float32), (self.codes >> 4) & 15
                low = torch.cat([low, high.to(torch.float32)], -1)
            self._factors = low.permute(1, 2, 0).contiguous()
        return torch.bmm(codes.transpose(0, 1), self._factors).permute(1, 2, 0).contiguous()

    def scaled(self, dot: torch.Tensor, total: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
        """Scales the sums [..., rows, groups] of all groups and adds them up: [..., rows].

        `total` [..., groups] is the sum of the activations' codes in each group.
        """
        own = self.scale.to(torch.float32)
        terms = dot * own
        if self.minimum is not None:
            terms = terms + total[..., None, :] * self.minimum.to(torch.float32)
        elif self.offset:
            terms = terms - total[..., None, :] * (own * float(self.offset))
        if self.per_token:
            return terms.sum(-1) * scale
        return (terms * scale[..., None, :]).sum(-1)


def fill_rows(tensor: torch.Tensor | None) -> torch.Tensor | None:
    """Adds rows of zeros up to a multiple of `ROWS`, where there are more than that."""
    if tensor is None or tensor.shape[0] <= ROWS or tensor.shape[0] % ROWS == 0:
        return tensor
    more = ROWS - tensor.shape[0] % ROWS
    return torch.cat([tensor, tensor.new_zeros((more, *tensor.shape[1:]))])
