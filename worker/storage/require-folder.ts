// The folders that the operator has given to accounts.
import { AppError, type Failure } from "#shared/errors.ts";
import type { InputSpec } from "#shared/request/input-section.ts";
import type { StorageSpec } from "#shared/request/storage/storage-spec.ts";
import { type Settings, type SettingsVariables, settingsOf } from "../settings.ts";

export type FolderUser = { readonly env: SettingsVariables; readonly account: { readonly id: string } };

/** Throws AppError(input_not_valid | storage_not_valid) if the account may not use the folder. */
export function requireFolder({ env, account }: FolderUser, section: "input" | "storage", folder: string): void {
  const names = foldersOf(settingsOf(env), account.id);
  if (names.includes(folder)) return;
  const advice =
    names.length === 0 ? "the account has no folders" : `the folders of the account are ${names.join(", ")}`;
  throw new AppError(`${section}_not_valid`, `\`${section}.folder\` \`${folder}\` is not available: ${advice}`);
}

type Owned = { readonly accountId: string; readonly input: InputSpec; readonly storage: StorageSpec };

/** Returns why a job must end: the operator has taken a folder from its account. Otherwise null. */
export function takenFolder({ accountId, input, storage }: Owned, settings: Settings): Failure | null {
  const names = foldersOf(settings, accountId);
  const message = (folder: string): string =>
    `The account may no longer use the folder \`${folder}\`; ask the operator, who has changed FOLDERS.`;
  if (input.kind === "folder" && !names.includes(input.folder))
    return { code: "input_http_403", message: message(input.folder) };
  if (storage.kind === "folder" && !names.includes(storage.folder))
    return { code: "storage_denied", message: message(storage.folder) };
  return null;
}

const foldersOf = ({ folders }: Settings, accountId: string): string[] =>
  [...folders].flatMap(([name, accounts]) => (accounts.has("*") || accounts.has(accountId) ? [name] : []));
