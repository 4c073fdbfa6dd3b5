// One thread, or one stream of a GPU, in the order of time: the stack of calls at each moment.
import { type Signal, useComputed, useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { exact, nanoseconds } from "../../base/format";
import { matcher } from "../../base/matcher";
import { arrow } from "../../data/ask";
import type { Columns } from "../../data/columns";
import { type FlameWindow, timedLayout } from "../../draw/flame";
import { paper } from "../../draw/palette";
import { tickNanoseconds, ticks } from "../../draw/ticks";
import { current } from "../../model/document";
import { useAnswer } from "../../model/loaded";
import { select } from "../../model/selection";
import { show } from "../../model/timewindow";
import { Answered, Nothing } from "../../widgets/answered";
import { Canvas, type Paint } from "../../widgets/canvas";
import { Graph, type PictureHandle, type RunFrames, useMatches } from "./graph";
import { Matched } from "./matched";

interface Props {
  line: number;
  name: string;
  search: Signal<string>;
  handle: PictureHandle;
}

export function TimeOrder({ line, name, search, handle }: Props) {
  const answer = useAnswer(arrow(current.value, "run_line_stacks", { line }));
  return (
    <Answered answer={answer}>
      {(whole) => <Line key={line} line={line} name={name} whole={whole} search={search} handle={handle} />}
    </Answered>
  );
}

/** An interval around what is on screen, the same for windows that differ little: its answer is asked for once. */
function around(first: number, last: number, window: FlameWindow): { low: number; high: number } | null {
  const length = last - first;
  const level = Math.floor(-Math.log2(Math.max(window.end - window.begin, 1e-6))) - 1;
  if (level < 1) return null;
  const width = length / 2 ** level;
  const low = first + Math.floor(((window.begin * length) / width) * 2) * (width / 2);
  return { low: Math.floor(low), high: Math.ceil(Math.min(low + 1.5 * width, last)) };
}

function Line({ line, name, whole, search, handle }: Props & { whole: Columns }) {
  const [first, last] = [whole.numbers("first")[0] ?? 0, whole.numbers("last")[0] ?? 1];
  const window = useSignal<FlameWindow>({ begin: 0, end: 1, scroll: 0, rootAt: "top" });
  const isCut = (whole.numbers("span_count")[0] ?? 0) > whole.length;
  const part = isCut ? around(first, last, window.value) : null;
  const fine = useAnswer(part && arrow(current.value, "run_line_stacks", { line, ...part })).value;
  const table = part && fine.state === "ready" ? fine.value : whole;
  const { frames, weights, layout } = useMemo(() => fromTable(table, name, first, last), [table]);
  const query = useComputed(() => matcher(search.value));
  const matches = useMatches(frames, weights, query);
  const axis: Paint = (painter, { width }) => {
    const length = last - first;
    const [from, to] = [first + window.value.begin * length, first + window.value.end * length];
    const { step, times } = ticks(from, to, width, 110);
    for (const time of times) {
      const x = ((time - from) / (to - from)) * width;
      painter.polyline([x + 0.5, 12, x + 0.5, 18], paper("faint"), 1);
      painter.text(x + 4, 9, tickNanoseconds(time, step), paper("faint"));
    }
  };
  if (!whole.length) return <Nothing>Nothing to show: nothing with a time is on this line.</Nothing>;
  const inside = table.numbers("span_count")[0] ?? 0;
  const items = table.numbers("item");
  const [starts, ends] = [table.numbers("begin"), table.numbers("end")];
  return (
    <div class="view flame">
      <Matched query={query.value} text={search.value} matches={matches} total={last - first}>
        <span data-column="total" data-frames={table.length}>
          {nanoseconds(last - first)}, {exact(whole.numbers("span_count")[0])} events
        </span>
        {inside > table.length ? (
          <strong data-column="truncated">
            the {exact(table.length)} longest of {exact(inside)} here; zoom in to see more
          </strong>
        ) : null}
      </Matched>
      <Graph
        frames={frames}
        weights={weights}
        layout={layout}
        rootAt="top"
        label={`${name} in the order of time`}
        query={query.value}
        isSearching={search.value !== ""}
        handle={handle}
        above={<Canvas paint={axis} label="Time axis" height={18} />}
        onWindow={(next) => {
          window.value = next;
        }}
        onChoose={(frame) => {
          if (frame <= 0) return;
          const [begin, end] = [starts[frame - 1] as number, ends[frame - 1] as number];
          select({ span: `run:${items[frame - 1]}` });
          show({ begin: begin - (end - begin) / 4, end: end + (end - begin) / 4 });
        }}
      />
    </div>
  );
}

function fromTable(table: Columns, name: string, first: number, last: number) {
  const [starts, ends] = [table.numbers("begin"), table.numbers("end")];
  const share = (time: number) => (time - first) / Math.max(1, last - first);
  const layout = timedLayout({
    begin: Float64Array.from(starts, share),
    end: Float64Array.from(ends, share),
    depth: table.numbers("depth"),
  });
  const weights = Float64Array.from({ length: table.length + 1 }, (_, n) =>
    n ? (ends[n - 1] as number) - (starts[n - 1] as number) : last - first,
  );
  const frames: RunFrames = {
    parents: layout.parents,
    names: [name, ...table.texts("name")],
    kinds: ["all", ...Array.from({ length: table.length }, () => "")],
    facts: (frame) => (frame ? [`started at ${nanoseconds(starts[frame - 1] as number)}`] : []),
  };
  return { frames, weights, layout };
}
