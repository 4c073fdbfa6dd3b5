// Stall classes of both traces.
import { exact } from "../../base/format";
import { COMPARE_STALL_CLASSES, type CompareAnswer, type CompareStallClassesRow } from "../../data/answers.gen";
import { ChangeBar } from "../../widgets/bars";
import { Section } from "../../widgets/cards";
import { figureColumns } from "../../widgets/figure_columns";
import { SmallTable } from "../../widgets/small_table";

export function Classes({ answer }: { answer: CompareAnswer }) {
  const rows = answer.stall_classes.rows;
  const most = Math.max(1e-9, ...rows.map((row) => Math.abs(row.delta_cycles_per_wave)));
  const columns = figureColumns<CompareStallClassesRow>(COMPARE_STALL_CLASSES, [
    ["class", "Stalled on"],
    ["base_stall_cycles_per_wave", "Base"],
    ["stall_cycles_per_wave", "This trace"],
    {
      name: "delta_cycles_per_wave",
      title: "Difference",
      show: (row) => `${row.delta_cycles_per_wave > 0 ? "+" : ""}${exact(row.delta_cycles_per_wave)}`,
    },
    {
      name: "bar",
      title: "",
      value: () => "",
      show: (row) => (
        <div class="change-cell">
          <ChangeBar
            share={row.delta_cycles_per_wave / most}
            faint={false}
            label={`${exact(row.delta_cycles_per_wave)} cycles per wave`}
          />
        </div>
      ),
      width: "",
    },
  ]);
  return (
    <Section title="Stalls per wave" hint="Stall cycles per wave by what was waited for">
      <SmallTable label="Stall classes" columns={columns} rows={rows} total={answer.stall_classes.row_count} />
    </Section>
  );
}
