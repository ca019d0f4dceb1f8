'use client'
/** Whether a setup is being shared, or one that came with the address is looked at. */
import { useEffect, useState } from 'react'

interface Sharing {
  /** The part of the address that brought a setup; undefined: one is to be shared. */
  readonly hash: string | undefined
}

/** What is shared or looked at, a way to share, and a way to end either. */
export function useSharedSetup(): readonly [Sharing | undefined, () => void, () => void] {
  const [sharing, setSharing] = useState<Sharing>()
  // A setup that came with the address is looked at first.
  useEffect(() => {
    const look = () => window.location.hash.startsWith('#setup=') && setSharing({ hash: window.location.hash })
    look()
    window.addEventListener('hashchange', look)
    return () => window.removeEventListener('hashchange', look)
  }, [])
  const close = () => {
    setSharing(undefined)
    const { pathname, search, hash } = window.location
    if (hash.startsWith('#setup=')) window.history.replaceState(window.history.state, '', pathname + search)
  }
  return [sharing, () => setSharing({ hash: undefined }), close]
}
