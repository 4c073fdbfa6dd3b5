// The totals of the traces beside each other.
import { Fragment } from "preact";
import { exact, percent } from "../../base/format";
import { COMPARE_TRACES, type CompareAnswer, type CompareTracesRow } from "../../data/answers.gen";
import { json } from "../../data/ask";
import { hintOf } from "../../data/tables";
import { Answered } from "../../widgets/answered";
import { ChangeBar } from "../../widgets/bars";
import { Section } from "../../widgets/cards";
import { useOthers } from "../../widgets/others";

/** A total that is compared. */
interface Line {
  name: keyof CompareTracesRow;
  title: string;
  /** Digits behind the point. */
  digits: number;
  /** Whether more of it is worse; undefined = neither. */
  isCost?: boolean;
}

const LINES: Line[] = [
  {
    name: "duration_cycles_mean",
    title: "Cycles per wave",
    digits: 0,
    isCost: true,
  },
  { name: "duration_cycles_median", title: "median", digits: 0, isCost: true },
  { name: "duration_cycles_max", title: "longest", digits: 0, isCost: true },
  { name: "stall_cycles_per_wave", title: "Stall per wave", digits: 0, isCost: true },
  {
    name: "latency_cycles_per_wave",
    title: "Latency per wave",
    digits: 0,
    isCost: true,
  },
  { name: "idle_cycles_per_wave", title: "Idle per wave", digits: 0, isCost: true },
  { name: "instructions_per_wave", title: "Instructions per wave", digits: 0 },
  { name: "waves_per_simd_mean", title: "Waves per SIMD", digits: 2 },
  { name: "wave_count", title: "Traced waves", digits: 0 },
  { name: "early_exit_wave_count", title: "left early", digits: 0 },
];

export function Totals({ answer, base, by }: { answer: CompareAnswer; base: number; by: string }) {
  const { answers, button } = useOthers(base, "traces", (document) =>
    json<CompareAnswer>(document, "compare", { other: base, by }),
  );
  return (
    <Section title="Totals" hint="Everything is per wave">
      <Answered answer={answers}>
        {(more) => <Table traces={[...answer.traces.rows, ...more.flatMap((other) => other.traces.rows.slice(1))]} />}
      </Answered>
      {button}
    </Section>
  );
}

function Table({ traces }: { traces: CompareTracesRow[] }) {
  const [base, ...others] = traces;
  if (!base) return null;
  return (
    <table class="small-table totals" aria-label="Totals">
      <thead>
        <tr>
          <th />
          <th class="number" title={base.path}>
            {base.label} (base)
          </th>
          {others.map((other) => (
            <Fragment key={other.label}>
              <th class="number" title={other.path}>
                {other.label}
              </th>
              <th class="number" title={`${other.label} against ${base.label}`}>
                Change
              </th>
              <th />
            </Fragment>
          ))}
        </tr>
      </thead>
      <tbody>
        {LINES.map((line) => (
          <tr key={line.name} data-total={line.name}>
            <td title={hintOf(COMPARE_TRACES[line.name])}>{line.title}</td>
            <td class="number">{shown(base[line.name], line.digits)}</td>
            {others.map((other) => (
              <Change key={other.label} base={base} other={other} line={line} />
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const shown = (value: CompareTracesRow[keyof CompareTracesRow], digits: number) =>
  typeof value === "number" ? (digits ? value.toFixed(digits) : exact(value)) : "not known";

/** A change by this share fills the bar. */
const FULL_CHANGE = 0.5;

function Change({ base, other, line }: { base: CompareTracesRow; other: CompareTracesRow; line: Line }) {
  const [before, after] = [base[line.name], other[line.name]];
  const share = typeof before === "number" && typeof after === "number" && before ? after / before - 1 : null;
  const noise = line.name === "duration_cycles_mean" ? other.duration_noise_share : null;
  const isNoise = other.is_same_code || (noise !== null && share !== null && Math.abs(share) <= noise);
  return (
    <>
      <td class="number" data-side="other">
        {shown(after, line.digits)}
      </td>
      <td class="number">{share === null ? "" : `${share > 0 ? "+" : ""}${percent(share)}`}</td>
      <td class="change-cell">
        {line.isCost && share !== null ? (
          <ChangeBar
            share={share / FULL_CHANGE}
            faint={isNoise}
            label={`${percent(share)}${isNoise ? ", not a change" : ""}`}
          />
        ) : null}
        {noise !== null ? <span class="beside-bar">spread {percent(noise)}</span> : null}
      </td>
    </>
  );
}
