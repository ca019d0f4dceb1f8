import type { ReactNode } from 'react'
import { visibleText } from './visible-text.ts'

/** List of choices, of which a click selects one immediately. */
export const Choices = ({ children }: { readonly children: ReactNode }) => (
  <ul className="grid grid-cols-[minmax(0,1fr)]">{children}</ul>
)

interface ChoiceProps {
  readonly title: string
  readonly note: ReactNode
  readonly onChoose: () => void
}

/** One choice of a list, with a note below its title. */
export const Choice = ({ title, note, onChoose }: ChoiceProps) => (
  <li>
    <button
      type="button"
      className="-mx-2 w-[calc(100%+1rem)] rounded-md px-2 py-1.5 text-left hover:bg-panel"
      onClick={onChoose}
    >
      <span dir="auto" className="block truncate font-medium max-sm:line-clamp-2 max-sm:whitespace-normal">
        {visibleText(title)}
      </span>
      <span className="block text-faint text-xs">{note}</span>
    </button>
  </li>
)
