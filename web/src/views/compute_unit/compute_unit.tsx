// The waves of the traced compute units: every instruction on its slot, with the states of the waves.
import { type Signal, useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { useMemo, useRef } from "preact/hooks";
import { exact } from "../../base/format";
import { flipped } from "../../base/sets";
import { paintEventLines } from "../../draw/event_lines";
import type { Frame } from "../../draw/frame";
import type { Painter } from "../../draw/painter";
import { type ArrowEnd, endAt } from "../../draw/wait_arrows";
import { current, traceOverview } from "../../model/document";
import type { Execution } from "../../model/executions";
import { type Layer, type LayerSet, lateKinds, layersOf, type Span } from "../../model/layers";
import { useAnswer } from "../../model/loaded";
import { livesBySlot, slotKey, slotOf } from "../../model/slots";
import { stalledShares } from "../../model/stalled";
import type { View } from "../../model/view";
import { Answered } from "../../widgets/answered";
import { Chips } from "../../widgets/chips";
import { KindLegend } from "../../widgets/kind_legend";
import { SaveMenu } from "../../widgets/saving";
import { Timeline, TimelineHandle } from "../../widgets/timeline";
import { useChosen, usePreviewed } from "./chosen";
import { CHOICES, type ColourBy, colourBy, colourIn, colourSpansBy, type Layers, legendOf } from "./colours";
import { History, remembered } from "./history";
import { goTo, Linked } from "./linked";
import { paintMarks } from "./marks";
import { computeUnitRows } from "./rows";
import { labelOf, previewSpan, selectSpan, tooltipOf } from "./spans";

const ROW_HEIGHTS = { least: 6, most: 22 };

function ComputeUnit() {
  const answer = useAnswer(layersOf(current.value));
  return <Answered answer={answer}>{(set) => <Tracks set={set} />}</Answered>;
}

function Tracks({ set }: { set: LayerSet }) {
  const handle = useMemo(() => new TimelineHandle(), []);
  // Without traced instructions the states of the waves tell which slots there are.
  const instructions = set.layer("instructions") ?? set.layer("states");
  const engines = useMemo(() => enginesOf(instructions), [instructions]);
  const trackOf = useMemo(() => tracksBySlot(instructions), [instructions]);
  const chosen = useChosen(instructions, trackOf);
  const previewed = usePreviewed(trackOf);
  const hiddenEngines = useSignal<ReadonlySet<number>>(new Set());
  const history = useSignal<Execution[]>([]);
  const lit = useSignal<number | null>(null);
  const { layers, rows } = useRows(set, instructions, hiddenEngines);
  // Rows that are too thin show states.
  const by = handle.isThin.value && layers.states ? "state" : colourBy();
  const kindColour = (layer: Layer, kind: number) => colourIn({ by, layers, lit: lit.value }, layer, kind);
  const onSpan = async (span: Span | null, isByKey: boolean) => {
    const execution = span && (await selectSpan(span));
    // The history is of clicks: keys go through executions one by one.
    if (execution && !isByKey) history.value = remembered(history.value, execution);
  };
  /** The ends of the arrows as they were painted last: a click on one goes to its execution. */
  const arrowEnds = useRef<ArrowEnd[]>([]);
  const highlight = (painter: Painter, frame: Frame) => {
    const marked = { trackOf, chosen: chosen.value, previewed: previewed.value };
    arrowEnds.current = instructions ? paintMarks(painter, frame, { instructions, ...marked }) : [];
  };
  const onPlace = (x: number, y: number): boolean => {
    const step = endAt(arrowEnds.current, x, y);
    if (step && chosen.value) goTo(chosen.value.wave.wave, step);
    return step !== undefined;
  };
  return (
    <div class="view">
      <div class="toolbar of-timeline">
        <span class="wide-only">
          {exact(livesBySlot.value.size)} slots, {exact(traceOverview().wave_count)} waves
        </span>
        <EngineChips engines={engines} hidden={hiddenEngines} />
        <History list={history.value} />
        <Linked
          wave={chosen.value?.wave.wave ?? -1}
          links={chosen.value?.links ?? []}
          step={chosen.value?.step ?? null}
        />
        <Colours by={by} set={set} layers={layers} lit={lit} />
        <SaveMenu name="compute_unit" offers={handle.offers()} />
      </div>
      <Timeline
        label="Waves of the traced compute units"
        set={set}
        rows={rows.value}
        unit="cycles"
        clockMhz={traceOverview().clock_mhz}
        rowHeights={ROW_HEIGHTS}
        overviewLayer={set.layer("waves") ?? instructions}
        {...(instructions ? { countedLayer: instructions } : {})}
        countedAs="instructions"
        handle={handle}
        focus={chosen.value?.focus ?? null}
        reveal={chosen.value && instructions ? { layer: instructions, track: chosen.value.track } : null}
        overlay={(painter, frame) => paintEvents(painter, frame, set)}
        onHover={previewSpan}
        {...{ onSpan, onPlace, tooltipOf, labelOf, highlight, kindColour }}
      />
    </div>
  );
}

/** The rows, and the layers that their colours are about: shares of stall and names of stall classes come later. */
function useRows(set: LayerSet, instructions: Layer | undefined, hiddenEngines: Signal<ReadonlySet<number>>) {
  const stalls = set.layer("stalls");
  const shares = useAnswer(stalls ? stalledShares(current.value) : null);
  const names = useAnswer(colourBy() === "class" && stalls ? lateKinds(current.value, stalls.name) : null);
  const classes = useComputed(() => {
    const kinds = names.value;
    return stalls && kinds.state === "ready" ? { ...stalls, kinds: kinds.value } : undefined;
  });
  useSignalEffect(() => {
    const tiles = shares.value;
    return () => (tiles.state === "ready" ? tiles.value.close() : undefined);
  });
  const rows = useComputed(() => {
    const tiles = shares.value.state === "ready" ? shares.value.value : null;
    const look = { areStates: colourBy() === "state", shares: tiles, classes: classes.value ?? null };
    return computeUnitRows(set, livesBySlot.value, (se) => !hiddenEngines.value.has(se), look);
  });
  return { layers: { instructions, states: set.layer("states"), classes: classes.value }, rows };
}

/** Lines of the events through the tracks of their shader engine. */
function paintEvents(painter: Painter, frame: Frame, set: LayerSet): void {
  const events = set.layer("events");
  if (!events) return;
  const engine = (number: number) => `SE ${events.tracks.find(({ track }) => track === number)?.se}`;
  paintEventLines(painter, frame, { set, layer: events, groupOf: engine });
}

interface ColoursProps {
  /** What the colours on screen say: of thin tracks not what is chosen. */
  by: ColourBy;
  set: LayerSet;
  layers: Layers;
  lit: Signal<number | null>;
}

/** What colours say, and the legend, in which a click lights a kind up. */
function Colours({ by, set, layers, lit }: ColoursProps) {
  const chosen = colourBy();
  return (
    <>
      <ColourSelect
        by={chosen}
        isThere={{ kind: true, state: layers.states !== undefined, class: set.layer("stalls") !== undefined }}
        onChange={() => {
          lit.value = null;
        }}
      />
      {by === chosen ? null : (
        <span
          class="wide-only"
          title="Below 8 pixels tracks show the states of their waves: Alt + wheel, or +, makes them taller"
        >
          thin tracks: states
        </span>
      )}
      <KindLegend
        label={`Colours by ${CHOICES[by].name}`}
        entries={legendOf(by, layers)}
        chosen={lit.value ?? undefined}
        onKind={(kind) => {
          lit.value = kind === lit.value ? null : kind;
        }}
      />
    </>
  );
}

function EngineChips({ engines, hidden }: { engines: number[]; hidden: Signal<ReadonlySet<number>> }) {
  if (engines.length < 2) return null;
  return (
    <Chips
      label="Shader engines"
      choices={engines.map((se) => ({ value: se, name: `SE ${se}`, hint: `Show or hide shader engine ${se}` }))}
      isOn={(se) => !hidden.value.has(se)}
      onToggle={(se) => {
        hidden.value = flipped(hidden.value, se);
      }}
    />
  );
}

interface ColourProps {
  by: ColourBy;
  /** Which choices this trace has something for. */
  isThere: Record<ColourBy, boolean>;
  onChange: () => void;
}

function ColourSelect({ by, isThere, onChange }: ColourProps) {
  return (
    <label title={CHOICES[by].hint}>
      Colour
      <select
        data-colour-by
        value={by}
        onChange={(event) => {
          onChange();
          colourSpansBy(event.currentTarget.value as ColourBy);
        }}
      >
        {Object.entries(CHOICES).map(([value, { name, hint }]) => (
          <option key={value} value={value} title={hint} disabled={!isThere[value as ColourBy]}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

function enginesOf(layer: Layer | undefined): number[] {
  return [...new Set((layer?.tracks ?? []).map((track) => slotOf(track).se))].sort((a, b) => a - b);
}

function tracksBySlot(layer: Layer | undefined): Map<string, number> {
  return new Map((layer?.tracks ?? []).map((track) => [slotKey(slotOf(track)), track.track]));
}

export const computeUnit: View = {
  id: "compute_unit",
  title: "Compute unit",
  hint: "The traced waves on their SIMDs and slots: every instruction, its stall, and the states of the waves",
  about: "trace",
  missing: (overview) => (overview.kind === "trace" && overview.wave_count ? "" : "no wave ran on the traced CU"),
  component: ComputeUnit,
};
