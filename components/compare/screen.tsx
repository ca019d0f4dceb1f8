'use client'
/** Compares two sides: a recorded trajectory with one made from its text or messages, or any two trajectories. */

import { useEffect, useRef, useState } from 'react'
import { SidesBar } from '#components/compare/sides/sides-bar.tsx'
import { TrajectoryPicker } from '#components/compare/sides/trajectory-picker.tsx'
import { Deletion } from '#components/library/deletion.tsx'
import { lazyPart } from '#components/shell/lazy-part.tsx'
import { Link } from '#components/shell/navigation.tsx'
import { Shell } from '#components/shell/shell.tsx'
import { prepareTokenView } from '#components/shell/use-prepare-inspector.ts'
import { Banner } from '#components/ui/banner.tsx'
import { Button } from '#components/ui/button.tsx'
import type { SideName } from '#lib/analysis/compare/compare-sides.ts'
import { counterpart, exampleName, readSide, type Side, sideText } from '#lib/analysis/compare/side.ts'
import { ApiError } from '#lib/browser/api.ts'
import { TaskError } from '#lib/browser/workers/task-error.ts'
import { useCompareAddress } from './address.ts'
import { type ComparedState, type SideSource, useCompared, useSource } from './use-compared.ts'

const ComparePair = lazyPart(async () => (await import('./pair.tsx')).ComparePair)
const SideDialog = lazyPart(async () => (await import('./sides/side-dialog.tsx')).SideDialog)
const ReconstructionDialog = lazyPart(
  async () => (await import('./sides/reconstruction-dialog.tsx')).ReconstructionDialog,
)
const BaselineDialog = lazyPart(async () => (await import('./sides/baseline-dialog.tsx')).BaselineDialog)
const RestoreButton = lazyPart(async () => (await import('#components/library/deleted-notice.tsx')).RestoreButton)
const CompareExport = lazyPart(async () => (await import('./compare-export.tsx')).CompareExport)

interface Asking {
  readonly name: SideName
  readonly what: 'trajectory' | 'making' | 'baseline'
}

/** The compare page. */
export function CompareScreen() {
  const address = useCompareAddress()
  const [asking, setAsking] = useState<Asking>()
  const [isExporting, setIsExporting] = useState(false)
  /** Whether the previous pair had the focus when it was removed; the next pair then takes the focus. */
  const hadFocus = useRef(false)
  const left = readSide(address.left)
  const leftSource = useSource(left)
  const right =
    address.right === '' && left && leftSource.trajectory
      ? counterpart(left, leftSource.trajectory)
      : readSide(address.right)
  const rightSource = useSource(right)
  const state = useCompared({ side: left, source: leftSource }, { side: right, source: rightSource })
  const sides = { left, right }
  const dialogSide = asking && { side: sides[asking.name], source: asking.name === 'left' ? leftSource : rightSource }
  const setSide = (name: SideName, side: Side) => {
    setAsking(undefined)
    address.setSides({ ...textsOf(sides), [name]: sideText(side) })
  }
  const swap = () => address.setSides({ left: textsOf(sides).right, right: textsOf(sides).left })
  const compared = state.kind === 'done' ? state.pair.compared : undefined
  const exportFile = compared && (() => setIsExporting(true))
  const unread = (['left', 'right'] as const).filter((name) => address[name] !== '' && !readSide(address[name]))
  const isEmpty = address.left === '' && address.right === ''
  useEffect(() => {
    if (isEmpty) return
    ComparePair.preload()
    prepareTokenView()
  }, [isEmpty])
  return (
    <Shell
      title="Compare"
      trajectory={undefined}
      onExport={exportFile}
      notice={[...storedKeysOf(sides)].map((key) => (
        <Deletion key={key} storedKey={key} isShown={compared !== undefined} />
      ))}
    >
      {isEmpty ? (
        <CompareStart onChoose={(key) => setSide('left', { key, as: { kind: 'recorded' } })} />
      ) : (
        <div
          className="grid min-h-0 grid-cols-[minmax(0,1fr)] grid-rows-[auto_minmax(0,1fr)]"
          data-compare={state.kind}
        >
          <div>
            <SidesBar
              left={{ side: left, trajectory: leftSource.trajectory }}
              right={{ side: right, trajectory: rightSource.trajectory }}
              onSide={setSide}
              onChoose={(name) => setAsking({ name, what: 'trajectory' })}
              onReconstruction={(name) => setAsking({ name, what: 'making' })}
              onBaseline={(name) => setAsking({ name, what: 'baseline' })}
              onSwap={swap}
            />
            {unread.map((name) => (
              <Banner
                key={name}
                tone="bad"
                title={`The ${name} side in the address cannot be read: ${address[name]}`}
                hint="Choose one here, or copy the link again."
              />
            ))}
          </div>
          {state.kind === 'done' ? (
            <ComparePair
              key={`${sideText(state.pair.left)} ${sideText(state.pair.right)}`}
              pair={state.pair}
              hadFocus={hadFocus}
              addressView={address.view}
              onView={address.setView}
              page={{
                exportFile,
                swap,
                chooseSide: (name) => setAsking({ name, what: 'trajectory' }),
                setRight: (side) => setSide('right', side),
                runBaseline: () => setAsking({ name: 'left', what: 'baseline' }),
                link: () => address.link(textsOf(sides)),
              }}
            />
          ) : (
            <main>
              <Pending state={state} sides={sides} onAsk={setAsking} />
            </main>
          )}
        </div>
      )}
      {asking?.what === 'trajectory' && (
        <SideDialog
          name={asking.name}
          beside={besideOf(asking.name === 'left' ? right : left, asking.name === 'left' ? rightSource : leftSource)}
          onChoose={(key) => setSide(asking.name, { key, as: sides[asking.name]?.as ?? { kind: 'recorded' } })}
          onClose={() => setAsking(undefined)}
        />
      )}
      {asking?.what === 'making' && dialogSide?.side && (
        <ReconstructionDialog
          name={asking.name}
          side={dialogSide.side}
          trajectory={dialogSide.source.trajectory}
          onSide={(side) => setSide(asking.name, side)}
          onClose={() => setAsking(undefined)}
        />
      )}
      {asking?.what === 'baseline' && dialogSide?.side && dialogSide.source.trajectory && (
        <BaselineDialog
          trajectory={dialogSide.source.trajectory}
          runKey={dialogSide.side.key}
          onPair={(first, second) => {
            setAsking(undefined)
            address.setSides({ left: sideText(first), right: sideText(second) })
          }}
          onClose={() => setAsking(undefined)}
        />
      )}
      {isExporting && compared && <CompareExport compared={compared} onClose={() => setIsExporting(false)} />}
    </Shell>
  )
}

const besideOf = (side: Side | undefined, { trajectory }: SideSource) =>
  side && { key: side.key, groupId: trajectory?.group?.id }

type Sides = Readonly<Record<SideName, Side | undefined>>

const textsOf = ({ left, right }: Sides) => ({
  left: left ? sideText(left) : '',
  right: right ? sideText(right) : '',
})

/** Returns the keys of the stored trajectories of both sides, each once. */
const storedKeysOf = ({ left, right }: Sides): ReadonlySet<string> =>
  new Set([left, right].flatMap((side) => (side && exampleName(side.key) === undefined ? side.key : [])))

interface PendingProps {
  readonly state: Exclude<ComparedState, { kind: 'done' }>
  readonly sides: Sides
  readonly onAsk: (asking: Asking) => void
}

const STEPS = {
  reading: 'Reading the trajectories and their tokenizers…',
  left: 'Encoding the left side…',
  right: 'Encoding the right side…',
  calls: 'Rendering the prompt of every call…',
  drift: 'Looking for drift…',
} as const

/** Message that is shown while there is no comparison. */
function Pending({ state, sides, onAsk }: PendingProps) {
  switch (state.kind) {
    case 'waiting':
      return <p className="p-6 text-faint">Choose a trajectory for the side that has none.</p>
    case 'running':
      return (
        <p className="p-6 text-faint" role="status" data-step={state.step}>
          {STEPS[state.step]}
        </p>
      )
    case 'refused': {
      const { side, why, hint } = state.refusal
      return (
        <Banner tone="bad" title={`The ${side} side cannot be created. ${why}`} hint={hint}>
          <Remedies name={side} side={sides[side]} onAsk={onAsk} />
        </Banner>
      )
    }
    case 'failed': {
      const { error, side: about } = state
      const hint = error instanceof ApiError || error instanceof TaskError ? error.hint : undefined
      const names = about ? [about] : (['left', 'right'] as const).filter((name) => isMade(sides[name]))
      return (
        <Banner tone="bad" title={error.message} hint={hint}>
          {about && <RestoreButton storedKey={sides[about]?.key} error={error} />}
          {names.map((name) =>
            about ? (
              <Button key={name} onClick={() => onAsk({ name, what: 'trajectory' })}>
                Choose another trajectory…
              </Button>
            ) : (
              <Remedies key={name} name={name} side={sides[name]} onAsk={onAsk} />
            ),
          )}
        </Banner>
      )
    }
  }
}

const isMade = (side: Side | undefined): boolean =>
  side !== undefined && side.as.kind !== 'recorded' && side.as.kind !== 'read'

interface RemediesProps {
  readonly name: SideName
  readonly side: Side | undefined
  readonly onAsk: (asking: Asking) => void
}

/** Links and buttons that help if a side cannot be made. */
function Remedies({ name, side, onAsk }: RemediesProps) {
  if (!side || !isMade(side)) return null
  return (
    <>
      {side.as.kind !== 'text' && exampleName(side.key) === undefined && (
        <Link href={`/templates?t=${encodeURIComponent(side.key)}`} className="font-medium text-accent underline">
          Open in the template lab
        </Link>
      )}
      <Button onClick={() => onAsk({ name, what: 'making' })}>
        Tokenizer{side.as.kind === 'text' ? '' : ' and template'} of the {name} side…
      </Button>
    </>
  )
}

/** Introduction that is shown before a trajectory is chosen. */
function CompareStart({ onChoose }: { readonly onChoose: (key: string) => void }) {
  return (
    <main className="overflow-y-auto p-4 sm:p-8">
      <div className="mx-auto max-w-2xl">
        <h2 className="font-semibold text-lg">See what retokenizing changes</h2>
        <p className="mt-1 text-dim">
          Choose a trajectory. The left side shows the ids that the model read and wrote. The right side shows what a
          pipeline that keeps messages or text instead of ids would train on. Either side can also be another
          trajectory.
        </p>
        <p className="mt-2 mb-5 text-dim">
          How much do many trajectories, or those of a file, drift?{' '}
          <Link href="/compare/corpus" className="text-accent underline">
            Drift report
          </Link>
        </p>
        <TrajectoryPicker onChoose={onChoose} />
      </div>
    </main>
  )
}
