'use client'
/** Whether something is being shared, or what came with the address is looked at. */
import { useEffect, useState } from 'react'
import type { LinkName } from '#lib/util/link-hash.ts'

interface Sharing {
  /** The part of the address that brought something; undefined: what is here is to be shared. */
  readonly hash: string | undefined
}

/** What is shared or looked at, a way to share, and a way to end either. `name`: of what the address brings, in `#name=`. */
export function useSharing(name: LinkName): readonly [Sharing | undefined, () => void, () => void] {
  const [sharing, setSharing] = useState<Sharing>()
  // What came with the address is looked at first.
  useEffect(() => {
    const look = () => window.location.hash.startsWith(`#${name}=`) && setSharing({ hash: window.location.hash })
    look()
    window.addEventListener('hashchange', look)
    return () => window.removeEventListener('hashchange', look)
  }, [name])
  const close = () => {
    setSharing(undefined)
    const { pathname, search, hash } = window.location
    if (hash.startsWith(`#${name}=`)) window.history.replaceState(window.history.state, '', pathname + search)
  }
  return [sharing, () => setSharing({ hash: undefined }), close]
}
