// The timeline of a run: threads with their calls, GPUs with their streams, and arrows from launches to what they launched.

import { type ReadonlySignal, type Signal, useComputed, useSignal } from "@preact/signals";
import { useMemo, useRef } from "preact/hooks";
import { exact } from "../../base/format";
import { matcher } from "../../base/matcher";
import { flipped } from "../../base/sets";
import { askJson, json } from "../../data/ask";
import { paintFlows } from "../../draw/flow_arrows";
import type { Frame } from "../../draw/frame";
import type { Painter } from "../../draw/painter";
import { mixed, paper } from "../../draw/palette";
import { kindName, runColour, spanName } from "../../draw/timeline_spans";
import type { TimelineRow } from "../../draw/track_layout";
import { current } from "../../model/document";
import type { Flows } from "../../model/flows";
import { shortName } from "../../model/kernel_names";
import type { LayerSet, Span, Track } from "../../model/layers";
import { useAnswer } from "../../model/loaded";
import { trackGroup } from "../../model/run";
import { isDispatch, type RunLayer, spanItem, spanKey } from "../../model/run_layer";
import { preview, type Range, select, selection } from "../../model/selection";
import { addTrack, sqlTrack } from "../../model/sql_track";
import { show, shown } from "../../model/timewindow";
import type { View } from "../../model/view";
import { Check } from "../../widgets/check";
import { OfLayer } from "../../widgets/of_layer";
import { SaveMenu } from "../../widgets/saving";
import { rowsOfLayer, Timeline, TimelineHandle } from "../../widgets/timeline";
import { ArrowChecks, useArrows } from "./arrows";
import { type EventAnswer, EventDetails } from "./details";
import "./run_timeline.css";

/** Kind of tracks, name and hint of its check box. */
const TRACK_KINDS = [
  ["stream", "GPUs", "Dispatches and copies on the streams of GPUs"],
  ["thread", "Calls", "Calls and marker ranges of threads, nested"],
  ["marks", "Marks", "Moments on threads"],
  ["allocations", "Allocations", "Allocations and releases of memory"],
] as const;
/** How much paler events are that a search or the selected kernel leaves out, from 0 to 1. */
const FADED = 0.78;
/** Names stay readable: a run with many tracks is scrolled. */
const ROW_HEIGHTS = { least: 14, most: 18 };
/** Of the width of the screen: an event as wide as this was meant by a click on it; of narrower ones the group is shown closer. */
const EASY_TO_HIT = 0.004;
/** Facts in a tooltip; all of them stand in the panel of the selected event. */
const MOST_FACTS = 4;
/** Curves of this name are shown at first, where power was sampled. */
const POWER = /power/i;

function RunTimeline() {
  return (
    <OfLayer name="run" nothing="Nothing to show: no event with a time was recorded.">
      {(set, layer) => <Tracks set={set} layer={layer as RunLayer} />}
    </OfLayer>
  );
}

function Tracks({ set, layer }: { set: LayerSet; layer: RunLayer }) {
  const hiddenKinds = useSignal<ReadonlySet<string>>(new Set());
  const query = useSignal("");
  const handle = useMemo(() => new TimelineHandle(), []);
  const names = useMemo(() => namesOf(layer), [layer]);
  const rows = useComputed(() => rowsOf(set, layer, hiddenKinds.value));
  const { matching, colours } = useColours(layer, names, query, handle.isThin);
  const { item, answer, chosen } = useChosenEvent(layer);
  const focus = chosen && chosen.track !== undefined ? focusOf(layer, chosen) : null;
  const arrows = useArrows(layer);
  /** The time at which the pointer was pressed last. */
  const pressed = useRef(0);
  const kernelOf = ({ item, kind }: EventOfKind) => (isDispatch(layer, item) ? names[kind] : undefined);
  const choose = (event: EventOfKind) => select({ span: spanKey(layer, event.item), kernelName: kernelOf(event) });
  const onSpan = async (group: Span | null) => {
    if (!group) return;
    if (group.layer !== layer) return select({ range: { begin: group.begin, end: group.end } });
    const meant = await eventMeant(set, group, pressed.current);
    if (meant) choose(meant);
    else showAround(group);
  };
  const onHover = (span: Span | null) => {
    const next = span?.layer === layer && span.item >= 0 ? kernelOf(span) : undefined;
    if (next !== preview.peek().kernelName) preview.value = next === undefined ? {} : { kernelName: next };
  };
  const highlight = (painter: Painter, frame: Frame) => {
    if (!chosen) return;
    paintFlows(painter, frame, { layer: layer.name, flows: chosen.flows.flows, colour: paper("accent"), width: 2 });
  };
  const step = async (by: 1 | -1) => {
    const next = await occurrence({ layer, kinds: matching.value, from: item, fromKind: focus?.kind, by });
    if (!next) return;
    choose(next);
    showFrom(next);
  };
  return (
    <div class="view">
      <div class="toolbar run-toolbar">
        <TrackKinds layer={layer} hidden={hiddenKinds} />
        <ArrowChecks {...arrows} />
        <Processes names={[...new Set(layer.tracks.map((track) => track.group[0] ?? ""))]} />
        <Finder query={query} matches={matching.value?.size ?? 0} step={(by) => void step(by)} />
        <HiddenArrows flows={arrows.around} />
        <SaveMenu name="timeline" offers={handle.offers()} />
      </div>
      {layer.notes.length ? <p class="run-notes">{layer.notes.join("; ")}.</p> : null}
      <div
        class="run-timeline"
        onPointerDownCapture={(event) => {
          pressed.current = timeUnder(event, shown.value);
        }}
        data-flows={arrows.around?.flows.length ?? 0}
      >
        <Timeline
          label="Timeline of the run"
          set={set}
          rows={rows.value}
          unit="ns"
          handle={handle}
          rowHeights={ROW_HEIGHTS}
          kindColour={(of, kind) => (of === layer ? colours.value[kind] : runColour(of, kind))}
          labelOf={(span) =>
            spanName(span, shortName(span.layer === layer ? (names[span.kind] ?? "") : kindName(span.layer, span.kind)))
          }
          tooltipOf={(span) => (span.layer === layer ? factsOfEvent(layer, span) : ["a row of the query"])}
          labelsGroups
          firstCurves={POWER}
          overviewLayer={layer}
          countedAs="events"
          onSpan={(span) => void onSpan(span)}
          overlay={(painter, frame) => arrows.paint(painter, frame)}
          {...{ onHover, focus, highlight }}
        />
        {item >= 0 ? <EventDetails answer={answer} layer={layer} /> : null}
      </div>
    </div>
  );
}

/** The selected event: its item (-1 = none is), the answer about it, and that when it has arrived. */
function useChosenEvent(layer: RunLayer) {
  const item = useComputed(() => spanItem(selection.value.span)).value;
  const answer = useAnswer(item < 0 ? null : json<EventAnswer>(current.value, "span", { layer: layer.name, item }));
  const chosen = answer.value.state === "ready" ? answer.value.value : null;
  return { item, answer, chosen };
}

/** The tracks that are shown; above them that of the rows of a query, where the SQL view made one. */
function rowsOf(set: LayerSet, layer: RunLayer, hiddenKinds: ReadonlySet<string>): TimelineRow[] {
  const isShown = ({ kind, group }: Track) =>
    !hiddenKinds.has(kind as string) && (!trackGroup.value || group?.[0] === trackGroup.value);
  const ofQuery = sqlTrack.value;
  return [...(ofQuery ? rowsOfLayer(addTrack(set, ofQuery)) : []), ...rowsOfLayer(layer, isShown)];
}

/** An event by its item, and the number of its name. */
interface EventOfKind {
  item: number;
  kind: number;
}

interface Step {
  layer: RunLayer;
  /** Names that match the search; null = nothing is sought. */
  kinds: ReadonlySet<number> | null;
  /** The selected event; -1 = none. */
  from: number;
  fromKind: number | undefined;
  by: 1 | -1;
}

/** The next or previous event of the selected one's name where that matches, else of the first name that does. */
async function occurrence({ layer, kinds, from, fromKind, by }: Step): Promise<(EventOfKind & Range) | null> {
  const kind = fromKind !== undefined && kinds?.has(fromKind) ? fromKind : [...(kinds ?? [])][0];
  if (kind === undefined) return null;
  const parameters = { layer: layer.name, kind, item: from, step: by };
  const next = await askJson<{ item: number } & Range>(current.value, "occurrence", parameters);
  return { ...next, kind };
}

/** How many arrows there would be, where they are too many to be drawn. */
function HiddenArrows({ flows }: { flows: Flows | null }) {
  if (!flows || flows.count <= flows.flows.length) return null;
  return <span data-too-many-flows={flows.count}>{exact(flows.count)} launches: zoom in to see their arrows</span>;
}

/** Colours by kind: those that a search, or the selected kernel, leaves out are faded. */
function useColours(layer: RunLayer, names: string[], query: Signal<string>, isThin: ReadonlySignal<boolean>) {
  const matching = useComputed(() => kindsThatMatch(names, query.value));
  const colours = useComputed(() => {
    const { kernelName } = selection.value;
    const highlighted = query.value ? matching.value : kindsOfKernel(names, preview.value.kernelName ?? kernelName);
    return names.map((_, kind) => {
      const own = runColour(layer, kind, isThin.value);
      return !highlighted || highlighted.has(kind) ? own : mixed(own, paper("background"), FADED);
    });
  });
  return { matching, colours };
}

/** The event that a click meant; null = the click was on a group of events that are too narrow to be hit. */
async function eventMeant(set: LayerSet, group: Span, time: number): Promise<Span | null> {
  if (group.item >= 0) return group;
  const under = await set.rawSpanAt({ layer: group.layer, track: group.track, time }, 0).catch(() => null);
  const { begin, end } = shown.value;
  return under && (under.end - under.begin) / (end - begin) > EASY_TO_HIT ? under : null;
}

function showAround({ begin, end }: Range): void {
  const margin = (end - begin) / 8;
  show({ begin: begin - margin, end: end + margin });
}

/** Brings an interval into sight, at the same zoom. */
function showFrom({ begin, end }: Range): void {
  const length = shown.value.end - shown.value.begin;
  if (begin < shown.value.begin || end > shown.value.end) {
    show({ begin: begin - length / 4, end: begin + (length * 3) / 4 });
  }
}

function TrackKinds({ layer, hidden }: { layer: RunLayer; hidden: Signal<ReadonlySet<string>> }) {
  const kinds = TRACK_KINDS.filter(([kind]) => layer.tracks.some((track) => track.kind === kind));
  return (
    <>
      {kinds.map(([kind, name, hint]) => (
        <Check
          key={kind}
          isOn={!hidden.value.has(kind)}
          onChange={() => (hidden.value = flipped(hidden.value, kind))}
          hint={hint}
        >
          {name}
        </Check>
      ))}
    </>
  );
}

/** The tracks of one process only. */
function Processes({ names }: { names: string[] }) {
  if (names.length < 2) return null;
  return (
    <select
      aria-label="Processes"
      value={trackGroup.value}
      onChange={(change) => {
        trackGroup.value = change.currentTarget.value;
      }}
    >
      <option value="">all {exact(names.length)} processes</option>
      {names.map((name) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </select>
  );
}

/** Names to highlight, and steps through the events that have them. */
function Finder({ query, matches, step }: { query: Signal<string>; matches: number; step: (by: 1 | -1) => void }) {
  return (
    <>
      <input
        type="search"
        placeholder="highlight name or /regex/"
        aria-label="Highlight events whose name contains"
        onInput={(change) => {
          query.value = change.currentTarget.value;
        }}
        onKeyDown={(key) => {
          if (key.key === "Enter") step(key.shiftKey ? -1 : 1);
        }}
      />
      {query.value ? (
        <>
          <span data-matches={matches}>{exact(matches)} names</span>
          <button type="button" class="quiet" title="The one before (Shift Enter)" onClick={() => step(-1)}>
            ◂
          </button>
          <button type="button" class="quiet" title="The next one (Enter)" data-next onClick={() => step(1)}>
            ▸
          </button>
        </>
      ) : null}
    </>
  );
}

/** What a tooltip tells of an event beyond its name and time. */
async function factsOfEvent(layer: RunLayer, span: Span): Promise<string[]> {
  const event = await askJson<EventAnswer>(current.value, "span", { layer: layer.name, item: span.item });
  return [event.what, ...event.facts.slice(0, MOST_FACTS).map(({ name, value }) => `${name} ${value.slice(0, 120)}`)];
}

/** The time under the pointer, with which `eventMeant` finds the event in a group. `range` is what is on screen. */
function timeUnder(event: PointerEvent, range: Range): number {
  const box = (event.currentTarget as HTMLElement).querySelector(".timeline");
  const facts = (event.currentTarget as HTMLElement).querySelector<HTMLElement>(".timeline-facts");
  if (!box || !facts) return range.begin;
  const { left, width } = box.getBoundingClientRect();
  const gutter = Number(facts.dataset.gutter); // pixels of the names of tracks, as the timeline states them
  return range.begin + ((event.clientX - left - gutter) / Math.max(1, width - gutter)) * (range.end - range.begin);
}

/** Names by kind: kinds are numbered from 0. */
function namesOf(layer: RunLayer): string[] {
  const names: string[] = [];
  for (const { kind, name } of layer.kinds) names[kind] = name;
  return names;
}

function kindsThatMatch(names: string[], query: string): ReadonlySet<number> | null {
  if (!query) return null;
  const search = matcher(query);
  return new Set(names.flatMap((name, kind) => (search.test(name) ? [kind] : [])));
}

/** The kind of the selected kernel; null = none is selected, everything keeps its colour. */
function kindsOfKernel(names: string[], kernel: string | undefined): ReadonlySet<number> | null {
  const kind = kernel === undefined ? -1 : names.indexOf(kernel);
  return kind < 0 ? null : new Set([kind]);
}

function focusOf(layer: RunLayer, event: EventAnswer): Span {
  const { track = 0, begin = 0, end = 0, kind = 0, item } = event;
  return { layer, track, begin, end, kind, count: 1, item, depth: 0, level: 0 };
}

export const runTimeline: View = {
  id: "run_timeline",
  title: "Timeline",
  hint: "Threads with their calls, GPUs with their streams, and arrows from launches to the launched work",
  about: "run",
  missing: () => "",
  component: RunTimeline,
};
