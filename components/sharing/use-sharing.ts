'use client'
/** State of the dialog that shares content or shows content received by the address. */
import { useEffect, useState } from 'react'
import type { LinkName } from '#lib/util/link-hash.ts'

interface Sharing {
  /** Hash of the address that contains something; undefined to share the current content. */
  readonly hash: string | undefined
}

/**
 * Returns the open dialog (undefined if closed), a function that opens it for sharing, and one that closes it. `name` is the
 * name in the hash, `#name=`.
 */
export function useSharing(name: LinkName): readonly [Sharing | undefined, () => void, () => void] {
  const [sharing, setSharing] = useState<Sharing>()
  // Content of the address is shown first.
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
