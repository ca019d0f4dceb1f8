import { countText, durationText } from '#components/token-view/numbers.ts'
import type { RecordedCall } from '#lib/analysis/requests/recorded-calls.ts'
import type { Finish, Vocab } from '#lib/trajectory/format/trajectory.ts'
import { numberAt } from '#lib/trajectory/tokens/trajectory-view.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'
import { timeText } from '#lib/util/text/times.ts'
import { unreachable } from '#lib/util/unreachable.ts'
import { Fact, Facts, Heading } from '../../ui/facts.tsx'
import type { Inspection } from '../inspection.ts'
import { phasesOf, TimingBar } from './timing-bar.tsx'

interface CallFactsProps {
  readonly inspection: Inspection
  readonly call: RecordedCall
  readonly hash: string | undefined
}

/** Shows what was sent, what was received, and how long it took. */
export function CallFacts({ inspection, call, hash }: CallFactsProps) {
  return (
    <div className="grid gap-x-8 gap-y-4 md:grid-cols-2">
      <div>
        <Heading>Sent</Heading>
        <Sent call={call} hash={hash} />
      </div>
      <div>
        <Heading>Received</Heading>
        <CameBack inspection={inspection} call={call} />
        <Heading>Time</Heading>
        <Time call={call} />
      </div>
    </div>
  )
}

function Sent({ call, hash }: Pick<CallFactsProps, 'call' | 'hash'>) {
  const { request, inputLength, firstNew } = call
  const isChat = request.endpoint === 'chat'
  return (
    <Facts>
      <Fact name="server">{request.server ?? 'unknown'}</Fact>
      <Fact name="rid">{request.rid ?? 'none'}</Fact>
      {isChat && <Fact name="endpoint">/v1/chat/completions</Fact>}
      {request.chat && (
        <Fact name="messages">
          {countText(request.chat.kept + request.chat.messages.length)}, {countText(request.chat.messages.length)} new
        </Fact>
      )}
      <Fact name={isChat ? 'tokens read' : 'input_ids'}>{countText(request.inputLength)}</Fact>
      {request.read && (
        <Fact name="as shown here">
          <span className="text-bad" data-read-kept={request.read.kept}>
            {countText(request.read.kept)}, then other tokens: {countText(request.read.ids.length)} were read where{' '}
            {countText(inputLength - request.read.kept)} stand
          </span>
        </Fact>
      )}
      {request.images && (
        <Fact name="image_data">
          {countWithNoun(request.images.count, 'image')}
          {request.images.tokens && `, read as ${request.images.tokens.map(countText).join(' + ')} tokens`}
        </Fact>
      )}
      <Fact name="new">{countText(Math.max(0, inputLength - firstNew))}</Fact>
      <Fact name="input hash" title={`SHA-256 ${request.inputHash}`}>
        <code>{request.inputHash.slice(0, 12)}…</code> <Check call={call} hash={hash} />
      </Fact>
      {Object.entries(request.samplingParams).map(([name, value]) => (
        <Fact key={name} name={name}>
          <code>{JSON.stringify(value)}</code>
        </Fact>
      ))}
      <Fact name="stream">{String(request.streamed)}</Fact>
      {request.streamInterval !== undefined && <Fact name="stream_interval">{request.streamInterval}</Fact>}
      {!isChat && <Fact name="logprob_start_len">{request.logprobStartLen ?? 'not requested'}</Fact>}
      {!isChat && <Fact name="top_logprobs_num">{request.topLogprobsNum ?? 0}</Fact>}
      {request.scoring && <Fact name="scored first, rid">{request.scoring.rid}</Fact>}
    </Facts>
  )
}

/** Shows whether the tokens before the response are those that were sent. */
function Check({ call: { request, inputLength }, hash }: Pick<CallFactsProps, 'call' | 'hash'>) {
  if (hash === undefined)
    return (
      <span className="text-faint" data-check="running">
        checking…
      </span>
    )
  if (hash === request.inputHash)
    return (
      <span className="text-good" data-check="holds">
        {request.read ? 'recorded as read ✓' : 'matches the tokens here ✓'}
      </span>
    )
  return (
    <span className="text-bad" data-check="differs" title={`These tokens: SHA-256 ${hash}`}>
      {inputLength === request.inputLength
        ? 'the ids here differ'
        : `${countText(inputLength)} tokens are here, ${countText(request.inputLength)} were sent`}
    </span>
  )
}

function CameBack({ inspection, call: { segment } }: Pick<CallFactsProps, 'inspection' | 'call'>) {
  const { usage, weightVersions, ids, logprobs, topLogprobs, problems = [] } = segment
  let scored = 0
  for (let index = 0; index < ids.length; index++) if (numberAt(logprobs, index) !== null) scored++
  return (
    <Facts>
      <Fact name="finish_reason">{finishText(segment.finish, inspection.trajectory.vocab)}</Fact>
      <Fact name="prompt_tokens">
        {usage?.promptTokens === undefined ? 'not reported' : countText(usage.promptTokens)}
      </Fact>
      <Fact name="completion_tokens">
        {usage?.completionTokens === undefined ? 'not reported' : countText(usage.completionTokens)}
      </Fact>
      <Fact name="cached_tokens">
        {usage?.cachedTokens === undefined ? 'not reported' : countText(usage.cachedTokens)}
      </Fact>
      <Fact name="weight_version">
        {weightVersions
          ? weightVersions.length === 1
            ? weightVersions[0]?.version
            : weightVersions.map(({ version, start, end }) => `${version} (${start}–${end})`).join(', ')
          : 'not reported'}
      </Fact>
      <Fact name="output_ids">{countText(ids.length)}</Fact>
      {segment.resumed?.map(({ at, stopped, request }) => (
        <Fact key={at} name="resumed after" title={`SHA-256 of the input ${request.inputHash}`}>
          {countText(at)} of them ({stopped?.kind ?? 'end not known'}), with {countText(request.inputLength)} input_ids
        </Fact>
      ))}
      <Fact name="with a logprob">{countText(scored)}</Fact>
      <Fact name="alternatives each">{topLogprobs?.k ?? 'none'}</Fact>
      {problems.map(({ kind, message, index }) => (
        <Fact key={`${kind} ${index} ${message}`} name={`problem: ${kind}`}>
          <span className="text-warn">{message}</span>
        </Fact>
      ))}
    </Facts>
  )
}

function Time({ call: { segment, request } }: Pick<CallFactsProps, 'call'>) {
  const { timing } = segment
  if (!timing) return <p className="text-faint">Not recorded.</p>
  const phases = phasesOf(timing, request.scoring)
  const written = segment.ids.length - (timing.firstTokenMs === undefined ? 0 : 1)
  const writingMs = timing.elapsedMs - (timing.firstTokenMs ?? 0)
  return (
    <div className="grid gap-2">
      <TimingBar phases={phases} wholeMs={timing.elapsedMs} />
      <Facts>
        <Fact name="sent at">{timeText(timing.startedAt)}</Fact>
        {phases.map(({ name, ms, colour }) => (
          <Fact key={name} name={name}>
            <span aria-hidden className={`mr-1.5 inline-block size-2 rounded-xs ${colour}`} />
            {durationText(ms)}
          </Fact>
        ))}
        <Fact name="total">{durationText(timing.elapsedMs)}</Fact>
        {timing.serverMs !== undefined && <Fact name="measured by the server">{durationText(timing.serverMs)}</Fact>}
        {written > 0 && writingMs > 0 && (
          <Fact name="tokens per second">{((1000 * written) / writingMs).toFixed(1)}</Fact>
        )}
      </Facts>
    </div>
  )
}

/** Returns the finish reason and what caused it. */
function finishText(finish: Finish | undefined, vocab: Vocab): string {
  switch (finish?.kind) {
    case undefined:
      return 'unknown'
    case 'stop': {
      const { matched } = finish
      if (typeof matched === 'number') return `stop · ${pieceOf(matched, vocab)}`
      return matched === undefined ? 'stop' : `stop · ${JSON.stringify(matched)}`
    }
    case 'length':
    case 'cancelled':
      return finish.kind
    case 'abort':
      return finish.message === undefined ? 'abort' : `abort · ${finish.message}`
    case 'cut':
      return `cut · ${finish.code}`
    case 'unknown':
      return `unknown · ${finish.raw}`
    default:
      return unreachable(finish)
  }
}

function pieceOf(id: number, vocab: Vocab): string {
  const entry = vocab[id]
  return typeof entry === 'string' ? `${entry} ${id}` : `id ${id}`
}
