import { useEffect, useState } from 'react'

/** Long enough to be read, short enough not to stand about. */
const STANDS_MS = 4_000

/** What was last said, for a moment. */
export function useStatusMessage(): { readonly said: string; readonly say: (message: string) => void } {
  const [said, setSaid] = useState({ message: '' })
  useEffect(() => {
    if (said.message === '') return
    const timer = setTimeout(() => setSaid({ message: '' }), STANDS_MS)
    return () => clearTimeout(timer)
  }, [said])
  return { said: said.message, say: (message) => setSaid({ message }) }
}
