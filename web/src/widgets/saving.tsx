// Saving what a view shows.
import { useSignal } from "@preact/signals";
import { paper } from "../draw/palette";
import { type Paint, paintedPng, paintedSvg, type Size } from "./canvas";

export interface Offer {
  /** File extension: png, svg, csv, … */
  format: string;
  make: () => Blob | string | Promise<Blob | string>;
}

/** PNG and SVG of a drawing. */
export function pictures(paint: Paint, size: () => Size): Offer[] {
  return [
    { format: "png", make: () => paintedPng(paint, size(), paper("background")) },
    { format: "svg", make: () => paintedSvg(paint, size(), paper("background")) },
  ];
}

/** Control characters other than tabs and ends of lines: a terminal would obey them. */
const CONTROLS = /[^\P{Cc}\t\n\r]/gu;

/** A table as CSV. Cells that a spreadsheet would run as a formula get an apostrophe. */
export function csv(header: string[], rows: Iterable<(string | number | null | undefined)[]>): string {
  const cell = (value: string | number | null | undefined) => {
    if (value === null || value === undefined || (typeof value === "number" && Number.isNaN(value))) return "";
    if (typeof value === "number") return String(value);
    const clean = value.replace(CONTROLS, "\ufffd");
    const safe = /^[=+\-@\t\r]/.test(clean) ? `'${clean}` : clean;
    return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  const lines = [header.map(cell).join(",")];
  for (const row of rows) lines.push(row.map(cell).join(","));
  return `${lines.join("\n")}\n`;
}

export async function save(name: string, offer: Offer): Promise<void> {
  const content = await offer.make();
  const blob = content instanceof Blob ? content : new Blob([content], { type: "text/plain" });
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = `${name}.${offer.format}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

export function SaveMenu({ name, offers }: { name: string; offers: Offer[] }) {
  const trouble = useSignal("");
  return (
    <span class="save">
      {offers.map((offer) => (
        <button
          type="button"
          key={offer.format}
          class="quiet"
          title={trouble.value || `Save this view as ${offer.format.toUpperCase()}`}
          data-save={offer.format}
          onClick={() =>
            save(name, offer).catch((error: Error) => {
              trouble.value = error.message;
            })
          }
        >
          {offer.format.toUpperCase()}
        </button>
      ))}
    </span>
  );
}
