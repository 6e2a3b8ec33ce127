// copra convert: converts a request of another service to a job.
import { convertText } from "#shared/convert/convert.ts";
import type { Note } from "#shared/convert/note.ts";
import { OLD_SERVICES, type OldService, SERVICE_NAMES } from "#shared/convert/services.ts";
import type { Run } from "../command-spec.ts";
import { textOption } from "../context.ts";
import { usageError } from "../exit.ts";
import { readText } from "../read-json.ts";
import { printableJson } from "../terminal/printable.ts";

/** Writes the request to standard output. Writes dropped fields and fields to fill in to standard error. */
export const convert: Run = async ({ output }, [file = "-"], options) => {
  const from = textOption(options, "from");
  const result = convertText(readText(file), isService(from) ? from : undefined);
  if (!result.ok) throw usageError(`${file}: ${result.error}`);
  const { request, notes } = result.converted;
  output.data({ service: result.service, request, notes }, () => printableJson(request, 2));
  if (!output.json) output.words(wordsOf(notes, result.service));
};

const isService = (text: string | undefined): text is OldService => OLD_SERVICES.some((name) => name === text);

const TITLES = { todo: "To fill in", lost: "Not carried over", changed: "Works differently" } as const;

function wordsOf(notes: readonly Note[], service: OldService): string {
  const sections = (["todo", "lost", "changed"] as const).flatMap((level) => {
    const lines = notes.flatMap((note) => (note.level === level ? [`  ${note.field}: ${note.message}`] : []));
    return lines.length === 0 ? [] : [`${TITLES[level]}:`, ...lines];
  });
  const first = `Converted from ${SERVICE_NAMES[service]}`;
  return [sections.length === 0 ? `${first}: everything was carried over` : first, ...sections].join("\n");
}
