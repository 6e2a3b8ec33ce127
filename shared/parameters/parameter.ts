// Declares parameters of outputs. The parsers, the API's description, the form of the dashboard, its completion and
// `--to` of the command line read the declarations.
import * as z from "zod";
import { nearest } from "../nearest.ts";

export type Declaration = {
  /** Absent if the form has no field, or fields for its members. The schema has its kind, limits and default. */
  readonly label?: string;
  /** Shown while the field is empty. */
  readonly example?: string;
  /** The unit of the value, and what else people should know. */
  readonly help?: string;
  /** Shown without opening "More". */
  readonly first?: true;
  readonly isSecret?: true;
  /** Outputs whose forms have the field; by default all that accept the parameter, or its object does. */
  readonly forms?: readonly ("video" | "image" | "animated" | "stream")[];
  /** Files without encoded video reject the parameter, and forms of audio lack it. */
  readonly changesVideo?: true;
  /** False if the value cannot be written in `--to jpg:320x:number=5`. */
  readonly cli?: false;
};

/**
 * The declared parameters of requests. Registration must be the last step of a schema, because wrapped schemas are
 * other schemas.
 */
export const PARAMETERS = z.registry<Declaration>();

/** The declarations of an object's parameters, by name. */
export const declarationsOf = ({ shape }: z.ZodObject): ReadonlyMap<string, Declaration> =>
  new Map(Object.entries(shape).map(([name, schema]) => [name, PARAMETERS.get(schema) ?? { cli: false }]));

export const flag = z.boolean("must be true or false");

export const whole = (min: number, max: number) =>
  z.int("must be a whole number").min(min, `must be ${min} or more`).max(max, `must be ${max} or less`);

export const oneOf = <Choice extends string>(choices: readonly Choice[]) =>
  z.enum(choices, { error: ({ input }) => `must be one of ${choices.join(", ")}${suggestionFor(input, choices)}` });

const suggestionFor = (given: unknown, choices: readonly string[]): string => {
  const meant = typeof given === "string" ? nearest(given.replaceAll(/[-_ ]/g, ""), choices) : null;
  return meant === null ? "" : `; did you mean \`${meant}\`?`;
};

/** A parameter that may be left out. Unlike `default`, the API's description states no default. */
export const orElse = <Schema extends z.ZodType>(schema: Schema, value: z.output<Schema>) =>
  schema.optional().transform((given) => given ?? value);

/** The values of these parameters among others; by default, as in a request without parameters. */
export const valuesOf = <Shape extends z.ZodRawShape>(
  shape: Shape,
  values: object = {},
): z.output<z.ZodObject<Shape>> => z.object(shape).parse(values);
