import { useEffect, useState } from 'react'

/** Time for which a message is shown, in milliseconds. */
const STANDS_MS = 4_000

/** Returns the last message, which disappears after a few seconds, and a function that shows a new one. */
export function useStatusMessage(): { readonly message: string; readonly say: (message: string) => void } {
  const [said, setSaid] = useState({ message: '' })
  useEffect(() => {
    if (said.message === '') return
    // A newer message may already be set, but not yet rendered, when the time of this one ends.
    const timer = setTimeout(() => setSaid((last) => (last === said ? { message: '' } : last)), STANDS_MS)
    return () => clearTimeout(timer)
  }, [said])
  return { message: said.message, say: (message) => setSaid({ message }) }
}
