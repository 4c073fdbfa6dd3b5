// Flame graphs: where the cycles go, from files over inlined lines, or from marker scopes, down to instructions.
import { useSignal } from "@preact/signals";
import { useMemo, useRef } from "preact/hooks";
import { exact, percent } from "../../base/format";
import { matcher } from "../../base/matcher";
import { askTable } from "../../data/ask";
import type { Columns } from "../../data/columns";
import {
  FLAME_ROW,
  type FlameWindow,
  flameLabel,
  flameLayout,
  frameAt,
  matchedWeight,
  paintFlame,
  windowOf,
  zoomed,
} from "../../draw/flame";
import { paper } from "../../draw/palette";
import { current, traceOverview } from "../../model/document";
import { useAnswer } from "../../model/loaded";
import { preview } from "../../model/selection";
import { change, settings } from "../../model/settings";
import { isSampled } from "../../model/source";
import type { View } from "../../model/view";
import { Answered, Nothing } from "../../widgets/answered";
import { Canvas, type Paint, type Size } from "../../widgets/canvas";
import { pictures, SaveMenu } from "../../widgets/saving";
import { Crumbs, Tip } from "./around";
import {
  asCsv,
  colourOfFrame,
  framesFrom,
  previewOf,
  selectedFrame,
  selectFrame,
  shownName,
  type Weight,
  weightsOf,
} from "./frames";
import "./flame.css";

const TREES = [
  { id: "source", title: "source", needsMarkers: false },
  { id: "scopes", title: "marker scopes", needsMarkers: true },
  { id: "scope_source", title: "scopes and source", needsMarkers: true },
];

function FlameView() {
  const hasMarkers = (traceOverview().holds.markers ?? 0) > 0;
  const tree = useSignal("source");
  const answer = useAnswer(() => askTable(current.value, "flame", { tree: tree.value }));
  return (
    <Answered answer={answer}>
      {(table) => <Graph key={tree.value} table={table} tree={tree} hasMarkers={hasMarkers} />}
    </Answered>
  );
}

const START: FlameWindow = { begin: 0, end: 1, scroll: 0, rootAt: "top" };

function Graph({ table, tree, hasMarkers }: { table: Columns; tree: { value: string }; hasMarkers: boolean }) {
  const frames = useMemo(() => framesFrom(table), [table]);
  const weight = useSignal<Weight>("total");
  const window = useSignal<FlameWindow>(START);
  const focus = useSignal(0);
  const over = useSignal<{ frame: number; x: number; y: number } | null>(null);
  const search = useSignal("");
  const canvas = useRef<HTMLCanvasElement | null>(null);
  const { withIdle } = settings.value;
  const rootAt = settings.value.flameRoot === "bottom" ? "bottom" : "top";
  const isScopes = tree.value === "scopes";
  const weights = useMemo(
    () => weightsOf(frames, isScopes ? "total" : weight.value, withIdle),
    [frames, weight.value, withIdle, isScopes],
  );
  const layout = useMemo(() => flameLayout(frames, weights), [frames, weights]);
  const total = weights[0] ?? 0;
  const query = useMemo(() => matcher(search.value), [search.value]);
  const found = useMemo(() => {
    const matches = (frame: number) => frame > 0 && query.test(frames.names[frame] ?? "");
    return matchedWeight(frames, weights, matches);
  }, [frames, weights, query]);
  const unit = isSampled.value ? "samples" : "cycles";
  const shownWindow = () => ({ ...window.value, rootAt }) as FlameWindow;
  const paint: Paint = (painter, size) => {
    painter.rect(0, 0, size.width, size.height, paper("background"));
    const isSearching = search.value !== "";
    paintFlame(painter, size, layout, shownWindow(), {
      label: (frame) => flameLabel(shownName(frames, frame), weights[frame] ?? 0),
      fill: (frame) =>
        isSearching && !query.test(frames.names[frame] ?? "") ? paper("line") : colourOfFrame(frames, frame),
      outlined: [
        { frame: selectedFrame(frames, layout), colour: paper("text") },
        { frame: over.value?.frame ?? -1, colour: paper("accent") },
      ],
    });
  };
  const at = (event: MouseEvent) => {
    const { clientWidth: width, clientHeight: height } = canvas.current ?? { clientWidth: 1, clientHeight: 1 };
    return frameAt(layout, shownWindow(), event.offsetX, event.offsetY, width, height);
  };
  const zoomTo = (frame: number) => {
    focus.value = frame;
    window.value = windowOf(layout, frame, window.value);
  };
  const hover = (frame: number, event: PointerEvent) => {
    over.value = frame < 0 ? null : { frame, x: event.offsetX, y: event.offsetY };
    preview.value = frame < 0 ? {} : previewOf(frames, frame);
  };
  const wheel = (event: WheelEvent) => {
    event.preventDefault();
    const width = canvas.current?.clientWidth ?? 1;
    const { begin, end } = window.value;
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      const most = Math.max(0, layout.deepest * FLAME_ROW - (canvas.current?.clientHeight ?? 0));
      const scroll = Math.min(
        Math.max(window.value.scroll + (event.deltaY || event.deltaX) * (rootAt === "top" ? 1 : -1), 0),
        most,
      );
      window.value = { ...window.value, scroll };
      return;
    }
    const around = begin + (event.offsetX / width) * (end - begin);
    window.value = zoomed(window.value, event.deltaY > 0 ? 1.15 : 1 / 1.15, around);
  };
  const size = (): Size => ({
    width: canvas.current?.clientWidth ?? 900,
    height: Math.max(layout.deepest * FLAME_ROW, 60),
  });
  if (!total) return <Nothing>Nothing to show: nothing in this tree cost anything.</Nothing>;
  return (
    <div class="view flame">
      <div class="toolbar">
        <select
          aria-label="Tree"
          title="Source: file, inlined lines, instructions. Marker scopes: time of waves inside them. Scopes and source: instructions below the scopes they began in"
          value={tree.value}
          onChange={(event) => (tree.value = event.currentTarget.value)}
        >
          {TREES.map((one) => (
            <option key={one.id} value={one.id} disabled={one.needsMarkers && !hasMarkers}>
              {one.title}
              {one.needsMarkers && !hasMarkers ? " (no markers in this trace)" : ""}
            </option>
          ))}
        </select>
        {isSampled.value || isScopes ? null : (
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
            <label title="Count the idle cycles before instructions">
              <input
                type="checkbox"
                checked={withIdle}
                onChange={(event) => change({ withIdle: event.currentTarget.checked })}
              />{" "}
              idle
            </label>
          </>
        )}
        <button
          type="button"
          class="quiet"
          title="Put the whole at the other end"
          onClick={() => change({ flameRoot: rootAt === "top" ? "bottom" : "top" })}
        >
          {rootAt === "top" ? "root on top" : "root at the bottom"}
        </button>
        <input
          type="search"
          placeholder="find: text or /regex/"
          aria-label="Find in the flame graph"
          value={search.value}
          onInput={(event) => (search.value = event.currentTarget.value)}
        />
        {search.value ? (
          <span role="status" data-column="matched">
            {query.problem ||
              `${exact(found.count)} frames, ${exact(found.weight)} ${unit}, ${percent(found.weight / total)}`}
          </span>
        ) : null}
        <span data-column="total" data-frames={frames.count - 1} data-levels={layout.deepest - 1}>
          {exact(total)} {unit}
        </span>
        <SaveMenu
          name={`flame-${tree.value}`}
          offers={[...pictures(paint, size), { format: "csv", make: () => asCsv(frames, weights) }]}
        />
      </div>
      <Crumbs
        frames={frames}
        focus={focus.value}
        zoomTo={zoomTo}
        isZoomed={window.value.begin > 0 || window.value.end < 1}
      />
      <div class="stage">
        <Canvas
          paint={paint}
          canvasRef={canvas}
          label={`Flame graph of ${exact(total)} ${unit} in ${exact(frames.count - 1)} frames`}
          events={{
            onPointerMove: (event) => hover(at(event), event),
            onPointerLeave: (event) => hover(-1, event),
            onClick: (event) => {
              const frame = at(event);
              if (frame < 0) return;
              zoomTo(frame);
              selectFrame(frames, frame);
            },
            onDblClick: () => zoomTo(0),
            onWheel: wheel,
          }}
        />
        {over.value ? <Tip frames={frames} weights={weights} over={over.value} size={canvas.current} /> : null}
      </div>
    </div>
  );
}

export const flame: View = {
  id: "flame",
  title: "Flame graph",
  hint: "Where the cycles go: files, inlined lines and instructions, or marker scopes, by width",
  about: "trace",
  missing: (overview) =>
    overview.kind === "trace" && (overview.instruction_count || overview.holds.samples || overview.holds.markers)
      ? ""
      : "no instruction was traced or sampled",
  component: FlameView,
};
