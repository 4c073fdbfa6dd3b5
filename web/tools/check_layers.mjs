// Imports point to the left only: base <- data <- model <- draw <- widgets <- views <- app. Within views, one view does
// not import another: what two of them need moves down a layer.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";
import { fileURLToPath } from "node:url";

const RANKS = { base: 0, data: 1, model: 2, draw: 3, widgets: 4, views: 5, app: 6 };
const root = join(dirname(fileURLToPath(import.meta.url)), "..", "src");
let problems = 0;

function complain(file, what) {
  console.error(`${file}: ${what}`);
  problems += 1;
}

for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
  if (!entry.isFile() || !/\.tsx?$/.test(entry.name)) continue;
  const file = relative(root, join(entry.parentPath, entry.name));
  const [layer, room] = file.split("/");
  if (!(layer in RANKS)) complain(file, "is in no layer");
  for (const [, target] of readFileSync(join(root, file), "utf8").matchAll(/from "(\.[^"]+)"/g)) {
    const [toLayer, toRoom] = normalize(join(dirname(file), target)).split("/");
    const same = toLayer === layer;
    if (!same && !(RANKS[toLayer] < RANKS[layer])) complain(file, `imports ${toLayer} (${target})`);
    if (same && layer === "views" && (toRoom ?? "").split(".")[0] !== room.split(".")[0]) {
      complain(file, `imports another view (${target})`);
    }
  }
}
process.exit(problems ? 1 : 0);
