/**
 * Returns a function that shares one request among all callers. The first caller starts the request, others wait for it, and
 * later callers get its result. A caller that leaves does not affect the others; when nobody waits, the request is aborted. A
 * failure rejects all waiting callers, and later callers start again.
 */
export function singleFlight<T>(): (ask: (signal: AbortSignal) => Promise<T>, signal: AbortSignal) => Promise<T> {
  let inFlight: { readonly answer: Promise<T>; readonly takenBack: AbortController; waiting: number } | undefined
  return async (ask, signal) => {
    signal.throwIfAborted()
    if (!inFlight) {
      const takenBack = new AbortController()
      inFlight = { answer: ask(takenBack.signal), takenBack, waiting: 0 }
    }
    const own = inFlight
    own.waiting++
    const left = Promise.withResolvers<never>()
    const leave = () => left.reject(signal.reason)
    signal.addEventListener('abort', leave)
    try {
      return await Promise.race([own.answer, left.promise])
    } catch (error) {
      if (inFlight === own && (!signal.aborted || own.waiting === 1)) inFlight = undefined
      throw error
    } finally {
      own.waiting--
      if (own.waiting === 0) own.takenBack.abort()
      signal.removeEventListener('abort', leave)
    }
  }
}
