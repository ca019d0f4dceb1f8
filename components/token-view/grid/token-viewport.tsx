import type { KeyboardEvent, ReactNode, Ref } from 'react'

interface TokenViewportProps {
  readonly ref: Ref<HTMLDivElement>
  readonly label: string
  readonly rowCount: number
  /** Id of the element of the selected token; undefined if none is drawn. */
  readonly activeId: string | undefined
  readonly isMultiselectable: boolean
  /** Whether everything is drawn, and nothing more arrives by itself. */
  readonly isIdle: boolean
  /** Number of tokens; undefined if it is not known. */
  readonly tokenCount?: number | undefined
  readonly onKeyDown: (event: KeyboardEvent<HTMLElement>) => void
  readonly children: ReactNode
}

/** Scrolled grid into which rows of tokens are drawn. */
export function TokenViewport(props: TokenViewportProps) {
  const { ref, label, rowCount, activeId, isMultiselectable, isIdle, tokenCount, onKeyDown, children } = props
  return (
    // biome-ignore lint/a11y/useSemanticElements: the rows are drawn by hand; a table would mount every one
    <div
      ref={ref}
      className="token-viewport"
      role="grid"
      tabIndex={0}
      aria-label={label}
      aria-multiselectable={isMultiselectable || undefined}
      aria-rowcount={rowCount}
      aria-activedescendant={activeId}
      data-idle={isIdle}
      data-tokens={tokenCount}
      onKeyDown={onKeyDown}
    >
      {children}
    </div>
  )
}
