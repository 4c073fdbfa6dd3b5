// One line of a run, which is a thread or a stream of a GPU, in the order of time: the stack of calls at each moment.
import { type Signal, useComputed, useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { exact, nanoseconds } from "../../base/format";
import { matcher } from "../../base/matcher";
import { arrow } from "../../data/ask";
import type { Columns } from "../../data/columns";
import { type FlameWindow, timedLayout } from "../../draw/flame";
import type { Painter } from "../../draw/painter";
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

/** The first start and the last end on a line, in ns. */
interface Line {
  first: number;
  last: number;
}

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
      {(whole) => <Stacks key={line} line={line} name={name} whole={whole} search={search} handle={handle} />}
    </Answered>
  );
}

/** A window of less than this share of the line is treated as this share: 2^-20. */
const NARROWEST = 1e-6;

/**
 * The part of a line to ask for while a window (shares of the line) is on screen; null = the answer of the whole line
 * does. Windows that differ little have the same part, so that its answer is asked for once: its unit is the line halved
 * until it is 2 to 4 times as long as the window; it starts at a multiple of half a unit, and is 1.5 units long.
 */
function partAround({ first, last }: Line, window: FlameWindow): { low: number; high: number } | null {
  const halvings = Math.floor(-Math.log2(Math.max(window.end - window.begin, NARROWEST))) - 1;
  if (halvings < 1) return null;
  const unit = (last - first) / 2 ** halvings;
  const halvesBefore = Math.floor(((window.begin * (last - first)) / unit) * 2);
  const low = first + halvesBefore * (unit / 2);
  return { low: Math.floor(low), high: Math.ceil(Math.min(low + 1.5 * unit, last)) };
}

/** `whole` has the longest events of the line; where it lacks some, those on screen are asked for as well. */
function Stacks({ line, name, whole, search, handle }: Props & { whole: Columns }) {
  const ends: Line = { first: whole.numbers("first")[0] ?? 0, last: whole.numbers("last")[0] ?? 1 };
  const length = ends.last - ends.first;
  const window = useSignal<FlameWindow>({ begin: 0, end: 1, scroll: 0, rootAt: "top" });
  const eventCount = whole.numbers("span_count")[0] ?? 0;
  const part = eventCount > whole.length ? partAround(ends, window.value) : null;
  const ofPart = useAnswer(part && arrow(current.value, "run_line_stacks", { line, ...part })).value;
  const table = part && ofPart.state === "ready" ? ofPart.value : whole;
  const { frames, weights, layout } = useMemo(() => fromTable(table, name, ends), [table]);
  const query = useComputed(() => matcher(search.value));
  const matches = useMatches(frames, weights, query);
  if (!whole.length) return <Nothing>Nothing to show: nothing with a time is on this line.</Nothing>;
  const countInPart = table.numbers("span_count")[0] ?? 0;
  const axis: Paint = (painter, { width }) => paintAxis(painter, width, ends, window.value);
  return (
    <div class="view flame">
      <Matched query={query.value} text={search.value} matches={matches} total={length}>
        <span data-column="total" data-frames={table.length}>
          {nanoseconds(length)}, {exact(eventCount)} events
        </span>
        {countInPart > table.length ? (
          <strong data-column="truncated">
            the {exact(table.length)} longest of {exact(countInPart)} here; zoom in to see more
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
          if (frame > 0) showEvent(table, frame - 1);
        }}
      />
    </div>
  );
}

/** Selects the event of a row, and shows it in the timelines with a quarter of its length on both sides. */
function showEvent(table: Columns, row: number): void {
  const [begin, end] = [table.numbers("begin")[row] as number, table.numbers("end")[row] as number];
  select({ span: `run:${table.numbers("item")[row]}` });
  show({ begin: begin - (end - begin) / 4, end: end + (end - begin) / 4 });
}

/** The times of what is on screen, above the graph. */
function paintAxis(painter: Painter, width: number, { first, last }: Line, window: FlameWindow): void {
  const [from, to] = [first + window.begin * (last - first), first + window.end * (last - first)];
  const { step, times } = ticks(from, to, width, 110);
  for (const time of times) {
    const x = ((time - from) / (to - from)) * width;
    painter.polyline([x + 0.5, 12, x + 0.5, 18], paper("faint"), 1);
    painter.text(x + 4, 9, tickNanoseconds(time, step), paper("faint"));
  }
}

/** Frame 0 is the line as a whole; frame n is row n - 1 of the table. */
function fromTable(table: Columns, name: string, { first, last }: Line) {
  const [starts, ends] = [table.numbers("begin"), table.numbers("end")];
  const shareAt = (time: number) => (time - first) / Math.max(1, last - first);
  const layout = timedLayout({
    begin: Float64Array.from(starts, shareAt),
    end: Float64Array.from(ends, shareAt),
    depth: table.numbers("depth"),
  });
  const lengthOf = (row: number) => (ends[row] as number) - (starts[row] as number);
  const weights = Float64Array.from({ length: table.length + 1 }, (_, frame) =>
    frame ? lengthOf(frame - 1) : last - first,
  );
  const frames: RunFrames = {
    parents: layout.parents,
    names: [name, ...table.texts("name")],
    kinds: ["all", ...Array.from({ length: table.length }, () => "")],
    facts: (frame) => (frame ? [`started at ${nanoseconds(starts[frame - 1] as number)}`] : []),
  };
  return { frames, weights, layout };
}
