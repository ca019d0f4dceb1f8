'use client'
import { type ReactNode, useEffect, useRef } from 'react'

/** Shows a table that scrolls sideways where it is too wide. Only then the Tab key stops at it, because arrow keys scroll it. */
export function WideTable({ children }: { readonly children: ReactNode }) {
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const element = box.current
    if (!element) return
    const observer = new ResizeObserver(() => {
      if (element.scrollWidth > element.clientWidth) element.tabIndex = 0
      else element.removeAttribute('tabindex')
    })
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  return (
    <div ref={box} className="overflow-x-auto">
      {children}
    </div>
  )
}
