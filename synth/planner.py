"""A scenario as the plan of one shader engine: dispatch windows, waves, markers, samples, losses."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from synth import plan
from synth.isa import code_graph
from synth.random_numbers import seeded
from synth.rdna_ops import OTHER_SIMD
from synth.timing import Launch, run

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

    from synth.kernel import KernelImage
    from synth.scenario import Scenario

_PROLOGUE_CYCLES = 2048  # before the first dispatch
_GAP_CYCLES = 1500  # between two dispatch windows
_LAUNCH_CYCLES = 160  # from a dispatch to its first wave
_CLOCK_STARTS_TICKS = 100
_REALTIME_KHZ = 100_000
_CYCLES_PER_TICK = 17
_PAGE = 4096
_USUAL_LDS_GRANULE, _LDS_GRANULE = 512, {"gfx950": 1280}  # bytes
_CU_LIMIT = {"gfx9": 16, "gfx10": 8, "gfx11": 8, "gfx12": 16, "gfx1250": 16}
_EVENTS = {
    "gfx9": ("cs_partial_flush", "trace_stall_begin", "trace_stall_end"),
    "gfx10": (
        "cs_partial_flush", "bottom_of_pipe", "cache_flush", "trace_flush", "trace_stall_begin", "trace_stall_end",
        "didt_stall_begin", "didt_stall_end", "gc_rinse",
    ),
}  # fmt: skip
_EVENTS["gfx11"] = _EVENTS["gfx12"] = _EVENTS["gfx1250"] = (*_EVENTS["gfx10"], "spm_sample")


class Planner:
    """Builds one engine's plan; every choice comes from the scenario's seed and the engine's number."""

    def __init__(self, scenario: Scenario, shader_engine: int) -> None:
        self.scenario = scenario
        self.family = scenario.family
        self.quantum = 4 if self.family == "gfx9" else 1
        seed = f"{scenario.seed}/{shader_engine}"
        self.rng: Random = seeded(seed, "plan")
        self.kernels = scenario.kernels
        self.code_objects = _code_objects(scenario)
        self.plan = plan.EnginePlan(
            family=self.family,
            stream_version=scenario.version,
            shader_engine=shader_engine,
            target_cu=scenario.target_cu,
            target_simd=0 if self.family == "gfx9" else scenario.target_simd,
            seed=seed,
            code_objects=tuple(self.code_objects.values()),
            double_buffer=scenario.double_buffer and self.family in ("gfx9", "gfx12", "gfx1250"),
            double_precision_rate=self.rng.randrange(4),
            execution_tokens=scenario.execution_tokens and self.family in ("gfx10", "gfx11", "gfx12"),
            extended_starts=scenario.extended_starts and self.family in ("gfx12", "gfx1250"),
            keep_share=scenario.keep_share,
        )
        self.last_ticks = 0  # of the last realtime pair; 0 = none yet
        # One wall clock for all; the clocks of the shader engines began within a microsecond of each other.
        wall_clock = seeded(str(scenario.seed), "clock").randrange(1 << 32, 1 << 35)
        self.ticks = wall_clock + self.rng.randrange(1 << 32, 1 << 35) % _CLOCK_STARTS_TICKS

    def build(self) -> plan.EnginePlan:
        """The whole plan."""
        scenario, engine = self.scenario, self.plan
        now = self._round(1100)
        self._add(plan.AgentInfo(now, _REALTIME_KHZ, self._counter_interval()))
        if scenario.markers == "start":
            for code_object in engine.code_objects:
                now += self.quantum
                self._marker(now, code_object, from_start=True)
        self._earlier_waves(now)
        now = engine.windows_begin = self._round(now + _PROLOGUE_CYCLES)
        for number in range(scenario.dispatches):
            now = self._window(now + self.quantum, number)
            lost = scenario.loss and number == scenario.dispatches // 2
            now = self._packet_loss(now) if lost else now
            now += self._round(_GAP_CYCLES * (1 + self.rng.random()))
        engine.windows_end = now
        self._samples(engine.windows_begin, engine.windows_end)
        engine.happenings.sort(key=lambda happening: happening.time)
        return engine

    def _add(self, happening: plan.Happening) -> None:
        self.plan.happenings.append(happening)

    def _round(self, cycles: float) -> int:
        return -(-int(cycles) // self.quantum) * self.quantum

    def _moment(self, begin: int, end: int) -> int:
        return self._round(self.rng.randrange(begin, max(end - self.quantum, begin + 1)))

    def _counter_interval(self) -> int:
        gfx9 = self.family == "gfx9" and self.scenario.counters
        return self._round(self.rng.choice((64, 128, 256))) if gfx9 else 0

    def _marker(self, time: int, code_object: plan.LoadedObject, *, unload: bool = False, from_start: bool) -> None:
        me, pipe = self.rng.randrange(2), self.rng.randrange(4)
        legacy = code_object.id < 1 << 30 and self.rng.random() < 0.5
        self._add(plan.CodeObjectChange(time, code_object, unload, from_start, me, pipe, legacy))

    def _window(self, begin: int, number: int) -> int:
        """One dispatch: markers, registers, its waves here and elsewhere. Returns when the last wave is over."""
        scenario, rng = self.scenario, self.rng
        kernel = self.kernels[number % len(self.kernels)]
        code_object = self.code_objects[kernel.listing]
        if scenario.markers == "during":
            self._marker(begin, code_object, from_start=False)
        me, pipe = rng.randrange(2), rng.randrange(4)
        dispatch_time = begin + self._round(40)
        self._dispatch(dispatch_time, kernel, code_object, me, pipe)
        first = dispatch_time + self._round(_LAUNCH_CYCLES + 100 * rng.random())
        launch = Launch(
            simds=(0, 1, 2, 3) if self.family == "gfx9" else (self.plan.target_simd,),
            slots_per_simd=scenario.waves_per_simd,
            workgroups=scenario.workgroups,
            waves_per_workgroup=scenario.waves_per_workgroup,
            start=first,
            quantum_cycles=self.quantum,
            loop_trips=scenario.loop_trips,
            decisions=scenario.decisions,
        )
        waves = run(code_object.code, kernel.entry, launch, rng)
        self.plan.waves += [
            plan.PlannedWave(
                cu=self.plan.target_cu, simd=wave.simd, slot=wave.slot, begin=wave.begin, end=wave.end, me=me,
                pipe=pipe, workgroup=wave.workgroup, work_items=self._work_items(), code_object=code_object,
                entry=kernel.entry, run=wave,
            )
            for wave in waves
        ]  # fmt: skip
        end = max((wave.end for wave in waves), default=first)
        if scenario.markers == "late" and number == 0:
            self._late_markers(waves[0].begin, min(wave.end for wave in waves))
        stays = [wave.end - wave.begin for wave in waves] or [end - first]
        end = max(end, self._other_waves(first, end, stays, me, pipe, code_object, kernel))
        if scenario.markers == "during" and (scenario.unload or len(self.code_objects) > 1):
            end += self.quantum
            self._marker(end, code_object, unload=True, from_start=False)
        return end

    def _work_items(self) -> int:
        """Of a wave; where the workgroup's size is given, its waves are full."""
        if self.scenario.workgroup_size is None:
            return self.rng.randrange(1, 65)
        return 64 if self.family == "gfx9" else 32

    def _late_markers(self, begin: int, end: int) -> None:
        """The objects were there from the start, but their markers come when waves already run."""
        for code_object in self.plan.code_objects:
            self._marker(self._moment(begin + self.quantum, end), code_object, from_start=True)

    def _dispatch(self, time: int, kernel: KernelImage, code_object: plan.LoadedObject, me: int, pipe: int) -> None:
        rng = self.rng
        resources = plan.Resources(
            vgpr_granules=rng.randrange(64),
            sgpr_granules=rng.randrange(8),
            lds_granules=rng.randrange(128),
            user_sgprs=rng.randrange(17),
            flags=rng.randrange(16),
        )
        size = (64 * self.scenario.waves_per_workgroup, rng.randrange(1, 3), 1)
        if kernel.lds_bytes is not None:  # a real kernel is launched as it was compiled
            granule = _LDS_GRANULE.get(kernel.target, _USUAL_LDS_GRANULE)
            resources = replace(resources, lds_granules=-(-kernel.lds_bytes // granule))
            lanes = 64 if self.family == "gfx9" else 32
            size = (lanes * self.scenario.waves_per_workgroup, 1, 1)
        size = self.scenario.workgroup_size or size
        self._add(plan.Dispatch(time, kernel, code_object, me, pipe, size, resources))

    def _other_places(self, count: int) -> list[tuple[int, int, int]]:
        """Different places outside the traced SIMDs; on RDNA also on other SIMDs of the traced WGP."""
        places: dict[tuple[int, int, int], None] = {}
        gfx9 = self.family == "gfx9"
        while len(places) < count:
            array = 0 if gfx9 else self.rng.randrange(2) << 7
            place = (array | self.rng.randrange(_CU_LIMIT[self.family]), self.rng.randrange(4), self.rng.randrange(10))
            traced = place[0] == self.plan.target_cu and (gfx9 or place[1] == self.plan.target_simd)
            if not traced:
                places[place] = None
        return list(places)

    def _other_waves(
        self,
        begin: int,
        end: int,
        stays: Sequence[int],
        me: int,
        pipe: int,
        code_object: plan.LoadedObject,
        kernel: KernelImage,
    ) -> int:
        """Waves of the same kernel on other CUs, which stay about as long as the traced ones did (`stays`)."""
        last = end
        for number, (cu, simd, slot) in enumerate(self._other_places(self.scenario.other_waves)):
            start = self._moment(begin, end)
            stop = start + self._round(self.rng.choice(stays) * self.rng.uniform(0.9, 1.1)) + self.quantum
            self.plan.waves.append(
                plan.PlannedWave(cu, simd, slot, start, stop, me, pipe, number, 64, code_object, kernel.entry)
            )
            if self.scenario.shader_data and self.rng.random() < 0.3:
                immediate = self.family != "gfx9" and self.rng.random() < 0.5
                value = self.rng.getrandbits(8 if immediate else 32)
                self._add(plan.ShaderData(self._moment(start, stop), cu, simd, slot, value, immediate))
            last = max(last, stop)
        return last

    def _earlier_waves(self, now: int) -> None:
        """Waves that were running before the trace began: only their ends are seen."""
        for cu, simd, slot in self._other_places(self.scenario.earlier_waves):
            time = self._moment(now, now + _PROLOGUE_CYCLES)
            wave = plan.PlannedWave(cu, simd, slot, time, time, 0, 0, 0, 64, self.plan.code_objects[0], 0)
            wave.start_lost = True
            self.plan.waves.append(wave)

    def _packet_loss(self, now: int) -> int:
        """Between two windows: a few ends and starts outside the traced SIMDs are missing."""
        untraced = [wave for wave in self.plan.waves if wave.run is None and not wave.start_lost]
        for wave in sorted(untraced, key=lambda wave: wave.end)[-2:]:
            wave.end_lost = True
        time = now + self._round(100)
        self._add(plan.PacketLoss(time))
        end = time + self._round(600)
        for cu, simd, slot in self._other_places(min(2, self.scenario.other_waves)):
            late = plan.PlannedWave(cu, simd, slot, time, self._moment(time + 40, end), 0, 0, 0, 64,
                                    self.plan.code_objects[0], 0)  # fmt: skip
            late.start_lost = True
            self.plan.waves.append(late)
        return end

    def _samples(self, begin: int, end: int) -> None:
        scenario, rng = self.scenario, self.rng
        for time in sorted({self._moment(begin, end) for _ in range(scenario.realtime_pairs)}):
            ticks = self.ticks + time // _CYCLES_PER_TICK
            low_only = self.family == "gfx9" and rng.random() < 0.3 and self._has_realtime()
            if not self._has_realtime() or ticks > self.last_ticks:
                self.last_ticks = ticks
                self._add(plan.Realtime(time, ticks, low_only))
        for _ in range(scenario.events):
            name = rng.choice(_EVENTS[self.family])
            self._add(
                plan.Event(self._moment(begin, end), name, rng.randrange(2), rng.randrange(4), rng.random() < 0.5)
            )
        for _ in range(scenario.noise):
            self._add(plan.Noise(self._moment(begin, end), rng.randrange(64)))
        if self.family in ("gfx11", "gfx12", "gfx1250"):
            self._other_simd(begin, end)
        if self.family == "gfx1250" and scenario.extended_starts:
            for _ in range(scenario.dispatches):
                self._add(plan.ClusterMark(self._moment(begin, end), rng.randrange(16), rng.random() < 0.5))
        if self.family == "gfx9" and scenario.counters:
            self._counter_samples(begin, end)

    def _has_realtime(self) -> bool:
        return self.last_ticks > 0

    def _other_simd(self, begin: int, end: int) -> None:
        table = OTHER_SIMD[self.scenario.version]
        for _ in range(self.scenario.other_simd):
            category = self.rng.choice(tuple(table))
            _, shortest, longest = table[category]
            cycles = self.rng.randint(shortest, longest)
            self._add(plan.OtherSimd(self._moment(begin, end), category, cycles))

    def _counter_samples(self, begin: int, end: int) -> None:
        """Every CU reports both banks each interval, one CU after another, unless all its counters stood still."""
        interval = next(h.counter_interval_cycles for h in self.plan.happenings if isinstance(h, plan.AgentInfo))
        for start in range(self._round(begin + 64), end - 64, interval):
            for cu in range(4):
                for bank in range(2):
                    if self.rng.random() < 0.8:
                        values = tuple(self.rng.randrange(1 << 13) for _ in range(4))
                        self._add(plan.CounterSample(start + 4 * cu, cu, bank, values))  # type: ignore[arg-type]


def _code_objects(scenario: Scenario) -> dict[bytes, plan.LoadedObject]:
    """One code object per listing, at addresses that every engine of the capture shares."""
    rng = seeded(scenario.seed, "objects")
    objects: dict[bytes, plan.LoadedObject] = {}
    address = 0x7F00_0000_0000 + rng.randrange(1 << 20) * _PAGE
    for kernel in scenario.kernels:
        if kernel.listing in objects:
            continue
        code = code_graph(kernel.listing, scenario.family)
        size = -(-(code.rows[-1].address + 64) // _PAGE) * _PAGE
        # Ids above 32 bits do not fit the tail word, so both forms of the marker are used.
        identity = len(objects) + 1 + (rng.choice((0, 1 << 40)) if scenario.wide_ids else 0)
        objects[kernel.listing] = plan.LoadedObject(identity, address, size, kernel.listing, code, kernel.elf)
        if not (scenario.markers == "during" and scenario.same_address):
            address += size + rng.randrange(16) * _PAGE
    return objects
