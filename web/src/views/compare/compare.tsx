// This trace against another one of the page: totals, what each unit of the code costs in both, and their code side by side.
import { signal, useSignal } from "@preact/signals";
import { exact } from "../../base/format";
import type { CompareAnswer, CompareUnitsRow } from "../../data/answers.gen";
import { arrow, json, together } from "../../data/ask";
import { comparable, comparedBase } from "../../model/baseline";
import { current } from "../../model/document";
import { useAnswer } from "../../model/loaded";
import type { View } from "../../model/view";
import { Answered, Nothing } from "../../widgets/answered";
import { BaseChooser } from "../../widgets/baseline_chooser";
import { Chip, Definition } from "../../widgets/cards";
import { tableOffer } from "../../widgets/data_table";
import { SaveMenu } from "../../widgets/saving";
import { Classes } from "./classes";
import { unitsOf } from "./rows";
import { SideBySide } from "./side_by_side";
import { Totals } from "./totals";
import { Units, unitColumns } from "./units";
import "./compare.css";

/** Units of code that traces are compared by. */
const KINDS = ["instruction", "line", "block", "function"];
const PARTS = ["summary", "units", "code"] as const;
const PART_NAMES = { summary: "Summary", units: "What changed", code: "Code side by side" };

/** By what both are compared; it stays while the view is closed. */
const chosenKind = signal("instruction");

function Compare() {
  const base = comparedBase();
  if (base === null) {
    return (
      <Nothing>
        Only one trace is open. Open two of the same kernel, before and after a change:{" "}
        <code>wavewright open BEFORE AFTER</code>
      </Nothing>
    );
  }
  return <Pair base={base} />;
}

type Part = (typeof PARTS)[number];

function Pair({ base }: { base: number }) {
  const part = useSignal<Part>("summary");
  const by = part.value === "code" ? "instruction" : chosenKind.value; // code is put side by side by instructions
  const both = useAnswer(
    together(
      json<CompareAnswer>(current.value, "compare", { other: base, by }),
      arrow(current.value, "compare_units", { other: base, by }).as(unitsOf),
    ),
  );
  const ready = both.value.state === "ready" ? both.value.value : null;
  return (
    <div class="view">
      <div class="toolbar">
        <Choices base={base} part={part.value} onPart={(next) => (part.value = next)} />
        {ready?.[0].different_kernels ? (
          <Chip
            tone="bad"
            title="Their code has little in common: most differences are work that only one of them does"
          >
            different kernels
          </Chip>
        ) : null}
        <SaveMenu name="compare" offers={ready ? [tableOffer(unitColumns(ready[0].by, 1), () => ready[1])] : []} />
      </div>
      <Answered answer={both}>
        {([answer, units]) => <Shown answer={answer} units={units} base={base} part={part.value} />}
      </Answered>
    </div>
  );
}

/** Which trace to compare with, what to show of it, and by which units: there also when the answer failed. */
function Choices({ base, part, onPart }: { base: number; part: Part; onPart: (part: Part) => void }) {
  return (
    <>
      <BaseChooser base={base} view="compare" />
      <span class="parts" role="tablist">
        {PARTS.map((name) => (
          <button
            type="button"
            role="tab"
            key={name}
            class={`quiet${name === part ? " is-on" : ""}`}
            data-part={name}
            aria-selected={name === part}
            onClick={() => onPart(name)}
          >
            {PART_NAMES[name]}
          </button>
        ))}
      </span>
      {part === "code" ? null : (
        <label>
          by{" "}
          <select
            aria-label="Compare by"
            value={chosenKind.value}
            onChange={(event) => (chosenKind.value = event.currentTarget.value)}
          >
            {KINDS.map((kind) => (
              <option key={kind}>{kind}</option>
            ))}
          </select>
        </label>
      )}
    </>
  );
}

interface ShownProps {
  answer: CompareAnswer;
  units: CompareUnitsRow[];
  /** Document of the baseline. */
  base: number;
  part: Part;
}

function Shown({ answer, units, base, part }: ShownProps) {
  if (part === "units") return <Units units={units} columns={unitColumns(answer.by, largest(units))} by={answer.by} />;
  if (part === "code") return <SideBySide units={units} answer={answer} />;
  return (
    <div class="scroll compare-summary">
      <p class="verdict-words" data-field="verdict">
        {answer.verdict}
      </p>
      <p class="faint-text" data-field="beyond">
        {exact(answer.standing_out_count)} of {exact(units.length)} {answer.by}s {aboutNoise(answer)}.
      </p>
      <Totals answer={answer} base={base} by={answer.by} />
      <Classes answer={answer} />
      <Definition text={answer.definition} />
    </div>
  );
}

const aboutNoise = (answer: CompareAnswer) =>
  answer.same_code
    ? "stand out, because the code is the same"
    : `differ by more than ${answer.noise_from === "repeats" ? "the noise" : "the spread between waves of one run"}`;

/** The largest difference in cycles per wave, in either direction. */
const largest = (units: CompareUnitsRow[]) =>
  units.reduce((most, unit) => Math.max(most, Math.abs(unit.delta_cycles_per_wave)), 0);

export const compare: View = {
  id: "compare",
  title: "Compare",
  hint: "This trace against another one: totals, what stands out, and the code of both side by side",
  about: "trace",
  time: "whole",
  missing: (overview) => {
    if (overview.kind !== "trace" || !overview.instruction_count)
      return "no instruction was traced, so nothing to compare";
    return comparable().length ? "" : "only one trace is open; Open adds another";
  },
  component: Compare,
};
