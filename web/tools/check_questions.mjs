// An answer depends on nothing but the key of its question (data/ask.ts). Types see to most of it; what they cannot see:
// the function that reads an answer is a named one of the module's top level, so that it cannot hold a view's props.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "src");
let problems = 0;

function complain(file, what) {
  console.error(`${file}: ${what}`);
  problems += 1;
}

function isOfTopLevel(text, name) {
  if (!/^\w+$/.test(name)) return false; // written in place: it may hold anything
  const declared = new RegExp(`^(?:export )?(?:function|const) ${name}\\b`, "m");
  const imported = new RegExp(`^import \\{[^}]*\\b${name}\\b[^}]*\\} from`, "m");
  return declared.test(text) || imported.test(text);
}

for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
  if (!entry.isFile() || !/\.tsx?$/.test(entry.name)) continue;
  const file = relative(root, join(entry.parentPath, entry.name));
  const text = readFileSync(join(root, file), "utf8");
  for (const [, read] of text.matchAll(/\)\s*\.as\(\s*([^,)\s]*)/g)) {
    if (!isOfTopLevel(text, read)) complain(file, `.as(${read}…): an answer is read by a function of the top level`);
  }
  for (const [call] of text.matchAll(
    /(?<!function )\buseAnswer(?:<[^>]*>)?\(\s*(?:async\b|function\b|\(|[\w.]+\s*=>)/g,
  )) {
    complain(file, `${call.trim()}…: a question is a value that holds all that its answer depends on`);
  }
}
process.exit(problems ? 1 : 0);
