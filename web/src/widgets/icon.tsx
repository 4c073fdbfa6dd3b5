// An icon as large as the text beside it. What it means is told by the button around it.
import { ICONS, type IconName } from "../base/icons";
import "./icon.css";

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      {ICONS[name].map(([Shape, attributes], n) => (
        <Shape key={n} {...attributes} />
      ))}
    </svg>
  );
}

const SVG = "http://www.w3.org/2000/svg";

/** The same for bars that Lumino draws. */
export function iconElement(name: IconName): SVGSVGElement {
  const icon = document.createElementNS(SVG, "svg");
  icon.setAttribute("class", "icon");
  icon.setAttribute("viewBox", "0 0 24 24");
  icon.setAttribute("aria-hidden", "true");
  for (const [tag, attributes] of ICONS[name]) {
    const shape = icon.appendChild(document.createElementNS(SVG, tag));
    for (const [key, value] of Object.entries(attributes)) shape.setAttribute(key, value);
  }
  return icon;
}
