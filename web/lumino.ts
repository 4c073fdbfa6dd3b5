// Of Lumino's widgets the page uses docks and tabs. Menus, palettes, scroll bars and grids stay in a bundle, because
// their namespaces are calls at the top of one file, which no bundler may leave out. What the classes that we use do
// not name is left out here.
import type { Plugin } from "vite";

const FILE = /@lumino\/widgets\/dist\/index\.es6\.js$/;
const USED = ["DockPanel", "TabBar", "Widget"];
const STATEMENT =
  /^(?:class|var|const|function|\(function)[\s\S]*?(?=^(?:class|var|const|function|\(function|export|\/\*|\/\/))/gm;

export function usedWidgets(): Plugin {
  return {
    name: "used-widgets",
    transform: (code, id) => (FILE.test(id) ? { code: withOnly(code, USED), map: null } : null),
  };
}

/** The statements at the top of a module that `used` need, in their order, and its imports. */
export function withOnly(code: string, used: string[]): string {
  const statements = [...code.matchAll(STATEMENT)].map(([text]) => ({
    text,
    name: nameOf(text),
    names: namesIn(text),
  }));
  const needed = new Set(used);
  for (const name of needed)
    for (const statement of statements)
      if (statement.name === name) for (const other of statement.names) needed.add(other);
  const kept = statements.filter(({ name }) => needed.has(name)).map(({ text }) => text);
  const imports = code.match(/^import .*;$/gm) ?? [];
  return [...imports, ...kept, `export { ${used.join(", ")} };`].join("\n");
}

/** What a statement declares, or the namespace that it fills. */
function nameOf(text: string): string {
  const [, filled] = text.match(/\}\)\(([\w$]+) \|\| \(/) ?? [];
  const [, declared] = text.match(/^(?:class|var|const|function) ([\w$]+)/) ?? [];
  return (text.startsWith("(") ? filled : declared) ?? "";
}

/** The names in a statement; the parameter of a namespace is its own. */
function namesIn(text: string): Set<string> {
  const names = new Set(text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "").match(/[A-Za-z_$][\w$]*/g) ?? []);
  const [, parameter] = text.match(/^\(function \(([\w$]+)\)/) ?? [];
  if (parameter) names.delete(parameter);
  return names;
}
