"""What tells who somebody is, and what has the form of a secret, does not leave; what helps does."""

from __future__ import annotations

import pytest

from wavewright.capture.masking import Mask, is_allowed

SECRETS = {
    "hugging face": "hf_AbCdEfGhIjKlMnOpQrStUvWxYz012345",
    "openai": "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789",
    "github": "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
    "github fine": "github_pat_11ABCDEFG0abcdefghijkl_mnopqrstuvwxyz",
    "gitlab": "glpat-abcdefghij0123456789",
    "aws id": "AKIAIOSFODNN7EXAMPLE",
    "aws secret": "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "slack": "xoxb-123456789012-abcdefghijkl",
    "google": "AIzaSyA1234567890abcdefghijklmnopqrstu",
    "jwt": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
    "hex": "0123456789abcdef0123456789abcdef01234567",
    "key": "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmU\n-----END OPENSSH PRIVATE KEY-----",
    "url": "https://alice:hunter2@example.org/repo.git",
    "mail": "alice.smith@example.org",
    "address": "10.20.30.40",
    "mac": "de:ad:be:ef:00:01",
}


@pytest.mark.parametrize("kind", SECRETS)
@pytest.mark.parametrize("around", ["{}", "using {} now", 'x="{}"', "A={}", "['{}', 1]", "export K={}; run", "({})"])
def test_secrets_are_masked_wherever_they_are(kind: str, around: str) -> None:
    secret = SECRETS[kind]
    masked = Mask(users=["alice"]).text(around.format(secret))
    for part in {secret, *secret.split("\n")[1:2], *(("hunter2", "alice") if kind == "url" else ())}:
        assert part not in masked


@pytest.mark.parametrize(
    "text",
    [
        "API_KEY=abc",
        "api-key: abc",
        'password = "abc def"',
        "--password abc",
        "--auth-token=abc",
        "Authorization: Bearer abc12345678",
        "{'secret': 'abc'}",
        "MY_VARIABLE=abc",
        "env -u X WANDB=abc rocprofv3",
    ],
)
def test_values_of_names_that_sound_secret_are_masked(text: str) -> None:
    assert "abc" not in Mask().text(text)


@pytest.mark.parametrize(
    "text",
    [
        "rocprofv3 --att --att-target-cu 1 --att-buffer-size 0x6000000 -d out -- python bench.py --m 4096",
        "void vllm::paged_attention_kernel<__half, 128, 16, (vllm::Fp8KVCacheDataType)0, true>(float*, int)",
        "_ZN7ck_tile6kentryILi256ELi2ENS_16FmhaFwdSplitKVKernelINS_38BlockFmhaFwdSplitKVPipelineQRKSVSAsyncEEE",
        "Cijk_Ailk_Bljk_HHS_BH_MT128x128x16_SE_1LDSB0_APM1_ABV0_ACED0_AF0EM1_AF1EM1_AMAS3_ASE_ASGT_ASLT",
        "HSA_XNACK=1 ROCR_VISIBLE_DEVICES=3 HIP_VISIBLE_DEVICES=0",
        "/opt/rocm-7.2.0/lib/rocprofiler-sdk/librocprofiler-sdk-tool.so.1.1.0",
        "0000:63:00.0 gfx942 SQ_WAVES TCC_HIT_sum 7.2.0-43",
        "E20260707 12:00:00.123456 4711 tool.cpp:123] counter collection: 38 tokens per second",
    ],
)
def test_what_helps_is_left_as_it_is(text: str) -> None:
    mask = Mask(users=["alice"], hosts=["gpu7"])
    assert mask.text(text) == text
    assert mask.count == 0


def test_names_of_user_home_and_host() -> None:
    mask = Mask(homes=["/data/people/alice"], users=["alice", "al", "root"], hosts=["bob@gpu7.lab.example.org", "x"])
    mask.learn("/home/carol/bench.py")
    text = (
        "/data/people/alice/a /home/dave/b alice@gpu7 ALICE gpu7.lab.example.org gpu7-123.log carol bob malice al root"
    )
    assert mask.text(text) == "~/a ~/b USER@HOST USER HOST HOST-123.log USER USER malice al root"


def test_lines_of_source_are_replaced() -> None:
    text = """Traceback (most recent call last):
  File "/opt/bench.py", line 12, in <module>
    secret_algorithm(x, y=1)
    ~~~~~~~~~~~~~~~~^^^^^^^^
  File "/opt/other.py", line 3, in f
    raise ValueError(inner_detail)
ValueError: 3
kernel.hip:3:5: error: no matching function
    my_secret_kernel<<<1, 2>>>(a);
    ^~~~
   12 | float secret_factor = 2.5f;
rocprofv3: done
"""
    masked = Mask().text(text)
    for source in ("secret_algorithm", "inner_detail", "my_secret_kernel", "secret_factor", "~~~"):
        assert source not in masked
    for helpful in ('"/opt/bench.py", line 12', "line 3, in f", "ValueError: 3", "no matching function", "done"):
        assert helpful in masked


def test_commands_and_variables() -> None:
    mask = Mask()
    words = ["python", "b.py", "--hf-token", "plain", "--key", "k1", "--m", "8", "--token=plain2", "-p", "1"]
    assert mask.words(words) == [
        *("python", "b.py", "--hf-token", "[masked]", "--key", "[masked]", "--m", "8", "--token=[masked]", "-p", "1")
    ]
    assert is_allowed("ROCPROF_OUTPUT_PATH")
    for name in (
        "PATH",
        "HOME",
        "AWS_SECRET_ACCESS_KEY",
        "VLLM_API_KEY",
        "ROCM_TOKEN",
        "HIP_PASSWORD",
        "SSH_AUTH_SOCK",
    ):
        assert not is_allowed(name)


def test_values_of_json_are_masked_all_the_way_down() -> None:
    digest = "ab" * 32
    value = {
        "variables": {"HSA_A": "1", "SECRET": "x", "HOME": "/home/alice"},
        "deep": [{"api_key": "plain", "sha256": digest, "text": digest, "n": 5, "none": None}],
        "words": ["--password", "p"],
    }
    assert Mask().value(value) == {
        "variables": {"HSA_A": "1", "(others)": "2"},
        "deep": [{"api_key": "[masked]", "sha256": digest, "text": "[masked]", "n": 5, "none": None}],
        "words": ["--password", "[masked]"],
    }


@pytest.mark.parametrize(
    "piece",
    [
        "a.",
        "token",
        "--token-",
        "a@",
        "eyJ-",
        "eyJaaaaaaaaaaa.",
        "://",
        "0a",
        "A=",
        "x" * 50 + " ",
        "10.",
        "aB3/",
        "de:",
    ],
)
def test_hostile_lines_take_no_time(piece: str) -> None:
    import time

    mask = Mask(users=["alice"], hosts=["gpu7"])
    start = time.process_time()
    mask.text(piece * (100_000 // len(piece)) + "!")
    assert time.process_time() - start < 2
