// One kernel: what limits it, what else comes near a limit, and what would decide.
import { counted, exact, measured, nanoseconds, percent } from "../../base/format";
import type { KernelLimit, Limiter, NumberEvidence } from "../../data/answers.gen";
import { colourOf } from "../../draw/palette";
import { chooseKernel, chosenKernel } from "../../model/counters";
import { select } from "../../model/selection";
import { frontView } from "../../model/view";
import { Chip } from "../../widgets/cards";

/** Confidence -> tone of its chip. */
const TONES: Record<string, string> = { high: "good", medium: "care", low: "bad" };

export function Kernel({ kernel }: { kernel: KernelLimit }) {
  const likely = kernel.limiters.filter((limiter) => limiter.verdict === "at limit" || limiter.verdict === "likely");
  const open = kernel.limiters.filter((limiter) => limiter.verdict === "undecided");
  const excluded = kernel.limiters.filter((limiter) => limiter.verdict === "excluded");
  const isChosen = chosenKernel()?.kernel === kernel.kernel;
  return (
    <article class="limit" data-limit={kernel.kernel}>
      <header>
        <button
          type="button"
          class={`link limit-name${isChosen ? " is-selected" : ""}`}
          title="Select this kernel in every view"
          onClick={() => chooseKernel(kernel.kernel)}
        >
          {kernel.kernel}: {kernel.kernel_name}
        </button>
        <span class="faint-text">
          {kernel.duration_share === null
            ? ""
            : `${percent(kernel.duration_share)} of the kernel time of the ${kernel.is_time_of_run ? "run" : "capture"} · `}
          {counted(kernel.dispatch_count, "dispatches")}
          {kernel.duration_ns_mean === null ? "" : ` of ${nanoseconds(kernel.duration_ns_mean)}`}
        </span>
      </header>
      <p class="limit-summary" data-field="summary">
        {kernel.summary}{" "}
        <Chip tone={TONES[kernel.confidence] ?? ""} title={kernel.confidence_reason}>
          confidence: {kernel.confidence}
        </Chip>
      </p>
      {likely.map((limiter) => (
        <LimiterCard key={limiter.name} limiter={limiter} isOpen />
      ))}
      {open.length ? (
        <details>
          <summary>
            {exact(open.length)} undecided: {open.map((limiter) => limiter.name).join(", ")}
          </summary>
          {open.map((limiter) => (
            <LimiterCard key={limiter.name} limiter={limiter} />
          ))}
          {kernel.plan ? (
            <p>
              To settle them, measure: <code>{kernel.plan}</code>
            </p>
          ) : null}
        </details>
      ) : null}
      {excluded.length ? (
        <details>
          <summary class="faint-text">
            {exact(excluded.length)} excluded: {excluded.map((limiter) => limiter.name).join(", ")}
          </summary>
          {excluded.map((limiter) => (
            <LimiterCard key={limiter.name} limiter={limiter} />
          ))}
        </details>
      ) : null}
    </article>
  );
}

/** Verdict -> meaning in the palette, for the edge of a card. */
const MEANINGS: Record<string, string> = {
  "at limit": "worse",
  likely: "VMEM",
  undecided: "IMMED",
  excluded: "IDLE",
};

function LimiterCard({ limiter, isOpen = false }: { limiter: Limiter; isOpen?: boolean }) {
  return (
    <section
      class="limiter"
      style={{ borderLeftColor: colourOf(MEANINGS[limiter.verdict] ?? "") }}
      data-limiter={limiter.name}
    >
      <p>
        <b>{limiter.name}</b> <span class="faint-text">{limiter.verdict}</span>
        {limiter.gain_share_max === null ? null : (
          <span class="faint-text" title="Upper bound of the kernel's time that can be saved">
            {" "}
            · gain at most <b data-field="gain">{percent(limiter.gain_share_max)}</b>
          </span>
        )}
      </p>
      <p>{limiter.reason}</p>
      {limiter.missing_counters.length ? (
        <p class="faint-text">
          would settle it: <code>{limiter.missing_counters.join(" ")}</code>
        </p>
      ) : null}
      {isOpen && limiter.remedy ? <p>What to do: {limiter.remedy}</p> : null}
      {limiter.evidence.length ? (
        <details>
          <summary class="faint-text">
            {exact(limiter.evidence.length)} {limiter.evidence.length === 1 ? "number" : "numbers"}
          </summary>
          <ul class="limiter-evidence">
            {limiter.evidence.map((item) => (
              <Measured key={item.quantity + item.role} evidence={item} />
            ))}
          </ul>
        </details>
      ) : null}
    </section>
  );
}

/** What a number says about its limiter, by its level. */
const SIGNS = ["against", "for", "strongly for"];

function Measured({ evidence }: { evidence: NumberEvidence }) {
  const value = evidence.value === null ? "not measured" : `${measured(evidence.value)} ${evidence.unit}`;
  const ofPeak =
    evidence.amount !== null && evidence.peak !== null
      ? ` (${measured(evidence.amount)} of ${measured(evidence.peak)} ${evidence.amount_unit})`
      : "";
  const words = (
    <>
      {evidence.label} <b>{value}</b>
      {ofPeak}
    </>
  );
  return (
    <li title={evidence.why}>
      {evidence.metric_id ? (
        <button
          type="button"
          class="link"
          onClick={() => {
            select({ metric: evidence.metric_id });
            frontView("panels");
          }}
        >
          {words}
        </button>
      ) : (
        words
      )}{" "}
      <span class="faint-text">
        {evidence.threshold}
        {evidence.level === null ? "" : ` · ${SIGNS[evidence.level] ?? ""}`}
      </span>
    </li>
  );
}
