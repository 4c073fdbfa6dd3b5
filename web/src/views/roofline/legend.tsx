// What shapes and lines of the plot mean.

import { outline } from "../../draw/marks";
import { paper } from "../../draw/palette";
import { shapeOf } from "./paint";
import type { Roof } from "./scene";

interface Props {
  levels: string[];
  roofs: Roof[];
  /** Whether the time of the kernels is known: only then marks differ in size. */
  hasTimes: boolean;
}

export function Legend({ levels, roofs, hasTimes }: Props) {
  const has = (from: string) => roofs.some((roof) => roof.ceiling.used_from === from);
  return (
    <div class="roofline-legend">
      {levels.map((level) => (
        <span key={level}>
          <svg width="14" height="14" aria-hidden="true">
            <polygon points={outline(shapeOf(level), 7, 7, 5).join(" ")} fill={paper("faint")} />
          </svg>{" "}
          {level}
        </span>
      ))}
      {has("empirical") ? <Line dash="" text="measured roof" /> : null}
      {has("theoretical") ? <Line dash="6 4" text="theoretical roof" /> : null}
      <span class="faint">colour: kernel{hasTimes ? " · size: share of time" : ""}</span>
    </div>
  );
}

function Line({ dash, text }: { dash: string; text: string }) {
  return (
    <span>
      <svg width="26" height="10" aria-hidden="true">
        <line x1="0" y1="5" x2="26" y2="5" stroke={paper("text")} stroke-width="1.5" stroke-dasharray={dash} />
      </svg>{" "}
      {text}
    </span>
  );
}
