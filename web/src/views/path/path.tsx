// The critical path: what set the time of the run, its longest segments, its steps, and what a change would give.
import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { nanoseconds, percent } from "../../base/format";
import {
  ASKED,
  RUN_PATH_CONTRIBUTORS,
  RUN_PATH_SEGMENTS,
  type RunDiagnosisAnswer,
  type RunPathClassesRow,
  type RunPathContributorsRow,
  type RunPathGroupsRow,
  type RunPathSegmentsRow,
  type RunPathStepsRow,
  type RunWhatIfPredictionsRow,
} from "../../data/answers.gen";
import { json } from "../../data/ask";
import type { Frame } from "../../data/tables";
import { pathColour } from "../../draw/path_segments";
import { truncation } from "../../model/answers";
import { current } from "../../model/document";
import { shortName } from "../../model/kernel_names";
import { useAnswer } from "../../model/loaded";
import { selectKernel } from "../../model/run";
import { select, selection } from "../../model/selection";
import { show } from "../../model/timewindow";
import { frontView, type View } from "../../model/view";
import { Answered } from "../../widgets/answered";
import { PartsBar } from "../../widgets/bars";
import { Definition } from "../../widgets/cards";
import { type Column, DataTable, tableOffer } from "../../widgets/data_table";
import { figureColumns } from "../../widgets/figure_columns";
import { KernelName } from "../../widgets/kernel_name";
import { PartLegend } from "../../widgets/part_legend";
import { SaveMenu } from "../../widgets/saving";
import { TableSection } from "../../widgets/table_section";
import "./path.css";

interface PathAnswer {
  definition: string;
  groups: Frame<RunPathGroupsRow>;
  classes: Frame<RunPathClassesRow>;
  contributors: Frame<RunPathContributorsRow>;
  segments: Frame<RunPathSegmentsRow>;
  steps: Frame<RunPathStepsRow>;
  caveats: string[];
  /** Of each group: how much of the time is explained, and what GPUs did meanwhile. */
  evidence: string[];
  clock_residual_ns: number | null;
}

interface WhatIfAnswer {
  change: string;
  /** The bound of the diagnosis for the same change. */
  gain_ns_max: number | null;
  predictions: Frame<RunWhatIfPredictionsRow>;
}

/** What a segment is: code between calls is not the call that follows it. */
function What({ what, name }: { what: string; name: string }) {
  if (what === "work" || what === "call") return <KernelName name={name} />;
  return (
    <span title={`${what} ${name}`}>
      {name ? `${what}${what === "code before" ? "" : ":"} ${shortName(name)}` : what}
    </span>
  );
}

const CONTRIBUTORS = figureColumns<RunPathContributorsRow>(RUN_PATH_CONTRIBUTORS, [
  ["class", "Class", "text", "8em"],
  { name: "name", title: "What", show: (row) => <What {...row} />, width: "minmax(14em, 2fr)" },
  ["count", "Times"],
  ["path_ns", "On the path"],
  ["path_share", "Of the time", "bar"],
  ["longest_ns", "Longest"],
  ["total_ns", "In all"],
  ["slack_min_ns", "Smallest slack"],
]);
const SEGMENTS = figureColumns<RunPathSegmentsRow>(RUN_PATH_SEGMENTS, [
  ["length_ns", "Length"],
  ["begin", "Started at", "ns", "7em"],
  ["class", "Class", "text", "8em"],
  { name: "name", title: "What", show: (row) => <What {...row} />, width: "minmax(14em, 2fr)" },
  ["stack", "In", "text"],
  ["rank", "Rank", "id", "4em"],
]);

function Path() {
  const answer = useAnswer(json<PathAnswer>(current.value, "run_path"));
  return <Answered answer={answer}>{(value) => <Tables answer={value} />}</Answered>;
}

/** Around a segment, as much again on both sides. */
function showSegment(segment: RunPathSegmentsRow): void {
  const kernel = segment.class === "kernels" && segment.what === "work" ? { kernelName: segment.name } : {};
  const span = segment.item === null ? undefined : `run:${segment.item}`; // the timeline scrolls to its track
  select({ range: { begin: segment.begin, end: segment.end }, span, ...kernel });
  show({ begin: segment.begin - segment.length_ns, end: segment.end + segment.length_ns });
  frontView("run_timeline");
}

function Tables({ answer }: { answer: PathAnswer }) {
  const groups = answer.groups.rows;
  const group = useSignal(groups[0]?.group ?? 0);
  const mine = <Row extends { group: number }>(rows: Row[]) => rows.filter((row) => row.group === group.value);
  const chosen = selection.value.range;
  const segments = useMemo(() => mine(answer.segments.rows), [answer, group.value]);
  const contributors = useMemo(() => mine(answer.contributors.rows), [answer, group.value]);
  const steps = useMemo(() => stepRows(mine(answer.steps.rows)), [answer, group.value]);
  const row = groups.find((each) => each.group === group.value);
  if (!row) return <p class="nothing">Nothing to show: no call and no GPU work was recorded.</p>;
  return (
    <div class="view">
      <div class="toolbar">
        <span>The chain of events that set the time. A click on a segment shows it in the timeline.</span>
        {groups.length > 1 ? (
          <select
            aria-label="Processes"
            value={group.value}
            onChange={(change) => {
              group.value = Number(change.currentTarget.value);
            }}
          >
            {groups.map((each) => (
              <option key={each.group} value={each.group}>
                {nameOf(each)}
              </option>
            ))}
          </select>
        ) : null}
        <SaveMenu name="path" offers={[tableOffer(CONTRIBUTORS, () => contributors)]} />
      </div>
      <div class="scroll path">
        <Classes row={row} classes={mine(answer.classes.rows)} />
        <p class="path-evidence">{answer.evidence[groups.indexOf(row)]}</p>
        <Beside classes={mine(answer.classes.rows)} />
        <WhatIf group={group.value} kernels={contributors} />
        <h3>Longest segments</h3>
        <div class="path-table">
          <DataTable
            label="Segments of the path"
            columns={SEGMENTS}
            rows={segments}
            isSelected={(each) => each.begin === chosen?.begin && each.end === chosen.end}
            onSelect={showSegment}
          />
        </div>
        {steps.length ? (
          <Steps steps={steps} left={truncation(answer.steps.rows.length, answer.steps.row_count)} />
        ) : null}
        <TableSection
          title="Everything on the path"
          label="Contributors"
          columns={CONTRIBUTORS}
          table={{ rows: contributors, row_count: contributors.length }}
          isSelected={(each) => isKernel(each) && each.name === selection.value.kernelName}
          onSelect={(each) => isKernel(each) && selectKernel(each.name)}
        />
        {answer.caveats.map((caveat) => (
          <p key={caveat} class="truncated">
            {caveat}
          </p>
        ))}
        {answer.clock_residual_ns === null ? null : (
          <p class="truncated">
            Clocks of nodes were aligned by the ends of collectives, to about {nanoseconds(answer.clock_residual_ns)}.
          </p>
        )}
        <Definition text={answer.definition} />
      </div>
    </div>
  );
}

const isKernel = (row: RunPathContributorsRow) => row.class === "kernels" && row.what === "work";

function nameOf(group: RunPathGroupsRow): string {
  const who = group.rank === null ? `process ${group.pid ?? "?"}` : `rank ${group.rank}`;
  const length = nanoseconds(group.span_ns);
  return group.process_count > 1 ? `${group.process_count} processes, ${who} last: ${length}` : `${who}: ${length}`;
}

function Classes({ row, classes }: { row: RunPathGroupsRow; classes: RunPathClassesRow[] }) {
  return (
    <div class="path-classes">
      <strong>{nanoseconds(row.span_ns)}</strong>
      <PartsBar
        tall
        label="Classes of time on the path"
        parts={classes.map((each) => ({
          share: each.path_share ?? 0,
          colour: pathColour(each.class),
          title: `${each.class}: ${nanoseconds(each.path_ns)}, ${percent(each.path_share)}`,
        }))}
      />
      <PartLegend
        parts={classes.map((each) => ({
          words: `${each.class} ${percent(each.path_share)}`,
          colour: pathColour(each.class),
        }))}
      />
    </div>
  );
}

/** Parts of the time of the GPUs in Findings, and the classes of the path that say the same. */
const PARTS = [
  ["computation", "computation_share", ["kernels"]],
  ["exposed communication", "communication_share", ["communication"]],
  ["exposed copies", "copy_share", ["copies"]],
  ["idle", "idle_share", ["host", "launch", "idle", "unknown"]],
] as const;

type Part = (typeof PARTS)[number];
const largest = (share: (part: Part) => number) =>
  PARTS.reduce((best: Part, part) => (share(part) > share(best) ? part : best));

/** What Findings says about the same time: it counts what GPUs did, the path what the end waited for. */
function Beside({ classes }: { classes: RunPathClassesRow[] }) {
  const loaded = useAnswer(json<RunDiagnosisAnswer>(current.value, "run_diagnosis")).value;
  if (loaded.state !== "ready" || !loaded.value.gpus.rows.length) return null;
  const findings = loaded.value;
  const onPath = (names: readonly string[]) =>
    classes.filter((row) => names.includes(row.class)).reduce((sum, row) => sum + (row.path_share ?? 0), 0);
  const here = largest((part) => onPath(part[2]));
  const there = largest((part) => findings[part[1]]);
  const parts = PARTS.filter((part) => findings[part[1]] > 0).map((part) => `${part[0]} ${percent(findings[part[1]])}`);
  const said = `${nanoseconds(findings.window_ns)} of a GPU: ${parts.join(", ")}`;
  return (
    <p class={here === there ? "faint-text" : "truncated"} data-beside={here === there ? "agrees" : "disagrees"}>
      {here === there ? "Findings counts what GPUs did: " : "Findings disagrees, it counts what GPUs did: "}
      {said}. The path counts what the end of the run waited for.
    </p>
  );
}

const USUAL = [
  ["launch-gaps", "Launches cost nothing"],
  ["copies", "Copies take no time"],
  ["communication", "Collectives take no time"],
  ["host=-50%", "Host code takes half"],
] as const;

function WhatIf({ group, kernels }: { group: number; kernels: RunPathContributorsRow[] }) {
  const change = useSignal("");
  const longest = kernels.filter(isKernel).map((row) => row.name);
  const chosen = longest.filter((name) => name === selection.value.kernelName);
  const names = [...new Set([...chosen, ...longest.slice(0, 5)])];
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
          {USUAL.map(([text, words]) => (
            <option key={text} value={text}>
              {words}
            </option>
          ))}
          {names.map((name) => (
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
  const row = answer.predictions.rows.find((each) => each.group === group);
  if (!row) return null;
  return (
    <p data-predicted={row.span_ns_max}>
      {nanoseconds(row.span_ns)} now, {range(row, nanoseconds)} then:{" "}
      {range(row, (after) => percent(row.span_ns ? (row.span_ns - after) / row.span_ns : null))} less
      {answer.gain_ns_max === null ? "." : `; at most ${nanoseconds(answer.gain_ns_max)}, as in Findings.`}
    </p>
  );
}

function range(row: RunWhatIfPredictionsRow, words: (span: number) => string): string {
  const [low, high] = [words(row.span_ns_min), words(row.span_ns_max)];
  return low === high ? low : `${low} to ${high}`;
}

/** Rows of the table of steps before it scrolls. */
const MOST_STEPS = 14;

interface StepRow {
  step: number;
  begin: number;
  span_ns: number;
  classes: RunPathStepsRow[];
}

function stepRows(rows: RunPathStepsRow[]): StepRow[] {
  const steps = new Map<number, StepRow>();
  for (const row of rows) {
    const step = steps.get(row.step) ?? { step: row.step, begin: row.begin, span_ns: row.span_ns, classes: [] };
    step.classes.push(row);
    steps.set(row.step, step);
  }
  return [...steps.values()];
}

/** Steps as bars of one scale, in their order; sorted by length, the outliers come first. */
function Steps({ steps, left }: { steps: StepRow[]; left: string }) {
  const columns = useMemo(() => stepColumns(steps), [steps]);
  const height = `${Math.min(steps.length + 1.5, MOST_STEPS) * 24}px`;
  return (
    <>
      <h3>Steps side by side</h3>
      {left ? <p class="truncated">{left} parts of steps</p> : null}
      <div class="path-table" style={{ height }}>
        <DataTable label="Path by step" columns={columns} rows={steps} onSelect={showStep} />
      </div>
    </>
  );
}

function showStep({ begin, span_ns }: StepRow): void {
  select({ range: { begin, end: begin + span_ns } });
  show({ begin: begin - span_ns / 4, end: begin + span_ns * 1.25 });
  frontView("run_timeline");
}

function stepColumns(steps: StepRow[]): Column<StepRow>[] {
  const lengths = steps.map((step) => step.span_ns).sort((a, b) => a - b);
  const longest = lengths.at(-1) ?? 0;
  const median = lengths[Math.floor(lengths.length / 2)] ?? 0;
  const against = (row: StepRow) => (median ? row.span_ns / median : null);
  return [
    { name: "step", title: "Step", hint: "Number of the step", value: (row) => row.step, width: "4em" },
    {
      name: "span_ns",
      title: "Length",
      hint: "How long it took",
      value: (row) => row.span_ns,
      show: (row) => nanoseconds(row.span_ns),
      width: "7em",
    },
    {
      name: "of_median",
      title: "Of median",
      hint: "Its length over the median of the steps",
      value: against,
      show: (row) => `${against(row)?.toFixed(2) ?? "–"} x`,
      width: "7em",
    },
    {
      name: "classes",
      title: "Path",
      hint: "Classes of time on the path within the step; the longest step fills the width",
      value: (row) => row.classes.map(partTitle).join("; "),
      show: (row) => <StepBar row={row} longest={longest} />,
      width: "minmax(10em, 1fr)",
    },
  ];
}

const partTitle = (part: RunPathStepsRow) => `${part.class}: ${nanoseconds(part.path_ns)}, ${percent(part.path_share)}`;

function StepBar({ row, longest }: { row: StepRow; longest: number }) {
  const parts = row.classes.map((each) => ({
    share: longest ? each.path_ns / longest : 0,
    colour: pathColour(each.class),
    title: partTitle(each),
  }));
  return <PartsBar parts={parts} label={parts.map((part) => part.title).join("; ")} />;
}

export const path: View = {
  id: "path",
  title: "Critical path",
  hint: ASKED.path,
  about: "run",
  time: "whole",
  missing: (overview) =>
    overview.kind === "run" && (overview.holds.dispatches || overview.holds.copies || overview.holds.regions)
      ? ""
      : "no event was recorded",
  component: Path,
};
