// Around the lines: what their columns mean, and why there is no text.

import { exact } from "../../base/format";
import { baseName } from "../../base/path";
import { source as answers } from "../../data/source";
import { changesAgainst } from "../../model/baseline";
import { settings } from "../../model/settings";
import { isSampled } from "../../model/source";
import type { FileText } from "./lines";

const EXPORT_ADVICE =
  "export the page again without --no-source, with the source files in a folder src inside the capture";

export function Missing({ text }: { text: FileText }) {
  if (text.lines) {
    return text.lines.length < text.line_count ? (
      <p class="missing">
        Showing the first {exact(text.lines.length)} of {exact(text.line_count)} lines.
      </p>
    ) : null;
  }
  return (
    <p class="missing">
      <strong title={text.file ?? ""}>{baseName(text.file ?? "")}</strong>: {text.reason}. Below are its lines that cost
      something. Try: {answers.isExport ? EXPORT_ADVICE : text.advice}.
    </p>
  );
}

export function Header() {
  const idle = settings.value.withIdle ? " with the idle cycles before them" : "";
  return (
    <div class="row head">
      <span class="line-number">Line</span>
      <span title="Red: stall, green: issue, grey: idle, blue: hidden by work of other waves">Cost</span>
      <span class="number" title={isSampled.value ? "PC samples" : `Cycles of all executions in all waves${idle}`}>
        {isSampled.value ? "Samples" : "Cycles"}
      </span>
      <span class="number" title="Of all executed instructions whose address is known, with and without a line">
        Share
      </span>
      <span class="number" data-column="stall" title={isSampled.value ? "Samples not issued" : "Stall, of the latency"}>
        Stall
      </span>
      {changesAgainst.value === null ? null : (
        <span class="number" data-column="change" title="Cycles per wave against the baseline; faint = within noise">
          Change
        </span>
      )}
      {isSampled.value ? (
        <span data-column="reason" title="Why samples were not issued, most frequent first">
          Reasons
        </span>
      ) : (
        <span class="number" data-column="hits" title="Executions of its instructions in all waves">
          Hits
        </span>
      )}
      <span />
    </div>
  );
}
