// One line for new users: where to look. Once closed it does not come back.
import { kind } from "../model/document";
import { change, settings } from "../model/settings";
import { frontView } from "../model/view";
import { helpIsOpen } from "./keys";

export function Welcome() {
  if (settings.value.knowsPage) return null;
  const close = () => change({ knowsPage: true });
  return (
    <div class="banner welcome" role="note" data-banner="welcome">
      <span>
        New here?{" "}
        {kind.value === "counters" ? (
          <>
            Click a row of <To view="counter_kernels" title="Kernels" />: every view then shows that kernel.{" "}
            <To view="counter_diagnosis" title="Diagnosis" /> says what limits it,{" "}
            <To view="speed_of_light" title="Speed of light" /> how near each unit is to its peak
          </>
        ) : kind.value === "run" ? (
          <>
            <To view="run_diagnosis" title="Findings" /> says what to change first,{" "}
            <To view="path" title="Critical path" /> what set the time. Click a span of the timeline or a row of{" "}
            <To view="kernels" title="Kernels" />
          </>
        ) : (
          <>
            Click the hottest line in <To view="explorer" title="Explorer" />: Instructions and Source go there.{" "}
            <To view="diagnosis" title="Diagnosis" /> says what to change first
          </>
        )}
        .{" "}
        <button type="button" class="link" onClick={() => (helpIsOpen.value = true)}>
          Keys and views: <kbd>?</kbd>
        </button>
      </span>
      <button type="button" class="quiet" aria-label="Close" title="Do not show this again" onClick={close}>
        ×
      </button>
    </div>
  );
}

function To({ view, title }: { view: string; title: string }) {
  return (
    <button type="button" class="link" onClick={() => frontView(view)}>
      {title}
    </button>
  );
}
