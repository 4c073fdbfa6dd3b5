// Which kernel of a counter capture, and per what: one choice for all views.
import { exact, percent } from "../base/format";
import { chooseKernel, chosenKernel, NORMALIZATIONS, normalization, normalize } from "../model/counters";
import { countersOverview } from "../model/document";

/** Kernels to choose from here, the longest; the view of all kernels has the rest. */
const MOST_LISTED = 200;

export function CounterKernelChooser() {
  const { kernels, kernel_count: count } = countersOverview();
  if (count < 2) return null;
  const chosen = chosenKernel();
  const listed = kernels.filter((each, n) => n < MOST_LISTED || each === chosen);
  return (
    <select
      aria-label="Kernel"
      class="kernel-chooser"
      title={chosen ? chosen.kernel_name : "Show the dispatches of one kernel only"}
      value={chosen?.kernel ?? ""}
      onChange={(event) => chooseKernel(event.currentTarget.value === "" ? null : Number(event.currentTarget.value))}
    >
      <option value="">all {exact(count)} kernels</option>
      {listed.map(({ kernel, kernel_name: name, duration_share: share }) => (
        <option key={kernel} value={kernel} title={name}>
          {kernel}: {share === null ? "" : `${percent(share)} `}
          {briefName(name)}
        </option>
      ))}
      {listed.length < count ? (
        <option disabled>
          showing {listed.length} of {count}: choose others in Kernels
        </option>
      ) : null}
    </select>
  );
}

const LONGEST = 28;

/** A kernel in a list: without result and arguments; the tooltip has its name. */
function briefName(name: string): string {
  const brief = name.replace(/^void /, "").replace(/\(.*$/s, "");
  return brief.length > LONGEST ? `${brief.slice(0, LONGEST)}…` : brief;
}

export function NormalizationChooser() {
  const chosen = normalization();
  return (
    <label title={NORMALIZATIONS.find((known) => known.per === chosen)?.hint}>
      per
      <select aria-label="Normalization" value={chosen} onChange={(event) => normalize(event.currentTarget.value)}>
        {NORMALIZATIONS.map(({ per, hint }) => (
          <option key={per} value={per} title={hint}>
            {per}
          </option>
        ))}
      </select>
    </label>
  );
}
