// The waves of the traced compute units: every instruction on its slot, with the states of the waves.
import { type Signal, useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { useMemo } from "preact/hooks";
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
import { CHOICES, type ColourBy, colourBy, colourIn, colourSpansBy, legendOf } from "./colours";
import { History, remembered } from "./history";
import { goTo, Linked } from "./linked";
import { paintMarks } from "./marks";
import { computeUnitRows } from "./rows";
import { labelOf, previewSpan, selectSpan, tooltipOf } from "./spans";

const COMFORTABLE = { least: 6, most: 22 };

function ComputeUnit() {
  const answer = useAnswer(layersOf(current.value));
  return <Answered answer={answer}>{(set) => <Tracks set={set} />}</Answered>;
}

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

  const onSpan = async (span: Span | null, isByKey: boolean) => {
    const execution = span && (await selectSpan(span));
    if (execution && !isByKey) history.value = remembered(history.value, execution);
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
    const marked = { trackOf, chosen: chosen.value, previewed: previewed.value };
    ends.list = instructions ? paintMarks(painter, frame, { instructions, ...marked }) : [];
  };
  return (
    <div class="view">
      <div class="toolbar of-timeline">
        <span class="wide-only">
          {exact(lives.size)} slots, {exact(facts.wave_count)} waves
        </span>
        {engines.length > 1 ? <EngineChips engines={engines} hidden={hidden} /> : null}
        <History list={history.value} />
        <Linked wave={chosen.value?.wave.wave ?? -1} links={chosen.value?.links ?? []} at={chosen.value?.at ?? null} />
        <ColourSelect
          by={by}
          isThere={{ kind: true, state: layers.states !== undefined, class: stalls !== undefined }}
          onChange={() => {
            lit.value = null;
          }}
        />
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
        {...{ onSpan, onPlace, tooltipOf, labelOf, overlay, highlight, kindColour }}
        onHover={previewSpan}
      />
    </div>
  );
}

function EngineChips({ engines, hidden }: { engines: number[]; hidden: Signal<ReadonlySet<number>> }) {
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
