// The words of the explorer: which line is the hottest, and what its figures are called and mean.

import { percent } from "../../base/format";
import { unlessUnknown } from "../../model/document";
import { settings } from "../../model/settings";
import { type CostedLine, isSampled, type SortBy, type Sources, shortLine } from "../../model/source";
import { openLine } from "./items";

/** The column of the figures in a file. */
export function columnName(by: SortBy): string {
  if (isSampled.value) return by === "cycles" ? "sample_count" : "stalled_count";
  return { cycles: "cycles_cycles", stall: "stall_cycles", exposed: "exposed_cycles" }[by];
}

/** What the figures mean, for tooltips. */
export function definition(by: SortBy): string {
  if (isSampled.value) return by === "cycles" ? "PC samples, issued or not" : "PC samples that were not issued";
  if (by === "stall") return "Stall cycles of all executions in all waves";
  const idle = settings.value.withIdle ? ", with the idle cycles before them" : "";
  if (by === "exposed") return `Cycles of all executions that work of other waves did not hide${idle}`;
  return `Cycles of all executions in all waves${idle}`;
}

interface HeadlineProps {
  sources: Sources;
  /** null = no line cost anything. */
  hottest: CostedLine | null;
  by: SortBy;
  /** Of the hottest line of all that was executed, from 0 to 1. */
  share: number;
}

export function Headline({ hottest, by, share, sources }: HeadlineProps) {
  if (!hottest) {
    const reason = sources.files.some((file) => file.file)
      ? "no source line cost anything"
      : "no instruction has a debug line";
    return (
      <p class="headline">
        There is no hottest source line: {unlessUnknown(`${reason}. Compile with -g to get lines`)}.
      </p>
    );
  }
  const unit = isSampled.value ? "samples" : "cycles";
  const figure = { cycles: unit, stall: `stall ${unit}`, exposed: "exposed cycles" }[by];
  return (
    <div class="headline">
      The hottest line is{" "}
      <button type="button" title={`${hottest.file.file}:${hottest.line}`} onClick={() => openLine(hottest)}>
        {shortLine(hottest.file.file, hottest.line)}
      </button>{" "}
      with <strong>{percent(share)}</strong> of all {figure}
      {hottest.text ? <code class="text">{hottest.text}</code> : null}
    </div>
  );
}

/** By what lines, or blocks, are sorted. */
export function SortSelect({ by }: { by: { value: SortBy } }) {
  return (
    <label>
      by{" "}
      <select
        aria-label="Sort by"
        value={by.value}
        onChange={(event) => {
          by.value = event.currentTarget.value as SortBy;
        }}
      >
        <option value="cycles">{isSampled.value ? "samples" : "cycles"}</option>
        <option value="stall">{isSampled.value ? "stalled samples" : "stall"}</option>
        {isSampled.value ? null : <option value="exposed">exposed</option>}
      </select>
    </label>
  );
}
