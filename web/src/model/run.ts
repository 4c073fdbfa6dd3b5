// What views of runs share: how GPUs and processes are named, and selecting a kernel.
import { baseName } from "../base/path";
import { askJson } from "../data/ask";
import { tracksText } from "./area";
import { current, ofDocument } from "./document";
import { type Range, type Selection, select } from "./selection";
import { show } from "./timewindow";
import { frontView } from "./view";

/** A GPU to show: its node only where there are several; names of nodes can be paths, whose end says enough. */
export function gpuName(node: string | null, gpu: number | null, nodeCount: number): string {
  const name = gpu === null ? "GPU not recorded" : `GPU ${gpu}`;
  return node && nodeCount > 1 ? `${baseName(node)} ${name}` : name;
}

/** A process to show. */
export function processName(pid: number | null, rank: number | null): string {
  if (rank === null) return `process ${pid ?? "not recorded"}`;
  return `rank ${rank} (${pid ?? "?"})`;
}

/** The name of a kernel of a run stands for it in the selection. */
export function selectKernel(name: string): void {
  select({ kernelName: name });
}

/** The process whose tracks the timeline shows, by the name of its group; empty = all. */
export const trackGroup = ofDocument("");
interface GpuTracks {
  node: string;
  gpu: number | null;
  tracks: number[];
}

/**
 * Shows a time on one GPU in the timeline, with as much again on both sides: the time is selected on the tracks of that
 * GPU only, so that the timeline scrolls to them and marks nothing else.
 */
export async function showOnGpu(
  where: { node: string | null; gpu: number | null },
  range: Range,
  others: Selection = {},
): Promise<void> {
  const length = range.end - range.begin;
  frontView("run_timeline");
  show({ begin: range.begin - length, end: range.end + length });
  const all = await askJson<GpuTracks[]>(current.value, "run_gpu_tracks").catch(() => []);
  const places = all.filter(({ node, gpu }) => gpu === where.gpu && (node === where.node || all.length === 1));
  const tracks = places.flatMap((place) => place.tracks);
  select({ ...others, range, tracks: tracks.length ? tracksText("run", tracks) : undefined });
}
