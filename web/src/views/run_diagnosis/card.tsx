// One finding about a run: at most what it gains, why, what to do, where to look, when it would be a false alarm.
import { counted, nanoseconds, percent } from "../../base/format";
import type { Case, RunFinding } from "../../data/answers.gen";
import { runOverview } from "../../model/document";
import { gpuName, selectKernel } from "../../model/run";
import { select, selection } from "../../model/selection";
import { show } from "../../model/timewindow";
import { frontView } from "../../model/view";
import { PartsBar } from "../../widgets/bars";
import { Chip } from "../../widgets/cards";
import { ViewLink } from "../../widgets/links";

interface Props {
  finding: RunFinding;
  number: number;
  cases: Case[];
  colour: string;
  /** Number of the finding that promises this time already; 0 = it stands by itself. */
  within: number;
}

/** Confidence -> tone of its chip. */
const TONES: Record<string, string> = { high: "good", medium: "care", low: "bad" };
/** Where more about the part of the time can be seen. */
const MORE: Record<string, [id: string, words: string]> = {
  idle: ["gaps", "All gaps and their causes"],
  copies: ["overlap", "What ran at the same time"],
  communication: ["ranks", "Ranks and collectives"],
  kernels: ["kernels", "All kernels"],
};
/** Innermost frames of a call stack that are shown. */
const SHOWN_FRAMES = 3;

export function Card({ finding, number, cases, colour, within }: Props) {
  const bound = within ? finding.gain_share_max : finding.bound_share;
  const more = MORE[finding.kind];
  return (
    <article class="finding" data-finding={finding.rule} style={{ borderLeftColor: colour }}>
      <header>
        <span class="finding-number">{number}</span>
        <h3>{finding.verdict}</h3>
        <span class="gain" title={gainHint(finding, within)}>
          <span>at most</span>
          <strong data-field="gain">{percent(bound)}</strong>
          {within ? <span>, within {within}</span> : null}
        </span>
      </header>
      <PartsBar parts={[{ share: bound ?? 0, colour }]} label={`${percent(bound)} of the time`} />
      <p class="finding-facts">
        <span title="The time that it is about, mean of the GPUs">
          <b>{nanoseconds(finding.time_ns)}</b>
          {finding.step_time_ns === null ? "" : ` (${nanoseconds(finding.step_time_ns)} per step)`}
        </span>
        {finding.case_count ? <span>{counted(finding.case_count, "cases")}</span> : null}
        {finding.confidence ? (
          <Chip tone={TONES[finding.confidence] ?? ""} title={finding.confidence_reason}>
            confidence: {finding.confidence}
          </Chip>
        ) : null}
      </p>
      <h4>Why</h4>
      <p data-field="reason">{sentence(finding.reason)}</p>
      {finding.remedies.length ? (
        <>
          <h4>What to do</h4>
          <ul class="remedies">
            {finding.remedies.map((remedy) => (
              <li key={remedy}>{sentence(remedy)}</li>
            ))}
          </ul>
        </>
      ) : null}
      {cases.length ? (
        <>
          <h4>
            Look at{" "}
            {cases.length < finding.case_count ? <span class="faint-text">the longest {cases.length}</span> : null}
          </h4>
          <ul class="evidence">
            {cases.map((example, n) => (
              <Evidence key={n} item={example} most={cases[0]?.time_ns ?? 0} colour={colour} />
            ))}
          </ul>
        </>
      ) : null}
      {finding.false_if ? (
        <>
          <h4>A false alarm if</h4>
          <p>{sentence(finding.false_if)}</p>
        </>
      ) : null}
      <footer>
        {more ? <ViewLink id={more[0]}>{more[1]} →</ViewLink> : null}
        <span class="faint-text" title={`${finding.threshold.quantity}; ${finding.threshold.source}`}>
          rule {finding.rules.join(" + ")}
        </span>
      </footer>
    </article>
  );
}

function gainHint(finding: RunFinding, within: number): string {
  const alone = `${nanoseconds(finding.bound_alone_ns)} if only this is changed`;
  return within
    ? `${alone}; finding ${within} promises this time already`
    : `${nanoseconds(finding.bound_ns)} after the findings above it, ${alone}`;
}

function Evidence({ item, most, colour }: { item: Case; most: number; colour: string }) {
  const { begin, end } = item;
  const chosen = selection.value.range;
  const isSelected = begin !== null && chosen?.begin === begin && chosen.end === end;
  const isLink = begin !== null || item.rank === null; // without a time it leads to a kernel, which a rank is not
  const hint = begin === null ? "Show the kernel" : "Show it in the timeline";
  const place = [
    item.rank === null ? (item.gpu === null ? "" : gpuName(item.node, item.gpu, nodeCount())) : `rank ${item.rank}`,
    item.call ? `host in ${item.call}` : "",
    item.stack.slice(-SHOWN_FRAMES).join(" › "),
  ];
  return (
    <li>
      <div class="evidence-line">
        {isLink ? (
          <button
            type="button"
            class={`link${isSelected ? " is-selected" : ""}`}
            title={`${item.name}\n${hint}`}
            onClick={() => showCase(item)}
          >
            {item.what}
          </button>
        ) : (
          <span>{item.what}</span>
        )}
        {begin === null ? null : <span class="faint-text">at {nanoseconds(begin)}</span>}
      </div>
      <div class="evidence-cost">
        <PartsBar
          parts={[{ share: most ? item.time_ns / most : 0, colour }]}
          label={`${nanoseconds(item.time_ns)} of the longest ${nanoseconds(most)}`}
        />
        <span>
          {nanoseconds(item.time_ns)}
          {item.count > 1 ? `, ${counted(item.count, "times")}` : ""}
        </span>
      </div>
      <div class="faint-text" title={item.stack.join("\n")}>
        {place.filter(Boolean).join(" · ")}
      </div>
    </li>
  );
}

const nodeCount = () => runOverview().clocks.nodes.length;

/** Shows a case in the timeline with as much again on both sides; a case without a time is a kernel. */
function showCase({ begin, end, name }: Case): void {
  if (begin === null || end === null) {
    selectKernel(name);
    frontView("kernels");
    return;
  }
  select({ range: { begin, end } });
  show({ begin: begin - (end - begin), end: end + (end - begin) });
  frontView("run_timeline");
}

const sentence = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
