"""The rules of kernel categories: each decides its own examples, and none is without effect."""

from __future__ import annotations

import re

from tests.kit.together import together
from wavewright.analysis.run.kernels.categories import categories_of
from wavewright.facts.kernel_categories import OTHER, category_rules

RULES = category_rules()


@together("rule", RULES.rules)
def test_a_rule_decides_its_examples(rule: object) -> None:
    assert rule.examples  # type: ignore[attr-defined]
    assert categories_of(rule.examples) == dict.fromkeys(rule.examples, rule.category)  # type: ignore[attr-defined]


def test_every_category_has_a_rule_except_other() -> None:
    assert {rule.category for rule in RULES.rules} == {*RULES.categories} - {OTHER}
    assert RULES.categories[-1] == OTHER
    assert all(rule.library for rule in RULES.rules)


@together("rule", RULES.rules)
def test_patterns_need_no_look_around(rule: object) -> None:
    """Python and Rust read them alike."""
    assert not re.search(r"\(\?[=!<]", rule.pattern)  # type: ignore[attr-defined]


@together(
    "name, category",
    [
        # words that are part of other words
        ("convert_half_to_float", OTHER),
        ("prefill_step", OTHER),
        ("kernel_tool", OTHER),
        ("remoeness_check", OTHER),
        ("normal_map_shading", OTHER),
        ("", OTHER),
        # what a name says first counts, not what its arguments say
        (
            "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, softmax_helper<float> > >(int)",
            "reduction",
        ),
        ("void at::native::vectorized_elementwise_kernel<4, at::native::gemm_like<int> >(int)", "elementwise"),
        ("void my::gemm_kernel<std::plus<float> >(elementwise_args)", "GEMM"),
        # kernels of collectives are communication whatever they reduce
        ("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "communication"),
        ("ncclDevKernel_ReduceScatter_Sum_bf16_RING_SIMPLE", "communication"),
        # mangled names are read
        ("_ZN7ck_tile6kentryILi256ELi2ENS_13FmhaFwdKernelIiEEJiEEEvDpT2_", "attention"),
        (
            "_ZN4vllm25scaled_act_and_mul_kernelIN3c104HalfETnPFT_RKS3_EXadL_ZNS_11silu_kernelIS2_EES3_S5_EEEEvPS3_i",
            "elementwise",
        ),
        ("_Z15rms_norm_kernelIfEvPT_.kd", "normalisation"),
    ],
)
def test_names_made_by_hand(name: str, category: str) -> None:
    assert categories_of([name]) == {name: category}
