// The time on screen and the selected time as numbers, and whether everything is about the selected time only.
import { useSignal } from "@preact/signals";
import { exact, nanoseconds } from "../base/format";
import { clockMhz, type Overview, overview, timeUnit } from "../model/document";
import { type Range, select, selection } from "../model/selection";
import { lookAtPart, onlyWholeTime, timePart } from "../model/time_part";
import { axisOrigin, bounds, show, showAll, shown } from "../model/timewindow";
import type { View } from "../model/view";
import { Icon } from "../widgets/icon";
import { Popup } from "../widgets/popup";
import "./time_bar.css";

/** How long a time is, in the unit of the document and, where the clock is known, in time. */
export function lengthText({ begin, end }: Range): string {
  const length = end - begin;
  if (timeUnit() === "ns") return nanoseconds(length);
  const mhz = clockMhz();
  return `${exact(Math.round(length))} cycles${mhz ? ` (${nanoseconds((length / mhz) * 1000)})` : ""}`;
}

/** In the bar of the page: the time that is selected, else that on screen; the switch stands beside it once there is one. */
export function TimeMenu() {
  if (!hasTime(overview.value)) return null;
  const { range, onlyRange } = selection.value;
  const isPart = range !== undefined || onlyRange === true;
  return (
    <span class="time-menu">
      <Popup
        text={
          <>
            <Icon name="clock" /> {range ? lengthText(range) : "Time"}
          </>
        }
        name="Time"
        hint="The time on screen and the selected time, as numbers that can be typed"
      >
        {() => <TimeFields />}
      </Popup>
      {isPart ? <OnlyRange /> : null}
    </span>
  );
}

/** PC samples and counters have no time axis. */
function hasTime(facts: Overview | null): boolean {
  if (facts?.kind === "trace") return facts.wave_count > 0 || (facts.holds.occupancy ?? 0) > 0;
  return facts?.kind === "run";
}

function TimeFields() {
  const { range } = selection.value;
  return (
    <div class="time-bar" role="group" aria-label="Time">
      <RangeFields label="On screen" range={shown.value} set={show} />
      <button type="button" class="quiet" title="Show the whole time (0)" onClick={showAll}>
        all
      </button>
      <RangeFields label="Selected" range={range ?? null} set={(next) => select({ range: next })} />
      <span>
        <button
          type="button"
          class="quiet"
          data-action="select-screen"
          title="Select the time that is on screen"
          onClick={() => select({ range: { begin: Math.round(shown.value.begin), end: Math.round(shown.value.end) } })}
        >
          from screen
        </button>
        <button
          type="button"
          class="quiet"
          aria-label="Clear the selected time"
          title="Clear the selected time"
          disabled={!range}
          onClick={() => select({ range: undefined })}
        >
          clear
        </button>
      </span>
      <output class="time-length" data-length>
        {range ? lengthText(range) : "A drag in a timeline selects time, too"}
      </output>
    </div>
  );
}

/** Tables, charts and sums are about the selected time only. */
function OnlyRange() {
  const { range, onlyRange } = selection.value;
  return (
    <label
      class="time-switch"
      title={onlyWholeTime || "Tables, charts and sums of every view are about the selected time only"}
    >
      <input
        type="checkbox"
        data-action="only-range"
        checked={onlyRange ?? false}
        disabled={onlyWholeTime !== ""}
        onChange={(event) => lookAtPart(event.currentTarget.checked)}
      />
      only this time{range || !onlyRange ? "" : " (none is selected)"}
    </label>
  );
}

/** Two numbers that can be typed, counted as on the axis: cycles, or nanoseconds with an optional unit. */
function RangeFields({ label, range, set }: { label: string; range: Range | null; set: (range: Range) => void }) {
  const problem = useSignal("");
  const apply = (part: "begin" | "end", text: string) => {
    const time = timeFrom(text);
    const next = { ...(range ?? bounds.value), [part]: axisOrigin.value + (time ?? Number.NaN) };
    problem.value = time === null ? "not a time" : next.end > next.begin ? "" : "ends before it begins";
    if (!problem.value) set(next);
  };
  const field = (part: "begin" | "end") => (
    <input
      type="text"
      inputMode="numeric"
      aria-label={`${label}: ${part}`}
      aria-invalid={problem.value !== ""}
      title={problem.value || (timeUnit() === "ns" ? "nanoseconds, or 1.5ms, 20us" : "cycles")}
      value={range ? exact(Math.round(range[part] - axisOrigin.value)) : ""}
      onChange={(event) => apply(part, event.currentTarget.value)}
    />
  );
  return (
    <>
      <span>{label}</span>
      <span class="range-fields">
        {field("begin")}–{field("end")}
      </span>
    </>
  );
}

const UNITS: Record<string, number> = { "": 1, ns: 1, us: 1e3, µs: 1e3, ms: 1e6, s: 1e9 };

/** A time as it is typed: 12345, 12,345, and for runs 1.5ms; null = it is none. */
export function timeFrom(text: string): number | null {
  const match = /^\s*(-?[\d.]{1,20})\s*(ns|us|µs|ms|s)?\s*$/.exec(text.replace(/[,_\s](?=\d{3})/g, ""));
  const value = Number(match?.[1]) * (UNITS[match?.[2] ?? ""] ?? 1);
  return match && Number.isFinite(value) ? value : null;
}

/** Above a view, while only a part of the time is looked at: which time its figures are about. */
export function WhichTime({ time }: { time: View["time"] | undefined }) {
  const part = timePart.value;
  if (!part || !time) return null;
  const text = time === "selected" ? `of the selected time, ${lengthText(part)}` : "of the whole time";
  return (
    <p class={`which-time ${time}`} data-time={time}>
      {text}
    </p>
  );
}
