// What a change would give: the time of the path is predicted with some of its events faster. The changes are those of
// `wavewright path --what-if`.
import { useSignal } from "@preact/signals";
import { nanoseconds, percent } from "../../base/format";
import type { RunPathContributorsRow, RunWhatIfPredictionsRow } from "../../data/answers.gen";
import { json } from "../../data/ask";
import type { Frame } from "../../data/tables";
import { current } from "../../model/document";
import { shortName } from "../../model/kernel_names";
import { useAnswer } from "../../model/loaded";
import { selection } from "../../model/selection";
import { Answered } from "../../widgets/answered";

interface WhatIfAnswer {
  change: string;
  /** The bound of the diagnosis for the same change. */
  gain_ns_max: number | null;
  predictions: Frame<RunWhatIfPredictionsRow>;
}

/** Changes that make sense of any run: as the server takes them, and in words. */
const USUAL_CHANGES = [
  ["launch-gaps", "Launches cost nothing"],
  ["copies", "Copies take no time"],
  ["communication", "Collectives take no time"],
  ["host=-50%", "Host code takes half"],
] as const;

export const isKernel = (row: RunPathContributorsRow) => row.class === "kernels" && row.what === "work";

/** Kernels that are offered to be made faster, beside the selected one. */
const MOST_KERNELS = 5;

/** The selected kernel, if it is on the path, and those with most time on it. */
function offeredKernels(contributors: RunPathContributorsRow[]): string[] {
  const names = contributors.filter(isKernel).map((row) => row.name);
  const selected = names.filter((name) => name === selection.value.kernelName);
  return [...new Set([...selected, ...names.slice(0, MOST_KERNELS)])];
}

/** `contributors` of the processes `group`, those with most time on the path first. */
export function WhatIf({ group, contributors }: { group: number; contributors: RunPathContributorsRow[] }) {
  /** A change as the server takes it; empty = none is chosen. */
  const change = useSignal("");
  const answer = useAnswer(
    change.value ? json<WhatIfAnswer>(current.value, "run_what_if", { change: change.value }) : null,
  );
  return (
    <div class="path-what-if">
      <label>
        What if{" "}
        <select
          aria-label="What if"
          value={change.value}
          onChange={(event) => {
            change.value = event.currentTarget.value;
          }}
        >
          <option value="">choose a change</option>
          {USUAL_CHANGES.map(([change, words]) => (
            <option key={change} value={change}>
              {words}
            </option>
          ))}
          {offeredKernels(contributors).map((name) => (
            <option key={name} value={`kernel=${name}:-20%`}>
              20 % faster: {shortName(name)}
            </option>
          ))}
        </select>
      </label>
      <input
        type="text"
        aria-label="A change as wavewright path --what-if takes it"
        placeholder="or kernel=NAME:-20%, rank=3, bandwidth=300"
        onKeyDown={(key) => {
          if (key.key === "Enter") change.value = key.currentTarget.value.trim();
        }}
      />
      {change.value ? (
        <Answered answer={answer}>{(value) => <Predicted answer={value} group={group} />}</Answered>
      ) : null}
    </div>
  );
}

function Predicted({ answer, group }: { answer: WhatIfAnswer; group: number }) {
  const row = answer.predictions.rows.find((prediction) => prediction.group === group);
  if (!row) return null;
  return (
    <p data-predicted={row.span_ns_max}>
      {nanoseconds(row.span_ns)} now, {range(row, nanoseconds)} then:{" "}
      {range(row, (after) => percent(row.span_ns ? (row.span_ns - after) / row.span_ns : null))} less
      {answer.gain_ns_max === null ? "." : `; at most ${nanoseconds(answer.gain_ns_max)}, as in Findings.`}
    </p>
  );
}

/** The predicted time in words, from the least to the most; once where both read alike. */
function range(row: RunWhatIfPredictionsRow, words: (span_ns: number) => string): string {
  const [low, high] = [words(row.span_ns_min), words(row.span_ns_max)];
  return low === high ? low : `${low} to ${high}`;
}
