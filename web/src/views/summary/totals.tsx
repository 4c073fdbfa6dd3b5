// What the trace holds, in figures, and its kernels with their resources.
import { exact, nanoseconds, percent, short } from "../../base/format";
import { SUMMARY_KERNELS, type SummaryKernelsRow } from "../../data/answers.gen";
import { json } from "../../data/ask";
import { changeOf, useBaseline } from "../../model/changes";
import { select, selection } from "../../model/selection";
import { Figure, Section } from "../../widgets/cards";
import { Delta } from "../../widgets/changes";
import type { SummaryAnswer } from "./answer";

export function Totals({ answer }: { answer: SummaryAnswer }) {
  const { totals, coverage } = answer;
  const before = useBaseline((document) => json<SummaryAnswer>(document, "summary"))?.totals;
  const clock = totals.clock_mhz;
  const time = clock ? nanoseconds((totals.span_cycles * 1e3) / clock) : null;
  return (
    <div class="figures">
      <Figure
        id="waves"
        value={exact(totals.waves)}
        name="traced waves"
        hint={`${exact(totals.waves_complete)} of them complete`}
        change={<Delta change={changeOf(before?.waves, totals.waves)} format="count" />}
      />
      <Figure
        id="instructions"
        value={short(totals.instructions)}
        name="instructions"
        hint={`${exact(totals.instructions)} executed; ${exact(totals.unresolved)} of unknown rows`}
        change={<Delta change={changeOf(before?.instructions, totals.instructions)} format="count" />}
      />
      <Figure
        id="span"
        value={short(totals.span_cycles)}
        name="cycles of traced waves"
        hint={`${exact(totals.span_cycles)} cycles from the start of the first to the end of the last traced wave`}
        change={<Delta change={changeOf(before?.span_cycles, totals.span_cycles)} format="count" isCost />}
      />
      {time ? (
        <Figure id="time" value={time} name="that long" hint="These cycles at the measured shader clock" />
      ) : null}
      {clock ? (
        <Figure
          id="clock"
          value={`${exact(clock)} MHz`}
          name="shader clock"
          hint="From the realtime pairs of the trace"
        />
      ) : null}
      <Figure
        id="engines"
        value={exact(totals.shader_engines.length)}
        name={totals.shader_engines.length === 1 ? "shader engine" : "shader engines"}
        hint={`SE ${totals.shader_engines.join(", ")}`}
      />
      {coverage.traced_share === null ? null : (
        <Figure
          id="traced"
          value={percent(coverage.traced_share)}
          name="of the waves traced"
          hint={`of the ${exact(coverage.all_wave_count)} waves on all CUs of the traced shader engines`}
        />
      )}
      <Figure
        id="executed"
        value={percent(coverage.executed_share)}
        name="of the code ran"
        hint={`${exact(coverage.executed_row_count)} of ${exact(coverage.entered_row_count)} rows of the functions that were entered`}
      />
      {totals.pc_samples ? (
        <Figure id="samples" value={short(totals.pc_samples)} name="samples" hint="PC samples" />
      ) : null}
    </div>
  );
}

type Resource = "vgprs" | "agprs" | "sgprs" | "lds_bytes" | "scratch_bytes" | "wave_size" | "workgroup_size";

const RESOURCES: [Resource, string][] = [
  ["vgprs", "VGPRs"],
  ["agprs", "AGPRs"],
  ["sgprs", "SGPRs"],
  ["lds_bytes", "bytes of LDS"],
  ["scratch_bytes", "bytes of scratch"],
  ["wave_size", "lanes per wave"],
  ["workgroup_size", "lanes per workgroup"],
];
const MOST_KERNELS = 20;

/** A name and below it the resources: both are whole in a narrow panel, too. */
export function Kernels({ kernels }: { kernels: SummaryKernelsRow[] }) {
  if (!kernels.length) return null;
  const more = kernels.length - MOST_KERNELS;
  return (
    <Section title={kernels.length > 1 ? `${exact(kernels.length)} kernels` : "Kernel"}>
      {kernels.slice(0, MOST_KERNELS).map((kernel) => (
        <button
          type="button"
          class="kernel-facts"
          key={kernel.kernel}
          data-kernel={kernel.kernel}
          aria-pressed={selection.value.kernel === kernel.kernel}
          onClick={() => select({ kernel: kernel.kernel })}
        >
          <code title={kernel.name}>{kernel.demangled || kernel.name}</code>
          {RESOURCES.map(([name, words]) => (
            <span key={name} data-column={name} title={SUMMARY_KERNELS[name][2]}>
              <b>{kernel[name] === null ? "?" : exact(kernel[name])}</b> {words}
            </span>
          ))}
          {kernel.resource_origin?.startsWith("inferred") ? (
            <span data-inferred title="The capture does not record the registers of this kernel">
              registers {kernel.resource_origin}
            </span>
          ) : null}
        </button>
      ))}
      {more > 0 ? <p class="faint-text">and {exact(more)} more</p> : null}
    </Section>
  );
}
