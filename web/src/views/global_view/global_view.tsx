// All waves of all compute units of the traced shader engines, by kernel.
import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { exact } from "../../base/format";
import { paintEventLines } from "../../draw/event_lines";
import type { Frame } from "../../draw/frame";
import type { TimelineRow } from "../../draw/lanes";
import { outline } from "../../draw/measure";
import type { Painter } from "../../draw/painter";
import { colourOf, paper, seriesColour } from "../../draw/palette";
import { kindName } from "../../draw/timeline_spans";
import { current, traceOverview } from "../../model/document";
import { useAnswer } from "../../model/loaded";
import { preview, select, selection } from "../../model/selection";
import { change, settings } from "../../model/settings";
import { slotKey, slotOf, waveAt, waveNumbered } from "../../model/slots";
import { soughtLane } from "../../model/sought_unit";
import { kindOf, type Lane, lateKinds, type Span, type Track, type TrackSet } from "../../model/tracks";
import type { View } from "../../model/view";
import { selectWave, type Wave } from "../../model/waves";
import { Chips } from "../../widgets/chips";
import { entriesOf, KindLegend } from "../../widgets/kind_legend";
import { OfTrack } from "../../widgets/of_track";
import { SaveMenu } from "../../widgets/saving";
import { factsOf } from "../../widgets/span_facts";
import { Timeline, TimelineHandle } from "../../widgets/timeline";
import { groupOf, groupsAmong } from "./events";

const THIN = { least: 2, most: 12 };

function GlobalView() {
  return (
    <OfTrack name="waves" nothing="Nothing to show: no wave start is recorded.">
      {(set, track) => <Lanes set={set} track={track} />}
    </OfTrack>
  );
}

/** One row per slot, under its shader engine, compute unit and SIMD; events of an engine and
 * markers of a slot stand above them. */
function globalRows(set: TrackSet, track: Track, gfxip: number): TimelineRow[] {
  const [events, markers] = [set.track("events"), set.track("markers")];
  const marked = new Map<string, TimelineRow["strips"]>();
  for (const lane of markers?.lanes ?? []) {
    const key = slotKey(slotOf(lane));
    marked.set(key, [...(marked.get(key) ?? []), { track: markers as Track, lane: lane.lane }]);
  }
  const unit = (cu: number) => (gfxip <= 9 ? `CU ${cu}` : `SA ${cu >> 7} WGP ${cu & 127}`);
  const rows: TimelineRow[] = [];
  let last = -1;
  for (const lane of track.lanes) {
    const { se, cu, simd, slot } = slotOf(lane);
    const own = se === last ? undefined : events?.lanes.find((event) => event.se === se);
    if (events && own) {
      const strips = [{ track: events, lane: own.lane }];
      rows.push({ key: `events/${se}`, label: "", path: [`SE ${se}`, "events"], strips });
    }
    last = se;
    const path = [`SE ${se}`, unit(cu), `${simd}`];
    const strips = marked.get(slotKey({ se, cu, simd, slot }));
    if (strips) rows.push({ key: `markers/${lane.lane}`, label: `${slot} marks`, path, strips });
    rows.push({ key: `${lane.lane}`, label: `${slot}`, path, strips: [{ track, lane: lane.lane }] });
  }
  return rows;
}

/** What colours the waves: their kernel, or what the tracks beside it tell. */
const COLOURS = {
  kernel: "waves",
  workgroup: "waves_by_workgroup",
  dispatch: "waves_by_dispatch",
  duration: "waves_by_duration",
};
type ColourBy = keyof typeof COLOURS;
const SETTING = "global_view_colour";

function colourBy(set: TrackSet): ColourBy {
  const chosen = settings.value[SETTING];
  const isThere =
    typeof chosen === "string" && Object.hasOwn(COLOURS, chosen) && set.track(COLOURS[chosen as ColourBy]);
  return isThere ? (chosen as ColourBy) : "kernel";
}

function Lanes({ set, track: kernels }: { set: TrackSet; track: Track }) {
  const by = colourBy(set);
  const plain = set.track(COLOURS[by]) ?? kernels;
  const named = useAnswer(plain.has_late_kinds ? lateKinds(current.value, plain.name) : null);
  const kinds = named.value.state === "ready" ? named.value.value : null;
  const track = useMemo(() => (kinds && plain.has_late_kinds ? { ...plain, kinds } : plain), [plain, kinds]);
  const lit = useSignal<number | null>(null);
  const facts = traceOverview();
  const events = set.track("events");
  const groups = useMemo(() => groupsAmong(events?.kinds ?? []), [events]);
  const hidden = useSignal<ReadonlySet<string>>(new Set(groups.filter((g) => !g.isOnAtFirst).map((g) => g.name)));
  const handle = useMemo(() => new TimelineHandle(), []);
  const rows = useMemo(() => globalRows(set, track, facts.gfxip), [set, track, facts.gfxip]);
  const laneOf = useMemo(() => new Map(track.lanes.map((lane) => [slotKey(slotOf(lane)), lane.lane])), [track]);
  const chosenKind = by === "kernel" ? selection.value.kernel : (lit.value ?? undefined);

  const kindColour = (of: Track, kind: number) => {
    if (of !== track) return undefined;
    const chosen = by === "kernel" ? selection.value.kernel : (lit.value ?? undefined);
    if (chosen !== undefined && chosen !== kind) return colourOf("UNFINISHED");
    return kindOf(track, kind)?.colour ? undefined : seriesColour(kind);
  };
  const onSpan = (span: Span | null) => {
    if (span?.track !== track) return;
    const wave = tracedWave(span);
    const isKernel = by === "kernel" && facts.kernels.some((k) => k.kernel === span.kind);
    if (wave) selectWave(wave.wave);
    else if (isKernel) select({ kernel: span.kind });
  };
  const onHover = (span: Span | null) => {
    const wave = span?.count === 1 ? tracedWave(span) : undefined;
    preview.value = wave ? { wave: wave.wave } : {};
  };
  const tooltipOf = async (span: Span): Promise<string[]> => {
    const traced = span.track === track ? tracedWave(span) : undefined;
    const own = traced ? [`traced wave ${traced.wave}: click selects it`] : [];
    return [...own, ...(await factsOf(span).catch(() => []))];
  };
  const overlay = (painter: Painter, frame: Frame) => {
    if (!events) return;
    const isShown = (span: Span) => !hidden.value.has(groupOf(kindName(events, span.kind)).name);
    const engine = (lane: number) => `SE ${events.lanes.find((l) => l.lane === lane)?.se}`;
    paintEventLines(painter, frame, set, events, isShown, engine, {});
  };
  const highlight = (painter: Painter, frame: Frame) => {
    const mark = (wave: Wave | undefined, colour: string, width: number) => {
      const lane = wave ? laneOf.get(slotKey(wave)) : undefined;
      const place = lane === undefined ? null : frame.laneToY(track, lane);
      if (wave && place) outline(painter, frame, place, wave, colour, width);
    };
    mark(waveNumbered(selection.value.wave), paper("text"), 2);
    if (preview.value.wave !== selection.value.wave) mark(waveNumbered(preview.value.wave), paper("accent"), 1);
  };
  const chosen = waveNumbered(selection.value.wave);
  const lane = soughtLane(track) ?? (chosen ? laneOf.get(slotKey(chosen)) : undefined);
  return (
    <div class="view">
      <div class="toolbar of-timeline">
        <span class="wide-only">{exact(track.lane_count)} slots</span>
        {groups.length ? (
          <Chips
            label="Events"
            choices={groups.map(({ name, hint }) => ({
              value: name,
              name,
              hint: `${hint}: lines through their engine`,
            }))}
            isOn={(name) => !hidden.value.has(name)}
            onToggle={(name) => {
              const next = new Set(hidden.value);
              if (!next.delete(name)) next.add(name);
              hidden.value = next;
            }}
          />
        ) : null}
        <label title="What the colours of waves say">
          Colour
          <select
            data-colour-by
            value={by}
            onChange={(event) => {
              lit.value = null;
              change({ [SETTING]: event.currentTarget.value });
            }}
          >
            {Object.entries(COLOURS).map(([value, name]) => (
              <option key={value} value={value} disabled={!set.track(name)}>
                {value}
              </option>
            ))}
          </select>
        </label>
        <KindLegend
          label={`Waves by ${by}`}
          entries={entriesOf(track)}
          chosen={chosenKind}
          onKind={(kind) => {
            const next = kind === chosenKind ? undefined : kind;
            if (by === "kernel") select({ kernel: next });
            else lit.value = next ?? null;
          }}
        />
        <SaveMenu name="global_view" offers={handle.offers()} />
      </div>
      <Timeline
        label="Waves of all compute units"
        set={set}
        rows={rows}
        hasEdges
        unit="cycles"
        clockMhz={facts.clock_mhz}
        rowHeights={THIN}
        overviewTrack={track}
        countedAs="waves"
        handle={handle}
        reveal={lane === undefined ? null : { track, lane }}
        {...{ onSpan, onHover, tooltipOf, overlay, highlight, kindColour }}
      />
    </div>
  );
}

/** The traced wave that a span of the occupancy stands for: the one in the same slot that begins with it. */
function tracedWave(span: Span): Wave | undefined {
  if (span.count > 1) return undefined;
  const lane = span.track.lanes[span.lane] as Lane | undefined;
  const wave = lane ? waveAt(slotOf(lane), (span.begin + span.end) / 2) : undefined;
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
