// A section of the request whose fields depend on a choice: storages and notifications.
import { useId } from "preact/hooks";
import { isObject, withValue } from "../request/edit.ts";
import type { Service } from "../request/section-fields.ts";
import type { Json } from "../secrets.ts";
import { Below } from "./field.tsx";
import { Fields } from "./fields.tsx";
import { useFieldError } from "./form-context.ts";

/** `member`: the member of the section with the service's name. A `url` without it means the service `url`. */
export function ServiceForm({
  name,
  member,
  label,
  services,
  section,
  set,
}: {
  readonly name: string;
  readonly member: "service" | "type";
  readonly label: string;
  readonly services: Readonly<Record<string, Service>>;
  readonly section: Json;
  readonly set: (section: Json) => void;
}) {
  const id = useId();
  const field = `${name}.${member}`;
  const error = useFieldError(field);
  const chosen = chosenIn(section, member);
  const service = Object.hasOwn(services, chosen) ? services[chosen] : undefined;
  const choose = (next: string): void => set(switched(section, member, next, services));
  return (
    <>
      <div class="field">
        <label for={id}>{label}</label>
        <select
          id={id}
          data-field={field}
          value={chosen}
          aria-invalid={error === undefined ? undefined : true}
          onChange={(event) => choose(event.currentTarget.value)}
        >
          {service === undefined && <option value={chosen}>{chosen === "" ? "Choose …" : chosen}</option>}
          {Object.entries(services).map(([value, one]) => (
            <option key={value} value={value}>
              {one.label}
            </option>
          ))}
        </select>
        <Below id={undefined} error={error} help={undefined} />
      </div>
      {section.service === "coconut" && (
        <p class="notice warn">Public, deleted after a day: anyone with the URL of a result can read it.</p>
      )}
      {service !== undefined && (
        <Fields
          fields={service.fields}
          name={name}
          section={section}
          change={(path, value) => set(withValue(section, path, value))}
        />
      )}
    </>
  );
}

/** The name of the service; `use:main` for a saved storage. */
function chosenIn(section: Json, member: string): string {
  if ("use" in section) return `use:${String(section.use)}`;
  return typeof section[member] === "string" ? section[member] : "url" in section ? "url" : "";
}

/** The section for another service, with the members that both services have. */
function switched(section: Json, member: string, next: string, services: Readonly<Record<string, Service>>): Json {
  const known = new Set(services[next]?.fields.map((field) => field.member.split(".")[0]));
  const secrets = services[next]?.fields.map((field) => field.member) ?? [];
  const keptEntries = Object.entries(section).filter(([name, value]) =>
    name === "credentials" && isObject(value)
      ? Object.keys(value).every((key) => secrets.includes(`credentials.${key}`))
      : known.has(name),
  );
  const chosen = next.startsWith("use:") ? { use: next.slice(4) } : next === "url" ? { url: "" } : { [member]: next };
  return { ...chosen, ...Object.fromEntries(keptEntries) };
}
