// Resident waves over time: per shader engine, or per CU of one of them.
import type { View } from "../model/view";
import { CurvesView } from "../widgets/curves_view";

const Occupancy = () => (
  <CurvesView
    name="occupancy"
    label="Resident waves over time"
    fileName="occupancy"
    words="Resident waves"
    definition="Waves on all CUs of the traced shader engines: every start adds one, every end takes one away"
    all="per shader engine"
    one={(se) => `CUs of SE ${se}`}
    areParts
    shape="stacked"
  />
);

export const occupancy: View = {
  id: "occupancy",
  title: "Occupancy",
  hint: "How many waves were resident over time, per shader engine or per CU",
  about: "trace",
  missing: (overview) =>
    overview.kind === "trace" && overview.holds.occupancy ? "" : "no starts and ends of waves are recorded",
  component: Occupancy,
};
