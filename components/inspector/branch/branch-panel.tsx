'use client'
/** Starts branches from the selected token, or with an edited message of its prompt, and lists them. */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { type RegisterPanelCommand, usePanelCommand } from '#components/inspector/selection/panel-commands.ts'
import { countText, percentText } from '#components/token-view/numbers.ts'
import { MarkedPiece } from '#components/token-view/pieces/marked-piece.tsx'
import { Banner } from '#components/ui/banner.tsx'
import { Button } from '#components/ui/button.tsx'
import { Heading } from '#components/ui/facts.tsx'
import { SelectField, TextArea, TextField } from '#components/ui/field.tsx'
import type { BranchesStarted } from '#lib/api/forest/branch.ts'
import { ApiError } from '#lib/browser/api.ts'
import { cancelBranches, startBranches, treeOptions } from '#lib/browser/library/branches.ts'
import { serversOptions } from '#lib/browser/queries.ts'
import type { Token } from '#lib/trajectory/tokens/tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import {
  type BranchDraft,
  branchInput,
  draftFor,
  editableMessages,
  type Insertion,
  sampledAfter,
} from './branch-draft.ts'
import { BranchList } from './branch-list.tsx'

interface BranchPanelProps {
  readonly trajectory: TrajectoryView
  /** The selected token. */
  readonly token: Token
  readonly storedKey: string
  readonly offer: RegisterPanelCommand
}

/** Shows the fields of a branch at a token. */
export function BranchPanel({ trajectory, token, storedKey, offer }: BranchPanelProps) {
  const [draft, setDraft] = useState(() => draftFor(trajectory, token))
  const [failure, setFailure] = useState<{ readonly field?: string; readonly title: string; readonly hint?: string }>()
  const [started, setStarted] = useState<BranchesStarted>()
  const [isStarting, setIsStarting] = useState(false)
  const client = useQueryClient()
  const section = useRef<HTMLElement>(null)
  const obstacle = obstacleTo(trajectory, token)
  usePanelCommand(
    offer,
    'branch',
    obstacle === undefined
      ? () => section.current?.querySelector<HTMLElement>('input, textarea, select')?.focus()
      : undefined,
  )
  const change = (changes: Partial<BranchDraft>) => {
    setFailure(undefined)
    setDraft({ ...draft, ...changes })
  }
  const start = async (isCut: boolean) => {
    const input = branchInput(draft, trajectory, token, isCut)
    if (!input.ok) {
      setFailure({ field: input.field, title: input.why })
      return
    }
    setIsStarting(true)
    setFailure(undefined)
    try {
      setStarted(await startBranches(storedKey, input.body, client))
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      setFailure({ title: error.message, ...(error.hint !== undefined && { hint: error.hint }) })
    } finally {
      setIsStarting(false)
    }
  }
  const isEdit = token.segment.kind === 'prompt'
  const errorOf = (field: string) => (failure?.field === field ? failure.title : undefined)
  return (
    <>
      <section ref={section} aria-label="Branch" className="mt-5">
        <Heading>{isEdit ? 'Edit and continue' : 'Branch here'}</Heading>
        {obstacle !== undefined ? (
          <p className="text-faint text-xs">{obstacle}</p>
        ) : (
          <form
            className="grid gap-2.5"
            onSubmit={(event) => {
              event.preventDefault()
              void start(false)
            }}
          >
            {isEdit ? (
              <MessageFields trajectory={trajectory} token={token} draft={draft} onChange={change} />
            ) : (
              <InsertionFields
                trajectory={trajectory}
                token={token}
                draft={draft}
                error={errorOf('text')}
                onChange={change}
              />
            )}
            <SettingsFields token={token} draft={draft} errorOf={errorOf} onChange={change} />
            <p className="text-dim text-xs">
              {branchCost(trajectory, token, draft)}
              {isEdit && ' The chat template is applied again from this prompt on.'}
            </p>
            <div className="flex flex-wrap gap-2">
              <Button type="submit" look="primary" disabled={isStarting}>
                {buttonText(draft, isEdit)}
              </Button>
              {!isEdit && (
                <Button
                  disabled={isStarting}
                  title="Stores the tokens before this one, and what is inserted, as a trajectory. Nothing is sampled."
                  onClick={() => void start(true)}
                >
                  Cut here
                </Button>
              )}
            </div>
            {failure && failure.field === undefined && <Banner tone="bad" title={failure.title} hint={failure.hint} />}
          </form>
        )}
      </section>
      {started && <Progress storedKey={storedKey} started={started} />}
      {/* The outline of a fork lists the branches. */}
      {!trajectory.forkedFrom && <BranchList storedKey={storedKey} />}
    </>
  )
}

function obstacleTo({ outcome, provenance }: TrajectoryView, { segment }: Token): string | undefined {
  if (outcome.kind === 'running') return 'A branch can begin when the run has ended.'
  if (provenance.kind === 'rollout' && provenance.endpoint === 'chat')
    return 'This run used a chat endpoint, which cannot continue from tokens.'
  if (segment.kind === 'prompt' && segment.messages.length === 0)
    return 'This prompt has no messages to edit. Select a sampled token to branch.'
  return undefined
}

const buttonText = ({ insertion, count }: BranchDraft, isEdit: boolean): string => {
  const verb = isEdit ? 'Edit and continue' : insertion === 'nothing' ? 'Resample' : 'Branch'
  return count.trim() === '1' ? verb : `${verb} × ${count.trim()}`
}

function branchCost(trajectory: TrajectoryView, token: Token, { count }: BranchDraft): string {
  const tokens = sampledAfter(trajectory, token)
  const times = Number(count) || 1
  return `About ${countText(times * tokens)} tokens, if each branch is as long as this trajectory, which does not change.`
}

interface FieldsProps {
  readonly token: Token
  readonly draft: BranchDraft
  readonly onChange: (changes: Partial<BranchDraft>) => void
}

/** Chooses what replaces the token. */
function InsertionFields({
  trajectory,
  token,
  draft,
  error,
  onChange,
}: FieldsProps & { readonly trajectory: TrajectoryView; readonly error: string | undefined }) {
  const option = (insertion: Insertion, label: React.ReactNode, note?: string) => (
    <label key={String(insertion)} className="flex min-h-7 items-center gap-2 rounded-md px-1 hover:bg-panel">
      <input
        type="radio"
        name={`insertion-${token.index}`}
        className="accent-(--accent)"
        checked={draft.insertion === insertion}
        onChange={() => onChange({ insertion })}
      />
      <span className="min-w-0 flex-1 truncate">{label}</span>
      {note !== undefined && <span className="text-dim tabular-nums">{note}</span>}
    </label>
  )
  return (
    <fieldset className="text-xs">
      <legend className="mb-1 text-dim">Instead of this token</legend>
      {option('nothing', 'Sample again')}
      {token.alternatives.map(({ id, logprob }) =>
        option(
          id,
          <>
            <MarkedPiece id={id} vocab={trajectory.vocab} className="font-mono" />
            {id === token.id && <span className="text-dim"> (the same token)</span>}
          </>,
          logprob === null ? undefined : percentText(Math.exp(logprob)),
        ),
      )}
      {option('text', 'Insert a text')}
      {option('ids', 'Insert token ids')}
      {(draft.insertion === 'text' || draft.insertion === 'ids') && (
        <div className="mt-1">
          <TextArea
            label={draft.insertion === 'text' ? 'Text' : 'Token ids'}
            explanation={
              draft.insertion === 'text'
                ? 'The tokenizer encodes it. Special tokens in it become their ids.'
                : 'Whole numbers with commas or spaces between them'
            }
            error={error && `${draft.insertion === 'text' ? 'The text' : 'Token ids'} ${error}`}
            rows={2}
            className="font-mono"
            value={draft.text}
            onChange={(event) => onChange({ text: event.target.value })}
          />
        </div>
      )}
    </fieldset>
  )
}

/** Edits a message of the token's prompt. */
function MessageFields({ trajectory, token, draft, onChange }: FieldsProps & { readonly trajectory: TrajectoryView }) {
  const messages = editableMessages(trajectory, token)
  return (
    <>
      {messages.length > 1 && (
        <SelectField
          label="Message"
          value={draft.message}
          onChange={(event) => {
            const message = Number(event.target.value)
            onChange({ message, text: messages[message]?.text ?? '' })
          }}
        >
          {messages.map(({ role, text, index }) => (
            <option key={index} value={index}>
              {role === 'tool' ? 'tool result' : role}: {text.slice(0, 40)}
            </option>
          ))}
        </SelectField>
      )}
      <TextArea
        label={
          messages[draft.message]?.role === 'tool'
            ? 'Tool result'
            : `Text of the ${messages[draft.message]?.role} message`
        }
        rows={4}
        className="font-mono"
        value={draft.text}
        onChange={(event) => onChange({ text: event.target.value })}
      />
    </>
  )
}

/** Chooses the number of branches, the temperature and the server. */
function SettingsFields({
  token,
  draft,
  errorOf,
  onChange,
}: FieldsProps & { readonly errorOf: (field: string) => string | undefined }) {
  const { data } = useQuery(serversOptions())
  const servers = data?.servers ?? []
  const [count, temperature] = [errorOf('count'), errorOf('temperature')]
  const { segment } = token
  const recorded = segment.kind === 'response' ? segment.request?.samplingParams.temperature : undefined
  return (
    <div className="grid grid-cols-2 gap-2">
      <TextField
        label="Branches"
        inputMode="numeric"
        value={draft.count}
        error={count && `The number ${count}`}
        onChange={(event) => onChange({ count: event.target.value })}
      />
      <TextField
        label="Temperature"
        explanation="Empty: as in this trajectory, with all other sampling parameters"
        placeholder={typeof recorded === 'number' ? `${recorded}, as here` : 'as here'}
        inputMode="decimal"
        value={draft.temperature}
        error={temperature && `The temperature ${temperature}`}
        onChange={(event) => onChange({ temperature: event.target.value })}
      />
      {servers.length > 1 && (
        <div className="col-span-2">
          <SelectField
            label="Server"
            value={draft.server}
            onChange={(event) => onChange({ server: event.target.value })}
          >
            <option value="">as in this trajectory</option>
            {servers.map(({ name }) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </SelectField>
        </div>
      )}
    </div>
  )
}

/** Shows how many of the started branches have ended, and stops the others. */
function Progress({ storedKey, started }: { readonly storedKey: string; readonly started: BranchesStarted }) {
  const { data: tree } = useQuery(treeOptions(storedKey))
  const [failure, setFailure] = useState<string>()
  const own = tree?.leaves.filter(({ row }) => started.keys.includes(row.key)) ?? []
  const running = own.filter(({ row }) => row.outcomeKind === 'running').length
  const isRunning = running > 0 || (own.length === 0 && started.rollouts.length > 0)
  return (
    <div className="mt-2.5 flex flex-wrap items-center gap-2 text-xs">
      <p role="status" data-branches-running={isRunning}>
        {isRunning
          ? `${own.length - running} of ${started.keys.length} ${started.keys.length === 1 ? 'branch has' : 'branches have'} ended.`
          : `${started.keys.length === 1 ? 'The branch is' : 'All branches are'} stored. ${countText(started.shared)} tokens are shared.`}
      </p>
      {isRunning && (
        <Button onClick={() => cancelBranches(started.rollouts).catch((error: unknown) => setFailure(String(error)))}>
          Cancel
        </Button>
      )}
      {failure !== undefined && <p className="text-bad">{failure}</p>}
    </div>
  )
}
