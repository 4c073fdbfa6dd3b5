// A bar of cycles, stacked of stall, issue, idle and what other waves hid.
import { exact, percent } from "../base/format";
import { colourOf } from "../draw/palette";
import type { CostPart } from "../model/source";
import "./cost_bar.css";

interface Props {
  parts: CostPart[];
  /** What a full bar stands for. */
  scale: number;
}

export function CostBar({ parts, scale }: Props) {
  const total = parts.reduce((sum, part) => sum + part.value, 0);
  const words = parts
    .filter((part) => part.value > 0)
    .map((part) => `${part.label}: ${exact(part.value)} (${percent(part.value / total)})`);
  return (
    <span class="cost-bar" title={words.join("\n")}>
      {total > 0 && scale > 0
        ? parts.map((part) =>
            part.value > 0 ? (
              <i
                key={part.meaning}
                style={{ width: `${(part.value / scale) * 100}%`, background: colourOf(part.meaning) }}
              />
            ) : null,
          )
        : null}
    </span>
  );
}
