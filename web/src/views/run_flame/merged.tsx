// Call trees merged by path, the heaviest first: every path of calls once, however often it was taken.
import { type Signal, useComputed } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { counted, exact, nanoseconds } from "../../base/format";
import { matcher } from "../../base/matcher";
import { arrow } from "../../data/ask";
import type { Columns } from "../../data/columns";
import { type FlameLayout, flameLayout } from "../../draw/flame";
import { current } from "../../model/document";
import { useAnswer } from "../../model/loaded";
import { selectKernel } from "../../model/run";
import { Answered, Nothing } from "../../widgets/answered";
import { Graph, type PictureHandle, type RunFrames, useMatches } from "./graph";
import { Matched } from "./matched";

export type Weight = "host" | "gpu";

/** The column that is the width of frames. */
export const WEIGHT_COLUMN = { host: "total_ns", gpu: "gpu_total_ns" } as const;

export interface TreeChoice {
  tree: string;
  weight: Weight;
}

/** Numbers of a frame: those of the analysis. */
export interface Figures {
  call_count: ArrayLike<number>;
  total_ns: ArrayLike<number>;
  self_ns: ArrayLike<number>;
  gpu_total_ns: ArrayLike<number>;
  gpu_ns: ArrayLike<number>;
}

/** Lines of the tip of a frame; kernels of GPUs have counts only. */
export function factsOf(figures: Figures, frame: number, isGpu: boolean): string[] {
  const figure = (name: keyof Figures) => figures[name][frame] ?? 0;
  const gpu = `GPU time launched ${nanoseconds(figure("gpu_total_ns"))}, by itself ${nanoseconds(figure("gpu_ns"))}`;
  if (isGpu) return [counted(figure("call_count"), "calls")];
  const host = `host time ${nanoseconds(figure("total_ns"))}, self ${nanoseconds(figure("self_ns"))}`;
  return [counted(figure("call_count"), "calls"), host, ...(figure("gpu_total_ns") ? [gpu] : [])];
}

interface Props {
  choice: TreeChoice;
  search: Signal<string>;
  handle: PictureHandle;
  /** Shows the callers and callees of a function. */
  sandwichOf: (name: string, domain: string) => void;
}

export function LeftHeavy(props: Props) {
  const { tree, weight } = props.choice;
  const answer = useAnswer(arrow(current.value, "run_flame", { tree, weight }));
  return <Answered answer={answer}>{(table) => <Tree key={`${tree}/${weight}`} table={table} {...props} />}</Answered>;
}

function Tree({ table, choice, search, handle, sandwichOf }: Props & { table: Columns }) {
  const isGpu = choice.tree === "gpus";
  const { frames, weights, layout } = useMemo(() => fromTable(table, choice), [table]);
  const query = useComputed(() => matcher(search.value));
  const matches = useMatches(frames, weights, query);
  const nodes = table.numbers("node_count")[0] ?? 0;
  const smaller = frames.kinds.filter((kind) => kind === "smaller").length;
  const shown = table.length - 1 - smaller;
  const total = weights[0] ?? 0;
  if (!total) return <Nothing>Nothing to show: nothing in this tree took time of this kind.</Nothing>;
  return (
    <div class="view flame">
      <Matched query={query.value} text={search.value} matches={matches} total={total}>
        <span data-column="total" data-frames={shown}>
          {nanoseconds(total)} in {counted(shown, "paths")}
        </span>
        {smaller ? (
          <strong data-column="truncated">
            the {exact(shown)} heaviest of {exact(nodes)}; the others are “smaller” frames
          </strong>
        ) : null}
      </Matched>
      <Graph
        frames={frames}
        weights={weights}
        layout={layout}
        rootAt="top"
        label={`Flame graph of ${nanoseconds(total)} in ${exact(shown)} paths`}
        query={query.value}
        isSearching={search.value !== ""}
        handle={handle}
        onChoose={(frame) => {
          if (frames.kinds[frame] === "KERNEL") selectKernel(frames.names[frame] ?? "");
        }}
        more={(frame) =>
          frame > 0 && frames.kinds[frame] !== "smaller" && !isGpu ? (
            <button
              type="button"
              data-action="sandwich"
              onClick={() => sandwichOf(frames.names[frame] ?? "", frames.kinds[frame] ?? "")}
            >
              [callers and callees]
            </button>
          ) : null
        }
      />
    </div>
  );
}

/** The frames of an answer, their weights and where they lie. */
function fromTable(
  table: Columns,
  { tree, weight }: TreeChoice,
): { frames: RunFrames; weights: ArrayLike<number>; layout: FlameLayout } {
  const figures = {
    call_count: table.numbers("call_count"),
    total_ns: table.numbers("total_ns"),
    self_ns: table.numbers("self_ns"),
    gpu_total_ns: table.numbers("gpu_total_ns"),
    gpu_ns: table.numbers("gpu_ns"),
  };
  const frames: RunFrames = {
    parents: table.numbers("parent"),
    names: table.texts("name"),
    kinds: table.texts("domain"),
    facts: (frame) => factsOf(figures, frame, tree === "gpus"),
  };
  const weights = figures[WEIGHT_COLUMN[weight]];
  return { frames, weights, layout: flameLayout(frames, weights) };
}
