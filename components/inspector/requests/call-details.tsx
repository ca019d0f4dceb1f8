'use client'
import { useState } from 'react'
import type { RecordedCall } from '#lib/analysis/requests/recorded-calls.ts'
import { Button } from '../../ui/button.tsx'
import { Segmented } from '../../ui/segmented.tsx'
import type { Inspection } from '../inspection.ts'
import { CallFacts } from './call-facts.tsx'
import { SentText } from './sent-text.tsx'

interface CallDetailsProps {
  readonly inspection: Inspection
  readonly call: RecordedCall
  /** Hash of the tokens before the response; undefined while it is computed. */
  readonly hash: string | undefined
}

const PARTS = [
  { value: 'facts', text: 'Facts' },
  { value: 'body', text: 'Body' },
  { value: 'curl', text: 'cURL' },
  { value: 'python', text: 'Python' },
] as const
type Part = (typeof PARTS)[number]['value']

/** Shows everything about one call: facts of the request and the response, the sent body, and programs that send it again. */
export function CallDetails({ inspection, call, hash }: CallDetailsProps) {
  const [part, setPart] = useState<Part>('facts')
  const { inputLength, firstNew, segment } = call
  const show = (start: number, end: number) => inspection.onSelect({ anchor: end - 1, focus: start }, 'tokens')
  return (
    <div
      className="grid grid-cols-[minmax(0,1fr)] gap-3 border-line border-t bg-ground px-3.5 py-3"
      data-request-open={call.number}
    >
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5">
        <Segmented<Part> label="Part of the request" value={part} onChange={setPart} options={PARTS} />
        <span className="ml-auto flex flex-wrap gap-1.5">
          {inputLength > firstNew && (
            <Button className="text-xs" onClick={() => show(firstNew, inputLength)}>
              Show the new prompt
            </Button>
          )}
          {segment.ids.length > 0 && (
            <Button className="text-xs" onClick={() => show(inputLength, inputLength + segment.ids.length)}>
              Show the response
            </Button>
          )}
        </span>
      </div>
      {part === 'facts' ? (
        <CallFacts inspection={inspection} call={call} hash={hash} />
      ) : (
        <SentText inspection={inspection} call={call} kind={part} holds={hash && hash === call.request.inputHash} />
      )}
    </div>
  )
}
