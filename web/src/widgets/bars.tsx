// Shares as bars.
import { colourOf } from "../draw/palette";
import "./bars.css";

export interface Part {
  /** From 0 to 1, of the whole width. */
  share: number;
  /** A CSS colour. */
  colour: string;
  title?: string;
  onClick?: () => void;
}

const width = (share: number) => `${Math.min(Math.max(share, 0), 1) * 100}%`;

/** Parts beside each other, from the left; what is left over stays empty. */
export function PartsBar({ parts, label, tall }: { parts: Part[]; label: string; tall?: boolean }) {
  return (
    <div class={`bar${tall ? " tall" : ""}`} role="group" aria-label={label} title={label}>
      {parts.map((part, number) => {
        const style = { width: width(part.share), background: part.colour };
        const { onClick, title } = part;
        if (!onClick) return <div key={number} class="bar-part" style={style} title={title} />;
        return <button key={number} type="button" class="bar-part" style={style} title={title} onClick={onClick} />;
      })}
    </div>
  );
}

/** One share. `meaning` is a colour of the palette. */
export function ShareBar({ share, meaning, label }: { share: number; meaning: string; label: string }) {
  return <PartsBar parts={[{ share, colour: colourOf(meaning) }]} label={label} />;
}

/** A change around a middle line: to the right in the colour of worse, to the left in that of better. `share` is of half the width. */
export function ChangeBar({ share, faint, label }: { share: number; faint: boolean; label: string }) {
  const wide = Math.min(Math.abs(share), 1) * 50;
  const left = share < 0 ? 50 - wide : 50;
  const colour = colourOf(share < 0 ? "better" : "worse");
  return (
    <div class="bar change" role="img" aria-label={label} title={label}>
      <div
        class={`bar-part${faint ? " faint" : ""}`}
        style={{ left: `${left}%`, width: `${wide}%`, background: colour }}
      />
      <div class="bar-middle" />
    </div>
  );
}

/** How often values fell into equal bins. */
export function BinsBar({ counts, meaning, label }: { counts: number[]; meaning: string; label: string }) {
  const most = Math.max(1, ...counts);
  return (
    <div class="bins" role="img" aria-label={label} title={label}>
      {counts.map((count, number) => (
        <div
          key={number}
          style={{ height: `${count ? Math.max((count / most) * 100, 6) : 0}%`, background: colourOf(meaning) }}
        />
      ))}
    </div>
  );
}
