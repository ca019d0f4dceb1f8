'use client'
import { useState } from 'react'
import { SeveralExport } from '#components/export/several-export.tsx'
import { countText, rewardText } from '#components/token-view/numbers.ts'
import { Button } from '#components/ui/button.tsx'
import { Dialog } from '#components/ui/dialog.tsx'
import { CheckField } from '#components/ui/field.tsx'
import { Segmented } from '#components/ui/segmented.tsx'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'
import { excerpt } from '#lib/util/text/excerpt.ts'
import { FORK_TEXTS } from './fork-relation.tsx'
import type { TreeLeaf } from './tree-rows.ts'

interface LeavesExportProps {
  /** Trajectories of the tree. */
  readonly leaves: readonly TreeLeaf[]
  /** Number of further trajectories of the tree, which are not listed. */
  readonly leftOut: number
  readonly onClose: () => void
  /** Called when the file could not be saved; the dialog is already closed. */
  readonly onSaveError: (error: unknown) => void
}

type Scope = 'tree' | 'leaves' | 'selection'

/** Chooses trajectories of a tree, and exports them as one file. */
export function LeavesExport({ leaves: all, leftOut, onClose, onSaveError }: LeavesExportProps) {
  const [scope, setScope] = useState<Scope>('tree')
  const [selected, setSelected] = useState<ReadonlySet<string>>(() => new Set(all.map(({ row }) => row.key)))
  const [hasValueSamples, setHasValueSamples] = useState(false)
  const [isChosen, setIsChosen] = useState(false)
  const valueSamples = all.filter(({ isValueSample }) => isValueSample).length
  const leaves = hasValueSamples ? all : all.filter(({ isValueSample }) => !isValueSample)
  const continued = new Set(leaves.flatMap(({ fork }) => (fork?.from == null ? [] : [all[fork.from]])))
  const isInScope: Readonly<Record<Scope, (leaf: TreeLeaf) => boolean>> = {
    tree: () => true,
    leaves: (leaf) => !continued.has(leaf),
    selection: ({ row }) => selected.has(row.key),
  }
  const keys = leaves.filter(isInScope[scope]).map(({ row }) => row.key)
  if (isChosen) return <SeveralExport keys={keys} onClose={onClose} onSaveError={onSaveError} />
  /** Adds or removes a trajectory of the shown choice, which becomes a selection. */
  const toggle = (key: string) => {
    const others = new Set(keys)
    if (!others.delete(key)) others.add(key)
    setSelected(others)
    setScope('selection')
  }
  return (
    <Dialog title="Export leaves" onClose={onClose}>
      <div className="grid gap-3">
        <Segmented<Scope>
          label="Which trajectories"
          value={scope}
          onChange={setScope}
          options={[
            { value: 'tree', text: 'Whole tree', title: 'Every listed trajectory of the tree' },
            { value: 'leaves', text: 'Leaves', title: 'Trajectories from which no other was forked' },
            { value: 'selection', text: 'Selection' },
          ]}
        />
        {valueSamples > 0 && (
          <div>
            <CheckField
              label={`Include the ${countWithNoun(valueSamples, 'sample')} of value estimates`}
              checked={hasValueSamples}
              onChange={({ target }) => setHasValueSamples(target.checked)}
            />
            <p className="text-dim text-xs">
              Unchecked, the file has only the trajectories that you started. The library hides these samples too.
            </p>
          </div>
        )}
        <ul className="max-h-80 overflow-y-auto text-xs">
          {leaves.map((leaf) => (
            <li key={leaf.row.key}>
              <CheckField
                label={placeText(leaf)}
                note={noteText(leaf)}
                checked={isInScope[scope](leaf)}
                onChange={() => toggle(leaf.row.key)}
              />
            </li>
          ))}
        </ul>
        <p className="text-dim text-xs">
          Each trajectory is written whole: shared tokens are in each of them. A running trajectory is written as far as
          it is stored.
          {leftOut > 0 && ` ${countText(leftOut)} more trajectories of the tree are not listed, and not exported.`}
        </p>
        <div>
          <Button look="primary" disabled={keys.length === 0} onClick={() => setIsChosen(true)}>
            Choose a format for {countWithNoun(keys.length, 'trajectory', 'trajectories')}…
          </Button>
        </div>
      </div>
    </Dialog>
  )
}

/** Characters of an inserted or edited text in a row: the reward is beside it, also in a narrow window. */
const LONGEST_TEXT = 20

/** Returns where a trajectory begins and what it inserted or edited there, such as “at 211, find for ls”. */
function placeText({ fork }: TreeLeaf): string {
  if (!fork) return 'main'
  const { token, inserted, edited } = fork
  const text = inserted?.text ?? edited
  const changed = text === null ? null : excerpt(text, LONGEST_TEXT)
  const instead = inserted?.instead != null ? ` for ${inserted.instead}` : ''
  return `at ${countText(token)}${changed === null ? '' : `, ${changed}${instead}`.replaceAll('\n', '↵')}`
}

function noteText({ row, fork }: TreeLeaf): string {
  const reward = row.reward === null ? row.outcome : `reward ${rewardText(row.reward)}`
  return [fork && FORK_TEXTS[fork.kind], reward, `${countText(row.tokens)} tokens`].filter(Boolean).join(' · ')
}
