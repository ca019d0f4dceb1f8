'use client'
/** The tokens of the path of one call, with what the client did to its history. */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useEffectEvent, useState } from 'react'
import { compareHref, inspectorHref } from '#components/shell/hrefs.ts'
import { LinkButton } from '#components/shell/link-button.tsx'
import { trajectoryReading } from '#components/token-view/card/token-reading.ts'
import { colouringOf } from '#components/token-view/colour/colouring.ts'
import { TokenGrid } from '#components/token-view/grid/token-grid.tsx'
import { countText } from '#components/token-view/numbers.ts'
import type { Selection } from '#components/token-view/selection.ts'
import { Banner } from '#components/ui/banner.tsx'
import type { SessionNodeRow } from '#lib/api/sessions/session.ts'
import { hintOf } from '#lib/browser/hint-of.ts'
import { trajectoryOptions } from '#lib/browser/queries.ts'
import { useLiveReply } from '#lib/browser/sessions/use-live-reply.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { CallRequest } from './call-request.tsx'
import {
  attachmentText,
  type CallEntry,
  changeSentence,
  comparedHref,
  forkedFrom,
  type SessionCallNode,
} from './call-texts.ts'
import { FirstDifferingToken } from './first-differing-token.tsx'

interface CallTokensProps {
  readonly sessionId: string
  readonly entry: CallEntry
  readonly nodes: readonly SessionCallNode[]
}

/** Shows the tokens up to a call and the rest of its path; of a call without a place in the forest, its request. */
export function CallTokens({ sessionId, entry, nodes }: CallTokensProps) {
  const { call, node } = entry
  const key = node?.trajectory ?? undefined
  const { data, error } = usePath(key, nodes)
  const trajectory = useShownTokens(sessionId, node, nodes, data)
  const text = attachmentText(call, nodes)
  const other = forkedFrom(call, nodes)
  const compared = comparedHref(entry, other)
  const change = changeSentence(call)
  return (
    <div className="grid h-full min-h-0 grid-cols-[minmax(0,1fr)] grid-rows-[auto_auto_minmax(0,1fr)]">
      <header className="flex flex-wrap items-center gap-x-3 gap-y-1.5 border-line border-b px-3.5 py-1.5">
        <h2 className="font-semibold">Call {call.sequence}</h2>
        <span className="text-dim text-xs">
          {text.kind} {text.detail}
        </span>
        {key !== undefined && (
          <span className="ml-auto flex flex-wrap gap-1.5 text-xs">
            {compared !== undefined && other && (
              <LinkButton href={compared}>Compare with call {other.call.sequence}</LinkButton>
            )}
            <LinkButton href={compareHref(key, 'messages')}>Compare with a chat pipeline</LinkButton>
            <LinkButton href={inspectorHref(key)}>Open in inspector</LinkButton>
          </span>
        )}
      </header>
      <div>
        {change !== '' && (
          <p
            className={`flex flex-wrap gap-x-3 border-line border-b px-3.5 py-1.5 text-xs ${text.tone === 'bad' ? 'bg-bad-soft' : 'bg-warn-soft'}`}
          >
            <span className={`font-medium ${text.tone === 'bad' ? 'text-bad' : 'text-warn'}`}>
              {text.kind} {text.detail}
            </span>
            {change}
            {key !== undefined && other?.node.trajectory != null && (
              <FirstDifferingToken own={key} other={other.node.trajectory} />
            )}
          </p>
        )}
        {call.drift !== null && (
          <Banner
            tone="bad"
            title={`Live drift: the server read other tokens than the recorded ones, from token ${countText(call.drift)} on.`}
            hint="The client sends messages, and the server renders and tokenizes them again."
          />
        )}
        {call.error !== null && <Banner tone="bad" title={call.error} />}
        {error && <Banner tone="bad" title={error.message} hint={hintOf(error)} />}
      </div>
      {!node ? (
        <CallRequest sessionId={sessionId} call={call} />
      ) : trajectory ? (
        <PathTokens key={`${sessionId} ${node.node}`} trajectory={trajectory} firstToken={node.start} />
      ) : (
        <p className="p-3.5 text-faint text-sm">{absenceText(node, error)}</p>
      )}
    </div>
  )
}

/**
 * Returns the tokens of the path of a node. While its reply is generated, or one that continues the path, these are the tokens so far, and then
 * until the stored ones are read.
 */
function useShownTokens(
  sessionId: string,
  node: SessionNodeRow | undefined,
  nodes: readonly SessionCallNode[],
  stored: TrajectoryView | undefined,
): TrajectoryView | undefined {
  const running = node?.live !== undefined ? node : node && continuationOf(node, nodes)
  const live = useLiveReply(sessionId, running?.live)
  const place = node && `${sessionId} ${node.node}`
  const [followed, setFollowed] = useState<string>()
  if (running && followed !== place) setFollowed(place)
  const isRead = stored && stored.segments.length >= recordedSegments(node?.trajectory, nodes)
  return followed === place && live && (running || !isRead) ? live : stored
}

/** Returns the running reply that continues the path of a node at its end. */
function continuationOf({ trajectory }: SessionNodeRow, nodes: readonly SessionCallNode[]): SessionNodeRow | undefined {
  if (trajectory === null) return undefined
  const segments = recordedSegments(trajectory, nodes)
  const end = nodes.find(({ node }) => node.trajectory === trajectory && node.segments === segments)
  return nodes.find(({ node }) => node.live !== undefined && node.parent === end?.node.node)?.node
}

/** Returns how many segments of a trajectory the calls of the session have. */
const recordedSegments = (key: string | null | undefined, nodes: readonly SessionCallNode[]): number =>
  Math.max(0, ...nodes.map(({ node }) => (node.trajectory === key ? node.segments : 0)))

function absenceText({ status, live, trajectory }: SessionNodeRow, error: Error | null): string {
  if (status === 'running')
    return live === undefined ? 'The server sends the whole reply when it has ended.' : 'The reply is being generated…'
  if (trajectory === null) return 'No tokens were recorded for this call.'
  return error ? '' : 'Loading…'
}

/** Reads a trajectory, and reads it again when the calls of the session have more segments of it than were read. */
function usePath(key: string | undefined, nodes: readonly SessionCallNode[]) {
  const client = useQueryClient()
  const query = useQuery(trajectoryOptions(key))
  const read = query.data?.segments.length
  const recorded = recordedSegments(key, nodes)
  const readAgain = useEffectEvent(
    () => void client.invalidateQueries({ queryKey: trajectoryOptions(key).queryKey, exact: true }),
  )
  useEffect(() => {
    if (read !== undefined && read < recorded) readAgain()
  }, [read, recorded])
  return query
}

function PathTokens({ trajectory, firstToken }: { readonly trajectory: TrajectoryView; readonly firstToken: number }) {
  const [selection, setSelection] = useState<Selection>()
  const reading = trajectoryReading(colouringOf(trajectory, 'logprob'))
  return (
    <div className="grid min-h-0 grid-cols-[minmax(0,1fr)] grid-rows-[minmax(0,1fr)]">
      <TokenGrid
        trajectory={trajectory}
        reading={reading}
        selection={selection}
        shown={firstToken}
        onSelect={setSelection}
        onPoint={() => {}}
      />
    </div>
  )
}
