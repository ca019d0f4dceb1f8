/** What a Retry-After header asks for: seconds or an HTTP date. The past, nothing and nonsense are no wish. */
export function retryAfterMs(header: string | undefined, now: Date): number | undefined {
  const text = header?.trim() ?? ''
  const ms = /^\d+(\.\d+)?$/.test(text)
    ? Number(text) * 1000
    : HTTP_DATE.test(text)
      ? Date.parse(text) - now.getTime()
      : Number.NaN
  return Number.isFinite(ms) && ms > 0 ? ms : undefined
}

/** RFC 9110’s forms that name their zone; Date.parse alone reads a date into any number. */
const HTTP_DATE = /^[A-Z][a-z]{2,8}, .* GMT$/
