import "@lumino/widgets/style/index.css";
import "./theme.css";
import { effect } from "@preact/signals";
import { render } from "preact";
import { loadDocuments, loadOverview, overview } from "../model/document";
import { asAnswerError } from "../model/loaded";
import { settings } from "../model/settings";
import { setBounds } from "../model/timewindow";
import { Problem } from "../widgets/answered";
import { Dock } from "./dock";

effect(() => {
  document.documentElement.dataset.theme = settings.value.theme;
});

async function start(host: HTMLElement): Promise<void> {
  try {
    await loadDocuments();
    await loadOverview();
  } catch (error) {
    render(<Problem error={asAnswerError(error)} />, host);
    return;
  }
  const facts = overview.value;
  if (facts?.kind === "trace") setBounds({ begin: facts.begin_cycles, end: facts.end_cycles });
  host.textContent = "";
  new Dock(host).layOut();
}

const host = document.getElementById("app");
if (host) void start(host);
