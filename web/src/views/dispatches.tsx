// Resident waves over time, per kernel.
import { select, selection } from "../model/selection";
import type { View } from "../model/view";
import { CurvesView } from "../widgets/curves_view";

const Dispatches = () => (
  <CurvesView
    name="dispatches"
    label="Resident waves of each kernel over time"
    fileName="dispatches"
    words="Resident waves of each kernel"
    definition="Waves on all CUs of the traced shader engines, by the kernel that they entered"
    areParts
    shape="stacked"
    isSelected={({ keys }) => keys.kernel !== null && Number(keys.kernel) === selection.value.kernel}
    onSelect={({ keys }) => select({ kernel: keys.kernel === null ? undefined : Number(keys.kernel) })}
  />
);

export const dispatches: View = {
  id: "dispatches",
  title: "Dispatches",
  hint: "How many waves of each kernel were resident over time",
  about: "trace",
  missing: (overview) =>
    overview.kind === "trace" && overview.holds.occupancy ? "" : "no starts and ends of waves are recorded",
  component: Dispatches,
};
