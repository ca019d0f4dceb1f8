'use client'
/** Panel that scores both sides on a server by prefill and reports what the drift costs. */
import { useState } from 'react'
import { countText } from '#components/token-view/numbers.ts'
import { Banner } from '#components/ui/banner.tsx'
import { Button } from '#components/ui/button.tsx'
import { Heading } from '#components/ui/facts.tsx'
import { CheckField, SelectField } from '#components/ui/field.tsx'
import { hasSameIds } from '#lib/analysis/compare/compare-sides.ts'
import { lastServer } from '#lib/trajectory/messages/response-calls.ts'
import type { Scorer } from '#lib/trajectory/scoring/gathered.ts'
import { driftVocabularyOf } from '../drift/drift-words.ts'
import type { ComparePartProps } from '../view.ts'
import { RescoreReport } from './rescore-report.tsx'
import type { RescoreState, UseRescoring } from './use-rescoring.ts'

interface RescorePanelProps extends Pick<ComparePartProps, 'view' | 'onView'> {
  /** Shows a token of the left side in the lanes. */
  readonly onToken: (token: number) => void
  readonly rescoring: UseRescoring
  readonly scorer: Scorer
}

/** Form and progress of rescoring, with its report. */
export function RescorePanel({ rescoring, scorer, view, onView, onToken }: RescorePanelProps) {
  const { state, found, pair, start, cancel } = rescoring
  const { servers = [], defaultServer } = scorer
  const [chosen, setChosen] = useState<{ readonly left?: string; readonly right?: string }>({})
  const [isEvery, setIsEvery] = useState(false)
  const [isOnce, setIsOnce] = useState(false)
  const { left, right } = pair.compared
  const recorded = { left: lastServer(left.trajectory), right: lastServer(right.trajectory) }
  const usual = servers.find((name) => name === recorded.left) ?? defaultServer
  const leftServer = chosen.left ?? usual
  // With the same ids on both sides, only another server makes a difference. A side that was made has no server of its own, and the same
  // model must score both sides.
  const isSame = hasSameIds(pair.compared)
  const whyNot = (side: 'left' | 'right', name: string | undefined): string | undefined =>
    name === undefined ? undefined : scorer.whyNot?.(name, pair.compared[side].trajectory)
  const other = servers.find((name) => name !== leftServer && whyNot('right', name) === undefined)
  const rightServer = chosen.right ?? (isSame ? other : undefined) ?? leftServer
  const isRunning = state.kind === 'running'
  const refusals = new Set([whyNot('left', leftServer), whyNot('right', rightServer)].flatMap((why) => why ?? []))
  // Reasons of servers that cannot be chosen, unless they are shown already.
  const reasons = servers.flatMap((name) => {
    const why = whyNot('left', name) ?? whyNot('right', name)
    return why === undefined || refusals.has(why) ? [] : [[name, why] as const]
  })
  const isLive = [left, right].some(({ trajectory }) => trajectory.outcome.kind === 'running')
  const rescore = () => {
    if (leftServer === undefined || rightServer === undefined) return
    return start({
      servers: { left: leftServer, right: rightServer },
      tokens: isEvery ? 'every' : 'trained',
      ...(isSame && !isOnce && { repeats: true }),
    })
  }
  const select = (side: 'left' | 'right', value: string | undefined) => (
    <SelectField
      label={side === 'left' ? 'Left scored by' : 'Right scored by'}
      value={value ?? ''}
      disabled={isRunning}
      onChange={({ target }) => setChosen({ ...chosen, [side]: target.value })}
    >
      {value === undefined && <option value="">no server</option>}
      {servers.map((name) => (
        <option key={name} value={name} disabled={whyNot(side, name) !== undefined} title={whyNot(side, name)}>
          {name}
          {name === recorded[side] && ' (recorded)'}
          {whyNot(side, name) !== undefined && ' (cannot score)'}
        </option>
      ))}
    </SelectField>
  )
  return (
    <section aria-label="Rescore on a server" data-rescore={state.kind}>
      <Heading>Rescore on a server</Heading>
      <div className="grid gap-2">
        {select('left', leftServer)}
        {select('right', rightServer)}
      </div>
      <div className="mt-2 flex flex-wrap items-center justify-between gap-2">
        <CheckField
          label="Score all tokens"
          title="Includes context outside drift spans: takes longer, and colours all tokens"
          checked={isEvery}
          disabled={isRunning}
          onChange={({ target }) => setIsEvery(target.checked)}
        />
        {isSame && (
          <CheckField
            label="Score twice"
            title="Measures how far each server differs from itself: the noise floor"
            checked={!isOnce}
            disabled={isRunning}
            onChange={({ target }) => setIsOnce(!target.checked)}
          />
        )}
        {isRunning ? (
          <Button onClick={cancel} data-rescore-start>
            Cancel
          </Button>
        ) : (
          <Button
            look={found ? 'plain' : 'primary'}
            data-rescore-start
            onClick={rescore}
            disabled={leftServer === undefined || rightServer === undefined || isLive || refusals.size > 0}
            title="Sends both sides as prompts; nothing is generated"
          >
            {found ? 'Rescore' : isSame && leftServer !== rightServer ? 'Score on both servers' : 'Rescore both sides'}
          </Button>
        )}
      </div>
      {isLive && <p className="mt-1.5 text-dim text-xs">One of the runs has not ended yet.</p>}
      {[...refusals].map((refusal) => (
        <p key={refusal} className="mt-1.5 text-dim text-xs">
          {refusal}
        </p>
      ))}
      {reasons.length > 0 && (
        <ul className="mt-1.5 text-faint text-xs" aria-label="Servers that cannot score">
          {reasons.map(([name, why]) => (
            <li key={name}>
              {name}: {why}
            </li>
          ))}
        </ul>
      )}
      {/* The beginning and the end are announced, and not the numbers between them. */}
      <p role="status" className="sr-only">
        {state.kind === 'running' && `Scoring ${countText(state.of)} tokens…`}
        {state.kind === 'rescored' && 'Both sides are scored.'}
      </p>
      <div className="mt-2 grid gap-2">
        <RescoreStatus state={state} isSame={isSame} ofSamples={!driftVocabularyOf(pair).costs} />
        {found && (
          <RescoreReport
            key={`${found.choice.servers.left} ${found.choice.servers.right} ${found.scored ? '' : 'part'}`}
            found={found}
            pair={pair}
            view={view}
            onView={onView}
            onToken={onToken}
          />
        )}
      </div>
    </section>
  )
}

interface RescoreStatusProps {
  readonly state: RescoreState
  /** Whether both sides have the same ids. */
  readonly isSame: boolean
  readonly ofSamples: boolean
}

function RescoreStatus({ state, isSame, ofSamples }: RescoreStatusProps) {
  switch (state.kind) {
    case 'idle':
      return isSame ? (
        <p className="text-faint text-xs">
          Both servers read the same ids as a prompt. Their raw logprobs at temperature 1 are compared token by token.
        </p>
      ) : (
        <p className="text-faint text-xs">
          Both sides are sent as prompts at temperature 1, to measure how likely the model finds each.
          {!ofSamples && ' Right over left is the importance ratio that a trainer would see.'} Two servers compare two
          checkpoints.
        </p>
      )
    case 'empty':
      return (
        <p className="text-dim text-xs">
          Neither side has trained tokens or drift: there is nothing to rescore. Enable “Score all tokens” to score the
          context too.
        </p>
      )
    case 'running':
      return (
        <p className="text-dim text-xs tabular-nums">
          {countText(state.done)} of {countText(state.of)} tokens scored…
          <progress className="mt-1 block h-1.5 w-full" value={state.done} max={state.of} />
        </p>
      )
    case 'cancelled':
      return <Banner tone="note" title="Cancelled." hint={describeKeptScores(state)} />
    case 'failed':
      return (
        <Banner
          tone="bad"
          title={state.title}
          hint={
            [state.hint, state.done > 0 ? describeKeptScores(state) : undefined].filter(Boolean).join(' ') || undefined
          }
        />
      )
    case 'rescored':
      return null
  }
}

const describeKeptScores = ({ done, of }: { readonly done: number; readonly of: number }): string =>
  done === 0
    ? 'Nothing was scored.'
    : `${countText(done)} of ${countText(of)} tokens were scored: the numbers cover only these.`
