// What the cost of each line of a file consists of: reasons of samples, categories of instructions.
import { useMemo } from "preact/hooks";
import { exact } from "../../base/format";
import { arrow } from "../../data/ask";
import type { Columns } from "../../data/columns";
import { current, traceOverview } from "../../model/document";
import { useAnswer } from "../../model/loaded";
import { attribution, type CostPart, isSampled, type SourceFile } from "../../model/source";

/** Amounts by line and name, largest first. */
function byLine(table: Columns, file: SourceFile, names: ArrayLike<string>, amounts: ArrayLike<number>) {
  const byLine = new Map<number, [string, number][]>();
  const [files, lines] = [table.numbers("file"), table.numbers("line")];
  for (let row = 0; row < table.length; row++) {
    if (files[row] !== file.number || !amounts[row]) continue;
    const line = lines[row] as number;
    const list = byLine.get(line) ?? [];
    list.push([names[row] ?? "", amounts[row] as number]);
    byLine.set(line, list);
  }
  for (const list of byLine.values()) list.sort((a, b) => b[1] - a[1]);
  return byLine;
}

/** Why samples of each line were not issued, in words. */
export function useReasons(file: SourceFile): Map<number, string> {
  const answer = useAnswer(isSampled.value ? arrow(current.value, "source_reasons") : null);
  const which = attribution.value;
  const table = answer.value.state === "ready" ? answer.value.value : null;
  return useMemo(() => {
    if (!table) return new Map<number, string>();
    const amounts = table.numbers(which === "own" ? "count" : "inclusive_count");
    const words = (list: [string, number][]) => list.map(([name, count]) => `${name} ${exact(count)}`).join(", ");
    return new Map([...byLine(table, file, table.texts("reason"), amounts)].map(([line, list]) => [line, words(list)]));
  }, [table, which, file]);
}

/** Latency of each line by category, as parts of a bar. */
export function useCategories(file: SourceFile, isWanted: boolean): Map<number, CostPart[]> {
  const answer = useAnswer(arrow(current.value, "source_categories")); // on its way before it is wanted
  const which = attribution.value;
  const table = isWanted && answer.value.state === "ready" ? answer.value.value : null;
  return useMemo(() => {
    if (!table) return new Map<number, CostPart[]>();
    const categories: Record<string, string> = { ...traceOverview().categories, 15: "MATRIX" };
    const names = Array.from(table.numbers("category"), (category) => categories[category] ?? "NONE");
    const amounts = table.numbers(`${which === "own" ? "" : "inclusive_"}latency_cycles_total`);
    const parts = ([meaning, value]: [string, number]) => ({ meaning, label: meaning, value });
    return new Map([...byLine(table, file, names, amounts)].map(([line, list]) => [line, list.map(parts)]));
  }, [table, which, file]);
}
