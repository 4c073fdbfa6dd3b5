// Hardware utilization from the counters in the trace: bars over all CUs, and a table per CU.
import { exact, percent } from "../../base/format";
import { ShareBar } from "../../widgets/bars";
import { Section } from "../../widgets/cards";
import type { Column } from "../../widgets/data_table";
import { SmallTable } from "../../widgets/small_table";
import { type Counted, type CuLine, cuLines } from "./answer";

/** Hardware unit -> meaning in the palette, for units that have another name than it. */
const MEANING: Record<string, string> = { MFMA: "MATRIX", SCA: "SALU", MISC: "MESSAGE" };

export function Hardware({ counted }: { counted: Counted }) {
  if (!counted.hardware.length) {
    const why = counted.names_are_known
      ? "SQ_BUSY_CU_CYCLES is not among the counters"
      : "this capture does not say which counters it holds";
    return (
      <Section title="Hardware utilization">
        <p class="faint-text">Nothing to show: {why}. Below are the counters as they are.</p>
        <ByCu counted={counted} />
      </Section>
    );
  }
  return (
    <Section title="Hardware utilization" hint={counted.definition}>
      <div class="share-rows">
        {counted.hardware.map(({ unit, share, peak_share }) => (
          <>
            <span>{unit}</span>
            <ShareBar share={share} meaning={MEANING[unit] ?? unit} label={`${unit}: ${percent(share)}`} />
            <span class="number" data-unit={unit} data-share={share} title="Of the cycles in which CUs were busy">
              {percent(share)}
            </span>
            <span
              class="number faint-text"
              data-peak={peak_share}
              title="Largest sum over all CUs at one time / largest sum of busy cycles"
            >
              peak {percent(peak_share)}
            </span>
          </>
        ))}
      </div>
      <ByCu counted={counted} />
    </Section>
  );
}

function cuColumns(counted: Counted): Column<CuLine>[] {
  return [
    { name: "place", title: "CU", value: (line) => line.place, width: "7em" },
    ...counted.hardware.map(({ unit }) => ({
      name: `${unit.toLowerCase()}_share`,
      title: unit,
      hint: `${unit}: of the busy cycles of the CU`,
      value: (line: CuLine) => line.shares.get(unit) ?? null,
      show: (line: CuLine) => percent(line.shares.get(unit)),
      width: "5em",
    })),
    ...counted.totals.map(({ name }) => ({
      name,
      title: name.replace(/^SQ_/, ""),
      hint: `${name}: sum of the samples`,
      value: (line: CuLine) => line.counts.get(name) ?? 0,
      show: (line: CuLine) => exact(line.counts.get(name) ?? 0),
      width: "8em",
    })),
  ];
}

function ByCu({ counted }: { counted: Counted }) {
  return <SmallTable columns={cuColumns(counted)} rows={cuLines(counted)} label="Counters per CU" />;
}
