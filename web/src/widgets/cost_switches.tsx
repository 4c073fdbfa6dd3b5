// What counts as the cost of a source line: its own instructions or also inlined ones, with or without idle cycles.
import { change, settings } from "../model/settings";
import { attribution, isSampled, setAttribution } from "../model/source";
import { Check } from "./check";

export function CostSwitches() {
  return (
    <>
      <label title="Own: instructions compiled from the line. With inlined: also those of functions inlined into it; such costs of different lines overlap">
        <select
          aria-label="Attribution"
          value={attribution.value}
          onChange={(event) => setAttribution(event.currentTarget.value === "inclusive" ? "inclusive" : "own")}
        >
          <option value="own">own</option>
          <option value="inclusive">with inlined</option>
        </select>
      </label>
      {isSampled.value ? null : (
        <Check
          isOn={settings.value.withIdle}
          onChange={(isOn) => change({ withIdle: isOn })}
          hint="Count the idle cycles before instructions"
        >
          idle
        </Check>
      )}
    </>
  );
}
