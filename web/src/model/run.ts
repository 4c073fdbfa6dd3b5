// What views of runs share: how GPUs and processes are named, and selecting a kernel.
import { baseName } from "../base/path";
import { select } from "./selection";

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
