// Run after a change of dependencies: node tools/complete_lock.mjs
// A registry mirror may carry the packages of one platform only. npm then leaves those of the others out of
// package-lock.json, and `npm ci` refuses such a file. This adds them by what their names and their parents say, without
// a checksum: npm skips them on this platform and fetches them by version on theirs.
import { readFileSync, writeFileSync } from "node:fs";

const FILE = new URL("../package-lock.json", import.meta.url);
const lock = JSON.parse(readFileSync(FILE, "utf8"));
const CPUS = ["arm64", "x64", "arm", "ppc64", "s390x", "riscv64", "loong64", "ia32", "wasm32"];
const SYSTEMS = ["android", "darwin", "freebsd", "linux", "openharmony", "win32"];

/** Where a package runs, by the words of its name. */
function platform(name) {
  const words = name.split(/[/-]/);
  const found = {
    cpu: words.filter((word) => CPUS.includes(word)),
    os: words.filter((word) => SYSTEMS.includes(word)),
  };
  if (words.includes("musl")) found.libc = ["musl"];
  if (words.includes("gnu") || words.includes("gnueabihf")) found.libc = ["glibc"];
  return found;
}

let added = 0;
for (const parent of Object.values(lock.packages)) {
  for (const [name, version] of Object.entries(parent.optionalDependencies ?? {})) {
    const place = `node_modules/${name}`;
    const { cpu, os, libc } = platform(name);
    if (place in lock.packages || !/^\d/.test(version) || !(cpu.length || os.length)) continue;
    lock.packages[place] = {
      version,
      ...(cpu.length ? { cpu } : {}),
      dev: true,
      ...(libc ? { libc } : {}),
      optional: true,
      ...(os.length ? { os } : {}),
    };
    added += 1;
  }
}
lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)));
writeFileSync(FILE, `${JSON.stringify(lock, null, 2)}\n`);
console.log(`${added} packages of other platforms added`);
