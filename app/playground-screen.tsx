'use client'
/** The playground: set up a run, watch its tokens arrive, go on with a further turn. */
import { useQuery } from '@tanstack/react-query'
import dynamic from 'next/dynamic'
import Link from 'next/link'
import { useEffect, useEffectEvent, useState } from 'react'
import { useSaid } from '#components/inspector/use-said.ts'
import { Composer } from '#components/playground/composer.tsx'
import { liveNote } from '#components/playground/live-note.ts'
import { RunClock } from '#components/playground/run-clock.tsx'
import { SetupForm } from '#components/playground/setup-form.tsx'
import { outcomeText } from '#components/trajectory/outcome-text.ts'
import { RunNotices } from '#components/trajectory/run-notices.tsx'
import { TokenGist } from '#components/trajectory/token-gist.tsx'
import { Banner } from '#components/ui/banner.tsx'
import { Button } from '#components/ui/button.tsx'
import { type Pane, Panes } from '#components/ui/panes.tsx'
import { ApiError } from '#lib/client/api.ts'
import { capabilitiesOptions, downloadsOptions, trajectoryOptions } from '#lib/client/queries.ts'
import { useRollout } from '#lib/client/use-rollout.ts'
import { SERVER_TOKENIZER } from '#lib/core/server-tokenizer.ts'
import { segmentsOf, tokenAt } from '#lib/core/tokens.ts'
import type { Outcome } from '#lib/core/trajectory.ts'
import type { TrajectoryView } from '#lib/core/trajectory-view.ts'
import { FIRST_QUESTION, type FieldErrors, openingOf, requestOf, setupOf } from '#lib/settings/setup.ts'
import { Shell } from './shell.tsx'
import { useServerStatus } from './use-server-status.ts'
import { useSetup } from './use-setup.ts'
import { useViewState } from './view-state.ts'

const Downloads = dynamic(async () => (await import('#components/playground/downloads.tsx')).Downloads)
// Loaded with the first question: until then there is nothing for them to show.
const loadTokens = () => import('./playground-tokens.tsx')
const loadRun = () => import('./playground-run.tsx')
const PlaygroundTokens = dynamic(async () => (await loadTokens()).PlaygroundTokens)
const PlaygroundRun = dynamic(async () => (await loadRun()).PlaygroundRun)

const NO_CHOICES = { tools: [], parsers: [], defaultParser: '' }

export function PlaygroundScreen() {
  const view = useViewState()
  const [setup, setSetup] = useSetup()
  const [text, setText] = useState(view.key === undefined ? FIRST_QUESTION : '')
  const [problem, setProblem] = useState<ApiError>()
  /** Gives up a start that waits for its answer; undefined where none does. */
  const [starting, setStarting] = useState<AbortController>()
  const [isStopping, setIsStopping] = useState(false)
  const [pointed, setPointed] = useState<number>()
  const { said, say } = useSaid()
  const [pane, setPane] = useState<Pane>('middle')
  const { servers, name: server, status } = useServerStatus(setup.server)
  const { data: choices = NO_CHOICES } = useQuery(capabilitiesOptions())
  const { data: stored, error: loadError } = useQuery(trajectoryOptions(view.key))
  const rollout = useRollout(view.key)
  const request = requestOf(setup)
  const { data: waitingFor } = useQuery(downloadsOptions(starting !== undefined))

  // A reload in mid-run: the stored trajectory names the rollout that is writing it.
  const running = stored?.outcome.kind === 'running' ? stored.outcome.rolloutId : undefined
  const catchUp = useEffectEvent((rolloutId: string) => rollout.state.kind === 'idle' && rollout.follow(rolloutId))
  useEffect(() => {
    if (running !== undefined) catchUp(running)
  }, [running])

  const trajectory = shownTrajectory(rollout.state, stored)
  const isRunning = rollout.state.kind === 'following'
  const followError = rollout.state.kind === 'failed' ? rollout.state.error : undefined
  const send = async (using = setup) => {
    const request = requestOf(using)
    if (!request.ok) {
      setProblem(settingsProblem(request.errors))
      return
    }
    // Beside the request; where it fails it is tried again when it is shown.
    Promise.all([loadTokens(), loadRun()]).catch(() => {})
    const question = text
    const controller = new AbortController()
    setProblem(undefined)
    setIsStopping(false)
    setStarting(controller)
    setText('')
    try {
      const isFurther = view.key !== undefined && trajectory !== undefined && trajectory.segments.length > 0
      const started = await rollout.start(
        {
          ...(isFurther ? { seenSegments: trajectory.segments.length } : request.opening),
          ...request.settings,
          prompt: question,
        },
        isFurther ? view.key : undefined,
        controller.signal,
      )
      if (!isFurther) await view.setKey(started.trajectoryId)
    } catch (error) {
      setText(question)
      if (error instanceof ApiError) setProblem(error)
      else if (!controller.signal.aborted) throw error
    } finally {
      setStarting(undefined)
    }
  }
  const sendWithServerTokenizer = () => {
    const changed = { ...setup, tokenizer: SERVER_TOKENIZER }
    setSetup(changed)
    return send(changed)
  }
  const stop = async () => {
    if (starting) {
      starting.abort()
      return
    }
    setIsStopping(true)
    try {
      await rollout.stop()
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      setProblem(error)
    } finally {
      setIsStopping(false)
    }
  }
  const startOver = () => {
    rollout.reset()
    setProblem(undefined)
    setText(FIRST_QUESTION)
    view.setKey(undefined)
  }
  const { selection } = view.view
  const shown = trajectory && tokenAt(trajectory, selection?.focus ?? pointed ?? -1)
  const hasTokens = trajectory !== undefined && segmentsOf(trajectory).length > 0
  // Neither changes with each token, so that the form is not drawn anew while they arrive.
  const { segments, model } = trajectory ?? {}
  const shownSetup = hasTokens && segments && model ? setupOf({ segments, model }, setup) : setup
  return (
    <Shell title="Playground" server={setup.server} trajectory={isRunning ? undefined : stored}>
      <Panes
        names={['Setup', 'Tokens', 'Run']}
        shown={pane}
        onShow={setPane}
        gist={shown && trajectory && <TokenGist token={shown} vocab={trajectory.vocab} />}
        left={
          <SetupForm
            setup={shownSetup}
            onChange={(changed) => {
              setProblem(undefined)
              setSetup(hasTokens ? { ...changed, ...openingOf(setup) } : changed)
            }}
            errors={request.ok ? {} : request.errors}
            servers={servers}
            server={server}
            status={status}
            manageServers={
              <Link
                href={server === '' ? '/servers' : `/servers?server=${encodeURIComponent(server)}`}
                className="font-medium text-accent hover:underline"
              >
                Manage servers
              </Link>
            }
            choices={choices}
            fixedNote={
              hasTokens ? 'These are part of the tokens already: they can be changed in a new run.' : undefined
            }
          />
        }
        middle={
          <div className="grid h-full grid-rows-[auto_minmax(0,1fr)_auto]">
            <div>
              <Notices
                problem={problem ?? followError ?? (loadError instanceof ApiError ? loadError : undefined)}
                outcome={isRunning ? undefined : trajectory?.outcome}
                isConnected={rollout.state.kind !== 'following' || rollout.state.isConnected}
                onReturn={setText}
                onServerTokenizer={sendWithServerTokenizer}
              />
              {starting && waitingFor && <Downloads downloads={waitingFor.downloads} />}
              {trajectory && <RunNotices trajectory={trajectory} />}
            </div>
            {hasTokens ? (
              <PlaygroundTokens trajectory={trajectory} view={view} onPoint={setPointed} onSay={say} />
            ) : (
              <EmptyTokens
                isWaiting={isRunning || starting !== undefined || (view.key !== undefined && !stored && !loadError)}
                onChoose={setText}
              />
            )}
            <div className="border-line border-t">
              <p role="status" className="px-3.5 text-xs not-empty:pt-2">
                {said}
              </p>
              {trajectory && (
                <p className="px-3.5 pt-2">
                  <RunClock trajectory={trajectory} isRunning={isRunning} note={liveNote(status, setup)} />
                </p>
              )}
              <Composer
                text={text}
                onChange={setText}
                onSend={() => send()}
                onStop={stop}
                state={isStopping ? 'stopping' : isRunning ? 'running' : starting ? 'starting' : 'ready'}
                isFirst={!hasTokens}
                onStartOver={startOver}
              />
            </div>
          </div>
        }
        right={
          trajectory ? (
            <PlaygroundRun trajectory={trajectory} view={view} shown={shown} />
          ) : (
            <p className="text-faint text-xs">Nothing has run yet.</p>
          )
        }
      />
    </Shell>
  )
}

function shownTrajectory(
  state: ReturnType<typeof useRollout>['state'],
  stored: TrajectoryView | undefined,
): TrajectoryView | undefined {
  return 'trajectory' in state ? (state.trajectory ?? stored) : stored
}

const settingsProblem = (errors: FieldErrors): ApiError =>
  new ApiError(
    0,
    'BAD_SETTINGS',
    `These settings cannot be sent: ${Object.entries(errors)
      .map(([field, what]) => `${field} ${what}`)
      .join('; ')}.`,
    'Correct them in the setup.',
  )

interface NoticesProps {
  readonly problem: ApiError | undefined
  readonly outcome: Outcome | undefined
  readonly isConnected: boolean
  /** Gives a question that was never read back to the composer. */
  readonly onReturn: (text: string) => void
  /** Sends again, with the server as tokenizer. */
  readonly onServerTokenizer: () => void
}

function Notices({ problem, outcome, isConnected, onReturn, onServerTokenizer }: NoticesProps) {
  const ended = outcome && outcomeText(outcome)
  const question =
    outcome && outcome.kind !== 'running' ? outcome.unsent?.findLast(({ role }) => role === 'user')?.content : undefined
  return (
    <>
      {!isConnected && (
        <Banner
          tone="note"
          title="The connection to Rollscope’s server was lost; trying again …"
          hint="The run goes on for a minute without a listener."
        />
      )}
      {problem && (
        <Banner tone="bad" title={problem.message} hint={problem.hint}>
          {problem.remedy === 'server-tokenizer' && (
            <Button onClick={onServerTokenizer}>Use the server’s tokenizer</Button>
          )}
        </Banner>
      )}
      {ended && (
        <Banner tone={ended.tone} title={ended.title} hint={ended.hint}>
          {typeof question === 'string' && <Button onClick={() => onReturn(question)}>Take the question back</Button>}
        </Banner>
      )}
    </>
  )
}

const QUESTIONS = [FIRST_QUESTION, 'What is (25 * 17)^3?', 'Compute 12 * 7 and 81 / 9', 'What is 15% of 80?'] as const

function EmptyTokens({
  isWaiting,
  onChoose,
}: {
  readonly isWaiting: boolean
  readonly onChoose: (text: string) => void
}) {
  if (isWaiting)
    return (
      <p className="p-6 text-faint" role="status">
        Waiting for the first tokens …
      </p>
    )
  return (
    <div className="grid place-content-center justify-items-center gap-4 overflow-y-auto p-6 text-center">
      <div className="max-w-md">
        <h2 className="font-semibold text-lg">Run an agent, see every token</h2>
        <p className="mt-1 text-dim">
          The agent runs token-in/token-out: what the model wrote goes back to it as the same ids, each with its logprob
          and its place in the loss mask.
        </p>
      </div>
      <ul className="flex flex-wrap justify-center gap-2">
        {QUESTIONS.map((question) => (
          <li key={question}>
            <Button onClick={() => onChoose(question)}>{question}</Button>
          </li>
        ))}
      </ul>
    </div>
  )
}
