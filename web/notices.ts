// Licences of what is bundled, as a file beside the page: the one-file export and the wheel carry it along.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Plugin } from "vite";

const STANDARD = fileURLToPath(new URL("./licences", import.meta.url));
const FILES = /^(licen[cs]e|copying|notice)(\.(txt|md))?$/i;
const COPYRIGHT = /Copyright \(c\) [^\n*]*/gi;

/** The folder of the package that a module belongs to; undefined = it is ours. */
function packageOf(module: string): string | undefined {
  const path = module.replace(/^\0/, "").split("?")[0] ?? "";
  if (!path.includes("/node_modules/")) return undefined;
  let folder = dirname(path);
  while (!hasName(folder)) folder = dirname(folder);
  return folder;
}

/** Packages hold further package.json files, without a name, that only say of which kind their modules are. */
function hasName(folder: string): boolean {
  const file = join(folder, "package.json");
  return existsSync(file) && typeof JSON.parse(readFileSync(file, "utf8")).version === "string";
}

interface Notice {
  title: string;
  text: string;
}

/** The notice of one package: its own files, else the standard text below the copyrights that its sources name. */
function noticeOf(folder: string): Notice {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const own = readdirSync(folder)
    .filter((file) => FILES.test(file))
    .sort()
    .map((file) => readFileSync(join(folder, file), "utf8").trim());
  const standard = join(STANDARD, `${license}.txt`);
  if (!own.length && existsSync(standard)) {
    const copyrights = copyrightsIn(folder);
    if (copyrights.length) own.push(...copyrights, "", readFileSync(standard, "utf8").trim());
  }
  if (!own.length) throw new Error(`${name} ${version} (${license}) is bundled, and there is no text of its licence`);
  return { title: `${name} ${version} (${license})`, text: own.join("\n") };
}

/** All notices; packages of one project that say the same share the text. */
function together(all: Notice[]): string {
  const titles = new Map<string, string[]>();
  for (const { title, text } of all) titles.set(text, [...(titles.get(text) ?? []), title]);
  const parts = [...titles].map(([text, of]) => `${of.join("\n")}\n\n${text}\n`);
  return parts.join(`\n${"-".repeat(80)}\n\n`);
}

function copyrightsIn(folder: string): string[] {
  const found = new Set<string>();
  for (const file of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    if (!/\.(ts|js|mjs)$/.test(file) || file.includes("node_modules")) continue;
    for (const [line] of readFileSync(join(folder, file), "utf8").matchAll(COPYRIGHT)) found.add(line.trim());
  }
  return [...found].sort();
}

/** Writes page.licences.txt; the build fails where a licence is missing. */
export function notices(): Plugin {
  return {
    name: "notices",
    generateBundle(_, bundle) {
      const folders = new Set<string>();
      for (const chunk of Object.values(bundle)) {
        if (chunk.type !== "chunk") continue;
        for (const module of Object.keys(chunk.modules)) {
          const folder = packageOf(module);
          if (folder) folders.add(folder);
        }
      }
      const icons = {
        title: "Lucide 1.62, some icons (ISC)",
        text: readFileSync(join(STANDARD, "lucide.txt"), "utf8").trim(),
      };
      const source = together([...[...folders].sort().map(noticeOf), icons]);
      this.emitFile({ type: "asset", fileName: "page.licences.txt", source });
    },
  };
}
