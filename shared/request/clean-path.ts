// Paths that stay where they are joined to, and that every storage can hold.
import type * as z from "zod";

/** What a path must be and is not; null when nothing is wrong with it. */
function faultOf(path: string): string | null {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: refusing control characters is the point
  if (/[\u0000-\u001f\u007f]/.test(path)) return "must be without control characters";
  if (path.includes("\\")) return "must be without backslashes: folders are separated by `/`";
  const walks = path.split("/").some((part) => part === "." || part === "..");
  return walks ? "must be a path without `.` or `..` parts" : null;
}

/** Whether a path has neither control characters, backslashes nor parts that walk elsewhere. */
export const isCleanPath = (path: string): boolean => faultOf(path) === null;

/** The same as a zod check, which says what is wrong. */
export const cleanPath: z.core.CheckFn<string> = ({ value, issues }) => {
  const message = faultOf(value);
  if (message) issues.push({ code: "custom", input: value, message });
};
