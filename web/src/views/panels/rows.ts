// Which rows of the panels are shown: those of a panel, or that match a search, or only those that have a value.
import { groupBy } from "../../base/group";
import { matcher } from "../../base/matcher";
import type { CounterPanelsRow } from "../../data/answers.gen";
import type { Metric, MetricTable, Panel } from "../../model/counters";

export interface ShownTable {
  panel: Panel;
  table: MetricTable;
  rows: CounterPanelsRow[];
}

export interface RowFilter {
  /** Word of a panel; empty = all. */
  panel: string;
  /** A search through all panels, whatever `panel` is; empty = there is none. */
  query: string;
  onlyKnown: boolean;
}

/** Tables with their rows; a search looks through all panels, by name, id and formula. */
export function shownTables(
  panels: Panel[],
  rows: CounterPanelsRow[],
  declared: Map<string, Metric>,
  { panel: word, query, onlyKnown }: RowFilter,
): ShownTable[] {
  const rowsOfTable = groupBy(rows, (row) => row.table_id);
  const search = matcher(query);
  const isShown = (panel: Panel, table: MetricTable, row: CounterPanelsRow) => {
    if (onlyKnown && !isKnown(row)) return false;
    if (!query) return true;
    const words = [row.name, row.metric_id, panel.title, table.title, declared.get(row.metric_id)?.formula ?? ""];
    return words.some((text) => search.test(text));
  };
  return panels
    .filter((panel) => query !== "" || word === "" || panel.word === word)
    .flatMap((panel) =>
      panel.tables.map((table) => ({
        panel,
        table,
        rows: (rowsOfTable.get(table.id) ?? []).filter((row) => isShown(panel, table, row)),
      })),
    );
}

/** Whether a metric has a value: an average or a median, whichever its table has. */
const isKnown = (row: CounterPanelsRow) => row.average !== null || row.median !== null;

/** How many metrics of a panel have a value. */
export function knownOf(panel: Panel, rows: CounterPanelsRow[]): { known: number; all: number } {
  const ids = new Set(panel.tables.filter((table) => !table.per_channel).map((table) => table.id));
  const ofPanel = rows.filter((row) => ids.has(row.table_id));
  return { known: ofPanel.filter(isKnown).length, all: ofPanel.length };
}
