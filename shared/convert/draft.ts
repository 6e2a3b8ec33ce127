// Builds a request of this service from a request of another service.
import { type Converted, isObject, type Json, type Note, type NoteLevel } from "./note.ts";
import { identityOf, type Located, locate, type Place } from "./places.ts";

const MAX_OUTPUTS = 30;
/** Services whose objects can be sources. */
const SOURCE_SERVICES: ReadonlySet<unknown> = new Set(["s3", "gcs", "dospaces", "linode", "wasabi", "r2", "s3other"]);
const SOURCE_NAMES: ReadonlySet<string> = new Set(["input", "source"]);

export class Draft {
  readonly #notes: Note[] = [];
  readonly #outputs: { readonly format: string; readonly params: Json }[] = [];
  readonly #keys = new Set<string>();
  readonly #paths = new Set<string>();
  #input: Json | null = null;
  #storage: Json | null = null;
  #options: Json = {};
  #notification: Json | null = null;
  #settings: Json = {};

  note(level: NoteLevel, field: string, message: string): void {
    const isKnown = this.#notes.some(
      (note) => note.level === level && note.message === message && (note.field === field || level === "changed"),
    );
    if (!isKnown) this.#notes.push({ level, field, message });
  }

  lost(field: string, message: string): void {
    this.note("lost", field, message);
  }

  /** Sets the source by a URL of any kind. */
  inputUrl(url: string, field: string): void {
    const located = locate(url);
    if (located.kind === "url") this.#input = { url: located.url };
    else if (located.kind === "none") this.lost(field, located.why);
    else this.inputAt(located.place, field);
  }

  inputAt({ storage, key }: Place, field: string): void {
    if (SOURCE_SERVICES.has(storage.service)) {
      const { acl: _acl, storage_class: _class, cache_control: _cache, ...bucket } = storage;
      this.#input = { ...bucket, key };
    } else this.lost(field, "sources are read from http(s) URLs and S3-compatible buckets: use a signed URL");
  }

  /** Sets the input section as it is. */
  set input(section: Json) {
    this.#input = section;
  }

  /** Returns the path of an output at a URL. The bucket of the first output becomes the job's storage. */
  outputPath(url: string, field: string): string {
    return this.#pathAt(locate(url), url, field);
  }

  #pathAt(located: Located, url: string, field: string): string {
    if (located.kind === "bucket") {
      this.storageAt(located.place.storage, field);
      return located.place.key;
    }
    const path = url.replace(/^[a-z0-9+]+:\/\/[^/]*\/?/i, "").replace(/[?#].*/s, "");
    if (located.kind === "none") this.lost(field, located.why);
    else this.storageAt({ url: new URL(located.url).origin }, field);
    return path;
  }

  storageAt(storage: Json, field: string): void {
    if (this.#storage === null) this.#storage = storage;
    else if (identityOf(this.#storage) !== identityOf(storage)) {
      this.lost(
        field,
        "a job has one storage: the output is stored in the storage of the first output; send a job for each",
      );
    } else this.#storage = { ...storage, ...this.#storage };
  }

  /** Adds storage fields other than its location, such as `acl`. */
  storageOptions(options: Json): void {
    this.#options = { ...this.#options, ...options };
  }

  output(format: string, { key, path, ...rest }: Json, field: string): void {
    const params = {
      ...(typeof key === "string" ? this.#key(key, field) : {}),
      ...(typeof path === "string" ? { path: this.#path(path, format, field) } : {}),
      ...rest,
    };
    this.#outputs.push({ format, params });
  }

  #key(label: string, field: string): Json {
    const key = label.replaceAll(/[^\w:.=, -]/g, "-").slice(0, 128);
    if (key === "" || SOURCE_NAMES.has(key) || this.#keys.has(key)) {
      this.lost(field, "its name is taken: the key of the output is its format");
      return {};
    }
    this.#keys.add(key);
    return { key };
  }

  /** Returns a unique path without a leading slash. */
  #path(path: string, format: string, field: string): string {
    const clean = path
      .split("/")
      .filter((part) => part !== "" && part !== "." && part !== "..")
      .join("/")
      .replaceAll(/[\\\p{Cc}]/gu, "-");
    const named = clean === "" ? `output.${format.split(":")[0]}` : clean;
    if (!this.#paths.has(named)) {
      this.#paths.add(named);
      return named;
    }
    const dot = named.lastIndexOf(".") > named.lastIndexOf("/") ? named.lastIndexOf(".") : named.length;
    const other = `${named.slice(0, dot)}-${this.#outputs.length + 1}${named.slice(dot)}`;
    this.#paths.add(other);
    this.note("changed", field, "two outputs had one path: a number makes them different");
    return other;
  }

  /** Sets the notification URL. Only the first valid URL is used; the others are lost. */
  notify(url: string, field: string): void {
    if (!/^https?:\/\//i.test(url)) this.lost(field, "notifications are sent to http(s) URLs and SNS topics");
    else if (this.#notification !== null && this.#notification.url !== url) this.lost(field, "a job notifies one URL");
    else this.#notification = { type: "http", url };
  }

  notifyTopic(arn: string, field: string): void {
    const region = /^arn:aws[a-z-]*:sns:([a-z0-9-]+):\d{12}:/.exec(arn)?.[1];
    if (region === undefined) this.lost(field, "is not the ARN of an SNS topic");
    else if (this.#notification === null || this.#notification.topic_arn !== arn) {
      if (this.#notification !== null) this.lost(field, "a job notifies one topic");
      else this.#notification = { type: "sns", region, topic_arn: arn };
    }
  }

  /** Adds options of the notification, such as `events`. */
  notificationOptions(options: Json): void {
    if (this.#notification !== null) this.#notification = { ...this.#notification, ...options };
  }

  settings(settings: Json): void {
    this.#settings = { ...this.#settings, ...settings };
  }

  get isEmpty(): boolean {
    return this.#outputs.length === 0;
  }

  /** Returns the request. `lost`: notes about unused fields of the old request. */
  finish(lost: readonly Note[] = []): Converted {
    const storage = this.#storage === null ? {} : { ...this.#storage, ...this.#fittingOptions(this.#storage) };
    const todo = (field: string, message: string): void => this.note("todo", field, message);
    const request: Json = {
      input: withNeeds(this.#input ?? {}, "input", todo),
      storage: withNeeds(storage, "storage", todo),
      outputs: this.#outputsSection(),
      notification: withTopicKeys(this.#notification ?? { type: "none" }, todo),
      ...(Object.keys(this.#settings).length === 0 ? {} : { settings: this.#settings }),
    };
    return { request, notes: [...this.#notes, ...lost] };
  }

  /** Drops ACLs and storage classes for Azure, Backblaze and upload URLs, which have none. */
  #fittingOptions({ service }: Json): Json {
    if (SOURCE_SERVICES.has(service)) return this.#options;
    const { path, ...others } = this.#options;
    for (const name of Object.keys(others)) this.lost(`storage.${name}`, "this storage has no such option");
    return path === undefined ? {} : { path };
  }

  #outputsSection(): Json {
    if (this.isEmpty) this.note("todo", "outputs", "the old request has no outputs that can be converted");
    const outputs = this.#outputs.slice(0, MAX_OUTPUTS);
    if (this.#outputs.length > MAX_OUTPUTS) this.lost("outputs", `a job has at most ${MAX_OUTPUTS} outputs`);
    const byFormat = Map.groupBy(outputs, ({ format }) => format);
    return Object.fromEntries(
      [...byFormat].map(([format, same]) => {
        const [only, ...others] = same.map(({ params }) => params);
        return [format, others.length === 0 ? only : [only, ...others]];
      }),
    );
  }
}

/** Empty credentials, which this service needs and the old request does not have. */
const KEYS = { access_key_id: "", secret_access_key: "" };

/** Notes a field that a person must fill in. */
type Todo = (field: string, message: string) => void;

/** Adds empty fields for values that the old request does not have. */
function withNeeds(section: Json, name: "input" | "storage", todo: Todo): Json {
  if (Object.keys(section).length === 0) {
    todo(name, `the old request does not name ${name === "input" ? "the source" : "a storage"}`);
    return name === "input" ? { url: "" } : { service: "s3", bucket: "", region: "", credentials: KEYS };
  }
  const { service } = section;
  if (typeof service !== "string" || service === "coconut") return section;
  const filled: Record<string, unknown> = { ...section };
  if (service === "s3" && section.region === undefined) {
    filled.region = "us-east-1";
    todo(`${name}.region`, "the old request does not name the region; us-east-1 is a guess");
  }
  if (!isObject(section.credentials)) {
    filled.credentials = service === "azure" ? { account: "", api_key: "" } : KEYS;
    todo(`${name}.credentials`, "the old service had access to the bucket; this service needs keys");
  }
  return filled;
}

/** Adds empty keys to a notification that is sent to a topic. */
function withTopicKeys(notification: Json, todo: Todo): Json {
  if (notification.type !== "sns") return notification;
  todo("notification.credentials", "a key with the permission sns:Publish for the topic");
  return { ...notification, credentials: KEYS };
}
