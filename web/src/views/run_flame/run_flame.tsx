// Flame graphs of a run: in the order of time, merged with the heaviest first, or around one function.
import { type Signal, useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { counted } from "../../base/format";
import type { RunLinesRow } from "../../data/answers.gen";
import { json } from "../../data/ask";
import type { Frame } from "../../data/tables";
import { current } from "../../model/document";
import { useAnswer } from "../../model/loaded";
import type { View } from "../../model/view";
import { Answered, Nothing } from "../../widgets/answered";
import { pictures, SaveMenu } from "../../widgets/saving";
import { PictureHandle } from "./graph";
import { LeftHeavy, type Weight } from "./merged";
import { type Chosen, Sandwich } from "./sandwich";
import { TimeOrder } from "./timed";
import "./run_flame.css";

interface LinesAnswer {
  lines: Frame<RunLinesRow>;
  trees: string[];
}

const MODES = [
  ["heavy", "Left heavy", "Call trees merged by path, the heaviest at the left"],
  ["time", "Time order", "One thread or stream: the stack at each moment"],
  ["sandwich", "Sandwich", "One function: what calls it above, what it calls below"],
] as const;
type Mode = (typeof MODES)[number][0];
const WEIGHTS = [
  ["host", "host time"],
  ["gpu", "GPU time launched"],
] as const;
const TREE_NAMES: Record<string, string> = {
  calls: "all calls and ranges",
  stacks: "recorded call stacks",
  gpus: "kernels of GPUs",
};

function RunFlame() {
  const answer = useAnswer(json<LinesAnswer>(current.value, "run_lines"));
  return <Answered answer={answer}>{(value) => <Modes key={current.value} answer={value} />}</Answered>;
}

function Modes({ answer }: { answer: LinesAnswer }) {
  const { trees, lines } = answer;
  const mode = useSignal<Mode>(trees.length ? "heavy" : "time");
  const wantedTree = useSignal(trees[0] ?? "");
  const wantedWeight = useSignal<Weight>("host");
  const busiest = useMemo(() => [...lines.rows].sort((a, b) => rankOf(b) - rankOf(a))[0], [lines]);
  const wantedLine = useSignal(busiest?.line ?? 0);
  const search = useSignal("");
  const chosen = useSignal<Chosen | null>(null);
  const handle = useMemo(() => new PictureHandle(), []);
  const tree = trees.includes(wantedTree.value) ? wantedTree.value : (trees[0] ?? "");
  const weight = tree === "gpus" ? "gpu" : wantedWeight.value;
  const line = lines.rows.find((row) => row.line === wantedLine.value) ?? busiest;
  const choice = { tree, weight } as const;
  return (
    <div class="view run-flame">
      <div class="toolbar">
        <ModeButtons mode={mode} />
        {mode.value === "time" ? (
          <Choice
            label="Thread or stream"
            name="line"
            value={`${line?.line}`}
            options={lines.rows.map((row) => [`${row.line}`, `${nameOf(row)}: ${counted(row.span_count, "events")}`])}
            onChange={(value) => {
              wantedLine.value = Number(value);
            }}
          />
        ) : (
          <>
            <Choice
              label="Tree"
              name="tree"
              value={tree}
              options={trees.map((name) => [name, TREE_NAMES[name] ?? `only ${name}`])}
              onChange={(value) => {
                wantedTree.value = value;
              }}
            />
            <Choice
              label="Weight"
              name="weight"
              isOff={tree === "gpus"}
              hint="Host time: how long the calls took. GPU time: how long what they launched took"
              value={weight}
              options={WEIGHTS}
              onChange={(value) => {
                wantedWeight.value = value as Weight;
              }}
            />
          </>
        )}
        <input
          type="search"
          placeholder="find: text or /regex/"
          aria-label="Find in the flame graph"
          value={search.value}
          onInput={(event) => {
            search.value = event.currentTarget.value;
          }}
        />
        {mode.value === "sandwich" ? null : (
          <SaveMenu
            name={`run-flame-${mode.value}`}
            offers={pictures(
              (painter, size) => handle.paint(painter, size),
              () => handle.size(),
            )}
          />
        )}
      </div>
      {mode.value === "time" ? (
        line ? (
          <TimeOrder line={line.line} name={nameOf(line)} search={search} handle={handle} />
        ) : (
          <Nothing>No thread and no stream has events with a time.</Nothing>
        )
      ) : !tree ? (
        <Nothing>Neither calls nor GPU work were recorded.</Nothing>
      ) : mode.value === "heavy" ? (
        <LeftHeavy
          choice={choice}
          search={search}
          handle={handle}
          sandwichOf={(name, domain) => {
            chosen.value = { name, domain };
            mode.value = "sandwich";
          }}
        />
      ) : (
        <Sandwich choice={choice} search={search} chosen={chosen} />
      )}
    </div>
  );
}

function ModeButtons({ mode }: { mode: Signal<Mode> }) {
  return (
    <span class="choice" role="group" aria-label="Order">
      {MODES.map(([id, title, hint]) => (
        <button
          key={id}
          type="button"
          class="quiet"
          title={hint}
          data-mode={id}
          aria-pressed={mode.value === id}
          onClick={() => {
            mode.value = id;
          }}
        >
          {title}
        </button>
      ))}
    </span>
  );
}

interface ChoiceProps {
  label: string;
  /** What is chosen, for tests. */
  name: string;
  value: string;
  options: readonly (readonly [value: string, title: string])[];
  onChange: (value: string) => void;
  isOff?: boolean;
  hint?: string;
}

function Choice({ label, name, value, options, onChange, isOff = false, hint }: ChoiceProps) {
  return (
    <select
      aria-label={label}
      data-choose={name}
      disabled={isOff}
      title={hint}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    >
      {options.map(([option, title]) => (
        <option key={option} value={option}>
          {title}
        </option>
      ))}
    </select>
  );
}

/** Threads before streams: stacks are what a flame graph is for. */
const rankOf = (row: RunLinesRow) => (row.kind === "thread" ? 1e18 : 0) + row.total_ns;

function nameOf(row: RunLinesRow): string {
  return [row.group, row.part, row.label].filter(Boolean).join(" · ");
}

export const runFlame: View = {
  id: "run_flame",
  title: "Flame graph",
  hint: "Stacks of calls: merged with the heaviest first, in the order of time, or around one function; GPU work by kernel",
  about: "run",
  time: "selected",
  missing: (overview) =>
    overview.kind === "run" && (overview.holds.regions || overview.holds.dispatches || overview.holds.copies)
      ? ""
      : "neither calls nor GPU work were recorded",
  component: RunFlame,
};
