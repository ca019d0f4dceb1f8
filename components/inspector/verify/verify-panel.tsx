'use client'
/** Rescores the trajectory on a server by prefill, and shows how far the logprobs differ. */
import { useEffect, useRef, useState } from 'react'
import { countText } from '#components/token-view/numbers.ts'
import { Banner } from '#components/ui/banner.tsx'
import { Button } from '#components/ui/button.tsx'
import { Heading } from '#components/ui/facts.tsx'
import { SelectField } from '#components/ui/field.tsx'
import { rangesToVerify } from '#lib/analysis/verify/plan.ts'
import { type Verification, verification } from '#lib/analysis/verify/verification.ts'
import { type ExpertAgreement, expertAgreement } from '#lib/trajectory/experts/agreement.ts'
import { joinedExperts } from '#lib/trajectory/experts/routed-experts.ts'
import { lastServer } from '#lib/trajectory/messages/response-calls.ts'
import { gatherScores, type Scorer } from '#lib/trajectory/scoring/gathered.ts'
import { imagesToScore } from '#lib/trajectory/scoring/score.ts'
import { type ServedFact, servedFacts } from '#lib/trajectory/scoring/served.ts'
import type { AddedColumn } from '#lib/trajectory/tokens/added-columns.ts'
import { ids, tokenCount } from '#lib/trajectory/tokens/tokens.ts'
import type { InspectorPartProps } from '../inspection.ts'
import { usePanelCommand } from '../selection/panel-commands.ts'
import { VerifyReport } from './verify-report.tsx'

interface VerifyPanelProps extends InspectorPartProps {
  readonly scorer: Scorer
  /** Shows these columns with the trajectory, in place of those of an earlier call. */
  readonly onColumns: (columns: readonly AddedColumn[]) => void
}

type Asked =
  | { readonly kind: 'scoring'; readonly done: number; readonly of: number }
  | { readonly kind: 'failed'; readonly title: string; readonly hint: string | undefined }
  | {
      readonly kind: 'scored'
      readonly server: string
      readonly found: Verification
      readonly served: readonly ServedFact[]
      readonly experts: ExpertAgreement | undefined
    }

/** Name of the column with the scores. */
const COLUMN = 'verified'
const SOURCE = 'Verify on a server'
/** Prefill logprobs are raw, and a server of the sampling model computes them. */
const RESCORED = { quantity: 'logprob', model: 'rollout', values: 'raw', source: SOURCE } as const

/** Shows the servers, a button that rescores the trajectory, and the report. */
export function VerifyPanel({ inspection, scorer, onColumns }: VerifyPanelProps) {
  const { trajectory } = inspection
  const { servers = [], defaultServer } = scorer
  const [chosen, setChosen] = useState<string>()
  const [asked, setAsked] = useState<Asked>()
  const button = useRef<HTMLButtonElement>(null)
  const controller = useRef<AbortController>(undefined)
  useEffect(() => () => controller.current?.abort(), [])
  usePanelCommand(inspection.offer, 'verify', () => button.current?.focus())
  const recorded = lastServer(trajectory)
  const server = chosen ?? servers.find((name) => name === recorded) ?? defaultServer
  const isScoring = asked?.kind === 'scoring'
  const isLive = trajectory.outcome.kind === 'running'
  const hasExperts = trajectory.segments.some((segment) => segment.kind === 'response' && segment.routedExperts)
  const returnsExperts = hasExperts && server !== undefined && scorer.expertServers?.includes(server) === true
  const refusal = server === undefined ? undefined : scorer.whyNot?.(server, trajectory)

  const verify = async () => {
    const own = new AbortController()
    controller.current?.abort()
    controller.current = own
    const recordedExperts = returnsExperts ? joinedExperts(trajectory) : undefined
    const ranges = rangesToVerify(trajectory, recordedExperts !== undefined)
    const of = ranges.reduce((sum, { start, end }) => sum + end - start, 0)
    if (of === 0)
      return setAsked({
        kind: 'failed',
        title: 'No logprobs are recorded: there is nothing to compare.',
        hint: undefined,
      })
    setAsked({ kind: 'scoring', done: 0, of })
    try {
      const scores = new Float64Array(tokenCount(trajectory)).fill(Number.NaN)
      const request = {
        ids: ids(trajectory),
        ranges,
        ...(server !== undefined && { server }),
        ...imagesToScore(trajectory),
        ...(recordedExperts && { routedExperts: true }),
      }
      const {
        server: scoringServer,
        versions,
        experts: found,
      } = await gatherScores(scorer.score(request, own.signal), scores, (done) => {
        if (!own.signal.aborted) setAsked({ kind: 'scoring', done, of })
      })
      if (own.signal.aborted) return
      const experts = recordedExperts && found && expertAgreement(recordedExperts, found, tokenCount(trajectory))
      setAsked({
        kind: 'scored',
        server: scoringServer.name,
        found: verification(trajectory, scores),
        served: servedFacts(trajectory, scoringServer, versions),
        experts,
      })
      onColumns([
        { name: COLUMN, values: scores, meaning: RESCORED },
        ...(experts
          ? [
              {
                name: 'expertAgreement',
                values: experts.shares,
                meaning: { quantity: 'expert_agreement' as const, source: SOURCE },
              },
            ]
          : []),
      ])
    } catch (error) {
      if (own.signal.aborted) return
      const { message, hint } =
        error instanceof Error ? (error as Error & { readonly hint?: string }) : { message: String(error) }
      setAsked({ kind: 'failed', title: message, hint })
    }
  }
  const cancel = () => {
    controller.current?.abort()
    setAsked(undefined)
  }

  return (
    <section aria-label="Verify on server" className="mt-5" data-verify={asked?.kind ?? 'idle'}>
      <Heading>Verify on server</Heading>
      <div className="grid grid-cols-[minmax(0,1fr)_auto] items-end gap-2">
        <SelectField
          label="Server"
          value={server ?? ''}
          disabled={isScoring}
          onChange={(event) => setChosen(event.target.value)}
        >
          {servers.map((name) => (
            <option key={name} value={name}>
              {name}
              {name === recorded && ' (recorded)'}
            </option>
          ))}
        </SelectField>
        {isScoring ? (
          <Button onClick={cancel}>Cancel</Button>
        ) : (
          <Button
            ref={button}
            onClick={verify}
            disabled={server === undefined || refusal !== undefined || isLive}
            title="Sends the same ids as a prompt and compares the logprobs"
          >
            Rescore
          </Button>
        )}
      </div>
      {hasExperts && refusal === undefined && server !== undefined && !returnsExperts && (
        <p className="mt-1.5 text-faint text-xs">
          {server} returns no routed experts, so only logprobs are compared. SGLang returns them with
          --enable-return-routed-experts.
        </p>
      )}
      {isLive && <p className="mt-1.5 text-dim text-xs">The run has not ended yet.</p>}
      {refusal !== undefined && <p className="mt-1.5 text-dim text-xs">{refusal}</p>}
      {recorded !== undefined && scorer.servers && !servers.includes(recorded) && (
        <p className="mt-1.5 text-faint text-xs">It was sampled on {recorded}, which is not among the servers here.</p>
      )}
      {/* The beginning and the end are announced, and not the numbers between them. */}
      <p role="status" className="sr-only">
        {asked?.kind === 'scoring' && `Scoring ${countText(asked.of)} tokens…`}
        {asked?.kind === 'scored' && `Scored on ${asked.server}.`}
      </p>
      <div className="mt-2 grid gap-2">
        {!asked && (
          <p className="text-faint text-xs">
            Sends the same ids as a prompt. The difference from the recorded logprobs is the noise floor.
          </p>
        )}
        {asked?.kind === 'scoring' && (
          <p className="text-dim text-xs tabular-nums">
            {countText(asked.done)} of {countText(asked.of)} tokens scored…
            <progress className="mt-1 block h-1.5 w-full" value={asked.done} max={asked.of} />
          </p>
        )}
        {asked?.kind === 'failed' && <Banner tone="bad" title={asked.title} hint={asked.hint} />}
        {asked?.kind === 'scored' && (
          <VerifyReport
            found={asked.found}
            served={asked.served}
            experts={asked.experts}
            server={asked.server}
            trajectory={trajectory}
            onColour={(colour) => inspection.onView({ colour, tab: 'tokens' })}
            onSelect={(index) => inspection.onSelect({ anchor: index, focus: index }, 'tokens')}
          />
        )}
      </div>
    </section>
  )
}
