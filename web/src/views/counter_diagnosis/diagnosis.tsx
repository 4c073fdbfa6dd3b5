// Which limit each kernel is at, by its counters, and what would decide what they leave open.
import { ASKED, type CounterDiagnosisAnswer, type KernelLimit, type Limiter } from "../../data/answers.gen";
import { json } from "../../data/ask";
import { truncation } from "../../model/answers";
import { ofChosen } from "../../model/counters";
import { current } from "../../model/document";
import { useAnswer } from "../../model/loaded";
import type { View } from "../../model/view";
import { Answered, Nothing } from "../../widgets/answered";
import { Definition } from "../../widgets/cards";
import { Caveats } from "../../widgets/caveats";
import { CounterKernelChooser } from "../../widgets/counter_choice";
import { type Column, tableOffer } from "../../widgets/data_table";
import { SaveMenu } from "../../widgets/saving";
import { Kernel } from "./kernel";
import "./diagnosis.css";

/** A row of a file: one limiter of a kernel. */
type Line = Limiter & { ofKernel: KernelLimit };

const COLUMNS: Column<Line>[] = [
  { name: "kernel", title: "Rank", value: (line) => line.ofKernel.kernel, width: "" },
  { name: "kernel_name", title: "Kernel", value: (line) => line.ofKernel.kernel_name, width: "" },
  { name: "duration_share", title: "Share", value: (line) => line.ofKernel.duration_share, width: "" },
  { name: "limiter", title: "Limiter", value: (line) => line.name, width: "" },
  { name: "kind", title: "Kind", value: (line) => line.kind, width: "" },
  { name: "verdict", title: "Verdict", value: (line) => line.verdict, width: "" },
  { name: "confidence", title: "Confidence", value: (line) => line.confidence, width: "" },
  { name: "reason", title: "Reason", value: (line) => line.reason, width: "" },
  { name: "gain_share_max", title: "Gain at most", value: (line) => line.gain_share_max, width: "" },
  { name: "missing_counters", title: "Missing", value: (line) => line.missing_counters.join(" "), width: "" },
];

function Diagnosis() {
  const answer = useAnswer(json<CounterDiagnosisAnswer>(current.value, "counter_diagnosis", ofChosen()));
  return (
    <Answered answer={answer} choose={<CounterKernelChooser />}>
      {(value) => <Kernels answer={value} />}
    </Answered>
  );
}

function Kernels({ answer }: { answer: CounterDiagnosisAnswer }) {
  const { kernels, kernel_count: count } = answer;
  const cutNote = truncation(kernels.length, count);
  const lines = () => kernels.flatMap((ofKernel) => ofKernel.limiters.map((limiter) => ({ ...limiter, ofKernel })));
  return (
    <div class="view">
      <div class="toolbar">
        <CounterKernelChooser />
        {cutNote ? <strong>{cutNote} kernels, the longest</strong> : null}
        <SaveMenu name="diagnosis" offers={[tableOffer(COLUMNS, lines)]} />
      </div>
      <div class="scroll limits">
        <Caveats
          caveats={answer.caveats.filter((caveat) => caveat.severity !== "note").map((caveat) => caveat.sentence)}
        />
        {kernels.length ? null : <Nothing>Nothing to show: the capture has no dispatches.</Nothing>}
        {kernels.map((kernel) => (
          <Kernel key={kernel.kernel} kernel={kernel} />
        ))}
        <Definition text={answer.definition} />
      </div>
    </div>
  );
}

export const counterDiagnosis: View = {
  id: "counter_diagnosis",
  title: "Diagnosis",
  hint: ASKED.counter_diagnosis,
  about: "counters",
  missing: () => "",
  component: Diagnosis,
};
