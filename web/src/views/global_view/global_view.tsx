// All waves of all compute units of the traced shader engines, by kernel.
import { type Signal, useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { exact } from "../../base/format";
import { flipped } from "../../base/sets";
import { paintEventLines } from "../../draw/event_lines";
import type { Frame } from "../../draw/frame";
import { outline } from "../../draw/measure";
import type { Painter } from "../../draw/painter";
import { colourOf, paper, seriesColour } from "../../draw/palette";
import { kindName } from "../../draw/timeline_spans";
import type { Strip, TimelineRow } from "../../draw/track_layout";
import { current, traceOverview } from "../../model/document";
import { kindOf, type Layer, type LayerSet, lateKinds, type Span, type Track } from "../../model/layers";
import { useAnswer } from "../../model/loaded";
import { preview, select, selection } from "../../model/selection";
import { change, settings } from "../../model/settings";
import { slotKey, slotOf, waveAt, waveNumbered } from "../../model/slots";
import { soughtTrack } from "../../model/sought_unit";
import type { View } from "../../model/view";
import { selectWave, type Wave } from "../../model/waves";
import { Chips } from "../../widgets/chips";
import { entriesOf, KindLegend } from "../../widgets/kind_legend";
import { OfLayer } from "../../widgets/of_layer";
import { SaveMenu } from "../../widgets/saving";
import { factsOf } from "../../widgets/span_facts";
import { Timeline, TimelineHandle } from "../../widgets/timeline";
import { groupOf, groupsAmong } from "./events";

/** Pixels of a row: thin ones, for a GPU has thousands of slots. */
const ROW_HEIGHTS = { least: 2, most: 12 };

function GlobalView() {
  return (
    <OfLayer name="waves" nothing="Nothing to show: no wave start is recorded.">
      {(set, layer) => <Tracks set={set} layer={layer} />}
    </OfLayer>
  );
}

/**
 * One row per slot, under its shader engine, compute unit and SIMD. Events of an engine stand above its first slot,
 * markers of a slot above the slot.
 */
function globalRows(set: LayerSet, layer: Layer, gfxip: number): TimelineRow[] {
  const events = set.layer("events");
  const markers = markerStrips(set.layer("markers"));
  const rows: TimelineRow[] = [];
  let lastEngine: number | null = null; // tracks are in the order of engines
  for (const track of layer.tracks) {
    const place = slotOf(track);
    const path = [`SE ${place.se}`, unitName(place.cu, gfxip), `${place.simd}`];
    const ofEngine = place.se === lastEngine ? undefined : events?.tracks.find((event) => event.se === place.se);
    lastEngine = place.se;
    if (events && ofEngine) {
      const strips = [{ layer: events, track: ofEngine.track }];
      rows.push({ key: `events/${place.se}`, label: "", path: [`SE ${place.se}`, "events"], strips });
    }
    const marks = markers.get(slotKey(place));
    if (marks) rows.push({ key: `markers/${track.track}`, label: `${place.slot} marks`, path, strips: marks });
    rows.push({ key: `${track.track}`, label: `${place.slot}`, path, strips: [{ layer, track: track.track }] });
  }
  return rows;
}

/** Strips of the markers by slot, one for each depth. */
function markerStrips(markers: Layer | undefined): Map<string, Strip[]> {
  const strips = new Map<string, Strip[]>();
  if (!markers) return strips;
  for (const track of markers.tracks) {
    const key = slotKey(slotOf(track));
    strips.set(key, [...(strips.get(key) ?? []), { layer: markers, track: track.track }]);
  }
  return strips;
}

/** Up to gfx9 a CU; later a WGP, of whose byte bit 7 is the shader array. */
const unitName = (cu: number, gfxip: number) => (gfxip <= 9 ? `CU ${cu}` : `SA ${cu >> 7} WGP ${cu & 127}`);

/** What colours the waves -> the layer whose kinds say so. */
const COLOURS = {
  kernel: "waves",
  workgroup: "waves_by_workgroup",
  dispatch: "waves_by_dispatch",
  duration: "waves_by_duration",
};
type ColourBy = keyof typeof COLOURS;
const SETTING = "global_view_colour";

function colourBy(set: LayerSet): ColourBy {
  const chosen = settings.value[SETTING];
  const isThere =
    typeof chosen === "string" && Object.hasOwn(COLOURS, chosen) && set.layer(COLOURS[chosen as ColourBy]);
  return isThere ? (chosen as ColourBy) : "kernel";
}

/** The layer that colours the waves, with its kinds: the names of some come late. */
function useWaves(set: LayerSet, kernels: Layer, by: ColourBy): Layer {
  const plain = set.layer(COLOURS[by]) ?? kernels;
  const named = useAnswer(plain.has_late_kinds ? lateKinds(current.value, plain.name) : null);
  const kinds = named.value.state === "ready" ? named.value.value : null;
  return useMemo(() => (kinds && plain.has_late_kinds ? { ...plain, kinds } : plain), [plain, kinds]);
}

function Tracks({ set, layer: kernels }: { set: LayerSet; layer: Layer }) {
  const by = colourBy(set);
  const layer = useWaves(set, kernels, by);
  const { gfxip, clock_mhz: clockMhz } = traceOverview();
  /** The kind that the legend lights up where colours are not kernels: a kernel is selected in all views instead. */
  const lit = useSignal<number | null>(null);
  const chosenKind = by === "kernel" ? selection.value.kernel : (lit.value ?? undefined);
  const groups = useMemo(() => groupsAmong(set.layer("events")?.kinds ?? []), [set]);
  const hidden = useSignal<ReadonlySet<string>>(
    new Set(groups.filter((group) => !group.isOnAtFirst).map(({ name }) => name)),
  );
  const handle = useMemo(() => new TimelineHandle(), []);
  const rows = useMemo(() => globalRows(set, layer, gfxip), [set, layer, gfxip]);
  const trackOf = useMemo(() => new Map(layer.tracks.map((track) => [slotKey(slotOf(track)), track.track])), [layer]);
  const kindColour = (of: Layer, kind: number) => {
    if (of !== layer) return undefined;
    if (chosenKind !== undefined && chosenKind !== kind) return colourOf("UNFINISHED");
    return kindOf(layer, kind)?.colour ? undefined : seriesColour(kind);
  };
  const chooseKind = (kind: number) => {
    const next = kind === chosenKind ? undefined : kind;
    if (by === "kernel") select({ kernel: next });
    else lit.value = next ?? null;
  };
  const chosen = waveNumbered(selection.value.wave);
  const track = soughtTrack(layer) ?? (chosen ? trackOf.get(slotKey(chosen)) : undefined);
  return (
    <div class="view">
      <div class="toolbar of-timeline">
        <span class="wide-only">{exact(layer.track_count)} slots</span>
        {groups.length ? <EventChips groups={groups} hidden={hidden} /> : null}
        <ColourSelect
          set={set}
          by={by}
          onChange={() => {
            lit.value = null;
          }}
        />
        <KindLegend label={`Waves by ${by}`} entries={entriesOf(layer)} chosen={chosenKind} onKind={chooseKind} />
        <SaveMenu name="global_view" offers={handle.offers()} />
      </div>
      <Timeline
        label="Waves of all compute units"
        set={set}
        rows={rows}
        hasEdges
        unit="cycles"
        clockMhz={clockMhz}
        rowHeights={ROW_HEIGHTS}
        overviewLayer={layer}
        countedAs="waves"
        handle={handle}
        reveal={track === undefined ? null : { layer, track }}
        onSpan={(span) => {
          if (span?.layer === layer) selectWaveOf(span, by);
        }}
        onHover={previewWaveOf}
        tooltipOf={(span) => waveFacts(span, layer)}
        overlay={(painter, frame) => paintEvents(painter, frame, set, hidden.value)}
        highlight={(painter, frame) => paintWaves(painter, frame, layer, trackOf)}
        kindColour={kindColour}
      />
    </div>
  );
}

/** Selects the traced wave of a span; of a span that is no traced wave the kernel, where that is its kind. */
function selectWaveOf(span: Span, by: ColourBy): void {
  const wave = tracedWave(span);
  if (wave) selectWave(wave.wave);
  else if (by === "kernel" && traceOverview().kernels.some(({ kernel }) => kernel === span.kind)) {
    select({ kernel: span.kind });
  }
}

function previewWaveOf(span: Span | null): void {
  const wave = span?.count === 1 ? tracedWave(span) : undefined;
  preview.value = wave ? { wave: wave.wave } : {};
}

/** Lines of the tooltip of a span; `layer` has the waves. */
async function waveFacts(span: Span, layer: Layer): Promise<string[]> {
  const traced = span.layer === layer ? tracedWave(span) : undefined;
  const hint = traced ? [`traced wave ${traced.wave}: click selects it`] : [];
  return [...hint, ...(await factsOf(span).catch(() => []))];
}

/** Lines of the events whose group is not hidden, through the tracks of their shader engine. */
function paintEvents(painter: Painter, frame: Frame, set: LayerSet, hidden: ReadonlySet<string>): void {
  const events = set.layer("events");
  if (!events) return;
  const isShown = (span: Span) => !hidden.has(groupOf(kindName(events, span.kind)).name);
  const engine = (number: number) => `SE ${events.tracks.find(({ track }) => track === number)?.se}`;
  paintEventLines(painter, frame, { set, layer: events, isShown, groupOf: engine });
}

/** Outlines the selected wave, and the one that the pointer is over in another view. */
function paintWaves(painter: Painter, frame: Frame, layer: Layer, trackOf: Map<string, number>): void {
  const mark = (wave: Wave | undefined, colour: string, width: number) => {
    const track = wave ? trackOf.get(slotKey(wave)) : undefined;
    const place = track === undefined ? null : frame.trackToY(layer, track);
    if (wave && place) outline(painter, frame, { place, range: wave, colour, width });
  };
  mark(waveNumbered(selection.value.wave), paper("text"), 2);
  if (preview.value.wave !== selection.value.wave) mark(waveNumbered(preview.value.wave), paper("accent"), 1);
}

interface EventChipsProps {
  groups: { name: string; hint: string }[];
  hidden: Signal<ReadonlySet<string>>;
}

function EventChips({ groups, hidden }: EventChipsProps) {
  return (
    <Chips
      label="Events"
      choices={groups.map(({ name, hint }) => ({ value: name, name, hint: `${hint}: lines through their engine` }))}
      isOn={(name) => !hidden.value.has(name)}
      onToggle={(name) => {
        hidden.value = flipped(hidden.value, name);
      }}
    />
  );
}

function ColourSelect({ set, by, onChange }: { set: LayerSet; by: ColourBy; onChange: () => void }) {
  return (
    <label title="What the colours of waves say">
      Colour
      <select
        data-colour-by
        value={by}
        onChange={(event) => {
          onChange();
          change({ [SETTING]: event.currentTarget.value });
        }}
      >
        {Object.entries(COLOURS).map(([value, name]) => (
          <option key={value} value={value} disabled={!set.layer(name)}>
            {value}
          </option>
        ))}
      </select>
    </label>
  );
}

/** The traced wave that a span of the occupancy stands for: the one in the same slot that begins with it. */
function tracedWave(span: Span): Wave | undefined {
  if (span.count > 1) return undefined;
  const track = span.layer.tracks[span.track] as Track | undefined;
  const wave = track ? waveAt(slotOf(track), (span.begin + span.end) / 2) : undefined;
  return wave && wave.begin < span.end && wave.end > span.begin ? wave : undefined;
}

export const globalView: View = {
  id: "global_view",
  title: "Global view",
  hint: "All waves of all compute units of the traced shader engines, coloured by kernel",
  about: "trace",
  missing: (overview) =>
    overview.kind === "trace" && overview.holds.occupancy ? "" : "no starts and ends of waves are recorded",
  component: GlobalView,
};
