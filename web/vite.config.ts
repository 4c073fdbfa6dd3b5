import { defineConfig } from "vitest/config";
import { usedWidgets } from "./lumino.ts";
import { notices } from "./notices.ts";
import { sources, version } from "./sources.ts";

export default defineConfig({
  base: "./",
  plugins: [usedWidgets(), notices(), sources()],
  define: { "import.meta.env.WAVEWRIGHT_VERSION": JSON.stringify(version) },
  build: {
    outDir: "../src/wavewright/_web",
    emptyOutDir: true,
    target: "es2022",
    modulePreload: false,
    assetsInlineLimit: 0,
    // One script and one style sheet: the one-file export puts both inline.
    cssCodeSplit: false,
    chunkSizeWarningLimit: 1500, // a test asserts what counts: the compressed size
    rollupOptions: {
      output: { entryFileNames: "page.js", assetFileNames: "page[extname]", codeSplitting: false },
    },
  },
  // A file of tests costs a thread and not a process, which takes a quarter of the processor time less.
  test: { include: ["src/**/*.test.ts", "src/**/*.test.tsx"], pool: "threads" },
});
