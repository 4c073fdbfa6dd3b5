// What the search finds: instructions, source lines and kernels of a trace; names of a run; kernels and metrics of counters.
import { exact, nanoseconds, percent } from "../base/format";
import { matcher } from "../base/matcher";
import { askTable } from "../data/ask";
import { type Code, codeAnswer, codeNow, costsNow, selectRow, selectSourceLine } from "../model/code";
import { counterMetrics } from "../model/counters";
import { countersOverview, current, overview } from "../model/document";
import { select } from "../model/selection";
import { frontView } from "../model/view";

export interface Hit {
  /** What it is: the heading under which it is listed. */
  group: string;
  text: string;
  /** Where, and what it cost. */
  note: string;
  go: () => void;
}

export interface Results {
  hits: Hit[];
  /** All hits, also those that are not listed. */
  count: number;
  /** Why the pattern cannot be used. */
  problem: string;
}

/** Hits that are listed of each group. */
const MOST_LISTED = 50;

class Collected {
  readonly hits: Hit[] = [];
  count = 0;
  private readonly listed = new Map<string, number>();

  add(group: string, make: () => Omit<Hit, "group">): void {
    this.count += 1;
    const already = this.listed.get(group) ?? 0;
    this.listed.set(group, already + 1);
    if (already < MOST_LISTED) this.hits.push({ group, ...make() });
  }
}

export async function search(query: string): Promise<Results> {
  const { test, problem } = matcher(query.trim());
  const results = new Collected();
  if (query.trim() && !problem) {
    if (overview.value?.kind === "trace") await searchTrace(test, results);
    else if (overview.value?.kind === "run") await searchRun(test, results);
    else await searchCounters(test, results);
  }
  return { hits: results.hits, count: results.count, problem };
}

/** The code, as soon as it is here; null when it cannot be had. */
function codeWhenHere(): Promise<Code | null> {
  return new Promise((resolve) => {
    const stop = codeAnswer.subscribe(({ state }) => {
      if (state === "waiting") return;
      resolve(codeNow());
      queueMicrotask(() => stop());
    });
  });
}

async function searchTrace(test: (text: string) => boolean, results: Collected): Promise<void> {
  const facts = overview.value;
  if (facts?.kind !== "trace") return;
  for (const kernel of facts.kernels) {
    if (!test(kernel.demangled) && !test(kernel.name)) continue;
    const go = () => select({ kernel: kernel.kernel });
    results.add("Kernels", () => ({ text: kernel.demangled, note: "", go }));
  }
  const code = await codeWhenHere();
  const latency = costsNow()?.latency;
  code?.text.forEach((text, row) => {
    if (!test(text)) return;
    const go = () => {
      selectRow(row);
      frontView("isa");
    };
    const note = `row ${exact(row)}${latency ? ` · ${exact(latency[row] ?? 0)} cycles` : ""}`;
    results.add("Instructions", () => ({ text, note, go }));
  });
  const lines = await askTable(current.value, "source_texts");
  const [files, numbers, texts] = [lines.texts("file"), lines.numbers("line"), lines.texts("text")];
  texts.forEach((text, i) => {
    if (!test(text)) return;
    const place = { file: files[i] as string, line: numbers[i] as number };
    const go = () => {
      selectSourceLine(place);
      frontView("source");
    };
    const note = `${place.file.split("/").at(-1)}:${place.line}`;
    results.add("Source", () => ({ text: text.trim(), note, go }));
  });
}

async function searchCounters(test: (text: string) => boolean, results: Collected): Promise<void> {
  for (const kernel of countersOverview().kernels) {
    if (!test(kernel.kernel_name)) continue;
    const go = () => select({ kernelRank: kernel.kernel });
    const note = `${exact(kernel.dispatch_count)} dispatches · ${percent(kernel.duration_share)} of the time`;
    results.add("Kernels", () => ({ text: kernel.kernel_name, note, go }));
  }
  for (const panel of await counterMetrics(current.value).answer()) {
    for (const metric of panel.tables.flatMap((table) => table.metrics)) {
      if (!test(metric.name) && !test(metric.formula ?? "")) continue;
      const go = () => {
        select({ metric: metric.id });
        frontView("panels");
      };
      results.add("Metrics", () => ({ text: `${panel.title}: ${metric.name}`, note: metric.id, go }));
    }
  }
}

async function searchRun(test: (text: string) => boolean, results: Collected): Promise<void> {
  const table = await askTable(current.value, "names");
  const [domains, names] = [table.texts("domain"), table.texts("name")];
  const [calls, totals] = [table.numbers("calls"), table.numbers("total_ns")];
  names.forEach((name, i) => {
    if (!test(name)) return;
    const isKernel = domains[i] === "KERNEL";
    const go = () => {
      select({ kernelName: name });
      frontView(isKernel ? "kernels" : "regions");
    };
    const note = `${exact(calls[i] as number)} calls · ${nanoseconds(totals[i] as number)}`;
    results.add(isKernel ? "Kernels" : (domains[i] as string), () => ({ text: name, note, go }));
  });
}
