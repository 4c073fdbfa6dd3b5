// What the trace holds, in figures, and its kernels with their resources.
import { exact, nanoseconds, percent, short } from "../../base/format";
import { SUMMARY_KERNELS, type SummaryKernelsRow } from "../../data/answers.gen";
import { select, selection } from "../../model/selection";
import { Figure, Section } from "../../widgets/cards";
import { figureColumns } from "../../widgets/figure_columns";
import { SmallTable } from "../../widgets/small_table";
import type { SummaryAnswer } from "./answer";

export function Totals({ answer }: { answer: SummaryAnswer }) {
  const { totals, coverage } = answer;
  const clock = totals.clock_mhz;
  const time = clock ? nanoseconds((totals.span_cycles * 1e3) / clock) : null;
  return (
    <div class="figures">
      <Figure
        id="waves"
        value={exact(totals.waves)}
        name="traced waves"
        hint={`${exact(totals.waves_complete)} of them complete`}
      />
      <Figure
        id="instructions"
        value={short(totals.instructions)}
        name="instructions"
        hint={`${exact(totals.instructions)} executed; ${exact(totals.unresolved)} of unknown rows`}
      />
      <Figure
        id="span"
        value={short(totals.span_cycles)}
        name="cycles of traced waves"
        hint={`${exact(totals.span_cycles)} cycles from the start of the first to the end of the last traced wave`}
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

const KERNELS = figureColumns<SummaryKernelsRow>(SUMMARY_KERNELS, [
  { name: "name", title: "Kernel", value: (kernel) => kernel.demangled || kernel.name },
  ["vgprs"],
  ["agprs"],
  ["sgprs"],
  ["lds_bytes", "LDS bytes", "count"],
  ["scratch_bytes", "Scratch bytes", "count"],
  ["wave_size", "Wave size"],
  ["workgroup_size", "Workgroup size"],
]);

export function Kernels({ kernels }: { kernels: SummaryKernelsRow[] }) {
  if (!kernels.length) return null;
  return (
    <Section title={kernels.length > 1 ? `${exact(kernels.length)} kernels` : "Kernel"}>
      <SmallTable
        columns={KERNELS}
        rows={kernels}
        label="Kernels and their resources"
        isSelected={(kernel) => selection.value.kernel === kernel.kernel}
        onSelect={(kernel) => select({ kernel: kernel.kernel })}
      />
    </Section>
  );
}
