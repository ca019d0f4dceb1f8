'use client'
import { useMemo, useState } from 'react'
import { fewIds, inputIds, type RecordedCall, sentBodies } from '#lib/analysis/requests/recorded-calls.ts'
import { curlText, pythonText } from '#lib/analysis/requests/request-code.ts'
import { readableJson } from '#lib/json/readable-json.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { textLines } from '#lib/util/text/text-lines.ts'
import { Button } from '../../ui/button.tsx'
import { copyAndDescribe } from '../../ui/copy-text.ts'
import { CheckField } from '../../ui/field.tsx'
import type { Inspection } from '../inspection.ts'
import { TextView } from '../messages/text-view.tsx'

type SentKind = 'body' | 'curl' | 'python'

interface SentTextProps {
  readonly inspection: Inspection
  readonly call: RecordedCall
  readonly kind: SentKind
  /** Whether the hash of the ids equals the recorded one; falsy other than `false` means unknown. */
  readonly holds: boolean | '' | undefined
}

/** Shows the body of a call or a program that sends it again. A few ids are shown; a copy contains all of them. */
export function SentText({ inspection: { trajectory, say }, call, kind, holds }: SentTextProps) {
  const [showsAll, setShowsAll] = useState(false)
  const text = useMemo(() => textLines(sentText(trajectory, call, kind, showsAll)), [trajectory, call, kind, showsAll])
  const copy = async (copied: string, what: string) => say(await copyAndDescribe(copied, `${what} copied.`))
  const ids = () => inputIds(trajectory, call)
  const isChat = call.request.endpoint === 'chat'
  if (isChat && !call.request.chat)
    return (
      <p className="text-dim">
        The messages of this chat request are not recorded, so the request cannot be reconstructed.
      </p>
    )
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-2">
      <p className="text-dim">
        {isChat ? (
          'The body as it was sent to /v1/chat/completions: messages, which the server rendered and tokenized itself. '
        ) : (
          <>
            Reconstructed as Rollscope sends it: the ids are the tokens before the response
            {holds === true
              ? ', and their hash matches the recorded one.'
              : holds === false
                ? ', but their hash differs from the recorded one: something else was sent.'
                : '.'}{' '}
          </>
        )}
        {call.request.scoring &&
          `The prompt was scored by a separate call first${call.request.scoring.shared ? ', one for all samples of the group' : ''}. `}
        {kind !== 'body' && 'Set the address and key as SGLANG_BASE_URL and SGLANG_API_KEY.'}
      </p>
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1.5">
        {!isChat && (
          <CheckField label="All ids" checked={showsAll} onChange={(event) => setShowsAll(event.target.checked)} />
        )}
        <span className="ml-auto flex flex-wrap gap-1.5">
          <Button className="text-xs" onClick={() => copy(JSON.stringify(Array.from(ids())), 'Ids')}>
            {isChat ? 'Copy the ids it read' : 'Copy ids'}
          </Button>
          <Button className="text-xs" onClick={() => copy(sentText(trajectory, call, kind, true), NAMES[kind])}>
            Copy {NAMES[kind]}
          </Button>
        </span>
      </div>
      <TextView
        label={`${NAMES[kind]} of request ${call.number}`}
        text={text}
        className="h-80 rounded-md border border-line"
      />
    </div>
  )
}

const NAMES: Readonly<Record<SentKind, string>> = { body: 'body', curl: 'cURL', python: 'Python' }

function sentText(trajectory: TrajectoryView, call: RecordedCall, kind: SentKind, isWhole: boolean): string {
  const bodies = sentBodies(trajectory, call, isWhole ? (ids) => Array.from(ids) : fewIds)
  switch (kind) {
    case 'curl':
      return curlText(bodies)
    case 'python':
      return pythonText(bodies)
    case 'body':
      return bodies.map(({ body }) => readableJson(body)).join('\n')
  }
}
