// What the palette finds in a run: kernels, calls and markers by name, ranks, GPUs and times.
import { exact, nanoseconds } from "../base/format";
import type { Meaning } from "../base/query";
import { askTable } from "../data/ask";
import { current } from "../model/document";
import { shortName } from "../model/kernel_names";
import { layersOf } from "../model/layers";
import { trackGroup } from "../model/run";
import type { RunLayer } from "../model/run_layer";
import { select } from "../model/selection";
import { bounds } from "../model/timewindow";
import { frontView } from "../model/view";
import { type Collected, type Fit, MEANT } from "./hit_groups";
import { showTime } from "./show_time";

export async function findInRun(meaning: Meaning, rate: Fit, results: Collected): Promise<void> {
  if (meaning.scope !== "all") return;
  goToTime(meaning, results);
  await goToTracks(meaning, rate, results);
  await findNames(rate, results);
}

function goToTime({ nanoseconds: time, number }: Meaning, results: Collected): void {
  const at = time ?? number;
  if (at === undefined || at > bounds.value.end) return;
  const note = `${exact(Math.round(at))} ns after the start`;
  results.add("Go to", MEANT, () => ({ text: nanoseconds(at), note, go: () => showTime(at, "run_timeline") }));
}

/** Processes, and GPUs that they used: the timeline then shows the tracks of that process. */
async function goToTracks({ rank, gpu }: Meaning, rate: Fit, results: Collected): Promise<void> {
  const layer = (await layersOf(current.value).answer()).layer("run") as RunLayer | undefined;
  const add = (kind: string, name: string, note: string, process: string, number: number | undefined) => {
    const isMeant = number !== undefined && new RegExp(`^(rank|GPU) ${number}\\b`).test(name);
    const good = isMeant ? MEANT : rate(name);
    const go = () => {
      trackGroup.value = process;
      frontView("run_timeline");
    };
    if (isMeant || good) results.add(isMeant ? "Go to" : kind, good, () => ({ text: name, note, go }));
  };
  const processes = new Set<string>();
  const gpus = new Map<string, [process: string, gpu: string]>();
  for (const [process = "", part = ""] of layer?.tracks.map((track) => track.group) ?? []) {
    processes.add(process);
    if (part.startsWith("GPU ")) gpus.set(`${process}\0${part}`, [process, part]);
  }
  for (const process of processes) add("Processes", process, "", process, rank);
  for (const [process, name] of gpus.values()) add("GPUs", name, process, process, gpu);
}

async function findNames(rate: Fit, results: Collected): Promise<void> {
  const table = await askTable(current.value, "names");
  const [domains, names] = [table.texts("domain"), table.texts("name")];
  const [calls, totals] = [table.numbers("calls"), table.numbers("total_ns")];
  names.forEach((name, i) => {
    const isKernel = domains[i] === "KERNEL";
    const text = isKernel ? shortName(name) : name;
    const good = rate(name) || (text !== name && rate(text));
    if (!good) return;
    const go = () => {
      select({ kernelName: name });
      frontView(isKernel ? "kernels" : "regions");
    };
    const note = `${exact(calls[i] as number)} calls · ${nanoseconds(totals[i] as number)}`;
    results.add(isKernel ? "Kernels" : (domains[i] as string), good, () => ({ text, note, go }));
  });
}
