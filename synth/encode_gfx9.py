"""A plan as the bytes of a gfx9 buffer (spec_gfx9 sections 1 to 3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from synth import gfx9_tokens as tokens
from synth import instrumentation, plan
from synth.encoder_output import BLOCK_BYTES, Encoded, kept_bytes
from synth.gfx9_tokens import CYCLES_PER_DELTA, MAX_MISC_DELTA, Misc
from synth.layout import HEX_FORMATS, Layout, TokenWriter
from synth.lower_gfx9 import DATA, END, HAPPENING, ISSUE, KEY_BITS, NEW_PC, REPORT, START, Act
from synth.random_numbers import seeded

if TYPE_CHECKING:
    from collections.abc import Iterable

_CS_INITIATOR_START = 1
_NEVER = 1 << 62
_DELTA_SHIFT = tokens.MISC.delta_shift  # the same in every token
_ORIGIN_CYCLES = 1016  # time after the first anchor: one saturated reset (1020 cycles), less 4


class _TimedWriter:
    """Writes tokens so that each one is decoded with exactly the time it was given."""

    def __init__(self, header: int, seed: str, *, hold: bool) -> None:
        self.writer = TokenWriter()
        self._append = self.writer.parts.append
        self.writer.put(header, tokens.HEADER.nibbles)
        self._rng = seeded(seed, "clock")
        self._hold = hold  # write some timestamps a few tokens late, as the hardware does
        self._held = 0  # tokens still to come in front of the pending timestamp
        self._pending: int | None = None
        self.now = _ORIGIN_CYCLES
        first = self._rng.getrandbits(44) | 1 << 44
        self._base = first - _ORIGIN_CYCLES
        self.writer.put(tokens.MISC.pack(delta=MAX_MISC_DELTA, type=Misc.TIME_RESET), 4)
        self.writer.put(tokens.MISC.pack(type=Misc.SURFACE_SYNC), 4)
        self.writer.put(tokens.TIMESTAMP.pack(time=first), 16)

    def put(self, time: int, value: int, nibbles: int) -> None:
        """Write a token whose layout has the common one-bit time field."""
        steps = (time - self.now) // CYCLES_PER_DELTA
        if steps > 1:
            self._approach(steps, time)
        elif steps:
            value |= 1 << _DELTA_SHIFT
        self.now = time
        self._append(HEX_FORMATS[nibbles] % value)
        if self._pending is not None:
            self._after_token()

    def put_misc(self, time: int, misc: Misc) -> None:
        """Write a MISC token."""
        steps = (time - self.now) // CYCLES_PER_DELTA
        if steps > MAX_MISC_DELTA:
            self._approach(steps, time)
            steps = 0
        self.now = time
        self.writer.put(tokens.MISC.pack(delta=steps, type=misc), tokens.MISC.nibbles)
        if self._pending is not None:
            self._after_token()

    def reset(self, time: int) -> None:
        """Write the absolute time, so that what follows can be moved; `time` must not lie in the past."""
        self._flush_timestamp()
        self.writer.put(tokens.MISC.pack(delta=MAX_MISC_DELTA, type=Misc.TIME_RESET), 4)
        self._pending = self._base + time + self._rng.randrange(4)  # the low bits do not count
        self._held = self._rng.randrange(4) if self._hold else 0
        self.now = time
        if not self._held:
            self._flush_timestamp()

    def pad(self) -> None:
        """Fill the block; the zeros are MISC tokens without a step."""
        self._flush_timestamp()
        self.writer.pad(BLOCK_BYTES, tokens.HEADER.nibbles)

    def _approach(self, steps: int, time: int) -> None:
        """Bring the stream's clock to `time`."""
        if steps > MAX_MISC_DELTA:
            self.reset(time)
            return
        self._append(HEX_FORMATS[tokens.MISC.nibbles] % (steps << _DELTA_SHIFT))
        if self._pending is not None:
            self._after_token()

    def _after_token(self) -> None:
        """A token was written while a timestamp is pending."""
        self._held -= 1
        if self._held <= 0:
            self._flush_timestamp()

    def _flush_timestamp(self) -> None:
        if self._pending is not None:
            self.writer.put(tokens.TIMESTAMP.pack(time=self._pending), 16)
            self._pending = None


class _Encoder:
    def __init__(self, engine: plan.EnginePlan) -> None:
        self.plan = engine
        header = tokens.HEADER.pack(
            legacy=tokens.LEGACY_VERSION,
            version=engine.stream_version,
            simd_mask=15,
            target_cu=engine.target_cu,
            se=engine.shader_engine,
            double_buffer=engine.double_buffer,
        )
        self.out = _TimedWriter(header, engine.seed, hold=engine.keep_share is None)
        self.noise = seeded(engine.seed, "noise")
        self.wave_bits = [tokens.WAVE_END.pack(cu=w.cu, slot=w.slot, simd=w.simd) & ~15 for w in engine.waves]
        self.inst_bits = [tokens.INST.pack(slot=w.slot, simd=w.simd) & ~15 for w in engine.waves]
        self.issue_shift = [tokens.ISSUE.fields[f"slot{w.slot}"][0] for w in engine.waves]

    def encode(self, acts: list[Act]) -> Encoded:
        engine, put = self.plan, self.out.put
        inst_bits, issue_shift = self.inst_bits, self.issue_shift
        issue_prefix, issue_nibbles = tokens.ISSUE.prefix, tokens.ISSUE.nibbles
        inst_prefix, inst_nibbles = tokens.INST.prefix, tokens.INST.nibbles
        type_shift = tokens.INST.fields["type"][0]
        edges = [engine.windows_begin, engine.windows_end]
        edge = edges[0]
        offsets: list[int] = []
        marks: list[tuple[int, int]] | None = None if engine.keep_share is None else []
        at, total = 0, len(acts)
        while at < total:
            key, index, _, value = acts[at]
            at += 1
            if key >> KEY_BITS >= edge:
                offsets.append(self._window_edge(edge))
                edge = edges[1] if len(offsets) < 2 else _NEVER
            rank = key >> 2 & 7
            if rank == ISSUE:
                word = issue_prefix | (key & 3) << 5 | value << issue_shift[index]
                while at < total and acts[at][0] == key:  # one token tells about all slots of a SIMD
                    word |= acts[at][3] << issue_shift[acts[at][1]]
                    at += 1
                put(key >> KEY_BITS, word, issue_nibbles)
            elif rank == REPORT:
                put(key >> KEY_BITS, inst_prefix | inst_bits[index] | value << type_shift, inst_nibbles)
            else:
                self._rare(key >> KEY_BITS, rank, index, value)
            if marks is not None:
                marks.append((self.out.writer.position, at))
        offsets += [self._window_edge(time) for time in edges[len(offsets) :]]
        self.out.put_misc(self.out.now, Misc.SURFACE_SYNC)  # stopping a trace leaves it
        self.out.pad()
        return self._cut(Encoded(self.out.writer.to_bytes(), offsets[0], offsets[1], total), marks or [])

    def _cut(self, whole: Encoded, marks: list[tuple[int, int]]) -> Encoded:
        """Content of a buffer that was full too early: it ends anywhere, also inside a token."""
        if self.plan.keep_share is None:
            return whole
        size = kept_bytes(whole, self.plan.keep_share)
        acts = max((done for nibbles, done in marks if nibbles <= 2 * size), default=0)
        inside = not self.out.writer.has_boundary(2 * size, tokens.MISC.nibbles)
        return Encoded(whole.data[:size], whole.windows_start_byte, size, acts, inside)

    def _window_edge(self, time: int) -> int:
        """End a block and start the next one with the absolute time; returns its byte offset."""
        self.out.pad()
        offset = self.out.writer.position // 2
        self.out.reset(time)
        return offset

    def _rare(self, time: int, rank: int, index: int, value: int) -> None:
        if rank == HAPPENING:
            self._happening(time, self.plan.happenings[index])
            return
        wave = self.plan.waves[index]
        bits = self.wave_bits[index]
        if rank == START:
            word = tokens.WAVE_START.pack(
                pipe=wave.pipe, me=wave.me, count=wave.work_items, workgroup=wave.workgroup & 7
            )
            self.out.put(time, word | bits, tokens.WAVE_START.nibbles)
        elif rank == END:
            self.out.put(time, tokens.WAVE_END.prefix | bits, tokens.WAVE_END.nibbles)
        elif rank == NEW_PC:
            word = tokens.INST_PC.pack(pc=(wave.code_object.load_address + value) >> 2)
            self.out.put(time, word | self.inst_bits[index], tokens.INST_PC.nibbles)
        elif rank == DATA:
            self._put(time, tokens.INST_USERDATA, cu=wave.cu, simd=wave.simd, slot=wave.slot, value=value)

    def _put(self, time: int, layout: Layout, **fields: int) -> None:
        self.out.put(time, layout.pack(**fields), layout.nibbles)

    def _userdata(self, time: int, address: int, words: Iterable[int], me: int = 0, pipe: int = 0) -> None:
        for word in words:
            self._put(
                time, tokens.REG, type=tokens.REGISTER_TYPE_USERDATA, write=1, address=address, data=word,
                pipe=pipe, me=1 - me,
            )  # fmt: skip

    def _compute_register(self, time: int, address: int, data: int, me: int, pipe: int) -> None:
        layout = tokens.REG_CS if address else tokens.REG_CS_PRIVILEGED
        self._put(time, layout, address=address, data=data, me=1 - me, pipe=pipe)

    def _happening(self, time: int, what: plan.Happening) -> None:
        match what:
            case plan.AgentInfo():
                self._userdata(time, instrumentation.USERDATA2, instrumentation.agent_info(what))
            case plan.CodeObjectChange():
                words = instrumentation.code_object_change(what)
                self._userdata(time, instrumentation.USERDATA2, words, what.me, what.pipe)
            case plan.Dispatch():
                for address, data in instrumentation.compute_registers(what):
                    self._compute_register(time, address, data, what.me, what.pipe)
                initiator = instrumentation.DISPATCH_INITIATOR
                self._compute_register(time, initiator, _CS_INITIATOR_START, what.me, what.pipe)
            case plan.Realtime(ticks=ticks, low_only=True):
                self._userdata(time, instrumentation.USERDATA3, instrumentation.realtime_low(ticks))
            case plan.Realtime(ticks=ticks):
                age = self.noise.randrange(1 << 16)
                self._userdata(time, instrumentation.USERDATA3, instrumentation.realtime(ticks, min(age, ticks)))
            case plan.ShaderData(cu=cu, simd=simd, slot=slot, value=value):
                self._put(time, tokens.INST_USERDATA, cu=cu, simd=simd, slot=slot, value=value)
            case plan.CounterSample(cu=cu, bank=bank, values=values):
                named = {f"value{i}": value for i, value in enumerate(values)}
                self._put(time, tokens.PERF, cu=cu, bank=bank, **named)
            case plan.Event(name="cs_partial_flush"):
                self._compute_register(time, tokens.FLUSH_REGISTER, tokens.FLUSH_VALUE, what.me, what.pipe)
            case plan.Event(name=name):
                misc = {"trace_stall_begin": Misc.STALL_BEGIN, "trace_stall_end": Misc.STALL_END}[name]
                self.out.put_misc(time, misc)
            case plan.PacketLoss():
                self.out.put_misc(time, Misc.PACKET_LOST)
            case plan.Noise(choice=choice):
                layouts = (tokens.WAVE_ALLOC, tokens.EVENT, tokens.EVENT_CS, tokens.EVENT_GFX1)
                self._put(time, layouts[choice % len(layouts)])
            case _:
                message = f"gfx9 has no token for {type(what).__name__}"
                raise ValueError(message)


def encode(engine: plan.EnginePlan, acts: list[Act]) -> Encoded:
    """The buffer of one shader engine."""
    return _Encoder(engine).encode(acts)
