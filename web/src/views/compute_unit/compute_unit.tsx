// The waves of the traced compute units: every instruction on its slot, with the states of the waves.
import { type ReadonlySignal, useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { exact } from "../../base/format";
import { paintEventLines } from "../../draw/event_lines";
import type { Frame } from "../../draw/frame";
import { outline } from "../../draw/measure";
import type { Painter } from "../../draw/painter";
import { colourOf, paper, seriesColour } from "../../draw/palette";
import { kindName } from "../../draw/timeline_spans";
import { type ArrowEnd, endAt, paintWaitArrows } from "../../draw/wait_arrows";
import { annotations, colourNumber, waveOf } from "../../model/annotations";
import { codeNow, rowsOf, selectRow, textOf } from "../../model/code";
import { current, traceOverview } from "../../model/document";
import { type Execution, executionOf, rowNow } from "../../model/executions";
import { type Layer, type LayerSet, lateKinds, layersOf, type Span, type Track } from "../../model/layers";
import { useAnswer } from "../../model/loaded";
import { type Link, linksOf, type Step, stepAt } from "../../model/producers";
import { preview, type Range, type SourceLine, selection } from "../../model/selection";
import { livesBySlot, slotKey, slotOf, waveAt, waveNumbered } from "../../model/slots";
import { stalledShares } from "../../model/stalled";
import type { View } from "../../model/view";
import { loadWave, positionsOf, type WaveData } from "../../model/wave_data";
import { selectWave, targetWave, type Wave } from "../../model/waves";
import { Answered } from "../../widgets/answered";
import { Chips } from "../../widgets/chips";
import { KindLegend } from "../../widgets/kind_legend";
import { SaveMenu } from "../../widgets/saving";
import { factsOf } from "../../widgets/span_facts";
import { Timeline, TimelineHandle } from "../../widgets/timeline";
import { CHOICES, type ColourBy, colourBy, colourIn, colourSpansBy, legendOf } from "./colours";
import { History, remembered } from "./history";
import { goTo, Linked, linkLines } from "./linked";
import { computeUnitRows } from "./rows";

const COMFORTABLE = { least: 6, most: 22 };

function ComputeUnit() {
  const answer = useAnswer(layersOf(current.value));
  return <Answered answer={answer}>{(set) => <Tracks set={set} />}</Answered>;
}

/** The executions of the selected row in the selected wave, and the one that is selected. */
interface Chosen {
  wave: Wave;
  track: number;
  executions: Range[];
  focus: Span | null;
  at: Step | null;
  /** What it waited for, or what waited for it. */
  links: Link[];
}

const NOTHING = { executions: [], focus: null, at: null, links: [] };

function Tracks({ set }: { set: LayerSet }) {
  const facts = traceOverview();
  const instructions = set.layer("instructions") ?? set.layer("states");
  const engines = useMemo(() => enginesOf(instructions), [instructions]);
  const hidden = useSignal<ReadonlySet<number>>(new Set());
  const history = useSignal<Execution[]>([]);
  const handle = useMemo(() => new TimelineHandle(), []);
  const lives = livesBySlot.value;
  const lit = useSignal<number | null>(null);
  const by = colourBy();
  const stalls = set.layer("stalls");
  const shares = useAnswer(stalls ? stalledShares(current.value) : null);
  const named = useAnswer(by === "class" && stalls ? lateKinds(current.value, stalls.name) : null);
  const classes = useComputed(() => {
    const answer = named.value;
    return stalls && answer.state === "ready" ? { ...stalls, kinds: answer.value } : undefined;
  });
  const layers = { instructions, states: set.layer("states"), classes: classes.value };
  const rows = useComputed(() => {
    const tiles = shares.value.state === "ready" ? shares.value.value : null;
    const look = { areStates: colourBy() === "state", shares: tiles, classes: classes.value ?? null };
    return computeUnitRows(set, livesBySlot.value, (se) => !hidden.value.has(se), look);
  });
  const trackOf = useMemo(() => tracksBySlot(instructions), [instructions]);
  const chosen = useChosen(instructions, trackOf);
  const previewed = usePreviewed(trackOf);
  useSignalEffect(() => {
    const tiles = shares.value;
    return () => (tiles.state === "ready" ? tiles.value.close() : undefined);
  });

  const onSpan = (span: Span | null, isByKey: boolean) => {
    if (!span) return;
    const wave = waveAt(slotOf(trackAt(span)), span.begin);
    const isState = span.layer.name === "states" && wave !== undefined;
    if (!isState && (span.layer.name !== "instructions" || span.item < 0)) {
      if (wave) selectWave(wave.wave);
      return;
    }
    // A state stands for the instruction with which it starts.
    const execution = isState
      ? loadWave(wave.wave).then((data) => executionOf(wave.firstInstruction + positionAt(data, span.begin)))
      : executionOf(span.item);
    execution.then(
      (execution) => {
        if (!execution) return;
        selectRow(execution.row, { wave: execution.wave.wave, iteration: execution.iteration });
        if (!isByKey) history.value = remembered(history.value, execution);
      },
      () => {
        if (wave) selectWave(wave.wave);
      },
    );
  };
  const onHover = (span: Span | null) => {
    const wave = span ? waveAt(slotOf(trackAt(span)), span.begin) : undefined;
    preview.value = wave ? { wave: wave.wave } : {};
  };
  const tooltipOf = async (span: Span): Promise<string[]> => {
    if (span.layer.name !== "instructions") return factsOf(span);
    const execution = await executionOf(span.item);
    if (!execution) return [];
    const { wave, row, iteration, stall, duration, position } = execution;
    // The pointer may have gone on while the wave came.
    if (preview.peek().wave === wave.wave) preview.value = { wave: wave.wave, row, iteration };
    const at = stepAt(await loadWave(wave.wave), position);
    const links = await linksOf(wave.wave, position).catch(() => []);
    return [
      textOf(row),
      `row ${row} · execution ${exact(iteration + 1)} · wave ${wave.wave}`,
      `stall ${exact(stall)} · duration ${exact(duration)} cycles`,
      ...linkLines(links, at),
    ];
  };
  const labelOf = (span: Span): string => {
    if (span.layer.name !== "instructions" || span.item < 0) return kindName(span.layer, span.kind);
    const row = rowNow(span.item);
    return (row === undefined ? undefined : codeNow()?.mnemonic[row]) ?? kindName(span.layer, span.kind);
  };
  const events = set.layer("events");
  const overlay = (painter: Painter, frame: Frame) => {
    if (events) {
      const engine = (track: number) => `SE ${events.tracks.find((l) => l.track === track)?.se}`;
      paintEventLines(painter, frame, set, events, () => true, engine, {});
    }
  };
  // Rows that are too thin show states.
  const drawn = handle.isThin.value && layers.states ? "state" : by;
  const kindColour = (layer: Layer, kind: number) => colourIn(drawn, layers, lit.value, layer, kind);
  const ends = useMemo((): { list: ArrowEnd[] } => ({ list: [] }), []);
  const onPlace = (x: number, y: number): boolean => {
    const step = endAt(ends.list, x, y);
    if (step && chosen.value) goTo(chosen.value.wave.wave, step);
    return step !== undefined;
  };
  const highlight = (painter: Painter, frame: Frame) => {
    const mark = (executions: Range[], y: number, colour: string) => {
      let last = Number.NEGATIVE_INFINITY;
      for (const execution of executions) {
        if (execution.end < frame.window.begin || execution.begin > frame.window.end) continue;
        const x = frame.timeToX(execution.begin);
        // Far out, many of them share a pixel.
        if (x - last < 1) continue;
        last = x;
        outline(painter, frame, { y, height: 3 }, execution, colour, 1);
      }
    };
    for (const each of annotations.value) {
      const wave = waveOf(each);
      const on = wave && instructions ? trackOf.get(slotKey(wave)) : undefined;
      const box = on === undefined || !instructions ? null : frame.trackToY(instructions, on);
      if (box && each.range) outline(painter, frame, box, each.range, seriesColour(colourNumber(each)), 2);
    }
    const now = chosen.value;
    const place = now && instructions ? frame.trackToY(instructions, now.track) : null;
    if (now && place) {
      outline(painter, frame, place, now.wave, paper("accent"));
      mark(now.executions, place.y + place.height - 3, paper("text"));
    }
    const isLinked = now?.at && place && now.links.length;
    ends.list = isLinked ? paintWaitArrows(painter, frame, place, now.links, now.at as Step, colourOf("arrow")) : [];
    const pointed = previewed.value;
    const pointedAt = pointed && instructions ? frame.trackToY(instructions, pointed.track) : null;
    if (pointed && pointedAt) mark(pointed.executions, pointedAt.y + 1, paper("accent"));
    const other = waveNumbered(preview.value.wave);
    const track = other ? trackOf.get(slotKey(other)) : undefined;
    const seen = track !== undefined && instructions ? frame.trackToY(instructions, track) : null;
    if (other && seen && other !== now?.wave) outline(painter, frame, seen, other, `${paper("accent")}80`, 1);
  };
  return (
    <div class="view">
      <div class="toolbar of-timeline">
        <span class="wide-only">
          {exact(lives.size)} slots, {exact(facts.wave_count)} waves
        </span>
        {engines.length > 1 ? (
          <Chips
            label="Shader engines"
            choices={engines.map((se) => ({ value: se, name: `SE ${se}`, hint: `Show or hide shader engine ${se}` }))}
            isOn={(se) => !hidden.value.has(se)}
            onToggle={(se) => {
              const next = new Set(hidden.value);
              if (!next.delete(se)) next.add(se);
              hidden.value = next;
            }}
          />
        ) : null}
        <History list={history.value} />
        <Linked wave={chosen.value?.wave.wave ?? -1} links={chosen.value?.links ?? []} at={chosen.value?.at ?? null} />
        <label title={CHOICES[by].hint}>
          Colour
          <select
            data-colour-by
            value={by}
            onChange={(event) => {
              lit.value = null;
              colourSpansBy(event.currentTarget.value as ColourBy);
            }}
          >
            {Object.entries(CHOICES).map(([value, { name, hint }]) => (
              <option
                key={value}
                value={value}
                title={hint}
                disabled={!{ kind: true, state: layers.states, class: stalls }[value]}
              >
                {name}
              </option>
            ))}
          </select>
        </label>
        {drawn === by ? null : (
          <span
            class="wide-only"
            title="Below 8 pixels tracks show the states of their waves: Alt + wheel, or +, makes them taller"
          >
            thin tracks: states
          </span>
        )}
        <KindLegend
          label={`Colours by ${CHOICES[drawn].name}`}
          entries={legendOf(drawn, layers)}
          chosen={lit.value ?? undefined}
          onKind={(kind) => {
            lit.value = kind === lit.value ? null : kind;
          }}
        />
        <SaveMenu name="compute_unit" offers={handle.offers()} />
      </div>
      <Timeline
        label="Waves of the traced compute units"
        set={set}
        rows={rows.value}
        unit="cycles"
        clockMhz={facts.clock_mhz}
        rowHeights={COMFORTABLE}
        overviewLayer={set.layer("waves") ?? instructions}
        {...(instructions ? { countedLayer: instructions } : {})}
        countedAs="instructions"
        handle={handle}
        focus={chosen.value?.focus ?? null}
        reveal={chosen.value && instructions ? { layer: instructions, track: chosen.value.track } : null}
        {...{ onSpan, onHover, onPlace, tooltipOf, labelOf, overlay, highlight, kindColour }}
      />
    </div>
  );
}

/** What is selected, with its executions in the target wave. */
function useChosen(instructions: Layer | undefined, trackOf: Map<string, number>): ReadonlySignal<Chosen | null> {
  const chosen = useSignal<Chosen | null>(null);
  useSignalEffect(() => {
    const { wave: number, row, iteration } = selection.value;
    // What is said about a row is said about the target wave.
    const wave = waveNumbered(number) ?? (row === undefined ? undefined : targetWave());
    const track = wave ? trackOf.get(slotKey(wave)) : undefined;
    if (!wave || track === undefined || !instructions) {
      chosen.value = null;
      return;
    }
    let isStale = false;
    chosen.value = { wave, track, ...NOTHING };
    if (row !== undefined) {
      loadWave(wave.wave).then(
        (data) => {
          if (isStale) return;
          const positions = positionsOf(data, row);
          const executions = positions.map((position) => stretchOf(data, position));
          const position = positions[iteration ?? -1];
          const focus = focusOf(instructions, track, wave, data, position);
          const at = position === undefined ? null : stepAt(data, position);
          chosen.value = { wave, track, executions, focus, at, links: [] };
          if (!at) return;
          void linksOf(wave.wave, at.position)
            .catch(() => []) // not in an exported page: no arrows
            .then((links) => {
              if (!isStale && links.length) chosen.value = { wave, track, executions, focus, at, links };
            });
        },
        () => {},
      );
    }
    return () => {
      isStale = true;
    };
  });
  return chosen;
}

/** The executions of what the pointer is over in another view, a row or a source line, in the target wave. */
function usePreviewed(trackOf: Map<string, number>): ReadonlySignal<{ track: number; executions: Range[] } | null> {
  const previewed = useSignal<{ track: number; executions: Range[] } | null>(null);
  useSignalEffect(() => {
    const { row, lastRow, sourceLine, wave: number } = preview.value;
    const wave = waveNumbered(number) ?? targetWave();
    const track = wave ? trackOf.get(slotKey(wave)) : undefined;
    const isPointedAt = rowTest(row, lastRow, sourceLine);
    if (!isPointedAt || !wave || track === undefined) {
      previewed.value = null;
      return;
    }
    let isStale = false;
    loadWave(wave.wave).then(
      (data) => {
        if (!isStale) previewed.value = { track, executions: stretchesWhere(data, isPointedAt) };
      },
      () => {},
    );
    return () => {
      isStale = true;
    };
  });
  return previewed;
}

function trackAt(span: Span): Track {
  return span.layer.tracks[span.track] ?? { track: span.track, label: "" };
}

function enginesOf(layer: Layer | undefined): number[] {
  return [...new Set((layer?.tracks ?? []).map((track) => slotOf(track).se))].sort((a, b) => a - b);
}

function tracksBySlot(layer: Layer | undefined): Map<string, number> {
  return new Map((layer?.tracks ?? []).map((track) => [slotKey(slotOf(track)), track.track]));
}

/** Whether a row is one that the pointer is over in another view; null = it is over none. */
function rowTest(
  row: number | undefined,
  lastRow: number | undefined,
  sourceLine: SourceLine | undefined,
): ((row: number) => boolean) | null {
  if (row !== undefined) return (tested) => tested >= row && tested <= (lastRow ?? row);
  if (!sourceLine) return null;
  const rows = new Set(rowsOf(sourceLine).inlined);
  return (tested) => rows.has(tested);
}

function stretchesWhere(data: WaveData, test: (row: number) => boolean): Range[] {
  const ranges: Range[] = [];
  for (let i = 0; i < data.count; i++) if (test(data.row[i] as number)) ranges.push(stretchOf(data, i));
  return ranges;
}

function stretchOf(data: WaveData, position: number): Range {
  const begin = data.time[position] as number;
  return { begin, end: begin + Math.max(data.stall[position] as number, data.duration[position] as number) };
}

/** The last instruction of a wave that was there at a time. */
function positionAt(data: WaveData, time: number): number {
  let position = 0;
  while (position + 1 < data.count && (data.time[position + 1] as number) <= time) position++;
  return position;
}

function focusOf(layer: Layer, track: number, wave: Wave, data: WaveData, position: number | undefined): Span | null {
  if (position === undefined) return null;
  const item = wave.firstInstruction + position;
  return { layer, track, ...stretchOf(data, position), kind: 0, count: 1, item, depth: 0, level: 0 };
}

export const computeUnit: View = {
  id: "compute_unit",
  title: "Compute unit",
  hint: "The traced waves on their SIMDs and slots: every instruction, its stall, and the states of the waves",
  about: "trace",
  missing: (overview) => (overview.kind === "trace" && overview.wave_count ? "" : "no wave ran on the traced CU"),
  component: ComputeUnit,
};
