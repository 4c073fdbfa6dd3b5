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
  /** Threads and streams that have events with a time. */
  lines: Frame<RunLinesRow>;
  /** Names of the merged trees that the run has: those of TREE_NAMES, and domains of regions. */
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
  const mode = useSignal<Mode>(answer.trees.length ? "heavy" : "time");
  const choices = useChoices(answer);
  const search = useSignal("");
  const handle = useMemo(() => new PictureHandle(), []);
  return (
    <div class="view run-flame">
      <div class="toolbar">
        <ModeButtons mode={mode} />
        {mode.value === "time" ? (
          <LineChoice lines={answer.lines.rows} choices={choices} />
        ) : (
          <TreeChoices trees={answer.trees} choices={choices} />
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
      <Shown mode={mode} choices={choices} search={search} handle={handle} />
    </div>
  );
}

interface Choices {
  /** The tree and the weight of merged graphs; an empty tree = nothing was recorded that makes one. */
  tree: string;
  weight: Weight;
  /** The line of the graph in the order of time; undefined = none has events. */
  line: RunLinesRow | undefined;
  choose: { tree: (tree: string) => void; weight: (weight: Weight) => void; line: (line: number) => void };
}

/** What is chosen, as far as the answer has it: another time window may lack a tree or a line. */
function useChoices({ trees, lines }: LinesAnswer): Choices {
  const chosenTree = useSignal(trees[0] ?? "");
  const chosenWeight = useSignal<Weight>("host");
  const first = useMemo(() => [...lines.rows].sort((a, b) => rankOf(b) - rankOf(a))[0], [lines]);
  const chosenLine = useSignal(first?.line ?? 0);
  const tree = trees.includes(chosenTree.value) ? chosenTree.value : (trees[0] ?? "");
  return {
    tree,
    weight: tree === "gpus" ? "gpu" : chosenWeight.value, // kernels have no host time
    line: lines.rows.find((row) => row.line === chosenLine.value) ?? first,
    choose: {
      tree: (next) => {
        chosenTree.value = next;
      },
      weight: (next) => {
        chosenWeight.value = next;
      },
      line: (next) => {
        chosenLine.value = next;
      },
    },
  };
}

interface ShownProps {
  mode: Signal<Mode>;
  choices: Choices;
  search: Signal<string>;
  handle: PictureHandle;
}

/** The graph of the mode. */
function Shown({ mode, choices, search, handle }: ShownProps) {
  const { tree, weight, line } = choices;
  const choice = { tree, weight };
  const chosen = useSignal<Chosen | null>(null);
  if (mode.value === "time") {
    if (!line) return <Nothing>No thread and no stream has events with a time.</Nothing>;
    return <TimeOrder line={line.line} name={nameOf(line)} search={search} handle={handle} />;
  }
  if (!tree) return <Nothing>Neither calls nor GPU work were recorded.</Nothing>;
  if (mode.value === "sandwich") return <Sandwich choice={choice} search={search} chosen={chosen} />;
  return (
    <LeftHeavy
      choice={choice}
      search={search}
      handle={handle}
      sandwichOf={(name, domain) => {
        chosen.value = { name, domain };
        mode.value = "sandwich";
      }}
    />
  );
}

function LineChoice({ lines, choices: { line, choose } }: { lines: RunLinesRow[]; choices: Choices }) {
  return (
    <Choice
      label="Thread or stream"
      name="line"
      value={`${line?.line}`}
      options={lines.map((row) => [`${row.line}`, `${nameOf(row)}: ${counted(row.span_count, "events")}`])}
      onChange={(value) => choose.line(Number(value))}
    />
  );
}

function TreeChoices({ trees, choices: { tree, weight, choose } }: { trees: string[]; choices: Choices }) {
  return (
    <>
      <Choice
        label="Tree"
        name="tree"
        value={tree}
        options={trees.map((name) => [name, TREE_NAMES[name] ?? `only ${name}`])}
        onChange={choose.tree}
      />
      <Choice
        label="Weight"
        name="weight"
        isOff={tree === "gpus"}
        hint="Host time: how long the calls took. GPU time: how long what they launched took"
        value={weight}
        options={WEIGHTS}
        onChange={(value) => choose.weight(value as Weight)}
      />
    </>
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

/** Threads before streams, for stacks are what a flame graph is for: more than any sum of ns ranks them higher. */
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
