import { type ReactNode, useState } from 'react'
import { visibleText } from './visible-text.ts'

/** A list of names with their values. */
export function Facts({ children }: { readonly children: ReactNode }) {
  return <dl className="grid grid-cols-[auto_1fr] items-baseline gap-x-4 gap-y-1 text-xs tabular-nums">{children}</dl>
}

/** A name and a value in Facts; hidden characters of texts become visible. The name of a fact with a title is a button that shows it. */
export function Fact({
  name,
  title,
  children,
}: {
  readonly name: string
  readonly title?: string | undefined
  readonly children: ReactNode
}) {
  const [isExplained, setIsExplained] = useState(false)
  return (
    <>
      <dt className="text-dim" title={title}>
        {title === undefined ? (
          visibleText(name)
        ) : (
          <ExplainedName name={name} isExplained={isExplained} onExplained={setIsExplained} />
        )}
      </dt>
      <dd className="min-w-0 text-right [overflow-wrap:anywhere]" title={title}>
        {typeof children === 'string' ? visibleText(children) : children}
      </dd>
      {isExplained && <dd className="col-span-2 text-faint [overflow-wrap:anywhere]">{title}</dd>}
    </>
  )
}

/** A name with an explanation, which a press shows or hides. */
export const ExplainedName = ({
  name,
  isExplained,
  onExplained,
}: {
  readonly name: string
  readonly isExplained: boolean
  readonly onExplained: (isExplained: boolean) => void
}) => (
  <button
    type="button"
    aria-expanded={isExplained}
    className="text-left underline decoration-dotted underline-offset-2"
    onClick={() => onExplained(!isExplained)}
  >
    {visibleText(name)}
  </button>
)

/** Heading of a part of a panel; hidden characters of a text become visible. */
export function Heading({ children }: { readonly children: ReactNode }) {
  return (
    <h2 className="mt-5 mb-2 font-semibold text-dim text-xs first:mt-0">
      {typeof children === 'string' ? visibleText(children) : children}
    </h2>
  )
}
