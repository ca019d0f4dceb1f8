'use client'
import { type ReactNode, useEffect, useRef, useState } from 'react'

/**
 * Shows a table that scrolls sideways where it is too wide. Only then the Tab key stops at it, because arrow keys scroll it. Until its width is
 * known, it counts as too wide.
 */
export function WideTable({ children }: { readonly children: ReactNode }) {
  const box = useRef<HTMLDivElement>(null)
  const [isTooWide, setTooWide] = useState(true)
  useEffect(() => {
    const element = box.current
    if (!element) return
    const observer = new ResizeObserver(() => setTooWide(element.scrollWidth > element.clientWidth))
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  return (
    <div ref={box} tabIndex={isTooWide ? 0 : undefined} className="overflow-x-auto">
      {children}
    </div>
  )
}
