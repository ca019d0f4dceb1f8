import { type KeyboardEvent, type ReactNode, useRef } from 'react'
import { elementAt } from '#lib/util/element-at.ts'

interface TabListProps<T extends string> {
  readonly label: string
  /** Prefix of the element ids of tabs and panels. */
  readonly id: string
  readonly tabs: readonly { readonly value: T; readonly text: string }[]
  readonly value: T
  readonly onChange: (value: T) => void
}

const STEPS: Readonly<Record<string, (at: number, count: number) => number>> = {
  ArrowRight: (at, count) => (at + 1) % count,
  ArrowLeft: (at, count) => (at + count - 1) % count,
  Home: () => 0,
  End: (_, count) => count - 1,
}

/** Shows tabs above their panels. The list is one stop of the Tab key; arrow keys select a tab, whose panel is shown immediately. */
export function TabList<T extends string>({ label, id, tabs, value, onChange }: TabListProps<T>) {
  const list = useRef<HTMLDivElement>(null)
  const onKeyDown = (event: KeyboardEvent) => {
    const step = STEPS[event.key]
    if (!step || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    // The step starts from the focus, since the selected value may not be updated yet.
    const buttons = [...(list.current?.querySelectorAll<HTMLElement>('[role="tab"]') ?? [])]
    const at = step(buttons.indexOf(event.target as HTMLElement), tabs.length)
    onChange(elementAt(tabs, at).value)
    buttons[at]?.focus()
  }
  return (
    <div
      ref={list}
      role="tablist"
      aria-label={label}
      onKeyDown={onKeyDown}
      className={`flex min-w-0 gap-4 overflow-x-auto px-0.5 ${tabs.length > FEW_TABS ? 'max-sm:w-full max-sm:justify-between max-sm:gap-2' : ''}`}
    >
      {tabs.map((tab) => (
        <button
          key={tab.value}
          type="button"
          role="tab"
          id={tabId(id, tab.value)}
          aria-selected={tab.value === value}
          aria-controls={tab.value === value ? panelId(id, tab.value) : undefined}
          tabIndex={tab.value === value ? 0 : -1}
          onClick={() => onChange(tab.value)}
          className="-mb-px shrink-0 whitespace-nowrap border-transparent border-b-2 py-2 text-dim hover:text-ink focus-visible:-outline-offset-2 aria-selected:border-ink aria-selected:font-semibold aria-selected:text-ink"
        >
          {tab.text}
        </button>
      ))}
    </div>
  )
}

/** Number of tabs that fit into a narrow window with the gaps of a wide one. */
const FEW_TABS = 4

interface TabPanelProps {
  readonly id: string
  readonly value: string
  /** A panel that is not shown stays mounted, but is invisible and inert. */
  readonly isShown: boolean
  readonly children: ReactNode
}

/** Shows the panel of a tab. Panels share one cell of a grid, so a hidden panel keeps its size and its scroll position. */
export function TabPanel({ id, value, isShown, children }: TabPanelProps) {
  return (
    <div
      role="tabpanel"
      id={panelId(id, value)}
      aria-labelledby={tabId(id, value)}
      inert={!isShown}
      className={`col-start-1 row-start-1 min-h-0 min-w-0 ${isShown ? '' : 'invisible print:hidden'}`}
    >
      {children}
    </div>
  )
}

const tabId = (id: string, value: string) => `${id}-tab-${value}`
const panelId = (id: string, value: string) => `${id}-panel-${value}`
