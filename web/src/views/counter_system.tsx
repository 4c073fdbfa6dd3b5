// The machine of a counter capture, and the source of each fact.
import { countersOverview } from "../model/document";
import type { View } from "../model/view";
import { Nothing } from "../widgets/answered";
import { type Column, DataTable, tableOffer } from "../widgets/data_table";
import { SaveMenu } from "../widgets/saving";

type Fact = ReturnType<typeof countersOverview>["system"][number];

const COLUMNS: Column<Fact>[] = [
  { name: "name", title: "What", value: (fact) => fact.name, width: "minmax(12em, 1fr)" },
  { name: "value", title: "Value", value: (fact) => fact.value, width: "minmax(12em, 2fr)" },
  {
    name: "said_by",
    title: "Source",
    hint: "File of the capture, or known facts about the hardware",
    value: (fact) => fact.said_by,
    width: "minmax(8em, 1fr)",
  },
];

function System() {
  const facts = countersOverview().system;
  return (
    <div class="view">
      <div class="toolbar">
        <span>What is known about the machine</span>
        <SaveMenu name="system" offers={[tableOffer(COLUMNS, () => facts)]} />
      </div>
      {facts.length ? (
        <DataTable label="System" columns={COLUMNS} rows={facts} />
      ) : (
        <Nothing>The capture does not describe the machine.</Nothing>
      )}
    </div>
  );
}

export const counterSystem: View = {
  id: "counter_system",
  title: "System",
  hint: "The machine that was measured, and which file states each fact",
  about: "counters",
  missing: () => "",
  component: System,
};
