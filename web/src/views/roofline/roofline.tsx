// Kernels under the roofs of arithmetic and memory: the plot, what is shown in it, and below it the table of kernels.
// scene.ts says which lines and marks there are, paint.ts how they look, input.ts what pointer and wheel do.
import { type Signal, useSignal } from "@preact/signals";
import { useMemo, useRef } from "preact/hooks";
import { measured, percent } from "../../base/format";
import { flipped } from "../../base/sets";
import {
  ASKED,
  type CounterRooflineAnswer,
  type CounterRooflineKernelsRow,
  type CounterRooflinePointsRow,
} from "../../data/answers.gen";
import { json } from "../../data/ask";
import { LogFrame, type LogWindow } from "../../draw/loglog";
import { chooseKernel, chosenKernel } from "../../model/counters";
import { current } from "../../model/document";
import { useAnswer } from "../../model/loaded";
import { preview } from "../../model/selection";
import type { View } from "../../model/view";
import { Answered } from "../../widgets/answered";
import { Canvas, type CanvasEvents, type Paint, type Size } from "../../widgets/canvas";
import { Chips } from "../../widgets/chips";
import { CounterKernelChooser } from "../../widgets/counter_choice";
import { tableOffer } from "../../widgets/data_table";
import { plainColumns } from "../../widgets/figure_columns";
import { Popup } from "../../widgets/popup";
import { pictures, SaveMenu } from "../../widgets/saving";
import { CEILINGS, MOST_KERNELS, type Work } from "./ceilings";
import { type PointedMark, rooflineEvents } from "./input";
import { Kernels, ofRoof } from "./kernels";
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
  const { work, levels, kinds, choose } = useOptions(answer);
  const window = useSignal<LogWindow | null>(null);
  const over = useSignal<PointedMark | null>(null);
  const frame = useRef<LogFrame | null>(null);
  const size = useRef<Size>({ width: 900, height: 560 });
  const scene = useMemo(() => sceneOf(answer, { work, levels, kinds }), [answer, work, levels, kinds]);
  const drawnScene = useRef<Scene | null>(null);
  drawnScene.current = scene;
  const shares = useMemo(() => new Map(answer.kernels.rows.map((row) => [row.kernel, row.duration_share])), [answer]);
  const draw: Paint = (painter, area) => {
    const [chosen, hovered] = [chosenKernel()?.kernel ?? null, preview.value.kernelRank ?? null];
    frame.current = new LogFrame(window.value ?? scene.window, area.width, area.height);
    paintRoofline(painter, frame.current, { scene, shares, chosen, hovered, work });
  };
  const paint: Paint = (painter, area) => {
    size.current = area; // pictures are saved in the size that is on screen
    draw(painter, area);
  };
  const events = useMemo(
    () => previewing(rooflineEvents({ frame, scene: drawnScene, window, over, choose: chooseKernel }), over),
    [],
  );
  return (
    <div class="view roofline">
      <div class="toolbar">
        <CounterKernelChooser />
        <RoofSelect answer={answer} ceilings={ceilings} />
        <LevelChips names={levelsOf(answer)} shown={levels} onChange={choose.levels} />
        <WorkSelect
          answer={answer}
          work={work}
          onChange={(next) => {
            choose.work(next);
            window.value = null;
          }}
        />
        <KindsPopup names={kindsOf(answer, work).map(({ name }) => name)} shown={kinds} onChange={choose.kinds} />
        <ShowAll window={window} />
        <SaveMenu
          name="roofline"
          offers={[...pictures(draw, () => size.current), tableOffer(POINTS, () => answer.points.rows)]}
        />
      </div>
      <div class="roofline-body">
        <div class="roofline-plot" data-marks={scene.marks.length} data-roofs={scene.roofs.length}>
          <Canvas
            paint={paint}
            label={`Roofline: ${scene.marks.length} marks under ${scene.roofs.length} roofs; wheel zooms, drag moves, click chooses`}
            events={events}
          />
          {over.value ? <Tip over={over.value} kernels={answer.kernels.rows} width={size.current.width} /> : null}
        </div>
        <Legend
          levels={[...new Set(scene.marks.map((mark) => mark.level))]}
          roofs={scene.roofs}
          hasTimes={[...shares.values()].some((share) => share !== null)}
        />
      </div>
      <Kernels answer={answer} work={work} />
    </div>
  );
}

/** Which operations, levels of memory and compute roofs are shown. What is not chosen follows from the answer. */
function useOptions(answer: CounterRooflineAnswer) {
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
  const choose = {
    work: (next: Work) => {
      chosenWork.value = next;
      chosenKinds.value = null; // other operations have other roofs
    },
    levels: (next: ReadonlySet<string>) => {
      chosenLevels.value = next;
    },
    kinds: (next: ReadonlySet<string>) => {
      chosenKinds.value = next;
    },
  };
  return { work, levels, kinds, choose };
}

/** Events that also show the kernel under the pointer in the other views. */
function previewing(events: CanvasEvents, over: Signal<PointedMark | null>): CanvasEvents {
  return {
    ...events,
    onPointerMove: (event) => {
      events.onPointerMove?.(event);
      preview.value = over.value ? { kernelRank: over.value.mark.kernel } : {};
    },
    onPointerLeave: (event) => {
      events.onPointerLeave?.(event);
      preview.value = {};
    },
  };
}

function ShowAll({ window }: { window: Signal<LogWindow | null> }) {
  if (!window.value) return null;
  return (
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
  const works = (["flop", "iop"] as const).filter((name) => kindsOf(answer, name).length);
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

interface TipProps {
  over: PointedMark;
  kernels: CounterRooflineKernelsRow[];
  width: number;
}

function Tip({ over: { mark, x, y }, kernels, width }: TipProps) {
  const kernel = kernels.find((row) => row.kernel === mark.kernel);
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

export const roofline: View = {
  id: "roofline",
  title: "Roofline",
  hint: ASKED.roofline,
  about: "counters",
  missing: () => "",
  component: Roofline,
};
