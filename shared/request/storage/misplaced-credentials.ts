// Credentials in the wrong place or with wrong names: errors repeat their names, never their values.
import { shown } from "../../shown.ts";
import { isObject } from "../parse-section.ts";

/** Names that cloud providers and tools use for credentials. */
const KEY_NAME =
  /^(?:aws|azure|gcs|do|app|api|account|access|secret|storage|key|credential|user|password|token|hmac|b2)/i;

/** The part of the error message about misplaced credentials; empty when there are none. */
export function misplacedCredentials(
  section: string,
  body: Readonly<Record<string, unknown>>,
  wanted: readonly [id: string, secret: string],
): string {
  const field = `${section}.credentials`;
  const both = wanted.map(quoted).join(", ");
  const { credentials } = body;
  if (credentials !== undefined && !isObject(credentials)) return `; \`${field}\` must be an object`;
  const misnamed = isObject(credentials) ? Object.keys(credentials).filter((name) => !wanted.includes(name)) : [];
  if (misnamed.length > 0) return `; it has ${listed(misnamed)}; use the names ${both}`;
  if (isObject(credentials)) return "";
  const misplaced = Object.keys(body).filter((name) => wanted.includes(name) || KEY_NAME.test(name));
  if (misplaced.length === 0) return "";
  return `; move ${listed(misplaced)} from \`${section}\` to \`${field}\`, with the names ${both}`;
}

const quoted = (name: string): string => `\`${shown(name)}\``;
const listed = (names: readonly string[]): string => names.slice(0, 4).map(quoted).join(", ");
