// Rejects outputs that would replace their source in a folder on nodes.
import { joinPath } from "../../job/object-name.ts";
import type { OutputSpec } from "../../job/output-spec.ts";
import { ok, type Result } from "../../result.ts";
import type { RequestedInput } from "../input-section.ts";
import { invalid } from "../parse-section.ts";
import type { RequestedStorage } from "../storage/storage-spec.ts";
import { writes, writtenBy } from "./output-objects.ts";

/** Only folders are compared: services of buckets keep versions, and have other names for the same bucket. */
export function checkSourceKept(
  outputs: OutputSpec[],
  input: RequestedInput,
  storage: RequestedStorage,
): Result<OutputSpec[]> {
  if (input.kind !== "folder" || storage.kind !== "folder" || input.folder !== storage.folder) return ok(outputs);
  // A share of a NAS may not distinguish letter case.
  const source = joinPath("", input.key).toLowerCase();
  const replaces = (output: OutputSpec): boolean =>
    writtenBy(output).some(({ path, count }) =>
      writes({ path: joinPath(storage.path, path).toLowerCase(), count }, source),
    );
  const replacing = outputs.find(replaces);
  if (!replacing) return ok(outputs);
  return invalid(
    "output_param_not_valid",
    `The \`path\` of the output \`${replacing.key}\` must not be the source itself`,
  );
}
