// The menu "Save" of a view: its picture as PNG or SVG, its table as CSV.
import { useSignal } from "@preact/signals";
import { paper } from "../draw/palette";
import { type Paint, paintedPng, paintedSvg, type Size } from "./canvas";
import { Icon } from "./icon";
import { Popup } from "./popup";

export interface Offer {
  /** File extension: png, svg, csv, … */
  format: string;
  make: () => Blob | string | Promise<Blob | string>;
}

const FORMATS: Record<string, string> = { png: "picture", svg: "drawing, sharp at any size", csv: "table" };

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

/** One button; with several formats it asks which. */
export function SaveMenu({ name, offers }: { name: string; offers: Offer[] }) {
  const trouble = useSignal("");
  const start = (offer: Offer) =>
    save(name, offer).catch((error: Error) => {
      trouble.value = error.message;
    });
  const [only] = offers;
  if (!only) return <span class="save" />;
  if (offers.length === 1) {
    const what = `Save as ${only.format.toUpperCase()}`;
    return (
      <span class="save">
        <button
          type="button"
          class="quiet"
          aria-label={what}
          title={trouble.value || what}
          data-save={only.format}
          onClick={() => start(only)}
        >
          <Icon name="download" />
        </button>
      </span>
    );
  }
  return (
    <span class="save">
      <Popup
        text={<Icon name="download" />}
        name="Save"
        hint={trouble.value || "Save this view as a picture or a table"}
      >
        {(close) =>
          offers.map((offer) => (
            <button
              type="button"
              class="entry"
              key={offer.format}
              data-save={offer.format}
              onClick={() => {
                close();
                void start(offer);
              }}
            >
              {offer.format.toUpperCase()} <span class="faint">{FORMATS[offer.format] ?? ""}</span>
            </button>
          ))
        }
      </Popup>
    </span>
  );
}
