/** Addresses of drift reports, as corpus-address.ts reads them. */

/** Keys that an address holds: servers refuse those that are much longer. */
export const MOST_IN_ADDRESS = 200

export const reportOfKeysHref = (keys: readonly string[]): string =>
  `/compare/corpus?${new URLSearchParams({ keys: keys.map((key) => key.replaceAll(',', '%2C')).join(',') })}`

/** `filter`: as the library's address has it. */
export const reportOfLibraryHref = (filter: Readonly<Record<string, string>>): string =>
  `/compare/corpus?${new URLSearchParams({ library: 'true', ...filter })}`
