// Comparisons read from the document on screen against another one. When that other one was named later, it is most
// likely the newer one: offer to look from there.
import { current, documents } from "../model/document";

export function OtherWay({ base, view }: { base: number; view: string }) {
  if (base <= current.value) return null;
  const label = (number: number) => documents.value[number]?.label ?? "";
  return (
    <a class="link" href={`#document=${base}&view=${view}`} data-action="other-way">
      show {label(base)} against {label(current.value)} instead
    </a>
  );
}
