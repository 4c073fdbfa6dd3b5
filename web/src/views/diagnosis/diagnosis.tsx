// The plan: what to change first, with evidence. Each finding is a card; every word that names something is a link to it.
import { useMemo } from "preact/hooks";
import { exact, percent, short } from "../../base/format";
import { groupBy } from "../../base/group";
import { ASKED, type DiagnoseAnswer, type StallFinding, type WaitsAnswer } from "../../data/answers.gen";
import { json } from "../../data/ask";
import { seriesColour } from "../../draw/palette";
import { CYCLES } from "../../model/answers";
import { current, traceOverview } from "../../model/document";
import { ofKernel } from "../../model/kernels";
import { useAnswer } from "../../model/loaded";
import type { View } from "../../model/view";
import { Annotations } from "../../widgets/annotations";
import { Answered } from "../../widgets/answered";
import { PartsBar } from "../../widgets/bars";
import { Chip, Definition } from "../../widgets/cards";
import { type Column, tableOffer } from "../../widgets/data_table";
import { plainColumns } from "../../widgets/figure_columns";
import { KernelChooser } from "../../widgets/kernel_chooser";
import { ViewLink } from "../../widgets/links";
import { SaveMenu } from "../../widgets/saving";
import { Card } from "./card";
import "../../widgets/findings.css";

const COLUMNS: Column<StallFinding>[] = [
  ...plainColumns<StallFinding>(["name", "verdict", "reason"]),
  {
    name: "remedies",
    title: "What to do",
    value: (finding) => finding.remedies.map((remedy) => remedy.text).join("; "),
    width: "",
  },
  ...plainColumns<StallFinding>([
    "gain_share_min",
    "gain_share_max",
    "gain_basis",
    "stall_cycles_total",
    "stall_share",
    "confidence",
  ]),
];

/** Kinds of findings whose instructions wait for producers. */
const ABOUT_WAITS = ["wait", "memory"];

function Diagnosis() {
  const plan = useAnswer(json<DiagnoseAnswer>(current.value, "diagnose", ofKernel()));
  const waits = useAnswer(json<WaitsAnswer>(current.value, "waits", ofKernel()));
  const waitsAnswer = waits.value.state === "ready" ? waits.value.value : null;
  return (
    <Answered answer={plan} choose={<KernelChooser />}>
      {(answer) => <Plan answer={answer} waits={waitsAnswer} />}
    </Answered>
  );
}

function Plan({ answer, waits }: { answer: DiagnoseAnswer; waits: WaitsAnswer | null }) {
  const producers = useMemo(() => groupBy(waits?.producers.rows ?? [], (producer) => producer.row), [waits]);
  const colours = new Map(answer.findings.map((finding, n) => [finding.name, seriesColour(n)]));
  const { cycles } = answer.trust;
  return (
    <div class="view">
      <div class="toolbar">
        <span>What to change</span>
        {traceOverview().holds.samples ? null : (
          <Chip tone={CYCLES[cycles]?.tone ?? ""} title={CYCLES[cycles]?.means ?? ""}>
            trace: {cycles}
          </Chip>
        )}
        <KernelChooser />
        <SaveMenu name="diagnosis" offers={[tableOffer(COLUMNS, () => answer.findings)]} />
      </div>
      <div class="scroll diagnosis">
        <Caveats answer={answer} />
        {answer.time_cycles ? <Budget answer={answer} colours={colours} /> : null}
        <div class="findings">
          {answer.findings.map((finding, number) => (
            <Card
              key={finding.name}
              finding={finding}
              number={number + 1}
              inRun={answer.in_run_words?.[number] ?? ""}
              colour={colours.get(finding.name) ?? ""}
              producersOf={(row) => (ABOUT_WAITS.includes(finding.kind) ? (producers.get(row) ?? []) : [])}
            />
          ))}
        </div>
        {answer.findings.length === 0 ? (
          <p class="note" data-nothing>
            No findings: {whyNoFindings()} <ViewLink id="coverage">What was traced</ViewLink>
          </p>
        ) : null}
        <Annotations />
        <Definition text={answer.definition} />
      </div>
    </div>
  );
}

const whyNoFindings = () =>
  traceOverview().holds.samples
    ? "these are PC samples. They show where waves were, not how long each instruction took; see Stalls, or wavewright diagnose on the command line."
    : "no instruction of this trace was measured, so there is nothing to analyse.";

/** The time of the traced SIMDs as one bar: what each finding could save of it at most, and the rest. */
function Budget({ answer, colours }: { answer: DiagnoseAnswer; colours: Map<string, string> }) {
  // Gains of other findings are shares of another time.
  const inside = answer.findings.filter((finding) => finding.gain_basis === "traced SIMDs");
  const parts = inside.map((finding) => ({
    share: finding.gain_share_max,
    colour: colours.get(finding.name) ?? "",
    title: `${finding.verdict}: at most ${percent(finding.gain_share_max)} of the time`,
    onClick: () => {
      const cards = document.querySelectorAll<HTMLElement>('[data-view="diagnosis"] .finding');
      for (const card of cards) if (card.dataset.finding === finding.name) card.scrollIntoView({ block: "start" });
    },
  }));
  return (
    <div class="budget">
      <p>What each finding about the waves could save of the time at most:</p>
      <PartsBar tall parts={parts} label={`of ${exact(answer.time_cycles)} cycles of the traced CUs`} />
      <p class="faint-text">
        <b data-field="time">{short(answer.time_cycles)}</b> cycles of the traced CUs; the rest is work, or waiting that
        nothing explains.
      </p>
    </div>
  );
}

function Caveats({ answer }: { answer: DiagnoseAnswer }) {
  const serious = answer.trust.caveats_of_cycles.filter((caveat) => caveat.severity !== "note");
  if (!serious.length) return null;
  const isUseless = answer.trust.cycles === "do not use";
  return (
    <div class={`caveats${isUseless ? " bad" : ""}`} data-caveats>
      <b>{isUseless ? "Do not draw conclusions from this trace." : "Use this trace with caution."}</b>
      <ul>
        {serious.map((caveat) => (
          <li key={caveat.name} title={caveat.advice}>
            {caveat.sentence}
            {caveat.severity === "fatal" ? <div class="faint-text">{caveat.advice}</div> : null}
          </li>
        ))}
      </ul>
      <ViewLink id="coverage">Can I trust this trace? →</ViewLink>
    </div>
  );
}

export const diagnosis: View = {
  id: "diagnosis",
  title: "Diagnosis",
  hint: ASKED.diagnosis,
  about: "trace",
  time: "selected",
  missing: () => "",
  component: Diagnosis,
};
