import { LIMITS } from '#lib/util/limits.ts'

/** Returns whether a value is a token id. */
export const isTokenId = (value: unknown): value is number =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) <= LIMITS.tokenId
