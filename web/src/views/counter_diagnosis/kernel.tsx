// One kernel: what limits it, what else comes near a limit, and what would decide.
import { counted, exact, measured, nanoseconds, percent } from "../../base/format";
import type { KernelLimit, Limiter, NumberEvidence } from "../../data/answers.gen";
import { colourOf } from "../../draw/palette";
import { chooseKernel, chosenKernel } from "../../model/counters";
import { select } from "../../model/selection";
import { frontView } from "../../model/view";
import { Chip } from "../../widgets/cards";

const TONES: Record<string, string> = { high: "good", medium: "care", low: "bad" };

export function Kernel({ of }: { of: KernelLimit }) {
  const likely = of.limiters.filter((limiter) => limiter.verdict === "at limit" || limiter.verdict === "likely");
  const open = of.limiters.filter((limiter) => limiter.verdict === "undecided");
  const excluded = of.limiters.filter((limiter) => limiter.verdict === "excluded");
  const isChosen = chosenKernel()?.kernel === of.kernel;
  return (
    <article class="limit" data-limit={of.kernel}>
      <header>
        <button
          type="button"
          class={`link limit-name${isChosen ? " is-selected" : ""}`}
          title="Select this kernel in every view"
          onClick={() => chooseKernel(of.kernel)}
        >
          {of.kernel}: {of.kernel_name}
        </button>
        <span class="faint-text">
          {of.duration_share === null
            ? ""
            : `${percent(of.duration_share)} of the kernel time of the ${of.is_time_of_run ? "run" : "capture"} · `}
          {counted(of.dispatch_count, "dispatches")}
          {of.duration_ns_mean === null ? "" : ` of ${nanoseconds(of.duration_ns_mean)}`}
        </span>
      </header>
      <p class="limit-summary" data-field="summary">
        {of.summary}{" "}
        <Chip tone={TONES[of.confidence] ?? ""} title={of.confidence_reason}>
          confidence: {of.confidence}
        </Chip>
      </p>
      {likely.map((limiter) => (
        <LimiterCard key={limiter.name} of={limiter} isOpen />
      ))}
      {open.length ? (
        <details>
          <summary>
            {exact(open.length)} undecided: {open.map((limiter) => limiter.name).join(", ")}
          </summary>
          {open.map((limiter) => (
            <LimiterCard key={limiter.name} of={limiter} />
          ))}
          {of.plan ? (
            <p>
              To settle them, measure: <code>{of.plan}</code>
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
            <LimiterCard key={limiter.name} of={limiter} />
          ))}
        </details>
      ) : null}
    </article>
  );
}

const MEANINGS: Record<string, string> = {
  "at limit": "worse",
  likely: "VMEM",
  undecided: "IMMED",
  excluded: "IDLE",
};

function LimiterCard({ of, isOpen = false }: { of: Limiter; isOpen?: boolean }) {
  return (
    <section class="limiter" style={{ borderLeftColor: colourOf(MEANINGS[of.verdict] ?? "") }} data-limiter={of.name}>
      <p>
        <b>{of.name}</b> <span class="faint-text">{of.verdict}</span>
        {of.gain_share_max === null ? null : (
          <span class="faint-text" title="Upper bound of the kernel's time that can be saved">
            {" "}
            · gain at most <b data-field="gain">{percent(of.gain_share_max)}</b>
          </span>
        )}
      </p>
      <p>{of.reason}</p>
      {of.missing_counters.length ? (
        <p class="faint-text">
          would settle it: <code>{of.missing_counters.join(" ")}</code>
        </p>
      ) : null}
      {isOpen && of.remedy ? <p>What to do: {of.remedy}</p> : null}
      {of.evidence.length ? (
        <details>
          <summary class="faint-text">
            {exact(of.evidence.length)} {of.evidence.length === 1 ? "number" : "numbers"}
          </summary>
          <ul class="limiter-evidence">
            {of.evidence.map((item) => (
              <Measured key={item.quantity + item.role} of={item} />
            ))}
          </ul>
        </details>
      ) : null}
    </section>
  );
}

const SIGNS = ["against", "for", "strongly for"];

function Measured({ of }: { of: NumberEvidence }) {
  const value = of.value === null ? "not measured" : `${measured(of.value)} ${of.unit}`;
  const more =
    of.amount !== null && of.peak !== null ? ` (${measured(of.amount)} of ${measured(of.peak)} ${of.amount_unit})` : "";
  const words = (
    <>
      {of.label} <b>{value}</b>
      {more}
    </>
  );
  return (
    <li title={of.why}>
      {of.metric_id ? (
        <button
          type="button"
          class="link"
          onClick={() => {
            select({ metric: of.metric_id });
            frontView("panels");
          }}
        >
          {words}
        </button>
      ) : (
        words
      )}{" "}
      <span class="faint-text">
        {of.threshold}
        {of.level === null ? "" : ` · ${SIGNS[of.level] ?? ""}`}
      </span>
    </li>
  );
}
