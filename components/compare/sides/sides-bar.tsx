'use client'
/** Bar that shows and chooses both sides, with their tokenizers and templates. */

import { ArrowLeftRight, Settings2 } from 'lucide-react'
import { Button } from '#components/ui/button.tsx'
import { Select } from '#components/ui/field.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import type { SideName } from '#lib/analysis/compare/compare-sides.ts'
import { isChatRun, type Reconstruction, type Side } from '#lib/analysis/compare/side.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { AS_TEXTS, areTwoSamples, reconstructionText, sampleTitle, trajectoryTitle } from './side-words.ts'

/** A side as far as it is chosen and loaded. */
export interface DisplayedSide {
  /** Undefined while no side is chosen. */
  readonly side: Side | undefined
  /** Undefined while the trajectory is loading. */
  readonly trajectory: TrajectoryView | undefined
}

interface SidesBarProps {
  readonly left: DisplayedSide
  readonly right: DisplayedSide
  readonly onSide: (name: SideName, side: Side) => void
  /** Opens the dialog for another trajectory. */
  readonly onChoose: (name: SideName) => void
  /** Opens the dialog for another tokenizer or template. */
  readonly onReconstruction: (name: SideName) => void
  /** Opens the dialog that runs a chat baseline. */
  readonly onBaseline: (name: SideName) => void
  readonly onSwap: () => void
}

/** Shows a chooser for each side and a button that swaps them. */
export function SidesBar({ left, right, onSide, onChoose, onReconstruction, onBaseline, onSwap }: SidesBarProps) {
  const titleOf = areTwoSamples(left, right) ? sampleTitle : trajectoryTitle
  const chooser = (name: SideName, chosen: DisplayedSide) => (
    <SideChooser
      name={name}
      chosen={chosen}
      title={chosen.trajectory && titleOf(chosen.trajectory)}
      onAs={(as) => chosen.side && onSide(name, { key: chosen.side.key, as })}
      onChoose={() => onChoose(name)}
      onReconstruction={() => onReconstruction(name)}
      onBaseline={() => onBaseline(name)}
    />
  )
  return (
    <section
      aria-label="Sides"
      className="grid grid-cols-[minmax(0,1fr)_auto] items-center gap-x-2 gap-y-1.5 border-line border-b px-3.5 py-1.5 lg:grid-cols-[minmax(0,1fr)_auto_minmax(0,1fr)]"
    >
      <div className="min-w-0 max-lg:row-start-1">{chooser('left', left)}</div>
      <span className="max-lg:col-start-2 max-lg:row-span-2 max-lg:row-start-1">
        <IconButton label="Swap the sides (s)" onClick={onSwap}>
          <ArrowLeftRight size={15} aria-hidden className="max-lg:rotate-90" />
        </IconButton>
      </span>
      <div className="min-w-0 max-lg:row-start-2">{chooser('right', right)}</div>
    </section>
  )
}

interface SideChooserProps {
  readonly name: SideName
  readonly chosen: DisplayedSide
  /** Title of its trajectory; undefined while it is loading. */
  readonly title: string | undefined
  readonly onAs: (as: Reconstruction) => void
  readonly onChoose: () => void
  readonly onReconstruction: () => void
  readonly onBaseline: () => void
}

/** Option that is not a kind of side: the baseline must run first. */
const BASELINE = 'baseline'

const NAMES = { left: 'Left', right: 'Right' } as const

function SideChooser({
  name,
  chosen: { side, trajectory },
  title,
  onAs,
  onChoose,
  onReconstruction,
  onBaseline,
}: SideChooserProps) {
  const making = side && reconstructionText(side.as)
  const isMade = side !== undefined && side.as.kind !== 'recorded' && side.as.kind !== 'read'
  return (
    <fieldset className="flex min-w-0 items-center gap-2">
      <legend className="sr-only">{NAMES[name]} side</legend>
      <span className="w-8 shrink-0 text-dim text-xs">{NAMES[name]}</span>
      {side && (
        <Select
          aria-label={`${NAMES[name]} side shown as`}
          title={AS_TEXTS[side.as.kind].explanation}
          look="tall"
          className="max-w-56 truncate font-medium max-sm:min-w-28 max-sm:shrink-[99] sm:shrink-0"
          value={side.as.kind}
          onChange={({ target }) =>
            target.value === BASELINE ? onBaseline() : onAs(asOfKind(target.value as Reconstruction['kind'], side.as))
          }
        >
          {kindsFor(side.as, trajectory).map((kind) => (
            <option key={kind} value={kind}>
              {AS_TEXTS[kind].title}
            </option>
          ))}
          <option value={BASELINE}>Live chat baseline…</option>
        </Select>
      )}
      <Button className="min-w-0 shrink" title={trajectory && trajectoryTitle(trajectory)} onClick={onChoose}>
        <span className="sr-only">
          {NAMES[name]} side: {side && 'choose a trajectory in place of '}
        </span>
        <span className="truncate">{side === undefined ? 'Choose a trajectory…' : (title ?? side.key)}</span>
      </Button>
      {isMade && (
        <Button
          look="quiet"
          className={`px-1.5 text-xs ${making === undefined ? 'shrink-0' : 'min-w-0 shrink-[2]'}`}
          aria-label={`${NAMES[name]} side: tokenizer and template (${making ?? 'its own'})`}
          title={making ?? 'Another tokenizer or template…'}
          onClick={onReconstruction}
        >
          <Settings2 size={15} aria-hidden className="shrink-0" />
          {making !== undefined && <span className="truncate max-sm:hidden">{making}</span>}
        </Button>
      )}
    </fieldset>
  )
}

/** Returns the kinds of side that the trajectory allows, and the chosen kind. */
function kindsFor(as: Reconstruction, trajectory: TrajectoryView | undefined): readonly Reconstruction['kind'][] {
  const isRead = as.kind === 'read' || (trajectory !== undefined && isChatRun(trajectory))
  return ['recorded', ...(isRead ? (['read'] as const) : []), 'text', 'structured', 'raw']
}

/** Returns the settings for another kind of side; tokenizer and template are kept if that kind uses them. */
function asOfKind(kind: Reconstruction['kind'], before: Reconstruction): Reconstruction {
  if (kind === 'recorded' || kind === 'read') return { kind }
  const tokenizer = 'tokenizer' in before && before.tokenizer !== undefined ? { tokenizer: before.tokenizer } : {}
  if (kind === 'text') return { kind, ...tokenizer }
  return { kind, ...tokenizer, ...('template' in before && before.template && { template: before.template }) }
}
