// A text of several lines with their numbers, and a mark beside lines where something is wrong.
import type { Signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import "./numbered_text.css";

interface Props {
  text: Signal<string>;
  label: string;
  /** Ctrl+Enter. */
  apply: () => void;
  /** What is wrong with each line; empty or absent = nothing. */
  beside: string[];
  area: { current: HTMLTextAreaElement | null };
}

export function NumberedText({ text, label, apply, beside, area }: Props) {
  const gutter = useRef<HTMLDivElement>(null);
  const follow = () => {
    if (gutter.current && area.current) gutter.current.scrollTop = area.current.scrollTop;
  };
  useEffect(follow);
  return (
    <div class="numbered-text mono">
      <div class="numbered-gutter" ref={gutter} aria-hidden="true">
        {text.value.split("\n").map((_, number) => (
          <div key={number} class={beside[number] ? "wrong" : ""} title={beside[number]}>
            {beside[number] ? "✗ " : ""}
            {number + 1}
          </div>
        ))}
      </div>
      <textarea
        ref={(element) => {
          area.current = element;
        }}
        class="mono"
        aria-label={label}
        spellcheck={false}
        wrap="off"
        value={text.value}
        onScroll={follow}
        onInput={(event) => {
          text.value = event.currentTarget.value;
        }}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
          event.preventDefault();
          apply();
        }}
      />
    </div>
  );
}

/** Puts the cursor into a line, from a column on; without one the whole line is marked. */
export function showLine(area: HTMLTextAreaElement | null, number: number, column = -1): void {
  if (!area) return;
  const lines = area.value.split("\n");
  const begin = lines.slice(0, number).reduce((sum, line) => sum + line.length + 1, 0);
  area.focus();
  const word = column < 0 ? null : /^\w*/.exec((lines[number] ?? "").slice(column));
  const from = begin + Math.max(0, column);
  area.setSelectionRange(from, word ? from + word[0].length : begin + (lines[number]?.length ?? 0));
}
