"""Input files of rocprofv3 with what goes wrong in them: those of the seeds and of the public skills, and each trap."""

from __future__ import annotations

import json

#: Seed 003, as it stands there.
SEED_3 = """jobs:
   -
       kernel_include_regex: pa_decode
       kernel_iteration_range: "[1, [3-4]]"
       output_file: out
       output_directory: kernel_trace_output
       output_format: [csv]
       truncate_kernels: true
       sys_trace: true
       advanced_thread_trace: true
       att_target_cu: 1
       att_shader_engine_mask: "0xf"
       att_simd_select: "0xf"
       att_buffer_size: "0x6000000"
"""
#: Seed 001: the window of its table, in the form that its author uses.
SEED_1 = """jobs:
  - advanced_thread_trace: true
    kernel_include_regex: topk_gating
    kernel_iteration_range: "[6, [8-8]]"
    att_target_cu: 1
    att_shader_engine_mask: "0xf"
    att_simd_select: "0xf"
    att_buffer_size: "0x6000000"
"""
#: What FlyDSL's library writes: a list of counters and parameters beside the jobs.
BESIDE = """GlobalParameters:
  output_format: [csv]
pmc: [SQ_WAVES]
jobs:
  - advanced_thread_trace: true
    att_target_cu: 1
"""

_ATT = {"advanced_thread_trace": True}
_JOBS: dict[str, list[object]] = {
    "one thread trace": [_ATT],
    "several thread traces": [_ATT, _ATT | {"att_target_cu": 2}],
    "one pass": [{"pmc": ["SQ_WAVES", "GRBM_COUNT"]}],
    "passes": [{"pmc": ["SQ_WAVES"]}, {"pmc": ["GRBM_COUNT"]}],
    "passes and a trace": [{"pmc": ["SQ_WAVES"]}, {"kernel_trace": True}, {"pmc": ["GRBM_COUNT"]}],
    "trace before a pass": [{"kernel_trace": True}, {"pmc": ["GRBM_COUNT"]}],
    "launches from 0": [_ATT | {"kernel_iteration_range": "[0, [1-2]]"}],
    "launches as numbers": [_ATT | {"kernel_iteration_range": [2, 3]}],
    "launches as texts": [_ATT | {"kernel_iteration_range": ["2", "3"]}],
    "one launch as a number": [_ATT | {"kernel_iteration_range": 2}],
    "launch 0 as a number": [_ATT | {"kernel_iteration_range": 0}],
    "no launches": [_ATT | {"kernel_iteration_range": []}],
    "serialized": [_ATT | {"att_serialize_all": True}],
    "not serialized": [_ATT | {"att_serialize_all": False}],
    "target only": [_ATT | {"att_perfcounter_target_only": True}],
    "unit of the period": [{"kernel_trace": True, "collection_period_unit": "msec", "collection_period": ["1:2:1"]}],
    "period": [{"kernel_trace": True, "collection_period": ["0.5:2:1", "1:1:3"]}],
    "period as a text": [{"kernel_trace": True, "collection_period": "1:2:1"}],
    "period of two": [{"kernel_trace": True, "collection_period": ["1:2"]}],
    "format as a text": [{"kernel_trace": True, "output_format": "csv"}],
    "no format": [{"kernel_trace": True, "output_format": []}],
    "format of numbers": [{"kernel_trace": True, "output_format": [1]}],
    "counter as a text": [{"pmc": "SQ_WAVES"}],
    "counters as one text in a list": [{"pmc": ["SQ_WAVES GRBM_COUNT"]}],
    "no counters": [{"pmc": []}],
    "no counters among passes": [{"pmc": []}, {"pmc": ["SQ_WAVES"]}],
    "counters null": [{"pmc": None}, {"pmc": ["SQ_WAVES"]}],
    "counters number": [{"pmc": 5}],
    "counters 0": [{"pmc": 0}],
    "counters of numbers": [{"pmc": [1, 2]}],
    "counters map": [{"pmc": {"A": 1, "B": 2}}],
    "counters in a list of lists": [{"pmc": [["SQ_WAVES", "GRBM_COUNT"]]}],
    "counters in two lists": [{"pmc": [["SQ_WAVES"], ["GRBM_COUNT"]], "pmc_group_interval": 3}],
    "groups": [{"pmc_groups": [["SQ_WAVES"], ["GRBM_COUNT", "TCC_HIT"]], "pmc_group_interval": 1}],
    "groups and counters": [{"pmc": ["SQ_WAVES"], "pmc_groups": [["GRBM_COUNT"]]}],
    "groups as a list": [{"pmc_groups": ["SQ_WAVES", "GRBM"]}],
    "groups with stats": [{"pmc_groups": [["SQ_WAVES"]], "stats": True}],
    "decoder as a text": [_ATT | {"att_library_path": "decoder"}],
    "decoder number": [_ATT | {"att_library_path": 5}],
    "SIMD 0": [_ATT | {"att_simd_select": 0}],
    "SIMD 0 as a text": [_ATT | {"att_simd_select": "0"}],
    "GPU 0": [_ATT | {"att_gpu_index": 0}],
    "GPU 0 as a text": [_ATT | {"att_gpu_index": "0"}],
    "SE mask 0": [_ATT | {"att_shader_engine_mask": 0}],
    "CU 0": [_ATT | {"att_target_cu": 0}],
    "CU as hex": [_ATT | {"att_target_cu": "0xA"}],
    "buffer with a unit": [_ATT | {"att_buffer_size": "96MB"}],
    "buffer as a number": [_ATT | {"att_buffer_size": 201326592}],
    "buffer with a fraction": [_ATT | {"att_buffer_size": 1.5e8}],
    "buffer in a list": [_ATT | {"att_buffer_size": ["0x6000000"]}],
    "buffer empty": [_ATT | {"att_buffer_size": ""}],
    "parameters without att": [{"att_target_cu": 1, "kernel_trace": True}],
    "trace off": [{"advanced_thread_trace": False, "att_target_cu": 1}],
    "trace as a text": [{"advanced_thread_trace": "no"}],
    "trace as a number": [{"advanced_thread_trace": 1}],
    "counters in the trace": [_ATT | {"att_perfcounters": "SQ_WAVES SQ_INSTS:0x3", "att_perfcounter_ctrl": 3}],
    "counters in the trace as a list": [_ATT | {"att_perfcounters": ["SQ_WAVES"], "att_perfcounter_ctrl": 3}],
    "counters in the trace, small letters": [_ATT | {"att_perfcounters": "sq_waves"}],
    "counters in the trace with pmc": [_ATT | {"att_perfcounters": "SQ_WAVES", "pmc": ["GRBM_COUNT"]}],
    "trace with pmc": [_ATT | {"pmc": ["GRBM_COUNT"]}],
    "activity": [_ATT | {"att_activity": 8}],
    "activity with counters": [_ATT | {"att_activity": 8, "att_perfcounters": "SQ_WAVES"}],
    "activity with pmc": [_ATT | {"att_activity": 8, "pmc": ["SQ_WAVES"]}],
    "consecutive": [_ATT | {"att_consecutive_kernels": 4}],
    "consecutive in regions": [_ATT | {"att_consecutive_kernels": 4, "selected_regions": True}],
    "regions and period": [{"kernel_trace": True, "selected_regions": True, "collection_period": ["1:1:1"]}],
    "typo": [{"kernel_itaration_range": "2", "advanced_thread_trace": True}],
    "dashes": [{"kernel-trace": True, "pc-sampling-beta-enabled": True, "process-sync": True}],
    "sampling": [
        {
            "pc_sampling_beta_enabled": True,
            "pc_sampling_method": "host_trap",
            "pc_sampling_unit": "time",
            "pc_sampling_interval": 1,
        }
    ],
    "sampling not allowed": [
        {"pc_sampling_method": "host_trap", "pc_sampling_unit": "time", "pc_sampling_interval": 1}
    ],
    "sampling without interval": [
        {"pc_sampling_beta_enabled": True, "pc_sampling_method": "host_trap", "pc_sampling_unit": "time"}
    ],
    "sampling interval as a text": [
        {
            "pc_sampling_beta_enabled": True,
            "pc_sampling_method": "host_trap",
            "pc_sampling_unit": "time",
            "pc_sampling_interval": "1",
        }
    ],
    "sampling interval below 0": [
        {
            "pc_sampling_beta_enabled": True,
            "pc_sampling_method": "host_trap",
            "pc_sampling_unit": "time",
            "pc_sampling_interval": -1,
        }
    ],
    "sampling only allowed": [{"pc_sampling_beta_enabled": True}],
    "streams": [{"spm_beta_enabled": True, "spm": ["SQ_WAVES"], "spm_sample_interval": 100}],
    "streams not allowed": [{"spm": ["SQ_WAVES"]}],
    "streams with pmc": [{"spm_beta_enabled": True, "spm": ["SQ_WAVES"], "pmc": ["GRBM_COUNT"]}],
    "streams without counters": [{"spm_beta_enabled": True, "spm_sample_interval": 100}],
    "everything": [{"sys_trace": True}],
    "everything but HSA": [{"sys_trace": True, "hsa_trace": False, "hsa_core_trace": False}],
    "runtime": [{"runtime_trace": True, "output_format": ["csv"]}],
    "OpenMP": [{"ompt_trace": True, "output_format": ["csv"]}],
    "OpenMP with a text": [{"ompt_trace": True, "output_format": "csv"}],
    "OpenMP categories": [{"ompt_trace": ["thread"], "ompt_trace_operations": "thread"}],
    "HIP": [{"hip_trace": True, "stats": True}],
    "Kokkos": [{"kokkos_trace": True}],
    "driver": [{"kfd_trace": True}],
    "stats alone": [{"stats": True}],
    "stats with counters": [{"stats": True, "pmc": ["SQ_WAVES"]}],
    "stats of a trace": [{"stats": True, "kernel_trace": True}],
    "summary": [{"kernel_trace": True, "summary": True, "summary_groups": ["A", "B"], "summary_units": "msec"}],
    "summary to a stream": [{"kernel_trace": True, "summary": True, "summary_output_file": "STDOUT"}],
    "summary file alone": [{"kernel_trace": True, "summary_output_file": "Report"}],
    "summary file number": [{"kernel_trace": True, "summary": True, "summary_output_file": 5}],
    "summary groups as a text": [{"kernel_trace": True, "summary_groups": "AB"}],
    "names": [{"kernel_trace": True, "mangled_kernels": True, "truncate_kernels": True, "kernel_rename": True}],
    "names off": [{"kernel_trace": True, "mangled_kernels": False, "truncate_kernels": False}],
    "names as texts": [{"kernel_trace": "no", "truncate_kernels": "false"}],
    "filters": [{"pmc": ["A"], "kernel_include_regex": "a|b", "kernel_exclude_regex": "c"}],
    "filters as lists": [{"pmc": ["A"], "kernel_include_regex": ["a", "b"]}],
    "folders": [{"kernel_trace": True, "output_directory": "o", "output_file": "run"}],
    "folder of a pass": [{"pmc": ["A"], "output_directory": "o", "output_file": "run"}],
    "folder number": [{"kernel_trace": True, "output_directory": 5}],
    "folder empty": [{"pmc": ["A"], "output_directory": ""}],
    "folder list": [{"kernel_trace": True, "output_directory": ["o"]}],
    "several folders": [
        {"pmc": ["A"], "output_directory": "o"},
        {"pmc": ["B"], "output_directory": "p", "output_file": "x"},
    ],
    "log": [{"kernel_trace": True, "log_level": "info"}],
    "log of variables": [{"kernel_trace": True, "log_level": "env"}],
    "log unknown": [{"kernel_trace": True, "log_level": "debug"}],
    "definitions": [{"pmc": ["A"], "extra_counters": "extra.yaml"}],
    "definitions missing": [{"pmc": ["A"], "extra_counters": "nowhere.yaml"}],
    "preload": [{"kernel_trace": True, "preload": ["x.so"]}],
    "version": [{"version": True}],
    "input": [{"input": "other.yaml", "kernel_trace": True}],
    "sub folder": [{"pmc": ["A"], "sub_directory": "mine_"}],
    "echo": [{"kernel_trace": True, "echo": True}],
    "echo of passes": [{"pmc": ["A"], "echo": True}, {"pmc": ["B"]}],
    "signals": [{"kernel_trace": True, "disable_signal_handlers": True, "process_sync": False}],
    "signals on": [{"kernel_trace": True, "disable_signal_handlers": False, "process_sync": True}],
    "least data": [{"kernel_trace": True, "minimum_output_data": 5}],
    "least data as a text": [{"kernel_trace": True, "minimum_output_data": "5"}],
    "least data 0": [{"kernel_trace": True, "minimum_output_data": 0}],
    "least data map": [{"kernel_trace": True, "minimum_output_data": {"a": 1}}],
    "numbering": [{"kernel_trace": True, "agent_index": "absolute", "group_by_queue": True}],
    "only queue": [{"group_by_queue": True, "stats": True}],
    "Perfetto": [{"kernel_trace": True, "perfetto_backend": "system", "perfetto_buffer_size": 0}],
    "Perfetto policy": [{"kernel_trace": True, "perfetto_buffer_fill_policy": "discard"}],
    "Perfetto policy, other name": [{"kernel_trace": True, "perfetto_fill_policy": "discard"}],
    "Perfetto list": [{"kernel_trace": True, "perfetto_backend": ["a", "b"]}],
    "config": [{"kernel_trace": True, "output_config": True}],
    "benchmark": [{"kernel_trace": True, "benchmark_mode": "execution-profile"}],
    "benchmark by queue": [{"kernel_trace": True, "benchmark_mode": "execution-profile", "group_by_queue": True}],
    "nothing": [{}],
    "unknown only": [{"foo": 1}],
    "null": [{"kernel_trace": None}],
    "job text": ["kernel_trace"],
    "job null": [None],
    "job list": [["kernel_trace"]],
    "job number": [5],
    "second job text": [{"pmc": ["A"]}, "kernel_trace"],
    "no jobs": [],
    "second refused": [{"pmc": ["A"]}, {"pmc": [1]}, {"pmc": ["B"]}],
    "first conflicts": [{"preload": ["x"]}, {"pmc": ["B"]}],
    "second conflicts": [{"pmc": ["B"]}, {"pmc": ["A"], "att_serialize_all": True}],
    "NUL": [{"kernel_trace": True, "output_file": "a\0b"}],
    "many": [{"pmc": [f"C{at}"]} for at in range(40)],
    "nested": [{"pmc": ["A"], "foo": [[1, 2, 3]]}],
    "attach children": [{"kernel_trace": True, "attach_children": False}],
    "attach sync": [{"kernel_trace": True, "attach_sync_output": True}],
}
#: Name -> (extension, text).
FILES: dict[str, tuple[str, str]] = {
    "seed 3": (".yaml", SEED_3),
    "seed 1": (".yaml", SEED_1),
    "beside jobs": (".yaml", BESIDE),
    **{name: (".json", json.dumps({"jobs": jobs})) for name, jobs in _JOBS.items()},
    "yml": (".yml", "jobs: [{kernel_trace: yes}]"),
    "yaml truth": (".yaml", "jobs: [{kernel_trace: off, hip_trace: on, stats: y}]"),
    "yaml key on": (".yaml", "jobs: [{on: 1, kernel_trace: true}]"),
    "yaml key number": (".yaml", "jobs: [{pmc: [A]}, {5: 1, pmc: [A]}]"),
    "yaml sexagesimal": (".yaml", "jobs: [{kernel_trace: true, collection_period: [1:20:3]}]"),
    "yaml hexadecimal": (".yaml", "jobs: [{advanced_thread_trace: true, att_shader_engine_mask: 0x11111111}]"),
    "yaml octal": (".yaml", "jobs: [{advanced_thread_trace: true, att_target_cu: 010}]"),
    "yaml launches": (".yaml", "jobs: [{advanced_thread_trace: true, kernel_iteration_range: [2, [4-6]]}]"),
    "yaml launch range": (".yaml", "jobs: [{advanced_thread_trace: true, kernel_iteration_range: 2-4}]"),
    "yaml date": (".yaml", "jobs: [{kernel_trace: true, output_file: 2025-01-02}]"),
    "yaml alias": (".yaml", "a: &a {pmc: [A]}\njobs: [*a, *a, {<<: *a, kernel_include_regex: x}]"),
    "yaml twice": (".yaml", "jobs: [{kernel_trace: true, kernel_trace: false, pmc: [A]}]"),
    "yaml jobs null": (".yaml", "jobs:"),
    "yaml jobs map": (".yaml", "jobs: {a: {kernel_trace: true}}"),
    "yaml jobs text": (".yaml", "jobs: abc"),
    "yaml empty": (".yaml", ""),
    "yaml list": (".yaml", "- kernel_trace: true"),
    "yaml no jobs": (".yaml", "job: [{kernel_trace: true}]"),
    "yaml no counters": (".yaml", "jobs:\n- pmc:\n- pmc:\n  - A\n"),
    "yaml text of counters": (".yaml", "jobs:\n- pmc: SQ_WAVES GRBM_COUNT\n"),
    "json jobs null": (".json", '{"jobs": null}'),
    "json list": (".json", '[{"pmc": ["A"]}]'),
    "json twice": (".json", '{"jobs": [{"pmc": ["A"], "pmc": ["B"]}]}'),
    "json metrics": (".json", '{"metrics": [{"pmc": ["A", "B"]}, {"pmc": ["C"]}]}'),
    "json both": (".json", '{"metrics": [{"pmc": ["A"]}], "jobs": [{"pmc": ["A"]}]}'),
    "json no metrics": (".json", '{"metrics": [], "jobs": []}'),
    "json metrics without pmc": (".json", '{"metrics": [{"a": 1}], "jobs": [{"a": 1}]}'),
    "json metrics text": (".json", '{"metrics": [{"pmc": "AB"}]}'),
    "json metrics numbers": (".json", '{"metrics": [{"pmc": [1]}]}'),
    "text": (".txt", "# two passes\npmc: SQ_WAVES GRBM_COUNT\n\npmc:\tTCC_HIT  TCC_MISS # of L2\n"),
    "text, one": (".txt", "pmc: SQ_WAVES\n"),
    "text with a comment of counters": (".txt", "# pmc: SQ_WAVES\npmc: GRBM_COUNT\n"),
    "text without counters": (".txt", "pmc:\npmc: A\n"),
    "text of rocprof": (".txt", "pmc : A\ngpu: 0\nrange: 1:3\nkernel: foo\npmc: B\n"),
    "text with commas": (".txt", "pmc: A, B\n"),
    "text empty": (".txt", "\n"),
    "text with CR": (".txt", "pmc: A\r\npmc: B\r\n"),
    "text twice in a line": (".txt", "pmc: A pmc: B\n"),
    "text with the other extension": (".text", "pmc: A\n"),
}
EXTRA = "rocprofiler-sdk:\n  counters-schema-version: 1\n"  #: Content of extra.yaml.
