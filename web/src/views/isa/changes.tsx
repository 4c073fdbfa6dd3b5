// Columns of what an instruction cost in the document that this one is compared with: per wave, because waves differ in number.
import { rowChange, type UnitFigure } from "../../model/changes";
import { ChangeText, wasText } from "../../widgets/changes";
import type { IsaColumn } from "./columns";

const column = (figure: UnitFigure, title: string): IsaColumn => ({
  id: `${figure}_change`,
  title: `${title} ±`,
  hint: `${title} cycles per wave against the same instruction of the baseline; faint = within noise`,
  needs: "changes",
  name: () => `${figure}_cycles_per_wave_change`,
  value: (_, row) => {
    const change = rowChange(row, figure);
    return change?.before == null || change.after === null ? null : change.after - change.before;
  },
  show: (_, row) => {
    const change = rowChange(row, figure);
    if (!change) return null;
    return (
      <span title={wasText(change)} data-before={change.before}>
        <ChangeText change={change} isCost />
      </span>
    );
  },
});

const CHANGES: Record<string, IsaColumn> = {
  exposed: column("exposed", "Exposed"),
  latency: column("latency", "Latency"),
  stall: column("stall", "Stall"),
};

/** The change of a figure stands behind it. */
export function withChanges(columns: IsaColumn[]): IsaColumn[] {
  return columns.flatMap((each) => [each, ...(CHANGES[each.id] ? [CHANGES[each.id] as IsaColumn] : [])]);
}
