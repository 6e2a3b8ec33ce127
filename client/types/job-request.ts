// The body of a new job. Its sections come from the API; the names of its outputs are formats (format-key.ts).
import type {
  HttpStreamParams,
  ImageParams,
  InputRequest,
  Notification,
  Settings,
  Storage,
  Tags,
  TextParams,
  VideoParams,
} from "./api.ts";
import type { CommonFormat, FormatKind } from "./format-key.ts";

type OneOrMany<Params> = Params | readonly Params[];
type ParamsByKind = {
  video: OneOrMany<VideoParams>;
  image: OneOrMany<ImageParams>;
  text: OneOrMany<TextParams>;
  httpstream: OneOrMany<HttpStreamParams>;
};
export type AnyOutputParams = ParamsByKind[keyof ParamsByKind];

/** The type of a property whose name is not a format. The compiler's message then contains the name. */
export type NotAFormat<Key extends string> = { readonly "this is not a format": Key };

/** The parameters of an output by its format. */
export type ParamsOf<Key extends string> = string extends Key
  ? AnyOutputParams
  : [FormatKind<Key>] extends [never]
    ? NotAFormat<Key>
    : ParamsByKind[FormatKind<Key>];

export type Outputs<Key extends string = string> = { readonly [Format in Key]: ParamsOf<Format> } & Suggested<Key>;
type Suggested<Key extends string> = string extends Key
  ? unknown
  : { readonly [Format in CommonFormat]?: ParamsOf<Format> };

/** A job from a template. Its other sections are merged over the template (RFC 7396): null removes a field. */
export type TemplateJob = {
  /** Such as `web`, or `web@3` for a version */
  readonly template: string;
  /** The values of the template's variables */
  readonly vars?: Readonly<Record<string, unknown>> | undefined;
  readonly input?: object | undefined;
  readonly storage?: object | undefined;
  readonly outputs?: object | undefined;
  readonly notification?: object | undefined;
  readonly settings?: object | undefined;
  readonly tags?: object | undefined;
};

/** A new job. `Key` are the formats of its outputs. */
export type JobRequest<Key extends string = string> = {
  /** The media file */
  readonly input: InputRequest;
  /** Where to store the outputs: a storage, or a saved storage with the fields to change */
  readonly storage: Storage | { readonly use: string; readonly [field: string]: unknown };
  /** Each property is an output, or a list of outputs, with its format as the name */
  readonly outputs: Outputs<Key>;
  /** Where to send the events of the job */
  readonly notification: Notification | readonly Notification[];
  /** Settings of the job */
  readonly settings?: Settings | undefined;
  /** Names and values to find the job by */
  readonly tags?: Tags | undefined;
};
