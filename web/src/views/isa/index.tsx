// The instructions: every row of the code with what it cost, arrows to what it waited for, bars, executions of one wave.
import { useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { exact } from "../../base/format";
import { matcher } from "../../base/matcher";
import { textScale } from "../../draw/painter";
import { type Code, codeAnswer, isEnd, selectRow } from "../../model/code";
import type { View } from "../../model/view";
import type { Wave } from "../../model/waves";
import { Answered, Problem } from "../../widgets/answered";
import { type Offer, pictures, SaveMenu } from "../../widgets/saving";
import { WavePicker } from "../../widgets/wave_picker";
import { Legend, useDrawing } from "./canvas_column";
import { ColumnMenu, columnsHere, flexibleWidths, isShown } from "./columns";
import { Finder } from "./finder";
import "./isa.css";
import { itemsOf, sectionsOf } from "./items";
import { JumpList } from "./jump_list";
import { Minimap, type ScrollSpan } from "./minimap";
import { Related } from "./related";
import { ROW_HEIGHT, Rows } from "./rows";
import { listingCsv, paintListing } from "./save";
import { canvasModes, useSheet } from "./sheet";
import {
  CANVAS_MODES,
  type CanvasMode,
  changeIsa,
  executedOnly,
  hitsOnly,
  isaSettings,
  isOneWave,
  LATENCY_MODES,
  type LatencyMode,
  query,
  stallOver,
} from "./state";
import { Stepping } from "./stepping";
import { Tip } from "./tip";

function Isa() {
  return <Answered answer={codeAnswer}>{(code) => <Listing code={code} />}</Answered>;
}

function Listing({ code }: { code: Code }) {
  const sheet = useSheet(code);
  const { figures, heat } = sheet;
  const sections = useMemo(() => sectionsOf(code), [code]);
  const test = useMemo(() => matcher(query.value), [query.value]);
  const hits = useMemo(
    () => (query.value ? rowsWhere(code.count, (row) => test.test(code.text[row] ?? "")) : []),
    [code, test],
  );
  const wanted = useMemo(() => (hitsOnly.value && query.value ? new Set(hits) : null), [hits, hitsOnly.value]);
  // Rows are left out by figures only when that is asked for: else the list stays as it is in every mode.
  const needed = executedOnly.value || stallOver.value ? figures : null;
  const items = useMemo(() => {
    const stalled = needed?.stall;
    const least = stalled ? (stalled.reduce((sum, value) => sum + value, 0) * stallOver.value) / 100 : 0;
    return itemsOf(code.count, sections, (row) => {
      if (wanted && !wanted.has(row)) return false;
      if (executedOnly.value && needed && !needed.hits[row]) return false;
      return !(stallOver.value && stalled) || (stalled[row] as number) >= Math.max(least, 1);
    });
  }, [code, sections, needed, wanted, executedOnly.value, stallOver.value]);
  const box = useRef<HTMLDivElement>(null);
  const width = useSignal(1000);
  const widths = flexibleWidths(width.value);
  const drawing = useDrawing(sheet, items, ROW_HEIGHT, widths.canvas);
  const columns = columnsHere()
    .filter(isShown)
    .map((column) =>
      column.width
        ? { ...column, width: column.width * textScale() }
        : { ...column, width: column.id === "text" ? widths.text : widths.canvas },
    );
  const hottest = () => {
    const isMore = (at: number, best: number) => (heat[at] ?? 0) > (heat[best] ?? 0) && !isEnd(code.mnemonic[at]);
    const row = heat.reduce((best, _, at) => (isMore(at, best) ? at : best), 0);
    if (heat[row]) selectRow(row);
  };
  const onScreen = useSignal<ScrollSpan>({ top: 0, bottom: 1 });
  const list = () => box.current?.querySelector<HTMLElement>(".list") ?? null;
  const measure = () => {
    const element = list();
    const height = items.lines.length * ROW_HEIGHT;
    if (!element || !height) return;
    const { scrollTop, clientHeight } = element;
    onScreen.value = { top: scrollTop / height, bottom: Math.min(1, (scrollTop + clientHeight) / height) };
  };
  useEffect(measure, [items]);
  useEffect(() => {
    const observer = new ResizeObserver(() => {
      if (box.current?.clientWidth) width.value = box.current.clientWidth;
      measure();
    });
    if (box.current) observer.observe(box.current);
    return () => observer.disconnect();
  }, [items]);
  const visible = () => {
    const { top, bottom } = onScreen.value;
    return [Math.floor(top * items.lines.length), Math.ceil(bottom * items.lines.length)] as const;
  };
  const offers: Offer[] = [
    { format: "csv", make: () => listingCsv(sheet, items) },
    ...pictures(
      (painter, size) => paintListing(painter, size, sheet, items, drawing, visible()),
      () => ({ width: drawing.width + 620, height: (visible()[1] - visible()[0]) * ROW_HEIGHT }),
    ),
  ];
  return (
    <div class="view isa">
      <div class="toolbar">
        <WavePicker isOne={isOneWave(sheet.mode)} onPick={followTarget} />
        {figures || sheet.target ? (
          <select
            data-mode
            aria-label="Figures"
            title={`Figures: ${LATENCY_MODES[sheet.mode][1]}`}
            value={sheet.mode}
            onChange={(event) => changeIsa({ mode: event.currentTarget.value as LatencyMode })}
          >
            {Object.entries(LATENCY_MODES).map(([mode, [name, hint]]) => (
              <option key={mode} value={mode} title={hint}>
                {name}
              </option>
            ))}
          </select>
        ) : null}
        <select
          data-canvas
          aria-label="Beside the rows"
          title={`Beside the rows: ${CANVAS_MODES[sheet.canvas][1]}`}
          value={sheet.canvas}
          onChange={(event) => changeIsa({ canvas: event.currentTarget.value as CanvasMode })}
        >
          {canvasModes().map((mode) => (
            <option key={mode} value={mode} title={CANVAS_MODES[mode][1]}>
              {CANVAS_MODES[mode][0]}
            </option>
          ))}
        </select>
        <Stepping data={sheet.targetData} toHottest={hottest} />
        <Finder hits={hits} problem={test.problem} hasCosts={figures !== null} />
        <JumpList sheet={sheet} sections={sections} />
        <button type="button" class="quiet wide-only" title="Go to the row with the largest cost (h)" onClick={hottest}>
          Hottest
        </button>
        <ColumnMenu />
        <span data-rows>
          {items.rowCount === code.count
            ? `${exact(code.count)} rows`
            : `showing ${exact(items.rowCount)} of ${exact(code.count)} rows`}
        </span>
        <SaveMenu name="instructions" offers={offers} />
      </div>
      <Legend sheet={sheet} />
      {sheet.problem ? <Problem error={sheet.problem} /> : null}
      <div class="isa-body" ref={box} onScrollCapture={measure}>
        <Rows sheet={sheet} items={items} sections={sections} columns={columns} drawing={drawing} hits={hits} />
        <Minimap
          items={items}
          heat={heat}
          onScreen={onScreen}
          goTo={(share) => {
            const element = list();
            if (element) element.scrollTop = share * items.lines.length * ROW_HEIGHT - element.clientHeight / 2;
          }}
        />
      </div>
      <Related sheet={sheet} />
      <Tip />
    </div>
  );
}

function rowsWhere(count: number, test: (row: number) => boolean): number[] {
  const rows: number[] = [];
  for (let row = 0; row < count; row++) if (test(row)) rows.push(row);
  return rows;
}

/** Picking a wave shows its figures, picking none those of all waves. */
function followTarget(wave: Wave | undefined): void {
  const { mode } = isaSettings.value;
  if (wave && !isOneWave(mode)) changeIsa({ mode: mode === "mean_all" ? "mean_wave" : "sum_wave" });
  if (!wave && isOneWave(mode)) changeIsa({ mode: mode === "mean_wave" ? "mean_all" : "sum_all" });
}

export const isa: View = {
  id: "isa",
  title: "Instructions",
  hint: "The instructions with their costs, arrows from waits to what they waited for, and the executions of one wave",
  about: "trace",
  missing: (overview) => (overview.kind === "trace" && overview.row_count ? "" : "the trace has no code"),
  component: Isa,
};
