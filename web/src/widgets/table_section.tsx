// A section that is one table of an answer; without rows it says why, or is left out.
import { Section } from "./cards";
import type { Column } from "./data_table";
import { SmallTable } from "./small_table";

interface Props<Row> {
  title: string;
  hint?: string;
  /** Name of the table for those who do not see it; default: the title. */
  label?: string;
  columns: Column<Row>[];
  table: { rows: Row[]; row_count: number };
  /** What is said when there are no rows; absent = nothing is shown. */
  nothing?: string;
  isSelected?: (row: Row) => boolean;
  onSelect?: (row: Row) => void;
}

export function TableSection<Row>({ title, hint = "", label = title, table, nothing, ...rest }: Props<Row>) {
  if (!table.rows.length && !nothing) return null;
  return (
    <Section title={title} hint={hint}>
      {table.rows.length ? (
        <SmallTable label={label} rows={table.rows} total={table.row_count} {...rest} />
      ) : (
        <p class="faint-text">{nothing}</p>
      )}
    </Section>
  );
}
