// What the palette finds in a run: kernels, calls and markers by name, ranks, GPUs and times.
import { exact, nanoseconds } from "../base/format";
import { type Meaning, RANK } from "../base/query";
import { askTable } from "../data/ask";
import { current } from "../model/document";
import { shortName } from "../model/kernel_names";
import { layersOf } from "../model/layers";
import { trackGroup } from "../model/run";
import type { RunLayer } from "../model/run_layer";
import { select } from "../model/selection";
import { bounds } from "../model/timewindow";
import { frontView } from "../model/view";
import type { Collected, Fit } from "./hit_groups";
import { showTime } from "./show_time";

export async function findInRun(meaning: Meaning, fitOfName: Fit, results: Collected): Promise<void> {
  if (meaning.scope !== "all") return;
  goToTime(meaning, results);
  await goToTracks(meaning, fitOfName, results);
  await findNames(fitOfName, results);
}

function goToTime({ nanoseconds: time, number }: Meaning, results: Collected): void {
  const ns = time ?? number;
  if (ns === undefined || ns > bounds.value.end) return;
  const note = `${exact(Math.round(ns))} ns after the start`;
  results.add("Go to", RANK.meant, () => ({ text: nanoseconds(ns), note, go: () => showTime(ns, "run_timeline") }));
}

/** A process, or a GPU of it, as the groups of the timeline's tracks name them. */
interface Place {
  group: "Processes" | "GPUs";
  name: string;
  note: string;
  /** Of which the timeline then shows the tracks. */
  process: string;
  /** Whether its number was typed: `rank 3`, `GPU 1`. */
  isMeant: boolean;
}

/** Processes, and GPUs that they used. */
async function goToTracks({ rank, gpu }: Meaning, fitOfName: Fit, results: Collected): Promise<void> {
  const layer = (await layersOf(current.value).answer()).layer("run") as RunLayer | undefined;
  // every one has several tracks
  const processes = new Map<string, Place>();
  const gpus = new Map<string, Place>();
  for (const [process = "", part = ""] of layer?.tracks.map((track) => track.group) ?? []) {
    const isMeant = startsWith(process, `rank ${rank}`);
    processes.set(process, { group: "Processes", name: process, note: "", process, isMeant });
    if (!part.startsWith("GPU ")) continue;
    const isGpuMeant = startsWith(part, `GPU ${gpu}`);
    gpus.set(`${process}\0${part}`, { group: "GPUs", name: part, note: process, process, isMeant: isGpuMeant });
  }
  for (const { group, name, note, process, isMeant } of [...processes.values(), ...gpus.values()]) {
    const go = () => {
      trackGroup.value = process;
      frontView("run_timeline");
    };
    results.add(isMeant ? "Go to" : group, isMeant ? RANK.meant : fitOfName(name), () => ({ text: name, note, go }));
  }
}

/** Whether a name starts with whole words: "rank 1 (4711)" with "rank 1", and not "rank 12". */
const startsWith = (name: string, words: string) => name.startsWith(words) && !/^\w/.test(name.slice(words.length));

async function findNames(fitOfName: Fit, results: Collected): Promise<void> {
  const table = await askTable(current.value, "names");
  const [domains, names] = [table.texts("domain"), table.texts("name")];
  const [calls, totals] = [table.numbers("calls"), table.numbers("total_ns")];
  names.forEach((name, i) => {
    const isKernel = domains[i] === "KERNEL";
    const text = isKernel ? shortName(name) : name;
    const go = () => {
      select({ kernelName: name });
      frontView(isKernel ? "kernels" : "regions");
    };
    const note = () => `${exact(calls[i] as number)} calls · ${nanoseconds(totals[i] as number)}`;
    const rank = fitOfName(name) ?? (text === name ? null : fitOfName(text));
    results.add(isKernel ? "Kernels" : (domains[i] as string), rank, () => ({ text, note: note(), go }));
  });
}
