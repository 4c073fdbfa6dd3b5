// Stall cycles by what the waves were stalled on. A class opens to the instructions that stalled on it.
import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { exact, percent, short } from "../../base/format";
import {
  ASKED,
  STALLS_IDLE,
  type StallRowsRow,
  type StallsAnswer,
  type StallsClassesRow,
  type StallsIdleRow,
} from "../../data/answers.gen";
import { arrow, json } from "../../data/ask";
import { colourOf } from "../../draw/palette";
import { stallChange } from "../../model/changes";
import { current, traceOverview } from "../../model/document";
import { ofKernel } from "../../model/kernels";
import { useAnswer } from "../../model/loaded";
import type { View } from "../../model/view";
import { Answered, Nothing } from "../../widgets/answered";
import { PartsBar } from "../../widgets/bars";
import { Definition, Figure, Section } from "../../widgets/cards";
import { Delta } from "../../widgets/changes";
import { tableOffer } from "../../widgets/data_table";
import { figureColumns, plainColumns } from "../../widgets/figure_columns";
import { KernelChooser } from "../../widgets/kernel_chooser";
import { RowLink } from "../../widgets/links";
import { SaveMenu } from "../../widgets/saving";
import { SmallTable } from "../../widgets/small_table";
import { COLUMNS, rowsByClass } from "./rows";
import { Samples } from "./samples";
import "./stalls.css";

const CLASS_COLUMNS = plainColumns<StallsClassesRow>([
  "class",
  "kind",
  "stall_cycles_total",
  "stall_share",
  "exposed_stall_cycles_total",
  "execution_count",
  "stalled_count",
  "latency_cycles_total",
  "row_count",
  "top_row",
  "meaning",
  "remedy",
]);

const IDLE_COLUMNS = figureColumns<StallsIdleRow>(STALLS_IDLE, [
  ["part", "Where"],
  ["idle_cycles_total", "Idle cycles"],
  ["idle_share", "Share"],
]);

function Stalls() {
  return traceOverview().instruction_count ? <Measured /> : <Samples />;
}

function Measured() {
  const answer = useAnswer(json<StallsAnswer>(current.value, "stalls", ofKernel()));
  return (
    <Answered answer={answer} choose={<KernelChooser />}>
      {(value) => <Classes answer={value} />}
    </Answered>
  );
}

function Classes({ answer }: { answer: StallsAnswer }) {
  const rows = useAnswer(arrow(current.value, "stall_rows", ofKernel()));
  const table = rows.value.state === "ready" ? rows.value.value : null;
  const byClass = useMemo(() => (table ? rowsByClass(table) : new Map<string, StallRowsRow[]>()), [table]);
  const classes = answer.classes.rows.filter((row) => row.stall_cycles_total > 0);
  return (
    <div class="view">
      <div class="toolbar">
        <span title="The others are classes of instructions that never stalled">
          {exact(classes.length)} of {exact(answer.classes.row_count)} classes have stalls
        </span>
        <KernelChooser />
        <SaveMenu name="stalls" offers={[tableOffer(CLASS_COLUMNS, () => answer.classes.rows)]} />
      </div>
      <div class="scroll">
        <div class="figures">
          <Figure
            id="stall"
            value={short(answer.stall_cycles_total)}
            name="stall cycles"
            hint="Sum of the stalls of all executed instructions"
          />
          <Figure
            id="exposed"
            value={percent(answer.exposed_stall_cycles_total / (answer.stall_cycles_total || 1))}
            name="of them exposed"
            hint="Stall cycles that no other wave of the same SIMD hid"
          />
          <Figure
            id="share"
            value={percent(answer.stall_cycles_total / (answer.latency_cycles_total || 1))}
            name="of all latency"
            hint="Stall cycles / sum of the durations of all instructions"
          />
          {answer.unresolved_wait_count ? (
            <Figure
              id="unresolved"
              value={`${exact(answer.unresolved_wait_count)} of ${exact(answer.wait_count)}`}
              name="waits not resolved"
              hint="Executions of waits whose producers are not known"
            />
          ) : null}
        </div>
        {classes.map((stallClass) => (
          <StallClassLine
            key={stallClass.class}
            stallClass={stallClass}
            most={classes[0]?.stall_cycles_total ?? 1}
            rows={byClass.get(stallClass.class) ?? []}
          />
        ))}
        {classes.length === 0 ? <Nothing>No instruction of this trace stalled, or none was traced.</Nothing> : null}
        {answer.idle_cycles_total ? (
          <Section title="Idle cycles, which are not stall" hint="Before the first attempt to issue an instruction">
            <SmallTable label="Idle cycles" columns={IDLE_COLUMNS} rows={answer.idle.rows} />
          </Section>
        ) : null}
        <Definition text={answer.definition} />
      </div>
    </div>
  );
}

/** Kind of a stall class -> meaning in the palette. */
const KINDS: Record<string, string> = { wait: "WAIT", issue: "stall", padding: "NEXT", sync: "JUMP" };
/** Instructions that an open class lists. */
const MOST_SHOWN = 200;

interface ClassProps {
  stallClass: StallsClassesRow;
  /** Stall cycles that fill the bar: those of the costliest class. */
  most: number;
  /** Its instructions; empty = they have not arrived yet. */
  rows: StallRowsRow[];
}

function StallClassLine({ stallClass, most, rows }: ClassProps) {
  const open = useSignal(false);
  const colour = colourOf(KINDS[stallClass.kind] ?? "stall");
  const exposed = stallClass.exposed_stall_cycles_total / most;
  const hidden = (stallClass.stall_cycles_total - stallClass.exposed_stall_cycles_total) / most;
  const stalled = rows.filter((row) => row.stall_cycles_total > 0);
  return (
    <div class="stall-class" data-class={stallClass.class}>
      <button type="button" class="stall-head" aria-expanded={open.value} onClick={() => (open.value = !open.value)}>
        <span class="twist">{open.value ? "▾" : "▸"}</span>
        <b>{stallClass.class}</b>
        <span class="number" data-field="stall_share" title="Of all stall cycles">
          {percent(stallClass.stall_share)}
        </span>
        <span class="number" data-field="stall" title={`${exact(stallClass.stall_cycles_total)} stall cycles`}>
          {short(stallClass.stall_cycles_total)}
        </span>
        <span class="number faint-text" data-field="exposed" title="Stall cycles that no other wave hid">
          {short(stallClass.exposed_stall_cycles_total)} exposed
        </span>
        <Delta change={stallChange(stallClass.class)} format="cycles" isCost words="per wave" />
      </button>
      <PartsBar
        label={`${exact(stallClass.exposed_stall_cycles_total)} exposed and ${exact(stallClass.stall_cycles_total - stallClass.exposed_stall_cycles_total)} hidden stall cycles`}
        parts={[
          { share: exposed, colour, title: "exposed: no other wave hid it" },
          { share: hidden, colour: colourOf("hidden"), title: "hidden behind other waves" },
        ]}
      />
      <p class="stall-words">
        {stallClass.meaning}
        {stallClass.remedy ? <span class="faint-text">. What helps: {stallClass.remedy}</span> : null}
        {!open.value && stallClass.top_row >= 0 && rows[0] ? (
          <span class="stall-top">
            most at <RowLink row={stallClass.top_row} text={rows[0].text} />
          </span>
        ) : null}
      </p>
      {open.value ? (
        <SmallTable
          label={`Instructions: ${stallClass.class}`}
          columns={COLUMNS}
          rows={stalled.slice(0, MOST_SHOWN)}
          total={stalled.length}
        />
      ) : null}
    </div>
  );
}

export const stalls: View = {
  id: "stalls",
  title: "Stalls",
  hint: ASKED.stalls,
  about: "trace",
  time: "selected",
  missing: (overview) =>
    overview.kind === "trace" && (overview.instruction_count || overview.holds.samples)
      ? ""
      : "no instruction was traced, so nothing stalled",
  component: Stalls,
};
