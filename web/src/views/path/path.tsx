// The critical path: what set the time of the run, its longest segments, its steps, and what a change would give.
import { type Signal, useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { nanoseconds, percent } from "../../base/format";
import {
  ASKED,
  RUN_PATH_CONTRIBUTORS,
  RUN_PATH_SEGMENTS,
  type RunPathClassesRow,
  type RunPathContributorsRow,
  type RunPathGroupsRow,
  type RunPathSegmentsRow,
  type RunPathStepsRow,
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
import { DataTable, tableOffer } from "../../widgets/data_table";
import { figureColumns } from "../../widgets/figure_columns";
import { KernelName } from "../../widgets/kernel_name";
import { PartLegend } from "../../widgets/part_legend";
import { SaveMenu } from "../../widgets/saving";
import { TableSection } from "../../widgets/table_section";
import { Beside } from "./beside";
import { Steps, stepRows } from "./steps";
import { isKernel, WhatIf } from "./what_if";
import "./path.css";

/** Tables by group: processes that have a path together. */
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

/** What a segment is. Code between two calls is named "code before" the second one: it is not that call. */
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

/** Selects a segment, and shows it in the timeline with as much again on both sides. */
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
  const ofGroup = <Row extends { group: number }>(rows: Row[]) => rows.filter((row) => row.group === group.value);
  const selectedTime = selection.value.range;
  const segments = useMemo(() => ofGroup(answer.segments.rows), [answer, group.value]);
  const contributors = useMemo(() => ofGroup(answer.contributors.rows), [answer, group.value]);
  const steps = useMemo(() => stepRows(ofGroup(answer.steps.rows)), [answer, group.value]);
  const shown = groups.find((row) => row.group === group.value);
  if (!shown) return <p class="nothing">Nothing to show: no call and no GPU work was recorded.</p>;
  const classes = ofGroup(answer.classes.rows);
  return (
    <div class="view">
      <div class="toolbar">
        <span>The chain of events that set the time. A click on a segment shows it in the timeline.</span>
        <GroupSelect groups={groups} group={group} />
        <SaveMenu name="path" offers={[tableOffer(CONTRIBUTORS, () => contributors)]} />
      </div>
      <div class="scroll path">
        <Classes row={shown} classes={classes} />
        <p class="path-evidence">{answer.evidence[groups.indexOf(shown)]}</p>
        <Beside classes={classes} />
        <WhatIf group={group.value} contributors={contributors} />
        <h3>Longest segments</h3>
        <div class="path-table">
          <DataTable
            label="Segments of the path"
            columns={SEGMENTS}
            rows={segments}
            isSelected={({ begin, end }) => begin === selectedTime?.begin && end === selectedTime.end}
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
          isSelected={(row) => isKernel(row) && row.name === selection.value.kernelName}
          onSelect={(row) => isKernel(row) && selectKernel(row.name)}
        />
        <Caveats answer={answer} />
        <Definition text={answer.definition} />
      </div>
    </div>
  );
}

function GroupSelect({ groups, group }: { groups: RunPathGroupsRow[]; group: Signal<number> }) {
  if (groups.length < 2) return null;
  return (
    <select
      aria-label="Processes"
      value={group.value}
      onChange={(change) => {
        group.value = Number(change.currentTarget.value);
      }}
    >
      {groups.map((row) => (
        <option key={row.group} value={row.group}>
          {nameOf(row)}
        </option>
      ))}
    </select>
  );
}

function Caveats({ answer }: { answer: PathAnswer }) {
  return (
    <>
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
    </>
  );
}

/** The processes of a group: the last one of them set its time. */
function nameOf(group: RunPathGroupsRow): string {
  const last = group.rank === null ? `process ${group.pid ?? "?"}` : `rank ${group.rank}`;
  const length = nanoseconds(group.span_ns);
  return group.process_count > 1 ? `${group.process_count} processes, ${last} last: ${length}` : `${last}: ${length}`;
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
