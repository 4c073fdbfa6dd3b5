// Counter captures: which kernel and normalization the views are about, and the answers that several of them share.
import type { CounterKernelsRow, CounterPanelsRow } from "../data/answers.gen";
import { arrow, json, type Parameters, type Question } from "../data/ask";
import type { Columns } from "../data/columns";
import type { Frame } from "../data/tables";
import { countersOverview, overview } from "./document";
import { select, selection } from "./selection";

export interface Metric {
  /** panel.table.index */
  id: string;
  name: string;
  unit: string;
  /** null = this target has no counters for it. */
  formula: string | null;
  peak: string | null;
  level: string;
  series: string;
  about: string;
  source: string;
  defect: string;
}

/** A statistic of a row. */
export type Statistic =
  | "average"
  | "deviation"
  | "minimum"
  | "q1"
  | "median"
  | "q3"
  | "maximum"
  | "peak"
  | "peak_share";

export interface MetricTable {
  id: string;
  title: string;
  layout: string;
  columns: Statistic[];
  per_channel: boolean;
  metrics: Metric[];
}

export interface Panel {
  number: number;
  word: string;
  title: string;
  tables: MetricTable[];
}

export interface PanelsAnswer {
  definition: string;
  dispatch_count: number;
  rows: Frame<CounterPanelsRow>;
  caveats: string[];
}

export const NORMALIZATIONS = [
  { per: "kernel", hint: "Amounts per dispatch" },
  { per: "wave", hint: "Amounts divided by the number of waves" },
  { per: "cycle", hint: "Amounts divided by the cycles in which the GPU was busy" },
  { per: "second", hint: "Amounts divided by the duration in seconds" },
];

/** What amounts are per: nonsense in a URL means the default. */
export function normalization(): string {
  const per = selection.value.per;
  return NORMALIZATIONS.find((known) => known.per === per)?.per ?? "kernel";
}

export function normalize(per: string): void {
  select({ per: per === "kernel" ? undefined : per });
}

/** The selected kernel; null = the views are about all of them. */
export function chosenKernel(): CounterKernelsRow | null {
  const facts = overview.value;
  if (facts?.kind !== "counters") return null;
  return facts.kernels.find((kernel) => kernel.kernel === selection.value.kernelRank) ?? null;
}

/** Selects a kernel for every view; null = all. */
export function chooseKernel(kernel: number | null): void {
  select({ kernelRank: kernel ?? undefined });
}

/** The parameters of a question about the chosen kernel. In a capture of one kernel, that is all of it. */
export function ofChosen(): Parameters {
  const kernel = chosenKernel();
  return kernel && countersOverview().kernel_count > 1 ? { kernel: kernel.kernel } : {};
}

/** The same, and about the normalization. */
export function ofChosenNormalized(): Parameters {
  const per = normalization();
  return per === "kernel" ? ofChosen() : { ...ofChosen(), normalization: per };
}

/** What is declared about every metric of the capture's GPU. */
export function counterMetrics(document: number): Question<Panel[]> {
  return json<Panel[]>(document, "counter_metrics");
}

export function counterPanels(document: number, parameters: Parameters): Question<PanelsAnswer> {
  return json<PanelsAnswer>(document, "counter_panels", parameters);
}

/** Values per L2 channel. */
export function counterChannels(document: number, parameters: Parameters): Question<Columns> {
  return arrow(document, "counter_channels", parameters);
}

/** Every metric by its id. */
export function metricsById(panels: Panel[]): Map<string, Metric> {
  return new Map(
    panels.flatMap((panel) => panel.tables.flatMap((table) => table.metrics.map((metric) => [metric.id, metric]))),
  );
}

/** All that is declared about a metric, as the text of a tooltip. */
export function explained(metric: Metric | undefined): string {
  if (!metric) return "";
  const lines = [
    `${metric.id}  ${metric.name}${metric.unit ? `, ${metric.unit}` : ""}`,
    metric.about,
    metric.formula === null ? "This GPU has no counters for it." : `= ${metric.formula}`,
    metric.peak ? `peak = ${metric.peak}` : "",
    metric.level ? `measured in the pass of ${metric.level}` : "",
  ];
  return lines.filter(Boolean).join("\n");
}
