import * as z from "zod";

/** Schemas with a name in the API's documents; they refer to each other by it. */
export const NAMED = z.registry<{ id: string }>();
