"""Short names of kernels: what differs stays, no two are equal, nothing is too long; whatever the names are."""

from __future__ import annotations

import itertools
import random
import string

import pytest

from tests.kit.together import together
from wavewright.analysis.run.calls.kernel_names import readable_names, short_names
from wavewright.facts.kernel_titles import kernel_head, kernel_title

ATEN = "void at::native::vectorized_elementwise_kernel<4, at::native::{}<float>, std::array<char*, 3ul> >(int, int)"
TENSILE = "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT{}_MI16x16x1_SN_LDSB1_AFC1_AFEM1_ASEM1_CLR1_VWA{}_WG32_8_1"
COPY = (
    "void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast<at::native::"
    "direct_copy_kernel_cuda(at::TensorIteratorBase&)::{{lambda()#3}}::operator()() const::{{lambda()#{}}}"
    "::operator()() const::{{lambda({})#1}}>(at::TensorIteratorBase&, int const&)::{{lambda(int, bool)#1}}>(int, int)"
)


@pytest.mark.parametrize("width", [24, 36, 60])
def test_tiles_stay(width: int) -> None:
    tiles = ("256x128x64", "128x224x64", "16x16x256")
    names = [TENSILE.format(tile, 8) for tile in tiles]
    short = short_names(names, width)
    assert all(f"MT{tile}" in short[name] for tile, name in zip(tiles, names, strict=True))


def test_functors_stay() -> None:
    names = [ATEN.format(functor) for functor in ("MulFunctor", "FillFunctor", "CUDAFunctor_add")]
    assert list(short_names(names, 60).values()) == [
        "vectorized_elementwise_kernel<4, MulFunctor<float>>",
        "vectorized_elementwise_kernel<4, FillFunctor<float>>",
        "vectorized_elementwise_kernel<4, CUDAFunctor_add<float>>",
    ]
    cut = short_names(names, 45)
    assert all(functor in text for functor, text in zip(("Mul", "Fill", "CUDA"), cut.values(), strict=True))


def test_types_of_a_copy_stay() -> None:
    short = short_names([COPY.format(12, "c10::BFloat16"), COPY.format(7, "float")], 80)
    assert [text.partition("direct_copy")[2] for text in short.values()] == [
        "_kernel_cuda(BFloat16)>",
        "_kernel_cuda(float)>",
    ]


def test_what_is_compared_elsewhere_does_not_stay() -> None:
    """One kernel of its kind needs no more than its name."""
    assert short_names([TENSILE.format("256x128x64", 8), "attn_fwd"], 40)["attn_fwd"] == "attn_fwd"


@together("width", [0, 8, 12, 16, 24, 48, 80, 400])
def test_no_two_are_equal_and_none_is_too_long(width: int) -> None:
    names = [TENSILE.format(f"{a}x{b}x{c}", v) for a, b, c in itertools.product((16, 32), repeat=3) for v in (1, 2)]
    names += [f"{'long_' * 40}{n}" for n in range(30)]
    names += [f"void k<{'int, ' * n}int>(int)" for n in range(20)]
    names += [COPY.format(n, "float") for n in range(4)]
    names += ["k", "k.kd", "void k", "void k()", "", "…", "_Z", "_ZN", "_Z1kv", "_Z1kv.kd"]
    short = short_names(names, width)
    assert list(short) == list(dict.fromkeys(names))
    assert len(set(short.values())) == len(short)
    assert max(map(len, short.values())) <= max(width, 8)


def test_any_text_is_a_name() -> None:
    random_numbers = random.Random(19)
    letters = string.ascii_letters + string.digits + "_:<>(){}, &*#~…\x00é"
    for length in (1, 3, 20, 300):
        names = ["".join(random_numbers.choices(letters, k=length)) for _ in range(60)]
        short = short_names(names, 20)
        assert len(set(short.values())) == len(set(names))
        assert max(map(len, short.values())) <= 20


def test_a_very_long_name_is_no_trouble() -> None:
    names = ["void f<" + "a<" * 40_000, "x" * 100_000, "void g<" + "int, " * 30_000 + "int>(int)", "(" * 50_000]
    assert max(map(len, short_names(names, 60).values())) <= 60


@together(
    "mangled, readable",
    [
        ("_Z5saxpyfPKfPf.kd", "saxpy(float, float const*, float*)"),
        ("_ZN2ns3addIfEEvT_", "void ns::add<float>(float)"),
        # Types of template parameters (Tn) are newer than most demanglers.
        (
            "_ZN4vllm25scaled_act_and_mul_kernelIN3c104HalfETnPFT_RKS3_EXadL_ZNS_11silu_kernelIS2_EES3_S5_EEEEvPS4_if",
            "vllm::scaled_act_and_mul_kernel<c10::Half, silu_kernel>",
        ),
        # The length is one too many.
        ("_ZN5aiter24fmoe_bf16_g1u1_ps_32x128E", "aiter::fmoe_bf16_g1u1_ps_32x128"),
        ("Cijk_Alik_Bljk", "Cijk_Alik_Bljk"),
        ("_Zebra", "_Zebra"),
    ],
)  # fmt: skip
def test_readable_names(mangled: str, readable: str) -> None:
    assert readable_names([mangled]) == {mangled: readable}


@together(
    "name, title, head",
    [
        (
            "std::enable_if<(((8)>(0)))&&_typeConvert<c10::Half>::exists, void>::type vllm::norm<c10::Half, 8>(int)",
            "vllm::norm<c10::Half, 8>",
            "vllm::norm",
        ),
        ("void (anonymous namespace)::f<int>(int)", "f<int>", "f"),
        ("ns::holder<int>::run(int) const", "ns::holder<int>::run", "ns::holder::run"),
        ("f(int) [clone .kd]", "f", "f"),
        ("unsigned long f<&(g(int))>(int)", "f<&(g(int))>", "f"),
        ("void f<(a)>(b)", "f<(a)>", "f"),
        ("threading.py(359): wait", "threading.py(359): wait", "threading.py(359): wait"),
        ("nn.Module: Linear_0", "nn.Module: Linear_0", "nn.Module: Linear_0"),
        ("Memcpy DtoD (Device -> Device)", "Memcpy DtoD (Device -> Device)", None),
        ("<built-in method copy of Tensor>", "<built-in method copy of Tensor>", None),
        ("f<int", "f<int", "f<"),
        ("", "", ""),
    ],
)
def test_titles(name: str, title: str, head: str | None) -> None:
    assert kernel_title(name) == title
    if head is not None:
        assert kernel_head(title) == head


def test_a_name_of_megabytes_is_looked_at_up_to_a_limit() -> None:
    """Damaged or hostile files: every rule about titles would take minutes."""
    assert len(kernel_title("x" * (1 << 22))) == 1 << 16
    assert kernel_title(f"void k<{'a' * 50_000}>(int)") == f"k<{'a' * 50_000}>"
