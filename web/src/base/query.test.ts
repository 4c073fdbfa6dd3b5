import { expect, test } from "vitest";
import { instructionQuery } from "./instruction_query";
import { fitOf, meaningOf } from "./query";

test("numbers, addresses, places and times are told apart", () => {
  expect(meaningOf("972").number).toBe(972);
  expect(meaningOf("109,704").number).toBe(109704);
  expect(meaningOf("0x2CB8").address).toBe("0x2cb8");
  expect(meaningOf("2cb8").address).toBe("0x2cb8");
  expect(meaningOf("add").address).toBeUndefined();
  expect(meaningOf("flash_attn_func.py:258").place).toEqual({ file: "flash_attn_func.py", line: 258 });
  expect(meaningOf("12:30").place).toBeUndefined();
  expect(meaningOf("Wave 4").wave).toBe(4);
  expect(meaningOf("cycle 109704").cycle).toBe(109704);
  expect(meaningOf("rank 3").rank).toBe(3);
  expect(meaningOf("GPU 2").gpu).toBe(2);
  expect(meaningOf("1.5 ms").nanoseconds).toBe(1.5e6);
  expect(meaningOf("20us").nanoseconds).toBe(20e3);
  expect(meaningOf("v_add").nanoseconds).toBeUndefined();
});

test("the first character says what is looked for", () => {
  expect(meaningOf("> theme")).toMatchObject({ scope: "commands", text: "theme" });
  expect(meaningOf("@util")).toMatchObject({ scope: "views", text: "util" });
  expect(meaningOf(":972")).toMatchObject({ scope: "rows", number: 972 });
});

test("names that start with what was typed fit better", () => {
  expect(fitOf("Stalls", "stalls")).toBe(1);
  expect(fitOf("Stalls", "st")).toBe(2);
  expect(fitOf("Wave states", "st")).toBe(3);
  expect(fitOf("History", "st")).toBe(4);
  expect(fitOf("Loops", "st")).toBeNull();
  expect(fitOf("Loops", "")).toBeNull();
});

const facts = (text: string, kind: string, stall: number, unnamed = "") => ({
  text,
  kind,
  unnamed,
  figure: (name: string) => (name === "stall" ? stall : undefined),
});

test("instructions by register, type and stall", () => {
  expect(instructionQuery("v_add_f32")).toBeNull();
  const register = instructionQuery("v12");
  expect(register?.test(facts("v_mov_b32 v12, v1", "VALU", 0))).toBe(true);
  expect(register?.test(facts("buffer_load_dwordx4 v[10:13], off", "VMEM", 0))).toBe(true);
  expect(register?.test(facts("v_mov_b32 v120, s12", "VALU", 0))).toBe(false);
  expect(instructionQuery("vcc")?.test(facts("v_cndmask_b32 v1, v2, v3", "VALU", 0, "vcc"))).toBe(true);
  expect(instructionQuery("vccz")?.test(facts("s_mov_b32 s0, vccz", "SALU", 0))).toBe(true);
  const costly = instructionQuery("type:vmem stall>1k load");
  expect(costly?.by).toBe("stall");
  expect(costly?.test(facts("buffer_load_dword v1", "VMEM", 1001))).toBe(true);
  expect(costly?.test(facts("buffer_load_dword v1", "VMEM", 1000))).toBe(false);
  expect(costly?.test(facts("buffer_store_dword v1", "VMEM", 5000))).toBe(false);
  expect(costly?.test(facts("ds_load v1", "LDS", 5000))).toBe(false);
});
