// Stall classes of both traces.
import { exact } from "../../base/format";
import { ChangeBar } from "../../widgets/bars";
import { Section } from "../../widgets/cards";
import type { Column } from "../../widgets/data_table";
import { SmallTable } from "../../widgets/small_table";
import type { ClassChange, CompareAnswer } from "./shapes";

export function Classes({ answer }: { answer: CompareAnswer }) {
  const rows = answer.stall_classes.rows;
  const most = Math.max(1e-9, ...rows.map((row) => Math.abs(row.delta_cycles_per_wave)));
  const columns: Column<ClassChange>[] = [
    { name: "class", title: "What was stalled on", value: (c) => c.class, width: "" },
    {
      name: "base_stall_cycles_per_wave",
      title: "Base",
      hint: "Stall cycles per wave in the base",
      value: (c) => c.base_stall_cycles_per_wave,
      width: "",
    },
    {
      name: "stall_cycles_per_wave",
      title: "This",
      hint: "Stall cycles per wave in this trace",
      value: (c) => c.stall_cycles_per_wave,
      width: "",
    },
    {
      name: "delta_cycles_per_wave",
      title: "Difference",
      hint: "Cycles per wave; to the right = more stall",
      value: (c) => c.delta_cycles_per_wave,
      show: (c) => `${c.delta_cycles_per_wave > 0 ? "+" : ""}${exact(c.delta_cycles_per_wave)}`,
      width: "",
    },
    {
      name: "bar",
      title: "",
      value: () => "",
      show: (c) => (
        <div class="change-cell">
          <ChangeBar
            share={c.delta_cycles_per_wave / most}
            faint={false}
            label={`${exact(c.delta_cycles_per_wave)} cycles per wave`}
          />
        </div>
      ),
      width: "",
    },
  ];
  return (
    <Section title="Stalls per wave" hint="Stall cycles per wave by what was waited for">
      <SmallTable label="Stall classes" columns={columns} rows={rows} total={answer.stall_classes.row_count} />
    </Section>
  );
}
