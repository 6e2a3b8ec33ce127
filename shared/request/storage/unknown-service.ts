// What is said of a `service` that is missing or not known.
import { nearest } from "../../nearest.ts";
import { shown } from "../../shown.ts";

/** What people and other tools call the services. */
const OTHER_NAMES: Readonly<Record<string, readonly string[]>> = {
  s3: ["aws", "amazon", "amazons3", "awss3"],
  gcs: ["google", "googlecloud", "googlecloudstorage", "gcp", "gs"],
  dospaces: ["digitalocean", "digitaloceanspaces", "spaces", "do"],
  r2: ["cloudflare", "cloudflarer2"],
  linode: ["akamai"],
  backblaze: ["b2", "backblazeb2"],
  azure: ["azureblob", "azureblobstorage", "microsoft"],
  s3other: ["minio", "ceph", "s3compatible", "custom", "scaleway", "ovh", "hetzner"],
};

/** A sentence on `<section>.service`, which is none of `known`. */
export function unknownService(section: "storage" | "input", service: unknown, known: readonly string[]): string {
  const field = `\`${section}.service\``;
  const allowed = `llowed: ${known.join(", ")}`;
  const otherwise = `; or give \`${section}.url\``;
  if (service === undefined) return `${field} is missing; a${allowed}${otherwise}`;
  if (typeof service !== "string") return `${field} must be a string; a${allowed}`;
  const unknown = `${field} \`${shown(service)}\` is not known`;
  if (/^https?$/i.test(service)) return `${unknown}; for an address leave \`service\` out and give \`${section}.url\``;
  const meant = meantBy(service, known);
  return meant === null ? `${unknown}; a${allowed}${otherwise}` : `${unknown}; did you mean \`${meant}\`? A${allowed}`;
}

function meantBy(service: string, known: readonly string[]): string | null {
  const word = service.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
  const called = known.find((name) => name === word || OTHER_NAMES[name]?.includes(word));
  return called ?? nearest(word, known);
}
