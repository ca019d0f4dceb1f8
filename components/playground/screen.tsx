'use client'
/** The playground: set up a run, watch its tokens arrive, and continue with further turns. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Composer } from '#components/playground/prompt/composer.tsx'
import type { AskPreview } from '#components/playground/prompt/prompt-preview.tsx'
import { SamplesField } from '#components/playground/run/samples-field.tsx'
import { lazyCode } from '#components/shell/lazy-code.ts'
import { lazyPart } from '#components/shell/lazy-part.tsx'
import type { ShownStatus } from '#components/shell/server-state.tsx'
import { Shell } from '#components/shell/shell.tsx'
import { useShellActions } from '#components/shell/shell-actions.ts'
import { useServerStatus } from '#components/shell/use-server-status.ts'
import { useViewState } from '#components/shell/view-state.ts'
import { Button } from '#components/ui/button.tsx'
import { type Pane, Panes } from '#components/ui/panes.tsx'
import { whyUnsupported } from '#lib/api/engine/unsupported.ts'
import { ApiError } from '#lib/browser/api.ts'
import { useSetup } from '#lib/browser/use-setup.ts'
import { refusalText } from '#lib/sampling/refusal.ts'
import { DEFAULT_SETUP, FIRST_QUESTION, type Setup } from '#lib/share/settings/setup.ts'
import type { Outcome } from '#lib/trajectory/format/trajectory.ts'
import { lastServer } from '#lib/trajectory/messages/response-calls.ts'
import { segmentsOf, tokenAt } from '#lib/trajectory/tokens/tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { PlaygroundNotices } from './run/run-notices.tsx'
import { useDisplayedRun } from './run/use-displayed-run.ts'
import { loadSending, useSending } from './run/use-sending.ts'
import { PlaygroundSetup } from './setup/setup-panel.tsx'
import { usePromptDraft } from './use-prompt-draft.ts'

const PlaygroundOutcome = lazyPart(async () => (await import('./run/outcome.tsx')).PlaygroundOutcome)
// These parts are loaded with the first question, because there is nothing to show before.
const RunClock = lazyPart(async () => (await import('#components/playground/run/run-clock.tsx')).RunClock)
const RunNotices = lazyPart(async () => (await import('#components/token-view/overview/run-notices.tsx')).RunNotices)
// The placeholder is in a button, which needs a name.
const TokenSummaryLine = lazyPart(
  async () => (await import('#components/token-view/card/token-summary-line.tsx')).TokenSummaryLine,
  'Token…',
)
const loadTokens = () => import('./run/tokens.tsx')
const loadRun = () => import('./run/run-panel.tsx')
const PlaygroundTokens = lazyCode(async () => (await loadTokens()).PlaygroundTokens)
const PlaygroundRun = lazyCode(async () => (await loadRun()).PlaygroundRun)
const loadSamples = () => import('./run/samples.tsx')
const PlaygroundSamples = lazyCode(async () => (await loadSamples()).PlaygroundSamples)

/** Returns whether an outcome has a text to show. The text itself is loaded with its component. */
const hasOutcomeText = (outcome: Outcome): boolean =>
  outcome.kind === 'failed' ||
  (outcome.kind === 'ended' && outcome.reason !== 'end_turn' && outcome.reason !== 'unknown')

/** The playground page. */
export function PlaygroundScreen() {
  const view = useViewState()
  const [setup, setSetup, isSetupReading] = useSetup()
  const [prompt, changeDraft] = usePromptDraft(view.key === undefined && view.group === undefined)
  const { images = [], ...draft } = prompt
  const [pointed, setPointed] = useState<number>()
  const [pane, setPane] = useState<Pane>('middle')
  const run = useDisplayedRun(view)
  // A turn stays on the server of its run, unless another one is chosen; a sample of one of several servers always does.
  const ownServer = run.group.rows.find(({ key }) => key === view.key)?.server
  const serverName = ownServer ?? (setup.server || (run.trajectory && lastServer(run.trajectory)) || '')
  const server = useServerStatus(serverName)
  const sending = useSending({
    view,
    shown: run,
    setup,
    onSetup: setSetup,
    draft: prompt,
    onDraft: changeDraft,
    prepare: (samples) => Promise.all([loadTokens(), loadRun(), samples > 1 && loadSamples()]),
  })
  const { forgetProblem } = sending
  const changeSetup = (changed: Setup) => {
    forgetProblem()
    setSetup(changed)
  }
  const { trajectory, hasTokens, isRunning, isLoading, group } = run
  const goOnAsIds = (whole: TrajectoryView) => {
    const ids = segmentsOf(whole).flatMap((segment) => Array.from(segment.ids))
    sending.startOver()
    changeDraft({ mode: 'ids', ids: ids.join(' '), record: 0 })
  }
  const call = { status: server.status, trajectory: hasTokens ? trajectory : undefined, draft: prompt }
  const { capabilities } = server.status.state === 'ready' ? server.status : {}
  // The checks are loaded when there is something to check: nothing is refused of a first question with the default setup
  // to SGLang, and its tokens are shown as they arrive.
  const isFirstQuestion = setup === DEFAULT_SETUP && !trajectory && draft.mode === 'question' && images.length === 0
  const { data: checks } = useQuery({
    queryKey: ['call-checks'],
    queryFn: async () => {
      const [refusals, { liveNote }] = await Promise.all([
        import('./run/call-refusals.ts'),
        import('./run/live-note.ts'),
      ])
      return { ...refusals, liveNote }
    },
    enabled: !isFirstQuestion || !streamsEachToken(server.status),
    staleTime: Number.POSITIVE_INFINITY,
    structuralSharing: false,
  })
  const whyNot = (using: Setup): string | undefined => {
    const refusal = checks?.callRefusals(using, call)[0]
    return refusal && refusalText(refusal)
  }
  const errors = checks?.setupErrors(setup, call) ?? {}
  const imageRefusal = whyUnsupported('images', capabilities)
  const attach = (files: readonly File[]) =>
    sending.call(async () => {
      if (imageRefusal) throw new ApiError(0, 'NOT_IN_ENGINE', imageRefusal.detail, imageRefusal.hint)
      const { readImageFiles } = await import('./prompt/image-files.ts')
      const { urls, refusal } = await readImageFiles(files, images.length)
      changeDraft((now) => ({ images: [...new Set([...(now.images ?? []), ...urls])] }))
      if (refusal) throw refusal
    })
  const { selection } = view.view
  const token = trajectory && tokenAt(trajectory, selection?.focus ?? pointed ?? -1)
  return (
    <Shell
      title="Playground"
      server={serverName}
      trajectory={isRunning ? undefined : trajectory}
      storedKey={view.key}
      onFiles={(files) => {
        const [file] = files
        const mode = hasTokens ? 'question' : draft.mode
        if (mode === 'question') {
          const isImages = files.every(({ type }) => type.startsWith('image/'))
          if (isImages) void attach(files)
          return isImages
        }
        void sending.call(async () => {
          const { droppedPrompt } = await import('./dropped-prompt.ts')
          changeDraft({ [mode]: await droppedPrompt(file), record: 0 })
        })
        return true
      }}
    >
      <Panes
        names={['Setup', 'Tokens', 'Run']}
        shown={pane}
        onShow={setPane}
        gist={token && trajectory && <TokenSummaryLine token={token} vocab={trajectory.vocab} />}
        left={
          <PlaygroundSetup
            setup={setup}
            onChange={changeSetup}
            errors={errors}
            liveNote={checks?.liveNote}
            server={server}
            trajectory={hasTokens ? trajectory : undefined}
            isFixed={hasTokens || isLoading}
            draft={draft}
            onDraft={changeDraft}
          />
        }
        middle={
          // In a low window, as at a zoom of 200 %, the parts around the tokens would leave no room for them.
          <div className="grid h-full grid-cols-[minmax(0,1fr)] grid-rows-[auto_minmax(0,1fr)_auto] [@media(max-height:600px)]:grid-rows-[auto_minmax(220px,1fr)_auto] [@media(max-height:600px)]:overflow-y-auto">
            <div>
              <PlaygroundNotices
                problem={sending.problem ?? run.error}
                storedKey={view.key}
                server={server.servers.find(({ name }) => name === server.name)}
                isConnected={run.isConnected}
                isStarting={sending.state === 'starting'}
                onServerTokenizer={sending.sendWithServerTokenizer}
              />
              {trajectory && sending.state === 'ready' && hasOutcomeText(trajectory.outcome) && (
                <PlaygroundOutcome trajectory={trajectory} setup={setup} whyNot={whyNot} onStep={sending.takeStep} />
              )}
              {trajectory && <RunNotices trajectory={trajectory} />}
              {view.group !== undefined && group.rows.length > 0 && (
                <PlaygroundSamples
                  groupId={view.group}
                  group={group}
                  shown={view.key}
                  onShow={(key, token) =>
                    view.group !== undefined && view.setSample({ key, group: view.group, token }, 'replace')
                  }
                  onCall={sending.call}
                />
              )}
            </div>
            {/* The samples of a group are above the tokens, which would move if they were shown first. */}
            {hasTokens && trajectory && !run.isGroupAwaited ? (
              <PlaygroundTokens
                // Folds and marks belong to one trajectory, so another key makes a new component.
                key={view.key}
                trajectory={trajectory}
                storedKey={view.key}
                onPoint={setPointed}
                onShow={() => setPane('middle')}
              />
            ) : (
              <PlaygroundStart
                isWaiting={run.isAwaited || run.isGroupAwaited || sending.state === 'starting'}
                onChoose={(question) => changeDraft({ question, mode: 'question' })}
              />
            )}
            <div className="border-line border-t">
              {trajectory && (hasTokens || isRunning) && (
                // As high as the prompt modes, which it replaces.
                <p className="flex min-h-9 items-center px-3.5 pt-1.5">
                  <RunClock
                    trajectory={trajectory}
                    isRunning={isRunning}
                    note={checks?.liveNote(server.status, setup)}
                  />
                </p>
              )}
              <Composer
                draft={prompt}
                onChange={changeDraft}
                onAttach={attach}
                noImages={imageRefusal && refusalText(imageRefusal)}
                refusal={whyNot(setup)}
                onSend={() => sending.send()}
                // A failed load is tried again, and reported, when the prompt is sent.
                onUse={() => loadSending().catch(() => {})}
                onStop={sending.stop}
                state={sending.state}
                isSetupReading={isSetupReading}
                isFirst={!hasTokens}
                turnNote={
                  trajectory && startsWithRawPrompt(trajectory) ? (
                    <>
                      A turn is a user message, rendered with the chat template. To add text or ids unchanged:
                      <Button className="min-h-7!" onClick={() => goOnAsIds(trajectory)}>
                        Start a new run from these ids
                      </Button>
                    </>
                  ) : undefined
                }
                onStartOver={sending.startOver}
                onPreview={previewed}
                previewed={{
                  ...(setup.server !== '' && { server: setup.server }),
                  ...(setup.tokenizer.trim() !== '' && { tokenizer: setup.tokenizer.trim() }),
                }}
              >
                <SamplesField
                  setup={setup}
                  errors={errors}
                  onChange={(change) => changeSetup({ ...setup, ...change })}
                />
              </Composer>
            </div>
          </div>
        }
        right={
          trajectory ? (
            <PlaygroundRun
              trajectory={trajectory}
              view={view}
              shown={token}
              baseUrl={server.servers.find(({ name }) => name === server.name)?.baseUrl}
              setup={setup}
              status={server.status}
              onTurn={(using, question) =>
                sending.send(using, { kind: 'prompt', prompt: { mode: 'question', question } })
              }
            />
          ) : (
            <p className="text-faint text-xs">No run yet.</p>
          )
        }
      />
    </Shell>
  )
}

/** Returns whether nothing is known about the server, or it is an SGLang server whose streams contain only new tokens. */
const streamsEachToken = (status: ShownStatus): boolean =>
  status.state !== 'ready' ||
  (status.kind === 'server' && status.capabilities?.engine === 'sglang' && status.incrementalStreaming === true)

const startsWithRawPrompt = ({ segments: [first] }: TrajectoryView): boolean =>
  first?.kind === 'prompt' && first.derivation?.kind === 'given'

const previewed: AskPreview = async (question, signal) => {
  const { fetchPromptPreview } = await import('#lib/browser/rollout/prompt-preview.ts')
  try {
    return { kind: 'ready', preview: await fetchPromptPreview(question, signal) }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return { kind: 'refused', message: error.message, hint: error.hint, field: error.field }
  }
}

const QUESTIONS = [FIRST_QUESTION, 'What is (25 * 17)^3?', 'Compute 12 * 7 and 81 / 9', 'What is 15% of 80?'] as const

interface PlaygroundStartProps {
  readonly isWaiting: boolean
  readonly onChoose: (question: string) => void
}

/** Introduction that is shown until there are tokens. */
function PlaygroundStart({ isWaiting, onChoose }: PlaygroundStartProps) {
  const { openFile } = useShellActions()
  if (isWaiting)
    return (
      <p className="p-6 text-faint" role="status">
        Waiting for the first tokens…
      </p>
    )
  return (
    <div className="grid place-content-center justify-items-center gap-4 overflow-y-auto p-6 text-center">
      <div className="max-w-md">
        <h2 className="font-semibold text-lg">Run an agent, see every token</h2>
        <p className="mt-1 text-dim">
          The agent runs token-in/token-out: sampled tokens go back to the model as the same ids, each with its logprob
          and its loss mask.
        </p>
      </div>
      <ul className="flex flex-wrap justify-center gap-2">
        {QUESTIONS.map((question) => (
          <li key={question}>
            <Button onClick={() => onChoose(question)}>{question}</Button>
          </li>
        ))}
      </ul>
      <Button look="quiet" onClick={openFile}>
        Inspect a file of rollouts…
      </Button>
    </div>
  )
}
