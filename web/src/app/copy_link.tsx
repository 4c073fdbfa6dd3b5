// Copies a link to what is on screen: the address of the page, and the command that opens the same document again.
import { useSignal } from "@preact/signals";
import { source } from "../data/source";
import { openCommand } from "../model/user_storage";
import { Icon } from "../widgets/icon";
import { Popup } from "../widgets/popup";
import { place } from "./location";

interface Way {
  name: string;
  hint: string;
  text: string;
}

/** A frame of a notebook has no address, and only a server that was started by a command knows one. */
function ways(): Way[] {
  const address = location.href.replace(/#.*$/s, "");
  const link = {
    name: "Link",
    hint: source.isExport
      ? "Opens this file at what is on screen"
      : "Opens what is on screen in another tab; valid until `wavewright open` ends",
    text: `${address}#${place()}`,
  };
  const command = {
    name: "Command",
    hint: "Shows what is on screen again, on any day",
    text: `${openCommand.value} --at '${place()}'`,
  };
  return [...(address.startsWith("about:") ? [] : [link]), ...(openCommand.value ? [command] : [])];
}

export function CopyLink() {
  const copied = useSignal("");
  const copy = ({ name, text }: Way) => {
    const refused = () => prompt("Copy this:", text);
    if (navigator.clipboard) navigator.clipboard.writeText(text).then(() => (copied.value = name), refused);
    else refused();
  };
  if (!ways().length) return null;
  return (
    <Popup
      text={<Icon name="link" />}
      name="Copy link"
      hint="Copy a link for another tab, or the command that shows this again"
    >
      {() => (
        <div class="popup-list">
          {ways().map((way) => (
            <button
              type="button"
              class="entry"
              key={way.name}
              data-copy={way.name}
              title={way.hint}
              onClick={() => copy(way)}
            >
              {way.name} <span class="faint">{way.text}</span>
            </button>
          ))}
          <output class="note" data-copied={copied.value}>
            {copied.value ? `${copied.value} copied` : ways().map(({ name, hint }) => `${name}: ${hint}. `)}
          </output>
        </div>
      )}
    </Popup>
  );
}
