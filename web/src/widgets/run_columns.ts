// Columns that say where something of a run happened.
import { runOverview } from "../model/document";
import { gpuName, processName } from "../model/run";
import type { Column } from "./data_table";

interface OnGpu {
  node: string | null;
  gpu: number | null;
}

interface OfProcess {
  pid: number | null;
  rank: number | null;
}

/** The GPU, with its node where the run has several. */
export function gpuColumn<Row extends OnGpu>(width = ""): Column<Row> {
  const nodes = runOverview().clocks.nodes.length;
  return { name: "gpu", title: "GPU", value: (row) => gpuName(row.node, row.gpu, nodes), width };
}

/** The process, by its rank where it has one. */
export function processColumn<Row extends OfProcess>(): Column<Row> {
  return { name: "process", title: "Process", value: (row) => processName(row.pid, row.rank), width: "" };
}
