// The icon of all pages of the documentation.

/** An inline icon, so that browsers request no other. */
export const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 8 8'%3E%3Cpath d='M1 1v6l6-3z' fill='%230b6e5f'/%3E%3C/svg%3E";
