// How many of the traced waves were in which state, over time.
import { ASKED } from "../data/answers.gen";
import { colourOf } from "../draw/palette";
import type { View } from "../model/view";
import { CurvesView } from "../widgets/curves_view";

const WaveStates = () => (
  <CurvesView
    name="wave_states"
    label="Traced waves in each state over time"
    fileName="wave_states"
    words="Traced waves in each state"
    definition="Idle: nothing to issue; exec: issuing; wait: at a wait instruction; stall: wants to issue and cannot"
    colour={({ label }) => colourOf(label)}
    areParts
    shape="stacked"
  />
);

export const waveStates: View = {
  id: "wave_states",
  title: "Wave states",
  hint: ASKED.wave_states,
  about: "trace",
  missing: (overview) => (overview.kind === "trace" && overview.holds.states ? "" : "no states of waves are recorded"),
  component: WaveStates,
};
