// The part of the world in which Cloudflare keeps and runs the objects.
import type { SettingsVariables } from "../settings.ts";

export type JurisdictionVariable = Pick<SettingsVariables, "JURISDICTION">;

/** The namespace in JURISDICTION; without it, objects are where their first request came from. */
export const inJurisdiction = <Rpc extends Rpc.DurableObjectBranded | undefined>(
  namespace: DurableObjectNamespace<Rpc>,
  { JURISDICTION }: JurisdictionVariable,
): DurableObjectNamespace<Rpc> =>
  JURISDICTION ? namespace.jurisdiction(JURISDICTION as DurableObjectJurisdiction) : namespace;
