"""Packed linear maps give what plain ones give, and stay plain where that cannot be had."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from torch import nn  # noqa: E402

from audit_lib.score.local.packed import PackedGate, PackedLinear, pack  # noqa: E402

if not hasattr(torch.ops.mkldnn, "_reorder_linear_weight"):
    pytest.skip("this build of torch has no oneDNN", allow_module_level=True)


class Gated(nn.Module):
    """A feed-forward part with the names of Llama's, and an activation of one's choice."""

    def __init__(self, activation: nn.Module) -> None:
        super().__init__()
        self.gate_proj, self.up_proj = nn.Linear(16, 40), nn.Linear(16, 40)
        self.down_proj, self.act_fn = nn.Linear(40, 16), activation

    def forward(self, x):
        return self.down_proj(self.act_fn(self.gate_proj(x)) * self.up_proj(x))


class Decoder(nn.Module):
    def __init__(self, *layers: nn.Module) -> None:
        super().__init__()
        self.layers = nn.ModuleList(layers)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


@torch.inference_mode()
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("shape", [(1, 1, 16), (1, 300, 16), (3, 7, 16), (2, 0, 16)])
def test_a_packed_map_computes_the_same(bias, shape):
    torch.manual_seed(3)
    linear = nn.Linear(16, 40, bias=bias)
    x = torch.randn(shape)
    packed = PackedLinear(linear)
    assert packed(x).shape == linear(x).shape
    torch.testing.assert_close(packed(x), linear(x), rtol=1e-5, atol=1e-6)
    assert torch.equal(packed.weight, linear.weight)


@torch.inference_mode()
def test_a_decoder_s_layers_are_packed_in_place():
    torch.manual_seed(5)
    decoder = Decoder(nn.Sequential(nn.Linear(16, 16)), nn.Sequential(Gated(nn.SiLU())))
    x = torch.randn(1, 9, 16)
    expected = decoder(x)
    assert pack(decoder) == 2
    assert isinstance(decoder.layers[0][0], PackedLinear) and isinstance(decoder.layers[1][0], PackedGate)
    torch.testing.assert_close(decoder(x), expected, rtol=1e-5, atol=1e-6)


@torch.inference_mode()
def test_another_activation_is_not_taken_for_silu():
    torch.manual_seed(5)
    decoder = Decoder(nn.Sequential(Gated(nn.GELU())))
    x = torch.randn(1, 9, 16)
    expected = decoder(x)
    pack(decoder)
    part = decoder.layers[0][0]
    assert isinstance(part, Gated) and isinstance(part.up_proj, PackedLinear)
    torch.testing.assert_close(decoder(x), expected, rtol=1e-5, atol=1e-6)


def test_other_numbers_than_float32_stay_as_they_are():
    decoder = Decoder(nn.Sequential(nn.Linear(16, 16).to(torch.bfloat16)))
    assert pack(decoder) == 0 and type(decoder.layers[0][0]) is nn.Linear


def test_a_subclass_of_a_linear_map_stays_as_it_is():
    class Other(nn.Linear):
        def forward(self, x):
            return super().forward(x) + 1

    decoder = Decoder(nn.Sequential(Other(16, 16)))
    assert pack(decoder) == 0
