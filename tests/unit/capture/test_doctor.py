"""Doctor: a healthy machine has no report, one fault has one, a bare machine is told once; hostile files do no harm."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from synth.machine_faults import FAULTS, Fault
from synth.machines import MODELS, MadeMachine, healthy_machine
from synth.rooted_machine import RootedMachine
from tests.kit.amd_script import old_and_new
from wavewright.base.words import amount
from wavewright.capture.doctor import RULES, Check, Level, Status, examine
from wavewright.capture.doctor.facts import machine_facts
from wavewright.capture.doctor.system import EXPECTED_BYTES, RAW_BYTES
from wavewright.capture.doctor.view import MachineView
from wavewright.capture.machines.machine import Machine


def _reported(checks: tuple[Check, ...]) -> dict[str, str]:
    """What is not simply ok, by name of the check; what was not checked is no report."""
    return {
        check.name: "hint" if check.has_hint else str(check.status)
        for check in checks
        if check.is_problem or check.has_hint
    }


def _words(check: Check) -> str:
    return "\n".join((check.finding, check.remedy, *check.commands, *check.details))


@pytest.mark.parametrize("model", MODELS)
def test_a_healthy_machine_has_nothing_to_report(tmp_path: Path, model: str) -> None:
    checks = examine(healthy_machine(tmp_path, model=model))
    assert _reported(checks) == {}
    assert {check.name for check in checks if check.status is Status.NOT_CHECKED} == {"available", "end-to-end"}


@pytest.mark.parametrize("rocm", ["6.2.0", "6.3.0", "7.0.0", "7.1.0", "7.13.0", "7.14.0", "10.0.1"])
def test_releases_without_a_fault(tmp_path: Path, rocm: str) -> None:
    reported = _reported(examine(healthy_machine(tmp_path, rocm=rocm)))
    assert reported == {}


@pytest.mark.some_cases(10)
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name.replace(" ", "-"))
def test_exactly_the_planted_fault_is_reported(tmp_path: Path, fault: Fault) -> None:
    checks = examine(fault.machine(tmp_path))
    assert _reported(checks) == {fault.check: fault.status}
    (check,) = (check for check in checks if check.name == fault.check)
    assert fault.words in _words(check)
    assert check.remedy
    for command in check.commands:
        assert subprocess.run(["sh", "-n", "-c", command], check=False, capture_output=True).returncode == 0
    skipped = [check for check in checks if check.status is Status.NOT_CHECKED]
    assert all(check.finding and not check.remedy for check in skipped)


def test_there_are_faults_for_most_checks() -> None:
    assert len(FAULTS) >= 50
    untested = {rule.name for rule in RULES} - {fault.check for fault in FAULTS}
    assert untested == {"system", "hardware", "available", "end-to-end"}


def test_a_bare_machine_is_told_once(tmp_path: Path) -> None:
    checks = examine(RootedMachine(str(tmp_path), {"PATH": "/bin", "LD_PRELOAD": "/x/librocprofiler.so"}))
    assert _reported(checks) == {"hardware": "error"}
    hardware = next(check for check in checks if check.name == "hardware")
    assert hardware.finding.startswith("none here") and "needs no GPU and no ROCm" in hardware.remedy
    reasons = {check.finding for check in checks if check.status is Status.NOT_CHECKED}
    assert reasons == {"there is no AMD GPU here", "there is no AMD GPU here, and no ROCm, which only captures need"}


def test_a_machine_with_rocm_but_without_gpu_gets_its_rocm_checked(tmp_path: Path) -> None:
    checks = {check.name: check for check in examine(healthy_machine(tmp_path, gpu_count=0))}
    assert checks["rocprofv3"].status is Status.OK
    bare = healthy_machine(tmp_path / "login", gpu_count=0)
    for path in ("/dev/kfd", "/sys/module/amdgpu", "/sys/class/kfd"):
        bare.remove(path)
    login = {check.name: check for check in examine(bare)}
    assert _reported(tuple(login.values())) == {"hardware": "error"}
    assert login["rocm-version"].finding == "7.2.0"


def test_a_gpu_that_the_driver_does_not_know(tmp_path: Path) -> None:
    machine = healthy_machine(tmp_path, gpu_count=0)
    assert _reported(examine(machine)) == {"gpus": "error"}


def test_another_system(tmp_path: Path) -> None:
    machine = healthy_machine(tmp_path, gpu_count=0)
    machine.remove("/dev/kfd")
    mac = replace(machine, who=replace(machine.who, system="Darwin"))
    checks = examine(mac)
    assert _reported(checks) == {"system": "error"}
    assert {check.finding for check in checks if check.name in ("hardware", "rocm", "kfd")} == {"this is not Linux"}


@pytest.mark.parametrize("marker, kind", [
    ("/.dockerenv", "Docker"), ("/run/.containerenv", "Podman"),
])  # fmt: skip
def test_containers_by_their_files(tmp_path: Path, marker: str, kind: str) -> None:
    machine = healthy_machine(tmp_path)
    machine.write(marker, "")
    assert MachineView(machine).container == kind
    assert _reported(examine(machine)) == {}


@pytest.mark.parametrize("variables, groups, kind", [
    ({"APPTAINER_NAME": "x.sif"}, "", "Apptainer"),
    ({"KUBERNETES_SERVICE_HOST": "10.0.0.1"}, "", "Kubernetes"),
    ({}, "12:devices:/docker/abc\n", "Docker"),
    ({}, "0::/kubepods/burstable\n", "Kubernetes"),
    ({"container": "systemd-nspawn\x1b[2J"}, "", "systemd-nspawn [2J"),
])  # fmt: skip
def test_containers_by_variables_and_groups(tmp_path: Path, variables: dict[str, str], groups: str, kind: str) -> None:
    machine = healthy_machine(tmp_path)
    if groups:
        machine.write("/proc/1/cgroup", groups)
    assert MachineView(machine.changed(**variables)).container == kind


def test_remedies_in_a_container_have_real_numbers(tmp_path: Path) -> None:
    machine = healthy_machine(tmp_path)
    machine.write("/.dockerenv", "")
    machine.remove("/dev/kfd")
    (check,) = (check for check in examine(machine) if check.is_problem)
    assert check.commands == (
        (
            "docker run --device /dev/kfd --device /dev/dri --group-add 109 --security-opt seccomp=unconfined "
            "--ipc=host IMAGE COMMAND"
        ),
    )


def test_all_rules_are_declared_fully() -> None:
    assert len({rule.number for rule in RULES}) == len(RULES) == 28
    names = [rule.name for rule in RULES]
    assert len(set(names)) == len(names)
    for place, rule in enumerate(RULES):
        assert set(rule.needs) <= set(names[:place]), "a check comes after those that it needs"
        texts = (rule.title, rule.reads, rule.healthy, rule.remedy, rule.why)
        assert all(texts) and not any(text.endswith(".") for text in texts)
        assert len(rule.title) <= 24
    needed = {name for rule in RULES for name in rule.needs}
    assert all(rule.otherwise for rule in RULES if rule.name in needed and rule.level is Level.ERROR)


def test_the_table_names_the_room_that_is_wanted() -> None:
    (rule,) = (rule for rule in RULES if rule.name == "disk")
    assert rule.healthy.startswith(f"{amount(EXPECTED_BYTES)} or more, ")
    assert rule.healthy.endswith(f"an error below {amount(RAW_BYTES)}")


def test_the_disk_is_that_of_the_output(tmp_path: Path) -> None:
    machine = healthy_machine(tmp_path)
    machine.rooms["/data"] = 1_000
    (check,) = (check for check in examine(machine, output="/data/a/b") if check.is_problem)
    assert (check.name, check.status) == ("disk", Status.ERROR)
    assert "1.00 kB free in /data/a/b" in check.finding


def test_amds_real_trees(shared: Path, tmp_path: Path) -> None:
    """The four real topologies, each on a machine without any other fault."""
    expected = {
        "mi210": ("2 GPUs", "gfx90a, 104 CUs, 8 SEs", {}),
        "mi300-cpx": ("1 GPU", "gfx942, 38 CUs, 4 SEs", {}),
        "mi308-cpx": ("2 GPUs", "gfx942, 20 CUs, 4 SEs, 48 GiB, 0000:0a:00.0", {}),
        "two-vega": ("2 GPUs", "(target unknown), 64 CUs, 4 SEs", {"architecture": "warning"}),
    }
    for name, (count, figures, reported) in expected.items():
        nodes = shared / "data/kfd-topology" / name / "topology/nodes"
        if not nodes.is_dir():
            pytest.skip("../shared/data/kfd-topology is not here")
        machine = healthy_machine(tmp_path / name, gpu_count=2)
        target = tmp_path / name / "sys/class/kfd/kfd/topology"
        for path in ("/sys/class/kfd/kfd/topology", "/sys/class/drm", "/sys/bus"):
            machine.remove(path)
        _copy(nodes.parent, target)
        checks = {check.name: check for check in examine(machine)}
        assert checks["gpus"].finding == count
        assert figures in checks["gpus"].details[0]
        assert _reported(tuple(checks.values())) == reported, name


#: Release -> folder of AMD's script.
_SCRIPTS = {
    "6.2.0": "0.4.0_rocm-6.2",
    "6.3.0": "0.5.0_rocm-6.3",
    "7.0.0": "1.0.0_rocm-7.0",
    "7.11.0": "1.1.0_2026-01-14",
    "7.13.0": "1.3.0_therock-7.13",
    "7.14.0": "1.3.2_2026-07-13",
}


def _machine_with_amds_script(shared: Path, folder: Path, rocm: str, gpu_count: int = 2) -> MadeMachine:
    """A made machine, but rocprofv3 and rocprofv3-avail are AMD's."""
    tree = shared / "data/rocprofv3-tree"
    if not tree.is_dir():
        pytest.skip("../shared/data/rocprofv3-tree is not here")
    machine = healthy_machine(folder, rocm=rocm, gpu_count=gpu_count)
    options = ("--version", _SCRIPTS[rocm], "--rocm", rocm)
    subprocess.run([sys.executable, tree / "make_tree.py", folder / "amd", *options], check=True, capture_output=True)
    _copy(folder / "amd/bin", folder / f"opt/rocm-{rocm}/bin")
    if (folder / "amd/lib/python3").is_dir():
        _copy(folder / "amd/lib/python3", folder / f"opt/rocm-{rocm}/lib/python3")
    for path in (folder / f"opt/rocm-{rocm}/bin").iterdir():
        path.chmod(0o755)
    return machine


@pytest.mark.parametrize("rocm", old_and_new(_SCRIPTS))
def test_amds_own_scripts(shared: Path, tmp_path: Path, rocm: str) -> None:
    checks = {check.name: check for check in examine(_machine_with_amds_script(shared, tmp_path, rocm))}
    is_old = rocm.startswith("6")
    assert _reported(tuple(checks.values())) == {}
    assert checks["rocm-version"].finding == rocm
    sdk = _SCRIPTS[rocm].split("_")[0]
    assert checks["rocprofv3"].finding.endswith("which tells no version" if is_old else f"version {sdk}")
    assert any("PyTorch's profiler hangs" in text for text in checks["rocprofv3"].details) == (sdk == "1.3.2")


def test_asking_the_gpus(shared: Path, tmp_path: Path) -> None:
    """AMD's rocprofv3-avail, with a stand-in for its library that knows two GPUs."""
    stubs = str(shared / "data/rocprofv3-tree/stubs")
    machine = _machine_with_amds_script(shared, tmp_path / "two", "7.14.0").changed(PYTHONPATH=stubs)
    checks = {check.name: check for check in examine(machine, asks_gpu=True)}
    assert checks["available"].finding == "every GPU counts SQ_WAVES; 1 of 2 can sample PCs"
    assert _reported(tuple(checks.values())) == {}
    third = _machine_with_amds_script(shared, tmp_path / "three", "7.14.0", gpu_count=3).changed(PYTHONPATH=stubs)
    (check,) = (check for check in examine(third, asks_gpu=True) if check.is_problem)
    assert (check.name, check.finding) == ("available", "GPU 2: Fatal error: Invalid device id : 2")
    third.remove("/opt/rocm-7.14.0/bin/rocprofv3-avail")
    (check,) = (check for check in examine(third, asks_gpu=True) if check.is_problem)
    assert check.finding == "there is no rocprofv3-avail in /opt/rocm-7.14.0/bin"


def test_asking_the_gpus_of_an_old_release(shared: Path, tmp_path: Path) -> None:
    machine = _machine_with_amds_script(shared, tmp_path, "6.3.0")
    checks = {check.name: check for check in examine(machine, asks_gpu=True)}
    assert checks["available"].finding == "rocprofv3-avail takes no arguments before ROCm 7.0"


def _copy(source: Path, target: Path) -> None:
    for path in sorted(source.rglob("*")):
        if path.is_file():
            place = target / path.relative_to(source)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(path.read_bytes())


def test_firmware_of_a_real_listing(shared: Path, tmp_path: Path) -> None:
    sample = shared / "data/kfd-topology/firmware/amdgpu_firmware_info"
    if not sample.is_file():
        pytest.skip("../shared/data/kfd-topology is not here")
    machine = healthy_machine(tmp_path)
    machine.write("/sys/kernel/debug/dri/1/amdgpu_firmware_info", sample.read_bytes())
    versions = machine_facts(machine)["gpus"][0]["firmware_versions"]
    assert (versions["MEC"], versions["SOS"]) == (0x160, 0x161A92)


_HOSTILE = (
    b"",
    b"\0" * 100,
    b"\xff\xfe" * 50,
    b"9" * 5000,
    b"-1\n",
    b"simd_count -1\n" * 1000,
    b"\x1b[2J\n" * 10,
    b"x" * 300_000,
)


@pytest.mark.some_cases(5)
@pytest.mark.parametrize("seed", range(12))
def test_hostile_files_give_answers(tmp_path: Path, seed: int) -> None:
    """Every file of a machine may hold anything: no error of ours, and nothing that commands a terminal."""
    random.seed(seed)
    machine = healthy_machine(tmp_path)
    files = [path for path in sorted(tmp_path.rglob("*")) if path.is_file() and not path.is_symlink()]
    for path in files:
        is_program = os.access(path, os.X_OK)
        chance = random.random()
        if chance < 0.4 and not is_program:
            path.write_bytes(random.choice(_HOSTILE))
        elif chance < 0.5:
            path.unlink()
        elif chance < 0.6 and not is_program:
            path.unlink()
            path.symlink_to(path)
    checks = examine(machine)
    assert len(checks) == len(RULES)
    for check in checks:
        texts = (check.finding, check.remedy, *check.commands, *check.details)
        assert all(text.isprintable() and len(text) < 2_000 for text in texts)
    json.dumps(machine_facts(machine))


def test_hostile_variables(tmp_path: Path) -> None:
    machine = healthy_machine(tmp_path)
    names = "ROCR_VISIBLE_DEVICES HIP_VISIBLE_DEVICES ROCM_PATH LD_LIBRARY_PATH LD_PRELOAD ROCPROF_X VIRTUAL_ENV HOME"
    turned = "/proc/../\N{RIGHT-TO-LEFT OVERRIDE}"
    for value in ("\x1b]0;x\x07" * 100, "/" * 5000, "/..", "-1,,\n", "9" * 400, ":::", turned):
        variables = dict.fromkeys((*names.split(), "SLURM_JOB_ID", "container", "ROCPROF_\x1b[2J"), value)
        for check in examine(machine.changed(**variables)):
            assert all(text.isprintable() for text in (check.finding, check.remedy, *check.commands, *check.details))


def test_facts_for_a_capture_are_plain_and_hold_no_secrets(tmp_path: Path) -> None:
    machine = healthy_machine(tmp_path).changed(API_KEY="secret", HSA_XNACK="1", ROCPROF_X="y")
    facts = machine_facts(machine)
    text = json.dumps(facts)
    assert "secret" not in text and facts["variables"] == {"HSA_XNACK": "1", "ROCPROF_X": "y"}
    assert facts["gpus"][0]["product"] == "MI300X" and facts["gpus"][0]["power_cap_watts"] == 750
    assert facts["gpus"][1]["performance_level"] == "auto"
    assert (facts["rocm"]["rocm_version"], facts["rocm"]["sdk_version"]) == ("7.2.0", "1.1.0")
    assert facts["rocm"]["decoder"] == "/opt/rocm-7.2.0/lib/librocprof-trace-decoder.so.0.1.6"
    assert facts["driver"] == "6.14.14"


def test_facts_of_a_bare_machine(tmp_path: Path) -> None:
    facts = machine_facts(RootedMachine(str(tmp_path)))
    assert (facts["gpus"], facts["rocm"], facts["variables"]) == ([], None, {})


def test_this_machine_is_answered() -> None:
    checks = examine(Machine())
    assert len(checks) == len(RULES)
    assert checks[0].name == "system" and checks[0].status is Status.OK
