"""A plan as the bytes of an RDNA buffer, stream versions 1 to 5 (spec_rdna sections 2 to 7, 10)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from synth import instrumentation, plan, rdna_tokens
from synth.encoder_output import BLOCK_BYTES, Encoded, kept_bytes
from synth.layout import HEX_FORMATS, Layout, TokenWriter
from synth.lower_rdna import (
    DATA,
    END,
    HAPPENING,
    IMMEDIATE,
    IMMEDIATE_FORM,
    INST,
    KEY_BITS,
    NEW_PC,
    READY,
    START,
    VALU,
    Act,
)
from synth.random_numbers import seeded
from synth.rdna_ops import OTHER_SIMD, VALU_SHORT
from synth.rdna_tokens import (
    EVENT_IDS,
    MISC_EVENTS,
    RECENT_OPS,
    RECENT_WAVES,
    SHORT_VALU_CHOICES,
    TIME_BIAS,
    TOKENS,
    TRACE_FINISH_ID,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

_LONG_GAP = 160  # cycles; longer ones are written as one step instead of several TIME tokens
_NEVER = 1 << 62
_RANK_MASK = (1 << KEY_BITS) - 1
_NOISE = ("WAVE_ALLOC", "UTIL_COUNTER", "EVENT_SYNC", "EXEC_POPCOUNT1", "EXEC_POPCOUNT3", "LDS_CONFIG")


class _TimedWriter:
    """Writes tokens so that each one is decoded with exactly the time it was given."""

    def __init__(self, version: int, seed: str, *, execution_tokens: bool) -> None:
        self.writer = TokenWriter()
        self._append = self.writer.parts.append
        self.version = version
        self.tokens = TOKENS[version]
        self.now = 0
        self._time_layout = self.tokens["TIME"]
        self._bias = TIME_BIAS[version]
        self._largest = self._bias + self._time_layout.delta_max
        self._medium = self.tokens.get("MEDIUM_TIME")
        self._rng = seeded(seed, "execution")
        self._execution = execution_tokens and "ALU_EXEC" in self.tokens
        self._after_extended_start = False

    def put(self, time: int, layout: Layout, word: int) -> None:
        """Write a token with a time field."""
        gap = time - self.now
        if gap:
            self.now = time
            if gap > layout.delta_max or self._execution:
                gap = self._approach(gap, layout.delta_max)
            word |= gap << layout.delta_shift
        if self._after_extended_start:
            self._separate(word)
        self._append(HEX_FORMATS[layout.nibbles] % word)

    def put_untimed(self, time: int, layout: Layout, word: int) -> None:
        """Write a token without a time field, after the stream's clock has reached `time`."""
        if time > self.now:
            self._step(time - self.now)
            self.now = time
        self._emit(word, layout.nibbles)

    def approach_between(self, time: int, most: int) -> int:
        """Advance to 1..`most` cycles before `time`, which must not be `now`; returns the cycles left."""
        gap = time - self.now
        self.now = time
        return gap if gap <= most else 1 + self._approach(gap - 1, most - 1)

    def mark_extended_start(self) -> None:
        """The token just written may be continued by bytes with bit 0 set: none of ours may look like one."""
        self._after_extended_start = True

    def pad(self) -> None:
        """Fill the block; zero nibbles are NOP."""
        self.writer.pad(BLOCK_BYTES)

    def finish(self) -> None:
        """End the buffer. Its last words are read by special rules, so they are kept empty."""
        self.writer.parts.append("0" * (2 * BLOCK_BYTES))
        self.pad()

    def _emit(self, word: int, nibbles: int) -> None:
        if self._after_extended_start:
            self._separate(word)
        self._append(HEX_FORMATS[nibbles] % word)

    def _separate(self, word: int) -> None:
        """Keep a token with bit 0 set from being taken for the rest of an extended start."""
        self._after_extended_start = False
        if word & 1:
            separator = self.tokens["IMMEDIATE"]  # for no slot at all
            self.writer.put(separator.prefix, separator.nibbles)

    def _approach(self, gap: int, most: int) -> int:
        if self._execution and self._rng.random() < 0.2:
            layout = self.tokens["ALU_EXEC" if self._rng.random() < 0.5 else "VMEM_EXEC"]
            delta = min(gap, layout.delta_max)
            self._emit(layout.pack(delta=delta, source=self._rng.randrange(4)), layout.nibbles)
            gap -= delta
        if gap > _LONG_GAP:
            if self._medium is None or gap > self._medium.delta_max:
                self._step(gap)
            else:
                self._emit(self._medium.pack(delta=gap), self._medium.nibbles)
            return 0
        while gap > most:
            step = min(gap, self._largest)
            self._emit(self._time_layout.pack(delta=step - self._bias), self._time_layout.nibbles)
            gap -= step
        return gap

    def _step(self, cycles: int) -> None:
        layout = self.tokens["TIMESTAMP"]
        kind = {"type": rdna_tokens.TIMESTAMP_STEP} if self.version < 3 else {}
        self._emit(layout.pack(value=cycles, **kind), layout.nibbles)


class _RecentWaves:
    """Version 5's list of recently used waves, as far as it is known from what was written since `forget`."""

    def __init__(self) -> None:
        self._slots: list[int] = []

    def touch(self, slot: int) -> None:
        if slot in self._slots[:1]:
            return
        if slot in self._slots[1:5]:
            self._slots.remove(slot)
        self._slots = [slot, *self._slots][:RECENT_WAVES]

    def choices(self, slot: int) -> dict[int, int]:
        """Time step -> value of the short token's field; empty if the token cannot name this slot."""
        place = self._slots.index(slot) if slot in self._slots else len(SHORT_VALU_CHOICES)
        return SHORT_VALU_CHOICES[place] if place < len(SHORT_VALU_CHOICES) else {}

    def forget(self) -> None:
        self._slots = []


class _Encoder:
    def __init__(self, engine: plan.EnginePlan) -> None:
        self.plan = engine
        self.tokens = TOKENS[engine.stream_version]
        self.version = engine.stream_version
        self.out = _TimedWriter(self.version, engine.seed, execution_tokens=engine.execution_tokens)
        self.rng = seeded(engine.seed, "forms")
        self.recent = _RecentWaves()
        layout = self.tokens["HEADER"]
        fields = {
            "version": self.version,
            "simd": engine.target_simd,
            "wgp": engine.target_cu & 0x7F,
            "sa": engine.target_cu >> 7,
            "double_buffer": int(engine.double_buffer),
            "dp_rate": engine.double_precision_rate,
        }
        word = layout.pack(**{name: value for name, value in fields.items() if name in layout.fields})
        self.out.put_untimed(0, layout, word)

    def encode(self, acts: list[Act]) -> tuple[Encoded, list[tuple[int, int]]]:
        """The buffer, and per token (nibbles written, acts complete so far) if the buffer is to be cut."""
        put, short_valu = self.out.put, self.version == 5
        slots = [wave.slot for wave in self.plan.waves]
        valu, inst, ready = (self.tokens[name] for name in ("VALU_INST", "INST", "WAVE_READY"))
        valu_words = [] if short_valu else [valu.pack(slot=slot) for slot in slots]
        inst_words = [inst.pack(slot=slot) for slot in slots]
        op_shift, ready_shift = inst.fields["op"][0], ready.fields["mask"][0]
        edges = [self.plan.windows_begin, self.plan.windows_end]
        edge = edges[0]
        offsets: list[int] = []
        marks: list[tuple[int, int]] | None = None if self.plan.keep_share is None else []
        at, total = 0, len(acts)
        while at < total:
            key, index, _, value = acts[at]
            at += 1
            time, rank = key >> KEY_BITS, key & _RANK_MASK
            if time >= edge:
                offsets.append(self._window_edge(edge))
                edge = edges[1] if len(offsets) < 2 else _NEVER
            if rank == VALU:
                if short_valu:
                    self._short_valu(time, slots[index])
                else:
                    put(time, valu, valu_words[index])
            elif rank == INST:
                if short_valu and value in RECENT_OPS:
                    self.recent.touch(slots[index])
                put(time, inst, inst_words[index] | value << op_shift)
            elif rank in (READY, IMMEDIATE):
                mask = 1 << slots[index]
                while at < total and acts[at][0] == key:  # one token tells about all slots
                    mask |= 1 << slots[acts[at][1]]
                    at += 1
                if rank == READY:
                    put(time, ready, ready.prefix | mask << ready_shift)
                else:
                    self._immediate(time, mask)
            else:
                self._rare(time, rank, index, value)
            if marks is not None:
                marks.append((self.out.writer.position, at))
        offsets += [self._window_edge(time) for time in edges[len(offsets) :]]
        layout = self.tokens["EVENT"]
        self.out.put(self.out.now, layout, layout.pack(id=TRACE_FINISH_ID))
        self.out.finish()
        return Encoded(self.out.writer.to_bytes(), offsets[0], offsets[1], total), marks or []

    def _window_edge(self, time: int) -> int:
        """End a block exactly at `time`; returns the byte offset of the next one."""
        if time > self.out.now:
            layout = self.tokens["EVENT_SYNC"]
            self.out.put(time, layout, layout.prefix)
        self.out.pad()
        self.recent.forget()
        return self.out.writer.position // 2

    def _short_valu(self, time: int, slot: int) -> None:
        choices = self.recent.choices(slot)
        if time == self.out.now or not choices:
            layout = self.tokens["INST"]
            self.out.put(time, layout, layout.pack(slot=slot, op=VALU_SHORT.code))
        else:
            layout = self.tokens["VALU_INST"]
            delta = self.out.approach_between(time, max(choices))
            self.out.put(time, layout, layout.pack(choice=choices[delta]))
        self.recent.touch(slot)

    def _immediate(self, time: int, mask: int) -> None:
        is_single = mask & (mask - 1) == 0 and self.rng.random() < 0.8
        layout = self.tokens["IMM_ONE" if is_single else "IMMEDIATE"]
        self.out.put(time, layout, layout.pack(slot=mask.bit_length() - 1) if is_single else layout.pack(mask=mask))

    def _put(self, time: int, name: str, **fields: int) -> None:
        layout = self.tokens[name]
        self.out.put(time, layout, layout.pack(**fields))

    def _rare(self, time: int, rank: int, index: int, value: int) -> None:
        if rank == HAPPENING:
            self._happening(time, self.plan.happenings[index])
            return
        wave = self.plan.waves[index]
        place = {"sa": wave.cu >> 7, "wgp": wave.cu & 0x7F, "simd": wave.simd, "slot": wave.slot}
        if rank == START:
            start = {"me": wave.me, "pipe": wave.pipe, "count": wave.work_items}
            if self.plan.extended_starts:
                self._put(time, "WAVE_START_EXT", **place, **start, workgroup=wave.workgroup & 31)
                self.out.mark_extended_start()
            else:
                self._put(time, "WAVE_START", **place, **start)
        elif rank == END:
            self._put(time, "WAVE_END", **place)
        elif rank == NEW_PC:
            self._put(time, "NEW_PC", slot=wave.slot, pc=(wave.code_object.load_address + value) >> 2)
        elif rank == DATA:
            self._shader_data(time, place, value & ~IMMEDIATE_FORM, immediate=bool(value & IMMEDIATE_FORM))

    def _shader_data(self, time: int, place: dict[str, int], value: int, *, immediate: bool) -> None:
        self._put(time, "SHADER_DATA_SHORT" if immediate else "SHADER_DATA", **place, value=value)

    def _userdata(self, time: int, words: Iterable[int], me: int = 0, pipe: int = 0) -> None:
        for word in words:
            self._put(time, "REG", address=instrumentation.USERDATA2, data=word, me=me, pipe=pipe)

    def _timestamp(self, time: int, **fields: int) -> None:
        layout = self.tokens["TIMESTAMP"]
        self.out.put_untimed(time, layout, layout.pack(**fields))

    def _happening(self, time: int, what: plan.Happening) -> None:
        match what:
            case plan.AgentInfo():
                self._userdata(time, instrumentation.agent_info(what))
            case plan.CodeObjectChange():
                self._userdata(time, instrumentation.code_object_change(what), what.me, what.pipe)
            case plan.Dispatch(me=me, pipe=pipe):
                for address, data in instrumentation.compute_registers(what):
                    self._put(time, "REG", cs=1, address=address, data=data, me=me, pipe=pipe)
                self._put(time, "REG_INIT", me=me, pipe=pipe, type=rdna_tokens.REG_INIT_DISPATCH, data=1)
            case plan.Realtime(ticks=ticks):
                field = {"type": rdna_tokens.TIMESTAMP_REALTIME} if self.version < 3 else {"realtime": 1}
                self._timestamp(time, value=ticks, **field)
            case plan.ShaderData(cu=cu, simd=simd, slot=slot):
                place = {"sa": cu >> 7, "wgp": cu & 0x7F, "simd": simd, "slot": slot}
                self._shader_data(time, place, what.value, immediate=what.immediate)
            case plan.OtherSimd(category=category, duration_cycles=cycles):
                code, shortest, _ = OTHER_SIMD[self.version][category]
                self._put(time, "INST", op=code + cycles - shortest)
            case plan.Event(name=name) if name in MISC_EVENTS:
                self._put(time, "MISC", **{MISC_EVENTS[name]: 1})
            case plan.Event(name=name):
                bottom = int(what.bottom_of_pipe)
                self._put(time, "EVENT", id=EVENT_IDS[name], me=what.me, pipe=what.pipe, bop=bottom)
            case plan.ClusterMark(cluster=cluster, last=last):
                self._put(time, "MISC", cluster=cluster, **{"cluster_last" if last else "cluster_first": 1})
            case plan.PacketLoss():
                self._packet_loss(time)
            case plan.Noise(choice=choice):
                names = [name for name in _NOISE if name in self.tokens]
                self._put(time, names[choice % len(names)])
            case _:
                message = f"RDNA has no token for {type(what).__name__}"
                raise ValueError(message)

    def _packet_loss(self, time: int) -> None:
        """From version 3 on a token before or behind the TIMESTAMP carries the loss, so one stands on each side."""
        if self.version < 3:
            self._put(time, "MISC", packet_lost=1)
            return
        self._put(time, "WAVE_ALLOC")
        self._timestamp(time, lost=1)
        self._put(time, "WAVE_ALLOC")


def encode(engine: plan.EnginePlan, acts: list[Act]) -> Encoded:
    """The buffer of one shader engine; a full buffer ends behind its last whole token."""
    encoded, marks = _Encoder(engine).encode(acts)
    if engine.keep_share is None:
        return encoded
    size = kept_bytes(encoded, engine.keep_share)
    item_count = max((done for nibbles, done in marks if nibbles <= 2 * size), default=0)
    return _Encoder(engine).encode(acts[:item_count])[0]
