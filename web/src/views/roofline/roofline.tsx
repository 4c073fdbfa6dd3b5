// Kernels under the roofs of arithmetic and memory.
import { type Signal, useSignal } from "@preact/signals";
import { useMemo, useRef } from "preact/hooks";
import { measured, percent, rate } from "../../base/format";
import { flipped } from "../../base/sets";
import {
  ASKED,
  COUNTER_ROOFLINE_KERNELS,
  type CounterRooflineAnswer,
  type CounterRooflineKernelsRow,
  type CounterRooflinePointsRow,
} from "../../data/answers.gen";
import { json } from "../../data/ask";
import { LogFrame, type LogWindow } from "../../draw/loglog";
import { seriesColour } from "../../draw/palette";
import { truncation } from "../../model/answers";
import { chooseKernel, chosenKernel } from "../../model/counters";
import { current } from "../../model/document";
import { useAnswer } from "../../model/loaded";
import { preview } from "../../model/selection";
import type { View } from "../../model/view";
import { Answered } from "../../widgets/answered";
import { Canvas, type Paint, type Size } from "../../widgets/canvas";
import { Definition } from "../../widgets/cards";
import { Caveats } from "../../widgets/caveats";
import { Chips } from "../../widgets/chips";
import { CounterKernelChooser } from "../../widgets/counter_choice";
import { type Column, DataTable, tableOffer } from "../../widgets/data_table";
import { figureColumns, plainColumns } from "../../widgets/figure_columns";
import { Popup } from "../../widgets/popup";
import { pictures, SaveMenu } from "../../widgets/saving";
import { CEILINGS, MOST_KERNELS, type Work } from "./ceilings";
import { rooflineEvents } from "./input";
import { Legend } from "./legend";
import { LEVELS, paintRoofline } from "./paint";
import { firstKinds, firstWork, kindsOf, levelsOf, type Scene, sceneOf } from "./scene";
import "./roofline.css";

function Roofline() {
  const ceilings = useSignal("best");
  const chosen = chosenKernel()?.kernel ?? 0;
  const answer = useAnswer(
    json<CounterRooflineAnswer>(current.value, "counter_roofline", {
      ...(ceilings.value === "best" ? {} : { ceilings: ceilings.value }),
      ...(chosen < MOST_KERNELS ? {} : { kernel: chosen }), // one that is not among the longest stands alone
    }),
  );
  return (
    <Answered answer={answer} choose={<CounterKernelChooser />}>
      {(value) => <Plot answer={value} ceilings={ceilings} />}
    </Answered>
  );
}

const POINTS = plainColumns<CounterRooflinePointsRow>([
  "kernel",
  "kernel_name",
  "level",
  "work",
  "intensity",
  "gops_per_second",
  "gb_per_second",
  "roof",
  "roof_gops_per_second",
  "share",
  "reason",
]);

function Plot({ answer, ceilings }: { answer: CounterRooflineAnswer; ceilings: Signal<string> }) {
  // null = not chosen: what is shown first depends on the answer, and another answer has other roofs
  const chosenWork = useSignal<Work | null>(null);
  const chosenLevels = useSignal<ReadonlySet<string> | null>(null);
  const chosenKinds = useSignal<ReadonlySet<string> | null>(null);
  const work = chosenWork.value ?? firstWork(answer);
  const levels = useMemo(
    () => chosenLevels.value ?? new Set(levelsOf(answer).filter((name) => name !== "MALL")),
    [answer, chosenLevels.value],
  );
  const kinds = useMemo(() => chosenKinds.value ?? firstKinds(answer, work), [answer, work, chosenKinds.value]);
  const window = useSignal<LogWindow | null>(null);
  const over = useSignal<{ mark: Scene["marks"][number]; x: number; y: number } | null>(null);
  const frame = useRef<LogFrame | null>(null);
  const size = useRef<Size>({ width: 900, height: 560 });
  const scene = useRef<Scene | null>(null);
  scene.current = useMemo(() => sceneOf(answer, { work, levels, kinds }), [answer, work, levels, kinds]);
  const shares = useMemo(() => new Map(answer.kernels.rows.map((row) => [row.kernel, row.duration_share])), [answer]);
  const shown = scene.current;
  const draw: Paint = (painter, area) => {
    const hovered = preview.value.kernelRank ?? null;
    const highlight = { chosen: chosenKernel()?.kernel ?? null, hovered };
    const drawn = new LogFrame(window.value ?? shown.window, area.width, area.height);
    paintRoofline(painter, drawn, shown, shares, highlight, work);
    frame.current = drawn;
  };
  const paint: Paint = (painter, area) => {
    size.current = area;
    draw(painter, area);
  };
  const events = useMemo(() => rooflineEvents({ frame, scene, window, over, choose: chooseKernel }), []);
  return (
    <div class="view roofline">
      <div class="toolbar">
        <CounterKernelChooser />
        <RoofSelect answer={answer} ceilings={ceilings} />
        <LevelChips
          names={levelsOf(answer)}
          shown={levels}
          onChange={(next) => {
            chosenLevels.value = next;
          }}
        />
        <WorkSelect
          answer={answer}
          work={work}
          onChange={(next) => {
            chosenWork.value = next;
            chosenKinds.value = null;
            window.value = null;
          }}
        />
        <KindsPopup
          names={kindsOf(answer, work).map(({ name }) => name)}
          shown={kinds}
          onChange={(next) => {
            chosenKinds.value = next;
          }}
        />
        {window.value ? (
          <button
            type="button"
            class="quiet"
            data-action="show-all"
            onClick={() => {
              window.value = null;
            }}
          >
            Show all
          </button>
        ) : null}
        <SaveMenu
          name="roofline"
          offers={[...pictures(draw, () => size.current), tableOffer(POINTS, () => answer.points.rows)]}
        />
      </div>
      <div class="roofline-body">
        <div class="roofline-plot" data-marks={shown.marks.length} data-roofs={shown.roofs.length}>
          <Canvas
            paint={paint}
            label={`Roofline: ${shown.marks.length} marks under ${shown.roofs.length} roofs; wheel zooms, drag moves, click chooses`}
            events={{
              ...events,
              onPointerMove: (event) => {
                events.onPointerMove?.(event);
                preview.value = over.value ? { kernelRank: over.value.mark.kernel } : {};
              },
              onPointerLeave: (event) => {
                events.onPointerLeave?.(event);
                preview.value = {};
              },
            }}
          />
          {over.value ? <Tip over={over.value} kernels={answer.kernels.rows} width={size.current.width} /> : null}
        </div>
        <Legend
          levels={[...new Set(shown.marks.map((mark) => mark.level))]}
          roofs={shown.roofs}
          hasTimes={[...shares.values()].some((share) => share !== null)}
        />
      </div>
      <Kernels answer={answer} work={work} />
    </div>
  );
}

/** Which rates the roofs are made of; nothing to choose where only one of both is known. */
function RoofSelect({ answer, ceilings }: { answer: CounterRooflineAnswer; ceilings: Signal<string> }) {
  const { rows } = answer.ceilings;
  const hasBoth = rows.some((row) => row.empirical) && rows.some((row) => row.theoretical);
  if (!hasBoth && ceilings.value === "best") return null;
  return (
    <select
      aria-label="Roofs"
      value={ceilings.value}
      onChange={(event) => {
        ceilings.value = event.currentTarget.value;
      }}
    >
      {CEILINGS.map(({ choice, title, hint }) => (
        <option key={choice} value={choice} title={hint}>
          {title}
        </option>
      ))}
    </select>
  );
}

interface NamesProps {
  names: string[];
  shown: ReadonlySet<string>;
  onChange: (shown: ReadonlySet<string>) => void;
}

function LevelChips({ names, shown, onChange }: NamesProps) {
  // Levels that are not known come last.
  const order = (name: string) => (LEVELS.indexOf(name) + LEVELS.length) % LEVELS.length;
  return (
    <Chips
      label="Levels of memory"
      choices={[...names].sort((a, b) => order(a) - order(b)).map((name) => ({ value: name, name }))}
      isOn={(name) => shown.has(name)}
      onToggle={(name) => onChange(flipped(shown, name))}
    />
  );
}

interface WorkProps {
  answer: CounterRooflineAnswer;
  work: Work;
  onChange: (work: Work) => void;
}

function WorkSelect({ answer, work, onChange }: WorkProps) {
  const works = (["flop", "iop"] as const).filter((each) => kindsOf(answer, each).length);
  if (works.length < 2) return null;
  return (
    <select aria-label="Operations" value={work} onChange={(event) => onChange(event.currentTarget.value as Work)}>
      <option value="flop">floating-point</option>
      <option value="iop">integer</option>
    </select>
  );
}

function KindsPopup({ names, shown, onChange }: NamesProps) {
  return (
    <Popup
      text={`${[...shown].join(", ") || "no compute roof"} ▾`}
      name="Compute roofs"
      hint="Which arithmetic the compute roofs and the marks are about"
    >
      {() => (
        <Chips
          label="Compute roofs"
          choices={names.map((name) => ({ value: name, name }))}
          isOn={(name) => shown.has(name)}
          onToggle={(name) => onChange(flipped(shown, name))}
        />
      )}
    </Popup>
  );
}

/** Points.ABOVE of analysis/counters/roofline: beyond it the roof is wrong, and the share says nothing. */
const ABOVE = 1.02;

function ofRoof(share: number | null) {
  if (share === null) return "–";
  return share > ABOVE ? <span title={`at ${percent(share)} of it`}>roof too low</span> : percent(share);
}

interface TipProps {
  over: { mark: Scene["marks"][number]; x: number; y: number };
  kernels: CounterRooflineKernelsRow[];
  width: number;
}

function Tip({ over: { mark, x, y }, kernels, width }: TipProps) {
  const kernel = kernels.find((each) => each.kernel === mark.kernel);
  const side = x > width / 2 ? { right: `${width - x + 16}px` } : { left: `${x + 16}px` };
  const unit = mark.work === "flop" ? "FLOP" : "IOP";
  return (
    <div class="tooltip" style={{ ...side, top: `${Math.max(4, y - 40)}px` }} data-tip={mark.kernel}>
      <div class="strong">{mark.kernel_name}</div>
      <div>
        {mark.level}: {measured(mark.intensity)} {unit}/byte · {measured(mark.gops_per_second)} G{unit}/s ·{" "}
        {measured(mark.gb_per_second)} GB/s
      </div>
      <div>{mark.share === null ? mark.reason : `roof of ${mark.roof}: ${ofRoof(mark.share)}`}</div>
      {kernel ? (
        <div>
          {kernel.verdict}
          {kernel.duration_share === null ? "" : ` · ${percent(kernel.duration_share)} of the time`}
        </div>
      ) : null}
    </div>
  );
}

function Kernels({ answer, work }: { answer: CounterRooflineAnswer; work: Work }) {
  const { kernels, points } = answer;
  const columns = useMemo((): Column<CounterRooflineKernelsRow>[] => {
    const at = new Map(points.rows.map((point) => [`${point.kernel} ${point.level} ${point.work}`, point]));
    const unit = work === "flop" ? "FLOP" : "IOP";
    const speed = (row: CounterRooflineKernelsRow) => (work === "flop" ? row.gflops_per_second : row.giops_per_second);
    const intensity = (level: string): Column<CounterRooflineKernelsRow> => ({
      name: `${level.toLowerCase()}_intensity`,
      title: `${unit}/B ${level}`,
      hint: `${unit} per byte that ${level} moved`,
      value: (row) => at.get(`${row.kernel} ${level} ${work}`)?.intensity ?? null,
      show: (row) => measured(at.get(`${row.kernel} ${level} ${work}`)?.intensity) || "–",
      width: "6.5em",
    });
    return [
      ...figureColumns<CounterRooflineKernelsRow>(COUNTER_ROOFLINE_KERNELS, [
        {
          name: "kernel_name",
          title: "Kernel",
          show: (row) => (
            <>
              <span class="swatch" style={{ background: seriesColour(row.kernel) }} /> {row.kernel}: {row.kernel_name}
            </>
          ),
          width: "minmax(10em, 2fr)",
        },
        ["duration_share", "Time", "share", "4.5em"],
        { name: "share", title: "Of its roof", show: (row) => ofRoof(row.share), width: "7em" },
        ["verdict", "Bound", "text", "minmax(12em, 2fr)"],
      ]),
      {
        name: "gops",
        title: `${unit}/s`,
        hint: `10^9 ${unit} per second as a number to sort by`,
        value: speed,
        show: (row) => (speed(row) === null ? "–" : rate(speed(row) ?? 0, `G${unit}/s`)),
        width: "8.5em",
      },
      ...LEVELS.filter((level) => points.rows.some((point) => point.level === level)).map(intensity),
      {
        name: "not_counted",
        title: "Not counted",
        hint: `Kinds of ${unit} that were not measured: the rate is a lower bound`,
        value: (row) => (work === "flop" ? row.flops_missing : row.iops_missing),
        width: "8em",
      },
    ];
  }, [answer, work]);
  const left = truncation(kernels.rows.length, kernels.row_count);
  return (
    <div class="roofline-kernels" style={{ flexBasis: `${(kernels.rows.length + 5) * 1.85}em` }}>
      <Caveats caveats={answer.caveats} />
      {left ? <strong>{left}</strong> : null}
      <DataTable
        label="Kernels of the roofline"
        columns={columns}
        rows={kernels.rows}
        isSelected={(row) => row.kernel === chosenKernel()?.kernel}
        onSelect={(row) => chooseKernel(row.kernel)}
        onHover={(row) => {
          preview.value = row ? { kernelRank: row.kernel } : {};
        }}
      />
      <Definition text={answer.definition} />
    </div>
  );
}

export const roofline: View = {
  id: "roofline",
  title: "Roofline",
  hint: ASKED.roofline,
  about: "counters",
  missing: () => "",
  component: Roofline,
};
