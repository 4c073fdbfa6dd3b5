// Traces in which waves of several kernels were traced: some views can be about one of them.
import type { Parameters } from "../data/ask";
import { overview } from "./document";
import { selection } from "./selection";

export interface TracedKernel {
  kernel: number;
  name: string;
}

/** Kernels that traced waves entered, the one with the most waves first. */
export function tracedKernels(): TracedKernel[] {
  const facts = overview.value;
  if (facts?.kind !== "trace") return [];
  const names = new Map(facts.kernels.map((kernel) => [kernel.kernel, kernel.demangled]));
  return facts.traced_kernels.map((kernel) => ({ kernel, name: names.get(kernel) ?? `kernel ${kernel}` }));
}

/** The parameters of a question about the selected kernel; none when there is one kernel, or none is selected. */
export function ofKernel(): Parameters {
  const kernels = tracedKernels();
  const chosen = kernels.find((each) => each.kernel === selection.value.kernel);
  return chosen && kernels.length > 1 ? { kernel: chosen.kernel } : {};
}
