// Reads a request of another service and records the used fields, so that the unused fields can be reported.
import { type FieldRow, isObject, type Note } from "./note.ts";

/** A value at a path of the old request; undefined if it is missing. */
export class Reader {
  readonly path: string;
  readonly #value: unknown;
  readonly #used: Set<string>;

  constructor(value: unknown, path = "", used = new Set<string>()) {
    this.#value = value;
    this.path = path;
    this.#used = used;
  }

  /** True if the converter used this field of a table. */
  hasUsed(field: string): boolean {
    return [...this.#used].some((path) => matches(field, path));
  }

  get exists(): boolean {
    return this.#value !== undefined && this.#value !== null;
  }

  at(name: string | number): Reader {
    const value = isObject(this.#value)
      ? memberOf(this.#value, String(name))
      : Array.isArray(this.#value) && typeof name === "number"
        ? this.#value[name]
        : undefined;
    return new Reader(value, this.path === "" ? String(name) : `${this.path}.${name}`, this.#used);
  }

  /** Returns the first member that exists. */
  any(...names: readonly string[]): Reader {
    const [first = ""] = names;
    return this.at(names.find((name) => this.at(name).exists) ?? first);
  }

  /** Returns the entries of a list. A single value counts as a list with a single entry. */
  list(): readonly Reader[] {
    if (Array.isArray(this.#value)) return this.#value.map((_, at) => this.at(at));
    return this.exists ? [this] : [];
  }

  get isObject(): boolean {
    return isObject(this.#value);
  }

  /** Returns the names of an object's members. */
  names(): readonly string[] {
    return isObject(this.#value) ? Object.keys(this.#value) : [];
  }

  /** Returns a text, or a number or boolean as text. */
  text(): string | undefined {
    const value = this.#value;
    if (typeof value !== "string" && typeof value !== "number" && typeof value !== "boolean") return undefined;
    this.use();
    return String(value);
  }

  /** Returns a finite number, or a text that is a finite number. */
  number(): number | undefined {
    const text = this.text()?.trim();
    const value = text === undefined || text === "" ? Number.NaN : Number(text);
    return Number.isFinite(value) ? value : undefined;
  }

  /** True for true, `true`, `yes`, `on` and 1. */
  flag(): boolean {
    return /^(?:true|yes|on|1|enabled)$/i.test(this.text() ?? "");
  }

  /** Returns the raw value. The whole value counts as used. */
  whole(): unknown {
    this.use();
    return this.#value;
  }

  use(): void {
    this.#used.add(this.path);
  }

  /** Returns a note for each unused field with the reason from the table. Fields with the same reason share a note. */
  lost(rows: readonly FieldRow[]): Note[] {
    const reasons = rows.flatMap((row) => ("why" in row ? [row] : []));
    const fields: { readonly parent: string; readonly name: string; readonly why: string }[] = [];
    const report = (path: string, why: string): void => {
      const at = path.lastIndexOf(".");
      fields.push({ parent: path.slice(0, Math.max(0, at)), name: path.slice(at + 1), why });
    };
    const walk = (value: unknown, path: string): void => {
      if (path !== "" && this.#used.has(path)) return;
      if (value === null || value === undefined || value === "") return;
      // A reason for a whole object applies only if no part of the object was used.
      const isUsed = [...this.#used].some((used) => used.startsWith(`${path}.`));
      const row = isUsed ? undefined : reasons.find(({ field }) => matches(field, path));
      if (row) return report(path, row.why);
      const entries = Array.isArray(value) ? [...value.entries()] : isObject(value) ? Object.entries(value) : null;
      if (entries === null) return report(path, "is not known to the converter");
      for (const [name, member] of entries) walk(member, path === "" ? String(name) : `${path}.${name}`);
    };
    walk(this.#value, this.path);
    return grouped(fields);
  }
}

const memberOf = (value: Readonly<Record<string, unknown>>, name: string): unknown =>
  Object.hasOwn(value, name) ? value[name] : undefined;

function grouped(fields: readonly { readonly parent: string; readonly name: string; readonly why: string }[]): Note[] {
  const groups = Map.groupBy(fields, ({ parent, why }) => `${parent}\n${why}`);
  return [...groups.values()].map((same) => {
    const [{ parent, name, why } = { parent: "", name: "", why: "" }] = same;
    const prefix = parent === "" ? "" : `${parent}.`;
    const field = same.length === 1 ? `${prefix}${name}` : `${prefix}{${same.map((lost) => lost.name).join(", ")}}`;
    return { level: "lost", field, message: why };
  });
}

/** True if a field of a table, such as `outputs[].url`, matches a path, such as `outputs.0.url` or `outputs.url`. */
function matches(field: string, path: string): boolean {
  const parts = path.split(".").filter((part) => !/^\d+$/.test(part));
  const wanted = field.replaceAll("[]", "").split(".");
  return wanted.length === parts.length && wanted.every((part, at) => part === "*" || part === parts[at]);
}
