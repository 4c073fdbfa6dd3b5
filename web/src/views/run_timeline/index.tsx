// The timeline of a run: threads with their calls, GPUs with their streams, and arrows from launches to what they launched.

import { type Signal, useComputed, useSignal } from "@preact/signals";
import { useMemo, useRef } from "preact/hooks";
import { exact } from "../../base/format";
import { matcher } from "../../base/matcher";
import { flipped } from "../../base/sets";
import { askJson, json } from "../../data/ask";
import { paintEdges, paintFlows } from "../../draw/flow_arrows";
import type { Frame } from "../../draw/frame";
import type { Painter } from "../../draw/painter";
import { mixed, paper } from "../../draw/palette";
import { paintPath } from "../../draw/path_segments";
import { kindName, runColour, spanName } from "../../draw/timeline_spans";
import { current } from "../../model/document";
import { edgesOf, type Flows, flowsOf, tilesAround } from "../../model/flows";
import { shortName } from "../../model/kernel_names";
import type { LayerSet, Span } from "../../model/layers";
import { useAnswer } from "../../model/loaded";
import { segmentsOf } from "../../model/path";
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
import { type EventAnswer, EventDetails } from "./details";
import "./run_timeline.css";

const TRACK_KINDS = [
  ["stream", "GPUs", "Dispatches and copies on the streams of GPUs"],
  ["thread", "Calls", "Calls and marker ranges of threads, nested"],
  ["marks", "Marks", "Moments on threads"],
  ["allocations", "Allocations", "Allocations and releases of memory"],
] as const;
const FADED = 0.78;
/** Names stay readable: a run with many tracks is scrolled. */
const ROW_HEIGHTS = { least: 14, most: 18 };
/** An event that takes this share of the screen was meant by a click on it; of narrower ones the group is shown closer. */
const EASY_TO_HIT = 0.004;
/** Facts in a tooltip; all of them stand in the panel of the selected event. */
const MOST_FACTS = 4;
/** Of curves, shown at first where it was sampled. */
const POWER = /power/i;
/** More arrows than this hide what they lie over. */
const MOST_ARROWS = 120;

function RunTimeline() {
  return (
    <OfLayer name="run" nothing="Nothing to show: no event with a time was recorded.">
      {(set, layer) => <Tracks set={set} layer={layer as RunLayer} />}
    </OfLayer>
  );
}

function Tracks({ set, layer }: { set: LayerSet; layer: RunLayer }) {
  const hidden = useSignal<ReadonlySet<string>>(new Set());
  const query = useSignal("");
  const withFlows = useSignal(true);
  const withPath = useSignal(false);
  const handle = useMemo(() => new TimelineHandle(), []);
  const names = useMemo(() => namesOf(layer), [layer]);
  const groups = useMemo(() => [...new Set(layer.tracks.map((track) => track.group[0] ?? ""))], [layer]);
  const rows = useComputed(() => {
    const own = rowsOfLayer(
      layer,
      (track) =>
        !hidden.value.has(track.kind as string) && (!trackGroup.value || track.group?.[0] === trackGroup.value),
    );
    const track = sqlTrack.value;
    return track ? [...rowsOfLayer(addTrack(set, track)), ...own] : own;
  });
  const matchingKinds = useComputed(() => kindsThatMatch(names, query.value));
  const colours = useComputed(() => {
    const { kernelName } = selection.value;
    const highlighted = query.value
      ? matchingKinds.value
      : kindsOfKernel(names, preview.value.kernelName ?? kernelName);
    return names.map((_, kind) => {
      const own = runColour(layer, kind, handle.isThin.value);
      return !highlighted || highlighted.has(kind) ? own : mixed(own, paper("background"), FADED);
    });
  });
  const item = useComputed(() => spanItem(selection.value.span));
  const event = useAnswer(
    item.value < 0 ? null : json<EventAnswer>(current.value, "span", { layer: layer.name, item: item.value }),
  );
  const chosen = event.value.state === "ready" ? event.value.value : null;
  const tiles = useComputed(() => tilesAround(layer, shown.value));
  void useComputed(() => JSON.stringify(tiles.value)).value; // the time on screen changes often, its tiles seldom
  const flows = useAnswer(withFlows.value ? flowsOf(current.value, layer, tiles.peek()) : null);
  const edges = useAnswer(edgesOf(current.value, layer, tiles.peek()));
  const segments = useAnswer(withPath.value ? segmentsOf(current.value, layer, tiles.peek()) : null);
  const around = useComputed(() => {
    const flowSet = withFlows.value && flows.value.state === "ready" ? flows.value.value : null;
    return flowSet ? within(flowSet, shown.value) : null;
  });

  const pressed = useRef(0);
  const choose = (span: Span) => {
    const kernelName = isDispatch(layer, span.item) ? names[span.kind] : undefined;
    select({ span: spanKey(layer, span.item), kernelName });
  };
  const onSpan = async (group: Span | null) => {
    if (!group) return;
    if (group.layer !== layer) return select({ range: { begin: group.begin, end: group.end } });
    const isWide = (span: Span) => (span.end - span.begin) / (shown.value.end - shown.value.begin) > EASY_TO_HIT;
    const under = group.item >= 0 ? group : await set.raw(layer, group.track, pressed.current, 0).catch(() => null);
    if (under && (group.item >= 0 || isWide(under))) choose(under);
    else {
      const margin = (group.end - group.begin) / 8;
      show({ begin: group.begin - margin, end: group.end + margin });
    }
  };
  const onHover = (span: Span | null) => {
    const next = span?.layer === layer && span.item >= 0 && isDispatch(layer, span.item) ? names[span.kind] : undefined;
    if (next !== preview.peek().kernelName) preview.value = next === undefined ? {} : { kernelName: next };
  };
  const overlay = (painter: Painter, frame: Frame) => {
    if (edges.value.state === "ready") paintEdges(painter, frame, layer.name, edges.value.value, paper("background"));
    const { flows: arrows = [] } = around.value ?? {};
    paintFlows(painter, frame, layer.name, arrows, `${paper("faint")}90`);
    if (withPath.value && segments.value.state === "ready") {
      paintPath(painter, frame, layer.name, segments.value.value, paper("accent"));
    }
  };
  const highlight = (painter: Painter, frame: Frame) => {
    if (chosen) paintFlows(painter, frame, layer.name, chosen.flows.flows, paper("accent"), 2);
  };
  const focus = chosen && chosen.track !== undefined ? focusOf(layer, chosen) : null;
  const step = async (by: 1 | -1) => {
    const kinds = [...(matchingKinds.value ?? [])];
    const kind = kinds.includes(focus?.kind ?? -1) ? (focus?.kind as number) : kinds[0];
    if (kind === undefined) return;
    const next = await askJson<{ item: number; begin: number; end: number }>(current.value, "occurrence", {
      layer: layer.name,
      kind,
      item: item.value,
      step: by,
    });
    select({ span: spanKey(layer, next.item), kernelName: isDispatch(layer, next.item) ? names[kind] : undefined });
    const length = shown.value.end - shown.value.begin;
    if (next.begin < shown.value.begin || next.end > shown.value.end) {
      show({ begin: next.begin - length / 4, end: next.begin + (length * 3) / 4 });
    }
  };
  return (
    <div class="view">
      <div class="toolbar run-toolbar">
        {TRACK_KINDS.filter(([kind]) => layer.tracks.some((track) => track.kind === kind)).map(([kind, name, hint]) => (
          <Check
            key={kind}
            isOn={!hidden.value.has(kind)}
            onChange={() => (hidden.value = flipped(hidden.value, kind))}
            hint={hint}
          >
            {name}
          </Check>
        ))}
        <Check
          isOn={withFlows.value}
          onChange={(isOn) => (withFlows.value = isOn)}
          name="flows"
          hint="Arrows from calls to what they launched"
        >
          Flows
        </Check>
        <Check
          isOn={withPath.value}
          onChange={(isOn) => (withPath.value = isOn)}
          name="path"
          hint="The chain of events that set the time, as a line under them; slack stands in the details of an event"
        >
          Critical path
        </Check>
        <Processes names={groups} />
        <Finder query={query} matches={matchingKinds.value?.size ?? 0} step={(by) => void step(by)} />
        {around.value && around.value.count > around.value.flows.length ? (
          <span data-too-many-flows={around.value.count}>
            {exact(around.value.count)} launches: zoom in to see their arrows
          </span>
        ) : null}
        <SaveMenu name="timeline" offers={handle.offers()} />
      </div>
      {layer.notes.length ? <p class="run-notes">{layer.notes.join("; ")}.</p> : null}
      <div
        class="run-timeline"
        onPointerDownCapture={(event) => {
          pressed.current = timeUnder(event, shown.value);
        }}
        data-flows={around.value?.flows.length ?? 0}
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
          onHover={onHover}
          focus={focus}
          overlay={overlay}
          highlight={highlight}
        />
        {item.value >= 0 ? <EventDetails answer={event} layer={layer} /> : null}
      </div>
    </div>
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

/** The flows that start or end in an interval; only their number when there are too many to see. */
function within(flowSet: Flows, range: Range): Flows {
  if (flowSet.count > flowSet.flows.length) return { count: flowSet.count, flows: [] };
  const isInside = (time: number) => time >= range.begin && time <= range.end;
  const seen = flowSet.flows.filter((flow) => isInside(flow.from_begin) || isInside(flow.to_begin));
  return { count: seen.length, flows: seen.length > MOST_ARROWS ? [] : seen };
}

/** What a tooltip tells of an event beyond its name and time. */
async function factsOfEvent(layer: RunLayer, span: Span): Promise<string[]> {
  const event = await askJson<EventAnswer>(current.value, "span", { layer: layer.name, item: span.item });
  return [event.what, ...event.facts.slice(0, MOST_FACTS).map(({ name, value }) => `${name} ${value.slice(0, 120)}`)];
}

/** The time under the pointer: groups of events do not say which of them was meant. */
function timeUnder(event: PointerEvent, range: Range): number {
  const box = (event.currentTarget as HTMLElement).querySelector(".timeline");
  const facts = (event.currentTarget as HTMLElement).querySelector<HTMLElement>(".timeline-facts");
  if (!box || !facts) return range.begin;
  const { left, width } = box.getBoundingClientRect();
  const gutter = Number(facts.dataset.gutter);
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
  const wanted = matcher(query);
  return new Set(names.flatMap((name, kind) => (wanted.test(name) ? [kind] : [])));
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
