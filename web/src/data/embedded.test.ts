import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { path } from "./ask";
import { EmbeddedSource } from "./embedded";

const packed = (text: string) => gzipSync(text).toString("base64");

function source(answers: Record<string, [text: string, isError: number]>): EmbeddedSource {
  const index: Record<string, number[]> = {};
  let block = "";
  for (const [key, [text, isError]] of Object.entries(answers)) {
    index[key] = [0, block.length, packed(text).length, isError];
    block += packed(text);
  }
  return EmbeddedSource.of(Buffer.from(JSON.stringify(index)).toString("base64"), () => block);
}

const text = async (bytes: Promise<Uint8Array>) => new TextDecoder().decode(await bytes);

test("each answer is unpacked from its own place", async () => {
  const answers = source({ documents: ["[]", 0], "0/überblick": ['{"name":"größe </script>"}', 0] });
  expect(await text(answers.get("documents"))).toBe("[]");
  expect(await text(answers.get("0/überblick"))).toBe('{"name":"größe </script>"}');
});

test("an error that was exported is an error again", async () => {
  const body = JSON.stringify({ error: { what: "the GPU is not known", where: "a", kept: "b", advice: "c" } });
  const answers = source({ "0/limits": [body, 1] });
  await expect(answers.get("0/limits")).rejects.toMatchObject({ what: "the GPU is not known", advice: "c" });
});

test("what is not held says so, and so does a name of every object", async () => {
  for (const key of ["0/wave?wave=3", "toString", "__proto__"]) {
    await expect(source({ documents: ["[]", 0] }).get(key)).rejects.toMatchObject({
      what: "this is not part of the exported page",
    });
  }
});

test("parameters are in the order of their names, whatever the order in which a view names them", () => {
  const key = "0/spans?layer=waves%20%26%20states&level=2&tile=3";
  expect(path(0, "spans", { layer: "waves & states", level: 2, tile: 3 })).toBe(key);
  expect(path(1, "overview", {})).toBe("1/overview");
});
