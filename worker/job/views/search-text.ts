// The text that searches in lists of jobs look at. It is stored in the job's row.
import type { OutputSpec } from "#shared/job/output-spec.ts";
import type { JobSpec } from "../../rpc/job-spec.ts";
import { shownSourceUrl } from "../../storage/source-url.ts";

/** The row is short (docs/costs.md), and few jobs have more. */
const MAX_BYTES = 1024;

/**
 * Lower-case lines: the id, the host and path of the input, the paths of the storage and of the outputs. At most 1024
 * bytes: searches do not find the rest.
 */
export function searchText(spec: Pick<JobSpec, "id" | "input" | "storage" | "outputs">): string {
  const { id, input, storage, outputs } = spec;
  const folder = "path" in storage ? [storage.path] : [];
  const lines = [id, readable(shownSourceUrl(input)), ...folder, ...outputs.flatMap(pathsOf)];
  return truncated(lines.join("\n").toLowerCase());
}

/** A URL without its scheme, and without percent-encoding, as people know it. */
function readable(url: string): string {
  const text = url.replace(/^\w+:\/\//, "");
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function pathsOf(output: OutputSpec): string[] {
  if (output.type === "httpstream") return [output.hls?.path, output.dash?.path].filter((path) => path !== undefined);
  return [output.path];
}

/** The text up to the limit, without half a character at its end. */
function truncated(text: string): string {
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= MAX_BYTES) return text;
  return new TextDecoder().decode(bytes.subarray(0, MAX_BYTES)).replace(/(?<!\uFFFD)\uFFFD+$/, "");
}
