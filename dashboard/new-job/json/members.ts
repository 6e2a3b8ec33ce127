// Known members of a request and their values, for completion and help in the JSON.
import { DEFAULT_LADDER } from "../../../shared/format/presets.ts";
import type { FormField, SchemaFields } from "../request/form-field.ts";
import { GOAL_NAMES, GOALS, outputsOf } from "../request/goals.ts";
import { OUTPUT_FIELDS } from "../request/output-fields.ts";
import { kindOf } from "../request/output-list.ts";
import { FIELDS } from "../request/schema-fields.ts";
import { NOTIFICATIONS, SETTINGS, type Service, SOURCES, STORAGES } from "../request/section-fields.ts";
import { CONTAINER_NAMES } from "../request/slots.ts";

export type Member = {
  readonly name: string;
  readonly label: string;
  readonly help: string;
  /** The JSON that follows a new name, with `|` at the cursor. */
  readonly start: string;
  /** Possible values as JSON. */
  readonly values: readonly string[];
};

const memberOf = (name: string, label: string, start = '"|"', values: readonly string[] = []): Member => ({
  name,
  label,
  start,
  values,
  help: "",
});
const texts = (values: readonly string[]): string[] => values.map((value) => JSON.stringify(value));

const ROOT = [
  memberOf("input", "Source", "{|}"),
  memberOf("outputs", "Outputs", "{|}"),
  memberOf("storage", "Where outputs go", "{|}"),
  memberOf("notification", "Notification", "{|}"),
  memberOf("settings", "Settings", "{|}"),
  memberOf("tags", "Names and values to find the job by", "{|}"),
  memberOf("template", "A template, such as web or web@3"),
  memberOf("vars", "Values of the template's variables", "{|}"),
];
const FORMATS = [
  ...GOAL_NAMES.flatMap((goal) =>
    outputsOf(goal, { size: "720p", quality: 4 }).map(({ format }) =>
      memberOf(format, GOALS[goal].label, '{ "path": "|" }'),
    ),
  ),
  ...CONTAINER_NAMES.map((name) => memberOf(name, "", '{ "path": "|" }')),
];

type Section = {
  readonly member: "service" | "type";
  readonly schemas: Readonly<Record<string, SchemaFields>>;
  readonly services: Readonly<Record<string, Service>>;
  readonly more?: SchemaFields;
};
const SECTIONS: Readonly<Record<string, Section>> = {
  input: { member: "service", schemas: FIELDS.sources, services: SOURCES },
  storage: { member: "service", schemas: FIELDS.storages, services: STORAGES, more: { use: { type: "text" } } },
  notification: { member: "type", schemas: FIELDS.notifications, services: NOTIFICATIONS },
};

/** The members of the object at a path. `textAt`: the text at another path of the request; empty if there is none. */
export function membersAt(path: readonly string[], textAt: (field: string) => string): readonly Member[] {
  const [section = "", ...rest] = path;
  if (section === "") return ROOT;
  if (section === "settings") return inside(FIELDS.settings, SETTINGS, rest);
  if (section === "outputs") {
    const [format, ...inner] = rest;
    if (format === undefined) return FORMATS;
    const kind = kindOf(format);
    const schema = FIELDS[kind === "audio" ? "video" : kind === "animated" ? "image" : kind];
    // Several outputs of a format are in an array.
    return inside(schema, OUTPUT_FIELDS[kind], /^\d+$/.test(inner[0] ?? "") ? inner.slice(1) : inner);
  }
  const known = Object.hasOwn(SECTIONS, section) ? SECTIONS[section] : undefined;
  if (known === undefined) return [];
  const { member, schemas, services, more = {} } = known;
  const chosen = textAt(`${section}.${member}`) || "url";
  const choices = Object.keys(schemas).filter((name) => name !== "url" && name !== "upload");
  const upload = chosen === "url" ? schemas.upload : {};
  const fields = { ...schemas[chosen], ...upload, ...more, [member]: { type: "choice", choices } as const };
  return inside(fields, services[chosen]?.fields ?? [], rest);
}

/** The members of the object at a path inside a section. */
function inside(fields: SchemaFields, labels: readonly FormField[], path: readonly string[]): Member[] {
  const prefix = path.map((name) => `${name}.`).join("");
  return Object.entries(fields).flatMap(([full, { type, choices = [] }]) => {
    const name = full.slice(prefix.length);
    if (!full.startsWith(prefix) || name.includes(".")) return [];
    const { label = "", help = "" } = labels.find(({ member }) => member === full) ?? {};
    const isObject = Object.keys(fields).some((other) => other.startsWith(`${full}.`));
    const start = isObject ? "{|}" : { list: '["|"]', numbers: "[|]", text: '"|"' }[type as string];
    return [{ name, label, help, start: start ?? "|", values: valuesOf(name, type, choices) }];
  });
}

function valuesOf(name: string, type: FormField["type"], choices: readonly string[]): readonly string[] {
  if (type === "flag") return ["true", "false"];
  if (name === "variants") return texts(DEFAULT_LADDER);
  return choices.every((choice) => /^\d+$/.test(choice)) ? choices : texts(choices);
}

/** The member with a path. The entries of an array have the values of the array. */
export function memberAt(path: readonly string[], textAt: (field: string) => string): Member | undefined {
  const names = /^\d+$/.test(path.at(-1) ?? "") ? path.slice(0, -1) : path;
  return membersAt(names.slice(0, -1), textAt).find(({ name }) => name === names.at(-1));
}
