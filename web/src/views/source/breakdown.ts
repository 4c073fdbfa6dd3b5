// What the cost of each line of a file consists of: reasons of samples, categories of instructions.
import { useMemo } from "preact/hooks";
import { exact } from "../../base/format";
import { arrow } from "../../data/ask";
import type { Columns } from "../../data/columns";
import { current, traceOverview } from "../../model/document";
import { useAnswer } from "../../model/loaded";
import { attribution, type CostPart, isSampled, type SourceFile } from "../../model/source";

interface Amount {
  name: string;
  amount: number;
}

/** The amounts of each line of a file, largest first; `names` and `amounts` belong to the rows of the table. */
function byLine(
  table: Columns,
  file: SourceFile,
  { names, amounts }: { names: ArrayLike<string>; amounts: ArrayLike<number> },
): Map<number, Amount[]> {
  const amountsOfLine = new Map<number, Amount[]>();
  const [files, lines] = [table.numbers("file"), table.numbers("line")];
  for (let row = 0; row < table.length; row++) {
    const amount = amounts[row];
    if (files[row] !== file.number || !amount) continue;
    const line = lines[row] as number;
    const list = amountsOfLine.get(line) ?? [];
    list.push({ name: names[row] ?? "", amount });
    amountsOfLine.set(line, list);
  }
  for (const list of amountsOfLine.values()) list.sort((a, b) => b.amount - a.amount);
  return amountsOfLine;
}

/** Every value of a map as `make` makes it. */
function mapped<A, B>(map: Map<number, A>, make: (value: A) => B): Map<number, B> {
  return new Map([...map].map(([line, value]) => [line, make(value)]));
}

/** Why samples of each line were not issued, in words. */
export function useReasons(file: SourceFile): Map<number, string> {
  const answer = useAnswer(isSampled.value ? arrow(current.value, "source_reasons") : null);
  const which = attribution.value;
  const table = answer.value.state === "ready" ? answer.value.value : null;
  return useMemo(() => {
    if (!table) return new Map<number, string>();
    const amounts = table.numbers(which === "own" ? "count" : "inclusive_count");
    const reasons = byLine(table, file, { names: table.texts("reason"), amounts });
    return mapped(reasons, (list) => list.map(({ name, amount }) => `${name} ${exact(amount)}`).join(", "));
  }, [table, which, file]);
}

/** Our category of matrix instructions, which the hardware reports as VALU (`analysis/trace/pipes`). */
const MATRIX = 15;

/** Latency of each line by category, as parts of a bar. */
export function useCategories(file: SourceFile, isWanted: boolean): Map<number, CostPart[]> {
  const answer = useAnswer(arrow(current.value, "source_categories")); // on its way before it is wanted
  const which = attribution.value;
  const table = isWanted && answer.value.state === "ready" ? answer.value.value : null;
  return useMemo(() => {
    if (!table) return new Map<number, CostPart[]>();
    const categories: Record<string, string> = { ...traceOverview().categories, [MATRIX]: "MATRIX" };
    const names = Array.from(table.numbers("category"), (category) => categories[category] ?? "NONE");
    const amounts = table.numbers(`${which === "own" ? "" : "inclusive_"}latency_cycles_total`);
    const part = ({ name, amount }: Amount): CostPart => ({ meaning: name, label: name, value: amount });
    return mapped(byLine(table, file, { names, amounts }), (list) => list.map(part));
  }, [table, which, file]);
}
