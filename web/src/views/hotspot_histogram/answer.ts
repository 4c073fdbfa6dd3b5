// The answer to `histogram`, as bars.
import type { HistogramAnswer } from "../../data/answers.gen";
import type { HistogramBin } from "../../draw/histogram";

/** All bins, also empty ones, each with its parts in the order of categories. */
export function binsOf(answer: HistogramAnswer): HistogramBin[] {
  const bins: HistogramBin[] = Array.from({ length: answer.bin_count }, (_, number) => {
    const first = answer.first_row + number * answer.rows_per_bin;
    return { first, last: Math.min(first + answer.rows_per_bin - 1, answer.last_row), parts: [], total: 0 };
  });
  for (const { bin, category, cycles_total } of answer.bins.rows) {
    const into = bins[bin];
    if (!into) continue;
    into.parts.push({ category, cycles: cycles_total });
    into.total += cycles_total;
  }
  return bins;
}

/** Cycles of every category that occurs, most first. */
export function categoriesOf(answer: HistogramAnswer): { category: string; cycles: number }[] {
  const sums = new Map<string, number>();
  for (const { category, cycles_total } of answer.bins.rows) {
    sums.set(category, (sums.get(category) ?? 0) + cycles_total);
  }
  return [...sums].map(([category, cycles]) => ({ category, cycles })).sort((a, b) => b.cycles - a.cycles);
}
