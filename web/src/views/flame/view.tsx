// Flame graphs: where the cycles go, from files over inlined lines, or from marker scopes, down to instructions.

import { type Signal, useSignal } from "@preact/signals";
import type { VNode } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { exact, percent } from "../../base/format";
import { type Matcher, matcher } from "../../base/matcher";
import { arrow } from "../../data/ask";
import type { Columns } from "../../data/columns";
import {
  FLAME_ROW,
  type FlameLayout,
  type FlameWindow,
  flameLabel,
  flameLayout,
  matchedWeight,
  paintFlame,
  windowOf,
} from "../../draw/flame";
import { paper } from "../../draw/palette";
import { codeNow, hasLines } from "../../model/code";
import { current, traceOverview } from "../../model/document";
import { useAnswer } from "../../model/loaded";
import { preview, selection } from "../../model/selection";
import { change, settings } from "../../model/settings";
import { isSampled } from "../../model/source";
import type { View } from "../../model/view";
import { Answered, Nothing } from "../../widgets/answered";
import type { Paint, Size } from "../../widgets/canvas";
import { Check } from "../../widgets/check";
import type { FlameStage } from "../../widgets/flame_input";
import { Crumbs, Stage } from "../../widgets/flame_stage";
import { pictures, SaveMenu } from "../../widgets/saving";
import { Tip } from "./around";
import {
  asCsv,
  colourOfFrame,
  type Frames,
  framesFrom,
  previewOf,
  selectedFrame,
  selectFrame,
  shownName,
  type Weight,
  weightsOf,
} from "./frames";

const TREES = [
  { id: "source", title: "source", needsMarkers: false },
  { id: "code", title: "loops and blocks", needsMarkers: false },
  { id: "scopes", title: "marker scopes", needsMarkers: true },
  { id: "scope_source", title: "scopes and source", needsMarkers: true },
];

function FlameView() {
  const facts = traceOverview();
  /** Empty = none was chosen. */
  const chosenTree = useSignal("");
  const tree = chosenTree.value || firstTree(facts);
  const answer = useAnswer(arrow(current.value, "flame", { tree }));
  const hasMarkers = (facts.holds.markers ?? 0) > 0;
  const treeSelect = <TreeSelect tree={tree} hasMarkers={hasMarkers} choose={(next) => (chosenTree.value = next)} />;
  return (
    <Answered answer={answer}>
      {(table) => <Graph key={tree} table={table} tree={tree} treeSelect={treeSelect} />}
    </Answered>
  );
}

/** Of what was measured by its source; by loops and blocks where no code has source lines. Else only scopes have a time. */
function firstTree(facts: ReturnType<typeof traceOverview>): string {
  if (!facts.instruction_count && !facts.holds.samples) return "scopes";
  return codeNow() && !hasLines.value ? "code" : "source";
}

const START: FlameWindow = { begin: 0, end: 1, scroll: 0, rootAt: "top" };

interface GraphProps {
  table: Columns;
  /** Id of the tree, of TREES. */
  tree: string;
  treeSelect: VNode;
}

function Graph({ table, tree, treeSelect }: GraphProps) {
  const frames = useMemo(() => framesFrom(table), [table]);
  const weight = useSignal<Weight>("total");
  const over = useSignal<Pointed | null>(null);
  const search = useSignal("");
  const canvas = useRef<HTMLCanvasElement | null>(null);
  const { withIdle } = settings.value;
  const isScopes = tree === "scopes";
  const weights = useMemo(
    () => weightsOf(frames, isScopes ? "total" : weight.value, withIdle),
    [frames, weight.value, withIdle, isScopes],
  );
  const layout = useMemo(() => flameLayout(frames, weights), [frames, weights]);
  const total = weights[0] ?? 0;
  const query = useMemo(() => matcher(search.value), [search.value]);
  const selected = useMemo(() => selectedFrame(frames, layout), [frames, layout, selection.value]);
  const unit = isSampled.value ? "samples" : "cycles";
  const zoom = useZoom(frames, layout);
  const isFaint = (frame: number) => search.value !== "" && !query.test(frames.names[frame] ?? "");
  const paint: Paint = (painter, size) => {
    painter.rect(0, 0, size.width, size.height, paper("background"));
    const look: Parameters<typeof paintFlame>[3] = {
      label: (frame) => flameLabel(shownName(frames, frame), weights[frame] ?? 0),
      fill: (frame) => (isFaint(frame) ? paper("line") : colourOfFrame(frames, frame)),
      outlined: [
        { frame: zoom.cursor.value || selected, colour: paper("text") },
        { frame: over.value?.frame ?? -1, colour: paper("accent") },
      ],
    };
    paintFlame(painter, size, { layout, window: zoom.shownWindow() }, look);
  };
  const size = (): Size => ({
    width: canvas.current?.clientWidth ?? 900,
    height: Math.max(layout.deepest * FLAME_ROW, 60),
  });
  return (
    <div class="view flame">
      <div class="toolbar">
        {treeSelect}
        {isSampled.value || isScopes ? null : <WeightChoice weight={weight} />}
        <RootChoice />
        <SearchField search={search} />
        {search.value ? <Matched frames={frames} weights={weights} query={query} unit={unit} /> : null}
        <span data-column="total" data-frames={frames.count - 1} data-levels={layout.deepest - 1}>
          {exact(total)} {unit}
        </span>
        <SaveMenu
          name={`flame-${tree}`}
          offers={[...pictures(paint, size), { format: "csv", make: () => asCsv(frames, weights) }]}
        />
      </div>
      <Crumbs
        parents={frames.parents}
        titleOf={(frame) => frames.names[frame] ?? ""}
        nameOf={(frame) => shownName(frames, frame)}
        focus={zoom.focus.value}
        zoomTo={zoom.zoomTo}
        isZoomed={zoom.window.value.begin > 0 || zoom.window.value.end < 1}
      />
      {total ? (
        <Stage
          stage={stageOf({ frames, layout, weights, zoom, selected, over, canvas })}
          paint={paint}
          canvas={canvas}
          label={`Flame graph of ${exact(total)} ${unit} in ${exact(frames.count - 1)} frames`}
        >
          {over.value ? <Tip frames={frames} weights={weights} over={over.value} size={canvas.current} /> : null}
        </Stage>
      ) : (
        <Nothing>Nothing to show: nothing in this tree cost anything.</Nothing>
      )}
    </div>
  );
}

/** The frame that the pointer is over, and where on the canvas. */
interface Pointed {
  frame: number;
  x: number;
  y: number;
}

const rootPlace = () => (settings.value.flameRoot === "bottom" ? "bottom" : "top");

/** The part of the graph on screen, the frame that fills its width, and the one that keys go on from. */
function useZoom(frames: Frames, layout: FlameLayout) {
  const window = useSignal<FlameWindow>(START);
  const focus = useSignal(0);
  const cursor = useSignal(0);
  const zoomTo = (frame: number) => {
    focus.value = frame;
    window.value = windowOf(layout, frame, window.value);
  };
  // another weight moves the frames: stay with the one that was zoomed to, if it still has a width
  useEffect(() => {
    const isThere = (layout.end[focus.value] ?? 0) > (layout.begin[focus.value] ?? 0);
    zoomTo(isThere ? focus.value : 0);
  }, [layout]);
  // keys go on from what was selected last, here or elsewhere
  useEffect(() => {
    if (!isSelected(frames, cursor.value)) cursor.value = 0;
  }, [selection.value]);
  return { window, focus, cursor, zoomTo, shownWindow: (): FlameWindow => ({ ...window.value, rootAt: rootPlace() }) };
}

interface StageParts {
  frames: Frames;
  layout: FlameLayout;
  weights: Float64Array;
  zoom: ReturnType<typeof useZoom>;
  selected: number;
  over: Signal<Pointed | null>;
  canvas: { current: HTMLCanvasElement | null };
}

/** What pointer and keys do to the graph. */
function stageOf({ frames, layout, weights, zoom, selected, over, canvas }: StageParts): FlameStage {
  const { window, cursor, zoomTo, shownWindow } = zoom;
  return {
    layout: () => layout,
    window: shownWindow,
    show: (next) => {
      window.value = next;
    },
    size: () => ({ width: canvas.current?.clientWidth ?? 1, height: canvas.current?.clientHeight ?? 1 }),
    cursor: () => cursor.value || Math.max(selected, 0),
    children: (frame) => (layout.children[frame] ?? []).filter((child) => (weights[child] ?? 0) > 0),
    parent: (frame) => frames.parents[frame] ?? 0,
    hover: (frame, x, y) => {
      over.value = frame < 0 ? null : { frame, x, y };
      preview.value = frame < 0 ? {} : previewOf(frames, frame);
    },
    choose: (frame) => {
      cursor.value = frame;
      zoomTo(frame);
      selectFrame(frames, frame);
    },
    step: (frame) => {
      cursor.value = frame;
      if (frames.kinds[frame] !== "file") selectFrame(frames, frame);
    },
    reset: () => zoomTo(0),
  };
}

/** Whether the row or source line of a frame is what is selected; frames that stand for neither count as selected. */
function isSelected(frames: Frames, frame: number): boolean {
  const { row, sourceLine: line } = previewOf(frames, frame);
  const chosen = selection.value;
  if (row !== undefined) return row === chosen.row;
  return !line || (line.file === chosen.sourceLine?.file && line.line === chosen.sourceLine?.line);
}

interface TreeProps {
  tree: string;
  hasMarkers: boolean;
  choose: (tree: string) => void;
}

function TreeSelect({ tree, hasMarkers, choose }: TreeProps) {
  return (
    <select
      aria-label="Tree"
      title="Source: file, inlined lines, instructions. Loops and blocks: function, loops, basic block, instructions. Marker scopes: time of waves inside them. Scopes and source: instructions below the scopes they began in"
      value={tree}
      onChange={(event) => choose(event.currentTarget.value)}
    >
      {TREES.map(({ id, title, needsMarkers }) => (
        <option key={id} value={id} disabled={needsMarkers && !hasMarkers}>
          {title}
          {needsMarkers && !hasMarkers ? " (no markers)" : ""}
        </option>
      ))}
    </select>
  );
}

function SearchField({ search }: { search: Signal<string> }) {
  return (
    <input
      type="search"
      placeholder="find: text or /regex/"
      aria-label="Find in the flame graph"
      value={search.value}
      onInput={(event) => (search.value = event.currentTarget.value)}
    />
  );
}

function RootChoice() {
  const isOnTop = rootPlace() === "top";
  return (
    <button
      type="button"
      class="quiet"
      title="Put the whole at the other end"
      onClick={() => change({ flameRoot: isOnTop ? "bottom" : "top" })}
    >
      {isOnTop ? "root on top" : "root at the bottom"}
    </button>
  );
}

function WeightChoice({ weight }: { weight: Signal<Weight> }) {
  return (
    <>
      <select
        aria-label="Weight"
        title="Total: all cycles of the instructions. Not hidden: without what work of other waves on the same SIMD hid"
        value={weight.value}
        onChange={(event) => (weight.value = event.currentTarget.value as Weight)}
      >
        <option value="total">total latency</option>
        <option value="exposed">not hidden</option>
      </select>
      <Check
        isOn={settings.value.withIdle}
        onChange={(isOn) => change({ withIdle: isOn })}
        hint="Count the idle cycles before instructions"
      >
        idle
      </Check>
    </>
  );
}

interface MatchedProps {
  frames: Frames;
  weights: Float64Array;
  query: Matcher;
  unit: string;
}

/** How much of the whole is in frames that match the search. */
function Matched({ frames, weights, query, unit }: MatchedProps) {
  const matches = useMemo(
    () => matchedWeight(frames, weights, (frame) => frame > 0 && query.test(frames.names[frame] ?? "")),
    [frames, weights, query],
  );
  const share = percent(matches.weight / (weights[0] ?? 0));
  return (
    <span role="status" data-column="matched">
      {query.problem || `${exact(matches.count)} frames, ${exact(matches.weight)} ${unit}, ${share}`}
    </span>
  );
}

export const flame: View = {
  id: "flame",
  title: "Flame graph",
  hint: "Where the cycles go: files, inlined lines and instructions, or marker scopes, by width",
  about: "trace",
  time: "selected",
  missing: (overview) =>
    overview.kind === "trace" && (overview.instruction_count || overview.holds.samples || overview.holds.markers)
      ? ""
      : "no instruction was traced or sampled",
  component: FlameView,
};
