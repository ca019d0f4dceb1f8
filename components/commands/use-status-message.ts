import { useEffect, useState } from 'react'

/** Time for which a message is shown, in milliseconds. */
const VISIBLE_MS = 4_000

/** Returns the last message, which disappears after a few seconds, and a function that shows a new one. */
export function useStatusMessage(): { readonly message: string; readonly say: (message: string) => void } {
  const [status, setStatus] = useState({ message: '' })
  useEffect(() => {
    if (status.message === '') return
    // A newer message may already be set, but not yet rendered, when the time of this one ends.
    const timer = setTimeout(() => setStatus((last) => (last === status ? { message: '' } : last)), VISIBLE_MS)
    return () => clearTimeout(timer)
  }, [status])
  return { message: status.message, say: (message) => setStatus({ message }) }
}
