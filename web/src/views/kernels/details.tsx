// One kernel: how its durations are distributed, how they change over time, with which sizes and where it runs.

import { useMemo } from "preact/hooks";
import { baseName } from "../../base/path";
import { json } from "../../data/ask";
import { numberOf, seriesColour } from "../../draw/palette";
import { paintBars, paintSteps, plotBox } from "../../draw/plot";
import { current, runOverview } from "../../model/document";
import { useAnswer } from "../../model/loaded";
import { gpuName, processName, type Told } from "../../model/run";
import { bounds, show } from "../../model/timewindow";
import { tracksOf } from "../../model/tracks";
import { frontView } from "../../model/view";
import { Answered } from "../../widgets/answered";
import { Canvas, type Paint } from "../../widgets/canvas";
import { Definition, Section } from "../../widgets/cards";
import { type Described, figureColumns } from "../../widgets/figure_columns";
import { pictures, SaveMenu } from "../../widgets/saving";
import { SmallTable } from "../../widgets/small_table";

interface Shape {
  calls: number;
}

interface Longest {
  node: string;
  gpu: number | null;
  pid: number | null;
  rank: number | null;
  begin: number;
  duration_ns: number;
}

interface Stretch {
  machine: string;
  begin: number;
  length_ns: number;
  calls: number;
  mean_ns: number;
  min_ns: number;
  max_ns: number;
}

interface Grouped {
  host: string | null;
  gpu: number | null;
  pid: number | null;
  rank: number | null;
}

interface Range {
  from_ns: number;
  calls: number;
}

interface KernelAnswer {
  definition: string;
  kernels: Told<{ name: string; latency_p95_ns: number | null }>;
  shapes: Told<Shape>;
  histogram: Told<Range>;
  over_time: Told<Stretch>;
  longest: Told<Longest>;
  counters: Told<{ counter: string }>;
  by_gpu: Grouped[];
  by_process: Grouped[];
}

const SHAPES: Described[] = [
  ["grid_x", "Grid x", "count"],
  ["grid_y", "y", "count"],
  ["grid_z", "z", "count"],
  ["workgroup_x", "Workgroup x", "count"],
  ["workgroup_y", "y", "count"],
  ["workgroup_z", "z", "count"],
  ["calls", "Calls", "count"],
  ["mean_ns", "Mean", "ns"],
  ["kernel_share", "Share", "share"],
  ["vgpr_count", "VGPR", "count"],
  ["accum_vgpr_count", "AGPR", "count"],
  ["sgpr_count", "SGPR", "count"],
  ["lds_bytes", "LDS", "bytes"],
  ["scratch_bytes", "Scratch", "bytes"],
  ["waves_per_simd", "Waves/SIMD", "count"],
  ["waves_per_simd_max", "of", "count"],
  ["bound_by", "Bound by", "text"],
];
const RANGES: Described[] = [
  ["from_ns", "From", "ns"],
  ["calls", "Dispatches", "count"],
];
const COUNTERS: Described[] = [
  ["counter", "Counter", "text"],
  ["dispatch_count", "Dispatches", "count"],
  ["value_mean", "Mean", "count"],
  ["value_min", "Min", "count"],
  ["value_max", "Max", "count"],
];
const FIGURES: Described[] = [
  ["calls", "Calls", "count"],
  ["total_ns", "Total", "ns"],
  ["mean_ns", "Mean", "ns"],
  ["median_ns", "Median", "ns"],
  ["p95_ns", "p95", "ns"],
  ["max_ns", "Max", "ns"],
];
const LONGEST: Described[] = [
  ["duration_ns", "Took", "ns"],
  ["median_ratio", "Of median", "factor"],
  ["begin", "Began at", "ns"],
  ["stream_id", "Stream", "count"],
  ["dispatch_id", "Dispatch", "count"],
];

/** The colour that the kernel has in the timeline. */
function useKernelColour(name: string): string {
  const tracks = useAnswer(tracksOf(current.value)).value;
  const known = tracks.state === "ready" ? tracks.value.track("run")?.kinds.find((kind) => kind.name === name) : null;
  return seriesColour(known?.kind ?? numberOf(name));
}

export function KernelDetails({ name }: { name: string }) {
  const answer = useAnswer(json<KernelAnswer>(current.value, "run_kernel", { name }));
  return (
    <div class="kernels-more" key={name} data-kernel={name}>
      <Answered answer={answer}>{(value) => <Details answer={value} name={name} />}</Answered>
    </div>
  );
}

function Details({ answer, name }: { answer: KernelAnswer; name: string }) {
  const { shapes, histogram, over_time, longest, counters, by_gpu, by_process } = answer;
  const known = runOverview().clocks.nodes;
  const nodes = known.length;
  const nodeOf = (machine: string) => baseName(known.find((node) => node.machine === machine)?.node ?? machine);
  const colour = useKernelColour(name);
  const bars = histogram.rows.map((row) => ({ from: row.from_ns, value: row.calls }));
  const paintHistogram: Paint = (painter, size) => paintBars(painter, plotBox(size), bars, colour, null);
  const machines = useMemo(() => [...new Set(over_time.rows.map((row) => row.machine))], [over_time]);
  const hints = answer.kernels.hints;
  const where = (title: string, of: (row: Grouped) => string) => ({
    name: "where",
    title,
    value: of,
    width: "12em",
  });
  return (
    <>
      <h2 class="kernel-name">{name}</h2>
      <div class="kernel-plots">
        <Section title="Durations" hint={histogram.hints.from_ns ?? ""}>
          <Canvas paint={paintHistogram} label={`Histogram of the durations of ${name}`} height={150} />
          <details>
            <summary>as a table</summary>
            <SmallTable
              label="Histogram of durations"
              columns={figureColumns<Range>(histogram.hints, RANGES)}
              rows={histogram.rows}
            />
          </details>
          <SaveMenu name="kernel-durations" offers={pictures(paintHistogram, () => ({ width: 600, height: 220 }))} />
        </Section>
        {machines.map((machine) => (
          <OverTime
            key={machine}
            name={name}
            colour={colour}
            title={nodes > 1 ? `Over time on ${nodeOf(machine)}` : "Over time"}
            rows={over_time.rows.filter((row) => row.machine === machine)}
          />
        ))}
      </div>
      <Section title="By GPU">
        <SmallTable
          label="By GPU"
          rows={by_gpu}
          columns={[
            where("GPU", (row) => gpuName(row.host, row.gpu, nodes)),
            ...figureColumns<Grouped>(hints, FIGURES),
          ]}
        />
      </Section>
      {by_process.length > 1 ? (
        <Section title="By process">
          <SmallTable
            label="By process"
            rows={by_process}
            columns={[
              where("Process", (row) => processName(row.pid, row.rank)),
              ...figureColumns<Grouped>(hints, FIGURES),
            ]}
          />
        </Section>
      ) : null}
      <Section title="Launched with" hint="Sizes, registers, memory, and how many waves of it fit on a SIMD">
        <SmallTable
          label="Launch sizes"
          columns={figureColumns<Shape>(shapes.hints, SHAPES)}
          rows={shapes.rows}
          total={shapes.row_count}
        />
      </Section>
      <Section title="Longest dispatches" hint="A click shows it in the timeline">
        <SmallTable
          label="Longest dispatches"
          rows={longest.rows}
          total={longest.row_count}
          columns={[
            { name: "gpu", title: "GPU", value: (row: Longest) => gpuName(row.node, row.gpu, nodes), width: "" },
            ...figureColumns<Longest>(longest.hints, LONGEST),
          ]}
          onSelect={(row) => {
            show({ begin: row.begin - row.duration_ns, end: row.begin + 2 * row.duration_ns });
            frontView("run_timeline");
          }}
        />
      </Section>
      {counters.rows.length ? (
        <Section title="Counters per dispatch">
          <SmallTable
            label="Counters per dispatch"
            columns={figureColumns<{ counter: string }>(counters.hints, COUNTERS)}
            rows={counters.rows}
          />
        </Section>
      ) : null}
      <Definition text={answer.definition} />
    </>
  );
}

function OverTime({ name, title, rows, colour }: { name: string; title: string; rows: Stretch[]; colour: string }) {
  const stretches = rows.map((row) => ({
    begin: row.begin,
    end: row.begin + row.length_ns,
    mean: row.mean_ns,
    low: row.min_ns,
    high: row.max_ns,
  }));
  const paint: Paint = (painter, size) => paintSteps(painter, plotBox(size), stretches, bounds.value, colour);
  return (
    <Section
      title={title}
      hint="Mean duration of the dispatches that began in each stretch; the band reaches from the shortest to the longest"
    >
      <Canvas paint={paint} label={`Durations of ${name} over time`} height={150} />
      <SaveMenu name="kernel-over-time" offers={pictures(paint, () => ({ width: 600, height: 220 }))} />
    </Section>
  );
}
