// What the page was made of, as a digest beside it: page.cmake computes the same one, and builds a page anew that was made
// of something else.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import type { Plugin } from "vite";

const HERE = fileURLToPath(new URL("./", import.meta.url));
/** The line of pyproject.toml with the version of the package that this page is a part of. */
const LINE = /^version = .*$/m.exec(readFileSync(join(HERE, "../pyproject.toml"), "utf8"))?.[0] ?? "";

export const version = /"(.+?)"/.exec(LINE)?.[1] ?? "";

function sha256(data: string | Uint8Array): string {
  return createHash("sha256").update(data).digest("hex");
}

function below(folder: string): string[] {
  return readdirSync(join(HERE, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(HERE, join(entry.parentPath, entry.name)));
}

function digest(): string {
  const beside = readdirSync(HERE).filter((file) => /\.(html|json|ts)$/.test(file));
  const files = [...beside, ...below("licences"), ...below("src")].sort();
  return sha256([LINE, ...files.map((file) => `${sha256(readFileSync(join(HERE, file)))}  ${file}`)].join("\n"));
}

/** Writes page.sources.txt. */
export function sources(): Plugin {
  return {
    name: "sources",
    generateBundle() {
      this.emitFile({ type: "asset", fileName: "page.sources.txt", source: `${digest()}\n` });
    },
  };
}
