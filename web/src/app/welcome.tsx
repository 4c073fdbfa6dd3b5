// The first line of the help: which views to start with for this kind of document.
import { kind } from "../model/document";
import { frontView } from "../model/view";
import { closeDialogOf } from "../widgets/dialog";

export function StartHere() {
  if (kind.value === "store")
    return (
      <p>
        <To view="trends" title="Trends" /> shows how a quantity went on, where its level changed, and what changed with
        it. <To view="store_captures" title="Captures" /> lists what is in the store.
      </p>
    );
  if (kind.value === "counters")
    return (
      <p>
        Click a row of <To view="counter_kernels" title="Kernels" />: every view then shows that kernel.{" "}
        <To view="counter_diagnosis" title="Diagnosis" /> says what limits it,{" "}
        <To view="speed_of_light" title="Speed of light" /> how near each unit is to its peak.
      </p>
    );
  if (kind.value === "run")
    return (
      <p>
        <To view="run_diagnosis" title="Findings" /> says what to change first, <To view="path" title="Critical path" />{" "}
        what set the time. Click a span of the timeline or a row of <To view="kernels" title="Kernels" />.
      </p>
    );
  return (
    <p>
      <To view="diagnosis" title="Diagnosis" /> says what to change first. Click an instruction in it: Instructions,
      Source and the timelines go there. <To view="explorer" title="Explorer" /> has the costs by file and line.
    </p>
  );
}

function To({ view, title }: { view: string; title: string }) {
  return (
    <button
      type="button"
      class="link"
      onClick={(event) => {
        closeDialogOf(event.currentTarget);
        frontView(view);
      }}
    >
      {title}
    </button>
  );
}
