'use client'
import { useState } from 'react'
import { CopyRun } from '#components/inspector/commands/copy-run.tsx'
import { RangeCard } from '#components/inspector/selection/range-card.tsx'
import { compareHref, inspectorHref } from '#components/shell/hrefs.ts'
import { lazyPart } from '#components/shell/lazy-part.tsx'
import { Link } from '#components/shell/navigation.tsx'
import type { ShownStatus } from '#components/shell/server-state.tsx'
import type { useViewState } from '#components/shell/view-state.ts'
import { TokenCard } from '#components/token-view/card/token-card.tsx'
import { ToolCalls } from '#components/token-view/overview/tool-calls.tsx'
import { TrajectoryTotals } from '#components/token-view/overview/totals.tsx'
import { isSingle, single } from '#components/token-view/selection.ts'
import { Heading } from '#components/ui/facts.tsx'
import { runRefusals } from '#lib/api/engine/refusals.ts'
import { withGrammar } from '#lib/sampling/fields.ts'
import type { Setup } from '#lib/share/settings/setup.ts'
import type { Token } from '#lib/trajectory/tokens/tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import type { StructuredDraft } from '../structured/structured-dialog.tsx'

interface PlaygroundRunProps {
  readonly trajectory: TrajectoryView
  readonly view: ReturnType<typeof useViewState>
  /** The chosen token, or the token under the pointer. */
  readonly shown: Token | undefined
  /** Base URL of its server; undefined if unknown. */
  readonly baseUrl: string | undefined
  /** Setup of the next call. */
  readonly setup: Setup
  /** Status of the server of the setup. */
  readonly status: ShownStatus
  /** Starts a further turn whose reply must match a schema. */
  readonly onTurn: (setup: Setup, question: string) => void
}

const StructuredDialog = lazyPart(async () => (await import('../structured/structured-dialog.tsx')).StructuredDialog)

/** Details of a run and of its chosen token. This module is loaded with the first question. */
export function PlaygroundRun({ trajectory, view, shown, baseUrl, setup, status, onTurn }: PlaygroundRunProps) {
  const [isDialogOpen, setIsDialogOpen] = useState(false)
  // The draft outlives the dialog, because the server may refuse the turn.
  const [structured, setStructured] = useState<StructuredDraft>()
  const { selection } = view.view
  return (
    <>
      {selection && !isSingle(selection) ? (
        <RangeCard inspection={{ trajectory, view: view.view, onSelect: (chosen) => view.setSelection(chosen) }} />
      ) : (
        shown && <TokenCard trajectory={trajectory} token={shown} state={selection ? 'pinned' : 'pointed'} />
      )}
      <Heading>This run</Heading>
      <TrajectoryTotals trajectory={trajectory} />
      {view.key !== undefined && trajectory.outcome.kind !== 'running' && trajectory.segments.length > 0 && (
        <p className="mt-2 grid justify-items-start gap-1">
          <Link href={inspectorHref(view.key)} className="font-medium text-accent hover:underline">
            Open in inspector
          </Link>
          <Link href={compareHref(view.key, 'messages')} className="font-medium text-accent hover:underline">
            Compare with retokenized
          </Link>
        </p>
      )}
      <div className="mt-2">
        <CopyRun trajectory={trajectory} baseUrl={baseUrl} />
      </div>
      {canBeAsked(trajectory) && view.key !== undefined && (
        <StructuredButton status={status} onOpen={() => setIsDialogOpen(true)} />
      )}
      {isDialogOpen && view.key !== undefined && (
        <StructuredDialog
          trajectoryKey={view.key}
          setup={setup}
          draft={structured}
          onEdit={setStructured}
          onRecord={(question, schema) => {
            setIsDialogOpen(false)
            onTurn({ ...setup, sampling: withGrammar(setup.sampling, { json_schema: schema }) }, question)
          }}
          onClose={() => setIsDialogOpen(false)}
        />
      )}
      <Heading>Tool calls</Heading>
      <ToolCalls trajectory={trajectory} onSelect={(index) => view.setSelection(single(index))} />
    </>
  )
}

interface StructuredButtonProps {
  readonly status: ShownStatus
  readonly onOpen: () => void
}

/** Opens the dialog for structured output. It is disabled if the engine of the server takes no JSON Schema. */
export function StructuredButton({ status, onOpen }: StructuredButtonProps) {
  const [refusal] = status.state === 'ready' ? runRefusals(status, { sampling: { json_schema: '{}' } }) : []
  return (
    <>
      <button
        type="button"
        disabled={refusal !== undefined}
        onClick={onOpen}
        className="mt-1 block font-medium text-accent enabled:hover:underline disabled:cursor-not-allowed disabled:text-faint"
      >
        Request structured output…
      </button>
      {refusal && <p className="text-faint text-xs">{refusal.detail} Choose a server with another engine.</p>}
    </>
  )
}

/** Returns whether a run can continue from the tokens. */
const canBeAsked = ({ outcome, provenance, segments }: TrajectoryView): boolean =>
  outcome.kind !== 'running' &&
  segments.length > 0 &&
  !(provenance.kind === 'rollout' && provenance.endpoint === 'chat')
