"""Labels for names that must not leave the machine, and masks for secrets."""

from __future__ import annotations

import time

import polars as pl
import pytest

from tests.kit.together import together
from wavewright.base.secrets import masked
from wavewright.model.blocks import Column, Finding, Labelled, Picture, Sentence, Table
from wavewright.model.report import DataTable, InputFile, Provenance, Report, Section
from wavewright.model.schema import table_spec
from wavewright.words.kit.anonymous import anonymous, labels_for, without_secrets

SPEC = table_spec("processes", "one process", "command  String  -  | command line\nnode  String  -  | host")


def report() -> Report:
    """A report that names a person in every part."""
    frame = pl.DataFrame({"command": ["/home/ann/app --api-key abc", None], "node": ["nodeX", "nodeX"]})
    blocks = (
        Sentence("ann ran on nodeX"),
        Labelled("where", "file /home/ann/src/kernel.cu:3"),
        Finding(1, "slow on nodeX", "", (Labelled("see", "/scratch/ann/deep/a.py"),), "f1"),
        Table("of nodeX", (Column("command"),), (("/home/ann/app --api-key abc",),)),
        Picture("busy", "<svg><text>nodeX</text></svg>", "nodeX is busy"),
    )
    section = Section("about", "About nodeX", "what?", blocks, (DataTable("processes", SPEC, frame),))
    inputs = (InputFile("/home/ann/run/rank0.db", 3, "ff"),)
    provenance = Provenance("1", "wavewright report /home/ann/run -o x.md", inputs, {}, {"host": "nodeX"})
    return Report("run of ann", "run", (section,), provenance, ("/home/ann/run: lost",))


def test_no_name_is_left_anywhere() -> None:
    labels = labels_for(["/home/ann/run"], hosts=["nodeX"], commands=["/home/ann/app --api-key abc"])
    hidden = anonymous(report(), labels)
    everything = repr(hidden) + repr(hidden.sections[0].data[0].frame.to_dicts())
    assert "ann" not in everything.replace("channel", "")
    assert "nodeX" not in everything
    assert "kernel.cu:3" in everything
    assert hidden.sections[0].data[0].frame["node"].to_list() == ["host-1", "host-1"]
    assert hidden.provenance.inputs[0].path == "file-1.db"


def test_labels_are_the_same_each_time() -> None:
    first, second = (anonymous(report(), labels_for(["/home/ann/run"], hosts=["nodeX"])) for _ in range(2))
    assert first.sections[0].blocks == second.sections[0].blocks


def test_names_inside_other_words_stay() -> None:
    labels = labels_for(["/home/ann/run"], hosts=["gemm"])
    assert labels.text("gemm_kernel and channel") == "gemm_kernel and channel"
    assert labels.text("gemm") == "host-1"


@together("text", ["https://example.org/a/b", "a/b", "3 / 4 / 5", "rocprim::sort_by_key::kernel", "MB/s/GPU"])
def test_what_is_no_absolute_path_stays(text: str) -> None:
    assert labels_for([]).text(text) == text


def test_secrets_are_masked_in_commands_only() -> None:
    clean = without_secrets(report())
    table = clean.sections[0].blocks[3]
    assert isinstance(table, Table)
    assert table.rows == (("/home/ann/app --api-key ***",),)
    assert clean.sections[0].data[0].frame["command"].to_list() == ["/home/ann/app --api-key ***", None]
    assert clean.sections[0].blocks[0] == Sentence("ann ran on nodeX")


@together(
    "command, expected",
    [
        ("x --token=abc --n 3", "x --token=*** --n 3"),
        ("WANDB_API_KEY=abc x", "WANDB_API_KEY=*** x"),
        ("curl -H 'Authorization: Bearer abcdefgh'", "curl -H 'Authorization: Bearer ***'"),
        ("x --max-tokens 512 --max_tokens=64", "x --max-tokens 512 --max_tokens=64"),
        ("x --tokenizer llama --key-file a.pem", "x --tokenizer llama --key-file a.pem"),
        ('x --db-password "a b" y', "x --db-password *** y"),
        ("sort_by_key::kernel", "sort_by_key::kernel"),
        ("pip install --index https://u:p@host/x", "pip install --index https://u:***@host/x"),
    ],
)
def test_masks(command: str, expected: str) -> None:
    assert masked(command) == expected


@pytest.mark.first_case
@pytest.mark.parametrize("word", ["a", "token", "-key", "a.", "a://", "://a:", "key='", " --key ", "authorization: "])
def test_long_commands_are_masked_at_once(word: str) -> None:
    """Commands are recorded data: one of a megabyte takes a second of the processor, not days."""
    begin = time.process_time()
    masked(word * (1_000_000 // len(word)))
    assert time.process_time() - begin < 20
