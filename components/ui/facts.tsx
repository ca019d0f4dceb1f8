import type { ReactNode } from 'react'
import { visibleText } from './visible-text.ts'

/** A list of names with their values. */
export function Facts({ children }: { readonly children: ReactNode }) {
  return <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1 text-xs tabular-nums">{children}</dl>
}

/** A name and a value in Facts; hidden characters of texts become visible. */
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

/** Heading of a part of a panel; hidden characters of a text become visible. */
export function Heading({ children }: { readonly children: ReactNode }) {
  return (
    <h2 className="mt-5 mb-2 font-semibold text-dim text-xs first:mt-0">
      {typeof children === 'string' ? visibleText(children) : children}
    </h2>
  )
}
