import type { ReactNode } from 'react'
import type { Colouring } from './colouring.ts'
import { Legend } from './legend.tsx'
import type { Coloured } from './mode.ts'
import { colourGroups, colourModeNamed } from './modes.ts'
import { colourScale } from './scale.ts'

/** The part of the address that a choice changes. */
interface ColourChange {
  readonly colour?: string
  /** `undefined` sets the end of the scale to p95. */
  readonly limit?: number | undefined
}

interface ColourBarProps {
  readonly trajectory: Coloured
  readonly colouring: Colouring
  readonly onChange: (change: ColourChange) => void
  /** Shown instead of the legend of the colours. If omitted, that is shown. */
  readonly legend?: ReactNode
  /** A mode that only this page has, as a further button. If omitted, there is none. */
  readonly own?: ColourButton & { readonly isChosen: boolean }
}

interface ColourButton {
  readonly name: string
  readonly title: string
  readonly explanation: string
}

const BUTTONS: readonly ColourButton[] = [
  { name: 'mask', title: 'Mask', explanation: 'Trained tokens' },
  { name: 'logprob', title: 'Logprob', explanation: 'Surprisal (−logprob) of trained tokens' },
]

const BOX =
  'min-h-7 rounded-md border border-line bg-raised px-2.5 hover:border-line-strong aria-pressed:border-ink aria-pressed:bg-ink aria-pressed:text-ground data-chosen:border-ink data-chosen:bg-ink data-chosen:text-ground'

/** Shows the colour modes and the legend of the current one. Another mode resets the limit, which is in the unit of one mode. */
export function ColourBar({ trajectory, colouring, onChange, legend, own }: ColourBarProps) {
  const name = own?.isChosen ? own.name : colouring.mode.name
  const buttons = own ? [...BUTTONS, own] : BUTTONS
  const isInMenu = !buttons.some((button) => button.name === name)
  const choose = (colour: string) => onChange({ colour, limit: undefined })
  return (
    <div className="flex min-w-0 flex-wrap items-center gap-x-3 gap-y-1.5">
      <fieldset className="inline-flex max-w-full gap-1">
        <legend className="sr-only">Colour tokens by</legend>
        {buttons.map((button) => (
          <button
            key={button.name}
            type="button"
            title={button.explanation}
            aria-pressed={button.name === name}
            onClick={() => choose(button.name)}
            className={BOX}
          >
            {button.title}
          </button>
        ))}
        <select
          aria-label="More colour modes"
          title={isInMenu ? colouring.mode.explanation : 'More colour modes'}
          value={isInMenu ? name : ''}
          data-chosen={isInMenu || undefined}
          onFocus={() => prepareColours(trajectory)}
          onChange={({ target }) => choose(target.value)}
          className={`${BOX} field-sizing-content min-w-0 max-w-44`}
        >
          <option value="" hidden>
            More…
          </option>
          {isInMenu && name.startsWith('column:') && (
            <option value={name} hidden>
              {colouring.mode.title}
            </option>
          )}
          {colourGroups(trajectory).map((group) => (
            <optgroup key={group.title} label={group.title}>
              {group.choices.map((choice) => (
                <option key={choice.name} value={choice.name} disabled={choice.missing !== undefined}>
                  {choice.title}
                  {choice.missing !== undefined && ` · ${choice.missing}`}
                </option>
              ))}
            </optgroup>
          ))}
        </select>
      </fieldset>
      {legend ?? <Legend colouring={colouring} onLimit={(limit) => onChange({ limit })} />}
    </div>
  )
}

/** Computes the scales of all modes of the menu, one in each task, while the user chooses one. Each is computed once. */
function prepareColours(trajectory: Coloured): void {
  const choices = colourGroups(trajectory)
    .flatMap((group) => group.choices)
    .filter(({ missing }) => missing === undefined)
    .values()
  const prepareNext = () => {
    const { value } = choices.next()
    if (!value) return
    colourScale(trajectory, colourModeNamed(trajectory, value.name))
    setTimeout(prepareNext)
  }
  setTimeout(prepareNext)
}
