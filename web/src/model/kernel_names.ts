// Short names of kernels: what the server makes of them, the same for all views.
import { type Signal, signal } from "@preact/signals";
import { askJson } from "../data/ask";
import { current, kind } from "./document";

const byDocument = new Map<number, Signal<ReadonlyMap<string, string>>>();

/** The name of a kernel of the run in few characters; names of other things, and while it is not known, as they are. */
export function shortName(name: string): string {
  const document = current.value;
  if (kind.value !== "run") return name;
  let names = byDocument.get(document);
  if (!names) {
    const loading = signal<ReadonlyMap<string, string>>(new Map());
    names = loading;
    byDocument.set(document, names);
    askJson<[string, string][]>(document, "run_kernel_names")
      .then((pairs) => {
        loading.value = new Map(pairs);
      })
      .catch(() => byDocument.delete(document)); // the names as recorded will do
  }
  return names.value.get(name) ?? name;
}
