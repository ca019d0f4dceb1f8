import type { ReactNode } from 'react'
import { visibleText } from './visible-text.ts'

/** Pairs of a name and a value. */
export function Facts({ children }: { readonly children: ReactNode }) {
  return <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1 text-xs tabular-nums">{children}</dl>
}

export function Fact({
  name,
  title,
  children,
}: {
  readonly name: string
  readonly title?: string | undefined
  readonly children: ReactNode
}) {
  return (
    <>
      <dt className="text-dim" title={title}>
        {visibleText(name)}
      </dt>
      <dd className="min-w-0 text-right [overflow-wrap:anywhere]" title={title}>
        {typeof children === 'string' ? visibleText(children) : children}
      </dd>
    </>
  )
}

export function Heading({ children }: { readonly children: ReactNode }) {
  return (
    <h2 className="mt-5 mb-2 font-semibold text-dim text-xs first:mt-0">
      {typeof children === 'string' ? visibleText(children) : children}
    </h2>
  )
}
