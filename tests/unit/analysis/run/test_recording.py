from __future__ import annotations

from tests.kit.made_runs import source, spans
from wavewright.analysis.run.select.recording import combine_recording, partial_recording, recording
from wavewright.model.run import MemorySource, Run


def recorded(path: str, pid: int, host: str = "n1") -> MemorySource:
    return source(path, host=host, pid=pid, dispatches=spans((10, 30), (40, 50)), samples=[{"time_ns": 5}])


def test_counts_and_times_of_each_process() -> None:
    told = recording(Run([recorded("a.db", 1), recorded("b.db", 2)]))
    columns = ["path", "node", "pid", "kernel_count", "sample_count", "copy_count", "start_ns", "end_ns"]
    assert told.processes.select(columns).rows() == [
        ("a.db", "n1", 1, 2, 1, 0, 5, 50),
        ("b.db", "n1", 2, 2, 1, 0, 5, 50),
    ]


def test_a_gpu_that_two_processes_see_is_one() -> None:
    told = recording(Run([recorded("a.db", 1), recorded("b.db", 2), recorded("c.db", 3, "n2")]))
    assert told.gpus.select("node", "gpu", "kernel_count").rows() == [
        ("n1", 0, 4),
        ("n1", 1, 0),
        ("n2", 0, 2),
        ("n2", 1, 0),
    ]


def test_parts_combine_to_the_whole() -> None:
    run = Run([recorded("a.db", 1), recorded("c.db", 3, "n2")])
    whole, parts = recording(run), combine_recording([partial_recording(part) for part in run.parts])
    assert whole.processes.equals(parts.processes)
    assert whole.gpus.equals(parts.gpus)


def test_a_file_without_processes_is_empty() -> None:
    told = recording(Run([MemorySource("a.json", "Kineto")]))
    assert (told.processes.height, told.gpus.height) == (0, 0)
