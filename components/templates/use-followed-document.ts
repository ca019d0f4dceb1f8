'use client'
import { useEffect, useEffectEvent } from 'react'
import type { LabDocument } from '#lib/templates/document/document.ts'
import { isFollowed, type LabAddress } from './address.ts'

/**
 * Makes the address name the document. The address is read once, when the page opens; afterwards it only follows, since
 * the document also changes by undo and in other windows.
 */
export function useFollowedDocument(address: LabAddress, document: LabDocument): void {
  const follow = useEffectEvent((shown: LabDocument) => address.follow(shown))
  const isBehind = !isFollowed(address.linked, document)
  useEffect(() => {
    if (isBehind) void follow(document)
  }, [isBehind, document])
}
