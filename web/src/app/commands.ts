// What can be done: keys, settings, and every control of the header and of the views on screen.
import { change, SETTINGS, settings } from "../model/settings";
import { isSeen } from "./focus";
import { KEYS } from "./keys";
import { VIEWS } from "./registry";

export interface Command {
  group: "Commands" | "Settings" | "On screen";
  title: string;
  note: string;
  keys?: string[];
  run: () => void;
}

/** Each choice of each setting that is not the one at present. */
function ofSettings(): Command[] {
  const put = (title: string, note: string, name: string, value: unknown): Command[] =>
    settings.value[name] === value ? [] : [{ group: "Settings", title, note, run: () => change({ [name]: value }) }];
  return SETTINGS.flatMap(({ name, title, meaning, kind, choices = [] }) => {
    if (kind === "switch")
      return [true, false].flatMap((on) => put(`${title}: ${on ? "on" : "off"}`, meaning, name, on));
    return kind === "choice"
      ? choices.flatMap((each) => put(`${title}: ${each.title}`, meaning, name, each.value))
      : [];
  });
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** All commands of this moment; what the shell alone can do is given. */
export function commandsNow(resetLayout: () => void): Command[] {
  const ofKeys = KEYS.flatMap(({ keys, does, run }): Command[] =>
    run && !keys.includes("/") ? [{ group: "Commands", title: capital(does), note: "", keys, run }] : [],
  );
  const reset: Command = { group: "Commands", title: "Reset the layout", note: "", run: resetLayout };
  return [...ofKeys, reset, ...ofHeader(), ...ofSettings(), ...ofPanels()];
}

/** How a control is called: its label, its text where that has letters, else its tooltip. */
function nameOf(control: HTMLElement): string {
  const label = control.getAttribute("aria-label") ?? (control.closest("label") ?? control).innerText.trim();
  return /\p{L}{2}/u.test(label) ? label : control.title;
}

/** A button is pressed, a switch is switched, a field gets the focus. */
function press(control: HTMLElement): void {
  control.focus();
  if (control.matches("button, [type=checkbox], [type=radio]")) control.click();
}

/** Buttons of the header that no key stands for. */
function ofHeader(): Command[] {
  const buttons = document.querySelectorAll<HTMLElement>(".shell-bar button:not(.search-button, .brand)");
  return [...buttons].filter(isSeen).flatMap((button): Command[] => {
    const isKey = /\((\?|t)\)$/.test(button.title);
    const title = nameOf(button);
    return title && !isKey
      ? [{ group: "Commands", title, note: button.title === title ? "" : button.title, run: () => press(button) }]
      : [];
  });
}

/** Controls in the toolbars of the views on screen. */
function ofPanels(): Command[] {
  const panels = [...document.querySelectorAll<HTMLElement>(".panel[data-view]")].filter(isSeen);
  return panels.flatMap((panel) => {
    const title = VIEWS.find(({ id }) => id === panel.dataset.view)?.title ?? "";
    const controls = [...panel.querySelectorAll<HTMLElement>(".toolbar :is(button, input, select)")].filter(isSeen);
    return controls.flatMap((control): Command[] => {
      const name = nameOf(control);
      const note = control.title === name ? "" : control.title;
      return name ? [{ group: "On screen", title: `${title}: ${name}`, note, run: () => press(control) }] : [];
    });
  });
}
