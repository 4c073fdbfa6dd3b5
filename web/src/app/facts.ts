// What a document is, in words.
import { counted, exact, nanoseconds } from "../base/format";
import type { CountersOverview, Overview, RunOverview } from "../model/document";

/** What a document is, in one line. */
export function factsText(facts: Overview): string {
  if (facts.kind === "run") return wordsOfRun(facts);
  if (facts.kind === "counters") return wordsOfCounters(facts);
  if (facts.kind === "store") {
    const parts = [
      facts.targets.join(", "),
      counted(facts.capture_count, "captures"),
      some(facts.commit_count, "commits"),
    ];
    return parts.filter(Boolean).join(" · ");
  }
  const parts = [
    facts.source.target ?? (facts.gfxip ? `gfx${facts.gfxip} family` : "unknown GPU"),
    shortened(facts.kernels[0]?.demangled ?? ""),
  ];
  if (facts.kernels.length > 1) parts[1] += ` and ${facts.kernels.length - 1} more`;
  if (facts.holds.samples && !facts.instruction_count) parts.push("PC samples");
  else {
    parts.push(counted(facts.wave_count, "waves"), counted(facts.instruction_count, "instructions"));
    parts.push(`${exact(facts.span_cycles || facts.end_cycles - facts.start_cycles)} cycles`);
  }
  return parts.filter(Boolean).join(" · ");
}

const LONGEST_NAME = 60;
const MOST_NAMES = 20;

/** Names of kernels can be as long as a page; what follows one is wanted, too. */
function shortened(name: string): string {
  return name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME)}…` : name;
}

export function kernelsOf(facts: Overview): string[] {
  if (facts.kind === "trace") return facts.kernels.map((kernel) => kernel.demangled);
  return facts.kind === "counters" ? facts.kernels.slice(0, MOST_NAMES).map((kernel) => kernel.kernel_name) : [];
}

/** Nothing is said of what there is none of. */
const some = (count: number, plural: string) => (count ? counted(count, plural) : "");

function wordsOfCounters(facts: CountersOverview): string {
  const first = shortened(facts.kernels[0]?.kernel_name ?? "");
  const parts = [
    facts.target ?? "unknown GPU",
    facts.product ?? "",
    facts.kernel_count > 1 ? `${first} and ${exact(facts.kernel_count - 1)} more` : first,
    some(facts.dispatch_count, "dispatches"),
    some(facts.counter_count, "counters"),
    some(facts.pass_count, "passes"),
    facts.gpu_count > 1 ? some(facts.gpu_count, "GPUs") : "",
  ];
  return parts.filter(Boolean).join(" · ");
}

function wordsOfRun(facts: RunOverview): string {
  const targets = [...new Set(facts.gpus.map((gpu) => gpu.target).filter(Boolean))];
  const parts = [
    facts.formats.join(", "),
    some(facts.clocks.nodes.length, "nodes"),
    some(facts.processes.length, "processes"),
    `${some(facts.gpus.length, "GPUs")}${targets.length ? ` (${targets.join(", ")})` : ""}`,
    some(facts.holds.dispatches ?? 0, "dispatches"),
    nanoseconds(facts.duration_ns),
  ];
  return parts.filter(Boolean).join(" · ");
}
