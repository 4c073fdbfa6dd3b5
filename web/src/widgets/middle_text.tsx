// A text that loses its middle where there is no room: long names differ at their ends.
import "./middle_text.css";

const END_CHARACTERS = 14;

export function MiddleText({ text }: { text: string }) {
  const cut = Math.max(text.length - END_CHARACTERS, Math.ceil(text.length / 2));
  return (
    <span class="middle-text" title={text}>
      <span class="middle-start">{text.slice(0, cut)}</span>
      <span class="middle-end">{text.slice(cut)}</span>
    </span>
  );
}
