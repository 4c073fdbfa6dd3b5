// The trace on one screen: how its cycles were spent, how much it holds, how busy the hardware was.
import { exact, percent, short } from "../../base/format";
import { json } from "../../data/ask";
import type { Painter } from "../../draw/painter";
import { colourOf, paper } from "../../draw/palette";
import { paintRing } from "../../draw/ring";
import { changeOf, useBaseline } from "../../model/changes";
import { current } from "../../model/document";
import { useAnswer } from "../../model/loaded";
import { frontView, type View } from "../../model/view";
import { Answered } from "../../widgets/answered";
import { PartsBar, ShareBar } from "../../widgets/bars";
import { Canvas, type Size } from "../../widgets/canvas";
import { Definition, Section } from "../../widgets/cards";
import { Delta } from "../../widgets/changes";
import { csv, pictures, SaveMenu } from "../../widgets/saving";
import { cuLines, type SummaryAnswer } from "./answer";
import { Hardware } from "./counted";
import { Kernels, Totals } from "./totals";
import "./summary.css";

/** Pixels of the ring on screen. */
const RING: Size = { width: 150, height: 150 };

function Summary() {
  const answer = useAnswer(json<SummaryAnswer>(current.value, "summary"));
  return <Answered answer={answer}>{(value) => <Page answer={value} />}</Answered>;
}

/** The cycles of the waves by what they did: the parts of the ring. */
function partsOf({ activity }: SummaryAnswer) {
  return [
    {
      label: "idle" as const,
      share: activity.idle_share ?? 0,
      cycles: activity.idle_cycles_total,
      means: "Gaps before instructions: the wave had nothing to issue",
    },
    {
      label: "stall" as const,
      share: activity.stall_share ?? 0,
      cycles: activity.stall_cycles_total,
      means: "From the first attempt to issue to the issue, waits included",
    },
    {
      label: "issue" as const,
      share: activity.issue_share ?? 0,
      cycles: activity.issue_cycles_total,
      means: "Duration of instructions without their stall",
    },
  ];
}

function Page({ answer }: { answer: SummaryAnswer }) {
  const ring = (painter: Painter, size: Size) => {
    const parts = partsOf(answer).map((part) => ({ ...part, colour: colourOf(part.label) }));
    paintRing(painter, size, { parts, words: [short(answer.activity.cycles_total), "cycles"] });
  };
  /** What is saved: the ring with its legend beside it. */
  const picture = (painter: Painter, size: Size) => {
    ring(painter, { width: RING.width, height: size.height });
    partsOf(answer).forEach(({ label, share }, number) => {
      painter.rect(RING.width + 12, 40 + number * 22, 10, 10, colourOf(label));
      painter.text(RING.width + 28, 45 + number * 22, `${label} ${percent(share)}`, paper("text"));
    });
  };
  const offers = [
    ...pictures(picture, () => ({ width: 300, height: RING.height })),
    { format: "csv", make: () => asCsv(answer) },
  ];
  return (
    <div class="view">
      <div class="toolbar">
        <span>What the waves did</span>
        <SaveMenu name="summary" offers={offers} />
      </div>
      <div class="scroll">
        <Activity answer={answer} ring={ring} />
        <Totals answer={answer} />
        <Kernels kernels={answer.kernels} />
        {answer.sampled_counters ? <Hardware counted={answer.sampled_counters} /> : null}
        <Pipes answer={answer} />
        {answer.totals.missing.length ? (
          <p class="faint-text">Not in this trace: {answer.totals.missing.join(", ")}.</p>
        ) : null}
        <Definition text={`${answer.activity.definition} ${answer.pipes.definition}`} />
      </div>
    </div>
  );
}

interface ActivityProps {
  answer: SummaryAnswer;
  ring: (painter: Painter, size: Size) => void;
}

function Activity({ answer, ring }: ActivityProps) {
  const { activity } = answer;
  const before = useBaseline((document) => json<SummaryAnswer>(document, "summary"))?.activity;
  if (!activity.cycles_total) {
    return (
      <Section title="Activity">
        <p class="faint-text">Nothing to show: no instruction was traced.</p>
      </Section>
    );
  }
  return (
    <Section title="Activity" hint={activity.definition}>
      <div class="activity">
        <div style={{ width: `${RING.width}px`, height: `${RING.height}px` }}>
          <Canvas paint={ring} label="Shares of idle, stall and issue" />
        </div>
        <table class="activity-table">
          <tbody>
            {partsOf(answer).map(({ label, share, cycles, means }) => (
              <tr key={label} title={means} data-part={label} data-share={share}>
                <td>
                  <span class="swatch" style={{ background: colourOf(label) }} /> {label}
                </td>
                <td class="number">
                  <strong>{percent(share)}</strong>
                </td>
                <td class="number faint-text">{exact(cycles)} cycles</td>
                <td>
                  <Delta change={changeOf(before?.[`${label}_share`], share)} format="share" />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
        {answer.states.length ? (
          <div class="states">
            <PartsBar
              tall
              label="States of the traced waves"
              parts={answer.states.map(({ state, share, cycles_total }) => ({
                share,
                colour: colourOf(state),
                title: `${state}: ${percent(share)}, ${exact(cycles_total)} wave-cycles`,
                onClick: () => frontView("wave_states"),
              }))}
            />
            <div class="faint-text">
              states of waves:{" "}
              {answer.states.map(({ state, share }) => `${state.toLowerCase()} ${percent(share)}`).join(", ")}
            </div>
          </div>
        ) : null}
      </div>
      {activity.is_stored ? <p class="faint-text">As the directory states it: it holds no instructions.</p> : null}
    </Section>
  );
}

function Pipes({ answer }: { answer: SummaryAnswer }) {
  const { busy, bubble_share, definition, valu_per_matrix } = answer.pipes;
  if (!busy.length) return null;
  return (
    <Section title="Pipes of the traced SIMDs" hint={definition}>
      <div class="share-rows">
        {busy.map(({ pipe, busy_share, busy_cycles_total }) => (
          <>
            <span>{pipe.toLowerCase()}</span>
            <ShareBar
              share={busy_share ?? 0}
              meaning={MEANING[pipe] ?? pipe}
              label={`${pipe}: ${percent(busy_share)}`}
            />
            <span class="number" data-pipe={pipe} data-share={busy_share} title={`${exact(busy_cycles_total)} cycles`}>
              {percent(busy_share)}
            </span>
            <span />
          </>
        ))}
      </div>
      <p class="faint-text">
        {bubble_share === null
          ? ""
          : `${percent(bubble_share)} of the cycles with a wave on the SIMD: no pipe issues. `}
        {valu_per_matrix === null ? "" : `${valu_per_matrix.toFixed(1)} VALU instructions for each matrix instruction.`}
      </p>
    </Section>
  );
}

/** Pipe -> meaning in the palette, for pipes that have another name than it. */
const MEANING: Record<string, string> = { SCALAR: "SALU", BRANCH: "JUMP", RAY: "BVH", IMMEDIATE: "IMMED" };

function asCsv(answer: SummaryAnswer): string {
  const rows: [what: string, cyclesOrCount: number | null, share: number | null][] = partsOf(answer).map(
    ({ label, cycles, share }) => [label, cycles, share],
  );
  for (const { state, cycles_total, share } of answer.states) rows.push([`state ${state}`, cycles_total, share]);
  for (const { pipe, busy_cycles_total, busy_share } of answer.pipes.busy) {
    rows.push([`pipe ${pipe}`, busy_cycles_total, busy_share]);
  }
  for (const { unit, share } of answer.sampled_counters?.hardware ?? []) rows.push([`hardware ${unit}`, null, share]);
  for (const line of answer.sampled_counters ? cuLines(answer.sampled_counters) : []) {
    for (const [unit, share] of line.shares) rows.push([`${line.place} ${unit}`, null, share]);
    for (const [name, count] of line.counts) rows.push([`${line.place} ${name}`, count, null]);
  }
  return csv(["what", "cycles_or_count", "share"], rows);
}

export const summary: View = {
  id: "summary",
  title: "Summary",
  hint: "How the cycles were spent, what the trace holds, how busy the hardware was",
  about: "trace",
  time: "selected",
  missing: () => "",
  component: Summary,
};
