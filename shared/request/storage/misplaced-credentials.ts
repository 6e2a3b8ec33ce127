// Credentials that are there, but in another place or under other names: said by name, never by value.
import { shown } from "../../shown.ts";
import { isObject } from "../parse-section.ts";

/** Names that clouds and their tools have for the halves of a credential. */
const KEY_NAME =
  /^(?:aws|azure|gcs|do|app|api|account|access|secret|storage|key|credential|user|password|token|hmac|b2)/i;

/** What is said of keys that are not where they belong; empty when there are none. */
export function strayCredentials(
  section: string,
  body: Readonly<Record<string, unknown>>,
  wanted: readonly [id: string, secret: string],
): string {
  const field = `${section}.credentials`;
  const both = wanted.map(quoted).join(", ");
  const { credentials } = body;
  if (credentials !== undefined && !isObject(credentials)) return `; \`${field}\` is no object`;
  const misnamed = isObject(credentials) ? Object.keys(credentials).filter((name) => !wanted.includes(name)) : [];
  if (misnamed.length > 0) return `; it has ${listed(misnamed)}; they are called ${both}`;
  if (isObject(credentials)) return "";
  const beside = Object.keys(body).filter((name) => wanted.includes(name) || KEY_NAME.test(name));
  if (beside.length === 0) return "";
  const verb = beside.length === 1 ? "stands" : "stand";
  return `; ${listed(beside)} ${verb} in \`${section}\`: they belong into \`${field}\`, as ${both}`;
}

const quoted = (name: string): string => `\`${shown(name)}\``;
const listed = (names: readonly string[]): string => names.slice(0, 4).map(quoted).join(", ");
