'use client'
import { useEffect, useState } from 'react'
import { findBytes } from '#lib/analysis/raw/find-bytes.ts'

/** Where a text stands in bytes; undefined while it is looked for. Read in slices, between which the page does what it has to. */
export function useByteFind(bytes: Uint8Array, text: string): Int32Array | undefined {
  const [found, setFound] = useState<{ readonly of: Uint8Array; readonly text: string; readonly hits: Int32Array }>()
  useEffect(() => {
    const slices = findBytes(bytes, text)
    let timer: ReturnType<typeof setTimeout>
    const go = () => {
      const slice = slices.next()
      if (slice.done) setFound({ of: bytes, text, hits: slice.value })
      else timer = setTimeout(go)
    }
    timer = setTimeout(go, text === '' ? 0 : REST_MS)
    return () => clearTimeout(timer)
  }, [bytes, text])
  return found?.of === bytes && found.text === text ? found.hits : undefined
}

/** A text is looked for when the keys have rested this long. */
const REST_MS = 120
