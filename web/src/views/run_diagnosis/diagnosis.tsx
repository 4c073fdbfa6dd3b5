// What set the time of a run, in words: what to change first, with bounds and evidence, and what is not a finding.
import { counted, nanoseconds, percent } from "../../base/format";
import {
  ASKED,
  type Note,
  RUN_DIAGNOSIS_GPUS,
  type RunDiagnosisAnswer,
  type RunDiagnosisGpusRow,
  type RunFinding,
} from "../../data/answers.gen";
import { json } from "../../data/ask";
import { seriesColour } from "../../draw/palette";
import { pathColour } from "../../draw/path_segments";
import { current } from "../../model/document";
import { useAnswer } from "../../model/loaded";
import type { View } from "../../model/view";
import { Answered } from "../../widgets/answered";
import { PartsBar } from "../../widgets/bars";
import { Chip, Definition } from "../../widgets/cards";
import { type Column, tableOffer } from "../../widgets/data_table";
import { figureColumns, plainColumns } from "../../widgets/figure_columns";
import { gpuColumn } from "../../widgets/run_columns";
import { SaveMenu } from "../../widgets/saving";
import { TableSection } from "../../widgets/table_section";
import "../../widgets/findings.css";
import { Card } from "./card";

const COLUMNS: Column<RunFinding>[] = [
  ...plainColumns<RunFinding>(["rule", "verdict", "reason"]),
  { name: "remedies", title: "What to do", value: (finding) => finding.remedies.join("; "), width: "" },
  ...plainColumns<RunFinding>([
    "share",
    "time_ns",
    "bound_alone_ns",
    "bound_ns",
    "bound_share",
    "within",
    "confidence",
  ]),
];
const GPUS = figureColumns<RunDiagnosisGpusRow>(RUN_DIAGNOSIS_GPUS, [
  ["rank", "Rank", "id"],
  ["window_ns", "Time"],
  ["computation_ns", "Computation"],
  ["exposed_communication_ns", "Exposed communication"],
  ["exposed_copy_ns", "Exposed copies"],
  ["idle_ns", "Idle"],
]);

function Diagnosis() {
  const answer = useAnswer(json<RunDiagnosisAnswer>(current.value, "run_diagnosis"));
  return <Answered answer={answer}>{(value) => <Plan answer={value} />}</Answered>;
}

function Plan({ answer }: { answer: RunDiagnosisAnswer }) {
  const { findings, gpus } = answer;
  const isGood = answer.trust === "good";
  return (
    <div class="view">
      <div class="toolbar">
        <span>{answer.subject}</span>
        <Chip tone={isGood ? "good" : "care"} title={answer.caveats.map((note) => note.text).join("\n")}>
          trust: {answer.trust}
        </Chip>
        <SaveMenu name="findings" offers={[tableOffer(COLUMNS, () => findings)]} />
      </div>
      <div class="scroll diagnosis">
        <p>
          <strong data-field="headline">{answer.headline}</strong>
        </p>
        {gpus.rows.length ? <Budget answer={answer} /> : null}
        <div class="findings">
          {findings.map((finding, n) => (
            <Card
              key={`${n} ${finding.rule}`}
              finding={finding}
              number={n + 1}
              cases={answer.cases[n] ?? []}
              colour={seriesColour(n)}
              within={finding.within ? findings.findIndex(({ rule }) => rule === finding.within) + 1 : 0}
            />
          ))}
        </div>
        {!findings.length && gpus.rows.length ? (
          <p class="note" data-nothing>
            Nothing is above its threshold: {counted(answer.checked.length, "rules")} checked
            {answer.skipped.length ? ", but not everything could be checked (see Skipped)" : ""}.
          </p>
        ) : null}
        <Notes title="Beside this" notes={answer.notes} isOpen />
        <Notes title="Not a finding" notes={answer.not_findings} />
        <Notes title="Skipped" notes={answer.skipped} />
        <Notes title="Caveats" notes={answer.caveats} />
        {gpus.row_count > 1 ? (
          <TableSection title="By GPU" columns={[gpuColumn<RunDiagnosisGpusRow>("9em"), ...GPUS]} table={gpus} />
        ) : null}
        {answer.next_command ? (
          <p>
            Next: <code>{answer.next_command}</code>
          </p>
        ) : null}
        <Definition text={answer.definition} />
      </div>
    </div>
  );
}

/** The time of a GPU as one bar: kernels, what nothing hides, and idle time. */
function Budget({ answer }: { answer: RunDiagnosisAnswer }) {
  const parts = (
    [
      ["computation", answer.computation_share, "kernels"],
      ["exposed communication", answer.communication_share, "communication"],
      ["exposed copies", answer.copy_share, "copies"],
      ["idle", answer.idle_share, "idle"],
    ] as const
  )
    .filter(([, share]) => share > 0)
    .map(([words, share, name]) => ({ share, colour: pathColour(name), title: `${words} ${percent(share)}` }));
  return (
    <div class="budget">
      <PartsBar tall parts={parts} label={`${nanoseconds(answer.window_ns)}, mean of the GPUs`} />
      <p class="faint-text">
        {nanoseconds(answer.window_ns)}: {parts.map((part) => part.title).join(", ")}
      </p>
    </div>
  );
}

function Notes({ title, notes, isOpen = false }: { title: string; notes: Note[]; isOpen?: boolean }) {
  if (!notes.length) return null;
  return (
    <details class="definition" open={isOpen} data-notes={title}>
      <summary>
        {title} ({notes.length})
      </summary>
      <ul>
        {notes.map((note, n) => (
          <li key={n} title={`rule ${note.rule}`}>
            {note.text}
          </li>
        ))}
      </ul>
    </details>
  );
}

export const runDiagnosis: View = {
  id: "run_diagnosis",
  title: "Findings",
  hint: ASKED.run_diagnosis,
  about: "run",
  time: "selected",
  missing: () => "",
  component: Diagnosis,
};
