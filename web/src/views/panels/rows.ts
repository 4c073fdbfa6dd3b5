// The rows of the panels that are wanted: by panel, by text, by whether they have a value.
import { matcher } from "../../base/matcher";
import type { CounterPanelsRow } from "../../data/answers.gen";
import type { Metric, MetricTable, Panel } from "../../model/counters";

export interface ShownTable {
  panel: Panel;
  table: MetricTable;
  rows: CounterPanelsRow[];
}

export interface Wanted {
  /** Word of a panel; empty = all. */
  panel: string;
  query: string;
  onlyKnown: boolean;
}

/** Tables with their rows; a search looks through all panels, by name, id and formula. */
export function shownTables(
  panels: Panel[],
  rows: CounterPanelsRow[],
  declared: Map<string, Metric>,
  { panel: word, query, onlyKnown }: Wanted,
): ShownTable[] {
  const byTable = new Map<string, CounterPanelsRow[]>();
  for (const row of rows) {
    const ofTable = byTable.get(row.table_id);
    if (ofTable) ofTable.push(row);
    else byTable.set(row.table_id, [row]);
  }
  const wanted = matcher(query);
  const isWanted = (panel: Panel, table: MetricTable, row: CounterPanelsRow) => {
    if (onlyKnown && row.average === null && row.median === null) return false;
    if (!query) return true;
    const words = [row.name, row.metric_id, panel.title, table.title, declared.get(row.metric_id)?.formula ?? ""];
    return words.some((text) => wanted.test(text));
  };
  return panels
    .filter((panel) => query !== "" || word === "" || panel.word === word)
    .flatMap((panel) =>
      panel.tables.map((table) => ({
        panel,
        table,
        rows: (byTable.get(table.id) ?? []).filter((row) => isWanted(panel, table, row)),
      })),
    );
}

/** How many metrics of a panel have a value. */
export function knownOf(panel: Panel, rows: CounterPanelsRow[]): { known: number; all: number } {
  const ids = new Set(panel.tables.filter((table) => !table.per_channel).map((table) => table.id));
  const ofTable = rows.filter((row) => ids.has(row.table_id));
  return { known: ofTable.filter((row) => row.average !== null || row.median !== null).length, all: ofTable.length };
}
