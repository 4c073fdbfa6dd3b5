// One value per L2 channel as coloured cells, with what stands out.
import { measured } from "../../base/format";
import { colourOf, inkOn, mixed, paper } from "../../draw/palette";
import type { Strip } from "./channels";

/** Of the largest value: what differs by so much goes from the faintest to the strongest colour. */
const LEAST_SPAN = 0.2;

export function HeatMap({ strip }: { strip: Strip }) {
  const { values, channels, low, high, mean, name, series, unit } = strip;
  const title = series || name;
  if (!low || !high) {
    return (
      <p class="faint-text" data-channels={strip.metric}>
        {title}: {strip.reason || "not known"}
      </p>
    );
  }
  // small differences stay pale: a balanced L2 looks balanced
  const span = Math.max(high.value - low.value, LEAST_SPAN * Math.abs(high.value)) || 1;
  return (
    <figure class="heat" data-channels={strip.metric}>
      <figcaption>
        <b>{title}</b>{" "}
        <span class="faint-text">
          mean {measured(mean)} {unit} · smallest {measured(low.value)} (channel {low.channel}) · largest{" "}
          {measured(high.value)} (channel {high.channel})
          {mean ? ` · largest / mean ${(high.value / mean).toFixed(2)}` : ""}
        </span>
      </figcaption>
      <div class="heat-cells">
        {values.map((value, i) => {
          const isKnown = !Number.isNaN(value);
          const share = isKnown ? 1 - (high.value - value) / span : 0;
          const fill = isKnown ? mixed(paper("raised"), colourOf("VMEM"), 0.1 + 0.9 * share) : paper("background");
          return (
            <span
              key={i}
              class={isKnown ? "" : "unknown"}
              style={{ background: fill, color: inkOn(fill) }}
              title={`channel ${channels[i]}: ${isKnown ? `${measured(value)} ${unit}` : "not measured"}`}
              data-channel={channels[i]}
              data-value={isKnown ? value : ""}
            >
              {channels[i]}
            </span>
          );
        })}
      </div>
    </figure>
  );
}
