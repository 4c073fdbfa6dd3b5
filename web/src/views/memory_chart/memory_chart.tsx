// The view "Memory chart": requests and bytes between waves, caches and memory, of a counter capture. layout.ts says where
// blocks and wires stand, picture.tsx draws them on screen, paint.ts for files.
import { useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { counted, nanoseconds, rate } from "../../base/format";
import { ASKED, type MemoryChartAnswer, type MemoryChartValuesRow } from "../../data/answers.gen";
import { json } from "../../data/ask";
import { ofChosenNormalized } from "../../model/counters";
import { current } from "../../model/document";
import { useAnswer } from "../../model/loaded";
import type { View } from "../../model/view";
import { Answered, Nothing } from "../../widgets/answered";
import { Definition } from "../../widgets/cards";
import { Caveats } from "../../widgets/caveats";
import { CounterKernelChooser, NormalizationChooser } from "../../widgets/counter_choice";
import { tableOffer } from "../../widgets/data_table";
import { plainColumns } from "../../widgets/figure_columns";
import { pictures, SaveMenu } from "../../widgets/saving";
import { type ChartLayout, layoutOf } from "./layout";
import { MARGIN, paintMemoryChart } from "./paint";
import { Picture } from "./picture";
import "./memory_chart.css";

/** A number of the chart as a row of a file: of a block, or of a wire. */
type Line = Pick<MemoryChartValuesRow, "value" | "unit" | "metric_id" | "peak_share" | "reason"> & {
  where: string;
  what: string;
};

const COLUMNS = plainColumns<Line>(["where", "what", "value", "unit", "metric_id", "peak_share", "reason"]);

function lines({ values, wires }: MemoryChartAnswer): Line[] {
  return [
    ...values.rows.map((value) => ({ ...value, where: value.block, what: value.label })),
    ...wires.rows.map((wire) => ({ ...wire, where: `${wire.source} > ${wire.target}`, what: wire.kind })),
  ];
}

/** Scales of the chart: smaller than the first nobody can read it, so that it scrolls instead. */
const [SMALLEST, LARGEST] = [0.75, 2.2];
/** Pixels of the box around the chart that it must leave free: the padding of the box, and below the chart its definition. */
const FREE = { width: 26, height: 44 };

function MemoryChart() {
  const answer = useAnswer(json<MemoryChartAnswer>(current.value, "memory_chart", ofChosenNormalized()));
  return (
    <Answered
      answer={answer}
      choose={
        <>
          <CounterKernelChooser />
          <NormalizationChooser />
        </>
      }
    >
      {(value) => <Chart answer={value} />}
    </Answered>
  );
}

/** The scale at which a chart fills its box, within what can be read. */
function useScale(box: { current: HTMLElement | null }, layout: ChartLayout): number {
  const room = useSignal({ width: 0, height: 0 });
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const observer = new ResizeObserver(() => {
      room.value = { width: element.clientWidth - FREE.width, height: element.clientHeight - FREE.height };
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const fit = Math.min(room.value.width / layout.width, room.value.height / layout.height);
  return Math.min(Math.max(fit, SMALLEST), LARGEST);
}

function Chart({ answer }: { answer: MemoryChartAnswer }) {
  const layout = useMemo(() => layoutOf(answer), [answer]);
  const box = useRef<HTMLDivElement>(null);
  const scale = useScale(box, layout);
  const busiest = answer.blocks.rows.find((block) => block.block === answer.busiest);
  const size = () => ({ width: layout.width + 2 * MARGIN, height: layout.height + 2 * MARGIN });
  const offers = [
    ...pictures((painter) => paintMemoryChart(painter, layout), size),
    tableOffer(COLUMNS, () => lines(answer)),
  ];
  return (
    <div class="view">
      <div class="toolbar">
        <CounterKernelChooser />
        <NormalizationChooser />
        <span>
          {counted(answer.dispatch_count, "dispatches")}
          {answer.duration_ns_mean === null ? "" : `, ${nanoseconds(answer.duration_ns_mean)} each`}
        </span>
        {layout.most ? (
          <span title="Dashed: no counter tells its bytes">widest line: {rate(layout.most, "GB/s")}</span>
        ) : null}
        {busiest ? <span title="Framed in the picture">nearest to its peak: {busiest.title}</span> : null}
        <SaveMenu name="memory-chart" offers={offers} />
      </div>
      <div class="scroll" ref={box}>
        <Caveats caveats={answer.caveats} />
        {layout.blocks.length ? (
          <Picture layout={layout} busiest={answer.busiest} scale={scale} />
        ) : (
          <Nothing>Nothing to show: the blocks of this GPU are not known.</Nothing>
        )}
        <Definition text={answer.definition} />
      </div>
    </div>
  );
}

export const memoryChart: View = {
  id: "memory_chart",
  title: "Memory chart",
  hint: ASKED.memory_chart,
  about: "counters",
  missing: () => "",
  component: MemoryChart,
};
