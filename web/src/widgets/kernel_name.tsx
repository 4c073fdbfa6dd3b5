// The name of a kernel in a cell: where it does not fit, the end that tells it from others stays.
import { kernelName } from "../model/kernel_names";
import "./kernel_name.css";

export function KernelName({ name }: { name: string }) {
  const facts = kernelName(name);
  if (!facts) return <span title={name}>{name}</span>;
  const { short, readable, tail } = facts;
  const title = readable === name ? name : `${readable}\nrecorded as ${name}`;
  if (!tail || tail >= short.length) return <span title={title}>{short}</span>;
  return (
    <span class="kernel-cut" title={title}>
      <span class="kernel-cut-head" style={{ maxWidth: `calc(100% - ${widthOf(short.slice(-tail))}ch)` }}>
        {short.slice(0, -tail)}
      </span>
      <span>{short.slice(-tail)}</span>
    </span>
  );
}

/** About how wide a text is, in widths of a digit: the cell knows the rest. */
function widthOf(text: string): string {
  const narrow = text.match(/[iljft,.:;()<> ]/g)?.length ?? 0;
  const wide = text.match(/[A-Zmw…]/g)?.length ?? 0;
  return (text.length * 0.96 - narrow * 0.42 + wide * 0.16 + 0.3).toFixed(1);
}
