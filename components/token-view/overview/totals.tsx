import { Fact, Facts } from '#components/ui/facts.tsx'
import { readOf } from '#lib/trajectory/messages/read-prompt.ts'
import { contextTokens } from '#lib/trajectory/messages/response-calls.ts'
import { haveResultMessages } from '#lib/trajectory/messages/tool-calls.ts'
import { countForced } from '#lib/trajectory/tokens/forced-tokens.ts'
import { statistics } from '#lib/trajectory/tokens/statistics.ts'
import { isTextOnly } from '#lib/trajectory/tokens/texts.ts'
import { segmentsOf } from '#lib/trajectory/tokens/tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'
import { countText, decimalText, durationText, percentText } from '../numbers.ts'

interface TotalsProps {
  readonly trajectory: TrajectoryView
  /** Number of drift spans; null while it is not known. If omitted, the trajectory is not checked for drift. */
  readonly driftSpans?: number | null | undefined
}

/** Shows the totals of a trajectory. */
export function TrajectoryTotals({ trajectory, driftSpans }: TotalsProps) {
  const all = statistics(trajectory)
  const { contextLength } = trajectory.model
  const check = titoCheck(trajectory)
  const calls = all.toolCalls
  const pending = trajectory.outcome.kind === 'running' ? 0 : (calls?.pending ?? 0)
  const where = haveResultMessages(trajectory.segments) ? 'in the messages' : 'not recorded'
  const problems = problemCount(trajectory)
  const forced = countForced(trajectory)
  const problemFact = problems > 0 && (
    <Fact name="problems" title="Numbers that could not be stored, texts or counts that did not agree: see the tokens">
      <span className="text-warn">{countText(problems)}</span>
    </Fact>
  )
  if (isTextOnly(trajectory))
    return (
      <Facts>
        <Fact name="tokens">none in the file</Fact>
        {problemFact}
      </Facts>
    )
  return (
    <Facts>
      <Fact name="tokens">
        {countText(all.tokens)}
        {contextLength !== undefined && ` · ${percentText(contextTokens(trajectory) / contextLength)} of context`}
      </Fact>
      <Fact name="trained (mask 1)">
        {countText(all.trained)}
        {all.tokens > 0 && ` · ${percentText(all.trained / all.tokens)}`}
      </Fact>
      {forced > 0 && (
        <Fact name="forced (mask 0)" title="Tokens that a branch inserted: an export decides whether they are trained">
          <span className="text-warn">{countText(forced)}</span>
        </Fact>
      )}
      <Fact name="mean logprob" title="In nats, over the trained tokens whose logprob is known">
        {decimalText(all.meanLogprob)}
      </Fact>
      <Fact name="perplexity">{decimalText(all.perplexity, 2)}</Fact>
      {all.temperatures.length > 0 && <Fact name="sampled at">{samplingNote(all.temperatures, all.topPs)}</Fact>}
      <Fact name="tool calls">
        {calls ? (
          <>
            {calls.succeeded} ✓ {calls.failed + calls.malformed} ✗
            {calls.malformed > 0 && ` (${calls.malformed} malformed)`}
            {pending > 0 && ` · ${countWithNoun(pending, 'result')} ${where}`}
          </>
        ) : (
          'unknown'
        )}
      </Fact>
      {all.cachedTokens !== null && all.promptTokensRead !== null && (
        <Fact name="cached tokens" title="Prompt tokens that the server took from its prefix cache, over all calls">
          {countText(all.cachedTokens)} of {countText(all.promptTokensRead)}
        </Fact>
      )}
      {all.generationMs !== null && <Fact name="generation">{durationText(all.generationMs)}</Fact>}
      <Fact name="TITO check" title={check.title}>
        <span className={check.isGood ? 'text-good' : 'text-warn'}>{check.text}</span>
      </Fact>
      {trajectory.model.tokenizer?.source === 'server' && (
        <Fact
          name="tokenizer"
          title={`The server encoded, decoded and rendered (${trajectory.model.tokenizer.name}). The ids are exact; the texts of tokens are those that it decodes.`}
        >
          the server’s own, bytes as it decodes them
        </Fact>
      )}
      {driftSpans !== undefined && (
        <Fact name="drift" title="Spans of ids that change when their text is encoded again">
          {driftSpans === null ? (
            '—'
          ) : (
            <span className={driftSpans > 0 ? 'text-warn' : ''}>{countWithNoun(driftSpans, 'span')}</span>
          )}
        </Fact>
      )}
      {problemFact}
    </Facts>
  )
}

const problemCount = (trajectory: TrajectoryView): number =>
  segmentsOf(trajectory).reduce((count, { problems = [] }) => count + problems.length, trajectory.problems?.length ?? 0)

/**
 * Returns the sampling parameters that the logprobs depend on: sampled logprobs need the temperature, and with top_p below 1
 * they are not the policy's.
 */
function samplingNote(temperatures: readonly number[], topPs: readonly number[]): string {
  const parts = temperatures.map((temperature) => `T ${temperature}`)
  return [...parts, ...topPs.filter((p) => p !== 1).map((p) => `top_p ${p}`)].join(', ')
}

interface TitoCheck {
  readonly text: string
  readonly title: string
  readonly isGood: boolean
}

function titoCheck(trajectory: TrajectoryView): TitoCheck {
  const { segments } = trajectory
  const continuations = segments.flatMap((segment) =>
    segment.kind === 'prompt' && segment.derivation?.kind === 'continuation' ? [segment.derivation] : [],
  )
  const broken = continuations.find(({ check }) => check.kind === 'broken')
  if (broken?.check.kind === 'broken') return { text: 'template differs', title: broken.check.why, isGood: false }
  if (segments.length === 0) return { text: '—', title: 'Nothing was read yet.', isGood: true }
  if (trajectory.provenance.kind === 'rollout' && trajectory.provenance.endpoint === 'chat') return chatCheck(segments)
  const prompts = segments.filter(({ kind }) => kind === 'prompt').length
  if (prompts > 1 && continuations.length < prompts - 1)
    return { text: 'unknown', title: 'The file does not say how its later prompts were made.', isGood: false }
  return {
    text: continuations.length === 0 ? 'one turn' : 'prefix exact ✓',
    title: continuations.some(({ check }) => check.kind === 'unknown')
      ? 'Every request began with all ids before it. It began with text or ids, so that the template cannot render the whole conversation to compare.'
      : 'Every request began with all ids before it, and the new part is what the template writes.',
    isGood: true,
  }
}

/** Returns the check of a chat baseline: whether the server, tokenizing the messages anew, read the tokens that had been sampled. */
function chatCheck(segments: TrajectoryView['segments']): TitoCheck {
  const drifted = segments.filter((segment) => readOf(segment)).length
  return drifted === 0
    ? {
        text: 'chat, no drift',
        title: 'Messages were sent, and the server read the tokens shown here.',
        isGood: true,
      }
    : {
        text: `chat, ${drifted} drifted`,
        title: `Messages were sent, and before ${drifted} of the responses the server read tokens other than those shown here.`,
        isGood: false,
      }
}
