// Paths that stay inside their folder and that every storage accepts.
import type * as z from "zod";

/** Returns the error in a path; null if it is clean. */
function errorIn(path: string): string | null {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: refusing control characters is the point
  if (/[\u0000-\u001f\u007f]/.test(path)) return "must not contain control characters";
  if (path.includes("\\")) return "must not contain backslashes; separate folders by `/`";
  const isRelative = path.split("/").some((part) => part === "." || part === "..");
  return isRelative ? "must not contain the segments `.` or `..`" : null;
}

/** True if a path has no control characters, no backslashes and no `.` or `..` segments. */
export const isCleanPath = (path: string): boolean => errorIn(path) === null;

/** `isCleanPath` as a zod check with a message. */
export const cleanPath: z.core.CheckFn<string> = ({ value, issues }) => {
  const message = errorIn(value);
  if (message) issues.push({ code: "custom", input: value, message });
};
