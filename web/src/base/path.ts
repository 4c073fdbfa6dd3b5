// Paths of files, of any system.

/** The last part of a path: what fits into a link; the path itself where it has no parts. */
export function baseName(path: string): string {
  return path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1) || path;
}
