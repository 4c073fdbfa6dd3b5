// Links from words and numbers to what they speak of: a click selects it and brings the view that shows it to the front.
import type { ComponentChildren } from "preact";
import { baseName } from "../base/path";
import { selectRow, selectRowInPlace, selectSourceLine } from "../model/code";
import { preview, selection } from "../model/selection";
import { frontView } from "../model/view";
import { selectWave } from "../model/waves";
import "./links.css";

/** An instruction. Rows below 0 stand for instructions without a known PC: they are not links. */
export function RowLink({ row, text }: { row: number; text: string }) {
  if (row < 0) return <span class="code-text">{text || "instructions without a known PC"}</span>;
  return (
    <button
      type="button"
      class={`link code-text${selection.value.row === row ? " is-selected" : ""}`}
      data-row={row}
      title={`Row ${row}: ${text}\nShow it in the ISA`}
      onPointerEnter={() => {
        preview.value = { row };
      }}
      onPointerLeave={() => {
        preview.value = {};
      }}
      onClick={(event) => {
        event.stopPropagation();
        selectRow(row);
        frontView("isa");
      }}
    >
      {text || `row ${row}`}
    </button>
  );
}

/** A source line; nothing where there is no debug line. */
export function LineLink({ file, line, row }: { file: string | null; line: number | null; row?: number }) {
  if (!file) return null;
  const sourceLine = { file, line: line ?? 0 };
  return (
    <button
      type="button"
      class="link place"
      data-place={`${file}:${sourceLine.line}`}
      title={`${file}:${sourceLine.line}\nShow it in the source`}
      onClick={(event) => {
        event.stopPropagation();
        if (row === undefined || row < 0) selectSourceLine(sourceLine);
        else selectRowInPlace(row, { sourceLine });
        frontView("source");
      }}
    >
      {baseName(file)}:{sourceLine.line}
    </button>
  );
}

/** A wave: it becomes the target of per-wave figures. */
export function WaveLink({ wave }: { wave: number }) {
  return (
    <button
      type="button"
      class="link"
      data-wave={wave}
      title="Make it the target wave and show it in the compute unit"
      onClick={(event) => {
        event.stopPropagation();
        selectWave(wave);
        frontView("compute_unit");
      }}
    >
      wave {wave}
    </button>
  );
}

/** Another view that tells more. */
export function ViewLink({ id, children }: { id: string; children: ComponentChildren }) {
  return (
    <button type="button" class="link" data-to-view={id} onClick={() => frontView(id)}>
      {children}
    </button>
  );
}
