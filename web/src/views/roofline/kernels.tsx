// The kernels of the roofline as a table: how near each is to its roof, and its intensity at each level of memory.
import { useMemo } from "preact/hooks";
import { measured, percent, rate } from "../../base/format";
import {
  COUNTER_ROOFLINE_KERNELS,
  type CounterRooflineAnswer,
  type CounterRooflineKernelsRow,
} from "../../data/answers.gen";
import { seriesColour } from "../../draw/palette";
import { truncation } from "../../model/answers";
import { chooseKernel, chosenKernel } from "../../model/counters";
import { preview } from "../../model/selection";
import { Definition } from "../../widgets/cards";
import { Caveats } from "../../widgets/caveats";
import { type Column, DataTable } from "../../widgets/data_table";
import { figureColumns } from "../../widgets/figure_columns";
import type { Work } from "./ceilings";
import { LEVELS } from "./paint";

type Row = CounterRooflineKernelsRow;

/** Points.ABOVE of analysis/counters/roofline: beyond it the roof is wrong, and the share says nothing. */
const ABOVE = 1.02;

/** The share of a roof that a kernel reaches, in words. */
export function ofRoof(share: number | null) {
  if (share === null) return "–";
  return share > ABOVE ? <span title={`at ${percent(share)} of it`}>roof too low</span> : percent(share);
}

export function Kernels({ answer, work }: { answer: CounterRooflineAnswer; work: Work }) {
  const { kernels } = answer;
  const columns = useMemo(() => kernelColumns(answer, work), [answer, work]);
  const cutNote = truncation(kernels.rows.length, kernels.row_count);
  return (
    <div class="roofline-kernels" style={{ flexBasis: `${(kernels.rows.length + 5) * 1.85}em` }}>
      <Caveats caveats={answer.caveats} />
      {cutNote ? <strong>{cutNote}</strong> : null}
      <DataTable
        label="Kernels of the roofline"
        columns={columns}
        rows={kernels.rows}
        isSelected={(row) => row.kernel === chosenKernel()?.kernel}
        onSelect={(row) => chooseKernel(row.kernel)}
        onHover={(row) => {
          preview.value = row ? { kernelRank: row.kernel } : {};
        }}
      />
      <Definition text={answer.definition} />
    </div>
  );
}

const KERNELS = figureColumns<Row>(COUNTER_ROOFLINE_KERNELS, [
  {
    name: "kernel_name",
    title: "Kernel",
    show: (row) => (
      <>
        <span class="swatch" style={{ background: seriesColour(row.kernel) }} /> {row.kernel}: {row.kernel_name}
      </>
    ),
    width: "minmax(10em, 2fr)",
  },
  ["duration_share", "Time", "share", "4.5em"],
  { name: "share", title: "Of its roof", show: (row) => ofRoof(row.share), width: "7em" },
  ["verdict", "Bound", "text", "minmax(12em, 2fr)"],
]);

function kernelColumns({ points }: CounterRooflineAnswer, work: Work): Column<Row>[] {
  const unit = work === "flop" ? "FLOP" : "IOP";
  const gops = (row: Row) => (work === "flop" ? row.gflops_per_second : row.giops_per_second);
  const intensities = new Map(
    points.rows.map((point) => [`${point.kernel} ${point.level} ${point.work}`, point.intensity]),
  );
  const intensityColumn = (level: string): Column<Row> => {
    const intensityOf = (row: Row) => intensities.get(`${row.kernel} ${level} ${work}`) ?? null;
    return {
      name: `${level.toLowerCase()}_intensity`,
      title: `${unit}/B ${level}`,
      hint: `${unit} per byte that ${level} moved`,
      value: intensityOf,
      show: (row) => measured(intensityOf(row)) || "–",
      width: "6.5em",
    };
  };
  return [
    ...KERNELS,
    {
      name: "gops",
      title: `${unit}/s`,
      hint: `10^9 ${unit} per second as a number to sort by`,
      value: gops,
      show: (row) => (gops(row) === null ? "–" : rate(gops(row) ?? 0, `G${unit}/s`)),
      width: "8.5em",
    },
    ...LEVELS.filter((level) => points.rows.some((point) => point.level === level)).map(intensityColumn),
    {
      name: "not_counted",
      title: "Not counted",
      hint: `Kinds of ${unit} that were not measured: the rate is a lower bound`,
      value: (row) => (work === "flop" ? row.flops_missing : row.iops_missing),
      width: "8em",
    },
  ];
}
