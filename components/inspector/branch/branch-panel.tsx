'use client'
/** Starts branches from the selected token, or with an edited message of its prompt, and lists them. */
import { type ReactNode, useRef, useState } from 'react'
import { type RegisterPanelCommand, usePanelCommand } from '#components/inspector/selection/panel-commands.ts'
import { tokenHref } from '#components/shell/hrefs.ts'
import { Link } from '#components/shell/navigation.tsx'
import { KeyHint } from '#components/token-view/card/token-alternatives.tsx'
import { countText, durationText } from '#components/token-view/numbers.ts'
import { MarkedPiece } from '#components/token-view/pieces/marked-piece.tsx'
import { quotedPiece } from '#components/token-view/pieces/piece-text.ts'
import { Banner } from '#components/ui/banner.tsx'
import { Button } from '#components/ui/button.tsx'
import { CopyChoices } from '#components/ui/copy-button.tsx'
import { Fact, Facts, Heading } from '#components/ui/facts.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { sentenceCase } from '#components/ui/visible-text.ts'
import { MOST_BRANCHES } from '#lib/api/forest/branch.ts'
import { branchCurl, branchPython } from '#lib/share/reproduce/branch.ts'
import { requestAt } from '#lib/trajectory/messages/response-calls.ts'
import { statistics } from '#lib/trajectory/tokens/statistics.ts'
import type { Token } from '#lib/trajectory/tokens/tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'
import {
  type BranchAction,
  type BranchDraft,
  branchInput,
  type DraftField,
  draftFor,
  type Insertion,
  sampledAfter,
} from './branch-draft.ts'
import { ForceFields, MessageFields, SamplingFields, ServerFields } from './branch-fields.tsx'
import { BranchList } from './branch-list.tsx'
import { branchObstacle } from './branch-obstacle.ts'
import { type BranchFailure, type BranchProgress, useBranching } from './use-branching.ts'

interface BranchPanelProps {
  readonly trajectory: TrajectoryView
  /** The selected token. */
  readonly token: Token
  readonly storedKey: string
  /** What the branch inserts at the token; its card chooses it too. */
  readonly insertion: Insertion
  readonly onInsertion: (insertion: Insertion) => void
  readonly offer: RegisterPanelCommand
  /** Shows a short message in the status line. */
  readonly say: (message: string) => void
}

/** Shows the actions of a branch at a token, with their keys and their cost. */
export function BranchPanel({ trajectory, token, storedKey, insertion, onInsertion, offer, say }: BranchPanelProps) {
  const obstacle = branchObstacle(trajectory, token)
  return (
    <>
      <section aria-label="Branch" className="mt-5">
        {obstacle === undefined ? (
          <BranchForm {...{ trajectory, token, storedKey, insertion, onInsertion, offer, say }} />
        ) : (
          <>
            <Heading>Branch here</Heading>
            <p className="text-faint text-xs">{obstacle}</p>
          </>
        )}
      </section>
      {/* The outline of a fork lists the branches. */}
      {!trajectory.forkedFrom && <BranchList storedKey={storedKey} />}
    </>
  )
}

function BranchForm({ trajectory, token, storedKey, insertion, onInsertion, offer, say }: BranchPanelProps) {
  const [fields, setFields] = useState(() => draftFor(trajectory, token))
  const [failure, setFailure] = useState<BranchFailure>()
  const [changed, setChanged] = useState<'sampling' | 'server'>()
  const form = useRef<HTMLFormElement>(null)
  const { isStarting, start, cancel, progress } = useBranching(storedKey)
  const draft: BranchDraft = { ...fields, insertion }
  const isEdit = token.segment.kind === 'prompt'
  const isForcing = insertion === 'text' || insertion === 'ids'
  const focusText = () => requestAnimationFrame(() => form.current?.querySelector('textarea')?.focus())
  const change = ({ insertion: inserted, ...changes }: Partial<BranchDraft>) => {
    setFailure(undefined)
    setFields({ ...fields, ...changes })
    if (inserted !== undefined) onInsertion(inserted)
  }
  const run = async (action: BranchAction) => {
    if (isStarting) return
    const input = branchInput(draft, trajectory, token, action)
    const failed = input.ok ? await start(input.body) : { field: input.field, title: input.why, hint: undefined }
    setFailure(failed)
    if (failed?.field === 'text') focusText()
    if (!failed) say(STARTED[action])
  }
  const force = () => {
    if (!isEdit && !isForcing) change({ insertion: 'text', text: '' })
    focusText()
  }
  const choose = (position = 0) => {
    const alternative = token.alternatives[position - 1]
    if (!alternative) {
      say(`The token has ${token.alternatives.length === 0 ? 'no' : `only ${token.alternatives.length}`} alternatives.`)
      return
    }
    const isReleased = insertion === alternative.id
    change({ insertion: isReleased ? 'nothing' : alternative.id })
    say(
      isReleased
        ? 'No alternative is chosen.'
        : `Alternative ${position}: ${quotedPiece(trajectory.vocab[alternative.id])}`,
    )
  }
  usePanelCommand(offer, 'alternative', isEdit ? undefined : choose)
  usePanelCommand(offer, 'resample', () => void run('resample'))
  usePanelCommand(offer, 'branch', () => void run('continue'))
  usePanelCommand(offer, 'force', force)
  usePanelCommand(offer, 'cut', isEdit ? undefined : () => void run('cut'))
  const errorOf = (field: DraftField) =>
    failure && fieldOf(failure, isEdit) === field ? errorText(failure) : undefined
  const copied = branchInput(draft, trajectory, token, 'resample')
  const isAtField = failure !== undefined && fieldOf(failure, isEdit) !== undefined
  const tokens = Math.max(0, sampledAfter(trajectory, token) - (typeof insertion === 'number' ? 1 : 0))
  return (
    <form
      ref={form}
      className="grid grid-cols-[minmax(0,1fr)] gap-2"
      onSubmit={(event) => {
        event.preventDefault()
        void run('resample')
      }}
    >
      <div className="flex items-baseline justify-between gap-2">
        <Heading>{isEdit ? 'Edit and continue' : <BranchTitle {...{ trajectory, token, insertion }} />}</Heading>
        <span className="whitespace-nowrap text-faint text-xs" title="Branches are new trajectories.">
          this one stays
        </span>
      </div>
      {isEdit && <MessageFields {...{ trajectory, token, draft, errorOf }} onChange={change} />}
      {isForcing && <ForceFields {...{ draft, errorOf }} onChange={change} />}
      <div className="grid grid-cols-[minmax(0,1fr)] divide-y divide-line rounded-md border border-line">
        <div className="grid grid-cols-[minmax(0,1fr)] gap-1.5 p-2">
          <div className="flex items-center gap-2">
            {progress?.isRunning ? (
              <Button className="min-w-0 flex-1" onClick={async () => setFailure(await cancel())}>
                Cancel, {progress.ended} of {progress.keys.length}
              </Button>
            ) : (
              <Button
                type="submit"
                look="primary"
                className="min-w-0 flex-1"
                aria-keyshortcuts="R"
                disabled={isStarting}
              >
                <span className="flex-1 text-left">Resample × {draft.count.trim()}</span> <KeyHint>R</KeyHint>
              </Button>
            )}
            <CountField value={draft.count} isWrong={errorOf('count') !== undefined} onChange={change} />
          </div>
          {errorOf('count') !== undefined && <p className="text-bad text-xs">The number {errorOf('count')}</p>}
          <Cost {...{ trajectory, token, tokens }} count={draft.count} isEdit={isEdit} />
        </div>
        <ActionRow
          keyHint="B"
          note={countWithNoun(tokens, 'token')}
          isStarting={isStarting}
          onRun={() => void run('continue')}
        >
          {isEdit ? 'Edit and continue' : 'Continue from here'}
        </ActionRow>
        {!isEdit && (
          <>
            <ActionRow keyHint="F" note="text or ids" onRun={force}>
              Force text…
            </ActionRow>
            <ActionRow
              keyHint="X"
              note={`ends at ${countText(token.index)}`}
              isStarting={isStarting}
              title="Stores the tokens before this one, and what is inserted, as a trajectory. Nothing is sampled."
              onRun={() => void run('cut')}
            >
              Cut here
            </ActionRow>
          </>
        )}
      </div>
      {failure && !isAtField && <Banner tone="bad" title={failure.title} hint={failure.hint} />}
      {progress && <Progress progress={progress} />}
      <Facts>
        <Fact name="sampling">
          {samplingText(trajectory, token, draft)}{' '}
          <ChangeButton what="sampling" isOpen={changed === 'sampling'} onToggle={setChanged} />
        </Fact>
        <Fact name="server, tools">
          {serverText(trajectory, token, draft)}{' '}
          <ChangeButton what="server" isOpen={changed === 'server'} onToggle={setChanged} />
        </Fact>
        {!isEdit && (
          <Fact name="forced tokens" title="Whether they are trained">
            decided at export
          </Fact>
        )}
      </Facts>
      {copied.ok && (
        <CopyChoices
          choices={[
            { name: 'as Python script', text: () => branchPython({ key: storedKey, body: copied.body }) },
            { name: 'as cURL', text: () => branchCurl({ key: storedKey, body: copied.body }) },
          ]}
        />
      )}
      {changed === 'sampling' && <SamplingFields {...{ trajectory, token, draft, errorOf }} onChange={change} />}
      {changed === 'server' && (
        <ServerFields {...{ draft, errorOf }} hasTools={trajectory.model.tools.length > 0} onChange={change} />
      )}
    </form>
  )
}

const STARTED: Readonly<Record<BranchAction, string>> = {
  continue: 'The branch has started.',
  resample: 'The branches have started.',
  cut: 'The branch is stored.',
}

/** Returns the field of the form that a failure is about: the server names the fields of its request. */
function fieldOf({ field }: BranchFailure, isEdit: boolean): DraftField | undefined {
  if (field === undefined) return undefined
  if (field === 'text' || field.startsWith(isEdit ? 'edit' : 'force')) return 'text'
  return (['count', 'temperature', 'topP', 'maxNewTokens', 'toolRounds'] as const).find((name) => name === field)
}

/** Returns the failure as an error of a field: the draft's has no hint, and the server's is a sentence. */
const errorText = ({ title, hint }: BranchFailure): string =>
  hint === undefined ? title : `${sentenceCase(title)}. ${hint}`

function BranchTitle({ trajectory, token, insertion }: Pick<BranchPanelProps, 'trajectory' | 'token' | 'insertion'>) {
  if (typeof insertion !== 'number') return insertion === 'nothing' ? 'Branch here' : 'Branch after forced tokens'
  return (
    <>
      Branch after <MarkedPiece id={insertion} vocab={trajectory.vocab} className="font-mono text-ink" />
      {insertion === token.id && ' (the same token)'}
    </>
  )
}

interface CountFieldProps {
  readonly value: string
  readonly isWrong: boolean
  readonly onChange: (changes: Pick<BranchDraft, 'count'>) => void
}

/** Edits the number of resamples. */
function CountField({ value, isWrong, onChange }: CountFieldProps) {
  const count = Number(value)
  const step = (by: number) => onChange({ count: String(Math.min(MOST_BRANCHES, Math.max(1, (count || 1) + by))) })
  return (
    <span className="flex items-center rounded-md border border-line">
      <IconButton label="One resample less" disabled={count <= 1} onClick={() => step(-1)}>
        −
      </IconButton>
      <input
        aria-label="Resamples"
        aria-invalid={isWrong || undefined}
        inputMode="numeric"
        autoComplete="off"
        className="w-7 bg-transparent text-center tabular-nums aria-invalid:text-bad"
        value={value}
        onChange={(event) => onChange({ count: event.target.value })}
      />
      <IconButton label="One resample more" disabled={count >= MOST_BRANCHES} onClick={() => step(1)}>
        +
      </IconButton>
    </span>
  )
}

interface CostProps {
  readonly trajectory: TrajectoryView
  readonly token: Token
  /** Tokens that one branch probably samples. */
  readonly tokens: number
  readonly count: string
  readonly isEdit: boolean
}

/** Shows how many tokens the resamples will cost, if each is as long as this trajectory. */
function Cost({ trajectory, token, tokens, count, isEdit }: CostProps) {
  const times = Number(count) || 1
  const { generationMs } = statistics(trajectory)
  const sampled = trajectory.segments.reduce((sum, { kind, ids }) => (kind === 'response' ? sum + ids.length : sum), 0)
  const duration =
    generationMs === null || sampled === 0
      ? ''
      : `, about ${durationText((generationMs / sampled) * tokens)} each${serverSuffix(requestAt(trajectory, token)?.server)}`
  const shared = isEdit ? token.index - token.indexInSegment : token.index
  return (
    <p className="text-dim text-xs tabular-nums" title="If each branch is as long as this trajectory">
      {countText(times)} × {countWithNoun(tokens, 'token')} ≈{' '}
      <strong className="font-semibold text-ink">{countWithNoun(times * tokens, 'token')}</strong>
      <span className="block">
        {shared > 0
          ? `${countText(shared)} shared, which the server can cache`
          : 'No token is shared with this trajectory'}
        {duration}
        {isEdit && '. The chat template is applied again from this prompt on.'}
      </span>
    </p>
  )
}

const serverSuffix = (server: string | undefined): string => (server === undefined ? '' : ` on ${server}`)

interface ActionRowProps {
  readonly keyHint: string
  readonly note: string
  readonly title?: string
  /** Whether a branch is being started. The button keeps the focus meanwhile, which a disabled one would lose. */
  readonly isStarting?: boolean
  readonly onRun: () => void
  readonly children: ReactNode
}

const ActionRow = ({ keyHint, note, title, isStarting = false, onRun, children }: ActionRowProps) => (
  <div className="flex items-center gap-2 p-2">
    <Button className="w-43" aria-keyshortcuts={keyHint} title={title} disabled={isStarting} onClick={onRun}>
      <span className="flex-1 text-left">{children}</span> <KeyHint>{keyHint}</KeyHint>
    </Button>
    <span className="min-w-0 flex-1 truncate text-dim text-xs tabular-nums">{note}</span>
  </div>
)

interface ChangeButtonProps {
  readonly what: 'sampling' | 'server'
  readonly isOpen: boolean
  readonly onToggle: (what: 'sampling' | 'server' | undefined) => void
}

const ChangeButton = ({ what, isOpen, onToggle }: ChangeButtonProps) => (
  <button
    type="button"
    aria-expanded={isOpen}
    aria-label={`Change the ${what === 'server' ? 'server and tools' : what}`}
    className="min-h-6 font-medium text-accent hover:underline"
    onClick={() => onToggle(isOpen ? undefined : what)}
  >
    {isOpen ? 'Close' : 'Change'}
  </button>
)

function samplingText(trajectory: TrajectoryView, token: Token, { temperature, topP, maxNewTokens }: BranchDraft) {
  const { samplingParams = {} } = requestAt(trajectory, token) ?? {}
  const isChanged = [temperature, topP, maxNewTokens].some((text) => text.trim() !== '')
  const part = (name: string, changed: string, recorded: unknown) => {
    const value = changed.trim() === '' ? recorded : changed.trim()
    return value === undefined ? [] : [`${name} ${value}`]
  }
  const parts = [
    ...part('T', temperature, samplingParams.temperature),
    ...part('top_p', topP, samplingParams.top_p),
    ...(maxNewTokens.trim() === '' ? [] : [`max_new_tokens ${maxNewTokens.trim()}`]),
  ].join(', ')
  return isChanged ? parts : ['as here', parts].filter(Boolean).join(': ')
}

function serverText(trajectory: TrajectoryView, token: Token, { server, toolRounds }: BranchDraft) {
  const names = trajectory.model.tools.map(({ name }) => name)
  const own = server === '' ? (requestAt(trajectory, token)?.server ?? 'the default server') : server
  const rounds = toolRounds.trim() === '' ? '' : ` (at most ${toolRounds.trim()} rounds)`
  return `${own} · ${names.length === 0 ? 'no tools' : names.join(', ')}${rounds}`
}

/** Shows how many of the started branches have ended, and what they have sampled. */
function Progress({ progress }: { readonly progress: BranchProgress }) {
  const { keys, isRunning, ended, spent, shared } = progress
  const [only] = keys
  return (
    // Only the end is announced: the numbers change each second.
    <p role="status" aria-live={isRunning ? 'off' : 'polite'} data-branches-running={isRunning} className="text-xs">
      {isRunning
        ? `${ended} of ${keys.length} ${keys.length === 1 ? 'branch has' : 'branches have'} ended, ${countWithNoun(spent, 'token')} after the position.`
        : `${keys.length === 1 ? 'The branch is' : `All ${keys.length} branches are`} stored. ${countWithNoun(shared, 'token is', 'tokens are')} shared.`}{' '}
      {!isRunning && keys.length === 1 && only !== undefined && (
        <Link
          href={tokenHref(only, shared)}
          className="inline-flex min-h-6 items-center font-medium text-accent hover:underline"
        >
          Open it
        </Link>
      )}
    </p>
  )
}
