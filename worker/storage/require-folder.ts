// The folders that the operator has given to accounts.
import { AppError } from "#shared/errors.ts";
import { type SettingsVariables, settingsOf } from "../settings.ts";

export type FolderUser = { readonly env: SettingsVariables; readonly account: { readonly id: string } };

/** Throws AppError(input_not_valid | storage_not_valid) if the account may not use the folder. */
export function requireFolder({ env, account }: FolderUser, section: "input" | "storage", folder: string): void {
  const { folders } = settingsOf(env);
  const available = [...folders].filter(([, accounts]) => accounts.has("*") || accounts.has(account.id));
  const names = available.map(([name]) => name);
  if (names.includes(folder)) return;
  const advice =
    names.length === 0 ? "the account has no folders" : `the folders of the account are ${names.join(", ")}`;
  throw new AppError(`${section}_not_valid`, `\`${section}.folder\` \`${folder}\` is not available: ${advice}`);
}
