// Converts bucket URLs, such as s3://key:secret@bucket/path, to storages and sources of requests.
import type { Json } from "./note.ts";

/** A storage or source, and the name of an object in it. */
export type Place = { readonly storage: Json; readonly key: string };

/** A place, an http(s) URL of no known bucket, or an error. */
export type Located =
  | { readonly kind: "bucket"; readonly place: Place }
  | { readonly kind: "url"; readonly url: string }
  | { readonly kind: "none"; readonly why: string };

/** The user has no slash, so that an `@` in a path does not end a user. A secret may have slashes. */
const BUCKET_URL = /^([a-z0-9]+)(?:\+([a-z0-9-]+))?:\/\/(?:([^@:/]+):([^@]+)@)?([^/?]+)(?:\/([^?]*))?(?:\?(.*))?$/i;
const S3_HOST = /^https?:\/\/([a-z0-9.-]+)\.s3(?:[.-]([a-z0-9-]+))?\.amazonaws\.com\/([^?#]*)$/i;
const S3_PATH = /^https?:\/\/s3(?:[.-]([a-z0-9-]+))?\.amazonaws\.com\/([^/?#]+)\/([^?#]*)$/i;

const UNSUPPORTED: Readonly<Record<string, string>> = {
  ftp: "FTP",
  ftps: "FTP",
  sftp: "SFTP",
  aspera: "Aspera",
  rsync: "rsync",
  cf: "Rackspace Cloud Files",
  os: "OpenStack Swift",
  dropbox: "Dropbox",
};

export function locate(url: string): Located {
  const text = url.trim();
  if (/^https?:/i.test(text)) return locateHttp(text);
  const [, scheme = "", region, user, secret, bucket = "", key = "", query = ""] = BUCKET_URL.exec(text) ?? [];
  const service = scheme.toLowerCase();
  const unsupported = Object.hasOwn(UNSUPPORTED, service) ? UNSUPPORTED[service] : undefined;
  if (unsupported !== undefined) return { kind: "none", why: `${unsupported} is not supported` };
  if (bucket === "") return { kind: "none", why: "is not a URL that the converter knows" };
  const keys = { user: decoded(user), secret: decoded(secret) };
  const storage = storageOf(service, { region, bucket, query: queryOf(query), ...keys });
  if (storage === null) return { kind: "none", why: "is a storage that the converter does not know" };
  return { kind: "bucket", place: { storage, key } };
}

function locateHttp(url: string): Located {
  const [, hostBucket, hostRegion, hostKey] = S3_HOST.exec(url) ?? [];
  const [, pathRegion, pathBucket, pathKey] = S3_PATH.exec(url) ?? [];
  const bucket = hostBucket ?? pathBucket;
  const region = hostRegion ?? pathRegion;
  if (bucket === undefined) return { kind: "url", url };
  const storage = { service: "s3", bucket, ...(region === undefined ? {} : { region }) };
  return { kind: "bucket", place: { storage, key: decoded(hostKey ?? pathKey) ?? "" } };
}

type Query = ReadonlyMap<string, string>;
const queryOf = (text: string): Query =>
  new Map(
    text.split("&").map((pair) => {
      const [name = "", ...value] = pair.split("=");
      return [name, decoded(value.join("=")) ?? ""];
    }),
  );

type Parts = {
  readonly region: string | undefined;
  readonly bucket: string;
  readonly user: string | undefined;
  readonly secret: string | undefined;
  readonly query: Query;
};

function storageOf(scheme: string, parts: Parts): Json | null {
  const { bucket, user, secret } = parts;
  const keys = user === undefined ? {} : { credentials: { access_key_id: user, secret_access_key: secret ?? "" } };
  switch (scheme) {
    case "s3":
      return { ...s3Place(parts), ...keys, ...headersOf(parts.query) };
    case "gcs":
    case "gs":
      return { service: "gcs", bucket, ...keys };
    case "azure":
    case "az": {
      const pair = user === undefined ? {} : { credentials: { account: user, api_key: secret ?? "" } };
      return { service: "azure", container: bucket, ...pair };
    }
    case "b2": {
      const pair = user === undefined ? {} : { credentials: { app_key_id: user, app_key: secret ?? "" } };
      return { service: "backblaze", bucket_id: bucket, ...pair };
    }
    default:
      return null;
  }
}

/** Returns the storage of an S3 URL. The `host` parameter decides the service. */
function s3Place({ region, bucket, query }: Parts): Json {
  const host = query.get("host")?.toLowerCase() ?? "";
  const place = region ?? query.get("region");
  if (host === "" || /^s3[.-]?[a-z0-9-]*\.amazonaws\.com$/.test(host)) {
    const ofHost = /^s3[.-]([a-z0-9-]+)\./.exec(host)?.[1];
    return { service: "s3", bucket, ...regionOf(place ?? ofHost) };
  }
  if (host === "storage.googleapis.com") return { service: "gcs", bucket };
  const [, named] = /^(?:s3\.)?([a-z0-9-]+)\.(?:digitaloceanspaces|linodeobjects|wasabisys)\.com$/.exec(host) ?? [];
  const known = ["digitaloceanspaces", "linodeobjects", "wasabisys"].findIndex((name) => host.includes(`${name}.com`));
  const service = ["dospaces", "linode", "wasabi"][known];
  if (service !== undefined) return { service, bucket, ...regionOf(named === "s3" ? "us-east-1" : named) };
  return { service: "s3other", bucket, endpoint: `https://${host}`, ...regionOf(place) };
}

const regionOf = (region: string | undefined): Json => (region === undefined ? {} : { region });

/** Returns the object headers in the query of an S3 URL. */
function headersOf(query: Query): Json {
  const of = (header: string, field: string): Json => {
    const value = query.get(header);
    return value === undefined ? {} : { [field]: value };
  };
  return {
    ...of("x-amz-acl", "acl"),
    ...of("x-amz-storage-class", "storage_class"),
    ...of("cache-control", "cache_control"),
  };
}

function decoded(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Returns the location of the storage, without credentials and options. */
export const identityOf = ({ service, bucket, container, bucket_id, endpoint, url }: Json): string =>
  [service, bucket, container, bucket_id, endpoint, url].map((part) => part ?? "").join("|");
