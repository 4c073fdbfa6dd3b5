// Changes against the baseline beside the figures of tables and cards.
import { counted, exact, percent } from "../base/format";
import { changesAgainst } from "../model/baseline";
import type { Change } from "../model/changes";
import type { Column } from "./data_table";
import { type Format, FormattedCell, widthOf } from "./figure_columns";
import "./changes.css";

/** The change as a share of what it was; null = there is nothing to compare with, or it was 0. */
function shareOf({ before, after }: Change): number | null {
  return before && after !== null ? after / before - 1 : null;
}

/** "+5.6 %", "new": worse in red where `isCost`, faint within noise. */
export function ChangeText({ change, isCost = false }: { change: Change | null; isCost?: boolean | undefined }) {
  if (!change || (change.before === null && change.after === null)) return <span class="faint-text">–</span>;
  const { before, after, isNoise } = change;
  if (before === null) return <span class="delta new">new</span>;
  return (
    <span class={`delta ${toneOf({ before, after, isNoise }, isCost)}`} title={isNoise ? "within noise" : undefined}>
      {wordsOf(change)}
    </span>
  );
}

/** The CSS class of a change; figures that are no costs are neither better nor worse. */
function toneOf({ before, after, isNoise }: Change & { before: number }, isCost: boolean): string {
  if (isNoise || after === before) return "noise";
  if (!isCost) return "";
  return (after ?? 0) > before ? "worse" : "better";
}

function wordsOf(change: Change): string {
  const share = shareOf(change);
  if (share !== null) return `${share > 0 ? "+" : ""}${percent(share)}`;
  return change.after ? "from 0" : "–";
}

/** What stands in the tooltip of a change of cycles per wave. */
export function wasText(change: Change | null): string {
  if (!change) return "";
  const { before, after, isNoise } = change;
  if (before === null) return "new: the baseline does not have it";
  return `${exact(before)} cycles per wave before, ${exact(after)} now${isNoise ? ": within noise" : ""}`;
}

interface Compared<Row> {
  /** Name of the column whose figure it is. */
  name: string;
  of: (row: Row) => Change | null;
  format: Format;
  /** What is compared, where it is not the figure of the column itself: "Latency per wave". */
  title?: string;
}

/** Behind each of these columns, whose figures are better when they are small, what it was and its change. */
export function withChanges<Row>(columns: Column<Row>[], rows: Row[], compared: Compared<Row>[]): Column<Row>[] {
  if (changesAgainst.value === null) return columns;
  const some = rows[0];
  for (const { of } of compared) if (some !== undefined) of(some); // whoever draws the table is told when they arrive
  return columns.flatMap((column) => {
    const choice = compared.find(({ name }) => name === column.name);
    return choice ? [column, ...changeColumns(column, choice)] : [column];
  });
}

function changeColumns<Row>(column: Column<Row>, { name, of, format, title }: Compared<Row>): Column<Row>[] {
  const what = title ?? column.title;
  return [
    {
      name: `${name}_change`,
      title: "Change",
      hint: `${what} against the document that this one is compared with; faint = within noise`,
      value: (row) => {
        const change = of(row);
        return change && shareOf(change);
      },
      show: (row) => <ChangeText change={of(row)} isCost />,
      width: "5.5em",
    },
    {
      name: `base_${name}`,
      title: `${what} before`,
      hint: `${what} in the document that this one is compared with`,
      value: (row) => of(row)?.before ?? null,
      show: (row) => <FormattedCell value={of(row)?.before} format={format} />,
      width: widthOf(format, `${what} before`),
    },
  ];
}

interface DeltaProps {
  change: Change | null;
  format: Format;
  isCost?: boolean;
  /** What the figures are, where they are not those beside them: "per wave". */
  words?: string;
  /** In lists: nothing where it is as it was. */
  isBrief?: boolean;
}

/** Under a figure of a card: what it was, and its change. Nothing without a baseline. */
export function Delta({ change, format, isCost, words, isBrief }: DeltaProps) {
  if (changesAgainst.value === null || !change || change.before === null) return null;
  if (isBrief && change.before === change.after) return null;
  return (
    <small class="was" data-delta>
      {words ? `${words}: ` : ""}was <FormattedCell value={change.before} format={format} />{" "}
      <ChangeText change={change} {...(isCost ? { isCost } : {})} />
    </small>
  );
}

/** Under a table: what only the baseline has. */
export function Gone({ what, names }: { what: string; names: string[] }) {
  if (!names.length) return null;
  return (
    <p class="faint-text gone-names" data-gone={names.length} title={names.join("\n")}>
      gone: {counted(names.length, what)} ({names.slice(0, 3).join(", ")}
      {names.length > 3 ? ", …" : ""})
    </p>
  );
}
